//! Rate, delay and cost of datagrams of one size.

use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use units::{Span, Time};

use super::capture::Capture;
use super::carry::Counted;
use super::end::{FROM, Listener, Raw, rejected, udp};
use super::jumbo_path::JumboPath;
use super::message::Message;
use os::error::{Error, OperationContext, Result};
use os::sys::option;
use os::{clock, cpu_time, kernel_clock};

/// The origin of the headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderSource {
    /// This program, whether or not the packet is a jumbogram.
    Packet,
    /// The kernel, for an ordinary socket: up to 65 527 bytes.
    Socket,
}

/// The measurement to make.
#[derive(Clone, Copy, Debug)]
pub struct Measuring<'a> {
    /// The origin of the headers.
    pub by: HeaderSource,
    /// Bytes of each message.
    pub size: u32,
    /// Total duration of the measurement.
    pub length: Span,
    /// The file for a capture of one message. It is sent before the others and counts
    /// nowhere: no capture runs during the measurement.
    pub capture: Option<&'a Path>,
}

/// The results of a measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Bytes of each packet, headers included.
    pub packet: u64,
    /// Whether the packets were jumbograms.
    pub jumbogram: bool,
    /// Sorted delays of single messages: from just before sending until the receiver
    /// has the message, with no other in flight.
    pub delays: Vec<Span>,
    /// Messages that arrived in the throughput part.
    pub messages: u64,
    /// Bytes of payload in them.
    pub bytes: u64,
    /// Time from the first of them until the last one had arrived.
    pub elapsed: Span,
    /// Processor time of both ends, including the kernel's work in their names.
    pub programs: Span,
    /// Processor time of the whole machine.
    pub machine: Span,
    /// Packets that the receiver's interface counted meanwhile.
    pub packets: u64,
    /// The most messages in flight.
    pub window: u64,
    /// Messages of both parts that did not arrive.
    pub lost: u64,
}

/// One part in this many is for single messages.
const ALONE: u64 = 4;
/// The least and the most single messages.
const LEAST_ALONE: usize = 20;
const MOST_ALONE: usize = 100_000;
/// The number of losses allowed: other programs fill the kernel's queues, too.
const MOST_MISSING: u64 = 3;
/// The longest delay of a message.
const TIMEOUT: Span = Span::from_millis(1_000);
/// Interval at which a receiver checks whether it may stop.
const LOOK: Span = Span::from_millis(50);
/// The most bytes in flight: all sockets of a machine share the memory of UDP, and
/// datagrams without memory are dropped.
const MOST_UNDER_WAY: u64 = 8 << 20;
/// Bytes of the kernel's bookkeeping per packet.
const RECORDS: u64 = 1_024;
/// The most packets in flight: a processor queues 1000 packets from all namespaces
/// together, and drops more [LinuxDoc net].
const MOST_PACKETS: u64 = 256;

/// The state that both ends share.
#[derive(Debug, Default)]
struct Between {
    received: AtomicU64,
    bytes: AtomicU64,
    /// CLOCK_MONOTONIC at the last arrival, and its delay.
    last: AtomicU64,
    delay: AtomicU64,
    /// Whether the sender sleeps until an arrival.
    waiting: AtomicBool,
    done: AtomicBool,
}

