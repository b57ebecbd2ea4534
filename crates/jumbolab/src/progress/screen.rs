//! The view of a run on a terminal: the links, a bar, the trial in progress and
//! the means so far. It scrolls away below other messages, and needs no mode of the
//! terminal: nothing has to be restored, however the program ends.

use std::io;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use os::clock;
use plan::{Cell, Plan, Trial};
use units::{Span, Time};

use crate::output;

/// The minimum interval between updates of the means.
const INTERVAL: Span = Span::from_millis(200);

/// The share of time that may be spent on means: one part in this many.
const SHARE: u64 = 20;

/// The fewest columns with room for a bar.
const WIDE: usize = 70;

/// The divisor of the terminal's lines that limits the list of links.
const LINKS: usize = 3;

/// The lines besides those of the means: the bar, the trial, and a line to spare.
const OTHERS: usize = 3;

/// The contents of a terminal below the links, from top to bottom.
pub(super) struct Screen {
    all: MultiProgress,
    bar: ProgressBar,
    trial: ProgressBar,
    means: Vec<ProgressBar>,
    /// When the means may be computed again.
    due: Time,
}

impl Screen {
    pub(super) fn new(plan: &Plan) -> Self {
        let all = MultiProgress::new();
        let (width, height) = output::size_of(io::stderr());
        let columns = u16::try_from(width.saturating_sub(1)).unwrap_or(u16::MAX);
        let links = report::topology_lines(plan, columns);
        let links = match links.len() <= height / LINKS {
            true => links,
            false => Vec::new(),
        };
        for line in links {
            // This fails only without a reader.
            let _ = all.println(output::one_line(&line));
        }
        let bar = all.add(ProgressBar::no_length().with_style(bar_style(width)));
        let trial = all.add(ProgressBar::no_length().with_style(style("{wide_msg}")));
        Self {
            all,
            bar,
            trial,
            means: Vec::new(),
            due: Time::ZERO,
        }
    }

    pub(super) fn begin(&self, total: usize, done: usize) {
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
        self.bar.reset_eta();
    }

    pub(super) fn trial(&self, plan: &Plan, cell: &Cell, repeat: u32) {
        let words = format!("trial {}, repeat {repeat}", plan.labelled(&cell.factors));
        self.trial.set_message(output::one_line(&words));
    }

    /// A message above the view.
    pub(super) fn info(&self, text: &str) {
        self.bar.println(output::one_line(text));
    }

    pub(super) fn length(&self, total: usize) {
        self.bar.set_length(total as u64);
    }

    /// Shows that `done` trials are done, and at intervals the means of `trials`.
    pub(super) fn done(&mut self, plan: &Plan, trials: &[Trial], done: usize) {
        let now = clock::monotonic();
        if now < self.due && done as u64 != self.bar.length().unwrap_or(0) {
            self.bar.set_position(done as u64);
            return;
        }
        let (width, height) = output::size_of(io::stderr());
        self.bar.set_style(bar_style(width));
        let count = |is: fn(&Trial) -> bool| trials.iter().filter(|trial| is(trial)).count();
        let failed = count(|trial| trial.failure.is_some());
        self.bar
            .set_message(warnings(failed, count(Trial::is_disturbed)));
        self.bar.set_position(done as u64);
        let rows = height.saturating_sub(OTHERS);
        let columns = width.saturating_sub(1);
        self.means(report::running_means(plan, trials, rows, columns));
        let after = clock::monotonic();
        let cost = after.since(now).unwrap_or_default();
        self.due = after + INTERVAL.max(cost * SHARE);
    }

    /// Replaces the lines of the means.
    fn means(&mut self, lines: Vec<String>) {
        while self.means.len() > lines.len() {
            if let Some(line) = self.means.pop() {
                self.all.remove(&line);
            }
        }
        while self.means.len() < lines.len() {
            let line = ProgressBar::no_length().with_style(style("{wide_msg}"));
            self.means.push(self.all.add(line));
        }
        for (line, text) in self.means.iter().zip(lines) {
            line.set_message(output::one_line(&text));
        }
    }

    /// Removes the view.
    pub(super) fn end(&self) {
        // A bar that is not finished would draw itself once more when it is dropped.
        for line in self.means.iter().rev().chain([&self.trial, &self.bar]) {
            line.finish_and_clear();
        }
        // This fails only without a reader.
        let _ = self.all.clear();
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.end();
    }
}

/// The numbers of failed and of disturbed trials in words; nothing if there are none.
fn warnings(failed: usize, disturbed: usize) -> String {
    let counts = [(failed, "failed"), (disturbed, "disturbed")];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = counts
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    words.join(", ")
}

fn bar_style(width: usize) -> ProgressStyle {
    match width >= WIDE {
        true => style("{bar:24} {pos}/{len} trials  {elapsed} elapsed, {eta} left  {wide_msg}"),
        false => style("{pos}/{len}  {eta} left  {wide_msg}"),
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_and_disturbed_trials_are_counted() {
        assert_eq!(warnings(0, 0), "");
        assert_eq!(warnings(1, 2), "1 failed, 2 disturbed");
    }
}
