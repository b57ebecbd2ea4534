//! Recordings of single packets on watched links.

mod capture;
mod queue_log;
mod senders;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use anyhow::Result;
use files::Folder;
use plan::Setting;
use plan::evidence::{self, Delays, Waits};
use plan::setting::Watched;
use queue::Reason;
use results::table::{Column, Values, write_table_in};
use sim::{Location, Loss, Opened, Outcome, Scenario, Seen};
use tcp::{Counts, State};
use units::{Bytes, Span, Time};

use crate::measurements::Measurements;
use crate::recording::ArtifactDir;
use capture::Capture;
use queue_log::QueueLog;
use senders::Senders;

/// The folder of these files in the results folder.
const FOLDER: &str = "watch";

/// The longest text of a drop out of a bundle.
const INNER_DROP: usize = 32;

/// The memory of a row of the widest table: 16 values of 32 bytes and two texts.
const ROW: u64 = 16 * 32 + 64;

/// Whether a setting selects packets to record.
pub(super) fn is_watched(setting: &Setting) -> bool {
    let wires = setting.network.as_graph().wires;
    let mut watched = (wires.iter()).map(|wire| setting.network.links[wire.link].watch);
    Senders::of(setting).is_some() || watched.any(|watched| watched.is_any())
}

/// Records the links that a setting selects.
pub(super) struct TraceRecorder {
    /// By link number of the scenario; `None`: not watched.
    links: Vec<Option<Log>>,
    /// The names of the flows.
    flows: Vec<String>,
    senders: Option<Senders>,
    /// The folder of the files.
    folder: Folder,
    room: Room,
}

/// The memory that is left for records: they are written when the trial is over.
struct Room {
    bytes: u64,
    /// Whether a record found none left.
    is_full: Rc<Cell<bool>>,
}

impl Room {
    /// Whether there is room for a record of `bytes` and its row of a table.
    fn has(&mut self, bytes: usize) -> bool {
        // A vector that grows holds up to twice its contents.
        let needed = 2 * bytes as u64 + ROW;
        match self.bytes.checked_sub(needed) {
            Some(left) => self.bytes = left,
            None => self.is_full.set(true),
        }
        !self.is_full.get()
    }
}

/// The records of one link.
struct Log {
    name: String,
    wanted: Watched,
    queue: QueueLog,
    dropped: Vec<Dropped>,
    /// The waiting times of packets, by direction and flow.
    waits: BTreeMap<(usize, usize), Vec<Span>>,
    capture: Option<Capture>,
}

/// A packet that did not leave the link.
struct Dropped {
    direction: usize,
    at: Time,
    packet: Seen,
    why: Loss,
}

impl TraceRecorder {
    /// The recorder for `setting`, whose records may take `budget` of memory; `None` if
    /// nothing is watched.
    ///
    /// # Errors
    /// The folder or a file cannot be created.
    pub(super) fn of(
        setting: &Setting,
        scenario: &Scenario,
        artifacts: ArtifactDir<'_>,
        budget: Bytes,
    ) -> Result<Option<Self>> {
        if !is_watched(setting) {
            return Ok(None);
        }
        let graph = setting.network.as_graph();
        let wanted = |link: usize| setting.network.links[link].watch;
        let senders = Senders::of(setting);
        let folder = artifacts.folder(FOLDER)?;
        let log = |(number, wire): (usize, &plan::setting::Wiring)| -> Result<Option<Log>> {
            let wanted = wanted(wire.link);
            if !wanted.is_any() {
                return Ok(None);
            }
            let capture = match wanted.capture {
                true => {
                    let name = file_name(artifacts, &wire.name, "pcapng");
                    let place = (&folder, name.as_str());
                    Some(Capture::create(place, &setting.network, scenario, number)?)
                }
                false => None,
            };
            Ok(Some(Log {
                name: wire.name.clone(),
                wanted,
                queue: QueueLog::new(wanted.interval),
                dropped: Vec::new(),
                waits: BTreeMap::new(),
                capture,
            }))
        };
        Ok(Some(Self {
            links: graph
                .wires
                .iter()
                .enumerate()
                .map(log)
                .collect::<Result<_>>()?,
            flows: scenario
                .flows
                .iter()
                .map(|flow| flow.name.clone())
                .collect(),
            senders,
            folder,
            room: Room {
                bytes: budget.get(),
                is_full: Rc::default(),
            },
        }))
    }

