//! The report of a recorded link: what became of its packets, and what would have
//! become of them under other settings.

use document::{Badge, Block, Cell, Column, Document, Emphasis, Fit, Section, Style, Table};
use link::PacketOutcome;
use plan::replayed_link::{ReplayedLink, ReplayedQueue};

use crate::plots::replayed::{over_time, waits};
use crate::section::metrics::no_script;

/// How the arrivals of a replay are meant.
const READ: &str = "The arrivals are as recorded: senders do not react to a drop that did not happen. Each packet draws the same random numbers. Waiting times are those of packets that were transmitted.";

/// The explanation of the plots.
const PLOTS: &str = "A line is a setting. Queues are means of equal intervals. A click on a name in the legend hides or shows it.";

/// The settings that the sentences at the head compare.
const MOST_NAMED: usize = 4;

/// The report of the replays of a recording: whether the link repeated its decisions,
/// a row for each setting, and plots of the queues.
pub fn of_replay(link: &ReplayedLink) -> Document {
    let (mark, tone) = match link.is_reproduced {
        true => ("✓ reproduced", Emphasis::Good),
        false => ("! not reproduced", Emphasis::Neutral),
    };
    let badge = Badge {
        words: mark.to_owned(),
        tone: Some(tone),
        target: "",
    };
    let mut answers = vec![link.verdict.clone()];
    answers.extend(compared(link));
    let cut = link.cut_after.map(|packets| {
        let words = format!("The recording was cut; its first {packets} packets are replayed.");
        Block::Page(vec![Block::paragraph(Style::Alarm, words)])
    });
    let head = Block::Title {
        name: "replay".to_owned(),
        title: format!("Replay of {}", link.recording),
        badges: vec![badge],
    };
    let answer = Block::Paragraphs(Style::Answer, answers);
    let sections = [Some(table_of(link)), plots(link), Some(method())];
    Document {
        title: format!("Replay of {}", link.recording),
        head: std::iter::once(head).chain([answer]).chain(cut).collect(),
        sections: sections.into_iter().flatten().collect(),
    }
}

/// The direction in which most packets went.
fn main_direction(link: &ReplayedLink) -> usize {
    let packets = |direction: usize| {
        let queue = link.queues.iter().find(|own| own.direction == direction);
        queue.map_or(0, |own| own.over_time.arrivals.iter().sum::<u64>())
    };
    usize::from(packets(1) > packets(0))
}

/// A sentence for each of the first settings, held against the recorded ones in the
/// direction in which most packets went.
fn compared(link: &ReplayedLink) -> Vec<String> {
    let direction = main_direction(link);
    let mut queues = link.queues.iter().filter(|own| own.direction == direction);
    let Some(was) = queues.next() else {
        return Vec::new();
    };
    let sentence = |queue: &ReplayedQueue| {
        format!(
            "With {} the queue drops {:.2} % of the packets (recorded: {:.2} %), and the mean wait is {} ms (recorded: {} ms).",
            name(queue),
            queue.outcomes.dropped_percent(),
            was.outcomes.dropped_percent(),
            milliseconds(queue.waits.mean),
            milliseconds(was.waits.mean),
        )
    };
    queues.take(MOST_NAMED).map(sentence).collect()
}

/// The settings of a queue in words.
pub(crate) fn name(queue: &ReplayedQueue) -> &str {
    queue.settings.as_deref().unwrap_or("recorded")
}

/// A direction in words.
pub(crate) const fn direction(number: usize) -> &'static str {
    match number {
        0 => "forward",
        _ => "reverse",
    }
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.4}", seconds * 1e3)
}

/// A row for each direction and setting.
fn table_of(link: &ReplayedLink) -> Section {
    let row = |queue: &ReplayedQueue| {
        let outcomes = &queue.outcomes;
        let [full, early, forced, late] = outcomes.dropped;
        let counts = [
            outcomes.forwarded(),
            outcomes.of(PacketOutcome::Dropped),
            full,
            early,
            forced,
            late,
            outcomes.marked,
            outcomes.of(PacketOutcome::Lost) + outcomes.of(PacketOutcome::Damaged),
        ];
        let waits = [queue.waits.mean, queue.waits.median, queue.waits.p99];
        let words = [direction(queue.direction), name(queue)];
        (words.map(|words| Cell::Text(words.to_owned())).into_iter())
            .chain(counts.map(|count| Cell::figure(count.to_string())))
            .chain(waits.map(|wait| Cell::figure(milliseconds(wait))))
            .collect()
    };
    let counts = [
        "forwarded",
        "dropped",
        "full",
        "early",
        "forced",
        "late",
        "marked",
        "lost",
        "wait ms",
        "median ms",
        "p99 ms",
    ];
    Section {
        id: "outcomes",
        blocks: vec![
            Block::Page(vec![Block::heading("What became of the packets")]),
            Block::Table(Table {
                columns: (["direction", "settings"].map(Column::new).into_iter())
                    .chain(counts.map(Column::right))
                    .collect(),
                rows: link.queues.iter().map(row).collect(),
                fit: Fit::Split(2),
                ..Table::default()
            }),
        ],
    }
}

/// The queues over time, and the distributions of waiting times.
fn plots(link: &ReplayedLink) -> Option<Section> {
    let figures: Vec<_> = over_time(link).into_iter().chain(waits(link)).collect();
    if figures.is_empty() {
        return None;
    }
    let mut blocks = vec![
        Block::heading("Plots"),
        Block::paragraph(Style::Note, PLOTS),
        no_script(),
    ];
    blocks.extend(figures.into_iter().map(Block::Figure));
    Some(Section {
        id: "plots-section",
        blocks: vec![Block::Page(blocks)],
    })
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

#[cfg(test)]
mod tests;
