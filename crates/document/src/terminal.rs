//! Renders documents as plain text of a given width. Narrow terminals get more
//! lines, not less content.

use comfy_table::{
    Cell as GridCell, CellAlignment, ColumnConstraint, ContentArrangement, Row, Table as Grid,
    presets,
};

use crate::{Block, Cell, Column, Document, Fit, Item, List, ListKind, Table};

/// The maximum number of lines of a list.
const MOST_LINES: usize = 16;

/// Renders a document for a terminal of `width` columns.
pub fn text(document: &Document, width: u16) -> String {
    let mut screen = Screen {
        text: String::new(),
        heading: None,
        is_close: true,
        width,
    };
    screen.blocks(&document.head);
    for section in &document.sections {
        screen.blocks(&section.blocks);
    }
    screen.text
}

/// The text so far.
struct Screen {
    text: String,
    /// The pending heading, written before the next content.
    heading: Option<String>,
    /// Whether the next block follows without an empty line.
    is_close: bool,
    width: u16,
}

impl Screen {
    fn blocks(&mut self, blocks: &[Block]) {
        for block in blocks {
            self.block(block);
        }
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Title { name, title, .. } => {
                let title = self.wrapped(&[format!("{name}: {title}")]);
                self.below(&title);
            }
            Block::Heading(words, badge) | Block::Subheading(words, badge) => {
                let words = match badge {
                    Some(badge) => format!("{words}: {}", badge.words),
                    None => words.clone(),
                };
                let words = self.wrapped(&[words]);
                self.is_close = false;
                self.apart(&words);
                self.heading = Some(words);
            }
            Block::Paragraphs(_, lines) => {
                let lines = self.wrapped(lines);
                self.apart(&lines);
                self.is_close = false;
            }
            Block::List(list) => {
                let lines = self.wrapped(&shown(list));
                self.below(&lines);
                self.is_close = false;
            }
            Block::Table(table) => self.table(table),
            Block::Verbatim(text) if text.is_empty() => {}
            Block::Verbatim(text) => {
                self.apart(text);
                self.is_close = false;
            }
            Block::Terminal(blocks) => self.blocks(blocks),
            Block::Page(_)
            | Block::Figure(_)
            | Block::Picture(_)
            | Block::Svg(_)
            | Block::Fold { .. } => {}
        }
    }

    /// Appends text after an empty line if one is due.
    fn apart(&mut self, text: &str) {
        if !text.is_empty() {
            if !self.is_close {
                self.text.push('\n');
            }
            self.below(text);
        }
    }

    /// Appends text directly below the previous text.
    fn below(&mut self, text: &str) {
        if !text.is_empty() {
            self.text.push_str(text);
            self.text.push('\n');
            self.heading = None;
            self.is_close = true;
        }
    }

    fn wrapped(&self, lines: &[String]) -> String {
        wrapped(lines, self.width)
    }

    fn table(&mut self, table: &Table) {
        let heading = self.heading.take();
        if let Some(caption) = &table.caption {
            let caption = self.wrapped(std::slice::from_ref(caption));
            self.apart(&caption);
        }
        let grids = match table.fit {
            Fit::Wrap | Fit::Glance => vec![whole(table, self.width).trim_fmt()],
            Fit::Split(keys) => split(table, keys, self.width)
                .iter()
                .map(Grid::trim_fmt)
                .collect(),
            Fit::Line => vec![lines(table, self.width)],
        };
        for (position, grid) in grids.iter().enumerate() {
            if let (Some(heading), 1..) = (&heading, position) {
                self.apart(heading);
            }
            self.apart(grid);
            self.is_close = false;
        }
        if let Some(more) = &table.more {
            self.below(more);
            self.is_close = false;
        }
    }
}

/// The width of the columns of a table whose rows have one line each, without the
/// details of remarks.
pub fn line_width(table: &Table, width: u16) -> usize {
    let gap = usize::from(gap(width));
    let widths = line_widths(table);
    widths.iter().map(|width| width + gap).sum::<usize>() - gap.min(widths.len())
}

