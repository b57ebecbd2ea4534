//! The links of test beds as a table, for a terminal.

use document::terminal::text;
use document::{Block, Cell, Column, Document, Fit, Item, List, ListKind, Table};
use plan::Plan;

use super::{Link, Property, Topology, of};

/// The properties of links with columns of their own: key and title.
const COLUMNS: [(&str, &str); 4] = [
    ("", "rate"),
    ("MTU", "MTU"),
    ("delay", "delay"),
    ("loss", "loss"),
];

/// The test beds of `plan` in lines of at most `width` columns: links, hosts and flows. Empty
/// if there is nothing to show.
pub fn topology_text(plan: &Plan, width: u16) -> String {
    let beds = of(plan);
    lines(beds.iter().flat_map(blocks).collect(), width)
}

/// The links of the first test bed of `plan`, one a line, cut after `width` columns.
pub fn topology_lines(plan: &Plan, width: u16) -> Vec<String> {
    let first = of(plan).into_iter().next();
    let table = first.map(|bed| Block::Table(links(&bed, Fit::Line)));
    let text = lines(table.into_iter().collect(), width);
    text.lines().map(str::to_owned).collect()
}

fn lines(head: Vec<Block>, width: u16) -> String {
    let document = Document {
        title: String::new(),
        head,
        sections: Vec::new(),
    };
    text(&document, width).trim_start().to_owned()
}

fn blocks(bed: &Topology) -> [Block; 3] {
    let heading = match bed.cells.as_str() {
        "" => "Test bed".to_owned(),
        cells => format!("Test bed for {cells}"),
    };
    let others = |link: &Link| -> Vec<String> {
        let properties = link.properties.iter();
        let others = properties.filter(|own| COLUMNS.iter().all(|(key, _)| own.key() != *key));
        others.filter_map(Property::shown).collect()
    };
    let of_links = bed
        .links
        .iter()
        .map(|link| (link.name.clone(), others(link)));
    let of_nodes = bed.nodes.iter().map(|node| (node.title(), node.notes()));
    let items = grouped(of_links).into_iter().chain(grouped(of_nodes));
    [
        Block::heading(heading),
        Block::Table(links(bed, Fit::Wrap)),
        Block::List(List {
            kind: ListKind::Facts,
            items: items.chain(bed.other_lines()).map(Item::from).collect(),
            brief: None,
        }),
    ]
}

/// Names with words about them, those with equal words in one line. Names without
/// words are left out.
fn grouped(named: impl Iterator<Item = (String, Vec<String>)>) -> Vec<String> {
    let mut lines: Vec<(Vec<String>, String)> = Vec::new();
    for (name, words) in named.filter(|(_, words)| !words.is_empty()) {
        let words = words.join("; ");
        match lines.iter_mut().find(|(_, other)| *other == words) {
            Some((names, _)) if names.contains(&name) => {}
            Some((names, _)) => names.push(name),
            None => lines.push((vec![name], words)),
        }
    }
    let line = |(names, words): (Vec<String>, String)| format!("{}: {words}", names.join(", "));
    lines.into_iter().map(line).collect()
}

/// A row for each link. Columns that say nothing are left out.
fn links(bed: &Topology, fit: Fit) -> Table {
    let between = |link: &Link| link.ends.map(|node| bed.nodes[node].title());
    let is_named_by_ends = |link: &Link| link.name == between(link).join("-");
    let mut columns = vec![("link", cells(bed, |link| link.name.clone()))];
    if !bed.links.iter().all(is_named_by_ends) {
        columns.push(("between", cells(bed, |link| between(link).join(" - "))));
    }
    for (key, title) in COLUMNS {
        let is_shown = |link: &Link| property(link, key).and_then(Property::shown).is_some();
        if bed.links.iter().any(is_shown) {
            let value = |link: &Link| property(link, key).map_or_else(String::new, Property::value);
            columns.push((title, cells(bed, value)));
        }
    }
    let row = |place: usize| {
        let of_row = columns.iter().map(|(_, cells)| cells[place].clone());
        of_row.map(Cell::Text).collect()
    };
    Table {
        rows: (0..bed.links.len()).map(row).collect(),
        columns: columns
            .iter()
            .map(|(title, _)| Column::new(*title))
            .collect(),
        fit,
        ..Table::default()
    }
}

fn property<'a>(link: &'a Link, key: &str) -> Option<&'a Property> {
    link.properties.iter().find(|own| own.key() == key)
}

fn cells(bed: &Topology, of: impl Fn(&Link) -> String) -> Vec<String> {
    bed.links.iter().map(of).collect()
}
