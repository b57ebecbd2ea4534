//! A receiver's end of one flow: a socket that accepts data from the sender only, and
//! statistics.

mod datagrams;
#[cfg_attr(not(target_os = "linux"), path = "receive/no_out_of_order.rs")]
mod out_of_order;
mod recorder;
mod reversed;
#[cfg_attr(not(target_os = "linux"), path = "receive/no_sctp.rs")]
mod sctp;
mod stream;

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use meter::clock_offset::ClockOffset;
use units::{Bytes, Span, Time};
use wire::control::{Flow, Protocol, Report};

use super::Records;
use super::counters::ReceivedCounters;
use super::options::kind;
use super::records::LogSink;
use crate::driver::callers::BACKLOG;
use crate::driver::timeline::Timeline;
use os::clock;
use os::deadline::Deadline;
use os::error::{Error, OperationContext, Result};
use os::socket::{Options, Socket, UDP_RECEIVE_BUFFER};
use os::socket::{address_of, listen, merge, open, receive_buffer, stamp_arrivals};
use recorder::ReceiveRecorder;

/// The longest wait of a flow's thread before it checks whether it is to end.
const LOOK: Span = Span::from_millis(50);

/// The time without arrivals after which a flow that has ended is complete. Datagrams
/// still missing are lost. Missing data of a stream are being retransmitted, so its end
/// arrives by itself, unless the sender has gone.
const fn quiet(transport: Protocol) -> Span {
    match transport {
        Protocol::Udp | Protocol::UdpLite { .. } => Span::from_millis(500),
        Protocol::Tcp | Protocol::Sctp { .. } => Span::from_secs(20),
    }
}

/// The longest time for the sender to begin a flow whose port is open.
const BEGIN: Span = Span::from_secs(30);

/// Signals from the session to a flow.
#[derive(Debug)]
pub(super) struct Signal {
    /// Number of messages sent, once known.
    expected: AtomicU64,
    /// The time at which it became known, in picoseconds of this clock.
    since: AtomicU64,
    /// Whether a flow that this end sends was started.
    begun: AtomicBool,
    stop: Arc<AtomicBool>,
}

impl Signal {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            expected: AtomicU64::new(u64::MAX),
            since: AtomicU64::new(0),
            begun: AtomicBool::new(false),
            stop: Arc::default(),
        })
    }

    /// Sets the number of messages sent: no more will follow.
    pub(super) fn expect(&self, messages: u64) {
        let messages = messages.min(u64::MAX - 1);
        let now = clock::monotonic().as_picos();
        self.since.store(now, Ordering::Relaxed);
        self.expected.store(messages, Ordering::Release);
    }

    /// Starts a flow that this end sends.
    pub(super) fn begin(&self) {
        self.begun.store(true, Ordering::Release);
    }

    /// Stops the flow, even if messages are missing.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// The flag that [`Signal::stop`] sets.
    pub(super) fn stopped(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Number of messages sent, once known.
    pub(super) fn expected(&self) -> Option<u64> {
        Some(self.expected.load(Ordering::Acquire)).filter(|messages| *messages != u64::MAX)
    }

    /// The time at which the number became known.
    fn since(&self) -> Time {
        Time::from_picos(self.since.load(Ordering::Relaxed))
    }
}

/// A flow that waits for its sender.
pub(super) struct Waiting {
    flow: Flow,
    socket: Socket,
    peer: IpAddr,
    /// Whether this end has connected the socket, because it asked for the flow.
    connected: bool,
    signal: Arc<Signal>,
    /// Whether traffic may come from another address than the control connection.
    is_apart: bool,
    /// The end of the session.
    deadline: Deadline,
    recorder: ReceiveRecorder,
    /// The datagrams without room before those that count, if somebody counts them.
    dropped_before: Option<u32>,
    /// The local port.
    pub(super) port: u16,
    /// SO_RCVBUF as granted by the kernel.
    pub(super) buffer: u64,
}

/// The relation of both ends' clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clocks {
    /// The sender's clock at the time from which messages count.
    pub(super) epoch: u64,
    /// This clock minus the sender's.
    pub(super) offset: ClockOffset,
}

impl Clocks {
    /// This clock at that time.
    pub(super) fn zero(self) -> u64 {
        self.offset.to_other(self.epoch)
    }
}

