//! Searches for the largest size, by [`Discovery`].

use units::{IpMtu, Seed, Span, Time};

use super::kind::Kind;
use super::{BadSettings, Settings};
use link::pmtu::{self, Discovery, Limit, ProbeTimer, State, TooBig};

/// How often a search begins anew after an interruption of the path.
const MOST_RESTARTS: u32 = 2;

/// The share of the accepted false alarms that one search may cause. What a search
/// excludes is probed again by questions, which refute most of its errors.
const FALSE_ALARM: f64 = 0.5;

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The largest size that passed.
    pub(super) mtu: u32,
    /// The smallest size that does not, and whether a router said so.
    pub(super) fails: Option<(u32, bool)>,
}

/// One search.
#[derive(Debug)]
pub(super) struct Search {
    kind: Kind,
    discovery: Discovery,
    restarts: u32,
}

/// All searches of an investigation.
#[derive(Debug, Default)]
pub(super) struct Searches {
    all: Vec<((u32, Kind), Search)>,
}

impl Searches {
    /// The search of this round by packets of this kind and at most its size.
    pub(super) fn position(&self, round: u32, kind: Kind) -> Option<usize> {
        self.all.iter().position(|(key, _)| *key == (round, kind))
    }

    pub(super) fn get(&self, index: usize) -> Option<&Search> {
        self.all.get(index).map(|(_, search)| search)
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut Search> {
        self.all.get_mut(index).map(|(_, search)| search)
    }

    /// Begins the search of this round by packets of this kind.
    pub(super) fn begin(
        &mut self,
        round: u32,
        kind: Kind,
        settings: &Settings,
        timeout: Span,
        seed: Seed,
    ) {
        let seed = seed.with(self.all.len() as u64);
        if let Ok(discovery) = discovery(kind.size, settings, timeout) {
            let mut discovery = Discovery::new(discovery, seed);
            discovery.connected(Time::ZERO);
            let search = Search {
                kind,
                discovery,
                restarts: 0,
            };
            self.all.push(((round, kind), search));
        }
    }
}

/// The settings of a discovery up to `up_to`, whose probes have an answer within `timeout`
/// as far as is known.
pub(super) fn discovery(
    up_to: u32,
    settings: &Settings,
    timeout: Span,
) -> Result<pmtu::Settings, BadSettings> {
    let version = settings.version();
    // A size below the base needs a smaller base.
    let standard = pmtu::Settings::new(version, u64::from(up_to)).or_else(|error| {
        let small = IpMtu::new(u64::from(up_to), version).map_err(|_| error)?;
        let standard = pmtu::Settings::new(version, u64::from(IpMtu::LARGEST))?;
        Ok::<_, pmtu::BadSettings>(pmtu::Settings {
            base: small,
            up_to: small,
            ..standard
        })
    })?;
    Ok(pmtu::Settings {
        false_alarm: settings.false_alarm * FALSE_ALARM,
        ordinary_loss: settings.ordinary_loss,
        probe_timer: ProbeTimer::FromRoundTrips {
            least: settings.least_timeout,
            most: settings.most_timeout.min(timeout + timeout),
        },
        verifies_announced: true,
        ..standard
    })
}

impl Search {
    /// The result; `None` while it runs, and if nothing passed.
    pub(super) fn found(&self) -> Option<Found> {
        let limit = self.discovery.limit()?;
        let mtu = self.discovery.path_mtu()?.get();
        let fails = match limit {
            Limit::Asked => None,
            Limit::Vanish(size) | Limit::Lossy(size) => Some((size.get(), false)),
            Limit::Rejected(size) => Some((size.get(), true)),
        };
        Some(Found { mtu, fails })
    }

    /// Whether it has ended, with a result or without.
    pub(super) fn has_ended(&self) -> bool {
        match self.discovery.state() {
            State::SearchComplete => true,
            State::Disabled => self.restarts >= MOST_RESTARTS,
            State::Base | State::Searching | State::Error => false,
        }
    }

    /// The next probe: its kind, and its identifier in the search. `loss` is the loss of
    /// packets of any size.
    pub(super) fn poll_probe(&mut self, now: Time, loss: f64) -> Option<(Kind, u64)> {
        self.discovery.assume_loss(loss);
        let mut probe = self.discovery.poll_probe(now);
        while self.discovery.state() == State::Disabled && !self.has_ended() {
            self.restarts += 1;
            self.discovery.connected(now);
            probe = self.discovery.poll_probe(now);
        }
        let probe = probe?;
        let size = u32::try_from(probe.size.get()).ok()?;
        Some((self.kind.with_size(size), probe.id))
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        self.discovery.poll_timeout()
    }

    pub(super) fn acknowledged(&mut self, id: u64, now: Time) {
        self.discovery.acknowledged(id, now);
    }

    pub(super) fn too_big(&mut self, message: TooBig) {
        self.discovery.too_big(message);
    }

    /// The largest size confirmed so far.
    pub(super) fn confirmed(&self) -> Option<u32> {
        self.discovery.path_mtu().map(IpMtu::get)
    }
}
