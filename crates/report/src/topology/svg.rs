//! The drawing as inline SVG.

use document::Svg;
use maud::{Markup, html};
use plan::setting::Role;

use super::layout::Layout;
use super::{Link, Node, Topology};

/// The width of a letter and the height of a line, in pixels. A letter of the
/// page's font is narrower on average.
const LETTER: usize = 7;
const LINE: usize = 17;

/// The most letters in a line of a label.
const LONGEST: usize = 26;

/// The space around a drawing, and around a label.
const MARGIN: usize = 6;
const PADDING: usize = 10;

/// A picture with its text alternative, and the lines that belong to it.
pub(crate) fn figure(topology: &Topology) -> Svg {
    Svg {
        title: topology.cells.clone(),
        alternative: alternative(topology),
        elements: picture(topology).into_string(),
        notes: topology.other_lines(),
    }
}

/// The drawing in words.
fn alternative(topology: &Topology) -> String {
    let link = |link: &Link| {
        let [from, to] = link.ends.map(|node| topology.nodes[node].title());
        format!(
            "{} from {from} to {to}, {}",
            link.name,
            link.words().join(", ")
        )
    };
    let links: Vec<String> = topology.links.iter().map(link).collect();
    format!("Test network. Links: {}.", links.join("; "))
}

fn picture(topology: &Topology) -> Markup {
    let drawing = Drawing::of(topology);
    let ([left, top], [width, height]) = drawing.extent();
    html! {
        svg.network viewBox={ (left) " " (top) " " (width) " " (height) } width=(width) height=(height) {
            @for path in &drawing.paths { polyline points=(path) {} }
            @for Boxed { corner: [x, y], size: [w, h], node, lines } in &drawing.boxes {
                rect class=(class(node.role)) x=(x) y=(y) width=(w) height=(h)
                    rx=(if node.role == Role::Host { 3 } else { 14 }) {}
                @for (number, line) in lines.iter().enumerate() {
                    text class=(if number == 0 { "name" } else { "note" })
                        x=(x + w / 2) y=(y + LINE * (number + 1)) text-anchor="middle" { (line) }
                }
            }
            @for Label { x, y, text, varies } in &drawing.labels {
                text class=[varies.then_some("varies")] x=(x) y=(y) { (text) }
            }
        }
    }
}

const fn class(role: Role) -> &'static str {
    match role {
        Role::Host => "host",
        Role::Router => "router",
        Role::Switch => "switch",
    }
}

/// Everything in its place, in pixels.
struct Drawing<'a> {
    boxes: Vec<Boxed<'a>>,
    /// The points of each link.
    paths: Vec<String>,
    labels: Vec<Label>,
}

struct Boxed<'a> {
    corner: [usize; 2],
    size: [usize; 2],
    node: &'a Node,
    lines: Vec<String>,
}

struct Label {
    x: usize,
    y: usize,
    text: String,
    varies: bool,
}

impl<'a> Drawing<'a> {
    fn of(topology: &'a Topology) -> Self {
        let layout = Layout::of(topology);
        let lines: Vec<Vec<String>> = topology.nodes.iter().map(node_lines).collect();
        let sizes: Vec<[usize; 2]> = lines.iter().map(|lines| extent(lines.iter())).collect();
        let labels: Vec<Vec<(String, bool)>> = topology.links.iter().map(link_lines).collect();
        let widths: Vec<usize> = (0..layout.columns)
            .map(|column| {
                let here = (0..sizes.len()).filter(|&node| layout.places[node].0 == column);
                here.map(|node| sizes[node][0]).max().unwrap_or(0)
            })
            .collect();
        let label_size = |link: usize| extent(labels[link].iter().map(|(text, _)| text));
        let mut starts = vec![MARGIN];
        for (column, width) in widths.iter().enumerate() {
            let links = topology.links.iter().enumerate();
            let here = links.filter(|(_, link)| column_of(&layout, link) == column);
            let room = here
                .map(|(link, _)| label_size(link)[0] + 3 * PADDING)
                .max();
            starts.push(starts[column] + width + room.unwrap_or(3 * PADDING));
        }
        // Half the distance of two nodes of one column.
        let of_labels = (0..labels.len()).map(|link| label_size(link)[1] + PADDING);
        let of_boxes = sizes.iter().map(|size| size[1] + PADDING);
        let pitch = of_labels.chain(of_boxes).max().unwrap_or(0).div_ceil(2);
        let nodes = topology.nodes.iter().zip(lines).enumerate();
        let boxes = nodes.map(|(number, (node, lines))| {
            let (column, row) = layout.places[number];
            let rest = widths[column] - sizes[number][0];
            let before = match column {
                0 => rest,
                _ if column + 1 == layout.columns => 0,
                _ => rest / 2,
            };
            let centre = MARGIN + pitch * (row + 1);
            Boxed {
                corner: [starts[column] + before, centre - sizes[number][1] / 2],
                size: sizes[number],
                node,
                lines,
            }
        });
        let mut drawing = Self {
            boxes: boxes.collect(),
            paths: Vec::new(),
            labels: Vec::new(),
        };
        for (link, lines) in topology.links.iter().zip(labels) {
            drawing.link(&layout, link, lines);
        }
        drawing
    }

