//! A sender's end of a flow.

mod datagrams;
#[cfg_attr(not(target_os = "linux"), path = "send/no_departures.rs")]
mod departures;
#[cfg(target_os = "linux")]
mod echo;
mod replies;
mod round_trips;
#[cfg_attr(not(target_os = "linux"), path = "send/no_sctp.rs")]
mod sctp;
mod stall_timer;
mod stream;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use meter::streaming_recorder::SHARES;
use meter::time_series::TimeSeries;
use units::{Bytes, Span, Time};
use wire::control::{Meter, Protocol};
use wire::message::{Carrier, Echo, HEADER_LEN, Message};

use super::counters::{PathMtuNotice, SentCounters};
use super::delays::DelayDistribution;
use super::echo_tags::EchoTags;
use super::intervals::Observed;
use super::options::kind;
use super::paced::Departures;
#[cfg(target_os = "linux")]
use super::path_mtu;
use super::payload::{Payload, PayloadBytes};
use super::records::LogSink;
use super::round_trips::RoundTripRecorder;
use super::{Flow, Record, Records};
pub(super) use datagrams::emit;
#[cfg(target_os = "linux")]
pub(super) use echo::run as run_echoes;
use os::deadline::Deadline;
use os::error::{Error, OperationContext, Result};
use os::socket::{Errno, MsgFlags, Options, SmoothedRtt, Socket, TcpState, UDP_RECEIVE_BUFFER};
use os::socket::{
    apply, connect, open, receive, reset, send, send_buffer, set_timeout, stated_tcp_state,
};
use os::{ProgramStamps, program_stamps};
pub use stall_timer::Stall;

/// The longest time of a call on a flow's socket before the flow checks whether it is
/// to end.
const LOOK: Span = Span::from_millis(50);

/// Interval between repetitions of a cookie, and their number.
const AGAIN: Span = Span::from_millis(200);
const TRIES: u32 = 25;

/// The time after which an echo counts as lost, if each message waits for the previous
/// one.
const LOST: Span = Span::from_secs(1);

/// The sender's results of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    /// What was sent in the warm-up, which all other fields leave out.
    pub omitted: Omitted,
    /// Messages that the schedule offered until the flow ended.
    pub offered: u64,
    /// Messages handed to the kernel.
    pub messages: u64,
    /// Bytes of those messages.
    pub bytes: Bytes,
    /// Messages of a size that the protocol cannot carry, which were not sent.
    pub rejected: u64,
    /// Messages that the kernel did not accept: too large for the path, or without room
    /// in front of the interface.
    pub unsent: u64,
    /// Those of them that were too large for the path.
    pub too_large: u64,
    /// The latest notice of the path MTU.
    pub path_mtu: Option<PathMtuNotice>,
    /// Time from the first departure to the last.
    pub lasted: Span,
    /// Instant at which the first message was to be written, in nanoseconds since the
    /// start of the session, whether or not the kernel accepted it.
    pub first: Option<u64>,
    /// Timing error of messages that had a time.
    pub timing_error: Option<DelayDistribution>,
    /// Round-trip times.
    pub round_trips: Option<DelayDistribution>,
    /// Their quantiles [`SHARES`] in seconds.
    pub round_trip_quantiles: Option<[f64; SHARES.len()]>,
    /// Round trips by the arrivals of their echoes, since the start of the session; of
    /// streams without echoes TCP's smoothed round-trip time.
    pub round_trips_over_time: TimeSeries,
    /// Messages whose echo arrived, each counted once.
    pub echoes: u64,
    /// Further echoes of messages whose echo had arrived.
    pub copies: u64,
    /// Echoes without the kernel's timestamp although one was requested.
    pub unstamped: u64,
    /// The precision of the program's timestamps of echoes; `None` where the kernel has its own.
    pub stamps: Option<ProgramStamps>,
    /// Echoes of no message that was sent; an honest receiver has none.
    pub unexpected: u64,
    /// Departures of messages that the kernel timestamped.
    pub departures: Vec<Departed>,
    /// TCP's statistics at the end.
    pub tcp: Option<TcpState>,
    /// SO_SNDBUF as granted by the kernel.
    pub send_buffer: u64,
    /// Why a stream ended early, if it did.
    pub stall: Option<Stall>,
}

/// What was sent in the warm-up of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Omitted {
    /// Messages handed to the kernel.
    pub messages: u64,
    /// Bytes of those messages.
    pub bytes: Bytes,
}

impl Sent {
    /// Messages and bytes handed to the kernel, those of the warm-up included.
    pub fn all(&self) -> (u64, Bytes) {
        let Omitted { messages, bytes } = self.omitted;
        (self.messages + messages, self.bytes + bytes)
    }

