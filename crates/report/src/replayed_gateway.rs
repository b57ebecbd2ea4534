//! The report of a recorded gateway: what it did with its packets, and what it would have
//! done under other settings.

use document::{Badge, Block, Cell, Column, Document, Emphasis, Fit, Section, Style, Table};
use plan::replayed_gateway::{ReplayedGateway, ReplayedSettings};
use units::Span;

/// How the figures are meant.
const READ: &str = "The arrivals are as recorded: senders do not react to a drop that did not happen. A hold is the time from the arrival of a packet to its departure toward the core, in the bundle and in the queue.";

/// The settings that the sentences at the head compare.
const MOST_NAMED: usize = 4;

/// The report of the replays of a gateway's recording: whether it repeated its decisions,
/// and a row for each choice of settings.
pub fn of_gateway_replay(gateway: &ReplayedGateway) -> Document {
    let (mark, tone) = match gateway.is_reproduced {
        true => ("✓ reproduced", Emphasis::Good),
        false => ("! not reproduced", Emphasis::Neutral),
    };
    let title = format!("Replay of {}", gateway.recording);
    let head = Block::Title {
        name: "replay".to_owned(),
        title: title.clone(),
        badges: vec![Badge {
            words: mark.to_owned(),
            tone: Some(tone),
            target: "",
        }],
    };
    let mut answers = vec![gateway.verdict.clone()];
    answers.extend(compared(gateway));
    let cut = (!gateway.is_whole).then(|| {
        let words = "The recording was cut; what is there is replayed.";
        Block::Page(vec![Block::paragraph(Style::Alarm, words)])
    });
    let answer = Block::Paragraphs(Style::Answer, answers);
    Document {
        title,
        head: [head, answer].into_iter().chain(cut).collect(),
        sections: vec![table_of(gateway), method()],
    }
}

/// A sentence for each of the first settings, held against the recorded ones.
fn compared(gateway: &ReplayedGateway) -> Vec<String> {
    let Some((was, others)) = gateway.settings.split_first() else {
        return Vec::new();
    };
    let sentence = |own: &ReplayedSettings| {
        format!(
            "With {} there are {} packets in the core (recorded: {}), 99 % of the holds are at most {} ms (recorded: {} ms), and {} packets are dropped (recorded: {}).",
            name(own),
            own.bundles,
            was.bundles,
            milliseconds(own.waits[2]),
            milliseconds(was.waits[2]),
            own.dropped,
            was.dropped,
        )
    };
    others.iter().take(MOST_NAMED).map(sentence).collect()
}

fn name(settings: &ReplayedSettings) -> &str {
    settings.settings.as_deref().unwrap_or("recorded")
}

fn milliseconds(span: Option<Span>) -> String {
    span.map_or_else(
        || "-".to_owned(),
        |span| format!("{:.3}", span.as_millis_f64()),
    )
}

/// A row for each choice of settings.
fn table_of(gateway: &ReplayedGateway) -> Section {
    let row = |own: &ReplayedSettings| {
        let per_bundle = match own.bundles {
            0 => "-".to_owned(),
            bundles => format!("{:.2}", own.sent as f64 / bundles as f64),
        };
        let counts = [own.dropped, own.taken_out, own.marked];
        let figures = [own.arrived.to_string(), own.bundles.to_string(), per_bundle];
        std::iter::once(Cell::Text(name(own).to_owned()))
            .chain(figures.map(Cell::figure))
            .chain(own.waits.map(milliseconds).map(Cell::figure))
            .chain(counts.map(|count| Cell::figure(count.to_string())))
            .collect()
    };
    let figures = [
        "packets",
        "in the core",
        "per bundle",
        "median ms",
        "90 % ms",
        "99 % ms",
        "dropped",
        "taken out",
        "marked",
    ];
    Section {
        id: "decisions",
        blocks: vec![
            Block::Page(vec![Block::heading("What became of the packets")]),
            Block::Table(Table {
                columns: std::iter::once(Column::new("settings"))
                    .chain(figures.map(Column::right))
                    .collect(),
                rows: gateway.settings.iter().map(row).collect(),
                fit: Fit::Split(1),
                ..Table::default()
            }),
        ],
    }
}

fn method() -> Section {
    Section {
        id: "method",
        blocks: vec![Block::Page(vec![
            Block::heading("How to read this"),
            Block::paragraph(Style::Note, READ),
        ])],
    }
}
