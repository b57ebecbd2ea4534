//! A path that is watched: which looks lead to a whole investigation, and which
//! investigations show a change.

use probe::driver::{Investigated, Task};
use probe::machine::PathReport;
use units::Bytes;

/// A path that is watched.
pub(in crate::command::probe) struct Path {
    /// The settings of a short look.
    pub(super) task: Task,
    /// The latest result of everything.
    pub(in crate::command::probe) latest: Investigated,
    /// The result of short looks while the path is as in `latest`.
    usual: Sizes,
    /// The result of the latest look that a whole investigation did not confirm.
    unconfirmed: Option<Sizes>,
    /// Changes that were noticed.
    pub(in crate::command::probe) changes: u64,
}

/// The figures that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    forward: Option<Bytes>,
    reverse: Option<Bytes>,
    answers: bool,
    loses_large: bool,
}

impl Sizes {
    /// Nothing passes.
    pub(super) const NONE: Self = Self {
        forward: None,
        reverse: None,
        answers: false,
        loses_large: false,
    };

    pub(super) fn of(report: &PathReport) -> Self {
        Self {
            forward: report.forward.mtu,
            reverse: report.reverse.mtu,
            answers: report.protocols.iter().any(|one| one.answers),
            loses_large: report.loss_by_size().is_some(),
        }
    }
}

impl Path {
    /// A path that was investigated, and is looked at with `task`.
    pub(super) fn new(task: Task, latest: Investigated) -> Self {
        Self {
            task,
            usual: Sizes::of(&latest.report),
            latest,
            unconfirmed: None,
            changes: 0,
        }
    }

    /// The sizes of a new report. Few losses are missed at times: large packets are lost no
    /// longer if the loss is less than it was, and not if it just was not found.
    pub(super) fn sizes(&self, report: &PathReport) -> Sizes {
        let before = self.latest.report.loss_by_size();
        let is_less = |low: f64| {
            let large = report.losses.last();
            large.is_some_and(|large| large.loss.high < low)
        };
        let persists = before.is_some_and(|(_, large)| !is_less(large.loss.low));
        let found = Sizes::of(report);
        Sizes {
            loses_large: found.loses_large || persists && found.answers,
            ..found
        }
    }

    /// Whether a look that saw these sizes is a reason to investigate everything.
    pub(super) fn looks_changed(&mut self, seen: Sizes) -> bool {
        if seen == self.usual {
            self.unconfirmed = None;
        }
        seen != self.usual
    }

    /// The whole investigation after a look: the result before it, if the path has
    /// changed.
    pub(super) fn investigated(
        &mut self,
        seen: Sizes,
        found: Investigated,
    ) -> Option<Investigated> {
        if self.sizes(&found.report) == Sizes::of(&self.latest.report) {
            // The path was disturbed for a moment, or a short look sees less than a whole
            // investigation: in the latter case it sees the same again.
            if self.unconfirmed.replace(seen) == Some(seen) {
                self.usual = seen;
                self.unconfirmed = None;
            }
            return None;
        }
        self.usual = seen;
        self.unconfirmed = None;
        self.changes += 1;
        Some(std::mem::replace(&mut self.latest, found))
    }

    /// Whether no earlier look that saw these sizes led to a failed investigation.
    pub(super) fn is_new_failure(&mut self, seen: Sizes) -> bool {
        self.unconfirmed.replace(seen) != Some(seen)
    }

    /// The whole investigation after a look could not be made, so nothing is known to
    /// pass: the result before it, if that is a change.
    pub(super) fn failed(&mut self) -> Option<Investigated> {
        self.usual = Sizes::NONE;
        let before = &self.latest;
        if Sizes::of(&before.report) == Sizes::NONE {
            return None;
        }
        self.changes += 1;
        let found = Investigated {
            outgoing: before.outgoing.clone(),
            report: PathReport::nothing_seen(before.report.far_end, before.report.asked),
        };
        Some(std::mem::replace(&mut self.latest, found))
    }
}

#[cfg(test)]
mod tests;