    /// Whether a record found no room; shared with the recorder.
    pub(super) fn is_full(&self) -> Rc<Cell<bool>> {
        Rc::clone(&self.room.is_full)
    }

    /// Writes the records, and adds files and summaries to `measurements`.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(super) fn finish(
        self,
        outcome: &Outcome,
        artifacts: ArtifactDir<'_>,
        measurements: &mut Measurements,
    ) -> Result<()> {
        let mut files = Vec::new();
        let mut waits = BTreeMap::new();
        for log in self.links.into_iter().flatten() {
            let mut write = |kind: &str, columns: Vec<Column>| -> Result<()> {
                let name = file_name(artifacts, &log.name, &format!("{kind}.parquet"));
                write_table_in(&self.folder, &name, &columns)?;
                files.push(Path::new(FOLDER).join(name));
                Ok(())
            };
            if log.wanted.queue {
                write("queue", log.queue.columns(&self.flows))?;
            }
            if log.wanted.drops {
                write("drops", of_drops(&log.dropped, &self.flows))?;
            }
            if log.wanted.delays {
                let mut directions = [BTreeMap::new(), BTreeMap::new()];
                for ((direction, flow), spans) in log.waits {
                    if let Some(name) = self.flows.get(flow) {
                        directions[direction].insert(name.clone(), percentiles(spans));
                    }
                }
                waits.insert(log.name.clone(), directions);
            }
            if let Some(capture) = log.capture {
                capture.finish()?;
                let name = file_name(artifacts, &log.name, "pcapng");
                files.push(Path::new(FOLDER).join(name));
            }
        }
        if let Some(senders) = self.senders {
            files.extend(senders.finish(&self.folder, artifacts)?);
        }
        if !waits.is_empty() {
            measurements.note(evidence::QUEUE_DELAY_MS, waits);
            measurements.note(evidence::DELAY_MS, delays(outcome));
        }
        if !files.is_empty() {
            measurements.note(evidence::WATCHED, files);
        }
        Ok(())
    }

    fn log(&mut self, link: usize) -> Option<(&mut Log, &mut Room)> {
        let log = self.links.get_mut(link)?.as_mut()?;
        Some((log, &mut self.room))
    }
}

impl sim::Tracer for TraceRecorder {
    fn wants(&self, (link, _): (usize, usize)) -> bool {
        self.links.get(link).is_some_and(Option::is_some)
    }

    fn wants_deliveries(&self) -> bool {
        false
    }

    fn opens(&self, (link, _): (usize, usize)) -> bool {
        let log = self.links.get(link).and_then(Option::as_ref);
        log.is_some_and(|log| log.capture.is_some())
    }

    fn opened(&mut self, begins: Time, (link, direction): (usize, usize), bundle: &Opened) {
        if let Some((log, _)) = self.log(link)
            && let Some(capture) = &mut log.capture
        {
            capture.take_bundle(begins, direction, bundle);
        }
    }

    fn queued(
        &mut self,
        at: Time,
        (link, direction): (usize, usize),
        packet: Seen,
        state: link::QueueState,
    ) {
        if let Some((log, room)) = self.log(link)
            && log.wanted.queue
            && log.queue.wants(at, direction)
            && room.has(QueueLog::SAMPLE)
        {
            log.queue.queued(at, direction, packet, state);
        }
    }

    fn sent(
        &mut self,
        begins: Time,
        _: Time,
        (link, direction): (usize, usize),
        packet: Seen,
        waited: Span,
    ) {
        let Some((log, room)) = self.log(link) else {
            return;
        };
        if log.wanted.queue {
            log.queue.sent(begins, direction, packet);
        }
        if log.wanted.delays && !packet.answer && !packet.is_ack() && room.has(size_of::<Span>()) {
            log.waits
                .entry((direction, packet.flow))
                .or_default()
                .push(waited);
        }
        if let Some(capture) = &mut log.capture {
            capture.take(begins, direction, packet);
        }
    }