/// Measures messages along `jumbo_path`.
///
/// # Errors
/// If the kernel rejects a message, single messages do not arrive, or the capture
/// cannot be written.
pub fn measure(jumbo_path: &JumboPath, wanted: Measuring<'_>) -> Result<Measured> {
    let Measuring {
        by,
        size,
        length,
        capture,
    } = wanted;
    let [_, to] = jumbo_path.addresses;
    let listener = jumbo_path.at_receiver(|| Listener::open(to.into(), 0))?;
    let port = listener.port()?;
    let out = jumbo_path.at_sender(|| Out::open(jumbo_path, by, port))?;
    let message = Message::new(jumbo_path.addresses, [FROM, port], size);
    let window = window(listener.room()?, message.packet_len());
    let between = Between::default();
    thread::scope(|scope| {
        let sender = thread::current();
        let receiving = thread::Builder::new().spawn_scoped(scope, {
            let between = &between;
            move || receive(listener, between, &sender)
        });
        let receiving = receiving.during(|| "starting a thread")?;
        let mut sending = Sending {
            out,
            message,
            size,
            sent: 0,
            between: &between,
        };
        let shown = capture.map_or(Ok(()), |path| sending.shown(jumbo_path, path));
        let measured = shown.and_then(|()| sending.all(jumbo_path, window, length));
        between.done.store(true, Ordering::SeqCst);
        let received = receiving.join().expect("a receiver does not panic");
        received.and(measured)
    })
}

/// The part of `length` for single messages.
pub(super) const fn alone(length: Span) -> Span {
    Span::from_picos(length.as_picos() / ALONE)
}

/// The number of messages that fit a buffer of `room` bytes, at least one; the kernel
/// rounds each up to a power of two.
fn window(room: u64, packet: u64) -> u64 {
    let each = (packet + RECORDS).next_power_of_two();
    (room.min(MOST_UNDER_WAY) / each).clamp(1, MOST_PACKETS)
}

/// Receives messages until the measurement ends.
fn receive(mut listener: Listener, between: &Between, sender: &Thread) -> Result<()> {
    let mut first = listener.next(LOOK, false)?;
    while !between.done.load(Ordering::SeqCst) {
        if let Some((arrived, _)) = first {
            let now = kernel_clock::monotonic_nanos();
            between.last.store(now, Ordering::SeqCst);
            between.delay.store(arrived.delay_nanos, Ordering::SeqCst);
            let bytes = arrived.bytes as u64;
            between.bytes.fetch_add(bytes, Ordering::SeqCst);
            between.received.fetch_add(1, Ordering::SeqCst);
            if between.waiting.swap(false, Ordering::SeqCst) {
                sender.unpark();
            }
        }
        first = listener.take(false)?;
    }
    Ok(())
}

impl Between {
    /// Waits until `count` messages have arrived. Returns whether they have.
    fn wait_for(&self, count: u64, timeout: Span) -> bool {
        let there = || self.received.load(Ordering::SeqCst) >= count;
        let mut deadline = None::<Time>;
        loop {
            if there() {
                return true;
            }
            self.waiting.store(true, Ordering::SeqCst);
            if there() {
                return true;
            }
            let now = clock::monotonic();
            if now >= *deadline.get_or_insert(now + timeout) {
                return false;
            }
            thread::park_timeout(Duration::from_millis(20));
        }
    }
}

/// The socket that sends messages.
enum Out {
    Packets(Raw),
    Datagrams(UdpSocket),
}

impl Out {
    fn open(jumbo_path: &JumboPath, by: HeaderSource, port: u16) -> Result<Self> {
        let [from, to] = jumbo_path.addresses;
        match by {
            HeaderSource::Packet => Raw::open(to).map(Self::Packets),
            HeaderSource::Socket => {
                let operation = || "opening a UDP socket";
                let socket = udp(from.into(), 0)?;
                socket
                    .connect(SocketAddr::from((to, port)))
                    .during(operation)?;
                // The kernel then rejects a datagram instead of fragmenting it.
                let name = libc::IPV6_DONTFRAG;
                let _ = option::set(socket.as_fd(), libc::IPPROTO_IPV6, name, 1);
                Ok(Self::Datagrams(socket))
            }
        }
    }
}

/// The sending end.
struct Sending<'a> {
    out: Out,
    message: Message,
    size: u32,
    sent: u64,
    between: &'a Between,
}

