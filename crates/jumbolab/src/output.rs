//! The two output streams: data goes to stdout, messages to stderr.

use std::io::{self, ErrorKind, Write};
use std::path::Path;

use anyhow::{Error, Result};

/// Prints data.
///
/// # Errors
/// Stdout cannot be written to; [`is_closed_pipe`] recognises a closed pipe.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    Ok(stdout.flush()?)
}

/// Prints text with colours, except if stdout is not a terminal or the user
/// disabled them (`NO_COLOR`).
///
/// # Errors
/// As [`print`].
pub(crate) fn print_coloured(text: &str) -> Result<()> {
    let mut stdout = anstream::AutoStream::auto(io::stdout().lock());
    stdout.write_all(text.as_bytes())?;
    Ok(stdout.flush()?)
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

/// Prints the path of the run's page below the tables.
///
/// # Errors
/// As [`print`].
pub(crate) fn print_page(page: &Path) -> Result<()> {
    print(&format!("Page: {}\n", page.display()))
}

/// The available columns of a table: the terminal's width, or 120 without a
/// terminal.
pub(crate) fn width() -> u16 {
    terminal_size::terminal_size().map_or(120, |(width, _)| width.0)
}

/// Prints a message.
pub(crate) fn say(text: &str) {
    // A missing reader of messages is not an error.
    let _ = writeln!(io::stderr(), "{text}");
}

/// Prints the reason for ending in one line.
pub(crate) fn complain(error: &Error) {
    say(&format!("jumbolab: {error:#}"));
}

/// Whether the reader of stdout has exited, as `head` does.
pub(crate) fn is_closed_pipe(error: &Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
