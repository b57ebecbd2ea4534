//! The command line.

mod claims;
mod decode;
#[cfg(target_os = "linux")]
mod emulate;
mod examples;
mod experiments;
mod family;
#[cfg(all(feature = "gateway", target_os = "linux"))]
mod gateway;
mod help;
mod jumbogram;
#[cfg(target_os = "linux")]
mod on_linux;
mod predict;
mod probe;
mod setup;
mod suggestions;
mod table;
mod traffic;

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::builder::Styles;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::{exit, output};

pub(crate) use claims::Claims;
pub(crate) use decode::{Decode, Definitions};
#[cfg(target_os = "linux")]
pub(crate) use emulate::Emulate;
#[cfg(test)]
pub(crate) use examples::example;
pub(crate) use examples::examples_of;
#[cfg(target_os = "linux")]
pub(crate) use experiments::Shell;
pub(crate) use experiments::{Detail, List, Report, Resume, Run, Sensitivity, Show};
pub(crate) use family::Family;
#[cfg(all(feature = "gateway", target_os = "linux"))]
pub(crate) use gateway::{Gateway, Init, Keygen, Preparation};
pub(crate) use help::Help;
pub(crate) use jumbogram::Jumbogram;
#[cfg(target_os = "linux")]
pub(crate) use jumbogram::{Method, Topology};
#[cfg(target_os = "linux")]
pub(crate) use on_linux::OnLinux;
pub(crate) use predict::{
    Arithmetic, Bundle, Limit, Optimal, Output, Overhead, Packets, Predict, Question, TcpModel,
    Wait,
};
pub(crate) use probe::{Probe, ProbeProtocol};
pub(crate) use setup::{Agent, Completions, Doctor, Man};
pub(crate) use table::Build;
pub(crate) use traffic::PORT;
pub(crate) use traffic::{Recv, Send};

/// Whether this build is for a system without the options of Linux, which are rejected there by
/// name and not in the help.
const ELSEWHERE: bool = cfg!(not(target_os = "linux"));

/// Measure, simulate and diagnose MTUs and jumbo frames.
#[derive(Debug, Parser)]
#[command(name = "jumbolab", version = env!("JUMBOLAB_VERSION"), max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the shipped experiments.
    List(List),
    /// Print a shipped experiment with its comments and short names.
    Show(Show),
    /// Run an experiment and print its report.
    Run(Run),
    /// Find the unstated settings that decide the claims of a study.
    Sensitivity(Sensitivity),
    /// Print the report of an earlier run, or compare several runs.
    Report(Report),
    /// Print the claims of the studied papers and their verdicts.
    Claims(Claims),
    /// Calculate header overhead, the limits of a link, and the best MTU of a path.
    Predict(Box<Predict>),
    /// Find the MTU of a path, and the link that drops larger packets.
    Probe(Box<Probe>),
    /// Send traffic to `jumbolab recv`, or ICMP echo requests to any host.
    Send(Box<Send>),
    /// Receive and measure the traffic of `jumbolab send`.
    Recv(Recv),
    /// Print delay, jitter, loss and reordering from packet logs.
    Decode(Decode),
    /// Check whether this machine is ready for experiments.
    Doctor(Doctor),
    /// Serve `run --on hosts` of other machines.
    Agent(Agent),
    /// Print a completion script for a shell.
    Completions(Completions),
    /// Print a manual page, or write them all.
    Man(Man),
    #[cfg(target_os = "linux")]
    #[command(flatten)]
    OnLinux(OnLinux),
}

