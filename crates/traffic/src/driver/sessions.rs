//! Generated traffic between two hosts: flows that follow distributions, a receiver for any
//! number of senders, and the results of both ends.
//!
//! A session begins with a control connection ([`crate::machine::control`]), over which flows
//! are requested. Each flow has a socket and a thread at either end; each message has
//! the header of [`wire::message`]. All times, including the kernel's receive
//! timestamps, are on the monotonic clock (CLOCK_MONOTONIC).

#[cfg(target_os = "linux")]
mod association;
mod black_hole;
mod common_start;
mod connect;
mod counters;
mod delays;
mod echo_tags;
mod flow;
mod intervals;
mod options;
mod paced;
#[cfg(target_os = "linux")]
mod path_mtu;
mod payload;
mod receive;
mod records;
mod reverse;
mod round_trips;
mod send;
mod serve;
mod session;
mod unanswered;

pub use wire::control::{Codec, Flow as Asked, Meter, Name, Protocol, Report};
pub use wire::message::{HEADER_LEN, TIMED};

pub use black_hole::black_hole;
pub use common_start::CommonStart;
pub use connect::{FlowOutcome, Keep, Outcome, Plan, run};
pub use delays::DelayDistribution;
pub use flow::{Flow, Source};
pub use intervals::{
    FlowInterval, Interval, Intervals, PathMtuNotice, Quantiles, ReceivedInterval,
    SHORTEST_INTERVAL, SentInterval, TcpInterval,
};
pub use options::{Options, kind, sizes};
pub use payload::Payload;
pub use records::{Described, Entry, OutOfOrder, Record, Records, SETTLING, StreamPoint};
pub use reverse::LARGEST_REVERSED;
pub use send::{Departed, Omitted, Sent, Stall};
pub use serve::{
    Event, KeepSession, ReceivedFlow, Receiver, SendingRate, Served, Serving, Session,
};
pub use session::LARGEST_RECEIVE_BUFFER;
