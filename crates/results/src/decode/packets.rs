//! The packets of logs, one a row, in the order of arrival.
//!
//! Several logs give one table. If one is of a flow's sender and another one of its receiver,
//! the table has a row for each packet of the sender that never arrived. Such a row stands
//! before the first packet that was sent later and arrived. It is read from the sender's log,
//! which is read up to the time at which the packet was sent that arrives next: that is a time
//! of the sender's clock in both logs, so the clocks need not agree.

mod ditg;
mod row;
mod undecided;

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use meter::streaming_recorder::{ArrivalClass, OrderRecorder};
use wire::log::{Facts, Role};

use super::ditg_log::DAY;
use super::known::Known;
use super::merger::Waiting;
use super::reading::{Reading, Unanswered};
use crate::table;
use row::Packet;
pub use row::{PacketRows, TimeOrigin};
use undecided::Undecided;

/// The rows that are made at once.
pub(crate) const CHUNK: usize = 1 << 16;

/// The packets of logs, which are read while rows are taken.
pub struct Packets {
    logs: Vec<Log>,
    /// The time of the next record of each log, in nanoseconds of the table, and the log.
    next: BTreeSet<(i64, usize)>,
    undecided: Undecided,
}

/// A log.
struct Log {
    name: String,
    title: String,
    reading: Reading,
    known: Known,
    /// The records that were read, with the index of their flow.
    ready: VecDeque<(usize, Waiting)>,
    /// The flows by their index in `known`.
    flows: Vec<FlowPackets>,
    /// The time of the table at the zero of the log's clock.
    zero: i128,
}

/// The state of a flow.
struct FlowPackets {
    number: u32,
    name: Option<String>,
    /// The same flow in the log of the other end.
    peer: Option<Place>,
    order: OrderRecorder,
    /// One more than the highest number that arrived.
    end: u64,
}

/// The indices of a log and of a flow in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    log: usize,
    flow: usize,
}

impl Packets {
    /// Opens logs, and reads them for the first time. `watch` receives the bytes read so far and
    /// the total of the log that is read.
    ///
    /// # Errors
    /// A log cannot be read, or the logs do not fit together.
    pub fn open(paths: &[PathBuf], watch: &mut dyn FnMut(u64, u64)) -> Result<Self> {
        let logs = paths
            .iter()
            .map(|path| Log::open(path, watch).with_context(|| path.display().to_string()));
        let mut packets = Self {
            logs: logs.collect::<Result<_>>()?,
            next: BTreeSet::new(),
            undecided: Undecided::default(),
        };
        packets.compare_dates()?;
        packets.pair()?;
        for log in 0..packets.logs.len() {
            // The log of a sender follows those of its receivers.
            if !packets.logs[log].follows() {
                packets.advance(log, watch)?;
            }
        }
        Ok(packets)
    }

