//! Path MTU discovery by probes of the packetization layer, without I/O [RFC8899].
//!
//! [`Discovery`] is a state machine without sockets and clocks, for any protocol whose receiver
//! acknowledges single packets. All sizes are of whole IP packets, header included; a driver
//! subtracts its headers.
//!
//! ```
//! use jumbolab_link::pmtu::{Discovery, Settings, State};
//! use units::{IpVersion, Seed, Time};
//!
//! let settings = Settings::new(IpVersion::V6, 9000).unwrap();
//! let mut discovery = Discovery::new(settings, Seed::new(7));
//! let now = Time::ZERO;
//! discovery.connected(now);
//! while let Some(probe) = discovery.poll_probe(now) {
//!     // A path that carries everything acknowledges every probe.
//!     discovery.acknowledged(probe.id, now);
//! }
//! assert_eq!(discovery.state(), State::SearchComplete);
//! assert_eq!(discovery.path_mtu().unwrap().get(), 9000);
//! ```
//!
//! # A driver
//!
//! | event | call |
//! |---|---|
//! | the far end is reached | [`Discovery::connected`] |
//! | the time of [`Discovery::poll_timeout`], and each other event | [`Discovery::poll_probe`], whose probe is sent |
//! | the far end acknowledges a probe | [`Discovery::acknowledged`] |
//! | an ICMP message quotes a probe | [`Discovery::too_big`] |
//! | data of the found size is lost | [`Discovery::doubt`], at most once a second |
//! | the route has changed | [`Discovery::raise`] |
//!
//! Data may have the size of [`Discovery::path_mtu`] at any time. Probes are packets of their
//! own without data: one that is lost needs no repair, and is no sign of congestion
//! [RFC8899 s3]. They must not be fragmented, so that DF is set over IPv4. The identifier of a
//! probe is a secret between both ends: whoever knows it can forge an acknowledgement.
//! `examples/path_mtu_over_udp.rs` is a whole driver.
//!
//! # Losses
//!
//! Loss alone does not tell that a packet was too big. Each conclusion has a test for it:
//!
//! | question | answer |
//! |---|---|
//! | Does a size pass? | One acknowledgement is enough. The number of losses after which it does not (MAX_PROBES [RFC8899 s5.1.2]) is no constant: a sequential test takes it from [`Settings::false_alarm`] and [`Settings::ordinary_loss`]. Between losses the confirmed size is probed, so that an interruption is not taken for a limit. |
//! | Is the found size lost in a black hole? | Lost data decides nothing, as it has many causes. A doubt has the size probed. After a loss, probes of this size and of the base size take turns until it passes, or was lost too often in a row for ordinary loss. |
//! | Does it lose more than small packets? | The same pairs show it. Ten pairs in which it alone was lost, and none the other way round, are enough at a false alarm of 1 %. From then on a size is used only after it lost no more than the confirmed one, and only common sizes are tried ([`Limit::Lossy`]). |
//!
//! Ordinary loss up to the setting, in exchanges of a probe and its answer, therefore leads to a
//! smaller size in one of a hundred searches at most, however much data is lost and doubted.
//! With a doubt a second, a size that loses a fifth of its packets is left within minutes, one
//! that loses a twentieth within an hour. A smaller share needs longer.
#![warn(missing_docs)]

mod discovery;
mod loss;
mod search;
mod settings;
mod size_dependence;
#[cfg(test)]
mod tests;
mod timer;

use units::{Bytes, IpMtu};

pub use discovery::Discovery;
pub use loss::losses_until;
pub use settings::{BadSettings, ProbeTimer, Settings};
pub use timer::RoundTrip;

/// The state of a discovery [RFC8899 s5.2].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No connectivity to the far end.
    Disabled,
    /// Probes of the base size find out whether the path carries it.
    Base,
    /// Larger sizes are probed.
    Searching,
    /// The search has ended; the size is confirmed, and raised, from time to time.
    SearchComplete,
    /// The path does not carry the base size; smaller ones are probed.
    Error,
}

/// A packet to send: unfragmented, with DF set over IPv4 [RFC8899 s3].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The number that an acknowledgement and a quoted packet repeat. Nobody off the path
    /// can guess it if the discovery's seed is secret [RFC8899 s4.6.1].
    pub id: u64,
    /// The size of the whole IP packet.
    pub size: Bytes,
}

/// A message that a packet was too big: Packet Too Big [RFC4443 s3.2] or Fragmentation
/// Needed [RFC1191 s4], as its receiver read it. Addresses and ports of the quoted
/// packet are checked by the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooBig {
    /// The identifier that the quoted packet holds.
    pub id: u64,
    /// The size that the header of the quoted packet states.
    pub quoted: Bytes,
    /// The MTU that the message announces; 0 from routers older than [RFC1191].
    pub announced: Bytes,
}

/// The use that was made of a message that a packet was too big [RFC8899 s4.6.2].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooBigUse {
    /// The probed size is too big; the announced one is probed next, unless it is
    /// already confirmed.
    Rejected,
    /// The announced size is below the base: [`State::Error`].
    BelowBase,
    /// The announced size is below the confirmed one: the search begins again.
    BlackHole,
    /// The message is not used.
    Ignored(Ignored),
}

/// The reason why a message that a packet was too big is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ignored {
    /// It quotes no probe that is under way or was sent lately.
    UnknownProbe,
    /// It quotes the probe with another size.
    OtherSize,
    /// It answers a probe that arrived.
    Acknowledged,
    /// It announces less than every link carries.
    BelowMinimum,
    /// It announces no less than the size of the probe.
    NotSmaller,
    /// Earlier messages of this kind were refuted by acknowledgements.
    Refuted,
}

/// Counts of the probes of one size by their outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tried {
    /// Acknowledged probes.
    pub acknowledged: u32,
    /// Probes without any answer in time.
    pub lost: u32,
    /// Probes answered by a message that they are too big.
    pub rejected: u32,
}

/// Why a search ended where it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The path carries the largest size asked for.
    Asked,
    /// The path does not carry packets from this size on: probes of it vanish.
    Vanish(IpMtu),
    /// The path does not carry packets from this size on, and a router said so.
    Rejected(IpMtu),
    /// The path carries packets from this size on, and loses more of them than of smaller
    /// ones. Only sizes that many links have are tried below it.
    Lossy(IpMtu),
}
