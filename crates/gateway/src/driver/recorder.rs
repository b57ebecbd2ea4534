//! Records of a gateway in progress, for whoever writes them.

use crate::machine::{Event, Settings};

use super::Gateway;

/// Events that are handed over together, at least once a second.
pub(super) const TOGETHER: usize = 1 << 12;

/// A part of a record.
#[derive(Clone, Debug)]
pub enum Recorded {
    /// The settings of the events from then on; keys are among them.
    Settings(Box<Settings>),
    /// Events in their order.
    Events(Vec<Event>),
    /// The gateway has ended, and nothing is missing.
    End,
}

/// A receiver of a record. It is called between packets, and must not wait.
pub trait Recorder: Send {
    /// Takes a part. Returns whether it takes more.
    fn take(&mut self, part: Recorded) -> bool;
}

impl Gateway {
    /// Begins the record of a core that has forwarded nothing yet.
    pub(super) fn begin_record(&mut self) {
        let settings = Box::new(self.configuration.settings.clone());
        if self.keeps(Recorded::Settings(settings)) {
            self.core.record();
        }
    }

    /// Hands over what was recorded.
    pub(super) fn hand_over(&mut self) {
        if self.recorder.is_some() {
            let events = self.core.take_events();
            if !self.keeps(Recorded::Events(events)) {
                self.core.stop_record();
            }
        }
    }

    /// Hands over what is left, and ends the record.
    pub fn end_record(&mut self) {
        self.hand_over();
        self.keeps(Recorded::End);
        self.recorder = None;
    }

    /// Whether there is a recorder, and it took `part`.
    fn keeps(&mut self, part: Recorded) -> bool {
        let goes_on = self.recorder.as_mut().is_some_and(|own| own.take(part));
        if !goes_on {
            self.recorder = None;
        }
        goes_on
    }
}
