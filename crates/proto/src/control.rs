//! The control protocol of hand-made traffic, without I/O: who may ask a
//! receiver for flows, and how both come to know what happened.
//!
//! ```text
//!     sender                          receiver
//!     Hello            ------------>
//!                      <------------  Challenge
//!     Proof            ------------>
//!                      <------------  Welcome      from here on sealed, if there is a secret
//!     Ask              <----------->  Tell         some times: the clocks' offset
//!     Clocks, Flow ... <----------->  Ready ...
//!                         traffic
//!     Ended ...        <----------->  Report ...
//!     Ask              <----------->  Tell
//!     Farewell         ------------>
//! ```
//!
//! Both prove that they know a secret by a keyed hash over what either
//! contributed [RFC2104], which no recording of another session answers. After that
//! each frame carries such a hash of itself and of its number.
//!
//! Drivers: hand in what arrived and when, act on what comes back, and send
//! what [`Server::output`] or [`Client::output`] holds after every call.

mod channel;
mod client;
mod secret;
mod server;

use units::Span;
use wire::control::Reason;

pub use client::{Client, ReceiverMessage};
pub use secret::Secret;
pub use server::{Request, Server, Settings};

/// What one session may have of a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Flows of a session.
    pub flows: u16,
    /// How long a session may last.
    pub longest: Span,
    /// How long it may take until both know who they are.
    pub handshake: Span,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            flows: 64,
            longest: Span::from_secs(3600),
            handshake: Span::from_secs(5),
        }
    }
}

/// Why a session is over before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// What came is no message.
    #[error("what came is no control message ({0}); is there a `jumbolab recv` of this version?")]
    Octets(#[from] wire::Error),
    /// A frame was not made by whoever knows the secret.
    #[error("a frame was forged or changed on its way")]
    Forged,
    /// A message that has no place here.
    #[error("a control message came out of turn")]
    Unexpected,
    /// The other end asks for a secret.
    #[error("the receiver asks for a secret: --secret FILE")]
    SecretNeeded,
    /// The other end did not prove that it knows ours.
    #[error("the receiver does not know the secret; start it with the same --secret FILE")]
    Unproven,
    /// The other end's version is another one.
    #[error(
        "the receiver speaks version {0} of the control protocol; use the same jumbolab at both ends"
    )]
    Version(u16),
    /// The other end said why.
    #[error("the receiver refuses: {}", why(*.0))]
    Refused(Reason),
}

/// A refusal in words, and what to do.
fn why(reason: Reason) -> &'static str {
    match reason {
        Reason::Version => {
            "it speaks another version of the control protocol; use the same jumbolab at both ends"
        }
        Reason::Secret => "the secret is another one; use the same --secret FILE at both ends",
        Reason::Stranger => {
            "it serves its own machine only; start it with --secret FILE, or with --open for anybody"
        }
        Reason::Busy => "it serves as many senders as it may; try again later",
        Reason::Limit => "more flows, or longer ones, than it allows; ask for less",
        Reason::Nonsense => "it did not understand; use the same jumbolab at both ends",
        Reason::Late => "it waited too long",
        Reason::Kernel => "its kernel refused a socket; its own messages say which",
        Reason::Stopped => "it was stopped",
    }
}

#[cfg(test)]
mod tests;
