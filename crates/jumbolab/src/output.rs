//! The two output streams: data goes to stdout, messages to stderr.
//!
//! Text may come from outside: from a results folder, a packet log, a peer or
//! another program. Here characters are escaped on which a terminal would act.

mod message;

use std::env;
use std::io::{self, ErrorKind, IsTerminal, Write};
#[cfg(unix)]
use std::os::fd::AsFd as AsTerminal;
#[cfg(windows)]
use std::os::windows::io::AsHandle as AsTerminal;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Error, Result, bail};
use keyfile::{Fault, escaped, shortened};
pub(crate) use message::in_words;
use serde_json::{Value, json};

/// The environment variable that chooses the form of messages.
const MESSAGES: &str = "JUMBOLAB_MESSAGES";

/// Nobody reads from a pipe any more: on Windows, also an error without a kind of its own.
const ERROR_PIPE_NOT_CONNECTED: i32 = 233;

/// The characters of a layout.
const LAYOUT: [char; 2] = ['\n', '\t'];

/// The maximum number of characters of a message. A value that it repeats may be
/// of any length.
const LONGEST_MESSAGE: usize = 4_000;

/// Rejects an output at the path `output` of `option` that is one of the inputs.
///
/// # Errors
/// It is: the input would be lost.
pub(crate) fn spare_inputs<'a>(
    option: &str,
    output: &Path,
    inputs: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<()> {
    let mut inputs = inputs.into_iter();
    match inputs.find(|input| files::are_same(output, input)) {
        Some(input) => bail!(
            "{option} {}: this is the input {}, which would be lost; write another name",
            output.display(),
            input.display()
        ),
        None => Ok(()),
    }
}

/// Prints data.
///
/// # Errors
/// Stdout cannot be written to; [`is_closed_pipe`] recognises a closed pipe.
pub(crate) fn print(text: &str) -> Result<()> {
    write(&escaped(&in_words(text), &LAYOUT))
}

/// Prints a table for programs: unchanged, except on a terminal.
///
/// # Errors
/// As [`print`].
pub(crate) fn print_table(text: &str) -> Result<()> {
    match io::stdout().is_terminal() {
        true => print(text),
        false => write(text),
    }
}

fn write(text: &str) -> Result<()> {
    write_to(&mut io::stdout().lock(), text)
}

fn write_to(output: &mut impl Write, text: &str) -> Result<()> {
    let written = output.write_all(text.as_bytes());
    let written = written.and_then(|()| output.flush());
    written.context("cannot write to stdout")
}

/// Prints text with colours, except if stdout is not a terminal or the user
/// disabled them (`NO_COLOR`).
///
/// # Errors
/// As [`print`].
pub(crate) fn print_coloured(text: &str) -> Result<()> {
    let mut stdout = anstream::AutoStream::auto(io::stdout().lock());
    write_to(&mut stdout, &escaped_but_colours(text))
}

/// `text` escaped, except for sequences that select colours and weights
/// (ESC [ numbers m) [ECMA48 s8.3.117].
fn escaped_but_colours(text: &str) -> String {
    let mut shown = String::new();
    for (place, part) in text.split('\u{1b}').enumerate() {
        let colour = part.strip_prefix('[').and_then(|rest| {
            let numbers = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
            numbers.strip_prefix('m')
        });
        match (place, colour) {
            (0, _) => {}
            (_, Some(_)) => shown.push('\u{1b}'),
            (_, None) => shown.push_str(&escaped("\u{1b}", &[])),
        }
        shown.push_str(&escaped(part, &LAYOUT));
    }
    shown
}

/// Prints data line by line.
///
/// # Errors
/// As [`print`].
pub(crate) fn print_lines(lines: impl IntoIterator<Item = String>) -> Result<()> {
    lines
        .into_iter()
        .try_for_each(|line| print(&format!("{line}\n")))
}

/// Verdicts and warnings of reports with their colours (SGR 32 green, 31 red, 33
/// yellow) [ECMA48 s8.3.117]; longer ones first.
const COLOURS: [(&str, &str); 9] = [
    ("not reproduced", "31"),
    ("reproduced", "32"),
    ("direction only", "33"),
    ("inconclusive", "33"),
    ("passed with warnings", "33"),
    ("quality check passed", "32"),
    ("FAILED", "31"),
    ("Do not rely on these results", "31"),
    ("Warning", "33"),
];

/// Prints a report, on a terminal with coloured verdicts and warnings.
///
/// # Errors
/// As [`print`].
pub(crate) fn print_report(text: &str) -> Result<()> {
    print_coloured(&painted(&escaped(&in_words(text), &LAYOUT)))
}

/// `text` with the colours of [`COLOURS`].
fn painted(text: &str) -> String {
    let mut painted = String::new();
    let mut rest = text;
    let starts = |rest: &str| COLOURS.iter().find(|(word, _)| rest.starts_with(word));
    while let Some(letter) = rest.chars().next() {
        match starts(rest) {
            Some((word, colour)) => {
                painted.push_str(&format!("\u{1b}[{colour}m{word}\u{1b}[0m"));
                rest = &rest[word.len()..];
            }
            None => {
                painted.push(letter);
                rest = &rest[letter.len_utf8()..];
            }
        }
    }
    painted
}

