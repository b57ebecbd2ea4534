//! Reports of a gateway: what it counted, and what waits.

use std::collections::BTreeMap;

use crate::machine::{Counts, Traffic, Waiting};
use queue::{AverageQueue, Backlog};
use units::Span;

use super::{Gateway, Holds, InsideCounts};
use os::cpu_time::Process;
use os::error::Result;

/// The driver's counts for a peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerCounts {
    /// Packets in bundles that the kernel did not send.
    pub unsent: u64,
    /// Bundles for which it did not.
    pub unsent_bundles: u64,
    /// Errors of the path toward the peer, which routers or the peer's host sent.
    pub path_errors: u64,
    /// The largest packet that passes.
    pub path_mtu: u64,
    /// Whether bundles to it can be sealed; `None` if the peer's key is not known.
    pub has_key: Option<bool>,
}

/// A report of a gateway.
#[derive(Clone, Debug)]
pub struct Report {
    /// The names of the peers.
    pub names: Vec<String>,
    /// The counters of the gateway without I/O, since the start.
    pub counts: Counts,
    /// The packets that wait.
    pub waiting: Waiting,
    /// The backlog of the uplink, and the average on which its queue decides.
    pub uplink: Option<(Backlog, Option<AverageQueue>)>,
    /// The counters of each peer that the driver keeps.
    pub peers: Vec<PeerCounts>,
    /// The interfaces inside, each with the path of packets to it: `tun`, `packet` or
    /// `xdp`.
    pub paths: Vec<(String, &'static str)>,
    /// The counters of the path to the inside.
    pub inside: InsideCounts,
    /// Datagrams and frames from the core that the kernel dropped for lack of room; datagrams that
    /// it had joined count once.
    pub core_overrun: u64,
    /// Number of prefixes in the egress table.
    pub prefixes: usize,
    /// The time that packets waited in bundles, since the last report.
    pub holds: Holds,
    /// Processor time of the process since its start.
    pub cpu: Span,
    /// Problems since the last report.
    pub problems: Vec<String>,
}

/// The counters of configurations that were replaced.
#[derive(Debug, Default)]
pub(super) struct Past {
    /// Those of each peer, by its name; those of no peer have the empty name.
    peers: Vec<(String, Traffic, PeerCounts)>,
    /// ICMP errors, sent and withheld.
    errors: [u64; 2],
    /// Arrivals from the core that the kernel dropped.
    overrun: u64,
}

impl Gateway {
    /// The counters so far; hold times and problems start anew.
    ///
    /// # Errors
    /// If an interface has disappeared.
    pub fn report(&mut self) -> Result<Report> {
        self.hand_over();
        self.note_turn();
        let mut counts = self.core.counts().clone();
        let mut peers = self.peers.clone();
        for (number, counts) in peers.iter_mut().enumerate() {
            counts.has_key = self.core.has_key(number);
        }
        let names = self.configuration.names.iter().zip(0..);
        let numbers: BTreeMap<&String, usize> = match self.past.peers.is_empty() {
            true => BTreeMap::new(),
            false => names.collect(),
        };
        for (name, traffic, driver) in &self.past.peers {
            match numbers.get(name) {
                Some(number) => {
                    counts.peers[*number].add(traffic);
                    peers[*number].add(driver);
                }
                None => counts.other.add(traffic),
            }
        }
        let [errors, withheld] = self.past.errors;
        counts.errors += errors;
        counts.errors_withheld += withheld;
        Ok(Report {
            names: self.configuration.names.clone(),
            counts,
            waiting: self.core.waiting(),
            uplink: self.core.uplink(),
            peers,
            paths: self.inside.paths(),
            inside: self.inside.counts()?,
            core_overrun: self.past.overrun + self.sockets.overrun()?,
            prefixes: self.prefixes,
            holds: std::mem::take(&mut self.holds),
            cpu: Process::sample()?.cpu,
            problems: std::mem::take(&mut self.problems),
        })
    }

    /// The counters of a configuration that is to be replaced.
    pub(super) fn counted(&mut self) -> Result<Past> {
        let report = self.report()?;
        self.problems = report.problems;
        self.holds = report.holds;
        // Those of no peer hold what is known of peers that are no more.
        let other = (String::new(), report.counts.other, PeerCounts::default());
        let counts = report.counts.peers.into_iter().zip(report.peers);
        let named = report.names.into_iter().zip(counts);
        let named = named.map(|(name, (traffic, driver))| (name, traffic, driver));
        Ok(Past {
            peers: std::iter::once(other).chain(named).collect(),
            errors: [report.counts.errors, report.counts.errors_withheld],
            overrun: report.core_overrun,
        })
    }
}

impl PeerCounts {
    const fn add(&mut self, other: &Self) {
        self.unsent += other.unsent;
        self.unsent_bundles += other.unsent_bundles;
        self.path_errors += other.path_errors;
    }
}
