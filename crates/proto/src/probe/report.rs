//! The result of an investigation.

use core::net::IpAddr;

use units::{Bytes, Span};

use super::{Direction, Protocol};

/// Everything that an investigation found out.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PathReport {
    /// The far end.
    pub far_end: IpAddr,
    /// The size that the path should carry.
    pub asked: Bytes,
    /// The judgement on that size.
    pub verdict: Verdict,
    /// The direction to the far end.
    pub forward: DirectionResult,
    /// The direction of its answers.
    pub backward: DirectionResult,
    /// The smallest round-trip time of small probes.
    pub round_trip: Option<Span>,
    /// The routers of the path, nearest first, and the far end if it was reached.
    pub hops: Vec<Hop>,
    /// The results by protocol.
    pub protocols: Vec<ProtocolResult>,
    /// The loss of small probes.
    pub loss: Option<Loss>,
    /// The findings, weightiest first.
    pub findings: Vec<Finding>,
    /// Settings to change, the most useful first.
    pub advice: Vec<Advice>,
    /// Tests that could not be made.
    pub not_seen: Vec<NotSeen>,
    /// Packets sent.
    pub probes: u64,
    /// Octets sent.
    pub octets: Bytes,
    /// The time that it took.
    pub took: Span,
}

/// The judgement on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
pub enum Verdict {
    /// The path carries the size asked for in both directions, and nothing else is wrong
    /// with it.
    Clean,
    /// A problem was found.
    Problem,
    /// No problem was found, nor could the size be confirmed in both directions.
    Unclear,
}

/// The result for one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DirectionResult {
    /// The largest packet that passed on every branch and by every protocol that
    /// answers; `None` if none was seen to pass.
    pub mtu: Option<Bytes>,
    /// Why it is no larger.
    pub limit: Limit,
    /// The loss of small probes or of their replies in this direction, which the sequence
    /// numbers of a reflector tell.
    pub loss: Option<Loss>,
}

/// Why no larger size was confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case")
)]
pub enum Limit {
    /// It is the size asked for.
    Asked,
    /// Larger packets do not leave the own interface.
    Interface,
    /// A router says so.
    Refused,
    /// Larger packets vanish.
    Vanish,
    /// Larger answers arrive in fragments.
    Fragmented,
    /// Larger answers were not asked for, because larger probes do not arrive, or the
    /// protocols that answer give small answers only.
    NotSeen,
}

/// A system of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Hop {
    /// The hop limit that ends here: 1 for the first router.
    pub number: u8,
    /// The address; `None` if it did not answer.
    pub address: Option<IpAddr>,
    /// The smallest round-trip time.
    pub round_trip: Option<Span>,
    /// The largest probe that it answered.
    pub largest: Option<Bytes>,
}

/// The result for one protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ProtocolResult {
    /// The protocol.
    pub protocol: Protocol,
    /// Whether the far end answered it.
    pub answers: bool,
    /// The largest probe that the far end answered.
    pub largest: Option<Bytes>,
    /// The smallest probe that vanished or was refused.
    pub fails_from: Option<Bytes>,
    /// The MSS option of the far end's SYN/ACK.
    pub mss: Option<u16>,
}

/// Loss of small probes, which is loss without regard to size.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Loss {
    /// Small probes sent whose answers are not limited in rate; in one direction, the packets
    /// that entered it, up to the latest reply.
    pub sent: u32,
    /// Those without an answer; in one direction, those that did not arrive.
    pub lost: u32,
    /// The share of them.
    pub share: f64,
    /// Its confidence interval [Wilson1927].
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// A finding with the probes that show it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Finding {
    /// The finding.
    pub kind: FindingKind,
    /// The probes that show it.
    pub evidence: Vec<Evidence>,
}

