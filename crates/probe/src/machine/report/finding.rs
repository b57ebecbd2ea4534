//! The findings about a path, with the probes that show them.

use core::net::IpAddr;

use units::Bytes;

use super::super::LocalFinding;
use super::{Direction, Hop, Loss, Protocol, SizeLoss};

/// A finding with the probes that show it.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Finding {
    #[serde(flatten)]
    pub kind: FindingKind,
    /// The probes that show it.
    pub evidence: Vec<Evidence>,
}

/// A finding.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "finding", rename_all = "snake_case")]
pub enum FindingKind {
    /// Nothing answers.
    NoAnswer,
    /// The own interface does not send the size asked for.
    Interface { mtu: Bytes },
    /// Large packets do not reach the first hop although the local interface sends them: the
    /// MTU of the two ends of the first link differ.
    FirstLink {
        /// Sizes from here on vanish.
        #[serde(rename = "fails_from_bytes")]
        from: Bytes,
        first: Hop,
    },
    /// Large packets vanish without a message: a link carries less than its routers
    /// believe, or messages that a packet was too big are filtered.
    BlackHole {
        /// The direction; `None`: one of the two or both, the probes do not tell.
        direction: Option<Direction>,
        /// Sizes from here on vanish.
        #[serde(rename = "fails_from_bytes")]
        from: Bytes,
        /// Where.
        place: Place,
    },
    /// A router says that packets are too big for its next link.
    #[serde(rename = "packet_too_big")]
    Rejected {
        /// The largest size that passes.
        mtu: Bytes,
        router: IpAddr,
        /// Its place on the path, if it was seen there.
        hop: Option<u8>,
    },
    /// A router rejects even small packets as too big, and nothing arrives.
    RejectsAll {
        router: IpAddr,
        /// Its place on the path, if it was seen there.
        hop: Option<u8>,
        /// The smallest packet that it rejected.
        #[serde(rename = "rejected_bytes")]
        size: Bytes,
        #[serde(rename = "announced_mtu")]
        announced: Bytes,
    },
    /// The path does not deliver the packets of 1280 bytes that IPv6 requires of each link
    /// [RFC8200 s5].
    BelowIpv6 {
        direction: Direction,
        /// The largest size that passes.
        mtu: Bytes,
    },
    /// Packets of a range of sizes are dropped silently, although smaller and larger ones
    /// pass.
    LostRange {
        /// The direction; `None`: the probes do not tell.
        direction: Option<Direction>,
        /// The smallest size that is lost.
        #[serde(rename = "from_bytes")]
        from: Bytes,
        /// The largest one.
        #[serde(rename = "to_bytes")]
        to: Bytes,
        /// The protocol, if another one delivers these sizes to the far end.
        protocol: Option<Protocol>,
        /// Where, if that was found.
        place: Option<Place>,
    },
    /// The own host sends packets of a tunnel in fragments outside of it.
    OuterFragments {
        /// The fragments that it made meanwhile.
        #[serde(rename = "fragments")]
        made: u64,
        /// The largest packet inside that needs none.
        #[serde(rename = "fits_bytes")]
        fits: Bytes,
    },
    /// Larger packets arrive in fragments, although they ask routers not to fragment them.
    ForwardFragments {
        /// The largest packet that arrives in one piece.
        mtu: Bytes,
        /// Where DF is cleared, if routers quote packets with and without it.
        #[serde(rename = "place")]
        cleared: Option<Place>,
    },
    /// Larger answers arrive in fragments.
    ReverseLimit {
        /// The largest fragment.
        mtu: Bytes,
    },
    /// A router announces less than passes.
    AnnouncedTooSmall {
        router: IpAddr,
        /// The announced size.
        #[serde(rename = "announced_mtu")]
        announced: Bytes,
        /// A larger size that passes.
        #[serde(rename = "passes_bytes")]
        passes: Bytes,
    },
    /// A router announces a size that does not pass.
    AnnouncedTooLarge {
        router: IpAddr,
        /// The announced size.
        #[serde(rename = "announced_mtu")]
        announced: Bytes,
        /// The smallest size that does not pass.
        #[serde(rename = "fails_from_bytes")]
        fails_from: Bytes,
    },
    /// A router says only now and then that packets are too big.
    AnswersLimited {
        router: IpAddr,
        /// Large probes sent in a row.
        sent: u32,
        /// Those it answered.
        answered: u32,
    },
    /// One protocol carries less than others.
    OneProtocol {
        protocol: Protocol,
        /// Sizes from here on do not pass.
        #[serde(rename = "fails_from_bytes")]
        from: Bytes,
        /// The largest size that another protocol carries.
        #[serde(rename = "others_bytes")]
        others: Bytes,
        /// Where its large packets vanish, if that was found.
        place: Option<Place>,
    },
    /// Branches of the path carry different sizes.
    Branches {
        /// The flows that carry less.
        flows: Vec<u16>,
        /// The number of flows tried.
        #[serde(rename = "of_flows")]
        of: u16,
        /// The largest size that these flows carry.
        #[serde(rename = "smaller_bytes")]
        small: Bytes,
        /// The largest size that the other flows carry.
        #[serde(rename = "larger_bytes")]
        large: Bytes,
        /// Where their large packets vanish or are rejected, if that was found.
        place: Option<Place>,
    },
    /// The far end's MSS is smaller than the path allows.
    MssClamped {
        /// The MSS that was seen.
        #[serde(rename = "seen_mss")]
        seen: u16,
        /// The MSS that the path allows.
        #[serde(rename = "expected_mss")]
        expected: u16,
    },
    /// The far end's MSS allows larger packets than the path carries, and no device lowers it.
    MssTooLarge {
        /// The MSS that was seen.
        #[serde(rename = "seen_mss")]
        seen: u16,
        /// The MSS that the path allows.
        #[serde(rename = "expected_mss")]
        expected: u16,
    },
    /// The packets of TCP are smaller than the interface allows: the MTU of the far end is
    /// smaller, or a device of the path lowers the MSS.
    SmallMss {
        /// Forward: the far end's MSS is small; reverse: its segments are.
        direction: Direction,
        /// The MSS, or the largest segment.
        #[serde(rename = "seen_mss")]
        seen: u16,
        /// The MSS that the interface, or the far end's MSS, allows.
        #[serde(rename = "expected_mss")]
        expected: u16,
    },
    /// The own kernel knows a path MTU, from an ICMP error or a route.
    KnownMtu { mtu: Bytes },
    /// The TCP port is closed.
    ClosedPort,
    /// Fragments do not pass.
    FragmentsDropped,
    /// The path carried one size, and then another.
    MtuChanged {
        /// At first.
        #[serde(rename = "mtu_before")]
        before: Bytes,
        /// At the end.
        #[serde(rename = "mtu_after")]
        after: Bytes,
    },
    /// The size suggests an encapsulation.
    Tunnel(Tunnel),
    /// Small packets get lost as well.
    Loss(Loss),
    /// The far end answers one protocol at a limited rate, whatever the size.
    AnswerRate {
        protocol: Protocol,
        /// Answers in a second, about.
        #[serde(rename = "answers_per_second")]
        per_second: f64,
        /// The protocol that was used instead; `None`: the probes were sent at that rate.
        instead: Option<Protocol>,
    },
    /// Large packets pass, but are lost more often than small ones.
    LossBySize {
        /// The direction that loses them; `None`: the probes do not tell.
        direction: Option<Direction>,
        /// The largest size that was tested whose packets are lost as seldom as small ones.
        #[serde(rename = "smaller")]
        small: SizeLoss,
        /// The largest packets that pass.
        #[serde(rename = "larger")]
        large: SizeLoss,
        /// The probability of a bit error in either direction, if losses grow with the
        /// number of bits as bit errors make them.
        #[serde(rename = "bit_error_rate")]
        per_bit: Option<f64>,
    },
    /// Something limits the packets of this host.
    #[serde(untagged)]
    Local(LocalFinding),
}

