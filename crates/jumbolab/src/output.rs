//! The two streams: data goes to stdout, talk to stderr.

use std::io::{self, ErrorKind, Write};
use std::path::Path;

use anyhow::{Error, Result};

/// Prints data.
///
/// # Errors
/// When stdout cannot be written; a closed pipe is told from the rest by
/// [`is_closed_pipe`].
pub(crate) fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    Ok(stdout.flush()?)
}

/// Prints text with colours, which are left out where stdout is no terminal or
/// the user wants none (`NO_COLOR`).
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

/// Says below the tables where the page of the run is.
///
/// # Errors
/// As [`print`].
pub(crate) fn print_page(page: &Path) -> Result<()> {
    print(&format!("Page: {}\n", page.display()))
}

/// The columns that a table may take: the terminal's, or 120 where there is none.
pub(crate) fn width() -> u16 {
    terminal_size::terminal_size().map_or(120, |(width, _)| width.0)
}

/// Says something to whoever waits.
pub(crate) fn say(text: &str) {
    // Nobody is harmed when nobody listens.
    let _ = writeln!(io::stderr(), "{text}");
}

/// Says in one line why nothing more is done.
pub(crate) fn complain(error: &Error) {
    say(&format!("jumbolab: {error:#}"));
}

/// Whether the reader of stdout has gone, as `head` does.
pub(crate) fn is_closed_pipe(error: &Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
