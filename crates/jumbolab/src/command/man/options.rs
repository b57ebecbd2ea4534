//! docs/reference/options.md: all options in one table.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::{Arg, Command};

use super::markdown::{cell, typed, words};
use super::{path, shown};
use crate::args::Help;

const HEAD: &str = "\
# Options

Generated from the help by `cargo run -p jumbolab -- man --options > docs/reference/options.md`; a test compares the two.
An option has one meaning in all commands, except `--packets`. A default follows the command in parentheses; an option without one is off, or has no value unless given.

| option | meaning | commands |
|---|---|---|
";

/// The page of a built program.
pub(super) fn of(program: &Command) -> String {
    let mut options: BTreeMap<(&str, String), Vec<(&Command, &Arg)>> = BTreeMap::new();
    for command in shown(program) {
        let options_of = command.get_arguments();
        for option in options_of.filter(|option| !option.is_hide_set()) {
            let long = option.get_long().filter(|long| *long != "help");
            if let Some(long) = long {
                let key = (long, Help::of(option).meaning);
                options.entry(key).or_default().push((command, option));
            }
        }
    }
    let mut text = HEAD.to_owned();
    for uses in options.values() {
        let Some((_, first)) = uses.first() else {
            continue;
        };
        let help = Help::of(first);
        let meaning = cell(&(help.meaning + &words(&help.words)));
        let commands = uses.iter().map(|(command, option)| {
            let name = path(command);
            let default = Help::of(option).default;
            let default = default.map(|default| format!(" ({default})"));
            format!("`{name}`{}", default.unwrap_or_default())
        });
        let commands: Vec<String> = commands.collect();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| `{}` | {meaning} | {} |",
            cell(&typed(first)),
            cell(&commands.join(", "))
        );
    }
    text
}
