//! The control protocol of generated traffic, without I/O: it authenticates the sender,
//! opens flows, compares clocks, and transfers the receiver's statistics.
//!
//! ```text
//!     sender                          receiver
//!     Hello            ------------>
//!                      <------------  Challenge
//!     Proof            ------------>
//!                      <------------  Welcome      from here on sealed, if there is a secret
//!     Ask              <----------->  Tell         some times: the clocks' offset
//!     Clocks, Flow ... <----------->  Ready ...
//!     Reverse ...      <----------->  Ready ...    flows that the receiver sends
//!     Begin            ------------>               starts those
//!                         traffic
//!     Watch            <----------->  Progress ... at most every 50 ms, as often as asked
//!     Ended ...        <----------->  Report ..., or Sent ... of those
//!     Ask              <----------->  Tell
//!     Farewell         ------------>
//! ```
//!
//! Both ends prove that they know the secret by a keyed hash over both nonces
//! [RFC2104], so a recording of another session is useless. Afterwards each frame
//! carries a hash over itself and its sequence number.
//!
//! A driver hands in received bytes with the time of their arrival, acts on the
//! returned messages, and after every call sends the content of [`Server::output`] or
//! [`Client::output`].

mod channel;
mod client;
mod flow_bounds;
mod handshake;
mod server;

use units::Span;
use wire::control::Reason;

pub use client::{Client, ReceiverMessage};
pub use flow_bounds::{FlowBounds, Impossible};
pub use server::{Request, Server, Settings};

/// The limits of a session at a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of flows in a session.
    pub flows: u16,
    /// Maximum duration of a session.
    pub longest: Span,
    /// Maximum duration of the handshake.
    pub handshake: Span,
    /// Maximum time for which a session has no flow.
    pub idle: Span,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            flows: 64,
            longest: Span::from_secs(3600),
            handshake: Span::from_secs(5),
            idle: Span::from_secs(30),
        }
    }
}

/// Reasons for which a session fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The bytes received are not a message.
    #[error(
        "the peer sent no control message ({0}); check that it is a `jumbolab recv` of this version"
    )]
    Bytes(#[from] wire::Error),
    /// A frame has a wrong authentication tag.
    #[error("a control frame was forged or changed in transit; run it again")]
    Forged,
    /// A message that is not allowed in this state.
    #[error(
        "the peer sent a control message that is not allowed here; use the same jumbolab at both ends"
    )]
    Unexpected,
    /// The other end demands a secret.
    #[error("the receiver demands a secret; name it with --secret-file FILE")]
    SecretNeeded,
    /// The other end did not prove that it knows this end's secret.
    #[error("the receiver does not know the secret; start it with the same --secret-file FILE")]
    Unproven,
    /// The other end speaks another version.
    #[error(
        "the receiver has version {0} of the control protocol; use the same jumbolab at both ends"
    )]
    Version(u16),
    /// The other end rejected, with a reason.
    #[error("the receiver rejects: {}", why(*.0))]
    Rejected(Reason),
}

/// The text for a rejection, with a remedy.
fn why(reason: Reason) -> &'static str {
    match reason {
        Reason::Version => {
            "it has another version of the control protocol; use the same jumbolab at both ends"
        }
        Reason::Secret => "the secret is another one; use the same --secret-file FILE at both ends",
        Reason::UnknownSender => {
            "it serves its own machine only; start it with --secret-file FILE, or with --open for anybody"
        }
        Reason::Busy => "it serves its maximum number of senders; try again later",
        Reason::Limit => "more flows, or longer ones, than it allows; ask for less",
        Reason::Nonsense => "it did not understand; use the same jumbolab at both ends",
        Reason::Late => "it timed out; check the path to it and run again",
        Reason::Kernel => "its kernel rejected a socket; see its own messages",
        Reason::Log => "it cannot write its packet log; see its own messages",
        Reason::Address => {
            "it does not listen on the address of the data; name it there with --listen, too"
        }
        Reason::Port => {
            "it cannot open the data port: it is in use there, or not among its --data-ports; see its own messages, or write another --destination-port"
        }
        Reason::Protocol => {
            "its system lacks the protocol of a flow; see its own messages, or write another --protocol"
        }
        Reason::Stopped => "it was stopped; start it again",
        Reason::Reverse => {
            "it sends no flows (recv --max-payload-rate 0); leave --reverse and --bidir out"
        }
        Reason::Polling => {
            "no more flows may poll there; leave --busy-poll out, or start it with --max-busy-poll COUNT"
        }
    }
}

#[cfg(test)]
mod tests;