    /// Messages that were due and could not be sent in time: the sender fell behind.
    pub fn missed(&self) -> u64 {
        let tried = self.messages + self.rejected + self.unsent;
        self.offered.saturating_sub(tried)
    }
}

/// The departure of a message of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departed {
    /// Sequence number in the flow, from 0.
    pub sequence: u64,
    /// Instant at which the packet with its first bytes was passed to the interface,
    /// in nanoseconds since the start of the session.
    pub nanos: u64,
}

/// A flow whose socket is connected and whose cookie was shown.
pub(super) struct Ready {
    flow: Flow,
    number: u16,
    to: SocketAddr,
    socket: Socket,
    log_sink: LogSink,
    tags: EchoTags,
    counters: Arc<SentCounters>,
    payload: Option<PayloadBytes>,
}

impl Ready {
    /// Connects a flow to its port at the receiver.
    pub(super) fn connect(
        flow: Flow,
        number: u16,
        to: SocketAddr,
        cookie: &[u8; 16],
        records: Option<Records>,
        deadline: &Deadline,
    ) -> Result<Self> {
        let transport = flow.transport.unwrap_or(Protocol::Udp);
        let own = &flow.options.socket;
        let options = Options {
            path_errors: transport.is_of_datagrams(),
            receive_buffer: match flow.reverse {
                None => None,
                Some(_) if transport.is_of_datagrams() => {
                    own.receive_buffer.or(Some(UDP_RECEIVE_BUFFER))
                }
                Some(_) => own.receive_buffer,
            },
            timeout: Some(Span::from_secs(5)),
            ..own.clone()
        };
        let socket = open(kind(transport), to.ip(), &options)?;
        connect(&socket, labelled(to, own.flow_label))
            .during(|| format!("connecting the flow {} to {to}", flow.name.as_str()))?;
        let ready = Self {
            payload: flow.payload.as_ref().map(Payload::open).transpose()?,
            flow,
            number,
            to,
            socket,
            log_sink: LogSink::new(records),
            tags: EchoTags::default(),
            counters: Arc::default(),
        };
        ready.show(transport, cookie, deadline)?;
        set_timeout(&ready.socket, LOOK)?;
        Ok(ready)
    }

    /// A flow whose socket is connected to the end that asked for it.
    pub(super) fn met(
        flow: Flow,
        number: u16,
        to: SocketAddr,
        socket: Socket,
        counters: Arc<SentCounters>,
    ) -> Result<Self> {
        let transport = flow.transport.unwrap_or(Protocol::Udp);
        let options = Options {
            path_errors: transport.is_of_datagrams(),
            timeout: Some(LOOK),
            ..flow.options.socket.clone()
        };
        apply(&options, &socket, kind(transport), to.ip())?;
        Ok(Self {
            payload: None,
            flow,
            number,
            to,
            socket,
            log_sink: LogSink::new(None),
            tags: EchoTags::default(),
            counters,
        })
    }

    /// The socket of a flow that the other end sends.
    pub(super) fn into_socket(self) -> Socket {
        self.socket
    }

    /// Number of the flow.
    pub(super) fn number(&self) -> u16 {
        self.number
    }

    /// The flow, to be observed while it runs.
    ///
    /// # Errors
    /// If the kernel has no descriptor left.
    pub(super) fn observed(&self) -> Result<Observed> {
        if self.flow.transport == Some(Protocol::Tcp) {
            let socket = self.socket.try_clone().during(|| "sharing a socket")?;
            // Nobody has set it before.
            let _ = self.counters.stream.set(socket);
        }
        Ok(Observed {
            flow: self.number,
            name: self.flow.name,
            counters: Arc::clone(&self.counters),
            delay: self.flow.delay,
            omit: self.flow.omit,
            echoed: self.flow.meter == Meter::RoundTrip,
        })
    }

    /// Sends messages until the flow ends. Times in headers count from `epoch`; the
    /// flow begins at `begin`.
    pub(super) fn run(mut self, epoch: Time, begin: Time, stop: &Arc<AtomicBool>) -> Result<Sent> {
        let to = self.to.ip();
        let mut departures = Departures::new(&self.flow, to, begin, stop, &self.counters)?;
        let mut log = Log::new(epoch, &self.counters);
        match self.flow.transport {
            Some(Protocol::Tcp) => self.send_stream(&mut departures, &mut log)?,
            Some(Protocol::Sctp { .. }) => self.send_association(&mut departures, &mut log)?,
            Some(Protocol::Udp | Protocol::UdpLite { .. }) | None => {
                self.send_datagrams(&mut departures, &mut log)?;
                self.read_errors();
            }
        }
        self.log_sink.flush();
        let tcp = match self.flow.transport {
            Some(Protocol::Tcp) => stated_tcp_state(&self.socket)?,
            _ => None,
        };
        let tcp = tcp.map(|tcp| log.after_warmup(tcp));
        if log.stall.is_some() {
            // Otherwise the receiver waits for data that do not arrive.
            let _ = reset(&self.socket);
        }
        Ok(log.finish(&departures, tcp, send_buffer(&self.socket)?))
    }

