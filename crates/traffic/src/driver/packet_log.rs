//! Packet logs of manual traffic. A separate thread writes them, so that a slow
//! disk delays messages only when its queue is full.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, JoinHandle};

use crate::driver::sessions::{Described, Entry, Meter, Protocol, Records};
use anyhow::{Context, Result, anyhow};
use meter::clock_offset::ClockOffset;
use os::clock::Epoch;
use os::kernel_clock;
use os::socket::STAMPS_ARRIVALS;
use units::Bytes;
use wire::log::{Clock, Estimate, Facts, Flow, Marks, Record, Role, Sent, Writer};

/// Capacity of the queue in bundles of records: at most 60 MB.
const WAITING: usize = 256;

/// Bytes per write to the file.
const TOGETHER: usize = 1 << 16;

/// The origin of the records' times, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zero {
    /// The sender's clock at the origin.
    pub sender: u64,
    /// The clock of the log's writer at the origin.
    pub here: u64,
}

/// The end that writes a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogOwner {
    Receiver,
    /// A sender whose flows all have this meter.
    Sender(Meter),
}

/// The space for all packet logs of a receiver.
#[derive(Debug)]
pub struct LogSpace {
    total: Bytes,
    /// Bytes left.
    left: AtomicU64,
}

/// Bytes that each log takes of the space at least, so that the number of logs is
/// limited as well.
const LEAST_SPACE: u64 = 1 << 16;

impl LogSpace {
    /// Space for `total` bytes.
    pub fn new(total: Bytes) -> Arc<Self> {
        Arc::new(Self {
            total,
            left: AtomicU64::new(total.get()),
        })
    }

    /// Takes the space of a log of so many bytes.
    pub(super) fn take_for_a_log(&self, bytes: u64) -> Result<()> {
        self.take(bytes.max(LEAST_SPACE))
    }

    /// Gives the space of a log back that does not exist.
    pub(super) fn give_back_of_a_log(&self, bytes: u64) {
        self.left
            .fetch_add(bytes.max(LEAST_SPACE), Ordering::Relaxed);
    }

    fn take(&self, bytes: u64) -> Result<()> {
        let less = |left: u64| left.checked_sub(bytes);
        let taken = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        taken.map(drop).map_err(|_| {
            anyhow!(
                "the packet logs have reached their limit of {}; raise --max-packet-log-size",
                self.total
            )
        })
    }
}

/// The space and the error handler of a receiver's packet logs.
pub struct Supervision {
    /// The space that they share.
    pub space: Arc<LogSpace>,
    /// Told at once of an error that ends a log.
    pub failed: Box<dyn FnOnce(&anyhow::Error) + Send>,
}

/// A packet log that is being written.
pub struct PacketLog {
    thread: JoinHandle<Result<()>>,
}

impl PacketLog {
    /// Creates a log in a new file; existing files are not overwritten. Records
    /// go to the returned sender, and the log ends when all its clones are
    /// dropped.
    ///
    /// # Errors
    /// The file exists, or cannot be created.
    pub fn create(path: &Path, owner: LogOwner, zero: Zero) -> Result<(Self, Records)> {
        Self::begin(path, owner, zero, None)
    }

    /// Creates a log as [`PacketLog::create`], with limited space.
    ///
    /// # Errors
    /// As [`PacketLog::create`], or no space is left.
    pub fn create_supervised(
        path: &Path,
        owner: LogOwner,
        zero: Zero,
        supervision: Supervision,
    ) -> Result<(Self, Records)> {
        Self::begin(path, owner, zero, Some(supervision))
    }

    fn begin(
        path: &Path,
        owner: LogOwner,
        zero: Zero,
        supervision: Option<Supervision>,
    ) -> Result<(Self, Records)> {
        let name = path.display().to_string();
        let (space, failed) = supervision
            .map(|Supervision { space, failed }| (space, failed))
            .unzip();
        let file = files::create_new(path).with_context(|| {
            format!("{name}: the packet log must be a new file; name another one")
        })?;
        if let Some(Err(error)) = space.as_ref().map(|space| space.take(LEAST_SPACE)) {
            let _ = files::remove(path);
            return Err(error);
        }
        let mut file = LogFile {
            file,
            space,
            prepaid: LEAST_SPACE,
        };
        let mut pages = Pages::new(owner.role(), zero);
        if let Err(error) = pages.write(&mut file) {
            // Without room for a header there is none for records.
            let _ = files::remove(path);
            return Err(error.context(name));
        }
        let (records, entries) = sync_channel(WAITING);
        let body = move || {
            let written = write(file, pages, &entries).with_context(|| name);
            if let (Err(error), Some(failed)) = (&written, failed) {
                failed(error);
            }
            written
        };
        let thread = thread::Builder::new().name("packet log".to_owned());
        let thread = thread.spawn(body).context("starting a thread")?;
        Ok((Self { thread }, records))
    }

