//! Progress of a run on stderr: on a terminal a bar with the remaining time and
//! the means so far, elsewhere plain lines.

use std::io::{self, IsTerminal};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use lab::run;
use live::clock;
use plan::{Cell, Plan, Trial};
use units::{Span, Time};

use crate::output;

/// The interval of lines if there is no terminal.
const PLAIN_INTERVAL: Span = Span::from_secs(10);

/// The minimum interval between updates of a terminal. Computing the means of
/// many trials takes longer than simulating one.
const SCREEN_INTERVAL: Span = Span::from_millis(200);

/// The maximum number of cells to show while they fill.
const MOST_LINES: usize = 16;

/// Shows the progress of a run.
pub(crate) struct Progress {
    screen: Option<Screen>,
    total: usize,
    done: usize,
    /// Trials from the journal of an earlier run.
    resumed: usize,
    begun: Time,
    said: Time,
}

/// The content of a terminal: the bar, and a line for each cell below it.
struct Screen {
    all: MultiProgress,
    bar: ProgressBar,
    lines: Vec<ProgressBar>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let now = clock::monotonic();
        Self {
            screen: io::stderr().is_terminal().then(Screen::new),
            total: 0,
            done: 0,
            resumed: 0,
            begun: now,
            said: now,
        }
    }

    /// The remaining time, extrapolated from the elapsed part.
    fn left(&self) -> Option<Span> {
        let elapsed = clock::monotonic().since(self.begun)?.as_picos();
        let (made, rest) = (self.done - self.resumed, self.total - self.done);
        let picos = u128::from(elapsed)
            .checked_mul(rest as u128)?
            .checked_div(made as u128)?;
        Some(Span::from_secs(
            u64::try_from(picos / 1_000_000_000_000).ok()?,
        ))
    }
}

impl run::Progress for Progress {
    fn begin(&mut self, total: usize, done: usize) {
        (self.total, self.done, self.resumed) = (total, done, done);
        if let Some(Screen { bar, .. }) = &self.screen {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
            bar.reset_eta();
        } else {
            output::say(&format!("{total} trials, {done} already done"));
        }
    }

    fn trial(&mut self, cell: &Cell, repeat: u32) {
        if let Some(Screen { bar, .. }) = &self.screen {
            bar.set_message(output::one_line(&format!("{} #{repeat}", cell.factors)));
        }
    }

    fn again(&mut self, trials: usize) {
        self.total += trials;
        let line = format!("other work disturbed trials: running {trials} of them again");
        match &self.screen {
            Some(Screen { bar, .. }) => {
                bar.set_length(self.total as u64);
                bar.println(line);
            }
            None => output::say(&line),
        }
    }

    fn done(&mut self, plan: &Plan, trials: &[Trial], trial: &Trial) {
        self.done += 1;
        if let Some(failure) = &trial.failure {
            let line = format!("trial {} ({}) failed: {failure}", trial.id, trial.factors);
            let line = output::one_line(&line);
            match &self.screen {
                Some(Screen { bar, .. }) => bar.println(line),
                None => output::say(&line),
            }
        }
        if let Some(screen) = &mut self.screen {
            screen.bar.set_position(self.done as u64);
            let now = clock::monotonic();
            if now.since(self.said) >= Some(SCREEN_INTERVAL) {
                self.said = now;
                screen.show(report::progress(plan, trials));
            }
        } else if clock::monotonic().since(self.said) >= Some(PLAIN_INTERVAL) {
            self.said = clock::monotonic();
            let left = self
                .left()
                .map_or_else(String::new, |left| format!(", about {left} remaining"));
            output::say(&format!("{} of {} trials{left}", self.done, self.total));
            for line in report::progress(plan, trials) {
                output::say(&format!("  {line}"));
            }
        }
    }

    fn end(&mut self) {
        if let Some(screen) = &self.screen {
            // Clearing the screen fails only without a reader.
            let _ = screen.all.clear();
        }
    }
}

impl Screen {
    fn new() -> Self {
        let all = MultiProgress::new();
        let style = ProgressStyle::with_template(
            "{bar:32} {pos}/{len}  {elapsed} elapsed, {eta} left  {wide_msg}",
        );
        let bar = all.add(
            ProgressBar::no_length()
                .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())),
        );
        Self {
            all,
            bar,
            lines: Vec::new(),
        }
    }

    /// Writes the lines below the bar, replacing the previous ones.
    fn show(&mut self, lines: Vec<String>) {
        let style = ProgressStyle::with_template("  {wide_msg}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner());
        let shown = lines.len().min(MOST_LINES);
        while self.lines.len() < shown {
            let line = ProgressBar::no_length().with_style(style.clone());
            self.lines.push(self.all.add(line));
        }
        for (line, text) in self.lines.iter().zip(lines) {
            line.set_message(output::one_line(&text));
        }
    }
}
