//! ICMP echoes: round trips that need nothing but the other host's kernel.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, send};
use units::{IpVersion, Span, Time};
use wire::message::{Carrier, HEADER_LEN, Message};
use wire::protocol::icmp::{EchoHeader, HEADER_LEN as ECHO_HEADER};
use wire::protocol::ipv4;

use super::replies::Replies;
use super::{LOST, Log, Ready, Sent, is_passing};
use crate::driver::sessions::echo_tags::EchoTags;
use crate::driver::sessions::intervals::{Intervals, Reporter};
use crate::driver::sessions::paced::Departures;
use crate::driver::sessions::payload::Payload;
use crate::driver::sessions::records::LogSink;
use crate::driver::sessions::unanswered::Unanswered;
use crate::driver::sessions::{Described, Entry, Flow, Name, Records};
use os::clock;
use os::deadline::{Deadline, Permit};
use os::error::{Error, OperationContext, Result};
use os::random::random;
use os::socket::{Options, address_of, connect, open_for_echoes, send_buffer};
use os::sys::inbox::Inbox;

/// The longest wait of a call for echoes.
const LOOK: Span = Span::from_millis(20);

/// Sends flows of echoes to a host, all at the same time. Returns their results by name.
///
/// # Errors
/// If the kernel has no socket for echoes, or rejects an option.
pub(in super::super) fn run(
    to: SocketAddr,
    flows: Vec<Flow>,
    start: Time,
    records: Option<Records>,
    intervals: Option<Intervals>,
) -> Result<Vec<(Name, Result<Sent>)>> {
    let stop = Arc::<AtomicBool>::default();
    let mut sockets = Vec::new();
    for (number, flow) in (0..).zip(flows) {
        let described = (flow.name, flow.meter, flow.options.socket.dscp);
        let echoes = Echoes::open(flow, number, to, start, records.clone())?;
        if let Some(records) = &records {
            let (name, meter, dscp) = described;
            let _ = records.send(Entry::Flow(Described {
                flow: number,
                name,
                transport: None,
                meter,
                from: address_of(echoes.ready.socket.as_fd())?,
                to,
                dscp,
            }));
        }
        sockets.push(echoes);
    }
    let observed = sockets.iter().map(|echoes| echoes.ready.observed());
    let observed = observed.collect::<Result<_>>()?;
    let mut reporter = intervals.map(|intervals| Reporter::alone(intervals, observed, start));
    let flows: Vec<(Name, Result<Sent>)> = thread::scope(|scope| {
        let mut running = Vec::new();
        for echoes in sockets {
            let name = echoes.ready.flow.name;
            let run = || echoes.run(start, &stop);
            match thread::Builder::new().spawn_scoped(scope, run) {
                Ok(thread) => running.push((name, thread)),
                Err(error) => {
                    // The scope waits for those that were started.
                    stop.store(true, Ordering::Relaxed);
                    return Err(error).during(|| "starting a thread");
                }
            }
        }
        if let Some(reporter) = &mut reporter {
            while running.iter().any(|(_, thread)| !thread.is_finished()) {
                let now = clock::monotonic();
                reporter.look(now);
                clock::sleep(reporter.until_next(now).min(LOOK));
            }
            reporter.last(clock::monotonic());
        }
        let finished = running.into_iter().map(|(name, thread)| {
            let panicked = |_| Err(Error::new("sending echoes", "a thread panicked"));
            (name, thread.join().unwrap_or_else(panicked))
        });
        Ok(finished.collect())
    })?;
    for (number, (_, sent)) in (0..).zip(&flows) {
        if let (Some(records), Ok(sent)) = (&records, sent) {
            let (messages, bytes) = sent.all();
            let _ = records.send(Entry::Sent {
                flow: number,
                messages,
                bytes: bytes.get(),
            });
        }
    }
    Ok(flows)
}

struct Echoes {
    ready: Ready,
    version: IpVersion,
    /// Whether the kernel also delivers the IPv4 header.
    raw: bool,
    identifier: u16,
    inbox: Inbox,
    unanswered: Unanswered,
    replies: Replies,
}

