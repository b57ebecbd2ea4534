//! RED: random early detection [Floyd1993], and its adaptive kind.

mod admission;
mod keys;

use alloc::boxed::Box;

use units::{Bytes, Rate, Seed, Span, Time};

use crate::law::{self, Average, Curve, Profile, Spread, Verdict};
use crate::settings::Settings;
pub use admission::RedAdmission;
pub(crate) use keys::{RedKeys, in_packets};

use crate::{AverageQueue, Backlog, BadSpec, Discipline, Drops, Fifo, Limit, Packet, Reason};

/// In what the average and its thresholds count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Unit {
    /// Frames, a bundle counted once.
    Frames,
    /// Bytes of frames.
    Bytes,
    /// Packets of senders, those in bundles counted each.
    Inner,
}

/// Who is dropped or marked for an arrival that is one too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Victim {
    /// The arrival itself.
    Arriving,
    /// Who has waited longest [Lakshman1996].
    Front,
    /// Anyone, the arrival included.
    Random,
}

/// RED's parameters.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RedSettings {
    /// The limit of the queue.
    pub limit: Limit,
    /// The unit of the thresholds.
    pub unit: Unit,
    /// The probability over the average.
    pub curve: Curve,
    /// The weight of one arrival in the average, above 0 and at most 1.
    pub weight: f64,
    /// The size of packets on average, for ageing while the link rests.
    pub mean_size: Bytes,
    /// How drops are spread.
    pub spread: Spread,
    /// Whether the largest probability adapts [Floyd2001].
    pub adaptive: bool,
    /// Whether a packet that was drawn is marked, where it can be, instead of
    /// dropped. Beyond [`Curve::max`] it is dropped all the same [RFC3168 s7].
    pub ecn: bool,
    /// Who is dropped.
    pub victim: Victim,
    /// Whose RED it is.
    pub profile: Profile,
}

impl RedSettings {
    /// Thresholds of 5 and 15 frames, a weight of 0.002 and a probability of
    /// at most 0.1 [Floyd1997], gentle [Floyd2000]; the arriving packet goes.
    pub const fn new(limit: Limit, mean_size: Bytes) -> Self {
        Self {
            limit,
            unit: Unit::Frames,
            curve: Curve {
                min: 5.0,
                max: 15.0,
                max_probability: 0.1,
                gentle: true,
            },
            weight: 0.002,
            mean_size,
            spread: Spread::Uniform,
            adaptive: false,
            ecn: false,
            victim: Victim::Arriving,
            profile: Profile::Clean,
        }
    }

    /// The defaults of ns-2.35 [Ns2], except for the weight 0.0027 and the largest
    /// probability 0.1, which our runs of it use: frames, wait, gentle.
    pub const fn ns2(frames: u32, mean_size: Bytes) -> Self {
        Self {
            weight: 0.0027,
            spread: Spread::Wait,
            profile: Profile::Ns2,
            ..Self::new(Limit::Packets(frames), mean_size)
        }
    }

    /// Whether there can be such a queue.
    ///
    /// # Errors
    /// Where a parameter is out of its range.
    pub fn check(&self) -> Result<(), BadSpec> {
        BadSpec::check_limit(self.limit, self.mean_size)?;
        BadSpec::check_curve(&self.curve)?;
        BadSpec::check_average(self.weight, self.mean_size)
    }

    pub(crate) fn law(&self, rate: Rate) -> law::Red {
        let average = Average::new(self.weight, rate, self.mean_size);
        law::Red::new(
            average,
            self.curve,
            self.spread,
            self.adaptive,
            self.profile,
        )
    }
}

/// Adaptive RED that finds its parameters itself [Floyd2001 s5].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AdaptiveRedSettings {
    /// How much may wait.
    pub limit: Limit,
    /// The delay that the average queue aims at.
    pub target: Span,
    /// The size of packets on average.
    pub mean_size: Bytes,
    /// As [`RedSettings::ecn`].
    pub ecn: bool,
}

