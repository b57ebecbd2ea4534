//! The contents of a report in an output-independent form: blocks in order,
//! grouped into sections. [`crate::terminal`] and [`crate::page`] render them.

use analysis::certificate::State;
use serde::Serialize;
use serde_json::Value;

/// A complete report, rendered by [`crate::html`] and [`crate::text`].
pub struct Document {
    /// The title of the page.
    pub(crate) title: String,
    /// The first screen: the question and the result.
    pub(crate) head: Vec<Block>,
    /// Everything else, in order.
    pub(crate) sections: Vec<Section>,
}

/// A group of related blocks.
pub(crate) struct Section {
    /// The id of its element on the page, by which links reach it; empty for
    /// none, and the list of contents leaves it out.
    pub(crate) id: &'static str,
    /// Its contents.
    pub(crate) blocks: Vec<Block>,
}

/// One piece of a report.
pub(crate) enum Block {
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
pub(crate) struct Badge {
    pub(crate) words: String,
    /// The state of the certificate that it is about, if any.
    pub(crate) state: Option<State>,
    /// Whether it links to the certificate.
    pub(crate) is_link: bool,
}

/// The purpose of sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Plain text.
    Plain,
    /// The answer to the experiment's question.
    Answer,
    /// An explanation.
    Note,
    /// A warning that the results are unreliable or incomplete.
    Alarm,
    /// A reason to doubt the results.
    Doubt,
    /// A message for browsers without JavaScript.
    NoScript,
}

/// Short lines. A line with leading spaces belongs to the line above.
pub(crate) struct List {
    pub(crate) kind: ListKind,
    pub(crate) items: Vec<Item>,
    /// The lines for a terminal; `None`: the first ones.
    pub(crate) brief: Option<Vec<Item>>,
}

/// The contents of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListKind {
    /// Findings.
    Plain,
    /// Faults and notes of a certificate; a terminal shows all.
    Certificate,
    /// Facts about program and machine; a terminal shows all.
    Facts,
}

/// A line of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// The kind of the line; empty if all lines are of one kind.
    pub(crate) label: &'static str,
    pub(crate) text: String,
}

/// Rows and columns.
#[derive(Default)]
pub(crate) struct Table {
    /// The caption above the table.
    pub(crate) caption: Option<String>,
    pub(crate) columns: Vec<Column>,
    /// One cell per column in each row.
    pub(crate) rows: Vec<Vec<Cell>>,
    /// The number of rows on a terminal; `None`: all.
    pub(crate) brief_rows: Option<usize>,
    /// A line below the rows of a terminal, about rows that are left out.
    pub(crate) more: Option<String>,
    pub(crate) fit: Fit,
}

/// The layout of a table, especially of one that is wider than the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fit {
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
pub(crate) struct Column {
    pub(crate) title: String,
    /// The unit, or another second line of the heading.
    pub(crate) unit: String,
    /// The heading on a terminal, instead of both.
    pub(crate) brief: Option<String>,
    /// Whether cells are right-aligned.
    pub(crate) is_right: bool,
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
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
        tone: Tone,
    },
}

/// One remark on a row.
#[derive(Clone, Debug)]
pub(crate) struct Remark {
    pub(crate) tone: Tone,
    pub(crate) words: String,
    /// The reason, shown only on the page; may be empty.
    pub(crate) detail: String,
}

/// The tone of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
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
pub(crate) struct Picture {
    pub(crate) title: String,
    /// How that is meant.
    pub(crate) note: String,
    pub(crate) strips: Vec<Strip>,
}

/// A strip of a picture.
pub(crate) struct Strip {
    pub(crate) label: String,
    /// A column each.
    pub(crate) shades: Vec<Shade>,
}

/// The colour of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shade {
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
pub(crate) struct Svg {
    /// The title; may be empty.
    pub(crate) title: String,
    /// The drawing in words.
    pub(crate) alternative: String,
    /// Its elements, for a wide page and for a narrow one.
    pub(crate) wide: String,
    pub(crate) narrow: String,
    /// Lines below it.
    pub(crate) notes: Vec<String>,
}

/// Plots with what they show.
pub(crate) struct Figure {
    pub(crate) title: String,
    /// The explanation of the plots.
    pub(crate) note: String,
    pub(crate) plots: Vec<Drawing>,
}

/// One plot.
pub(crate) struct Drawing {
    /// The id of its element.
    pub(crate) id: String,
    /// A text alternative.
    pub(crate) label: String,
    /// Whether it shows changes, which need less room.
    pub(crate) is_change: bool,
    pub(crate) plot: Plot,
}

/// The arguments of `Plotly.newPlot`, but for the configuration.
#[derive(Default, Serialize)]
pub(crate) struct Plot {
    /// The traces, of which later ones cover earlier ones.
    pub(crate) data: Vec<Value>,
    pub(crate) layout: Value,
}

impl Section {
    /// A heading and lines below it; `None` without lines.
    pub(crate) fn listed(id: &'static str, heading: &str, lines: Vec<String>) -> Option<Self> {
        (!lines.is_empty()).then(|| Self {
            id,
            blocks: vec![Block::Heading(heading.to_owned(), None), Block::list(lines)],
        })
    }
}

impl Block {
    /// A heading without a badge.
    pub(crate) fn heading(words: impl Into<String>) -> Self {
        Self::Heading(words.into(), None)
    }

    /// A heading within a section, without a badge.
    pub(crate) fn subheading(words: impl Into<String>) -> Self {
        Self::Subheading(words.into(), None)
    }

    /// A single paragraph.
    pub(crate) fn paragraph(style: Style, words: impl Into<String>) -> Self {
        Self::Paragraphs(style, vec![words.into()])
    }

    /// Findings; a terminal shows the first ones.
    pub(crate) fn list(lines: Vec<String>) -> Self {
        Self::List(List {
            kind: ListKind::Plain,
            items: lines.into_iter().map(Item::from).collect(),
            brief: None,
        })
    }
}

impl Badge {
    /// Plain text.
    pub(crate) fn plain(words: String) -> Self {
        Self {
            words,
            state: None,
            is_link: false,
        }
    }

    /// The state of a certificate.
    pub(crate) fn state(state: State) -> Self {
        Self {
            words: state.to_string(),
            state: Some(state),
            is_link: false,
        }
    }

    /// The state of a certificate with a mark and a name in front, as a link to
    /// the certificate.
    pub(crate) fn certificate(name: &str, state: State) -> Self {
        let mark = match state {
            State::Passed => "✓",
            State::Doubtful => "!",
            State::Failed => "✗",
        };
        Self {
            words: format!("{mark} {name} {state}"),
            state: Some(state),
            is_link: true,
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
    pub(crate) fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    /// A right-aligned column for numbers.
    pub(crate) fn right(title: impl Into<String>) -> Self {
        Self {
            is_right: true,
            ..Self::new(title)
        }
    }
}

impl Cell {
    /// A number with the same form everywhere.
    pub(crate) fn figure(text: impl Into<String>) -> Self {
        Self::Figure(text.into(), None)
    }
}

impl Remark {
    /// A remark without a reason.
    pub(crate) fn new(tone: Tone, words: impl Into<String>) -> Self {
        Self {
            tone,
            words: words.into(),
            detail: String::new(),
        }
    }
}
