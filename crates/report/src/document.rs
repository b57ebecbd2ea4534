//! The contents of a report, whatever shows it: blocks one below the other,
//! grouped into sections. [`crate::terminal`] and [`crate::page`] draw them.

use plotly::Plot;

/// A whole report, which [`crate::html`] and [`crate::text`] draw.
pub struct Document {
    /// The title of the page.
    pub(crate) title: String,
    /// The first screen: what was asked, and what came of it.
    pub(crate) head: Vec<Block>,
    /// Everything else, in order.
    pub(crate) sections: Vec<Section>,
}

/// Blocks that belong together.
pub(crate) struct Section {
    /// The name of its element on the page; empty if it has none.
    pub(crate) id: &'static str,
    /// Its contents.
    pub(crate) blocks: Vec<Block>,
}

/// One piece of a report.
pub(crate) enum Block {
    /// The name and title of the experiment, and in a few words how it went.
    Title {
        name: String,
        title: String,
        badges: Vec<Badge>,
    },
    /// The heading of a section.
    Heading(String, Option<Badge>),
    /// A heading within a section.
    Subheading(String, Option<Badge>),
    /// Sentences, a paragraph each.
    Paragraphs(Style, Vec<String>),
    /// Short lines.
    List(List),
    /// Rows and columns.
    Table(Table),
    /// Plots. A terminal has none.
    Figure(Figure),
    /// Strips of coloured columns. A terminal has none.
    Picture(Picture),
    /// Blocks that a reader unfolds on the page. A terminal leaves them out.
    Fold { summary: String, blocks: Vec<Self> },
    /// Text whose lines stay as they are.
    Verbatim(String),
    /// Blocks that only the page shows.
    Page(Vec<Self>),
    /// Blocks that only a terminal shows.
    Terminal(Vec<Self>),
}

/// A few words in a frame.
pub(crate) struct Badge {
    pub(crate) words: String,
    /// Whether what it tells of passed or failed, if it is one of these.
    pub(crate) passed: Option<bool>,
    /// Whether it leads to the certificate.
    pub(crate) is_link: bool,
}

/// The purpose of sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// They are read like any others.
    Plain,
    /// They answer what was asked.
    Answer,
    /// They say how something is meant.
    Note,
    /// They warn of the figures.
    Alarm,
    /// They warn where the page cannot draw plots.
    NoScript,
}

/// Short lines. Spaces ahead of one put it below the line before.
pub(crate) struct List {
    pub(crate) kind: ListKind,
    pub(crate) items: Vec<Item>,
    /// The lines that a terminal shows instead; `None` if it shows the first ones.
    pub(crate) brief: Option<Vec<Item>>,
}

/// The contents of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListKind {
    /// Findings.
    Plain,
    /// Faults and notes of a certificate. A terminal shows all of them.
    Certificate,
    /// Facts of program and machine. A terminal shows all of them.
    Facts,
}

/// A line of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// The kind of line; empty where all are of one.
    pub(crate) label: &'static str,
    pub(crate) text: String,
}

/// Rows and columns.
#[derive(Default)]
pub(crate) struct Table {
    /// The words above it.
    pub(crate) caption: Option<String>,
    pub(crate) columns: Vec<Column>,
    /// As many cells a row as there are columns.
    pub(crate) rows: Vec<Vec<Cell>>,
    /// How many rows a terminal shows; `None` if all.
    pub(crate) brief_rows: Option<usize>,
    pub(crate) fit: Fit,
}

/// How a table is laid out, above all one that is wider than the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fit {
    /// The terminal breaks the lines of the last column.
    #[default]
    Wrap,
    /// The terminal makes several tables, each of which begins with so many columns.
    Split(usize),
    /// The answer at a glance: the first column names the rows.
    Glance,
}

/// The head of a column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Column {
    pub(crate) title: String,
    /// The unit of its figures, or what else stands below the title.
    pub(crate) unit: String,
    /// The words that a terminal shows instead of both.
    pub(crate) brief: Option<String>,
    /// Whether its cells stand at the right.
    pub(crate) is_right: bool,
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    /// Words.
    Text(String),
    /// A figure, and what a terminal shows instead, if something else.
    Figure(String, Option<String>),
    /// Remarks on a row.
    Remarks(Vec<Remark>),
    /// A change, its interval, and whether it is for the better.
    Change {
        percent: String,
        interval: String,
        words: &'static str,
        tone: Tone,
    },
}

/// One thing that is said of a row.
#[derive(Clone, Debug)]
pub(crate) struct Remark {
    pub(crate) tone: Tone,
    pub(crate) words: String,
    /// The reason, which only the page has room for; may be empty.
    pub(crate) detail: String,
}

/// How words are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// By the way.
    Aside,
    /// Neither good nor bad.
    Neutral,
    /// Good.
    Good,
    /// Bad.
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
    /// For nothing.
    Missing,
    /// For one value of so many.
    Value(usize, usize),
}

/// Plots with what they show.
pub(crate) struct Figure {
    pub(crate) title: String,
    /// How that is meant.
    pub(crate) note: String,
    pub(crate) plots: Vec<Drawing>,
}

/// One plot.
pub(crate) struct Drawing {
    /// The name of the element that shows it.
    pub(crate) id: String,
    /// Its contents in words, for who cannot see it.
    pub(crate) label: String,
    /// Whether it shows changes, which take less room.
    pub(crate) is_change: bool,
    pub(crate) plot: Plot,
}

impl Section {
    /// A heading and lines below it; nothing if there are no lines.
    pub(crate) fn listed(heading: &str, lines: Vec<String>) -> Option<Self> {
        (!lines.is_empty()).then(|| Self {
            id: "",
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

    /// Findings, of which a terminal shows the first ones.
    pub(crate) fn list(lines: Vec<String>) -> Self {
        Self::List(List {
            kind: ListKind::Plain,
            items: lines.into_iter().map(Item::from).collect(),
            brief: None,
        })
    }
}

impl Badge {
    /// Words alone.
    pub(crate) fn plain(words: String) -> Self {
        Self {
            words,
            passed: None,
            is_link: false,
        }
    }

    /// Whether something passed.
    pub(crate) fn passed(passed: bool) -> Self {
        Self {
            words: if passed { "passed" } else { "FAILED" }.to_owned(),
            passed: Some(passed),
            is_link: false,
        }
    }
}

impl From<String> for Item {
    fn from(text: String) -> Self {
        Self { label: "", text }
    }
}

impl Column {
    /// A column of words or levels.
    pub(crate) fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    /// A column of figures at the right.
    pub(crate) fn right(title: impl Into<String>) -> Self {
        Self {
            is_right: true,
            ..Self::new(title)
        }
    }
}

impl Cell {
    /// A figure that is the same everywhere.
    pub(crate) fn figure(text: impl Into<String>) -> Self {
        Self::Figure(text.into(), None)
    }
}

impl Remark {
    /// Words without a reason.
    pub(crate) fn new(tone: Tone, words: impl Into<String>) -> Self {
        Self {
            tone,
            words: words.into(),
            detail: String::new(),
        }
    }
}