impl AdaptiveRedSettings {
    /// A target of 5 ms [Floyd2001 s5].
    pub const fn new(limit: Limit, mean_size: Bytes) -> Self {
        Self {
            limit,
            target: Span::from_millis(5),
            mean_size,
            ecn: false,
        }
    }

    /// The settings in front of a link of `rate`, with C the link's packets per
    /// second: weight 1 - exp(-1/C), min the larger of 5 and target x C/2,
    /// max three times that, both in frames [Floyd2001 s5].
    pub fn settings(&self, rate: Rate) -> RedSettings {
        let capacity = rate.bits_per_second() as f64 / self.mean_size.bits().max(1) as f64;
        let min = (self.target.as_secs_f64() * capacity / 2.0).max(5.0);
        let usual = RedSettings::new(self.limit, self.mean_size);
        RedSettings {
            curve: Curve {
                min,
                max: 3.0 * min,
                ..usual.curve
            },
            weight: -libm::expm1(-1.0 / capacity),
            adaptive: true,
            ecn: self.ecn,
            ..usual
        }
    }
}

impl Settings for RedSettings {
    fn limit(&self) -> Limit {
        self.limit
    }

    fn limit_mut(&mut self) -> &mut Limit {
        &mut self.limit
    }

    fn build<P: Packet + 'static>(
        &self,
        rate: Option<Rate>,
        seed: Seed,
    ) -> Result<Box<dyn Discipline<P>>, BadSpec> {
        let rate = rate.ok_or(BadSpec::NoRate("RED"))?;
        Ok(Box::new(Red::new(self, rate, seed)?))
    }
}

impl Settings for AdaptiveRedSettings {
    fn limit(&self) -> Limit {
        self.limit
    }

    fn limit_mut(&mut self) -> &mut Limit {
        &mut self.limit
    }

    fn build<P: Packet + 'static>(
        &self,
        rate: Option<Rate>,
        seed: Seed,
    ) -> Result<Box<dyn Discipline<P>>, BadSpec> {
        let rate = rate.ok_or(BadSpec::NoRate("adaptive RED"))?;
        if self.mean_size == Bytes::ZERO {
            return Err(BadSpec::Zero("mean_size"));
        }
        Ok(Box::new(Red::new(&self.settings(rate), rate, seed)?))
    }
}

/// First in, first out, with RED at admission.
#[derive(Debug)]
pub struct Red<P> {
    admission: RedAdmission,
    victim: Victim,
    fifo: Fifo<P>,
}

impl<P: Packet> Red<P> {
    /// An empty queue in front of a link of `rate`.
    ///
    /// # Errors
    /// Where a parameter is out of its range.
    pub fn new(settings: &RedSettings, rate: Rate, seed: Seed) -> Result<Self, BadSpec> {
        Ok(Self {
            admission: RedAdmission::new(settings, rate, seed)?,
            victim: settings.victim,
            fifo: Fifo::new(),
        })
    }

    /// The law, to look at its average.
    pub const fn law(&self) -> &law::Red {
        &self.admission.law
    }

    /// The length of the queue, in the unit of the thresholds.
    fn queue(&self) -> f64 {
        match self.admission.unit {
            Unit::Frames => self.fifo.len() as f64,
            Unit::Bytes => self.fifo.backlog().bytes.get() as f64,
            Unit::Inner => self.fifo.live() as f64,
        }
    }

    /// Before how many others the victim waits; as many as there are, if it is
    /// the arrival.
    fn place(&mut self) -> usize {
        match self.victim {
            Victim::Arriving => self.fifo.len(),
            Victim::Front => 0,
            Victim::Random => self.admission.rng.place(self.fifo.len()),
        }
    }

    /// Drops one; what is left of the arrival.
    fn mark_or_drop(&mut self, packet: P, reason: Reason, drops: &mut Drops<P>) -> Option<P> {
        let place = self.place();
        match self.fifo.remove(place) {
            Some(victim) => {
                drops.push(victim, reason);
                Some(packet)
            }
            None => {
                drops.push(packet, reason);
                None
            }
        }
    }

