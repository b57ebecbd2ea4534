//! RIO: RED with two drop precedences [Clark1998].

use alloc::boxed::Box;

use units::{Bytes, Rate, Seed, Time};

use crate::keys::{Field, Keyed, Keys};
use crate::law::{self, Average, AverageBacklog, Curve, Profile, Spread, Verdict};
use crate::rng::Rng;
use crate::settings::Settings;
use crate::{AverageQueue, Backlog, BadSpec, Discipline, Drops, Fifo, Limit, Packet, Reason};

/// RIO's parameters. Thresholds are in frames.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RioSettings {
    /// The limit of the queue.
    pub limit: Limit,
    /// For packets inside of their profile (precedence 0), over the average of
    /// such packets.
    pub inside: Curve,
    /// For all others, over the average of all packets.
    pub outside: Curve,
    /// The weight of one arrival in the averages, above 0 and at most 1.
    pub weight: f64,
    /// The size of packets on average, for ageing while the link rests.
    pub mean_size: Bytes,
    /// How drops are spread.
    pub spread: Spread,
    /// Whether a packet that was drawn is marked, where it can be, instead of
    /// dropped; beyond the curve's max it is dropped [RFC3168 s7].
    pub ecn: bool,
}

impl RioSettings {
    /// 40, 70 and 0.02 for those inside, 10, 30 and 0.5 for those outside, in
    /// the manner of [Clark1998], with a weight of 0.002 [Floyd1993 s6].
    pub const fn new(limit: Limit, mean_size: Bytes) -> Self {
        Self {
            limit,
            inside: Curve {
                min: 40.0,
                max: 70.0,
                max_probability: 0.02,
                gentle: false,
            },
            outside: Curve {
                min: 10.0,
                max: 30.0,
                max_probability: 0.5,
                gentle: false,
            },
            weight: 0.002,
            mean_size,
            spread: Spread::Uniform,
            ecn: false,
        }
    }

    /// Whether there can be such a queue.
    ///
    /// # Errors
    /// Where a parameter is out of its range.
    pub fn check(&self) -> Result<(), BadSpec> {
        BadSpec::check_limit(self.limit, self.mean_size)?;
        BadSpec::check_curve(&self.inside)?;
        BadSpec::check_curve(&self.outside)?;
        BadSpec::check_average(self.weight, self.mean_size)
    }
}

impl Keyed for RioSettings {
    type Settings = Self;
    const NAME: &'static str = "rio";
    const ABOUT: &'static str = "Of `rio` [Clark1998]: two REDs, by drop precedence.";

    fn usual(limit: Limit, largest: Bytes) -> Self {
        Self::new(limit, largest)
    }

    fn keys(&mut self, keys: &mut Keys<'_, '_>) {
        keys.key(
            "inside_min",
            "`min` for the average of packets inside their profile.",
            Field::Frames(&mut self.inside.min),
        );
        keys.key(
            "inside_max",
            "`max` for this average.",
            Field::Frames(&mut self.inside.max),
        );
        keys.key(
            "inside_max_probability",
            "`max_probability` for this average.",
            Field::Probability(&mut self.inside.max_probability),
        );
        keys.key(
            "outside_min",
            "`min` for the average of all packets.",
            Field::Frames(&mut self.outside.min),
        );
        keys.key(
            "outside_max",
            "`max` for this average.",
            Field::Frames(&mut self.outside.max),
        );
        keys.key(
            "outside_max_probability",
            "`max_probability` for this average.",
            Field::Probability(&mut self.outside.max_probability),
        );
        keys.key(
            "gentle",
            "As of `red`.",
            Field::Switch(&mut self.inside.gentle),
        );
        self.outside.gentle = self.inside.gentle;
        keys.key("weight", "As of `red`.", Field::Weight(&mut self.weight));
        keys.key(
            "mean_size",
            "As of `red`.",
            Field::Size(&mut self.mean_size),
        );
        keys.key(
            "drop_spacing",
            "As of `red`.",
            Field::Word(&mut self.spread),
        );
        keys.key("ecn", "As of `red`.", Field::Switch(&mut self.ecn));
    }

