//! A sender's end of a flow.

mod datagrams;
#[cfg_attr(not(target_os = "linux"), path = "send/no_departures.rs")]
mod departures;
#[cfg(target_os = "linux")]
mod echo;
mod log;
mod replies;
mod round_trips;
#[cfg_attr(not(target_os = "linux"), path = "send/no_sctp.rs")]
mod sctp;
mod stall_timer;
mod stream;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use units::{Span, Time};
use wire::control::{Meter, Protocol};
use wire::message::{Carrier, Echo, HEADER_LEN, Message};

use super::counters::SentCounters;
use super::echo_tags::EchoTags;
use super::intervals::Observed;
use super::options::kind;
use super::paced::Departures;
#[cfg(target_os = "linux")]
use super::path_mtu;
use super::payload::{Payload, PayloadBytes};
use super::records::LogSink;
use super::{Flow, Record, Records};
pub(super) use datagrams::emit;
#[cfg(target_os = "linux")]
pub(super) use echo::run as run_echoes;
use log::Log;
pub use log::{Departed, Omitted, Sent};
use os::deadline::Deadline;
use os::error::{Error, OperationContext, Result};
use os::socket::{Errno, MsgFlags, Options, Socket, UDP_RECEIVE_BUFFER};
use os::socket::{
    apply, connect, open, receive, reset, send, send_buffer, set_timeout, stated_tcp_state,
};
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

    /// The header of the message that `departures` let go.
    fn message(&self, departures: &Departures, sequence: u64, size: usize, sent: Time) -> Message {
        let message = Message {
            echo: Echo::Unwanted,
            warmup: departures.is_warmup(),
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
