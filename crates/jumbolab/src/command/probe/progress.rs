//! Progress of an investigation on stderr: a line that changes on a terminal, a line at
//! intervals elsewhere.

use std::io::{self, IsTerminal};
use std::net::IpAddr;

use indicatif::{ProgressBar, ProgressStyle};
use os::clock;
use probe::machine::{Phase, Progress as State};
use units::{Span, Time};

use crate::output;

/// The interval of lines if there is no terminal.
const PLAIN_INTERVAL: Span = Span::from_secs(10);

/// The line about an investigation.
pub(super) struct Progress {
    /// The line on a terminal.
    line: Option<ProgressBar>,
    /// When the next plain line is due.
    due: Time,
}

impl Progress {
    pub(super) fn new() -> Self {
        let line = io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{msg} ({elapsed})");
            let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
            ProgressBar::new_spinner().with_style(style)
        });
        Self {
            line,
            due: clock::monotonic() + PLAIN_INTERVAL,
        }
    }

    /// Shows the state of the investigation.
    pub(super) fn show(&mut self, text: impl FnOnce() -> String) {
        match &self.line {
            Some(line) => {
                line.set_message(text());
                line.tick();
            }
            None if clock::monotonic() >= self.due => {
                output::info(&text());
                self.due = clock::monotonic() + PLAIN_INTERVAL;
            }
            None => {}
        }
    }

    /// Removes the line.
    pub(super) fn end(&self) {
        if let Some(line) = &self.line {
            line.finish_and_clear();
        }
    }
}

/// The present activity of an investigation.
pub(super) fn words(far_end: IpAddr, state: &State) -> String {
    let doing = match state.phase {
        Phase::Reachability => "does it answer",
        Phase::Search => "the largest size that passes",
        Phase::Locate => "where larger packets are lost, and other checks",
        Phase::Done => "done",
    };
    let confirmed = state.confirmed;
    let confirmed =
        confirmed.map_or_else(String::new, |size| format!(", {} bytes passed", size.get()));
    format!(
        "probing {far_end}: {doing}{confirmed}, {} probes",
        state.probes
    )
}