impl Echoes {
    fn open(
        flow: Flow,
        number: u16,
        to: SocketAddr,
        start: Time,
        records: Option<Records>,
    ) -> Result<Self> {
        let version = match to.ip() {
            IpAddr::V4(_) => IpVersion::V4,
            IpAddr::V6(_) => IpVersion::V6,
        };
        let options = Options {
            timeout: Some(LOOK),
            stamps: true,
            path_errors: true,
            ..flow.options.socket.clone()
        };
        let (socket, raw) = open_for_echoes(to.ip(), &options)?;
        connect(&socket, to).during(|| format!("connecting to {}", to.ip()))?;
        let [high, low, ..] = random::<2>()?;
        let ready = Ready {
            payload: flow.payload.as_ref().map(Payload::open).transpose()?,
            flow,
            number,
            to,
            socket,
            log_sink: LogSink::new(records),
            tags: EchoTags::default(),
            counters: Arc::default(),
        };
        let unanswered = Unanswered::new(number, &ready.log_sink, &ready.tags);
        let (log_sink, answers) = (&ready.log_sink, unanswered.answers());
        let replies = Replies::new(number, start, log_sink, answers, &ready.counters);
        Ok(Self {
            ready,
            version,
            raw,
            identifier: u16::from_be_bytes([high, low]),
            inbox: Inbox::of_datagrams(ipv4::LONGEST_HEADER + ECHO_HEADER + HEADER_LEN),
            unanswered,
            replies,
        })
    }

    fn run(mut self, start: Time, stop: &Arc<AtomicBool>) -> Result<Sent> {
        let counters = Arc::clone(&self.ready.counters);
        let to = self.ready.to.ip();
        let mut departures = Departures::new(&self.ready.flow, to, start, stop, &counters)?;
        let mut log = Log::new(start, &counters);
        let mut room = Vec::new();
        let mut sequence: u64 = 0;
        let one_at_a_time = departures.one_at_a_time();
        while let Some((size, now)) = departures.wait_for_next() {
            room.resize(ECHO_HEADER + size, 0);
            let sent = log.since_epoch(now);
            let message = self.ready.message(&departures, sequence, size, sent);
            let behind = &mut room[ECHO_HEADER..];
            self.ready
                .write_message(&message, Carrier::Datagram, behind)?;
            let header = EchoHeader {
                reply: false,
                identifier: self.identifier,
                sequence: u16::try_from(sequence % (1 << 16)).unwrap_or(0),
            };
            header
                .emit(&mut room, self.version)
                .map_err(|error| Error::new("writing an echo", error.to_string()))?;
            self.unanswered.ask(&message, &mut self.ready.log_sink);
            match send(self.ready.socket.as_raw_fd(), &room, MsgFlags::empty()) {
                Ok(_) => {
                    sequence += 1;
                    log.sent(&message, now);
                }
                Err(error) if is_passing(error) => {
                    log.unsent(&message, error);
                    self.ready.read_errors();
                    self.unanswered.forget(&message);
                    continue;
                }
                Err(error) => return Err(error).during(|| "sending an echo"),
            }
            if one_at_a_time {
                self.collect(log.all_messages(), &departures.deadline(now + LOST))?;
            } else {
                // Echoes carry the kernel's timestamp, so they need not be read at
                // once.
                let permit = departures.deadline(now + LOST).permit();
                if let Ok(permit) = permit {
                    self.take(true, permit)?;
                }
            }
        }
        // Echoes in flight count even after a stop.
        self.collect(log.all_messages(), &Deadline::fixed(LOST))?;
        self.unanswered.settle(&mut self.ready.log_sink);
        self.ready.log_sink.flush();
        self.replies.settle(&mut log);
        let send_buffer = send_buffer(self.ready.socket.as_fd())?;
        Ok(log.finish(&departures, None, send_buffer))
    }

    /// Receives echoes until all are back, or the time is over.
    fn collect(&mut self, messages: u64, deadline: &Deadline) -> Result<()> {
        while self.replies.returned() < messages
            && let Ok(permit) = deadline.permit()
        {
            self.take(self.ready.flow.options.busy, permit)?;
        }
        Ok(())
    }

    /// Receives the waiting echoes, or waits briefly for one.
    fn take(&mut self, busy: bool, permit: Permit) -> Result<()> {
        if let Err(error) = self.inbox.take(self.ready.socket.as_fd(), busy, permit) {
            if !is_passing(error) {
                return Err(error).during(|| "receiving echoes");
            }
            if error != Errno::EAGAIN {
                self.ready.read_errors();
            }
            return Ok(());
        }
        let read = clock::monotonic();
        for place in 0..self.inbox.taken().len() {
            if let Some(message) = self.ours(self.inbox.bytes(place)) {
                let stamp = self.inbox.taken()[place].stamp;
                self.replies.record(&message, stamp, read);
            }
        }
        Ok(())
    }

    /// The message of this program that these bytes answer, if any.
    fn ours(&self, bytes: &[u8]) -> Option<Message> {
        let bytes = if self.raw && self.version == IpVersion::V4 {
            bytes.get(ipv4::Header::of(bytes).header_len().ok()?..)?
        } else {
            bytes
        };
        let header = EchoHeader::parse(bytes, self.version).ok()?;
        // Raw sockets also receive the echoes of others, whose identifiers the kernel
        // has chosen.
        let ours = header.reply && (!self.raw || header.identifier == self.identifier);
        Message::parse(bytes.get(ECHO_HEADER..)?)
            .ok()
            .filter(|_| ours)
    }
}