/// The width of each column.
fn line_widths(table: &Table) -> Vec<usize> {
    let whole = table
        .rows
        .iter()
        .filter(|row| row.len() == table.columns.len());
    let widest = |at: usize| {
        let cells = whole.clone().map(|row| written(&row[at]).chars().count());
        let head = head(&table.columns[at]).chars().count();
        cells.chain([head]).max().unwrap_or(0)
    };
    (0..table.columns.len()).map(widest).collect()
}

/// A table with one line a row, cut where the terminal ends.
fn lines(table: &Table, width: u16) -> String {
    let (gap, most) = (usize::from(gap(width)), usize::from(width));
    let widths = line_widths(table);
    let line = |texts: &mut dyn Iterator<Item = String>| {
        let mut line = String::new();
        for (text, (column, width)) in texts.zip(table.columns.iter().zip(&widths)) {
            match column.is_right {
                true => line.push_str(&format!("{text:>width$}")),
                false => line.push_str(&format!("{text:<width$}")),
            }
            line.push_str(&" ".repeat(gap));
        }
        cut(line.trim_end(), most)
    };
    let mut lines = vec![line(&mut table.columns.iter().map(head))];
    for row in &table.rows {
        if row.len() < table.columns.len() {
            let heading: String = row.iter().map(written).collect();
            lines.push(cut(&heading, most));
            continue;
        }
        let mut text = line(&mut row.iter().map(written));
        if let Some(Cell::Remarks(remarks)) = row.last() {
            for detail in remarks.iter().map(|remark| &remark.detail) {
                if text.chars().count() + detail.chars().count() <= most {
                    text.push_str(detail);
                }
            }
        }
        lines.push(text);
    }
    lines.join("\n")
}

/// The first `most` characters, the last one an ellipsis if there are more.
pub fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// The visible lines of a list, indented.
fn shown(list: &List) -> Vec<String> {
    let line = |item: &Item| match item.label {
        "" => format!("  {}", item.text),
        label => format!("  {label}: {}", item.text),
    };
    let items = list.brief.as_ref().unwrap_or(&list.items);
    let mut lines: Vec<String> = items.iter().map(line).collect();
    if list.kind == ListKind::Plain && list.brief.is_none() && lines.len() > MOST_LINES {
        let more = lines.len() - (MOST_LINES - 1);
        lines.truncate(MOST_LINES - 1);
        lines.push(format!("  and {more} more: see the page"));
    }
    lines
}