/// A place of a path: between two of its systems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Place {
    /// The last system that is all right, seen from here; `None` for the local one, unless
    /// `is_known` is false.
    #[serde(rename = "after_hop")]
    pub behind: Option<Hop>,
    /// The next system that answers small probes; `None` if the far end is the next, or
    /// nothing is known.
    #[serde(rename = "before_hop")]
    pub before: Option<Hop>,
    /// Whether anything is known of the place.
    pub is_known: bool,
}

/// What explains a path MTU.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Tunnel {
    /// The path MTU.
    pub mtu: Bytes,
    /// The MTU of the link below the encapsulations.
    #[serde(rename = "link_mtu")]
    pub below: Option<Bytes>,
    /// The names of encapsulations with headers as large as the difference.
    pub names: Vec<String>,
    /// The products whose networks have this MTU.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub products: Vec<String>,
}

/// The outcome of the probes of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Evidence {
    pub protocol: Protocol,
    #[serde(rename = "size_bytes")]
    pub size: Bytes,
    /// The hop limit, if it was a small one.
    pub hop_limit: Option<u8>,
    /// The router they were addressed to; `None` for the far end.
    pub router: Option<IpAddr>,
    pub flow: u16,
    /// Whether they were sent in fragments.
    pub fragments: bool,
    /// Probes sent.
    pub sent: u32,
    /// Answered by the addressee, or by the router at which the hop limit ended.
    pub answered: u32,
    /// Answered by a message that they are too big, or arrived in fragments.
    #[serde(rename = "too_big")]
    pub rejected: u32,
}
