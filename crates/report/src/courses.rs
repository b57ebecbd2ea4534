//! What queues were like in the course of the trials; on the page only.

use crate::page::courses::plots;
use crate::section::{Part, Section};
use analysis::Findings;

/// How the plots are meant.
const MEANS: &str =
    "Means over the trials, interval by interval; bands are their 95 % intervals, each for itself.";

/// Time series of links.
pub(super) struct Courses;

impl Section for Courses {
    fn heading(&self) -> &'static str {
        "In the course of time"
    }

    fn html(&self, found: &Findings<'_>) -> Vec<Part> {
        vec![Part::plotted(self.heading(), MEANS, plots(found))]
    }
}