    fn lost(&mut self, at: Time, location: Location, packet: Seen, why: Loss) {
        let Location::Direction(link, direction) = location else {
            return;
        };
        let Some((log, room)) = self.log(link) else {
            return;
        };
        if log.wanted.queue {
            log.queue.lost(at, direction, packet, why);
        }
        if log.wanted.drops && room.has(size_of::<Dropped>()) {
            log.dropped.push(Dropped {
                direction,
                at,
                packet,
                why,
            });
        }
    }

    fn inner_dropped(
        &mut self,
        at: Time,
        (link, direction): (usize, usize),
        packet: Seen,
        why: Reason,
    ) {
        if let Some((log, room)) = self.log(link)
            && log.wanted.queue
            && room.has(INNER_DROP)
        {
            log.queue.inner_dropped(at, direction, packet, why);
        }
    }

    fn acted(&mut self, at: Time, flow: usize, state: State, counts: Counts) {
        if let Some(senders) = &mut self.senders
            && senders.wants(at, flow)
            && self.room.has(Senders::SAMPLE)
        {
            senders.acted(at, flow, state, counts);
        }
    }
}

/// The name of a watched link's or flow's file.
fn file_name(artifacts: ArtifactDir<'_>, name: &str, kind: &str) -> String {
    format!("{}-{name}.{kind}", artifacts.trial)
}

fn of_drops(dropped: &[Dropped], flows: &[String]) -> Vec<Column> {
    let integers = |of: &dyn Fn(&Dropped) -> u64| {
        Values::Integer(dropped.iter().map(|one| whole(of(one))).collect())
    };
    let texts =
        |of: &dyn Fn(&Dropped) -> Option<String>| Values::Text(dropped.iter().map(of).collect());
    vec![
        column("at_ps", integers(&|one| one.at.as_picos())),
        column("direction", integers(&|one| one.direction as u64)),
        column("flow", texts(&|one| flows.get(one.packet.flow).cloned())),
        column("message", integers(&|one| one.packet.sequence)),
        column("offset", integers(&|one| one.packet.offset.get())),
        column("size", integers(&|one| one.packet.size.get())),
        column("reason", texts(&|one| Some(word(one.why).to_owned()))),
    ]
}

fn column(name: &str, values: Values) -> Column {
    Column {
        name: name.to_owned(),
        values,
    }
}

fn whole(number: u64) -> Option<i64> {
    i64::try_from(number).ok()
}

const fn word(why: Loss) -> &'static str {
    match why {
        Loss::TooBig => "too-big",
        Loss::Queue(Reason::Full) => "full",
        Loss::Queue(Reason::Early) => "early",
        Loss::Queue(Reason::Forced) => "forced",
        Loss::Queue(Reason::Late) => "late",
        Loss::Chance => "lost",
        Loss::Damage => "damaged",
        Loss::Buffer => "buffer",
        Loss::Incomplete => "incomplete",
    }
}

/// Mean, percentiles (nearest rank) and maximum of times, in milliseconds.
fn percentiles(mut spans: Vec<Span>) -> Waits {
    spans.sort_unstable();
    let at = |percent: usize| {
        let rank = (spans.len() * percent).div_ceil(100).saturating_sub(1);
        spans.get(rank).map(|span| span.as_millis_f64())
    };
    let sum: f64 = spans.iter().map(|span| span.as_millis_f64()).sum();
    let mean = sum / spans.len().max(1) as f64;
    Waits {
        packets: spans.len(),
        mean,
        p50: at(50),
        p95: at(95),
        p99: at(99),
        max: at(100),
    }
}

/// The delays of whole messages, from source to destination.
fn delays(outcome: &Outcome) -> BTreeMap<String, Delays> {
    let each = outcome.flows.iter().filter_map(|flow| {
        let delays = flow.delays.as_ref()?;
        let delays = Delays {
            mean: delays.mean * 1e3,
            min: delays.min * 1e3,
            p50: delays.p50 * 1e3,
            p95: delays.p95 * 1e3,
            p99: delays.p99 * 1e3,
            max: delays.max * 1e3,
        };
        Some((flow.name.clone(), delays))
    });
    each.collect()
}

/// The bytes of a frame or a datagram as the 16-bit value of its headers.
fn short(bytes: Bytes) -> u16 {
    u16::try_from(bytes.get()).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests;
