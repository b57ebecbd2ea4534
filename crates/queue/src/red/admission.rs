//! RED's admission test: the outcome of an arrival, independent of the store that
//! holds the waiting packets.

use units::{Bytes, Rate, Seed, Time};

use super::{RedSettings, Unit};
use crate::law::{self, AverageBacklog, Profile, Verdict};
use crate::rng::Rng;
use crate::{AverageQueue, Backlog, BadSpec, Limit, Packet, Reason, View};

/// RED's law with the limit of a buffer, and its chance.
#[derive(Debug)]
pub struct RedAdmission {
    pub(super) limit: Limit,
    pub(super) unit: Unit,
    ecn: bool,
    /// The average up to which a packet may be marked.
    last_mark: f64,
    mean_size: Bytes,
    pub(super) profile: Profile,
    pub(super) law: law::Red,
    average: AverageBacklog,
    pub(super) rng: Rng,
}

impl RedAdmission {
    /// Of an empty queue in front of a link of `rate`.
    ///
    /// # Errors
    /// Where a parameter is out of its range.
    pub fn new(settings: &RedSettings, rate: Rate, seed: Seed) -> Result<Self, BadSpec> {
        settings.check()?;
        Ok(Self {
            limit: settings.limit,
            unit: settings.unit,
            ecn: settings.ecn,
            last_mark: settings.curve.max,
            mean_size: settings.mean_size,
            profile: settings.profile,
            law: settings.law(rate),
            average: AverageBacklog::new(settings.weight),
            rng: Rng::new(seed),
        })
    }

    /// The unit of the thresholds.
    pub const fn unit(&self) -> Unit {
        self.unit
    }

    /// Whether `packet` gets in where `backlog` waits, which is `queue` in the
    /// unit of the thresholds, and then whether it was marked. Who is dropped
    /// or marked is the arrival.
    ///
    /// # Errors
    /// Why it does not get in.
    pub fn admit<P: Packet>(
        &mut self,
        now: Time,
        backlog: Backlog,
        queue: f64,
        packet: &mut P,
    ) -> Result<bool, Reason> {
        let rested = self.law.is_idle();
        let verdict = self.judge(now, backlog, queue, packet.view());
        let admitted = match self.profile {
            Profile::Clean => self.admit_clean(verdict, backlog, packet),
            Profile::Ns2 => self.admit_as_ns2(verdict, backlog, packet),
        };
        if admitted.is_err() && rested && backlog.packets == 0 {
            // The link rests on.
            self.law.rest(now);
        }
        admitted
    }

    /// The link behind has had nothing to do since `since`.
    #[inline]
    pub fn rest(&mut self, since: Time) {
        self.law.rest(since);
    }

    /// The largest packet that gets in at present where nothing waits or is transmitted,
    /// if that is known without the packet.
    #[inline]
    pub(crate) fn largest_if_idle(&self) -> Option<Bytes> {
        // In bytes the profile of ns-2 counts those of each arrival.
        let is_known = self.unit == Unit::Frames && self.law.is_unmoved_by_idle();
        is_known.then(|| self.limit.largest()).flatten()
    }

    /// So many packets got in as [`RedAdmission::largest_if_idle`] allowed.
    #[cold]
    pub(crate) fn passed(&mut self, packets: u64) {
        self.law.passed(packets);
    }

    /// The law's decision about an arrival.
    pub(super) fn judge(
        &mut self,
        now: Time,
        backlog: Backlog,
        queue: f64,
        arrival: View,
    ) -> Verdict {
        let kept = self.law.observe(now, queue);
        self.average.arrive(kept, backlog);
        let chance = || self.rng.draw();
        match self.unit {
            Unit::Bytes => {
                let (waiting, size) = (backlog.bytes, arrival.size);
                self.law.judge_bytes(waiting, size, self.mean_size, chance)
            }
            Unit::Frames | Unit::Inner => self.law.judge(backlog.packets, chance),
        }
    }

    pub(super) fn average(&self) -> AverageQueue {
        self.average.of(&self.law)
    }

    /// Whether packets that were drawn are to be marked, where they can be.
    pub(super) fn marks(&self) -> bool {
        self.ecn && self.law.average() < self.last_mark
    }

    /// Whether ns-2 would find no room. In bytes an arrival may reach over the
    /// last one there [Ns2].
    pub(super) fn is_full_as_ns2(&self, backlog: Backlog) -> bool {
        match self.limit {
            Limit::Packets(most) => backlog.packets >= most,
            Limit::Bytes(most) => backlog.bytes >= most,
        }
    }

    fn admit_clean<P: Packet>(
        &mut self,
        verdict: Verdict,
        backlog: Backlog,
        packet: &mut P,
    ) -> Result<bool, Reason> {
        let marked = match verdict {
            Verdict::Pass => false,
            Verdict::Early if self.marks() && packet.mark() => true,
            Verdict::Early => return Err(Reason::Early),
            Verdict::Forced => return Err(Reason::Forced),
        };
        if !self.limit.admits(backlog, packet.view()) {
            self.law.full();
            return Err(Reason::Full);
        }
        Ok(marked)
    }

    fn admit_as_ns2<P: Packet>(
        &mut self,
        verdict: Verdict,
        backlog: Backlog,
        packet: &mut P,
    ) -> Result<bool, Reason> {
        if self.is_full_as_ns2(backlog) {
            self.law.full();
            return Err(Reason::Full);
        }
        match verdict {
            Verdict::Pass => Ok(false),
            _ if self.marks() && packet.mark() => Ok(true),
            _ => Err(Reason::Early),
        }
    }
}
