//! `jumbolab doctor`.

use std::io::{self, IsTerminal};

use analysis::quality_check::State;
use anyhow::Result;
use backends::doctor::{self, Check, Facts, Status};
#[cfg(target_os = "linux")]
use backends::host_report;
use clap::builder::styling::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

#[cfg(not(target_os = "linux"))]
use super::needs_linux;
use crate::args::{Build, Doctor};
use crate::exit::Ending;
use crate::output;

/// Columns before a finding: a margin, the mark, and what surrounds the name.
const AROUND: usize = 6;

/// The maximum width of findings, for legibility.
const WIDEST: usize = 110;

pub(crate) fn run(args: &Doctor) -> Result<Ending> {
    if !args.hosts.is_empty() {
        return examine_hosts(args);
    }
    let facts = look()?;
    let mut checks = doctor::judge(&facts);
    let (machine, why) = match Build::HERE.is_linux() {
        true => ("this machine", ""),
        false => (
            facts.machine.kernel.as_str(),
            "they need network namespaces or packet sockets",
        ),
    };
    let commands = Build::HERE.absences().into_iter();
    let commands = commands.map(|line| Check::absent("commands", line, why));
    let is_absent = |check: &Check| check.status == Status::Absent;
    let place = checks.iter().position(is_absent).unwrap_or(checks.len());
    checks.splice(place..place, commands);
    show(
        args,
        || doctor::to_json(&facts, &checks),
        &heading(machine, facts.privileged),
        &checks,
    )?;
    if let Some(remark) = doctor::remark().filter(|_| !args.json) {
        let lines = wrapped(&remark, page_width()).join("\n");
        output::print(&format!("\n{lines}\n"))?;
    }
    Ok(Ending::of(state(&checks), args.strict))
}

/// Checks other machines, which needs Linux.
#[cfg(not(target_os = "linux"))]
fn examine_hosts(_: &Doctor) -> Result<Ending> {
    anyhow::bail!("{}", needs_linux("HOST"))
}

/// Checks other machines, one after the other.
#[cfg(target_os = "linux")]
fn examine_hosts(args: &Doctor) -> Result<Ending> {
    let mut worst = State::Passed;
    for (number, host) in args.hosts.iter().enumerate() {
        let name = host.as_str();
        let line = spinner();
        line.set_message(name.to_owned());
        line.tick();
        let report = host_report::examine(host);
        line.finish_and_clear();
        let report = report?;
        let gap = if number > 0 { "\n" } else { "" };
        let heading = format!("{gap}{}", heading(name, report.root));
        show(args, || report.to_json(name), &heading, &report.checks)?;
        worst = worst.max(state(&report.checks));
    }
    Ok(Ending::of(worst, args.strict))
}

/// Prints checks, as JSON or below a heading.
fn show(
    args: &Doctor,
    json: impl FnOnce() -> Value,
    heading: &str,
    checks: &[Check],
) -> Result<()> {
    if args.json {
        return output::print(&format!("{}\n", json()));
    }
    output::print_coloured(&page(heading, checks, page_width()))
}

/// Columns of the page.
fn page_width() -> usize {
    usize::from(output::width()).min(WIDEST)
}

/// The soundness of results of this machine: there are none if something is
/// missing, and a note leaves a warning.
fn state(checks: &[Check]) -> State {
    let states = checks.iter().map(|check| match check.status {
        Status::Ok | Status::Absent => State::Passed,
        Status::Note => State::PassedWithWarnings,
        Status::Missing => State::Failed,
    });
    states.max().unwrap_or(State::Passed)
}

/// Collects the facts; a terminal shows the current step.
fn look() -> Result<Facts> {
    let line = spinner();
    let facts = Facts::here(|what| {
        line.set_message(what.to_owned());
        line.tick();
    });
    line.finish_and_clear();
    facts
}

/// A line on a terminal that shows the current step.
fn spinner() -> ProgressBar {
    let line = if io::stderr().is_terminal() {
        ProgressBar::new_spinner()
    } else {
        ProgressBar::hidden()
    };
    let style = ProgressStyle::with_template("checking {msg} ...");
    line.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    line
}

/// The first line of a page.
fn heading(machine: &str, root: bool) -> String {
    let user = match root {
        true if cfg!(windows) => "an administrator",
        true => "root",
        false => "an ordinary user",
    };
    format!(
        "jumbolab {} on {machine}, as {user}\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// All checks in groups below `heading`, `width` columns wide.
fn page(heading: &str, checks: &[Check], width: usize) -> String {
    let bold = Style::new().bold();
    let names = checks.iter().map(|check| check.name.chars().count());
    let column = names.max().unwrap_or(0);
    let mut page = heading.to_owned();
    let mut group = None;
    for check in checks {
        if group != Some(check.group) {
            group = Some(check.group);
            page += &format!("\n{bold}{}{bold:#}\n", check.group.title());
        }
        page += &lines(check, column, width);
    }
    page + &format!("\n{}\n", summary(checks))
}

/// A check: its mark, name and finding, and the command to type.
fn lines(check: &Check, column: usize, width: usize) -> String {
    let (mark, colour) = match check.status {
        Status::Ok => ("✓", AnsiColor::Green),
        Status::Note => ("!", AnsiColor::Yellow),
        Status::Missing => ("✗", AnsiColor::Red),
        Status::Absent => ("-", AnsiColor::BrightBlack),
    };
    let style = Style::new().fg_color(Some(colour.into()));
    let indent = " ".repeat(column + AROUND);
    let room = width.saturating_sub(column + AROUND);
    let finding = wrapped(&check.finding, room).join(&format!("\n{indent}"));
    let mut lines = format!(
        "  {style}{mark}{style:#} {:column$}  {finding}\n",
        check.name
    );
    if let Some(remedy) = &check.remedy {
        // Commands are not wrapped, so that they can be copied.
        let strong = Style::new().fg_color(Some(AnsiColor::Cyan.into()));
        lines += &format!("{indent}type: {strong}{remedy}{strong:#}\n");
    }
    for line in wrapped(check.advice.as_deref().unwrap_or_default(), room) {
        lines += &format!("{indent}{line}\n");
    }
    lines
}

/// The number of checks by result.
fn summary(checks: &[Check]) -> String {
    let count = |status| checks.iter().filter(|check| check.status == status).count();
    let named = |count: usize, one: &str, many: &str| match count {
        0 => format!("no {many}"),
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    };
    let missing = match count(Status::Missing) {
        0 => "nothing missing".to_owned(),
        count => format!("{count} missing"),
    };
    let notes = named(count(Status::Note), "note", "notes");
    let absent = match count(Status::Absent) {
        0 => String::new(),
        count => format!(", {count} absent"),
    };
    format!("{missing}, {notes}, {} in order{absent}", count(Status::Ok))
}

/// Wraps `text` between words into lines of at most `width` columns. A longer
/// word gets its own line.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|_| !text.is_empty()) {
        let fits = |line: &&mut String| line.chars().count() + 1 + word.chars().count() <= width;
        match lines.last_mut().filter(fits) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_broken_between_words_and_keeps_them_all() {
        let text = "one two three four-and-a-long-one five";
        for width in 0..50 {
            let lines = wrapped(text, width);
            assert_eq!(lines.join(" "), text);
            let fits = |line: &String| line.len() <= width || !line.contains(' ');
            assert!(lines.iter().all(fits), "{width}: {lines:?}");
        }
    }
}
