//! Prints reports for people: short ones by default.

use analysis::Findings;
use anyhow::Result;
use document::Document;
use report::Places;

use crate::args::Detail;
use crate::output;

/// Prints the report of one run; `document` is the whole one.
pub(super) fn run(
    found: &Findings<'_>,
    document: &Document,
    files: Places<'_>,
    (detail, verbose): (Detail, bool),
) -> Result<()> {
    let width = output::width();
    let text = if detail.full {
        whole(document, files, width)
    } else if detail.quiet {
        report::answer(found, files, width)
    } else {
        report::brief(found, files, width)
    };
    output::print_report(&text)?;
    match verbose {
        true => quality_check(found),
        false => Ok(()),
    }
}

/// Prints the quality check of a run below its report.
pub(super) fn quality_check(found: &Findings<'_>) -> Result<()> {
    let facts = report::facts(found, output::width());
    output::print_report(&format!("\n{facts}"))
}

/// Prints any other report.
pub(super) fn other(document: &Document, files: Places<'_>, detail: Detail) -> Result<()> {
    let width = output::width();
    let text = if detail.full {
        whole(document, files, width)
    } else if detail.quiet {
        report::answer_of(document, files, width)
    } else {
        report::shortened(document, files, width)
    };
    output::print_report(&text)
}

/// The whole report, which names the folder, and the page.
fn whole(document: &Document, files: Places<'_>, width: u16) -> String {
    let page = files.page.map(|page| format!("Page: {}\n", page.display()));
    document::text(document, width) + &page.unwrap_or_default()
}