impl Waiting {
    /// Opens the first free one of `ports` at `here` for a flow from `peer` that ends at
    /// `end` at the latest. Port 0 leaves it to the kernel.
    ///
    /// # Errors
    /// All of them are in use, or the kernel rejects the socket.
    pub(super) fn open(
        flow: Flow,
        (here, ports): (SocketAddr, &RangeInclusive<u16>),
        peer: IpAddr,
        clocks: Clocks,
        signal: Arc<Signal>,
        end: Time,
        records: Option<Records>,
    ) -> Result<Self> {
        let socket = first_free(&flow, here, ports)?;
        let port = address_of(&socket)?.port();
        let buffer = receive_buffer(&socket)?;
        let recorder = ReceiveRecorder::new(
            flow.flow,
            Timeline::new(clocks.zero()),
            LogSink::new(records),
        );
        Ok(Self {
            is_apart: flow.at != [0; 16],
            flow,
            socket,
            peer,
            connected: false,
            deadline: Deadline::new(end, &signal.stop),
            signal,
            recorder,
            dropped_before: None,
            port,
            buffer,
        })
    }

    /// The counters of the flow, to be read while it runs.
    pub(super) fn counters(&self) -> Arc<ReceivedCounters> {
        self.recorder.counters()
    }

    /// Receives the flow until it has ended or is stopped. Returns its statistics.
    ///
    /// # Errors
    /// If the kernel rejects a call, or the sender's data are invalid.
    pub(super) fn run(mut self) -> Result<Report> {
        match self.flow.transport {
            Protocol::Udp | Protocol::UdpLite { .. } => self.take_datagrams()?,
            Protocol::Tcp => self.take_stream()?,
            Protocol::Sctp { .. } => self.take_association()?,
        }
        Ok(self.recorder.report())
    }

    /// Enables the kernel's receive timestamps if arrivals are measured; a receiver
    /// that only sends echoes is faster without them.
    fn stamp(&self, socket: &Socket) -> Result<()> {
        match self.flow.meter {
            wire::control::Meter::OneWay => stamp_arrivals(socket),
            wire::control::Meter::RoundTrip => Ok(()),
        }
    }

    /// Whether the flow is complete: all messages are here, or none has arrived since
    /// `latest` for too long. The sender's end-of-flow message may overtake the last
    /// data, so the silence also counts from there.
    fn is_over(&self, latest: Time) -> bool {
        let quiet =
            || clock::monotonic() > latest.max(self.signal.since()) + quiet(self.flow.transport);
        self.is_complete() || (self.signal.expected().is_some() && quiet())
    }

    /// Whether all messages have arrived.
    fn is_complete(&self) -> bool {
        let all = |expected| self.recorder.seen() >= expected;
        self.signal.expected().is_some_and(all)
    }
}

/// The socket of a flow at the first of these ports that is free.
fn first_free(flow: &Flow, mut here: SocketAddr, ports: &RangeInclusive<u16>) -> Result<Socket> {
    for port in ports.clone() {
        here.set_port(port);
        match at(flow, here) {
            Err(error) if port < *ports.end() && error.source.kind() == ErrorKind::AddrInUse => {}
            done => return done,
        }
    }
    Err(Error::new("opening a data port", "the range is empty"))
}

fn at(flow: &Flow, here: SocketAddr) -> Result<Socket> {
    let is_echoed = flow.meter == wire::control::Meter::RoundTrip;
    let connects = !flow.transport.is_of_datagrams();
    let options = Options {
        bind: Some(here),
        receive_buffer: match (flow.buffer, flow.transport) {
            (0, _) if connects => None,
            (0, _) => Some(UDP_RECEIVE_BUFFER),
            (bytes, _) => Some(Bytes::new(bytes.into())),
        },
        timeout: Some(LOOK),
        reuse_address: connects,
        no_delay: is_echoed && matches!(flow.transport, Protocol::Sctp { .. }),
        ..Options::default()
    };
    let socket = open(kind(flow.transport), here.ip(), &options)?;
    if connects {
        listen(&socket, BACKLOG)?;
    } else if flow.merge {
        merge(&socket).during(|| "letting the kernel merge datagrams")?;
    }
    Ok(socket)
}
