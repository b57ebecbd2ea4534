//! The use of messages that a packet was too big [RFC8899 s4.6].

use super::{Discovery, PacketOutcome};
use crate::pmtu::{Ignored, State, TooBig, TooBigUse};

/// The number of times that a message may announce less than what was confirmed before
/// such messages are ignored.
const MOST_REFUTED: u32 = 3;

impl Discovery {
    /// A message says that a probe was too big. It is checked against what was sent,
    /// and never raises or sets the result [RFC8899 s4.6].
    pub fn too_big(&mut self, message: TooBig) -> TooBigUse {
        match self.check(message) {
            Ok((size, announced)) => self.heed(message.id, size, announced),
            Err(reason) => TooBigUse::Ignored(reason),
        }
    }

    /// Size of the probe and the announced size, if the message is valid
    /// [RFC8899 s4.6.1] [RFC8899 s4.6.2].
    fn check(&self, message: TooBig) -> Result<(u32, u32), Ignored> {
        let sent = self.sent.iter().find(|sent| sent.id == message.id);
        let sent = sent.ok_or(Ignored::UnknownProbe)?;
        if message.quoted.get() != u64::from(sent.size) {
            return Err(Ignored::OtherSize);
        }
        if sent.outcome == PacketOutcome::Acknowledged {
            return Err(Ignored::Acknowledged);
        }
        let announced = u32::try_from(message.announced.get()).unwrap_or(u32::MAX);
        if announced >= sent.size {
            return Err(Ignored::NotSmaller);
        }
        if announced < self.settings.minimum.get() {
            return Err(Ignored::BelowMinimum);
        }
        let doubts = self.state != State::Base && self.confirmed > Some(announced);
        if doubts && self.refuted >= MOST_REFUTED {
            return Err(Ignored::Refuted);
        }
        Ok((sent.size, announced))
    }

    fn heed(&mut self, id: u64, size: u32, announced: u32) -> TooBigUse {
        if let Some(sent) = self.sent.iter_mut().find(|sent| sent.id == id) {
            if sent.outcome == PacketOutcome::UnderWay {
                self.deadline = None;
            }
            sent.outcome = PacketOutcome::Rejected;
        }
        match self.state {
            State::Base => {
                self.begin_error(true);
                TooBigUse::BelowBase
            }
            _ if self.confirmed > Some(announced) => {
                self.refuted += 1;
                self.announced = Some(announced);
                self.begin_base();
                TooBigUse::BlackHole
            }
            _ => {
                self.search.rejected(size, announced);
                if self.confirmed == Some(announced) && !self.settings.verifies_announced {
                    self.search.exclude(announced + 1);
                }
                TooBigUse::Rejected
            }
        }
    }
}
