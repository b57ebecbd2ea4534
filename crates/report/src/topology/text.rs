//! The drawing as text, with box characters.

use super::layout::Layout;
use super::{Link, Topology};
use crate::terminal::wrapped;

/// The lines of a box.
const BOX: usize = 3;

/// The fewest columns of a link.
const SHORTEST: usize = 5;

/// The drawing and what belongs to it, in lines of at most `width` columns.
pub(super) fn drawn(topology: &Topology, width: usize) -> String {
    let mut text = String::new();
    let columns = |width: usize| u16::try_from(width).unwrap_or(u16::MAX);
    if !topology.cells.is_empty() {
        let heading = format!("Test bed for {}:", topology.cells);
        text.push_str(&wrapped(&[heading], columns(width)));
        text.push('\n');
    }
    for line in picture(topology, width) {
        text.push_str(&format!("{line}\n"));
    }
    let lines: Vec<String> = topology
        .link_lines()
        .into_iter()
        .chain(topology.node_lines())
        .chain(topology.other_lines())
        .collect();
    for line in lines {
        for (number, part) in wrapped(&[line], columns(width.saturating_sub(4)))
            .lines()
            .enumerate()
        {
            let indent = if number == 0 { "  " } else { "    " };
            text.push_str(&format!("{indent}{}\n", part.trim_end()));
        }
    }
    text
}

/// The lines of the drawing, with as much text as `width` columns hold; none if it
/// is too wide without any.
pub(super) fn picture(topology: &Topology, width: usize) -> Vec<String> {
    let mut canvases = Labels::ALL.into_iter().map(|own| Canvas::of(topology, own));
    let canvas = canvases.find(|canvas| canvas.width() <= width);
    canvas.map_or_else(Vec::new, |canvas| canvas.lines())
}

/// The texts of links in a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Labels {
    RateAndMtu,
    Mtu,
    None,
}

impl Labels {
    /// All, the most telling first.
    const ALL: [Self; 3] = [Self::RateAndMtu, Self::Mtu, Self::None];

    /// The texts above and below `link`.
    fn of(self, link: &Link) -> [String; 2] {
        let mut shown = link.properties.iter().filter_map(super::Property::shown);
        let mut next = || shown.next().unwrap_or_default();
        let [rate, mtu] = [next(), next()];
        match self {
            Self::RateAndMtu => [rate, mtu],
            Self::Mtu => [String::new(), mtu],
            Self::None => [String::new(), String::new()],
        }
    }
}

/// Characters in rows.
struct Canvas {
    rows: Vec<Vec<char>>,
}

impl Canvas {
    fn of(topology: &Topology, own: Labels) -> Self {
        let layout = Layout::of(topology);
        let titles: Vec<String> = topology.nodes.iter().map(super::Node::title).collect();
        let size = |node: usize| titles[node].chars().count() + 4;
        // Where each column begins, and how wide it is.
        let widths: Vec<usize> = (0..layout.columns)
            .map(|column| {
                let here = (0..titles.len()).filter(|node| layout.places[*node].0 == column);
                here.map(size).max().unwrap_or(0)
            })
            .collect();
        let gap = |column: usize| {
            let links = topology.links.iter();
            let here = links.filter(|link| ordered(&layout, link).0 == column);
            let label = |link: &Link| {
                let lengths = own.of(link).map(|text| text.chars().count());
                lengths[0].max(lengths[1])
            };
            // A bend needs room for itself.
            let room = |link: &Link| label(link) + if is_bent(&layout, link) { 5 } else { 2 };
            here.map(room).max().unwrap_or(0).max(SHORTEST)
        };
        let mut starts = vec![0];
        for (column, width) in widths.iter().enumerate() {
            starts.push(starts[column] + width + gap(column));
        }
        let mut canvas = Self { rows: Vec::new() };
        // A half row has two lines; a box, with its label, fills both.
        let line = |node: usize| layout.places[node].1 * 2;
        for (node, title) in titles.iter().enumerate() {
            let column = layout.places[node].0;
            let place = place(&layout, column, starts[column], widths[column], size(node));
            canvas.boxed(line(node), place, title);
        }
        for link in &topology.links {
            let (column, from, to) = ordered(&layout, link);
            if layout.places[from].0 == layout.places[to].0 {
                let [upper, lower] = match line(from) < line(to) {
                    true => [from, to],
                    false => [to, from],
                };
                let at = starts[column] + widths[column] / 2;
                canvas.put(line(upper) + 2, at, '┬');
                canvas.put(line(lower), at, '┴');
                for row in line(upper) + 3..line(lower) {
                    canvas.put(row, at, '│');
                }
                continue;
            }
            let left = |node: usize| {
                let column = layout.places[node].0;
                place(&layout, column, starts[column], widths[column], size(node))
            };
            let begin = left(from) + size(from) - 1;
            let end = left(to);
            let texts = own.of(link);
            let rows = [line(from) + 1, line(to) + 1];
            canvas.link(rows, [begin, end], column == 0, &texts);
        }
        canvas
    }