    /// The upper left corner and the size of all that is drawn.
    fn extent(&self) -> ([usize; 2], [usize; 2]) {
        let boxes = self.boxes.iter().map(|one| (one.corner, one.size));
        let labels = self.labels.iter().map(|label| {
            let corner = [label.x, label.y.saturating_sub(LINE)];
            (
                corner,
                [label.text.chars().count() * LETTER, LINE + PADDING / 2],
            )
        });
        let (mut low, mut high) = ([usize::MAX; 2], [0; 2]);
        for (corner, size) in boxes.chain(labels) {
            for axis in [0, 1] {
                low[axis] = low[axis].min(corner[axis]);
                high[axis] = high[axis].max(corner[axis] + size[axis]);
            }
        }
        let low = low.map(|low| low.saturating_sub(MARGIN));
        let size = [0, 1].map(|axis| (high[axis] + MARGIN).saturating_sub(low[axis]));
        (low, size)
    }

    /// A link with a bend near its inner node, and the label along its outer part.
    fn link(&mut self, layout: &Layout, link: &Link, lines: Vec<(String, bool)>) {
        let [one, other] = link.ends;
        let (from, to) = match layout.places[one] <= layout.places[other] {
            true => (one, other),
            false => (other, one),
        };
        let [from_box, to_box] = [from, to].map(|node| &self.boxes[node]);
        let middle = |of: &Boxed<'_>, axis: usize| of.corner[axis] + of.size[axis] / 2;
        let end = |of: &Boxed<'_>, axis: usize| of.corner[axis] + of.size[axis];
        let column = layout.places[from].0;
        let (points, [x, y]) = if column == layout.places[to].0 {
            // One below the other.
            let begin = [middle(from_box, 0), end(from_box, 1)];
            (vec![begin, [begin[0], to_box.corner[1]]], begin)
        } else {
            let begin = [end(from_box, 0), middle(from_box, 1)];
            let last = [to_box.corner[0], middle(to_box, 1)];
            let bend = match column {
                0 => last[0] - PADDING,
                _ => begin[0] + PADDING,
            };
            let bends = [[bend, begin[1]], [bend, last[1]]];
            let bends: &[[usize; 2]] = if begin[1] == last[1] { &[] } else { &bends };
            let label = if column == 0 { begin } else { [bend, last[1]] };
            ([&[begin], bends, &[last]].concat(), label)
        };
        let point = |[x, y]: &[usize; 2]| format!("{x},{y}");
        self.paths
            .push(points.iter().map(point).collect::<Vec<_>>().join(" "));
        // One line stands above the link and the others below.
        let first = y.saturating_sub(PADDING / 2);
        for (number, (text, varies)) in lines.into_iter().enumerate() {
            let below = if number > 0 { PADDING / 2 + 2 } else { 0 };
            self.labels.push(Label {
                x: x + PADDING,
                y: first + number * LINE + below,
                text,
                varies,
            });
        }
    }
}

/// The name of a node and its notes.
fn node_lines(node: &Node) -> Vec<String> {
    let notes = node.notes();
    let notes = notes.iter().flat_map(|note| broken(note));
    std::iter::once(node.title()).chain(notes).collect()
}

/// The properties of a link, a line or more each, and whether they differ
/// between cells.
fn link_lines(link: &Link) -> Vec<(String, bool)> {
    let shown = link.properties.iter();
    let shown = shown.filter_map(|property| Some((property.shown()?, property.varies())));
    let lines = |(text, varies): (String, bool)| {
        let lines = broken(&text).into_iter();
        lines.map(move |line| (line, varies))
    };
    shown.flat_map(lines).collect()
}

/// `text` in lines of about [`LONGEST`] letters.
fn broken(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < LONGEST => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The width and height of lines with the space around them.
fn extent<'b>(lines: impl Iterator<Item = &'b String>) -> [usize; 2] {
    let (mut letters, mut count) = (0, 0);
    for line in lines {
        letters = letters.max(line.chars().count());
        count += 1;
    }
    [letters * LETTER + 2 * PADDING, count * LINE + PADDING]
}

/// The left one of the columns of a link's ends.
fn column_of(layout: &Layout, link: &Link) -> usize {
    let columns = link.ends.map(|node| layout.places[node].0);
    columns[0].min(columns[1])
}