    /// The next rows, at most as many as are made at once; `None` at the end.
    ///
    /// # Errors
    /// A log cannot be read.
    pub fn next(&mut self, watch: &mut dyn FnMut(u64, u64)) -> Result<Option<PacketRows<'_>>> {
        let mut rows = Vec::new();
        loop {
            self.undecided.release(&mut rows);
            if rows.len() >= CHUNK {
                break;
            }
            if self.undecided.is_full() {
                self.undecided.give_up(|packet| outcome(&self.logs, packet));
            } else if let Some((_, log)) = self.next.first().copied() {
                self.step(log, &mut rows, watch)?;
            } else if !self.follow_to_the_end(watch)? {
                if self.undecided.is_empty() {
                    break;
                }
                self.undecided.give_up(|packet| outcome(&self.logs, packet));
            }
        }
        Ok((!rows.is_empty()).then(|| PacketRows::new(&self.logs, rows)))
    }

    /// Takes the next record of a log, or one that its sender made before it.
    fn step(
        &mut self,
        log: usize,
        rows: &mut Vec<Packet>,
        watch: &mut dyn FnMut(u64, u64),
    ) -> Result<()> {
        let role = self.logs[log].known.role();
        let front = self.logs[log].ready.front();
        let (flow, record) = *front.expect("a log in the order of time has a record");
        let peer = self.logs[log].flows[flow].peer;
        if let Some(sender) = peer.filter(|_| role == Role::Receiver) {
            let open = &mut self.logs[sender.log];
            open.fill(watch)?;
            let next = open
                .ready
                .pop_front_if(|(_, sent)| sent.sent <= record.sent);
            if let Some((flow, sent)) = next {
                let log = sender.log;
                self.departed(Place { log, flow }, &sent, rows);
                return Ok(());
            }
        }
        self.next.pop_first();
        self.logs[log].ready.pop_front();
        match role {
            Role::Sender => self.departed(Place { log, flow }, &record, rows),
            Role::Receiver | Role::RoundTrip => self.arrived(Place { log, flow }, &record, rows),
        }
        self.advance(log, watch)
    }

    /// Writes all rows to a Parquet file at `path`, atomically, and passes them to `each`.
    ///
    /// # Errors
    /// A log cannot be read, the file cannot be written, or those of `each`.
    pub fn write_parquet(
        &mut self,
        path: &Path,
        each: &mut dyn FnMut(&PacketRows<'_>) -> Result<()>,
        watch: &mut dyn FnMut(u64, u64),
    ) -> Result<()> {
        let fields = PacketRows::new(&[], Vec::new()).columns();
        table::write_groups(path, &fields, &mut || {
            let Some(rows) = self.next(watch)? else {
                return Ok(None);
            };
            each(&rows)?;
            Ok(Some(rows.columns()))
        })
    }

    /// What each log is, in one line.
    pub fn titles(&self) -> impl Iterator<Item = &str> {
        self.logs.iter().map(|log| log.title.as_str())
    }

    /// The zero of the times in text.
    pub fn origin(&self) -> TimeOrigin {
        let walls = self.logs.iter().filter_map(Log::wall);
        TimeOrigin(walls.min().unwrap_or_default())
    }

    /// Descriptions of damage to the files, in one line each, and whether a file changed while it
    /// was read.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn complaints(&self) -> Result<Vec<(String, bool)>> {
        let mut complaints = Vec::new();
        for log in &self.logs {
            let (complaint, has_changed) = log.reading.complaint()?;
            complaints.extend(complaint.map(|complaint| (complaint, has_changed)));
        }
        Ok(complaints)
    }

    /// Rejects logs with a date and without one in a table.
    fn compare_dates(&self) -> Result<()> {
        let dated = self.logs.iter().find(|log| log.wall().is_some());
        let undated = self.logs.iter().find(|log| log.wall().is_none());
        if let (Some(dated), Some(undated)) = (dated, undated) {
            bail!(
                "{} has no date and {} has one, so they have no common order; decode them by \
                 themselves",
                undated.name,
                dated.name
            );
        }
        Ok(())
    }

    /// Finds the flows of which there are logs of both ends. A flow has its number, its
    /// destination port, its name and its protocol at both.
    fn pair(&mut self) -> Result<()> {
        for log in 0..self.logs.len() {
            for flow in 0..self.logs[log].flows.len() {
                let sender = Place { log, flow };
                let Some(key) = self.key(sender, Role::Sender) else {
                    continue;
                };
                let places = self.logs.iter().enumerate().flat_map(|(log, found)| {
                    (0..found.flows.len()).map(move |flow| Place { log, flow })
                });
                let receiver = places
                    .clone()
                    .filter(|place| self.key(*place, Role::Receiver) == Some(key));
                let [receiver] = receiver.collect::<Vec<_>>()[..] else {
                    continue;
                };
                if let Some(other) = self.logs[receiver.log].flows[receiver.flow].peer {
                    bail!(
                        "{} and {} both have the departures of flow {} in {}; leave one of them out",
                        self.logs[other.log].name,
                        self.logs[log].name,
                        self.logs[log].flows[flow].number,
                        self.logs[receiver.log].name
                    );
                }
                self.logs[log].flows[flow].peer = Some(receiver);
                self.logs[receiver.log].flows[receiver.flow].peer = Some(sender);
            }
        }
        Ok(())
    }

    /// What a flow has in common at both ends; `None` in the log of another role.
    fn key(&self, place: Place, role: Role) -> Option<(u32, &str, u8, [u16; 2])> {
        let known = &self.logs[place.log].known;
        let flow = known.flow(place.flow).flow.as_ref();
        let flow = flow.filter(|_| known.role() == role)?;
        // Several senders of D-ITG give their flows the same numbers.
        let source = match flow.protocol {
            0 => flow.source.port(),
            _ => 0,
        };
        let ports = [source, flow.destination.port()];
        Some((flow.number, &flow.name, flow.protocol, ports))
    }

    /// Reads a log on until it has a record, and notes its time.
    fn advance(&mut self, log: usize, watch: &mut dyn FnMut(u64, u64)) -> Result<()> {
        let open = &mut self.logs[log];
        open.fill(watch)?;
        if let Some((_, record)) = open.ready.front() {
            self.next.insert((open.time(record.at), log));
        }
        Ok(())
    }

    /// Goes on with what senders sent after the last arrival; returns whether there is any.
    fn follow_to_the_end(&mut self, watch: &mut dyn FnMut(u64, u64)) -> Result<bool> {
        for log in 0..self.logs.len() {
            if self.logs[log].follows() {
                self.advance(log, watch)?;
            }
        }
        Ok(!self.next.is_empty())
    }

    /// Adds a packet of a sender's log.
    fn departed(&mut self, place: Place, record: &Waiting, rows: &mut Vec<Packet>) {
        let log = &self.logs[place.log];
        let mut packet = Packet::new(place, record);
        let Some(peer) = log.flows[place.flow].peer else {
            packet.sent = log.time(record.sent);
            return self.undecided.push(packet, rows);
        };
        let receiver = &self.logs[peer.log];
        let offset = receiver.known.flow(peer.flow).offset.when(record.sent);
        packet.sent = receiver.time(record.sent.saturating_add_signed(offset));
        // Its arrival is in front of it if its time of sending in this log is later.
        if !receiver.flows[peer.flow].order.has(record.sequence) {
            self.undecided.wait(peer, packet);
        }
    }

    /// Adds a packet of a receiver's log, or of one of round trips.
    fn arrived(&mut self, place: Place, record: &Waiting, rows: &mut Vec<Packet>) {
        let log = &mut self.logs[place.log];
        let mut packet = Packet::new(place, record);
        let offset = match log.known.role() {
            Role::Receiver => log.known.flow(place.flow).offset.when(record.at),
            Role::Sender | Role::RoundTrip => 0,
        };
        packet.sent = log.time(record.sent.saturating_add_signed(offset));
        if record.is_unanswered {
            packet.lost = Some(true);
            return self.undecided.push(packet, rows);
        }
        if record.arrived {
            let received = log.time(record.at);
            packet.received = Some(received);
            let delay = received.saturating_sub(packet.sent);
            packet.delay = (!record.is_untimed).then_some(delay);
        }
        let flow = &mut log.flows[place.flow];
        let class = flow.order.record(record.sequence);
        flow.end = record.sequence.saturating_add(1).max(flow.end);
        packet.lost = Some(false);
        packet.late = Some(class == ArrivalClass::Late);
        packet.duplicate = Some(class == ArrivalClass::Duplicate);
        if flow.peer.is_some() {
            self.undecided.arrived(place, record.sequence);
        }
        self.undecided.push(packet, rows);
    }
}

