//! The report of an investigation of a path.

mod advice;
mod json;
mod words;

use std::net::IpAddr;

use document::{Block, Cell, Column, Document, Item, List, ListKind, Section, Style, Table};
use link::Direction;
use units::{Bytes, Span};

use super::sentence::bytes;
use crate::machine::{Hop, Limit, NotSeen, PathReport, SizeLoss, VLAN_TAG, Verdict};
pub use advice::on_linux_alone;
pub use json::{path_change_json, path_json};

/// Probes of at most this size are no evidence of what a hop carries.
const SMALL: u64 = 100;

/// A path that was investigated.
#[derive(Clone, Copy, Debug)]
pub struct Probed<'a> {
    /// The far end as the user wrote it.
    pub host: &'a str,
    /// The interface through which the probes left.
    pub interface: &'a str,
    pub interface_mtu: Bytes,
    /// The first router; `None` if the far end is on the link, or it is not known.
    pub gateway: Option<IpAddr>,
    /// The result.
    pub report: &'a PathReport,
}

impl Probed<'_> {
    /// The far end, with its address if the user wrote a name.
    fn far_end(&self) -> String {
        let address = self.report.far_end.to_string();
        match address == self.host {
            true => address,
            false => format!("{} ({address})", self.host),
        }
    }
}

/// The report of a path: the verdict, the evidence, the findings, what to set, and what
/// could not be seen.
pub fn of_path(probed: &Probed<'_>) -> Document {
    let report = probed.report;
    let title = path_sentence(probed);
    let head = vec![Block::paragraph(Style::Answer, title.clone())];
    let findings = report
        .findings
        .iter()
        .map(|finding| words::finding(finding, probed));
    let sections = [
        Some(evidence(probed)),
        listed("findings", "Findings", findings.flatten().collect()),
        listed("advice", "Suggested fixes", advice::lines(probed)),
        listed("not-seen", "Not tested", advice::not_seen(probed)),
        Some(effort(report)),
    ];
    Document {
        title,
        head,
        sections: sections.into_iter().flatten().collect(),
    }
}

/// A heading and lines below it, all of which a terminal shows; `None` without lines.
fn listed(id: &'static str, heading: &str, lines: Vec<String>) -> Option<Section> {
    let list = List {
        kind: ListKind::Facts,
        items: lines.into_iter().map(Item::from).collect(),
        brief: None,
    };
    (!list.items.is_empty()).then(|| Section {
        id,
        blocks: vec![Block::heading(heading), Block::List(list)],
    })
}

/// The verdict in one sentence.
pub fn path_sentence(probed: &Probed<'_>) -> String {
    let report = probed.report;
    let (far_end, asked) = (probed.far_end(), bytes(report.asked));
    let cause = report
        .findings
        .first()
        .map(|finding| words::phrase(&finding.kind, probed));
    let carried = report.forward.mtu;
    match (report.verdict, cause) {
        (Verdict::Clean, _) if report.reverse.limit == Limit::Unstated => {
            match report.forward.limit {
                Limit::Unstated => format!(
                    "TCP connections to {far_end} deliver their largest packets in both directions, \
                     of at most {asked}."
                ),
                _ => format!("Packets of {asked} reach {far_end}, and its largest packets arrive."),
            }
        }
        (Verdict::Clean, _) => {
            let lost = report.losses.last().filter(|large| large.loss.lost > 0);
            let lost = lost.map_or_else(String::new, |large| {
                format!(
                    "; {} of them are lost, as of smaller ones",
                    words::lost(&large.loss)
                )
            });
            format!("The path to {far_end} delivers packets of {asked} in both directions{lost}.")
        }
        (Verdict::Unclear, _) if report.forward.limit == Limit::Unstated => format!(
            "The largest packets of TCP connections reach {far_end}, of at most {asked}; whether the \
             reverse path delivers them was not tested."
        ),
        (Verdict::Unclear, _) if report.forward.limit == Limit::Asked => {
            let largest = report.reverse.mtu.map_or_else(String::new, |back| {
                format!(" (the largest answer: {})", bytes(back))
            });
            format!(
                "Packets of {asked} reach {far_end}; whether the reverse path delivers them was \
                 not tested{largest}."
            )
        }
        (Verdict::Problem, Some(cause)) => match carried {
            Some(carried) if carried >= report.asked => {
                format!("The path to {far_end} delivers packets of {asked}, but {cause}.")
            }
            Some(carried) => format!(
                "The path MTU to {far_end} is {}, not {}: {cause}.",
                mtu(carried, report),
                report.asked.get()
            ),
            None => format!("The path to {far_end} does not deliver packets of {asked}: {cause}."),
        },
        (Verdict::Problem, None) => {
            format!("The path to {far_end} does not deliver packets of {asked}.")
        }
        (Verdict::Unclear, cause) => {
            let cause = cause.map_or_else(String::new, |cause| format!(": {cause}"));
            let seen = carried.map_or_else(String::new, |carried| {
                format!("; packets of up to {} passed", bytes(carried))
            });
            format!(
                "It is unclear whether the path to {far_end} delivers packets of {asked}{cause}{seen}."
            )
        }
    }
}