impl Sending<'_> {
    /// Sends one message while capturing to `path`.
    fn shown(&mut self, jumbo_path: &JumboPath, path: &Path) -> Result<()> {
        let mut capture = Capture::begin(jumbo_path, path)?;
        while !self.single(self.missing())? {
            if self.missing() >= MOST_MISSING {
                return Err(self.missed(MOST_MISSING));
            }
        }
        capture.drain()
    }

    /// Sends single messages first, then many.
    fn all(&mut self, jumbo_path: &JumboPath, window: u64, length: Span) -> Result<Measured> {
        let delays = self.alone(clock::monotonic() + alone(length))?;
        let before = self.between.received.load(Ordering::SeqCst);
        let bytes = self.between.bytes.load(Ordering::SeqCst);
        let counted = Counted::by(jumbo_path)?;
        let machine = cpu_time::Machine::sample()?;
        let programs = cpu_time::Process::sample()?;
        let began = kernel_clock::monotonic_nanos();
        let deadline = clock::monotonic() + (length - alone(length));
        let mut given_up = self.missing();
        while clock::monotonic() < deadline {
            let enough = (self.sent + 1).saturating_sub(window + given_up);
            if !self.between.wait_for(enough, TIMEOUT) {
                given_up = self.missing();
            }
            self.one()?;
        }
        self.between.wait_for(self.sent - given_up, TIMEOUT);
        // Messages taken for lost may have arrived late.
        let lost = self.missing();
        let last = self.between.last.load(Ordering::SeqCst);
        let programs = cpu_time::Process::sample()? - programs;
        let machine = cpu_time::Machine::sample()?.since(&machine);
        Ok(Measured {
            packet: self.message.packet_len(),
            jumbogram: self.message.is_jumbogram(),
            delays,
            messages: self.sent - lost - before,
            bytes: self.between.bytes.load(Ordering::SeqCst) - bytes,
            elapsed: Span::from_nanos(last.saturating_sub(began)),
            programs: programs.cpu,
            machine: machine.busy,
            packets: Counted::by(jumbo_path)?.packets - counted.packets,
            window,
            lost,
        })
    }

    /// Messages sent that have not arrived.
    fn missing(&self) -> u64 {
        self.sent - self.between.received.load(Ordering::SeqCst)
    }

    /// Delays of single messages, sorted.
    fn alone(&mut self, deadline: Time) -> Result<Vec<Span>> {
        let mut delays = Vec::new();
        let mut given_up = self.missing();
        while delays.len() < LEAST_ALONE
            || (clock::monotonic() < deadline && delays.len() < MOST_ALONE)
        {
            if !self.single(given_up)? {
                given_up = self.missing();
                if given_up >= MOST_MISSING {
                    return Err(self.missed(given_up));
                }
                continue;
            }
            let nanos = self.between.delay.load(Ordering::SeqCst);
            delays.push(Span::from_nanos(nanos));
        }
        delays.sort_unstable();
        Ok(delays)
    }

    /// Sends one message, with `given_up` others taken for lost. Returns whether it has
    /// arrived.
    fn single(&mut self, given_up: u64) -> Result<bool> {
        self.one()?;
        Ok(self.between.wait_for(self.sent - given_up, TIMEOUT))
    }

    fn missed(&self, count: u64) -> Error {
        Error::new(
            format!("carrying {} bytes", self.size),
            format!(
                "{count} messages did not arrive within 1 s each, though no other was in flight"
            ),
        )
    }

    fn one(&mut self) -> Result<()> {
        let sent = match &self.out {
            Out::Packets(raw) => raw.send(self.message.stamped(self.sent)?),
            Out::Datagrams(socket) => socket.send(self.message.payload(self.sent)?).map(drop),
        };
        sent.map_err(|error| rejected(self.size, error))?;
        self.sent += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_message_may_always_be_in_flight() {
        assert_eq!(window(425_984, 1_500), 104);
        assert_eq!(window(425_984, 190_056), 1);
        assert_eq!(window(1_000, 4_000_000), 1);
        assert_eq!(window(64 << 20, 1_500), 256);
    }
}
