//! Manual pages in roff.

use anyhow::Result;
use clap_mangen::Man;

use super::path;
use crate::args::examples_of;
use crate::exit::CODES;

/// The page of a built command.
///
/// # Errors
/// The page is not UTF-8.
pub(super) fn page(command: &clap::Command) -> Result<String> {
    let man = Man::new(command.clone().after_help(None));
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let mut page = String::from_utf8(page)?;
    if let Some(notes) = notes(command) {
        page += &verbatim("NOTES", &notes);
    }
    page += ".SH EXIT STATUS\n";
    for (code, meaning) in CODES {
        page += &format!(".TP\n{code}\n{}\n", meaning.replace('-', "\\-"));
    }
    let examples = examples_of(path(command));
    if !examples.is_empty() {
        let lines = examples.iter().map(|example| {
            let (purpose, line) = (example.purpose, example.line);
            format!("# {purpose}\n{line}")
        });
        page += &verbatim("EXAMPLES", &lines.collect::<Vec<_>>().join("\n\n"));
    }
    Ok(page)
}

/// The text of a command's help between its options and its examples.
pub(super) fn notes(command: &clap::Command) -> Option<String> {
    let text = command.get_after_help()?.to_string();
    let (notes, _) = text.split_once("\n\nExamples:")?;
    Some(notes.to_owned())
}

/// A section whose lines are neither filled nor interpreted.
fn verbatim(heading: &str, text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    let lines = text.lines().map(|line| match line.chars().next() {
        Some('.' | '\'') => format!("\\&{line}\n"),
        _ => format!("{line}\n"),
    });
    format!(".SH {heading}\n.nf\n{}.fi\n", lines.collect::<String>())
}