/// The MTU of a path that passes packets of this size, with the bytes that it takes in
/// addition.
fn mtu(passed: Bytes, report: &PathReport) -> String {
    let advised = report.advised_mtu().unwrap_or(passed);
    if report.not_seen.contains(&NotSeen::Options) {
        return between(passed, report);
    }
    match passed.checked_sub(advised) {
        Some(more) if more == VLAN_TAG => format!("{} (+{})", bytes(advised), more.get()),
        _ => bytes(passed),
    }
}

/// The path MTU that lies between a size that passed and one that did not.
fn between(passed: Bytes, report: &PathReport) -> String {
    let fails = report.protocols.iter().filter_map(|one| one.fails_from);
    match fails
        .min()
        .and_then(|fails| fails.checked_sub(Bytes::new(1)))
    {
        Some(most) if most > passed => format!("{} to {}", passed.get(), bytes(most)),
        _ => bytes(passed),
    }
}

/// The verdict in one sentence, behind a word on what has changed since `before`.
pub fn path_change_sentence(probed: &Probed<'_>, before: &PathReport) -> String {
    let sizes = |report: &PathReport| [report.forward.mtu, report.reverse.mtu];
    let [old, new] = [before, probed.report].map(sizes);
    let place = old.iter().zip(&new).position(|(old, new)| old != new);
    let change = place.map_or_else(String::new, |place| {
        let direction = Direction::BOTH[place];
        match (old[place], new[place]) {
            (Some(old), Some(new)) => {
                let verb = if old < new { "grew" } else { "shrank" };
                format!(
                    "The path MTU {verb} from {} to {} ({}). ",
                    old.get(),
                    bytes(new),
                    direction_name(direction)
                )
            }
            (None, Some(new)) => format!("Packets of up to {} pass again. ", bytes(new)),
            (_, None) => "No packets pass any more. ".to_owned(),
        }
    });
    let loses = |report: &PathReport| report.loss_by_size().is_some();
    let loss = match (loses(before), loses(probed.report)) {
        (false, true) => "Large packets are lost now. ",
        (true, false) if probed.report.forward.mtu.is_some() => {
            "Large packets are no longer lost. "
        }
        _ => "",
    };
    change + loss + &path_sentence(probed)
}

