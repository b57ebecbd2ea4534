//! What a report says beside its figures: one list of sections, each of which
//! knows how it is written for a terminal, on the page and for programs.

use analysis::Findings;
use maud::{Markup, html};

use crate::notes;
use crate::page::Plotted;

/// So many lines of a section are shown on a terminal.
const MOST_LINES: usize = 16;

/// Where in a report something stands, from the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Below the answer, above every figure.
    Answer,
    /// Below the plots of metrics, which a terminal has not.
    Plots,
    /// Below the tables of the study.
    Tables,
    /// Below all that.
    Lists,
}

/// A piece of the page.
pub(super) struct Part {
    pub(super) place: Place,
    /// Empty where there is nothing to be said.
    pub(super) markup: Markup,
    /// The plots that the mark-up has room for.
    pub(super) plots: Vec<Plotted>,
}

/// One thing that a report tells. A section that finds nothing to tell of a run
/// leaves everything empty. Most of them are a heading with lines below it; what
/// is written otherwise has a `text` or `html` of its own.
pub(super) trait Section {
    /// What stands above it.
    fn heading(&self) -> &'static str;

    /// What it says, line by line; spaces ahead of a line put it below the one before.
    fn lines(&self, _found: &Findings<'_>) -> Vec<String> {
        Vec::new()
    }

    /// What of that a terminal is shown, which nobody reads for pages.
    fn brief(&self, found: &Findings<'_>) -> Vec<String> {
        shortened(self.lines(found))
    }

    /// Where it stands on a terminal so many columns wide, and what it is there.
    fn text(&self, found: &Findings<'_>, width: u16) -> (Place, String) {
        let text = listed(self.heading(), &self.brief(found), width);
        (Place::Lists, text)
    }

    /// What it is on the page.
    fn html(&self, found: &Findings<'_>) -> Vec<Part> {
        vec![Part::listed(self.heading(), &self.lines(found))]
    }

    /// Its objects for programs, one a line, without line ends.
    fn json(&self, _found: &Findings<'_>) -> Vec<String> {
        Vec::new()
    }
}

impl Part {
    /// A heading and lines at the end of the page.
    pub(super) fn listed(heading: &str, lines: &[String]) -> Self {
        let markup = html! {
            @if !lines.is_empty() {
                section {
                    h2 { (heading) }
                    ul { @for line in lines { li { (line) } } }
                }
            }
        };
        Self {
            place: Place::Lists,
            markup,
            plots: Vec::new(),
        }
    }

    /// A heading, how the plots are meant, and the plots.
    pub(super) fn plotted(heading: &str, note: &str, plots: Vec<Plotted>) -> Self {
        let markup = html! {
            @if !plots.is_empty() {
                section {
                    h2 { (heading) }
                    p.note { (note) }
                    @for plot in &plots { (plot.html()) }
                }
            }
        };
        Self {
            place: Place::Plots,
            markup,
            plots,
        }
    }
}

/// The first lines of many, and how many there are more.
fn shortened(mut lines: Vec<String>) -> Vec<String> {
    if lines.len() > MOST_LINES {
        let more = lines.len() - (MOST_LINES - 1);
        lines.truncate(MOST_LINES - 1);
        lines.push(format!("and {more} more: the page has them all"));
    }
    lines
}

fn listed(heading: &str, lines: &[String], width: u16) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let indented: Vec<String> = lines.iter().map(|line| format!("  {line}")).collect();
    format!("{heading}\n{}", notes::wrapped(&indented, width))
}
