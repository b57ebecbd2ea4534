//! The contents of a report in an output-independent form: blocks in order,
//! grouped into sections. [`terminal`] renders them as text, the crate `report` as a page.

pub mod terminal;

use serde::Serialize;
use serde_json::Value;

pub use terminal::text;

/// A complete report.
pub struct Document {
    /// The title of the page.
    pub title: String,
    /// The first screen: the question and the result.
    pub head: Vec<Block>,
    /// Everything else, in order.
    pub sections: Vec<Section>,
}

/// A group of related blocks.
pub struct Section {
    /// The id of its element on the page, by which links reach it; empty for
    /// none, and the list of contents leaves it out.
    pub id: &'static str,
    /// Its contents.
    pub blocks: Vec<Block>,
}

/// One piece of a report.
pub enum Block {
    /// Name and title of the experiment, and a short summary of the run.
    Title {
        name: String,
        title: String,
        badges: Vec<Badge>,
    },
    /// The heading of a section.
    Heading(String, Option<Badge>),
    /// A heading within a section.
    Subheading(String, Option<Badge>),
    /// Sentences, one paragraph each.
    Paragraphs(Style, Vec<String>),
    /// Short lines.
    List(List),
    /// Rows and columns.
    Table(Table),
    /// Plots; omitted on a terminal.
    Figure(Figure),
    /// A drawing; omitted on a terminal.
    Svg(Svg),
    /// Strips of coloured columns. A terminal has none.
    Picture(Picture),
    /// Blocks that a reader unfolds on the page. A terminal leaves them out.
    Fold { summary: String, blocks: Vec<Self> },
    /// Preformatted text.
    Verbatim(String),
    /// Blocks shown only on the page.
    Page(Vec<Self>),
    /// Blocks shown only on a terminal.
    Terminal(Vec<Self>),
}

/// A short framed text.
pub struct Badge {
    pub words: String,
    /// The judgement that it states, if any.
    pub tone: Option<Emphasis>,
    /// The id of the section to which it links; empty for none.
    pub target: &'static str,
}

/// The purpose of sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Plain text.
    Plain,
    /// The answer to the experiment's question.
    Answer,
    /// An explanation.
    Note,
    /// A warning that the results are unreliable or incomplete.
    Alarm,
    /// A warning about the results.
    Warning,
    /// A message for browsers without JavaScript.
    NoScript,
}

/// Short lines. A line with leading spaces belongs to the line above.
pub struct List {
    pub kind: ListKind,
    pub items: Vec<Item>,
    /// The lines for a terminal; `None`: the first ones.
    pub brief: Option<Vec<Item>>,
}

/// The contents of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// Findings.
    Plain,
    /// Faults and notes of a quality check; a terminal shows all.
    QualityCheck,
    /// Facts about program and machine; a terminal shows all.
    Facts,
}

/// A line of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The kind of the line; empty if all lines are of one kind.
    pub label: &'static str,
    pub text: String,
}

/// Rows and columns.
#[derive(Default)]
pub struct Table {
    /// The caption above the table.
    pub caption: Option<String>,
    pub columns: Vec<Column>,
    /// One cell per column in each row.
    pub rows: Vec<Vec<Cell>>,
    /// The number of rows on a terminal; `None`: all.
    pub brief_rows: Option<usize>,
    /// A line below the rows of a terminal, about rows that are left out.
    pub more: Option<String>,
    pub fit: Fit,
}

/// The layout of a table, especially of one that is wider than the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fit {
    /// The terminal wraps the lines of the last column.
    #[default]
    Wrap,
    /// The terminal splits the table; each part repeats this number of leading
    /// columns.
    Split(usize),
    /// The summary of the answer: the first column names the rows.
    Glance,
    /// One line a row, on a terminal: the details of remarks are shown where they
    /// fit. A row of one cell is a heading of those below it.
    Line,
}

/// The head of a column.
#[derive(Clone, Debug, Default)]
pub struct Column {
    pub title: String,
    /// The unit, or another second line of the heading.
    pub unit: String,
    /// The heading on a terminal, instead of both.
    pub brief: Option<String>,
    /// Whether cells are right-aligned.
    pub is_right: bool,
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A number, and its shorter form for a terminal if it differs.
    Figure(String, Option<String>),
    /// Remarks on a row.
    Remarks(Vec<Remark>),
    /// A change, its interval, and whether it is an improvement.
    Change {
        percent: String,
        interval: String,
        words: String,
        tone: Emphasis,
    },
    /// A value and its interval on an axis that the column shares, drawn on a page.
    Range(Option<Range>),
    /// The ticks of that axis, on a page: their places from 0 to 1, and their labels.
    Axis(Vec<(f64, String)>),
}

