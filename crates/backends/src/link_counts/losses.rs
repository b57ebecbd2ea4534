//! Attributes losses in front of a link to flows, finds simultaneous losses,
//! and measures when senders repair them.

use std::collections::{BTreeMap, BTreeSet};

use plan::{evidence, metric, setting as spec};

use crate::measurements::Measurements;

/// Times and times are in picoseconds.
const PER_MILLISECOND: f64 = 1e9;

/// A packet in front of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attributed {
    /// The number of its flow, counting copies.
    pub(crate) flow: usize,
    /// Data of a connection, which would be sent again: the first number of the sequence,
    /// and how many there are.
    pub(crate) data: Option<(u64, u64)>,
}

/// The state of the loss analysis.
pub(crate) struct Losses {
    from: u64,
    to: u64,
    epoch: u64,
    /// The group of equal flows, by flow number of the scenario.
    group: Vec<usize>,
    groups: Vec<Group>,
    /// Connections that sent data through the link.
    connections: BTreeMap<usize, Connection>,
    congestion: Congestion,
    /// The recovery times of senders: sum and number.
    notices: (f64, u32),
}

/// A group of equal flows.
struct Group {
    name: String,
    arrivals: u64,
    drops: u64,
}

#[derive(Default)]
struct Connection {
    timeouts: u64,
    /// The first dropped segment that has not been repeated: its number and the
    /// time of the drop.
    missed: Option<(u64, u64)>,
}

/// Congestion epochs, each of fixed length from its first loss.
#[derive(Default)]
struct Congestion {
    ends: u64,
    losers: BTreeSet<usize>,
    /// The number of epochs, and the total number of losers over them.
    epochs: u32,
    lost_together: usize,
}

impl Losses {
    /// The initial state for `flows`.
    pub(crate) fn new(losses: spec::Losses, flows: &[spec::Flow]) -> Self {
        let places = flows.iter().enumerate();
        let places =
            places.flat_map(|(place, flow)| std::iter::repeat_n(place, flow.count as usize));
        Self {
            from: losses.from.as_picos(),
            to: losses.to.as_picos(),
            epoch: losses.epoch.as_picos(),
            group: places.collect(),
            groups: flows
                .iter()
                .map(|flow| Group {
                    name: flow.name.clone(),
                    arrivals: 0,
                    drops: 0,
                })
                .collect(),
            connections: BTreeMap::new(),
            congestion: Congestion::default(),
            notices: (0.0, 0),
        }
    }

    /// Records the arrival of a packet at the link.
    pub(crate) fn came(&mut self, at: u64, packet: Attributed) {
        if !self.has(at) {
            return;
        }
        if let Some(group) = self.group_of(packet.flow) {
            group.arrivals += 1;
        }
        let Some((first, count)) = packet.data else {
            return;
        };
        let connection = self.connections.entry(packet.flow).or_default();
        if let Some((sequence, since)) = connection.missed
            && (first..first + count).contains(&sequence)
        {
            connection.missed = None;
            self.notices.0 += millis(at - since);
            self.notices.1 += 1;
        }
    }

    /// Records a packet dropped by the link's queue.
    pub(crate) fn dropped(&mut self, at: u64, packet: Attributed) {
        if !self.has(at) {
            return;
        }
        if let Some(group) = self.group_of(packet.flow) {
            group.drops += 1;
        }
        let Some((first, _)) = packet.data else {
            return;
        };
        let connection = self.connections.entry(packet.flow).or_default();
        connection.missed.get_or_insert((first, at));
        let congestion = &mut self.congestion;
        if at >= congestion.ends {
            congestion.ends = at + self.epoch;
            congestion.epochs += 1;
            congestion.losers.clear();
        }
        if congestion.losers.insert(packet.flow) {
            congestion.lost_together += 1;
        }
    }

    /// Records an action of a flow's sender with its number of timeouts so far.
    /// Retransmissions after a timeout say nothing about the time when it
    /// learnt of a loss.
    pub(crate) fn acted(&mut self, flow: usize, timeouts: u64) {
        let Some(connection) = self.connections.get_mut(&flow) else {
            return;
        };
        if timeouts > connection.timeouts {
            *connection = Connection {
                timeouts,
                missed: None,
            };
        }
    }

    /// Adds the results to `measurements`.
    pub(crate) fn put(&self, measurements: &mut Measurements) {
        measurements.put(&metric::DROP_BIAS, self.bias());
        let congestion = &self.congestion;
        let connections = self.connections.len();
        let together = (congestion.epochs > 0 && connections > 0).then(|| {
            100.0 * count(congestion.lost_together)
                / f64::from(congestion.epochs)
                / count(connections)
        });
        measurements.put(&metric::SYNCHRONISATION, together);
        let (sum, number) = self.notices;
        measurements.put(
            &metric::NOTICE,
            (number > 0).then(|| sum / f64::from(number)),
        );
        let flows = self.groups.iter();
        let flows = flows.map(|group| (group.name.clone(), [group.arrivals, group.drops]));
        measurements.note(
            evidence::LOSSES,
            evidence::Losses {
                flows: flows.collect(),
                epochs: congestion.epochs,
                noticed: number,
            },
        );
    }

    /// Half the sum over flows of |share of drops - share of arrivals|, in per
    /// cent.
    fn bias(&self) -> Option<f64> {
        let arrivals: u64 = self.groups.iter().map(|group| group.arrivals).sum();
        let drops: u64 = self.groups.iter().map(|group| group.drops).sum();
        let apart = self.groups.iter().map(|group| {
            let of_arrivals = group.arrivals as f64 / arrivals as f64;
            (group.drops as f64 / drops as f64 - of_arrivals).abs()
        });
        (drops > 0 && arrivals > 0).then(|| 50.0 * apart.sum::<f64>())
    }

    const fn has(&self, at: u64) -> bool {
        self.from <= at && at < self.to
    }

    fn group_of(&mut self, flow: usize) -> Option<&mut Group> {
        self.groups.get_mut(*self.group.get(flow)?)
    }
}

fn millis(picos: u64) -> f64 {
    picos as f64 / PER_MILLISECOND
}

const fn count(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests;
