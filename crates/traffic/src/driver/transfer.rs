//! A transfer between two workers: one sends messages, the other receives them, and
//! each reports its results.
//!
//! The receiver opens first and reports its port; then the sender connects, shows the
//! trial's token ([`crate::driver::trial_token`]), and sends the warm-up and the counted
//! messages. Both end by themselves.

#[cfg_attr(not(target_os = "linux"), path = "transfer/no_acknowledged.rs")]
mod acknowledged;
#[cfg(target_os = "linux")]
pub mod latency_breakdown;
mod receive;
mod send;

use std::net::{IpAddr, SocketAddr};

use meter::clock_offset::ClockLine;
use meter::time_series::TimeSeries;
use meter::{Goodput, MessagePlan, Summary};
use units::{Bytes, Rate, Span, Time, Transport};
pub use wire::message::HEADER_LEN;

use crate::driver::trial_token::{self, DataPort, Token};
use os::ProgramStamps;
use os::clock::Epoch;
use os::cpu_time::Process;
use os::error::Result;
use os::socket::{
    CHOOSES_CONGESTION_CONTROL, LIMITS_SEGMENTS, Options, Socket, TcpState, UDP_RECEIVE_BUFFER,
};
pub use receive::{Receiver, Recorded};
pub use send::send;

/// The receiver's echoes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Echo {
    /// None.
    Off,
    /// The header of every message, while others are in flight.
    Headers,
    /// All bytes of every message; the next message is sent after the echo.
    Whole,
}

/// The settings that both ends share.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Transfer {
    pub protocol: Transport,
    /// The receiver's address.
    pub address: IpAddr,
    /// Bytes of the warm-up, sent before counting begins.
    pub warmup: Bytes,
    /// Bytes per message of the warm-up. Long messages outrun a link that short ones
    /// may not, and only then is its token bucket drained.
    pub warmup_message: Bytes,
    /// Bytes that count.
    pub size: Bytes,
    /// Bytes per message, i.e. per write.
    pub message: Bytes,
    /// The largest goodput of the path, if it has a rate: determines where counting may
    /// begin ([`meter::GoodputWindow`]).
    pub pace: Option<Rate>,
    /// Whether messages leave at `pace`, each at its time of a grid: for datagrams
    /// into a link without back-pressure.
    pub paced: bool,
    /// Whether the receiver records the delay of every message, which costs some
    /// processor time.
    pub delays: bool,
    /// The receiver's echoes.
    pub echo: Echo,
    /// TCP congestion control. An end whose system lets no program choose keeps the system's
    /// own.
    pub congestion: String,
    /// The largest segment of TCP in bytes, TCP's own options included (TCP_MAXSEG);
    /// `None`: as the path's MTU allows.
    pub largest_segment: Option<u16>,
    /// The processor on which both ends run meanwhile; `None`: any.
    pub processor: Option<u32>,
    /// SO_SNDBUF; `None`: the kernel's default.
    pub send_buffer: Option<Bytes>,
    /// SO_RCVBUF; `None`: the kernel's default (UDP: the largest that the kernel
    /// grants).
    pub receive_buffer: Option<Bytes>,
    /// Whether Nagle's algorithm is active.
    pub nagle: bool,
    /// The zero of both ends' times, each on its own clock.
    pub epoch: Epoch,
    /// The longest time without progress of either end.
    pub timeout: Span,
    /// The time without arrivals after which a UDP receiver takes the rest for lost.
    pub quiet: Span,
}

impl Transfer {
    /// Total bytes, warm-up included.
    pub fn bytes(&self) -> Bytes {
        self.message_plan().bytes()
    }

    fn message_plan(&self) -> MessagePlan {
        MessagePlan::new(self.warmup, self.warmup_message, self.size, self.message)
    }

    /// A port on the transfer's address only, for the sender with `token`.
    fn data_port(&self, token: Token) -> Result<DataPort> {
        let options = Options {
            stamps: true,
            ..self.options()
        };
        DataPort::open(self.protocol, self.address, options, token, 1)
    }

    /// A socket connected to `port` of the transfer's address, which has shown `token`.
    fn connected(&self, token: &Token, port: u16) -> Result<Socket> {
        let to = SocketAddr::new(self.address, port);
        let socket = trial_token::connect(self.protocol, to, &self.options(), self.timeout)?;
        trial_token::show(&socket, self.protocol, token, to, self.timeout)?;
        Ok(socket)
    }

    /// The options of either end's socket.
    fn options(&self) -> Options {
        Options {
            send_buffer: self.send_buffer,
            receive_buffer: match self.protocol {
                Transport::Tcp => self.receive_buffer,
                Transport::Udp => self.receive_buffer.or(Some(UDP_RECEIVE_BUFFER)),
            },
            congestion: CHOOSES_CONGESTION_CONTROL.then(|| self.congestion.clone()),
            // Each end tells the other its largest segment [RFC9293 s3.7.1]: one limit is enough.
            segment: self.largest_segment.filter(|_| LIMITS_SEGMENTS),
            no_delay: !self.nagle,
            non_blocking: true,
            ..Options::default()
        }
    }
}

/// The sender's results.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Sent {
    /// Messages handed to the kernel.
    pub messages: u64,
    /// The time just before the first counted byte was written.
    pub first_write: Time,
    /// The time at which the kernel received the acknowledgement of the last byte
    /// (TCP); only Linux states it.
    pub last_acknowledged: Option<Time>,
    /// Times from write to echo of the counted messages, if echoes were requested.
    pub round_trips: Option<Summary>,
    /// Time from the first write to the last echo of whole messages, if none was lost.
    pub echoes_took: Option<Span>,
    /// TCP's statistics at the end; only Linux states them.
    pub tcp: Option<TcpState>,
    /// TCP's smoothed round-trip time since the first write, warm-up included.
    pub smoothed_rtt: TimeSeries,
    /// SO_SNDBUF at the end, in bytes of kernel memory.
    pub send_buffer: u64,
    /// Processor time of this process.
    pub process: Process,
}

/// The receiver's results.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Received {
    /// Bytes that arrived, warm-up included.
    pub bytes: Bytes,
    /// Counted reads without the kernel's timestamp, timed by the program's clock.
    pub unstamped: u64,
    /// The precision of the program's stamps; `None` where the kernel has its own.
    pub stamps: Option<ProgramStamps>,
    /// The mean overestimate of a delay: the time between the reads in which messages
    /// ended.
    pub spread: Span,
    /// Counted bytes over the time between the kernel's receive timestamps.
    pub goodput: Option<Goodput>,
    /// One-way delays and losses of the counted messages.
    pub delays: Summary,
    /// This clock minus the sender's, by which the delays were corrected; `None`: both ends
    /// read one clock.
    pub clocks: Option<ClockLine>,
    /// Bytes that arrived since the sender's first write, warm-up included.
    pub arrivals: TimeSeries,
    /// SO_RCVBUF at the end, in bytes of kernel memory.
    pub receive_buffer: u64,
    /// Rejected connections of unauthenticated peers; over UDP, their datagrams before the sender's.
    pub rejected_peers: u64,
    /// Processor time of this process.
    pub process: Process,
}