    /// Marks one if it can be, else drops it; what is left of the arrival.
    fn draw(&mut self, mut packet: P, drops: &mut Drops<P>) -> Option<P> {
        if self.admission.marks() {
            let place = self.place();
            if place < self.fifo.len() && self.fifo.mark(place)
                || place == self.fifo.len() && packet.mark()
            {
                return Some(packet);
            }
            // The one that was chosen is dropped, not another one.
            if let Some(victim) = self.fifo.remove(place) {
                drops.push(victim, Reason::Early);
                return Some(packet);
            }
            drops.push(packet, Reason::Early);
            return None;
        }
        self.mark_or_drop(packet, Reason::Early, drops)
    }

    fn enter(&mut self, packet: P, verdict: Verdict, drops: &mut Drops<P>) {
        let passed = match verdict {
            Verdict::Pass => Some(packet),
            Verdict::Early => self.draw(packet, drops),
            Verdict::Forced => self.mark_or_drop(packet, Reason::Forced, drops),
        };
        let Some(mut packet) = passed else { return };
        let arrival = packet.view();
        let limit = self.admission.limit;
        if !limit.admits(Backlog::default(), arrival) {
            self.admission.law.full();
            drops.push(packet, Reason::Full);
            return;
        }
        while !limit.admits(self.fifo.backlog(), arrival) {
            self.admission.law.full();
            match self.mark_or_drop(packet, Reason::Full, drops) {
                Some(left) => packet = left,
                None => return,
            }
        }
        self.fifo.push(packet);
    }

    /// As ns-2 does it: no room comes before everything, then the arrival goes
    /// in first and the victim out [Ns2].
    fn enter_as_ns2(&mut self, mut packet: P, verdict: Verdict, drops: &mut Drops<P>) {
        if self.admission.is_full_as_ns2(self.fifo.backlog()) {
            self.admission.law.full();
            self.fifo.push(packet);
            let last = self.fifo.len() - 1;
            let place = match self.victim {
                Victim::Arriving => last,
                Victim::Front => last.min(1),
                Victim::Random => self.admission.rng.place(last),
            };
            if let Some(victim) = self.fifo.remove(place) {
                drops.push(victim, Reason::Full);
            }
            return;
        }
        if verdict == Verdict::Pass || self.admission.marks() && packet.mark() {
            self.fifo.push(packet);
        } else {
            drops.push(packet, Reason::Early);
        }
    }
}

impl<P: Packet> Discipline<P> for Red<P> {
    fn enqueue(&mut self, now: Time, mut packet: P, drops: &mut Drops<P>) {
        let (backlog, queue) = (self.fifo.backlog(), self.queue());
        if self.victim == Victim::Arriving {
            match self.admission.admit(now, backlog, queue, &mut packet) {
                Ok(_) => self.fifo.push(packet),
                Err(reason) => drops.push(packet, reason),
            }
            return;
        }
        let rested = self.admission.law.is_idle();
        let verdict = self.admission.judge(now, backlog, queue, packet.view());
        match self.admission.profile {
            Profile::Clean => self.enter(packet, verdict, drops),
            Profile::Ns2 => self.enter_as_ns2(packet, verdict, drops),
        }
        if rested && self.fifo.is_empty() {
            // It was dropped, and the link rests on.
            self.admission.rest(now);
        }
    }

    fn dequeue(&mut self, now: Time, _drops: &mut Drops<P>) -> Option<P> {
        let packet = self.fifo.pop();
        if packet.is_none() {
            self.admission.rest(now);
        }
        packet
    }

    fn ready_at(&self) -> Option<Time> {
        (!self.fifo.is_empty()).then_some(Time::ZERO)
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }

    fn rest(&mut self, since: Time) {
        self.admission.rest(since);
    }

    fn average(&self) -> Option<AverageQueue> {
        Some(self.admission.average())
    }
}
