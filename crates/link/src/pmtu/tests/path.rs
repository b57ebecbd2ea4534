//! A path for discoveries: an MTU, routers that answer or not, and loss.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use units::{Bytes, IpVersion, Seed, Span, Time};

use crate::pmtu::{Discovery, Probe, ProbeTimer, Settings, State, TooBig};

/// A path in one direction, and the way of answers back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    pub(super) mtu: u64,
    /// The MTU that a router announces for larger packets; `None` if it stays silent.
    pub(super) announces: Option<u64>,
    /// The share of packets, and of answers, that are lost whatever their size.
    pub(super) loss: f64,
    /// The share of packets above a size that are lost in addition.
    pub(super) large_loss: Option<(u64, f64)>,
    pub(super) round_trip: Span,
}

impl Path {
    pub(super) fn silent(mtu: u64) -> Self {
        Self {
            mtu,
            announces: None,
            loss: 0.0,
            large_loss: None,
            round_trip: Span::from_millis(20),
        }
    }

    pub(super) fn answering(mtu: u64) -> Self {
        Self {
            announces: Some(mtu),
            ..Self::silent(mtu)
        }
    }
}

/// The settings of a diagnosis, which waits for round trips.
pub(super) fn quick(up_to: u64) -> Settings {
    Settings {
        probe_timer: ProbeTimer::FromRoundTrips {
            least: Span::from_millis(100),
            most: Span::from_secs(1),
        },
        verifies_announced: true,
        ..Settings::new(IpVersion::V6, up_to).unwrap()
    }
}

/// A discovery that has run over a path, and the time that it took.
pub(super) struct Run {
    pub(super) discovery: Discovery,
    pub(super) now: Time,
    rng: ChaCha8Rng,
}

impl Run {
    pub(super) fn new(settings: Settings, seed: u64) -> Self {
        let mut discovery = Discovery::new(settings, Seed::new(seed));
        discovery.connected(Time::ZERO);
        Self {
            discovery,
            now: Time::ZERO,
            rng: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// Runs until the search ends or connectivity is lost.
    #[track_caller]
    pub(super) fn until_settled(&mut self, path: &Path) -> &Self {
        for _ in 0..10_000 {
            match self.discovery.poll_probe(self.now) {
                Some(probe) => self.carry(path, probe),
                None if self.is_settled() => return self,
                None => self.now = self.discovery.poll_timeout().unwrap(),
            }
        }
        panic!("not settled: {:?}", self.discovery);
    }

    /// Sends data of the found size for a time, and doubts the size whenever some of the data
    /// of a second was lost. The sizes that were in use, in order.
    #[track_caller]
    pub(super) fn with_data(&mut self, path: &Path, lasts: Span) -> Vec<u64> {
        let end = self.now + lasts;
        let mut used: Vec<u64> = self.found().into_iter().collect();
        let mut next_doubt = self.now;
        while self.now < end {
            if next_doubt <= self.now {
                next_doubt = self.now + Span::from_secs(1);
                self.discovery.doubt(self.now);
            }
            match self.discovery.poll_probe(self.now) {
                Some(probe) => self.carry(path, probe),
                None => {
                    let next = self.discovery.poll_timeout().unwrap_or(end);
                    self.now = next.max(self.now).min(next_doubt);
                }
            }
            let found = self.found();
            if used.last().copied() != found {
                used.extend(found);
            }
        }
        used
    }

    fn is_settled(&self) -> bool {
        matches!(
            self.discovery.state(),
            State::SearchComplete | State::Disabled
        )
    }

    fn carry(&mut self, path: &Path, probe: Probe) {
        let large_loss = path.large_loss.filter(|&(size, _)| probe.size.get() > size);
        if self.rng.random_bool(path.loss)
            || large_loss.is_some_and(|(_, share)| self.rng.random_bool(share))
        {
            return;
        }
        let answered = self.now + path.round_trip;
        if probe.size.get() <= path.mtu {
            if !self.rng.random_bool(path.loss) {
                self.now = answered;
                self.discovery.acknowledged(probe.id, answered);
            }
        } else if let Some(announced) = path.announces {
            self.now = answered;
            self.discovery.too_big(TooBig {
                id: probe.id,
                quoted: probe.size,
                announced: Bytes::new(announced),
            });
        }
    }

    pub(super) fn found(&self) -> Option<u64> {
        self.discovery.path_mtu().map(|mtu| u64::from(mtu.get()))
    }
}

/// The result of a new discovery over a path.
pub(super) fn found(path: &Path, settings: Settings, seed: u64) -> Option<u64> {
    Run::new(settings, seed).until_settled(path).found()
}