/// A value and its interval as places on an axis, from 0 to 1.
#[derive(Clone, Debug)]
pub struct Range {
    pub low: f64,
    pub value: f64,
    pub high: f64,
    /// The place of no change.
    pub zero: f64,
    pub tone: Emphasis,
}

/// One remark on a row.
#[derive(Clone, Debug)]
pub struct Remark {
    pub tone: Emphasis,
    pub words: String,
    /// The reason, shown only on the page; may be empty.
    pub detail: String,
}

/// The tone of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emphasis {
    /// Secondary information.
    Aside,
    /// Neutral.
    Neutral,
    /// Positive.
    Good,
    /// Negative.
    Bad,
}

/// Strips of coloured columns, one below the other, each with as many columns.
pub struct Picture {
    pub title: String,
    /// How that is meant.
    pub note: String,
    pub strips: Vec<Strip>,
}

/// A strip of a picture.
pub struct Strip {
    pub label: String,
    /// A column each.
    pub shades: Vec<Color>,
}

/// The colour of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// For good.
    Good,
    /// For bad.
    Bad,
    /// For neither.
    Open,
    /// No value.
    Missing,
    /// One value, by its position and the number of values.
    Value(usize, usize),
}

/// A drawing as SVG.
pub struct Svg {
    /// The title; may be empty.
    pub title: String,
    /// The drawing in words.
    pub alternative: String,
    /// Its elements.
    pub elements: String,
    /// Lines below it.
    pub notes: Vec<String>,
}

/// Plots with what they show.
pub struct Figure {
    pub title: String,
    /// The explanation of the plots.
    pub note: String,
    pub plots: Vec<Drawing>,
}

/// One plot.
pub struct Drawing {
    /// The id of its element.
    pub id: String,
    /// A text alternative.
    pub label: String,
    /// Whether it shows changes, which need less room.
    pub is_change: bool,
    pub plot: Plot,
}

/// The arguments of `Plotly.newPlot`, but for the configuration.
#[derive(Default, Serialize)]
pub struct Plot {
    /// The traces, of which later ones cover earlier ones.
    pub data: Vec<Value>,
    pub layout: Value,
}

/// An object of a report as one line.
pub fn json_line(object: &impl Serialize) -> String {
    serde_json::to_string(object)
        .expect("a line holds only strings, numbers and maps with string keys")
}

impl Section {
    /// A heading and lines below it; `None` without lines.
    pub fn listed(id: &'static str, heading: &str, lines: Vec<String>) -> Option<Self> {
        (!lines.is_empty()).then(|| Self {
            id,
            blocks: vec![Block::Heading(heading.to_owned(), None), Block::list(lines)],
        })
    }
}

impl Block {
    /// A heading without a badge.
    pub fn heading(words: impl Into<String>) -> Self {
        Self::Heading(words.into(), None)
    }

    /// A heading within a section, without a badge.
    pub fn subheading(words: impl Into<String>) -> Self {
        Self::Subheading(words.into(), None)
    }

    /// A single paragraph.
    pub fn paragraph(style: Style, words: impl Into<String>) -> Self {
        Self::Paragraphs(style, vec![words.into()])
    }

    /// Findings; a terminal shows the first ones.
    pub fn list(lines: Vec<String>) -> Self {
        Self::List(List {
            kind: ListKind::Plain,
            items: lines.into_iter().map(Item::from).collect(),
            brief: None,
        })
    }
}

impl Badge {
    /// Plain text.
    pub fn plain(words: String) -> Self {
        Self {
            words,
            tone: None,
            target: "",
        }
    }
}

impl From<String> for Item {
    fn from(text: String) -> Self {
        Self { label: "", text }
    }
}

impl Column {
    /// A left-aligned column for text or levels.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    /// A right-aligned column for numbers.
    pub fn right(title: impl Into<String>) -> Self {
        Self {
            is_right: true,
            ..Self::new(title)
        }
    }
}

impl Cell {
    /// A number with the same form everywhere.
    pub fn figure(text: impl Into<String>) -> Self {
        Self::Figure(text.into(), None)
    }
}

impl Remark {
    /// A remark without a reason.
    pub fn new(tone: Emphasis, words: impl Into<String>) -> Self {
        Self {
            tone,
            words: words.into(),
            detail: String::new(),
        }
    }
}
