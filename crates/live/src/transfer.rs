//! A transfer between two workers: one sends messages, the other receives
//! them, and each says what it saw.
//!
//! The receiver opens first and names its port; then the sender connects,
//! sends the pre-roll and the counted messages, and both end by themselves.

mod acknowledged;
pub mod latency_breakdown;
mod receive;
mod send;
mod socket;

use std::net::IpAddr;

use proto::{Goodput, MessagePlan, Summary};
use units::{Bytes, Rate, Span, Time, Transport};
pub use wire::message::HEADER_LEN;

use crate::clock::Epoch;
use crate::meter::Process;
pub use receive::Receiver;
pub use send::send;
pub use socket::{UDP_RECEIVE_BUFFER, keep_stamping, try_congestion_control};
pub(crate) use socket::{
    choose_congestion_control, endpoint, receive_buffer, send_buffer, stamp_arrivals, tcp_state,
    wait,
};

/// What the receiver answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Echo {
    /// Nothing.
    Off,
    /// Every message with its header, while others come.
    Headers,
    /// Every message with all its octets; the next one leaves once it is back.
    Whole,
}

/// What both ends must agree on.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Transfer {
    /// The transport.
    pub protocol: Transport,
    /// The receiver's address.
    pub address: IpAddr,
    /// Octets sent before counting begins.
    pub preroll: Bytes,
    /// Octets of a message of the pre-roll: long ones outrun a link where
    /// short ones would not, and only then is its bucket drained.
    pub preroll_message: Bytes,
    /// Counted octets.
    pub size: Bytes,
    /// Octets of a message, i.e. of one write.
    pub message: Bytes,
    /// The most goodput that the path can carry, if it has a rate: where
    /// counting may begin is judged by it ([`proto::GoodputWindow`]).
    pub pace: Option<Rate>,
    /// Whether messages leave no faster than `pace`, each at its instant of a
    /// grid: for datagrams into a link that does not hold its sender back.
    pub paced: bool,
    /// Whether the receiver keeps the delay of every message, which costs it
    /// some processor time.
    pub delays: bool,
    /// What the receiver answers.
    pub echo: Echo,
    /// TCP congestion control.
    pub congestion: String,
    /// SO_SNDBUF, or the kernel's choice.
    pub send_buffer: Option<Bytes>,
    /// SO_RCVBUF, or the kernel's choice (UDP: the most the kernel gives).
    pub receive_buffer: Option<Bytes>,
    /// Whether Nagle's algorithm is on.
    pub nagle: bool,
    /// The instant from which both ends count.
    pub epoch: Epoch,
    /// How long either end waits for progress.
    pub timeout: Span,
    /// After this silence a UDP receiver takes the rest for lost.
    pub quiet: Span,
}

impl Transfer {
    /// Octets that cross, the pre-roll among them.
    pub fn octets(&self) -> Bytes {
        self.message_plan().octets()
    }

    fn message_plan(&self) -> MessagePlan {
        MessagePlan::new(self.preroll, self.preroll_message, self.size, self.message)
    }
}

/// What the sender saw.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Sent {
    /// Messages handed to the kernel.
    pub messages: u64,
    /// Just before the first counted octet was written.
    pub first_write: Time,
    /// When the kernel took the acknowledgement of the last octet (TCP).
    pub last_acknowledged: Option<Time>,
    /// Times from write to echo of the counted messages, if echoes were asked.
    pub round_trips: Option<Summary>,
    /// From the first write to the last echo of whole messages, if none was lost.
    pub echoes_took: Option<Span>,
    /// What TCP said at the end.
    pub tcp: Option<TcpState>,
    /// SO_SNDBUF as the kernel had it at the end, in octets of its memory.
    pub send_buffer: u64,
    /// What it cost this process.
    pub process: Process,
}

/// The statistics that TCP keeps, at the end of a transfer [LinuxUapi tcp.h].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TcpState {
    /// Congestion control in force.
    pub congestion: String,
    /// Smoothed round-trip time.
    pub round_trip: Span,
    /// Segments sent, retransmissions among them.
    pub segments: u64,
    /// Segments sent more than once.
    pub retransmitted: u64,
    /// The largest segment it sent, in octets of payload.
    pub segment_size: u64,
}

/// What the receiver saw.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Received {
    /// Octets that arrived, pre-roll included.
    pub octets: Bytes,
    /// Counted reads that came without the kernel's stamp and took the user's
    /// clock.
    pub unstamped: u64,
    /// How much a delay may be overstated, on average: the time between the
    /// reads in which messages ended.
    pub spread: Span,
    /// Counted octets over the time between the kernel's receive stamps.
    pub goodput: Option<Goodput>,
    /// One-way delays and losses of the counted messages.
    pub delays: Summary,
    /// SO_RCVBUF as the kernel had it at the end, in octets of its memory.
    pub receive_buffer: u64,
    /// What it cost this process.
    pub process: Process,
}