    /// Shows the cookie, which proves that the session and this socket have the same
    /// owner.
    fn show(&self, transport: Protocol, cookie: &[u8; 16], deadline: &Deadline) -> Result<()> {
        let doing = || format!("opening the flow {}", self.flow.name.as_str());
        let mut cookie = *cookie;
        if !transport.is_of_datagrams() {
            send(&self.socket, &cookie, MsgFlags::MSG_NOSIGNAL).during(doing)?;
            return match transport {
                Protocol::Tcp => Ok(()),
                _ => self.see_answer(&cookie, deadline),
            };
        }
        set_timeout(&self.socket, AGAIN)?;
        let mut room = [0; 64];
        for _ in 0..TRIES {
            let Ok(permit) = deadline.permit() else {
                return Err(Error::new(doing(), "it was interrupted, or took too long"));
            };
            match send(&self.socket, &cookie, MsgFlags::empty()) {
                // An ICMP error to an earlier cookie means that the port was closed; it
                // may open.
                Ok(_) | Err(Errno::ECONNREFUSED | Errno::EINTR | Errno::ENOBUFS) => {}
                Err(error) => return Err(error).during(doing),
            }
            if receive(&self.socket, &mut room, MsgFlags::empty(), permit) != Ok(cookie.len()) {
                continue;
            }
            let answer = &room[..cookie.len()];
            if self.flow.options.destination.is_none() || *answer == cookie {
                return Ok(());
            }
            // The receiver asks whether this end receives at the address of its data.
            cookie.copy_from_slice(answer);
        }
        Err(Error::new(
            doing(),
            format!(
                "no answer to {} from port {}; is it open in the firewall there?",
                transport.name(),
                self.to.port()
            ),
        ))
    }

    /// Notes the path MTU, if an error that waits states it. Only Linux keeps such errors.
    fn read_errors(&self) {
        #[cfg(target_os = "linux")]
        path_mtu::read_errors(&self.socket, &self.counters);
    }

    /// Writes a message with its payload to the start of `room`.
    fn write_message(
        &mut self,
        message: &Message,
        carrier: Carrier,
        room: &mut [u8],
    ) -> Result<()> {
        emit(message, carrier, room)?;
        let size = usize::try_from(message.length).unwrap_or(usize::MAX);
        match (&mut self.payload, room.get_mut(HEADER_LEN..size)) {
            (Some(payload), Some(behind)) => payload.fill(behind),
            _ => Ok(()),
        }
    }

    /// The header of the next message.
    fn message(&self, sequence: u64, size: usize, sent: Time, warmup: bool) -> Message {
        let message = Message {
            echo: Echo::Unwanted,
            warmup,
            tag: 0,
            length: u32::try_from(size).unwrap_or(u32::MAX),
            sequence,
            sent,
        };
        match self.flow.meter {
            Meter::OneWay => message,
            Meter::RoundTrip => self.tags.tagged(Message {
                echo: Echo::Wanted,
                ..message
            }),
        }
    }
}

/// The address with a flow label.
fn labelled(mut to: SocketAddr, label: Option<u32>) -> SocketAddr {
    if let (SocketAddr::V6(to), Some(label)) = (&mut to, label) {
        // In network byte order, as the kernel has it.
        to.set_flowinfo(label.to_be());
    }
    to
}

/// Records departures and echoes of messages.
pub(super) struct Log {
    /// The zero of the times in headers.
    epoch: Time,
    counters: Arc<SentCounters>,
    omitted: Omitted,
    messages: u64,
    bytes: Bytes,
    unsent: u64,
    too_large: u64,
    /// TCP's state at the end of the warm-up.
    tcp_before: Option<TcpState>,
    first: Option<Time>,
    /// The time of the first message, sent or not.
    begun: Option<Time>,
    last: Time,
    pub(super) round_trips: RoundTripRecorder,
    pub(super) smoothed_rtt: SmoothedRtt,
    pub(super) departures: Vec<Departed>,
    pub(super) stall: Option<Stall>,
}

impl Log {
    pub(super) fn new(epoch: Time, counters: &Arc<SentCounters>) -> Self {
        Self {
            epoch,
            counters: Arc::clone(counters),
            omitted: Omitted::default(),
            messages: 0,
            bytes: Bytes::ZERO,
            unsent: 0,
            too_large: 0,
            tcp_before: None,
            first: None,
            begun: None,
            last: epoch,
            round_trips: RoundTripRecorder::new(counters),
            smoothed_rtt: SmoothedRtt::default(),
            departures: Vec::new(),
            stall: None,
        }
    }

