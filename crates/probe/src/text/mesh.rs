//! The report of the paths between all hosts of a mesh.

mod changes;
mod json;
mod read;
#[cfg(test)]
mod tests;
mod words;

use document::{Block, Cell, Column, Document, Fit, Section, Style, Table};
use units::Bytes;

use crate::machine::{Limit, Mesh, MeshEntry, MeshOutcome, MeshPath};
pub use changes::{mesh_change_lines, mesh_comparison_json, of_mesh_comparison};
pub use json::mesh_json;
pub use read::read_mesh;

/// The marks of entries that are smaller than asked, and their meanings.
const MARKS: [(Limit, &str, &str); 4] = [
    (
        Limit::Vanish,
        "*",
        "larger packets are dropped silently (MTU black hole)",
    ),
    (
        Limit::Rejected,
        "!",
        "a router rejects larger packets with an ICMP error",
    ),
    (Limit::Interface, "#", "the MTU of the local interface"),
    (Limit::Fragmented, "~", "larger packets arrive in fragments"),
];

/// The mark of a path that loses large packets.
const LOSSY: &str = "%";

/// The cell of a path of which nothing is known, and of one on which nothing arrives.
const NOT_SEEN: &str = "?";
const NOTHING: &str = "0";

/// The report of a mesh: the answer, the matrix, and further findings.
pub fn of_mesh(outcome: &MeshOutcome) -> Document {
    let mesh = outcome.mesh();
    let answer = words::answer(outcome, &mesh);
    let title = answer.first().cloned().unwrap_or_default();
    let sections = [
        Some(matrix(outcome, &mesh, &outcome.losses())),
        Section::listed("lost", "Hosts that dropped out", words::lost(outcome)),
        Section::listed("further", "Further findings", words::further(outcome)),
        Some(paths(outcome)),
    ];
    Document {
        title,
        head: vec![Block::Paragraphs(Style::Answer, answer)],
        sections: sections.into_iter().flatten().collect(),
    }
}

/// A row for each sender, a column for each receiver.
fn matrix(outcome: &MeshOutcome, mesh: &Mesh, losses: &Mesh) -> Section {
    let hosts = 0..outcome.hosts.len();
    let mut used = Vec::new();
    let mut cell = |from: usize, to: usize| {
        let text = match mesh.entry(from, to) {
            _ if from == to => "-".to_owned(),
            None => NOT_SEEN.to_owned(),
            Some(MeshEntry { carried, .. }) if carried == Bytes::ZERO => NOTHING.to_owned(),
            Some(MeshEntry { carried, limit }) => {
                let loses = losses.entry(from, to);
                let loses = loses.is_some_and(|entry| entry.carried == Bytes::ZERO);
                let lossy = if loses { LOSSY } else { "" };
                format!("{}{}{lossy}", carried.get(), mark(limit))
            }
        };
        used.push(text.clone());
        Cell::figure(text)
    };
    let rows = hosts.clone().map(|from| {
        let name = Cell::Text(outcome.name(from).to_owned());
        let cells = hosts.clone().map(|to| cell(from, to));
        std::iter::once(name).chain(cells).collect()
    });
    let rows: Vec<Vec<Cell>> = rows.collect();
    let names = hosts.map(|host| Column::right(outcome.name(host)));
    let table = Table {
        columns: std::iter::once(Column::new("from \\ to"))
            .chain(names)
            .collect(),
        rows,
        fit: Fit::Split(1),
        ..Table::default()
    };
    let marks = MARKS.iter().map(|(_, mark, meaning)| (*mark, *meaning));
    let others = [
        (LOSSY, "large packets are lost more often than small ones"),
        (NOTHING, "nothing arrives"),
        (NOT_SEEN, "not seen"),
    ];
    let is_used = |mark: &str| match mark {
        NOTHING | NOT_SEEN => used.iter().any(|text| text == mark),
        _ => used.iter().any(|text| text.contains(mark)),
    };
    let legend = marks.chain(others).filter(|(mark, _)| is_used(mark));
    let legend: Vec<String> = legend
        .map(|(mark, meaning)| format!("{mark}  {meaning}"))
        .collect();
    let mut blocks = vec![
        Block::heading("Largest packets in bytes"),
        Block::Table(table),
    ];
    if !legend.is_empty() {
        blocks.push(Block::Paragraphs(Style::Note, legend));
    }
    Section {
        id: "matrix",
        blocks,
    }
}

/// A row for each path that was investigated; a terminal leaves it out.
fn paths(outcome: &MeshOutcome) -> Section {
    let columns = [
        Column::new("from"),
        Column::new("to"),
        Column::right("round trip ms"),
        Column::right("loss %"),
        Column::right("probes"),
        Column::new("result"),
    ];
    let row = |path: &MeshPath| {
        let report = path.result.as_ref().ok();
        let figure = |text: Option<String>| Cell::figure(text.unwrap_or_default());
        let millis = report.and_then(|report| report.round_trip);
        let loss = report.and_then(|report| report.loss);
        vec![
            Cell::Text(outcome.name(path.from).to_owned()),
            Cell::Text(outcome.name(path.to).to_owned()),
            figure(millis.map(|span| format!("{:.2}", span.as_millis_f64()))),
            figure(loss.map(|loss| format!("{:.1}", 100.0 * loss.share))),
            figure(report.map(|report| report.probes.to_string())),
            Cell::Text(words::sentence(outcome, path)),
        ]
    };
    let table = Table {
        columns: columns.into(),
        rows: outcome.paths.iter().map(row).collect(),
        ..Table::default()
    };
    Section {
        id: "paths",
        blocks: vec![Block::Page(vec![
            Block::heading("Paths"),
            Block::Table(table),
        ])],
    }
}

fn mark(limit: Limit) -> &'static str {
    let mut marks = MARKS.iter();
    let found = marks.find(|(marked, ..)| *marked == limit);
    found.map_or("", |(_, mark, _)| mark)
}