    fn settings(self) -> Result<Self, BadSpec> {
        Ok(self)
    }
}

impl Settings for RioSettings {
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
        let rate = rate.ok_or(BadSpec::NoRate("RIO"))?;
        Ok(Box::new(Rio::new(self, rate, seed)?))
    }
}

/// First in, first out; who is outside of its profile is dropped sooner.
#[derive(Debug)]
pub struct Rio<P> {
    limit: Limit,
    ecn: bool,
    inside: Side,
    outside: Side,
    average: AverageBacklog,
    rng: Rng,
    fifo: Fifo<P>,
    /// Packets that wait and are inside of their profile.
    waiting_inside: usize,
}

/// A law, and the average up to which it marks.
#[derive(Debug)]
struct Side {
    law: law::Red,
    last_mark: f64,
}

impl<P: Packet> Rio<P> {
    /// An empty queue in front of a link of `rate`.
    ///
    /// # Errors
    /// Where a parameter is out of its range.
    pub fn new(settings: &RioSettings, rate: Rate, seed: Seed) -> Result<Self, BadSpec> {
        settings.check()?;
        let side = |curve: Curve| {
            let average = Average::new(settings.weight, rate, settings.mean_size);
            Side {
                law: law::Red::new(average, curve, settings.spread, false, Profile::Clean),
                last_mark: curve.max,
            }
        };
        Ok(Self {
            limit: settings.limit,
            ecn: settings.ecn,
            inside: side(settings.inside),
            outside: side(settings.outside),
            average: AverageBacklog::new(settings.weight),
            rng: Rng::new(seed),
            fifo: Fifo::new(),
            waiting_inside: 0,
        })
    }

    /// Puts the packet in, unless the law or the limit is against it.
    fn enter(&mut self, inside: bool, mut packet: P, drops: &mut Drops<P>) {
        let side = if inside {
            &mut self.inside
        } else {
            &mut self.outside
        };
        let markable = self.ecn && side.law.average() < side.last_mark;
        match side
            .law
            .judge(self.fifo.backlog().packets, || self.rng.draw())
        {
            Verdict::Forced => return drops.push(packet, Reason::Forced),
            Verdict::Early if !(markable && packet.mark()) => {
                return drops.push(packet, Reason::Early);
            }
            Verdict::Early | Verdict::Pass => {}
        }
        if !self.limit.admits(self.fifo.backlog(), packet.view()) {
            side.law.full();
            return drops.push(packet, Reason::Full);
        }
        self.waiting_inside += usize::from(inside);
        self.fifo.push(packet);
    }
}

impl<P: Packet> Discipline<P> for Rio<P> {
    fn enqueue(&mut self, now: Time, packet: P, drops: &mut Drops<P>) {
        let rested = self.outside.law.is_idle();
        let inside = is_inside(&packet);
        let kept = self.outside.law.observe(now, self.fifo.len() as f64);
        self.average.arrive(kept, self.fifo.backlog());
        if inside {
            self.inside.law.observe(now, self.waiting_inside as f64);
        } else {
            self.inside.law.wake(now);
        }
        self.enter(inside, packet, drops);
        if rested && self.fifo.is_empty() {
            // It was dropped, and the link rests on.
            self.rest(now);
        }
    }

    fn dequeue(&mut self, now: Time, _drops: &mut Drops<P>) -> Option<P> {
        let Some(packet) = self.fifo.pop() else {
            self.rest(now);
            return None;
        };
        self.waiting_inside -= usize::from(is_inside(&packet));
        Some(packet)
    }

    fn ready_at(&self) -> Option<Time> {
        (!self.fifo.is_empty()).then_some(Time::ZERO)
    }

    fn average(&self) -> Option<AverageQueue> {
        Some(self.average.of(&self.outside.law))
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }

    fn rest(&mut self, since: Time) {
        self.inside.law.rest(since);
        self.outside.law.rest(since);
    }
}

fn is_inside<P: Packet>(packet: &P) -> bool {
    packet.view().precedence == 0
}