    /// Converts a time to the time in headers.
    pub(super) fn since_epoch(&self, now: Time) -> Time {
        Time::ZERO + now.since(self.epoch).unwrap_or_default()
    }

    /// Records that a message was to be written at `now`.
    pub(super) fn begin(&mut self, now: Time) {
        self.begun.get_or_insert(now);
    }

    /// The messages that departed, those of the warm-up included.
    pub(super) fn all_messages(&self) -> u64 {
        self.messages + self.omitted.messages
    }

    /// Notes the state of `stream` if `message` is the first one after the warm-up.
    pub(super) fn begin_counting(&mut self, message: &Message, stream: &Socket) -> Result<()> {
        if self.omitted.messages > 0 && self.tcp_before.is_none() && !message.warmup {
            self.tcp_before = stated_tcp_state(stream)?;
        }
        Ok(())
    }

    /// TCP's state at the end, with the segments since the warm-up.
    fn after_warmup(&self, tcp: TcpState) -> TcpState {
        let Some(before) = &self.tcp_before else {
            return tcp;
        };
        TcpState {
            segments: tcp.segments.saturating_sub(before.segments),
            retransmitted: tcp.retransmitted.saturating_sub(before.retransmitted),
            ..tcp
        }
    }

    /// Records a message that departed at `now`.
    pub(super) fn sent(&mut self, message: &Message, now: Time) {
        let size = Bytes::new(message.length.into());
        self.counters.sent(size);
        if message.warmup {
            self.omitted.messages += 1;
            self.omitted.bytes += size;
            return;
        }
        self.messages += 1;
        self.bytes += size;
        self.first.get_or_insert(now);
        self.last = now;
    }

    /// Records a message that the kernel did not accept because of `error`.
    pub(super) fn unsent(&mut self, message: &Message, error: Errno) {
        self.counters.unsent(1);
        let counted = u64::from(!message.warmup);
        self.unsent += counted;
        if error == Errno::EMSGSIZE {
            self.too_large += counted;
        }
    }

    /// The final results.
    pub(super) fn finish(
        self,
        departures: &Departures,
        tcp: Option<TcpState>,
        send_buffer: u64,
    ) -> Sent {
        let (offered, rejected, timing_error) = departures.totals();
        let lasted = self.lasted();
        let first = self.begun.or(self.first);
        let first = first.map(|first| self.since_epoch(first).as_nanos());
        let (distribution, quantiles) = (
            self.round_trips.distribution(),
            self.round_trips.quantiles(),
        );
        let [echoes, copies] = [self.round_trips.echoes(), self.round_trips.copies()];
        let (unstamped, unexpected) = (self.round_trips.unstamped, self.round_trips.unexpected);
        let mut round_trips_over_time = self.round_trips.over_time();
        round_trips_over_time.add(&self.smoothed_rtt.finish());
        Sent {
            omitted: self.omitted,
            offered,
            messages: self.messages,
            bytes: self.bytes,
            rejected,
            unsent: self.unsent,
            too_large: self.too_large,
            path_mtu: self.counters.path_mtu(),
            lasted,
            first,
            timing_error,
            round_trips: distribution,
            round_trip_quantiles: quantiles,
            echoes,
            copies,
            unstamped,
            // Measured when the session began.
            stamps: program_stamps().ok().flatten(),
            unexpected,
            round_trips_over_time,
            departures: self.departures,
            tcp,
            send_buffer,
            stall: self.stall,
        }
    }

    fn lasted(&self) -> Span {
        self.first
            .and_then(|first| self.last.since(first))
            .unwrap_or_default()
    }
}

impl LogSink {
    /// Appends a one-way message to the log; the receiver logs its arrival.
    fn keep_sent(&mut self, flow: u16, message: &Message) {
        self.keep(Record {
            flow,
            size: message.length,
            sequence: message.sequence,
            sent: message.sent.as_nanos(),
            untimed: false,
            received: None,
            stamped: false,
            read: None,
        });
    }
}

/// Whether a call for data sleeps: not if the flow is to be `busy`.
pub(super) const fn waiting(busy: bool) -> MsgFlags {
    match busy {
        true => MsgFlags::MSG_DONTWAIT,
        false => MsgFlags::empty(),
    }
}

/// Whether the kernel rejected only this datagram and may accept others.
pub(super) fn is_passing(error: Errno) -> bool {
    matches!(
        error,
        Errno::EAGAIN
            | Errno::ENOBUFS
            | Errno::ECONNREFUSED
            | Errno::EMSGSIZE
            | Errno::EPERM
            | Errno::EHOSTUNREACH
            | Errno::ENETUNREACH
            | Errno::EINTR
    )
}