/// The hops, the directions and the protocols.
fn evidence(probed: &Probed<'_>) -> Section {
    let report = probed.report;
    let table = |columns: Vec<Column>, rows: Vec<Vec<Cell>>| {
        (!rows.is_empty()).then(|| {
            Block::Table(Table {
                columns,
                rows,
                ..Table::default()
            })
        })
    };
    let own = vec![
        Cell::figure("0"),
        Cell::Text(format!("this host, {}", probed.interface)),
        Cell::figure(""),
        Cell::figure(probed.interface_mtu.get().to_string()),
    ];
    let hops = table(
        vec![
            Column::right("hop"),
            Column::new("system"),
            Column::right("round trip ms"),
            Column::right("largest passed"),
        ],
        std::iter::once(own)
            .chain(report.hops.iter().map(|hop| hop_cells(hop, report)))
            .collect(),
    );
    let directions = [
        (Direction::Forward, report.forward),
        (Direction::Reverse, report.reverse),
    ];
    let has_losses = directions.iter().any(|(_, found)| found.loss.is_some());
    let columns = [
        Column::new("direction"),
        Column::right("passed"),
        Column::new("limit"),
    ];
    let losses = has_losses.then(|| Column::new("small packets lost"));
    let directions = table(
        columns.into_iter().chain(losses).collect(),
        directions
            .into_iter()
            .map(|(direction, found)| {
                let cells = [
                    Cell::Text(direction_name(direction).into()),
                    size(found.mtu),
                    Cell::Text(words::limit(found.limit, direction).into()),
                ];
                let loss = found.loss.as_ref().map_or_else(String::new, words::loss);
                let loss = has_losses.then_some(Cell::Text(loss));
                cells.into_iter().chain(loss).collect()
            })
            .collect(),
    );
    let protocols = table(
        vec![
            Column::new("protocol"),
            Column::new("answers"),
            Column::right("largest"),
            Column::right("smallest failing"),
            Column::right("MSS"),
        ],
        report
            .protocols
            .iter()
            .map(|result| {
                vec![
                    Cell::Text(result.protocol.title().into()),
                    Cell::Text(if result.answers { "yes" } else { "no" }.into()),
                    size(result.largest),
                    size(result.fails_from),
                    Cell::figure(result.mss.map_or_else(String::new, |mss| mss.to_string())),
                ]
            })
            .collect(),
    );
    Section {
        id: "evidence",
        blocks: [hops, directions, by_size(report), protocols]
            .into_iter()
            .flatten()
            .collect(),
    }
}

/// The loss by size, if losses were counted.
fn by_size(report: &PathReport) -> Option<Block> {
    let row = |one: &SizeLoss| {
        let SizeLoss { size, loss } = one;
        let figure = |number: u32| Cell::figure(number.to_string());
        vec![
            Cell::figure(size.get().to_string()),
            figure(loss.sent),
            figure(loss.lost),
            Cell::figure(words::lost(loss)),
        ]
    };
    let columns = vec![
        Column::right("packet size"),
        Column::right("sent"),
        Column::right("lost"),
        Column::right("loss [95 % interval]"),
    ];
    (!report.losses.is_empty()).then(|| {
        Block::Table(Table {
            columns,
            rows: report.losses.iter().map(row).collect(),
            ..Table::default()
        })
    })
}

fn hop_cells(hop: &Hop, report: &PathReport) -> Vec<Cell> {
    let system = match hop.address {
        Some(address) if address == report.far_end => format!("{address}, the far end"),
        Some(address) => address.to_string(),
        None => "no answer".to_owned(),
    };
    vec![
        Cell::figure(hop.number.to_string()),
        Cell::Text(system),
        Cell::figure(hop.round_trip.map_or_else(String::new, millis)),
        size(match hop.address {
            Some(address) if address == report.far_end => report.forward.mtu,
            _ => hop.largest.filter(|largest| largest.get() > SMALL),
        }),
    ]
}

/// Probes, bytes and time.
fn effort(report: &PathReport) -> Section {
    let line = format!(
        "{} probes, {} bytes, {:.1} s",
        report.probes,
        report.bytes.get(),
        report.took.as_secs_f64()
    );
    Section {
        id: "effort",
        blocks: vec![Block::paragraph(Style::Note, line)],
    }
}

fn size(size: Option<Bytes>) -> Cell {
    Cell::figure(size.map_or_else(String::new, |size| size.get().to_string()))
}

const fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "forward",
        Direction::Reverse => "reverse",
    }
}

fn millis(span: Span) -> String {
    format!("{:.2}", span.as_millis_f64())
}

#[cfg(test)]
mod tests;
