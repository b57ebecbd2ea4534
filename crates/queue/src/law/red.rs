//! RED: random early detection.

use units::{Bytes, Time};

use super::{Adaptation, Average, Curve, Spread};

/// Whose RED it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Profile {
    /// As published.
    #[default]
    Clean,
    /// As in ns-2.35 [Ns2], with what only that program does: the first
    /// arrival above `min` is never dropped, nor any that finds fewer than two
    /// packets waiting; the gentle slope does not follow an adapted largest
    /// probability; early drops take the arriving packet whatever the victim,
    /// and a drop from the front takes the second packet.
    Ns2,
}

/// RED's decision about an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may wait.
    Pass,
    /// It was drawn: to be marked or dropped.
    Early,
    /// The average is beyond all bounds: to be dropped.
    Forced,
}

/// RED without a queue: an average, a curve, a spread [Floyd1993 s4].
#[derive(Clone, Debug)]
pub struct Red {
    average: Average,
    curve: Curve,
    /// The curve that it began with.
    first: Curve,
    spread: Spread,
    adaptation: Option<Adaptation>,
    profile: Profile,
    /// Arrivals since the last drop, or since the average came over `min`.
    count: f64,
    /// The bytes of those arrivals.
    bytes: u64,
    /// Whether the latest arrival found the average over `min`.
    over: bool,
}

impl Red {
    /// The law with an average without samples. With `adaptive`, the
    /// largest probability follows [`Adaptation`].
    pub fn new(
        average: Average,
        curve: Curve,
        spread: Spread,
        adaptive: bool,
        profile: Profile,
    ) -> Self {
        Self {
            average,
            curve,
            first: curve,
            spread,
            adaptation: adaptive.then(Adaptation::default),
            profile,
            count: -1.0,
            bytes: 0,
            over: false,
        }
    }

    /// The average.
    pub const fn average(&self) -> f64 {
        self.average.value()
    }

    /// The largest probability, as adapted.
    pub const fn max_probability(&self) -> f64 {
        self.curve.max_probability
    }

    /// The probability at the average, before it is spread.
    pub fn probability(&self) -> f64 {
        self.curve.probability(self.average.value())
    }

    /// Where the average stands between the thresholds: from 0 at
    /// [`Curve::min`] to 1 at [`Curve::max`], and no more beyond.
    pub fn level(&self) -> f64 {
        let Curve { min, max, .. } = self.curve;
        ((self.average.value() - min) / (max - min)).clamp(0.0, 1.0)
    }

    /// Whether the link rests.
    pub const fn is_idle(&self) -> bool {
        self.average.is_idle()
    }

    /// The link rests since `since`.
    pub fn rest(&mut self, since: Time) {
        self.average.rest(since);
    }

    /// Whether arrivals that find nothing waiting leave the average at 0, pass, and change
    /// only what [`Red::passed`] does.
    pub(crate) fn is_unmoved_by_idle(&self) -> bool {
        self.adaptation.is_none() && self.average.value() == 0.0 && self.curve.min > 0.0
    }

    /// So many packets came and found nothing waiting while the law was unmoved by them.
    pub(crate) fn passed(&mut self, packets: u64) {
        self.average.wake_at_zero();
        match self.profile {
            Profile::Clean => self.count = -1.0,
            Profile::Ns2 => {
                self.count += packets as f64;
                self.over = false;
            }
        }
    }

    /// The average relative to [`Curve::max`].
    pub(crate) fn of_max(&self) -> f64 {
        self.average.value() / self.curve.max
    }

    /// The link has something to do, though nothing that this law counts.
    pub fn wake(&mut self, now: Time) {
        self.average.wake(now);
    }

    /// A packet came at `now` and found `queue` waiting, in the unit of the
    /// thresholds. Returns the share of the average that was left by the time for
    /// which the link rested.
    pub fn observe(&mut self, now: Time, queue: f64) -> f64 {
        let kept = self.average.arrive(now, queue);
        if let Some(adaptation) = &mut self.adaptation {
            let average = self.average.value();
            self.curve.max_probability = adaptation.adapt(now, average, &self.curve, self.profile);
        }
        kept
    }

    /// Decides about the packet that was observed; `waiting` packets are ahead
    /// of it, and `draw` is uniform in [0, 1).
    pub fn judge(&mut self, waiting: u32, draw: impl FnOnce() -> f64) -> Verdict {
        match self.profile {
            Profile::Clean => self.judge_clean(draw),
            Profile::Ns2 => self.judge_as_ns2(waiting > 1, None, draw),
        }
    }

    /// The same where the unit is bytes, of a packet of `size` among such of
    /// `mean_size` on average. The profile of ns-2 counts whole packets of the
    /// mean size since the last drop then, and larger packets are drawn more
    /// often [Ns2].
    pub fn judge_bytes(
        &mut self,
        waiting: Bytes,
        size: Bytes,
        mean_size: Bytes,
        draw: impl FnOnce() -> f64,
    ) -> Verdict {
        match self.profile {
            Profile::Clean => self.judge_clean(draw),
            Profile::Ns2 => {
                let waits = waiting > Bytes::new(1);
                self.judge_as_ns2(waits, Some((size, mean_size)), draw)
            }
        }
    }

    /// There was no room: a drop like any other to what is spread.
    pub fn full(&mut self) {
        self.count = 0.0;
        self.bytes = 0;
    }

    fn judge_clean(&mut self, draw: impl FnOnce() -> f64) -> Verdict {
        let average = self.average.value();
        if average < self.curve.min {
            self.count = -1.0;
            return Verdict::Pass;
        }
        if average >= self.curve.end() {
            self.count = 0.0;
            return Verdict::Forced;
        }
        self.count += 1.0;
        let share = self
            .spread
            .share(self.curve.probability(average), self.count);
        if draw() < share {
            self.count = 0.0;
            return Verdict::Early;
        }
        Verdict::Pass
    }

    fn judge_as_ns2(
        &mut self,
        waits: bool,
        sizes: Option<(Bytes, Bytes)>,
        draw: impl FnOnce() -> f64,
    ) -> Verdict {
        let size = sizes.map_or(0, |(size, _)| size.get());
        self.count += 1.0;
        self.bytes += size;
        let average = self.average.value();
        if average < self.curve.min || !waits {
            self.over = false;
            return Verdict::Pass;
        }
        if !self.over {
            self.over = true;
            self.count = 1.0;
            self.bytes = size;
            return Verdict::Pass;
        }
        let curve = if average < self.curve.max {
            &self.curve
        } else {
            &self.first
        };
        let probability = curve.probability(average);
        let share = match sizes {
            None => self.spread.share(probability, self.count),
            Some((size, mean)) => {
                let packets = self.bytes / mean.get().max(1);
                match self.spread.share(probability, packets as f64) {
                    share if share < 1.0 => share * size.get() as f64 / mean.get() as f64,
                    share => share,
                }
            }
        };
        if draw() <= share {
            self.count = 0.0;
            self.bytes = 0;
            return Verdict::Early;
        }
        Verdict::Pass
    }
}
