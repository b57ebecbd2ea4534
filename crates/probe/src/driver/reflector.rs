//! The search for a reflector at the far end.

use crate::machine::{AnswerKind, Probe, Reflector, ReplySize, Target};
use link::Protocol;
use units::{Bytes, Span};

use super::sockets::Driver;
use os::clock;
use os::error::Result;

/// The time to wait for the answer of a reflector, the number of test packets, and
/// their size.
const REFLECTS: Span = Span::from_millis(250);
const REFLECTS_TRIES: u64 = 3;
const REFLECTS_SIZE: Bytes = Bytes::new(200);

impl Driver {
    /// Looks for a reflector at a port of the far end. UDP
    /// probes go to it if there is one. Takes no longer than the far end needs to answer,
    /// or [`REFLECTS`] if it does not.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn find_reflector(&mut self, port: u16) -> Result<Reflector> {
        self.reflector = Some(port);
        for attempt in 0..REFLECTS_TRIES {
            let probe = Probe {
                id: self.seed.derive("reflector").with(attempt).get(),
                protocol: Protocol::Udp,
                to: Target::FarEnd,
                size: REFLECTS_SIZE,
                hop_limit: None,
                flow: 0,
                fragment_size: None,
                reply: ReplySize::Small,
            };
            self.send(&probe)?;
            let until = clock::monotonic() + REFLECTS;
            while clock::monotonic() < until && !self.is_over() {
                self.wait(Some(until))?;
                for (_, answer) in self.arrived() {
                    match answer.kind {
                        AnswerKind::Reply {
                            size,
                            is_unreachable: false,
                            ..
                        } if size < REFLECTS_SIZE => return Ok(Reflector::ShortReplies),
                        AnswerKind::Reply {
                            is_unreachable: false,
                            ..
                        } => return Ok(Reflector::SameLength),
                        AnswerKind::Reply { .. } | AnswerKind::Unreachable { .. } => {
                            return self.without_reflector();
                        }
                        _ => {}
                    }
                }
            }
        }
        self.without_reflector()
    }
}