/// The arguments of this process. Prints help or a usage error and exits where
/// there is nothing to run.
pub(crate) fn parse() -> Args {
    let words = help_last(std::env::args_os().collect());
    if words.len() < 2 {
        exit_with(&first_steps());
    }
    let matches = command().try_get_matches_from(&words);
    let matches = matches.unwrap_or_else(|error| {
        let words = words.iter().map(|word| word.to_string_lossy());
        let typed: Vec<String> = words.map(std::borrow::Cow::into_owned).collect();
        match suggestions::answer(&error, &typed) {
            Some(answer) => reject(&answer),
            None if error.use_stderr() => reject(&usage_error(&error, &typed)),
            None => error.exit(),
        }
    });
    Args::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// An error about `typed` in one line: the problem, similar words, and where the help is.
fn usage_error(error: &clap::Error, typed: &[String]) -> String {
    let text = error.to_string();
    let mut paragraphs = text.trim_start_matches("error: ").split("\n\n");
    let problem = paragraphs.next().unwrap_or_default();
    let mut line: Vec<String> = vec![problem.split_whitespace().collect::<Vec<_>>().join(" ")];
    let tips = paragraphs.flat_map(str::lines);
    let tips = tips.filter_map(|tip| tip.trim_start().strip_prefix("tip: "));
    // What looks like an option is meant as one.
    let tips = tips.filter(|tip| !tip.starts_with("to pass "));
    line.extend(tips.map(str::to_owned));
    let (mut path, mut place) = ("jumbolab".to_owned(), command());
    for word in typed.iter().skip(1) {
        let Some(inner) = place.find_subcommand(word).cloned() else {
            break;
        };
        path = format!("{path} {word}");
        place = inner;
    }
    line.push(format!("see `{path} --help`"));
    line.join("; ")
}

/// `jumbolab help COMMAND` as `jumbolab COMMAND --help`: clap's own command for help
/// has no place in the groups of the table.
fn help_last(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_some_and(|word| word == "help") {
        words.remove(1);
        words.push("--help".into());
    }
    words
}

/// Prints `text` and ends the program.
fn exit_with(text: &str) -> ! {
    let code = output::print(text).map_or(exit::COULD_NOT, |()| 0);
    std::process::exit(code.into())
}

/// The answer to the program's name alone.
fn first_steps() -> String {
    let about = Args::command().get_about().map(ToString::to_string);
    let mut text = about.unwrap_or_default();
    text.push_str("\n\nUsage: jumbolab COMMAND [OPTIONS]\n");
    for example in examples_of("") {
        let _ = write!(text, "\n  # {}\n  {}", example.purpose, example.line);
    }
    text + "\n\n`jumbolab --help` lists all commands.\n"
}

/// Ends the program with one line about what was typed.
fn reject(answer: &str) -> ! {
    output::report_error(&anyhow::anyhow!("{answer}"));
    std::process::exit(exit::COULD_NOT.into())
}

/// The command line with its examples and its commands in groups.
pub(crate) fn command() -> clap::Command {
    let mut command = Args::command().disable_help_subcommand(true);
    let template = template(&command, Build::HERE);
    for name in Build::HERE.commands() {
        command = command.mut_subcommand(name, |subcommand| with_examples(subcommand, name));
    }
    command.help_template(template)
}

/// A command, and those below it, with the examples behind their notes.
fn with_examples(command: clap::Command, path: &str) -> clap::Command {
    let notes = command.get_after_help().map(ToString::to_string);
    let notes = notes.map_or_else(String::new, |notes| format!("{notes}\n\n"));
    let command = command.after_help(format!("{notes}{}", examples(path)));
    let inner: Vec<String> = command
        .get_subcommands()
        .map(|inner| inner.get_name().to_owned())
        .collect();
    inner.into_iter().fold(command, |command, name| {
        let path = format!("{path} {name}");
        command.mut_subcommand(name, |inner| with_examples(inner, &path))
    })
}

/// The examples of a command, below their heading.
fn examples(command: &str) -> String {
    let style = *Styles::styled().get_header();
    let mut text = format!("{style}Examples:{style:#}");
    for example in examples_of(command) {
        let _ = write!(text, "\n  # {}\n  {}", example.purpose, example.line);
    }
    text
}

/// The template of the program's help: clap has no headings for subcommands.
fn template(command: &clap::Command, build: Build) -> String {
    let styles = Styles::styled();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let width = build.commands().map(str::len).max().unwrap_or_default();
    let mut text = "{about}\n\n{usage-heading} {usage}\n".to_owned();
    for (heading, names) in build.groups() {
        let _ = writeln!(text, "\n{header}{heading}:{header:#}");
        for name in names {
            let about = command
                .find_subcommand(name)
                .and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {literal}{name:width$}{literal:#}  {about}");
        }
    }
    for line in build.absences() {
        let _ = writeln!(text, "\n{line}");
    }
    text + &format!(
        "\n{header}Options:{header:#}\n{{options}}\n\nRun `jumbolab help COMMAND` for the options and examples of a command."
    )
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    /// The visible commands of the program.
    fn visible() -> impl Iterator<Item = clap::Command> {
        let commands: Vec<_> = command().get_subcommands().cloned().collect();
        commands
            .into_iter()
            .filter(|command| !command.is_hide_set())
    }

    /// The visible commands and those below them, with the words that are typed.
    fn all() -> impl Iterator<Item = (String, clap::Command)> {
        visible().flat_map(|command| {
            let name = command.get_name().to_owned();
            let inner = command.get_subcommands().cloned();
            let inner = inner.map(|inner| (format!("{name} {}", inner.get_name()), inner));
            let inner: Vec<_> = inner.collect();
            std::iter::once((name, command)).chain(inner)
        })
    }

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn every_command_is_in_one_group() {
        let grouped: Vec<_> = Build::HERE.commands().collect();
        let all: BTreeSet<_> = visible()
            .map(|command| command.get_name().to_owned())
            .collect();
        assert_eq!(grouped.len(), all.len(), "{grouped:?} {all:?}");
        assert!(
            grouped.iter().all(|name| all.contains(*name)),
            "{grouped:?} {all:?}"
        );
        let help = command().render_help().to_string();
        for (heading, names) in Build::HERE.groups() {
            assert!(help.contains(&format!("\n{heading}:\n")), "{help}");
            for name in names {
                assert!(help.contains(&format!("\n  {name} ")), "{name}: {help}");
            }
        }
    }

    #[test]
    fn the_help_of_another_system_has_its_own_commands_and_one_line_of_others() {
        for system in ["windows", "macos", "freebsd"] {
            let build = Build {
                system,
                has_gateway: true,
            };
            let help = template(&command(), build);
            let listed = |name: &str| {
                let mut words = help
                    .lines()
                    .map(|line| line.trim_start_matches("\u{1b}[1m  "));
                words.any(|line| line.contains(name) && line.starts_with("  "))
            };
            assert!(
                listed("predict") && listed("doctor") && !listed("emulate"),
                "{help}"
            );
            let lines = help.lines().filter(|line| line.contains("Linux"));
            assert_eq!(lines.collect::<Vec<_>>(), build.absences());
        }
    }

    #[test]
    fn every_command_ends_with_examples_that_parse() {
        for (name, command) in all() {
            let help = command.clone().render_help().to_string();
            let examples = examples_of(&name);
            assert!(!examples.is_empty(), "{name}");
            for example in examples {
                assert!(help.contains(example.line), "{name}: {help}");
                let typed = format!("jumbolab {name}");
                assert!(example.line.starts_with(&typed), "{}", example.line);
                let _: Args = example.parse();
            }
        }
    }

    #[test]
    fn help_of_a_command_is_what_its_option_prints() {
        let printed = |words: Vec<OsString>| {
            let error = command().try_get_matches_from(words).unwrap_err();
            assert_eq!(error.kind(), clap::error::ErrorKind::DisplayHelp);
            error.to_string()
        };
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let nothing = printed(help_last(words("jumbolab help")));
        assert_eq!(nothing, printed(words("jumbolab --help")));
        for (name, _) in all() {
            let help = printed(help_last(words(&format!("jumbolab help {name}"))));
            assert!(help.contains(&format!("Usage: jumbolab {name}")), "{help}");
        }
        let own = words("jumbolab run help");
        assert_eq!(help_last(own.clone()), own);
    }

    #[test]
    fn the_name_alone_is_answered_by_three_examples_that_parse() {
        let examples = examples_of("");
        assert_eq!(examples.len(), 3);
        let text = first_steps();
        for example in examples {
            assert!(text.contains(&format!("\n  {}\n", example.line)), "{text}");
            let _: Args = example.parse();
        }
        let about = "Measure, simulate and diagnose MTUs and jumbo frames\n\nUsage: ";
        assert!(text.starts_with(about), "{text}");
        assert!(text.lines().count() < 20, "{text}");
    }

    #[test]
    fn an_error_of_usage_is_one_line_with_a_hint() {
        let line = |line: &str| {
            let typed: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let error = command().try_get_matches_from(&typed).unwrap_err();
            usage_error(&error, &typed)
        };
        for (typed, wanted) in [
            (
                "jumbolab reprot",
                "unrecognized subcommand 'reprot'; a similar subcommand exists: 'report'; see `jumbolab --help`",
            ),
            (
                "jumbolab run x --dry-rum",
                "unexpected argument '--dry-rum' found; a similar argument exists: '--dry-run'; see `jumbolab run --help`",
            ),
            (
                "jumbolab report",
                "the following required arguments were not provided: <DIR>...; see `jumbolab report --help`",
            ),
            (
                "jumbolab decode a.jlog --definitions mine",
                "invalid value 'mine' for '--definitions <DEFINITIONS>' [possible values: standard, ditg]; see `jumbolab decode --help`",
            ),
            (
                "jumbolab predict limit --json --json",
                "the argument '--json' cannot be used multiple times; see `jumbolab predict limit --help`",
            ),
        ] {
            assert_eq!(line(typed), wanted);
        }
    }

    /// Each option that help shows: the words of its command, and the option.
    fn options() -> impl Iterator<Item = (String, clap::Arg)> {
        all().flat_map(|(name, command)| {
            let shown = command
                .get_arguments()
                .filter(|argument| !argument.is_hide_set() && !argument.is_positional());
            let shown: Vec<_> = shown
                .map(|argument| (name.clone(), argument.clone()))
                .collect();
            shown
        })
    }

    /// `send` sends a number of packets, and `decode` prints each.
    const TWO_MEANINGS: &str = "packets";

    #[test]
    fn an_option_has_one_meaning_in_all_commands() {
        let mut meanings: BTreeMap<String, (String, [String; 3])> = BTreeMap::new();
        let mut faults = Vec::new();
        for (command, option) in options() {
            let long = option.get_long().expect("each option has a long name");
            // A list is written with `,..`, and has the values of the option that takes one.
            let values = match option.get_action().takes_values() {
                true => option.get_value_names().unwrap_or_default(),
                false => &[],
            };
            let values: Vec<&str> = (values.iter())
                .map(|name| name.trim_end_matches(",.."))
                .collect();
            let short = option.get_short().map(String::from).unwrap_or_default();
            let meaning = [Help::of(&option).meaning, values.join(" "), short];
            let (other, known) = meanings
                .entry(long.to_owned())
                .or_insert_with(|| (command.clone(), meaning.clone()));
            if *known != meaning && long != TWO_MEANINGS {
                faults.push(format!("{other} {known:?}, {command} {meaning:?}"));
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        assert!(meanings.len() > 80, "{}", meanings.len());
    }

    #[test]
    fn a_letter_stands_for_one_option() {
        let mut letters = BTreeMap::new();
        for (command, option) in options() {
            let Some(letter) = option.get_short() else {
                continue;
            };
            let long = option.get_long().map(str::to_owned);
            let known = letters.entry(letter).or_insert_with(|| long.clone());
            assert_eq!(*known, long, "-{letter} of {command}");
        }
    }

    #[test]
    fn every_option_with_a_value_names_it_and_says_what_it_is_for() {
        for (name, command) in all() {
            for argument in command
                .get_arguments()
                .filter(|argument| !argument.is_hide_set())
            {
                let name = format!("{name} {}", argument.get_id());
                assert!(argument.get_help().is_some(), "{name}");
                let flag = !argument.get_action().takes_values();
                assert!(flag || argument.get_value_names().is_some(), "{name}");
            }
        }
    }
}
