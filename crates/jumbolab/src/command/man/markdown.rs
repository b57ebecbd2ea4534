//! docs/reference/commands.md: the help of all commands as a page.

use std::fmt::Write as _;

use clap::{Arg, Command};

use super::page::notes;
use super::path;
use crate::args::{Build, examples_of};

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
fn typed(argument: &Arg) -> String {
    let long = argument.to_string();
    match argument.get_short() {
        Some(short) => format!("-{short}, {long}"),
        None => long,
    }
}

/// The help of an argument, with its values and its default.
fn meaning(argument: &Arg) -> String {
    let mut text = argument
        .get_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let takes_values = argument.get_action().takes_values();
    let values = argument.get_possible_values();
    for value in values.iter().filter(|_| takes_values) {
        let help = value.get_help().map(|help| format!(": {help}"));
        let _ = write!(
            text,
            "<br>`{}`{}",
            value.get_name(),
            help.unwrap_or_default()
        );
    }
    let defaults = argument.get_default_values();
    if takes_values && !defaults.is_empty() && !argument.is_hide_default_value_set() {
        let all: Vec<_> = defaults
            .iter()
            .map(|value| value.to_string_lossy())
            .collect();
        let _ = write!(text, " [default: {}]", all.join(" "));
    }
    text
}

/// The text of a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