    fn width(&self) -> usize {
        self.rows.iter().map(Vec::len).max().unwrap_or(0)
    }

    fn lines(&self) -> Vec<String> {
        let line = |row: &Vec<char>| row.iter().collect::<String>().trim_end().to_owned();
        self.rows.iter().map(line).collect()
    }

    fn at(&self, row: usize, column: usize) -> char {
        let row = self.rows.get(row);
        row.and_then(|row| row.get(column)).copied().unwrap_or(' ')
    }

    fn put(&mut self, row: usize, column: usize, what: char) {
        if self.rows.len() <= row {
            self.rows.resize(row + 1, Vec::new());
        }
        let row = &mut self.rows[row];
        if row.len() <= column {
            row.resize(column + 1, ' ');
        }
        row[column] = what;
    }

    fn write(&mut self, row: usize, column: usize, text: &str) {
        for (offset, letter) in text.chars().enumerate() {
            self.put(row, column + offset, letter);
        }
    }

    fn boxed(&mut self, line: usize, column: usize, title: &str) {
        let bar = "─".repeat(title.chars().count() + 2);
        let lines = [
            format!("┌{bar}┐"),
            format!("│ {title} │"),
            format!("└{bar}┘"),
        ];
        for (offset, text) in lines.iter().enumerate().take(BOX) {
            self.write(line + offset, column, text);
        }
    }

    /// A link between two boxes, with a bend where they are not on one line. Links
    /// of hosts on the left meet at their right end, the others at their left end.
    fn link(
        &mut self,
        [from, to]: [usize; 2],
        [begin, end]: [usize; 2],
        is_left: bool,
        labels: &[String; 2],
    ) {
        self.put(from, begin, '├');
        self.put(to, end, '┤');
        let bend = if is_left { end - 2 } else { begin + 2 };
        for column in begin + 1..end {
            let row = if column < bend { from } else { to };
            if column != bend || from == to {
                self.cross(row, column, '─');
            }
        }
        if from == to {
            let room = end - begin - 1;
            let width = labels.iter().map(|label| label.chars().count()).max();
            let middle = begin + 1 + room.saturating_sub(width.unwrap_or(0)) / 2;
            self.label(from, middle, labels);
            return;
        }
        for row in from.min(to) + 1..from.max(to) {
            self.cross(row, bend, '│');
        }
        self.cross(from, bend, if from < to { '┐' } else { '┘' });
        self.cross(to, bend, if from < to { '└' } else { '┌' });
        match is_left {
            true => self.label(from, begin + 2, labels),
            false => self.label(to, bend + 2, labels),
        }
    }

    fn label(&mut self, row: usize, column: usize, labels: &[String; 2]) {
        let [above, below] = labels;
        if row > 0 {
            self.write(row - 1, column, above);
        }
        if !below.is_empty() {
            self.write(row + 1, column, below);
        }
    }

    /// Puts a line across what is there already.
    fn cross(&mut self, row: usize, column: usize, what: char) {
        let arms = arms(self.at(row, column)) | arms(what);
        let merged = LINES.iter().find(|(_, own)| *own == arms);
        self.put(row, column, merged.map_or(what, |(line, _)| *line));
    }
}

/// Lines by their arms: left 1, right 2, up 4, down 8.
const LINES: [(char, u8); 11] = [
    ('─', 3),
    ('│', 12),
    ('┐', 9),
    ('┘', 5),
    ('└', 6),
    ('┌', 10),
    ('┤', 13),
    ('├', 14),
    ('┬', 11),
    ('┴', 7),
    ('┼', 15),
];

fn arms(line: char) -> u8 {
    let known = LINES.iter().find(|(own, _)| *own == line);
    known.map_or(0, |(_, arms)| *arms)
}

/// The column of a box: those at the ends are flush with the edge, others
/// stand in the middle of their column.
fn place(layout: &Layout, column: usize, start: usize, width: usize, size: usize) -> usize {
    match column {
        0 => start + width - size,
        _ if column + 1 == layout.columns => start,
        _ => start + (width - size) / 2,
    }
}

/// The ends of a link from left to right, and the column of the left one.
fn ordered(layout: &Layout, link: &Link) -> (usize, usize, usize) {
    let [one, other] = link.ends;
    match layout.places[one].0 <= layout.places[other].0 {
        true => (layout.places[one].0, one, other),
        false => (layout.places[other].0, other, one),
    }
}

fn is_bent(layout: &Layout, link: &Link) -> bool {
    let [one, other] = link.ends.map(|node| layout.places[node]);
    one.1 != other.1
}