/// A finding.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case")
)]
pub enum FindingKind {
    /// Nothing answers.
    NoAnswer,
    /// The own interface does not send the size asked for.
    Interface {
        /// Its MTU.
        mtu: Bytes,
    },
    /// Large packets do not reach the first hop although the own interface sends them: the
    /// MTU of the two ends of the first link differ.
    FirstLink {
        /// Sizes from here on vanish.
        from: Bytes,
        /// The first hop.
        first: Hop,
    },
    /// Large packets vanish without a message: a link carries less than its routers
    /// believe, or messages that a packet was too big are filtered.
    BlackHole {
        /// The direction; `None`: one of the two or both, the probes do not tell.
        direction: Option<Direction>,
        /// Sizes from here on vanish.
        from: Bytes,
        /// Where.
        place: Place,
    },
    /// A router says that packets are too big for its next link.
    Refused {
        /// The largest size that passes.
        mtu: Bytes,
        /// The router.
        router: IpAddr,
        /// Its place on the path, if it was seen there.
        hop: Option<u8>,
    },
    /// Larger answers arrive in fragments.
    BackwardLimit {
        /// The largest fragment.
        mtu: Bytes,
    },
    /// A router announces less than passes.
    AnnouncedTooSmall {
        /// The router.
        router: IpAddr,
        /// The announced size.
        announced: Bytes,
        /// A larger size that passes.
        passes: Bytes,
    },
    /// A router announces a size that does not pass.
    AnnouncedTooLarge {
        /// The router.
        router: IpAddr,
        /// The announced size.
        announced: Bytes,
        /// The smallest size that does not pass.
        fails_from: Bytes,
    },
    /// A router says only now and then that packets are too big.
    AnswersLimited {
        /// The router.
        router: IpAddr,
        /// Large probes sent in a row.
        sent: u32,
        /// Those it answered.
        answered: u32,
    },
    /// One protocol carries less than others.
    OneProtocol {
        /// The protocol.
        protocol: Protocol,
        /// Sizes from here on do not pass.
        from: Bytes,
        /// The largest size that another protocol carries.
        others: Bytes,
        /// Where its large packets vanish, if that was found.
        place: Option<Place>,
    },
    /// Branches of the path carry different sizes.
    Branches {
        /// The flows that carry less.
        flows: Vec<u16>,
        /// The number of flows tried.
        of: u16,
        /// The largest size that these flows carry.
        small: Bytes,
        /// The largest size that the other flows carry.
        large: Bytes,
        /// Where their large packets vanish or are refused, if that was found.
        place: Option<Place>,
    },
    /// The far end's MSS is smaller than the path allows.
    MssClamped {
        /// The MSS that was seen.
        seen: u16,
        /// The MSS that the path allows.
        expected: u16,
    },
    /// Fragments do not pass.
    FragmentsDropped,
    /// The path carried one size, and then another.
    MtuChanged {
        /// At first.
        before: Bytes,
        /// At the end.
        after: Bytes,
    },
    /// The size suggests an encapsulation.
    Tunnel(Tunnel),
    /// Small packets get lost as well.
    Loss(Loss),
}

/// A place of a path: between two of its systems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Place {
    /// The last system that is all right, seen from here; `None` for the own one, unless
    /// `is_known` is false.
    pub behind: Option<Hop>,
    /// The next system that answers small probes; `None` if the far end is the next, or
    /// nothing is known.
    pub before: Option<Hop>,
    /// Whether anything is known of the place.
    pub is_known: bool,
}

/// An encapsulation whose headers explain a path MTU.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Tunnel {
    /// The path MTU.
    pub mtu: Bytes,
    /// The MTU of the link below.
    pub below: Bytes,
    /// The names of encapsulations with headers as large as the difference.
    pub names: Vec<String>,
}

/// The fate of the probes of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Evidence {
    /// The protocol.
    pub protocol: Protocol,
    /// The size.
    pub size: Bytes,
    /// The hop limit, if it was a small one.
    pub hop_limit: Option<u8>,
    /// The router they were addressed to; `None` for the far end.
    pub router: Option<IpAddr>,
    /// The flow.
    pub flow: u16,
    /// Whether they were sent in fragments.
    pub fragments: bool,
    /// Probes sent.
    pub sent: u32,
    /// Answered by the addressee, or by the router at which the hop limit ended.
    pub answered: u32,
    /// Answered by a message that they are too big.
    pub refused: u32,
}

/// A setting to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Advice {
    /// On which device.
    pub device: Device,
    /// What.
    pub remedy: Remedy,
}

/// A device to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case")
)]
pub enum Device {
    /// This host: its interface or its route to the far end.
    Own,
    /// The far end.
    FarEnd,
    /// The router of this address.
    Router(IpAddr),
    /// The link at this place: both of its ends, and switches between.
    Link(Place),
    /// Some device of the path.
    Path,
}

/// A change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case")
)]
pub enum Remedy {
    /// Set the MTU to this size.
    Mtu(Bytes),
    /// Clamp the MSS of TCP to this.
    Mss(u16),
    /// Let messages that a packet was too big pass, and send them.
    SendTooBig,
    /// Announce the true MTU.
    AnnounceMtu(Bytes),
    /// Let fragments pass.
    PassFragments,
    /// Do not clamp the MSS below this.
    UnclampMss(u16),
    /// Let this protocol pass at any size.
    PassProtocol(Protocol),
}

/// A test that an investigation could not make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case")
)]
pub enum NotSeen {
    /// Echo, which the system does not let the program send.
    Echo,
    /// Large TCP segments, which need raw sockets.
    TcpSizes,
    /// Fragments, which need raw sockets.
    Fragments,
    /// The backward direction alone, which needs a reflector at the far end.
    Backward,
    /// The MSS, which needs an open TCP port.
    Mss,
    /// The end of the investigation, because time or probes ran out.
    Cut,
}
