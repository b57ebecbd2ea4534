//! Progress of a run on stderr: a bar with an ETA on a terminal, plain lines
//! elsewhere.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressStyle};
use lab::plan::Cell;
use lab::run::Watch;
use lab::trial::Trial;
use live::clock;
use units::{Span, Time};

use crate::output;

/// How often a line is printed where no terminal is.
const PLAIN_INTERVAL: Span = Span::from_secs(10);

/// Watches a run for the user.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    total: usize,
    done: usize,
    /// Trials that were in the journal before.
    kept: usize,
    begun: Time,
    said: Time,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let now = clock::monotonic();
        let bar = io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template(
                "{bar:32} {pos}/{len}  {elapsed} elapsed, {eta} left  {wide_msg}",
            );
            ProgressBar::no_length()
                .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        Self {
            bar,
            total: 0,
            done: 0,
            kept: 0,
            begun: now,
            said: now,
        }
    }

    /// What is left if the rest goes as the part so far.
    fn left(&self) -> Option<Span> {
        let elapsed = clock::monotonic().since(self.begun)?.as_picos();
        let (made, rest) = (self.done - self.kept, self.total - self.done);
        let picos = u128::from(elapsed)
            .checked_mul(rest as u128)?
            .checked_div(made as u128)?;
        Some(Span::from_secs(
            u64::try_from(picos / 1_000_000_000_000).ok()?,
        ))
    }
}

impl Watch for Progress {
    fn begin(&mut self, total: usize, done: usize) {
        (self.total, self.done, self.kept) = (total, done, done);
        if let Some(bar) = &self.bar {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
            bar.reset_eta();
        } else {
            output::say(&format!("{total} trials, {done} of them already done"));
        }
    }

    fn trial(&mut self, cell: &Cell, repeat: u32) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{} #{repeat}", cell.factors));
        }
    }

    fn done(&mut self, trial: &Trial) {
        self.done += 1;
        if let Some(failure) = &trial.failure {
            let line = format!("trial {} ({}) failed: {failure}", trial.id, trial.factors);
            match &self.bar {
                Some(bar) => bar.println(line),
                None => output::say(&line),
            }
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.done as u64);
        } else if clock::monotonic().since(self.said) >= Some(PLAIN_INTERVAL) {
            self.said = clock::monotonic();
            let left = self
                .left()
                .map_or_else(String::new, |left| format!(", about {left} left"));
            output::say(&format!("{} of {} trials{left}", self.done, self.total));
        }
    }

    fn end(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
