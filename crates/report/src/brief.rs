//! The short report of a run for a terminal: the answer and the warnings about it, verdicts
//! counted, one table, and where the whole report is.

mod rows;

use std::path::Path;

use analysis::Findings;
use document::terminal;
use document::{Block, Document, Style};

use crate::section::auto_rate::auto_rate;
use crate::section::{self, head, headline, quality_check};
use rows::Rows;

/// The maximum number of lines of a short report.
pub const MOST_LINES: usize = 40;

/// The files that a short report names.
#[derive(Clone, Copy, Debug, Default)]
pub struct Places<'a> {
    /// The results folder.
    pub folder: Option<&'a Path>,
    /// The page.
    pub page: Option<&'a Path>,
}

/// The short report of a run for a terminal of `width` columns: at most
/// [`MOST_LINES`] lines, of the table as many rows as fit.
pub fn brief(found: &Findings<'_>, files: Places<'_>, width: u16) -> String {
    let rows = Rows::of(found);
    let answer = headline::answer(found);
    let with = |count| {
        let document = document(found, &answer, files, &rows, count, width);
        terminal::text(&document, width)
    };
    let bare = with(0);
    let room = MOST_LINES.saturating_sub(bare.lines().count());
    let counts = (1..=room.min(rows.count())).rev();
    let mut texts = counts.map(with);
    texts
        .find(|text| text.lines().count() <= MOST_LINES)
        .unwrap_or(bare)
}

/// The facts of the quality check, below a short report.
pub fn facts(found: &Findings<'_>, width: u16) -> String {
    let document = Document {
        title: String::new(),
        head: Vec::new(),
        sections: quality_check::section(found).into_iter().collect(),
    };
    terminal::text(&document, width)
}

/// The answer alone, with the warnings about it and the paths.
pub fn answer(found: &Findings<'_>, files: Places<'_>, width: u16) -> String {
    let mut lines = headline::answer(found);
    lines.extend(warnings(found));
    lines.extend(found.facts.auto_rate.as_ref().map(auto_rate));
    lines.extend(head::unmeasured(found));
    let table = match section::rows::are_declared(found.plan) {
        true => section::rows::table_within(found, width),
        false => None,
    };
    let below = [
        Block::Paragraphs(Style::Answer, lines),
        Block::Verbatim(paths(files)),
    ];
    let head = table.into_iter().chain(below).collect();
    terminal::text(&of(head), width)
}

/// Any other report, cut to [`MOST_LINES`] lines.
pub fn shortened(document: &Document, files: Places<'_>, width: u16) -> String {
    let whole = terminal::text(document, width);
    let lines: Vec<&str> = whole.lines().collect();
    let page = Places {
        folder: None,
        ..files
    };
    if lines.len() + paths(page).lines().count() <= MOST_LINES {
        return format!("{whole}{}", terminated(&paths(page)));
    }
    let paths = paths(files);
    let room = MOST_LINES - 2 - paths.lines().count();
    let kept = lines[..room].join("\n");
    let kept = kept.trim_end();
    let left = lines.len() - kept.lines().count();
    format!(
        "{kept}\nand {left} more lines: --full or the page\n\n{}",
        terminated(&paths)
    )
}

/// The sentences at the head of any other report, with the paths.
pub fn answer_of(document: &Document, files: Places<'_>, width: u16) -> String {
    let answers = document.head.iter().filter_map(|block| match block {
        Block::Paragraphs(Style::Answer | Style::Alarm | Style::Warning, lines) => Some(lines),
        _ => None,
    });
    let lines: Vec<String> = answers.flatten().cloned().collect();
    let head = vec![
        Block::Paragraphs(Style::Answer, lines),
        Block::Verbatim(paths(files)),
    ];
    terminal::text(&of(head), width)
}

fn terminated(lines: &str) -> String {
    match lines {
        "" => String::new(),
        lines => format!("{lines}\n"),
    }
}

fn document(
    found: &Findings<'_>,
    answer: &[String],
    files: Places<'_>,
    rows: &Rows<'_>,
    count: usize,
    width: u16,
) -> Document {
    let warnings = warnings(found);
    if section::rows::are_declared(found.plan) {
        return of(with_rows(found, answer, warnings, files, width));
    }
    let first = answer.first().map(|first| match warnings.is_empty() {
        true => first.clone(),
        false => format!("{first} Warning: see above."),
    });
    let mut lines = answer.to_vec();
    lines.extend(warnings);
    lines.extend(headline::counted(found));
    lines.extend(headline::not_measured(found));
    lines.extend(found.facts.auto_rate.as_ref().map(auto_rate));
    let mut head = vec![title(found), Block::Paragraphs(Style::Answer, lines)];
    if count > 0 {
        head.push(Block::Table(rows.table(count, width)));
    }
    let mut below = vec![head::finished(found)];
    below.extend(head::unmeasured(found));
    head.push(Block::Paragraphs(Style::Plain, below));
    let paths = Block::Verbatim(paths(files));
    head.push(paths);
    head.extend(first.map(|first| Block::paragraph(Style::Answer, first)));
    of(head)
}

/// The answer of an experiment that declares rows: their table, advice, and what to type
/// next.
fn with_rows(
    found: &Findings<'_>,
    answer: &[String],
    warnings: Vec<String>,
    files: Places<'_>,
    width: u16,
) -> Vec<Block> {
    let answer = [answer, &warnings].concat();
    let notes = section::rows::notes(found);
    let ends = [head::finished(found)];
    let notes = notes.into_iter().chain(ends).chain(head::unmeasured(found));
    std::iter::once(title(found))
        .chain(section::rows::table_within(found, width))
        .chain([
            Block::Paragraphs(Style::Answer, answer),
            Block::Paragraphs(Style::Plain, notes.collect()),
            Block::Verbatim(paths(files)),
            Block::Verbatim(section::rows::next(found.plan)),
        ])
        .collect()
}

fn title(found: &Findings<'_>) -> Block {
    Block::Title {
        name: found.plan.name.clone(),
        title: headline::question(found).to_owned(),
        badges: Vec::new(),
    }
}

fn of(head: Vec<Block>) -> Document {
    Document {
        title: String::new(),
        head,
        sections: Vec::new(),
    }
}

/// The reasons not to rely on the answer, a line each.
fn warnings(found: &Findings<'_>) -> Vec<String> {
    let lines = [head::faults(found), head::warned(found)];
    lines.into_iter().flatten().collect()
}

fn paths(files: Places<'_>) -> String {
    let name =
        |what: &str, path: Option<&Path>| path.map(|path| format!("{what}: {}", path.display()));
    let lines = [name("Results", files.folder), name("Page", files.page)];
    let lines: Vec<String> = lines.into_iter().flatten().collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests;