/// The available columns of a table: the terminal's width, or 120 without a
/// terminal.
pub(crate) fn width() -> u16 {
    terminal_size::terminal_size().map_or(120, |(width, _)| width.0)
}

/// Columns and lines of the terminal at `stream`; 80 and 24 where it has no size.
pub(crate) fn size_of(stream: impl AsTerminal) -> (usize, usize) {
    let size = terminal_size::terminal_size_of(stream);
    let size = size.map(|(width, height)| (usize::from(width.0), usize::from(height.0)));
    size.filter(|(width, height)| *width > 0 && *height > 0)
        .unwrap_or((80, 24))
}

/// Whether messages are objects for a program that started this one.
pub(crate) fn is_for_programs() -> bool {
    env::var_os(MESSAGES).is_some_and(|form| form == "json")
}

/// Prints a message.
pub(crate) fn info(text: &str) {
    let text = in_words(text);
    let text = shortened(&text, LONGEST_MESSAGE);
    match is_for_programs() {
        true => emit_json(&json!({ "kind": "message", "message": text })),
        // A missing reader of messages is not an error.
        false => drop(writeln!(io::stderr(), "{}", escaped(&text, &LAYOUT))),
    }
}

/// Prints a problem in one line that does not end the command.
pub(crate) fn warn(problem: &str) {
    info(&one_line(&format!("warning: {problem}")));
}

/// Says in `words` where the results of a command are written.
pub(crate) fn info_folder(words: &str, folder: &Path) {
    match is_for_programs() {
        true => emit_json(&json!({ "kind": "folder", "folder": folder })),
        false => info(&format!("{words} {}", folder.display())),
    }
}

/// Prints an object of docs/reference/json.md, "Messages for programs".
pub(crate) fn emit_json(object: &Value) {
    let text = object.to_string();
    let _ = writeln!(io::stderr(), "{}", escaped(&in_words(&text), &[]));
}

/// `text` in one line, as part of a message or of a progress bar.
pub(crate) fn one_line(text: &str) -> String {
    escaped(&shortened(&in_words(text), LONGEST_MESSAGE), &[]).into_owned()
}

/// Prints an error in one line: its place, the problem, and the remedy.
pub(crate) fn report_error(error: &Error) {
    let message = message::of(error);
    if !is_for_programs() {
        return info(&one_line(&format!("error: {message}")));
    }
    let fault = error
        .chain()
        .find_map(|cause| cause.downcast_ref::<Fault>());
    let fault = fault.cloned().unwrap_or_default();
    emit_json(&json!({
        "kind": "error",
        "message": shortened(&message, LONGEST_MESSAGE),
        "file": fault.file,
        "line": fault.line,
        "argument": fault.argument,
        "key": fault.key,
        "value": fault.value,
    }));
}

/// Whether the reader of stdout has exited, as `head` does.
pub(crate) fn is_closed_pipe(error: &Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| {
        let number = error.raw_os_error();
        error.kind() == ErrorKind::BrokenPipe
            || cfg!(windows) && number == Some(ERROR_PIPE_NOT_CONNECTED)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_pass_and_other_sequences_are_shown() {
        let text = "\u{1b}[1;32mok\u{1b}[0m \u{1b}]0;owned\u{7}\u{1b}[2J\n";
        assert_eq!(
            escaped_but_colours(text),
            "\u{1b}[1;32mok\u{1b}[0m \\u001b]0;owned\\u0007\\u001b[2J\n"
        );
        assert_eq!(escaped_but_colours("\u{1b}"), "\\u001b");
    }

    #[test]
    fn verdicts_have_their_colours_and_nothing_else_has() {
        let text = "9 reproduced, 4 not reproduced, exact\n";
        assert_eq!(
            painted(text),
            "9 \u{1b}[32mreproduced\u{1b}[0m, 4 \u{1b}[31mnot reproduced\u{1b}[0m, exact\n"
        );
    }

    /// An output without room, or without a reader.
    struct Closed(ErrorKind);

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_output_that_cannot_be_written_is_named_and_a_closed_pipe_is_known() {
        let full = write_to(&mut Closed(ErrorKind::StorageFull), "x").unwrap_err();
        assert!(
            format!("{full:#}").starts_with("cannot write to stdout: "),
            "{full:#}"
        );
        assert!(!is_closed_pipe(&full));
        let closed = write_to(&mut Closed(ErrorKind::BrokenPipe), "x").unwrap_err();
        assert!(is_closed_pipe(&closed));
    }

    #[test]
    fn a_message_of_any_length_is_one_short_line() {
        let message = one_line(&format!("x.toml:1: {}\n", "\u{202e}".repeat(100_000)));
        assert!(message.starts_with("x.toml:1: ") && message.ends_with("\\u000a"));
        assert!(message.chars().count() < 7 * LONGEST_MESSAGE);
        assert!(!message.contains(keyfile::acts_on_terminals));
    }
}
