//! PIE: arrivals are dropped so that the delay comes to a target [RFC8033].

use alloc::boxed::Box;

use units::{Bytes, Rate, Seed, Span, Time};

use crate::keys::{Field, Keyed, Keys};
use crate::law::{self, PieGains};
use crate::rng::Rng;
use crate::settings::Settings;
use crate::{Backlog, BadSpec, Discipline, Drops, Fifo, Limit, Packet, Reason};

/// The shortest interval between two updates: a second of it has 100 000
/// updates. RFC 8033 updates every 15 ms [RFC8033 s4.2].
const SHORTEST_UPDATE: Span = Span::from_micros(10);

/// PIE's parameters.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PieSettings {
    /// How much may wait.
    pub limit: Limit,
    /// The delay that it aims at.
    pub target: Span,
    /// How often the probability moves.
    pub update: Span,
    /// For how long a burst passes unharmed; may be none.
    pub burst: Span,
    /// The weight of the distance from the target, 1/s.
    pub alpha: f64,
    /// The weight of the trend, 1/s.
    pub beta: f64,
    /// The size of packets on average; two of them are never too many.
    pub mean_size: Bytes,
    /// Whether drops are kept from clustering [RFC8033 s5.4].
    pub derandomise: bool,
    /// Up to which probability packets are marked, where they can be, instead
    /// of dropped [RFC8033 s5.1]; `None`: never.
    pub ecn: Option<f64>,
}

impl PieSettings {
    /// A target of 15 ms, moves every 15 ms, bursts of 150 ms, 0.125 and 1.25
    /// [RFC8033 s4], drops spread, no marks.
    pub const fn new(limit: Limit, mean_size: Bytes) -> Self {
        Self {
            limit,
            target: Span::from_millis(15),
            update: Span::from_millis(15),
            burst: Span::from_millis(150),
            alpha: 0.125,
            beta: 1.25,
            mean_size,
            derandomise: true,
            ecn: None,
        }
    }

    /// Whether there can be such a queue.
    ///
    /// # Errors
    /// Where it would hold nothing, a time is none, updates follow each other
    /// within less than 10 us, or a weight is no number from 0 on.
    pub fn check(&self) -> Result<(), BadSpec> {
        BadSpec::check_limit(self.limit, self.mean_size)?;
        BadSpec::check_span("target", self.target)?;
        if self.update < SHORTEST_UPDATE {
            return Err(BadSpec::Short("update", SHORTEST_UPDATE));
        }
        for (name, weight) in [("alpha", self.alpha), ("beta", self.beta)] {
            if !(weight >= 0.0 && weight.is_finite()) {
                return Err(BadSpec::Negative(name));
            }
        }
        BadSpec::check_probability("ecn", self.ecn.unwrap_or(0.0))
    }
}

impl Keyed for PieSettings {
    type Settings = Self;
    const NAME: &'static str = "pie";
    const ABOUT: &'static str = "Of `pie` [RFC8033].";

    fn usual(limit: Limit, largest: Bytes) -> Self {
        Self::new(limit, largest)
    }

    fn keys(&mut self, keys: &mut Keys<'_, '_>) {
        keys.key(
            "target",
            "The target of the queueing delay.",
            Field::Span(&mut self.target),
        );
        keys.key(
            "update",
            "Interval between updates of the probability, at least 10 us.",
            Field::Span(&mut self.update),
        );
        keys.key(
            "burst",
            "Length of a burst that passes without drops.",
            Field::Span(&mut self.burst),
        );
        keys.key(
            "alpha",
            "Weight of the deviation from `target`.",
            Field::Number(&mut self.alpha),
        );
        keys.key(
            "beta",
            "Weight of the delay's trend.",
            Field::Number(&mut self.beta),
        );
        keys.key(
            "mean_size",
            "Mean size of a packet.",
            Field::Size(&mut self.mean_size),
        );
        keys.key(
            "derandomise",
            "Whether very short and very long gaps between drops are avoided.",
            Field::Switch(&mut self.derandomise),
        );
        let mut ecn = self.ecn.unwrap_or(0.0);
        keys.key(
            "ecn_below",
            "Up to this probability ECN-capable packets are marked instead of dropped.",
            Field::Probability(&mut ecn),
        );
        self.ecn = (ecn > 0.0).then_some(ecn);
    }

    fn settings(self) -> Result<Self, BadSpec> {
        Ok(self)
    }
}

impl Settings for PieSettings {
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
        let rate = rate.ok_or(BadSpec::NoRate("PIE"))?;
        Ok(Box::new(Pie::new(self, rate, seed)?))
    }
}

/// First in, first out, with PIE at admission.
#[derive(Debug)]
pub struct Pie<P> {
    limit: Limit,
    mean_size: Bytes,
    ecn: Option<f64>,
    law: law::Pie,
    rng: Rng,
    fifo: Fifo<P>,
}

impl<P: Packet> Pie<P> {
    /// An empty queue in front of a link of `rate`; the delay is what waits,
    /// over that rate.
    ///
    /// # Errors
    /// Where a parameter is out of its range.
    pub fn new(settings: &PieSettings, rate: Rate, seed: Seed) -> Result<Self, BadSpec> {
        settings.check()?;
        let gains = PieGains {
            target: settings.target,
            update: settings.update,
            burst: settings.burst,
            alpha: settings.alpha,
            beta: settings.beta,
            derandomise: settings.derandomise,
        };
        Ok(Self {
            limit: settings.limit,
            mean_size: settings.mean_size,
            ecn: settings.ecn,
            law: law::Pie::new(gains, rate),
            rng: Rng::new(seed),
            fifo: Fifo::new(),
        })
    }

    /// The law, to look at its probability.
    pub const fn law(&self) -> &law::Pie {
        &self.law
    }
}

impl<P: Packet> Discipline<P> for Pie<P> {
    fn enqueue(&mut self, now: Time, mut packet: P, drops: &mut Drops<P>) {
        let backlog = self.fifo.backlog();
        self.law.advance(now, backlog.bytes);
        if !self.limit.admits(backlog, packet.view()) {
            self.law.full();
            return drops.push(packet, Reason::Full);
        }
        let picked = self
            .law
            .picks(backlog.bytes, self.mean_size, || self.rng.draw());
        if picked {
            let markable = self.ecn.is_some_and(|most| self.law.probability() <= most);
            if !(markable && packet.mark()) {
                return drops.push(packet, Reason::Early);
            }
        }
        self.fifo.push(packet);
    }

    fn dequeue(&mut self, now: Time, _drops: &mut Drops<P>) -> Option<P> {
        self.law.advance(now, self.fifo.backlog().bytes);
        self.fifo.pop()
    }

    fn ready_at(&self) -> Option<Time> {
        (!self.fifo.is_empty()).then_some(Time::ZERO)
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }
}
