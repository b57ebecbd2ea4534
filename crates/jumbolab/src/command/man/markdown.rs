//! docs/reference/commands.md: the help of all commands as a page.

use std::fmt::Write as _;

use clap::{Arg, Command};

use super::page::notes;
use super::path;
use crate::args::{Build, Help, examples_of};
use crate::exit::CODES;

const HEAD: &str = "\
# Commands

Generated from the help by `cargo run -p jumbolab -- man --markdown > docs/reference/commands.md`; a test compares the two.
";

/// The page of a built program.
pub(super) fn of(program: &Command) -> String {
    let mut text = HEAD.to_owned();
    let commands = Build::HERE.groups().flat_map(|(heading, names)| {
        let commands = names.into_iter();
        let commands = commands.filter_map(|name| program.find_subcommand(name));
        commands.map(move |command| (heading, command))
    });
    let commands: Vec<_> = commands.collect();
    text += "\n| group | command | purpose |\n|---|---|---|\n";
    for (heading, command) in &commands {
        let (name, about) = (command.get_name(), about(command));
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {heading} | [`{name}`](#jumbolab-{name}) | {about} |"
        );
    }
    text += "\n`jumbolab help COMMAND` prints the same. [Options](options.md) lists all options by name.\n";
    text += "\n## Exit codes\n\n| code | meaning |\n|---|---|\n";
    for (code, meaning) in CODES {
        let _ = writeln!(text, "| {code} | {meaning} |");
    }
    text += "\n`shell` ends with the exit code of its program.\n";
    for (_, command) in commands {
        text += &section(command);
        for inner in command.get_subcommands() {
            text += &section(inner);
        }
    }
    text
}

/// A command: purpose, usage, options by heading, notes, examples.
fn section(command: &Command) -> String {
    let name = path(command);
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").replace('\n', "\n    ");
    let mut text = format!(
        "\n## jumbolab {name}\n\n{}.\n\n    {usage}\n",
        about(command)
    );
    let arguments = || {
        command
            .get_arguments()
            .filter(|argument| !argument.is_hide_set())
    };
    let mut headings: Vec<&str> = Vec::new();
    for argument in arguments() {
        if !headings.contains(&heading(argument)) {
            headings.push(heading(argument));
        }
    }
    for title in headings {
        let _ = writeln!(text, "\n| {} | |\n|---|---|", cell(title));
        for argument in arguments().filter(|argument| heading(argument) == title) {
            let _ = writeln!(
                text,
                "| `{}` | {} |",
                cell(&typed(argument)),
                cell(&meaning(argument))
            );
        }
    }
    if let Some(notes) = notes(command) {
        let notes = notes.replace('\n', "\n    ");
        let _ = writeln!(text, "\n    {notes}");
    }
    text += "\n```sh\n";
    for example in examples_of(name) {
        let _ = writeln!(text, "# {}\n{}", example.purpose, example.line);
    }
    text + "```\n"
}

fn about(command: &Command) -> String {
    command
        .get_about()
        .map(ToString::to_string)
        .unwrap_or_default()
}

fn heading(argument: &Arg) -> &str {
    let usual = match argument.is_positional() {
        true => "Arguments",
        false => "Options",
    };
    argument.get_help_heading().unwrap_or(usual)
}

/// The argument in the form of the usage.
pub(super) fn typed(argument: &Arg) -> String {
    let long = argument.to_string();
    match argument.get_short() {
        Some(short) => format!("-{short}, {long}"),
        None => long,
    }
}

/// The help of an argument, with its values and its default.
fn meaning(argument: &Arg) -> String {
    let help = Help::of(argument);
    let mut text = help.meaning;
    text += &words(&help.words);
    if let Some(default) = help.default {
        let _ = write!(text, " [default: {default}]");
    }
    text
}

/// The words that an argument may be, each in a line of its cell.
pub(super) fn words(words: &[(String, Option<String>)]) -> String {
    let words = words.iter().map(|(word, help)| {
        let help = help.as_ref().map(|help| format!(": {help}"));
        format!("<br>`{word}`{}", help.unwrap_or_default())
    });
    words.collect()
}

/// The text of a table cell.
pub(super) fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
