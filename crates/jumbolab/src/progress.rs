//! Progress of a run on stderr: on a terminal a view with the test network, the
//! remaining time and the means so far, elsewhere plain lines.

mod screen;

use std::io::{self, IsTerminal};

use backends::run;
use os::clock;
use plan::{Cell, Plan, Trial};
use serde_json::json;
use units::{Span, Time};

use crate::output;
use screen::Screen;

/// The interval of lines if there is no terminal.
const PLAIN_INTERVAL: Span = Span::from_secs(10);

/// The interval of objects for a program.
const PROGRAM_INTERVAL: Span = Span::from_millis(100);

/// Shows the progress of a run.
pub(crate) struct Progress<'a> {
    plan: &'a Plan,
    screen: Option<Screen>,
    total: usize,
    done: usize,
    /// Trials from the journal of an earlier run.
    resumed: usize,
    begun: Time,
    said: Time,
}

impl<'a> Progress<'a> {
    /// The progress of a run of `plan`; in plain lines on a terminal too if `plain`.
    pub(crate) fn new(plan: &'a Plan, plain: bool) -> Self {
        let now = clock::monotonic();
        let is_view = !plain && io::stderr().is_terminal() && !output::is_for_programs();
        Self {
            plan,
            screen: is_view.then(|| Screen::new(plan)),
            total: 0,
            done: 0,
            resumed: 0,
            begun: now,
            said: now,
        }
    }

    /// Tells a program how far the run is.
    fn emit_json(&mut self) {
        self.said = clock::monotonic();
        output::emit_json(&json!({ "kind": "progress", "done": self.done, "total": self.total }));
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

impl run::Progress for Progress<'_> {
    fn begin(&mut self, total: usize, done: usize) {
        (self.total, self.done, self.resumed) = (total, done, done);
        if let Some(screen) = &self.screen {
            screen.begin(total, done);
        } else if output::is_for_programs() {
            self.emit_json();
        } else {
            output::info(&format!("{total} trials, {done} already done"));
        }
    }

    fn trial(&mut self, cell: &Cell, repeat: u32) {
        if let Some(screen) = &self.screen {
            screen.trial(self.plan, cell, repeat);
        }
    }

    fn again(&mut self, trials: usize) {
        self.total += trials;
        let line = format!("other work disturbed trials: running {trials} of them again");
        match &self.screen {
            Some(screen) => {
                screen.length(self.total);
                screen.info(&line);
            }
            None => output::info(&line),
        }
    }

    fn done(&mut self, plan: &Plan, trials: &[Trial], trial: &Trial) {
        self.done += 1;
        if let Some(failure) = &trial.failure {
            let line = format!("trial {} ({}) failed: {failure}", trial.id, trial.factors);
            let line = output::one_line(&line);
            match &self.screen {
                Some(screen) => screen.info(&line),
                None => output::info(&line),
            }
        }
        if let Some(screen) = &mut self.screen {
            screen.done(plan, trials, self.done);
        } else if output::is_for_programs() {
            let is_due = clock::monotonic().since(self.said) >= Some(PROGRAM_INTERVAL);
            if is_due || self.done == self.total {
                self.emit_json();
            }
        } else if clock::monotonic().since(self.said) >= Some(PLAIN_INTERVAL) {
            self.said = clock::monotonic();
            let left = self
                .left()
                .filter(|left| *left > Span::ZERO)
                .map_or_else(String::new, |left| format!(", about {left} remaining"));
            output::info(&format!("{} of {} trials{left}", self.done, self.total));
        }
    }

    fn end(&mut self) {
        if let Some(screen) = &self.screen {
            screen.end();
        }
    }
}
