//! The links of test networks in lines, for a terminal.

use document::terminal::{cut, text};
use document::{Block, Document, Item, List, ListKind};
use plan::Plan;

use super::{Link, Topology, of};

/// The test networks of `plan` in lines of at most `width` columns: links, hosts and flows. Empty
/// if there is nothing to show.
pub fn topology_text(plan: &Plan, width: u16) -> String {
    let blocks = |bed: &Topology| {
        let heading = match bed.cells.as_str() {
            "" => "Test network".to_owned(),
            cells => format!("Test network for {cells}"),
        };
        let list = List {
            kind: ListKind::Facts,
            items: links(bed)
                .chain(bed.other_lines())
                .map(Item::from)
                .collect(),
            brief: None,
        };
        [Block::heading(heading), Block::List(list)]
    };
    let document = Document {
        title: String::new(),
        head: of(plan).iter().flat_map(blocks).collect(),
        sections: Vec::new(),
    };
    text(&document, width).trim_start().to_owned()
}

/// The links of the first test network of `plan`, one a line, cut after `width` columns.
pub fn topology_lines(plan: &Plan, width: u16) -> Vec<String> {
    let beds = of(plan);
    let links = beds.first().into_iter().flat_map(links);
    links.map(|link| cut(&link, width.into())).collect()
}

/// A line for each link: its name, its ends unless these are its name, and its properties.
fn links(bed: &Topology) -> impl Iterator<Item = String> {
    let line = |link: &Link| {
        let ends = link.ends.map(|node| bed.nodes[node].title());
        let between = match link.name == ends.join("-") {
            true => String::new(),
            false => format!(" ({})", ends.join(" - ")),
        };
        format!("{}{between}: {}", link.name, link.words().join("; "))
    };
    bed.links.iter().map(line)
}
