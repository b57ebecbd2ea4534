//! The report of the paths between all hosts of a mesh.

mod json;
#[cfg(test)]
mod tests;
mod words;

use std::net::IpAddr;

use document::{Block, Cell, Column, Document, Fit, Section, Style, Table};
use probe::machine::{Limit, Mesh, MeshEntry, PathReport, Verdict};
use units::Bytes;

use crate::probe::{Probed, path_sentence};
pub use json::mesh_json;

/// A mesh that was investigated.
#[derive(Clone, Debug)]
pub struct MeshProbed<'a> {
    /// The size that each path should carry.
    pub asked: Bytes,
    /// The hosts, in the order of the file.
    pub hosts: Vec<MeshHost<'a>>,
    /// The paths that were investigated.
    pub paths: Vec<MeshPath<'a>>,
    /// Whether the user stopped it before all were.
    pub is_stopped: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct MeshHost<'a> {
    pub name: &'a str,
    /// The address that is probed.
    pub address: IpAddr,
    /// Whether it probes.
    pub probes: bool,
    /// The interface through which it probes, and its MTU.
    pub interface: Option<(&'a str, Bytes)>,
    /// The reason for which it dropped out.
    pub lost: Option<&'a str>,
}

#[derive(Clone, Copy, Debug)]
pub struct MeshPath<'a> {
    /// The number of the host that probed.
    pub from: usize,
    /// The number of the host that was probed.
    pub to: usize,
    /// The result, or the reason for which there is none.
    pub result: Result<&'a PathReport, &'a str>,
}

/// The marks of entries that are smaller than asked, and their meanings.
const MARKS: [(Limit, &str, &str); 4] = [
    (
        Limit::Vanish,
        "*",
        "larger packets are dropped silently (MTU black hole)",
    ),
    (
        Limit::Refused,
        "!",
        "a router rejects larger packets with an ICMP error",
    ),
    (Limit::Interface, "#", "the MTU of the local interface"),
    (Limit::Fragmented, "~", "larger packets arrive in fragments"),
];

/// The cell of a path of which nothing is known, and of one on which nothing arrives.
const NOT_SEEN: &str = "?";
const NOTHING: &str = "0";

impl<'a> MeshProbed<'a> {
    /// The results by sender and receiver.
    fn mesh(&self) -> Mesh {
        let mut mesh = Mesh::new(self.asked, self.hosts.len());
        for path in &self.paths {
            if let Ok(report) = path.result {
                mesh.note(path.from, path.to, report);
            }
        }
        mesh
    }

    /// The judgement on the size asked for: clean if every path between the hosts was
    /// seen to carry it in both directions.
    pub fn verdict(&self) -> Verdict {
        let mesh = self.mesh();
        let is_below = |entry: MeshEntry| entry.carried < self.asked;
        let reports = || self.paths.iter().filter_map(|path| path.result.ok());
        let mut entries = pairs(self.hosts.len()).map(|(from, to)| mesh.entry(from, to));
        if reports().any(|report| report.verdict == Verdict::Problem)
            || entries.clone().flatten().any(is_below)
        {
            Verdict::Problem
        } else if entries.all(|entry| entry.is_some()) && !self.hosts.is_empty() {
            Verdict::Clean
        } else {
            Verdict::Unclear
        }
    }

    /// A path as its own report has it.
    fn probed(&self, path: &MeshPath<'a>, report: &'a PathReport) -> Probed<'a> {
        let (interface, interface_mtu) = self.hosts[path.from].interface.unwrap_or_default();
        Probed {
            host: self.hosts[path.to].name,
            interface,
            interface_mtu,
            report,
        }
    }

    /// The result of a path in one sentence.
    fn sentence(&self, path: &MeshPath<'a>) -> String {
        match path.result {
            Ok(report) => path_sentence(&self.probed(path, report)),
            Err(why) => why.to_owned(),
        }
    }

    fn name(&self, host: usize) -> &'a str {
        self.hosts[host].name
    }
}

/// The report of a mesh: the answer, the matrix, and further findings.
pub fn of_mesh(probed: &MeshProbed<'_>) -> Document {
    let mesh = probed.mesh();
    let answer = words::answer(probed, &mesh);
    let title = answer.first().cloned().unwrap_or_default();
    let sections = [
        Some(matrix(probed, &mesh)),
        Section::listed("lost", "Hosts that dropped out", words::lost(probed)),
        Section::listed("further", "Further findings", words::further(probed)),
        Some(paths(probed)),
    ];
    Document {
        title,
        head: vec![Block::Paragraphs(Style::Answer, answer)],
        sections: sections.into_iter().flatten().collect(),
    }
}

/// A row for each sender, a column for each receiver.
fn matrix(probed: &MeshProbed<'_>, mesh: &Mesh) -> Section {
    let hosts = 0..probed.hosts.len();
    let mut used = Vec::new();
    let mut cell = |from: usize, to: usize| {
        let text = match mesh.entry(from, to) {
            _ if from == to => "-".to_owned(),
            None => NOT_SEEN.to_owned(),
            Some(MeshEntry { carried, .. }) if carried == Bytes::ZERO => NOTHING.to_owned(),
            Some(MeshEntry { carried, limit }) => format!("{}{}", carried.get(), mark(limit)),
        };
        used.push(text.clone());
        Cell::figure(text)
    };
    let rows = hosts.clone().map(|from| {
        let name = Cell::Text(probed.name(from).to_owned());
        let cells = hosts.clone().map(|to| cell(from, to));
        std::iter::once(name).chain(cells).collect()
    });
    let rows: Vec<Vec<Cell>> = rows.collect();
    let names = hosts.map(|host| Column::right(probed.name(host)));
    let table = Table {
        columns: std::iter::once(Column::new("from \\ to"))
            .chain(names)
            .collect(),
        rows,
        fit: Fit::Split(1),
        ..Table::default()
    };
    let marks = MARKS.iter().map(|(_, mark, meaning)| (*mark, *meaning));
    let others = [(NOTHING, "nothing arrives"), (NOT_SEEN, "not seen")];
    let is_used = |mark: &str| match mark {
        NOTHING | NOT_SEEN => used.iter().any(|text| text == mark),
        _ => used.iter().any(|text| text.ends_with(mark)),
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
fn paths(probed: &MeshProbed<'_>) -> Section {
    let columns = [
        Column::new("from"),
        Column::new("to"),
        Column::right("round trip ms"),
        Column::right("loss %"),
        Column::right("probes"),
        Column::new("result"),
    ];
    let row = |path: &MeshPath<'_>| {
        let report = path.result.ok();
        let figure = |text: Option<String>| Cell::figure(text.unwrap_or_default());
        let millis = report.and_then(|report| report.round_trip);
        let loss = report.and_then(|report| report.loss);
        vec![
            Cell::Text(probed.name(path.from).to_owned()),
            Cell::Text(probed.name(path.to).to_owned()),
            figure(millis.map(|span| format!("{:.2}", span.as_millis_f64()))),
            figure(loss.map(|loss| format!("{:.1}", 100.0 * loss.share))),
            figure(report.map(|report| report.probes.to_string())),
            Cell::Text(probed.sentence(path)),
        ]
    };
    let table = Table {
        columns: columns.into(),
        rows: probed.paths.iter().map(row).collect(),
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

/// All pairs of a sender and a receiver.
fn pairs(hosts: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
    let all = (0..hosts).flat_map(move |from| (0..hosts).map(move |to| (from, to)));
    all.filter(|(from, to)| from != to)
}
