//! The admission test of a queue that drops only arriving packets.
//!
//! In drop-tail, and in RED that drops or marks the arriving packet, a queued
//! packet stays and leaves in the order of arrival. The fate of an arrival
//! depends on the length of the queue alone, so the packets need not be stored
//! here.

use alloc::boxed::Box;

use units::{Rate, Seed, Time};

use crate::red::RedAdmission;
use crate::{Backlog, Limit, Packet, Reason, Spec, Unit, Victim};

/// An admission test for arriving packets.
#[derive(Debug)]
pub enum Admission {
    /// Drop-tail: admits every packet that fits.
    Room(Limit),
    /// RED.
    Red(Box<RedAdmission>),
}

impl Admission {
    /// The admission test of the queue that `spec` would build with the same `rate`
    /// and `seed`; `None` where that queue needs to see packets again once they
    /// are in, or there is no such queue.
    pub fn new(spec: &Spec, rate: Option<Rate>, seed: Seed) -> Option<Self> {
        let adapted;
        let red = match spec {
            Spec::DropTail { limit } if !limit.is_zero() => return Some(Self::Room(*limit)),
            Spec::Red(settings) => settings,
            Spec::AdaptiveRed(settings) if settings.mean_size.get() > 0 => {
                adapted = settings.settings(rate?);
                &adapted
            }
            _ => return None,
        };
        if red.victim != Victim::Arriving || red.unit == Unit::Inner {
            return None;
        }
        let admission = RedAdmission::new(red, rate?, seed).ok()?;
        Some(Self::Red(Box::new(admission)))
    }

    /// Whether `packet` gets in where `backlog` waits at `now`, and then
    /// whether it was marked as having met congestion.
    ///
    /// # Errors
    /// Why it does not get in.
    #[inline]
    pub fn admit<P: Packet>(
        &mut self,
        now: Time,
        backlog: Backlog,
        packet: &mut P,
    ) -> Result<bool, Reason> {
        match self {
            Self::Room(limit) if limit.admits(backlog, packet.view()) => Ok(false),
            Self::Room(_) => Err(Reason::Full),
            Self::Red(admission) => {
                let queue = match admission.unit() {
                    Unit::Bytes => backlog.bytes.get() as f64,
                    Unit::Frames | Unit::Inner => f64::from(backlog.packets),
                };
                admission.admit(now, backlog, queue, packet)
            }
        }
    }

    /// The link behind has had nothing to do since `since`.
    #[inline]
    pub fn rest(&mut self, since: Time) {
        if let Self::Red(admission) = self {
            admission.rest(since);
        }
    }
}