impl Log {
    fn open(path: &Path, watch: &mut dyn FnMut(u64, u64)) -> Result<Self> {
        let (reading, known) = Reading::begin(path, Unanswered::Keep, watch)?;
        let name = path.display().to_string();
        let title = reading.title(&known);
        let zero = match known.facts {
            // Its times begin a day early, because a packet may be of the day before.
            _ if reading.is_of_ditg() => -i128::from(DAY),
            Some(Facts { wall, start, .. }) if wall > 0 => i128::from(wall) - i128::from(start),
            _ => 0,
        };
        let flows = (0..known.count()).map(|place| {
            let flow = known.flow(place);
            FlowPackets {
                number: known.number(place),
                name: flow.flow.as_ref().map(|flow| flow.name.clone()),
                peer: None,
                order: OrderRecorder::new(flow.sent.map(|sent| sent.packets)),
                end: 0,
            }
        });
        Ok(Self {
            name,
            title,
            flows: flows.collect(),
            reading,
            known,
            ready: VecDeque::new(),
            zero,
        })
    }

    /// The wall clock at the start of the log.
    fn wall(&self) -> Option<u64> {
        let facts = self.known.facts;
        facts.map(|facts| facts.wall).filter(|wall| *wall > 0)
    }

    /// The time of the table at a time of the log's clock.
    fn time(&self, at: u64) -> i64 {
        let time = i128::from(at) + self.zero;
        i64::try_from(time).unwrap_or(if time < 0 { i64::MIN } else { i64::MAX })
    }

    /// Whether this is the log of a sender of which there is a receiver's log.
    fn follows(&self) -> bool {
        let is_paired = self.flows.iter().any(|flow| flow.peer.is_some());
        is_paired && self.known.role() == Role::Sender
    }

    /// Reads on until there is a record, or the log is over.
    fn fill(&mut self, watch: &mut dyn FnMut(u64, u64)) -> Result<()> {
        while self.ready.is_empty() && self.reading.next(watch)? {
            let (known, ready, flows) = (&mut self.known, &mut self.ready, self.flows.len());
            self.reading.release(|number, record| {
                let place = known.place(number)?;
                // A file that changed has other flows.
                if place < flows {
                    ready.push_back((place, record));
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// Whether a packet that a sender sent was lost, if it has not arrived: unknown behind the last
/// arrival of a log that is not complete.
fn outcome(logs: &[Log], packet: &Packet) -> Option<bool> {
    let peer = logs[packet.place.log].flows[packet.place.flow].peer?;
    let receiver = &logs[peer.log];
    let is_before = packet.sequence < receiver.flows[peer.flow].end;
    (is_before || receiver.reading.is_complete()).then_some(true)
}

#[cfg(test)]
mod tests;