/// A table whose last column wraps, if there is room for a word.
fn whole(table: &Table, width: u16) -> Grid {
    const WORD: u16 = 12;
    let mut grid = grid(table, 0..table.columns.len(), width);
    let gap = gap(width);
    let widths = grid.column_max_content_widths();
    if let Some((_, figures)) = widths.split_last() {
        let taken: u16 = figures.iter().map(|width| width + gap).sum();
        if taken + WORD + gap <= width {
            for (column, _) in grid.column_iter_mut().zip(figures) {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
    }
    grid
}

/// Splits a table into parts that fit the width, each with the first `keys`
/// columns.
fn split(table: &Table, keys: usize, width: u16) -> Vec<Grid> {
    let mut grids = Vec::new();
    let mut begin = keys;
    while begin < table.columns.len() {
        let mut end = table.columns.len();
        let grid = loop {
            let grid = grid(table, (0..keys).chain(begin..end), width);
            let widths = grid.column_max_content_widths();
            let taken: u16 = widths.iter().map(|taken| taken + gap(width)).sum();
            if taken <= width || end == begin + 1 {
                break grid;
            }
            end -= 1;
        };
        grids.push(grid);
        begin = end;
    }
    grids
}

fn grid(table: &Table, columns: impl Iterator<Item = usize> + Clone, width: u16) -> Grid {
    let aligned = |text: String, column: &Column| {
        let cell = GridCell::new(text);
        match column.is_right {
            true => cell.set_alignment(CellAlignment::Right),
            false => cell,
        }
    };
    let row = |cells: &mut dyn Iterator<Item = GridCell>| Row::from(cells.collect::<Vec<_>>());
    let mut grid = Grid::new();
    grid.load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width);
    let heads = columns.clone().map(|at| &table.columns[at]);
    grid.set_header(row(&mut heads.map(|column| aligned(head(column), column))));
    let shown = table.brief_rows.unwrap_or(usize::MAX);
    for cells in table.rows.iter().take(shown) {
        let cells = columns.clone().map(|at| (&cells[at], &table.columns[at]));
        grid.add_row(row(
            &mut cells.map(|(cell, column)| aligned(written(cell), column))
        ));
    }
    for column in grid.column_iter_mut() {
        column.set_padding((0, gap(width)));
    }
    grid
}

/// The gap between columns, smaller on a narrow terminal.
fn gap(width: u16) -> u16 {
    if width < 100 { 1 } else { 2 }
}

fn head(column: &Column) -> String {
    match (&column.brief, column.unit.as_str()) {
        (Some(brief), _) => brief.clone(),
        (None, "") => column.title.clone(),
        (None, unit) => format!("{}\n{unit}", column.title),
    }
}

fn written(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => text.clone(),
        Cell::Figure(text, brief) => brief.as_ref().unwrap_or(text).clone(),
        Cell::Remarks(remarks) => {
            let words = remarks.iter().map(|remark| remark.words.as_str());
            let words: Vec<&str> = words.filter(|words| !words.is_empty()).collect();
            words.join("; ")
        }
        Cell::Range(_) | Cell::Axis(_) => String::new(),
        Cell::Change {
            percent,
            interval,
            words,
            ..
        } => format!("{percent} {interval} {words}"),
    }
}

/// Wraps lines between words; continuation lines are indented.
pub fn wrapped(lines: &[String], width: u16) -> String {
    let mut text = String::new();
    for line in lines {
        let indent = line.len() - line.trim_start().len();
        let mut column = indent;
        text.push_str(&" ".repeat(indent));
        let words: Vec<&str> = line.split_whitespace().collect();
        for (position, word) in words.iter().enumerate() {
            // A number keeps its "%".
            let unit = words.get(position + 1).filter(|next| next.starts_with('%'));
            let length = word.chars().count();
            let room = length + unit.map_or(0, |unit| 1 + unit.chars().count());
            if position > 0 && column + 1 + room > usize::from(width) && !word.starts_with('%') {
                column = indent + 2;
                text.push('\n');
                text.push_str(&" ".repeat(column));
            } else if position > 0 {
                column += 1;
                text.push(' ');
            }
            text.push_str(word);
            column += length;
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(blocks: Vec<Block>, width: u16) -> String {
        let document = Document {
            title: String::new(),
            head: blocks,
            sections: Vec::new(),
        };
        text(&document, width)
    }

    #[test]
    fn a_table_that_is_too_wide_is_several_below_the_same_heading() {
        let titles = ["key", "first", "second"];
        let cells = |words: [&str; 3]| words.map(Cell::figure).into();
        let table = Table {
            columns: titles.map(Column::new).into(),
            rows: vec![cells(["a", "1", "2"]), cells(["b", "3", "4"])],
            fit: Fit::Split(1),
            ..Table::default()
        };
        let text = drawn(vec![Block::heading("Figures"), Block::Table(table)], 14);
        let expected = "\
Figures\nkey first\na   1\nb   3\n
Figures\nkey second\na   2\nb   4\n";
        let lines: Vec<&str> = text.trim_start().lines().map(str::trim_end).collect();
        assert_eq!(lines, expected.lines().collect::<Vec<_>>());
    }

    #[test]
    fn of_a_long_list_the_first_lines_are_shown_and_the_others_counted() {
        let lines = (0..20).map(|line| line.to_string()).collect();
        let text = drawn(vec![Block::heading("Lines"), Block::list(lines)], 80);
        let lines: Vec<&str> = text.trim_start().lines().collect();
        assert_eq!(lines.len(), 1 + MOST_LINES);
        assert_eq!(lines[MOST_LINES], "  and 5 more: see the page");
    }
}