    /// Whether the log has ended: all senders are dropped, or writing failed.
    pub fn is_over(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits until the file is complete.
    ///
    /// # Errors
    /// The error that occurred during writing.
    pub fn end(self) -> Result<()> {
        let ended = self.thread.join();
        ended.map_err(|_| anyhow!("the thread of a packet log panicked"))?
    }
}

/// Writes incoming records. Whenever the queue is empty, all received records
/// are in the file; a killed program loses only records that flows have not
/// handed over.
fn write(mut file: LogFile, mut pages: Pages, entries: &Receiver<Entry>) -> Result<()> {
    let mut next = entries.recv().ok();
    while let Some(entry) = next {
        pages.take(entry);
        let waiting = entries.try_recv().ok();
        if waiting.is_none() || pages.out.len() >= TOGETHER {
            pages.write(&mut file)?;
        }
        next = waiting.or_else(|| entries.recv().ok());
    }
    let Pages {
        writer, mut out, ..
    } = pages;
    writer.finish(&mut out);
    file.append(&out)
}

/// The file of a log, and the space for it.
struct LogFile {
    file: File,
    space: Option<Arc<LogSpace>>,
    /// Bytes that were taken of the space and not written yet.
    prepaid: u64,
}

impl LogFile {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let length = bytes.len() as u64;
        if let Some(space) = &self.space {
            let more = length.saturating_sub(self.prepaid);
            space.take(more)?;
            self.prepaid = (self.prepaid + more) - length;
        }
        Ok(self.file.write_all(bytes)?)
    }
}

/// A log on its way to the file.
struct Pages {
    role: Role,
    zero: Zero,
    writer: Writer,
    out: Vec<u8>,
    flows: Vec<u16>,
    /// The latest estimate of the clock offset, and its time.
    clocks: Option<(u64, ClockOffset)>,
}

impl Pages {
    fn new(role: Role, zero: Zero) -> Self {
        let mut out = Vec::new();
        Self {
            role,
            zero,
            writer: Writer::new(&facts(role), &mut out),
            out,
            flows: Vec::new(),
            clocks: None,
        }
    }

    /// Writes what is waiting.
    fn write(&mut self, file: &mut LogFile) -> Result<()> {
        file.append(&self.out)?;
        self.out.clear();
        Ok(())
    }

    fn take(&mut self, entry: Entry) {
        let out = &mut self.out;
        match entry {
            Entry::Flow(flow) => {
                self.flows.push(flow.flow);
                self.writer.flow(&described(&flow), out);
                if let Some((at, offset)) = self.clocks {
                    self.writer.estimate(&estimate(flow.flow, at, offset), out);
                }
            }
            Entry::Records(records) => {
                for record in records {
                    let record = counted(record, self.role, self.zero);
                    self.writer.record(record, out);
                }
                // Records that are handed over together form one block.
                self.writer.flush(out);
            }
            Entry::Clocks(at, offset) => {
                self.clocks = Some((at, offset));
                for flow in &self.flows {
                    self.writer.estimate(&estimate(*flow, at, offset), out);
                }
            }
            Entry::OutOfOrder(_) => {}
            Entry::Sent {
                flow,
                messages,
                bytes,
            } => {
                let sent = Sent {
                    flow: flow.into(),
                    packets: messages,
                    bytes,
                };
                self.writer.sent(&sent, out);
            }
        }
    }
}

fn estimate(flow: u16, at: u64, offset: ClockOffset) -> Estimate {
    Estimate {
        flow: flow.into(),
        at,
        offset: offset.nanos,
        bound: offset.bound,
    }
}

fn facts(role: Role) -> Facts {
    let arrivals = match STAMPS_ARRIVALS {
        true => Clock::Kernel,
        false => Clock::Program,
    };
    let (received, returned) = match role {
        Role::Sender => (Clock::None, Clock::None),
        Role::Receiver => (arrivals, Clock::None),
        Role::RoundTrip => (Clock::None, arrivals),
    };
    Facts {
        role,
        sent: Clock::Program,
        received,
        returned,
        wall: Epoch::now().unix_nanos(),
        start: kernel_clock::monotonic_nanos(),
    }
}

fn described(flow: &Described) -> Flow {
    // The assigned protocol numbers [RFC792] [RFC768] [RFC9293] [RFC4443] [RFC3828] [RFC9260].
    let protocol = match (flow.transport, flow.to.is_ipv4()) {
        (Some(Protocol::Tcp), _) => 6,
        (Some(Protocol::Udp), _) => 17,
        (Some(Protocol::Sctp { .. }), _) => 132,
        (Some(Protocol::UdpLite { .. }), _) => 136,
        (None, true) => 1,
        (None, false) => 58,
    };
    Flow {
        number: flow.flow.into(),
        name: flow.name.as_str().to_owned(),
        protocol,
        dscp: flow.dscp,
        source: flow.from,
        destination: flow.to,
    }
}

/// Converts a record to absolute clock values.
fn counted(record: crate::driver::sessions::Record, role: Role, zero: Zero) -> Record {
    let at = record.received.map(|at| zero.here.saturating_add(at));
    let (received, returned) = match role {
        Role::RoundTrip => (None, at),
        Role::Receiver | Role::Sender => (at, None),
    };
    Record {
        flow: record.flow.into(),
        sequence: record.sequence,
        sent: zero.sender.saturating_add(record.sent),
        received,
        returned,
        size: record.size,
        marks: Marks {
            late_stamp: at.is_some() && !record.stamped,
            congested: false,
            untimed: record.untimed,
        },
    }
}

impl LogOwner {
    fn role(self) -> Role {
        match self {
            Self::Receiver => Role::Receiver,
            Self::Sender(Meter::OneWay) => Role::Sender,
            Self::Sender(Meter::RoundTrip) => Role::RoundTrip,
        }
    }
}

#[cfg(test)]
mod tests;
