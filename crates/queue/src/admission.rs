//! The admission test of a queue that drops only arriving packets.
//!
//! In drop-tail, and in RED that drops or marks the arriving packet, a queued
//! packet stays and leaves in the order of arrival. The outcome of an arrival
//! depends on the length of the queue alone, so the packets need not be stored
//! here.

use alloc::boxed::Box;

use units::{Bytes, Rate, Seed, Time};

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

    /// The largest packet that gets in at present, without a mark, where nothing waits
    /// or is transmitted; `None`: that is to be asked for each packet.
    /// [`Admission::passed`] is to be told of packets for which this was used.
    #[inline]
    pub fn largest_if_idle(&self) -> Option<Bytes> {
        match self {
            Self::Room(limit) => limit.largest(),
            Self::Red(admission) => admission.largest_if_idle(),
        }
    }

    /// So many packets got in as [`Admission::largest_if_idle`] allowed.
    #[inline]
    pub fn passed(&mut self, packets: u64) {
        if let Self::Red(admission) = self {
            admission.passed(packets);
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

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::tests::Numbered;
    use crate::{Drops, RedSettings};
    use proptest::prelude::*;

    const RATE: Rate = Rate::from_bits_per_second(1_000_000).unwrap();

    proptest! {
        #[test]
        fn an_arrival_fares_as_in_the_queue_itself(
            sizes in prop::collection::vec(1_u64..2_000, 1..100),
            bytes in 2_000_u64..20_000,
            is_red in any::<bool>(),
        ) {
            let limit = Limit::Bytes(Bytes::new(bytes));
            let spec = match is_red {
                true => Spec::Red(RedSettings { weight: 0.2, ..RedSettings::new(limit, Bytes::new(500)) }),
                false => Spec::DropTail { limit },
            };
            let mut admission = Admission::new(&spec, Some(RATE), Seed::new(1)).unwrap();
            let mut queue = spec.build::<Numbered>(Some(RATE), Seed::new(1)).unwrap();
            let mut drops = Drops::new();
            for (number, size) in (0_u64..).zip(sizes) {
                let now = Time::from_nanos(20_000_000 * number);
                let mut packet = Numbered(number, size);
                let rejected = admission.admit(now, queue.backlog(), &mut packet).err();
                queue.enqueue(now, packet, &mut drops);
                let dropped: Vec<Reason> = drops.drain().map(|(_, reason)| reason).collect();
                prop_assert_eq!(rejected.as_slice(), dropped);
                // The queue grows, and the link is idle at times.
                if number % 20 == 19 {
                    while queue.dequeue(now, &mut drops).is_some() {}
                    admission.rest(now);
                }
            }
        }
    }
}
