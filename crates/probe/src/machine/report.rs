//! The result of an investigation.

mod advice;
mod finding;
mod vlan_tag;

use core::net::IpAddr;

use units::{Bytes, Span};

use super::local::Measured;
use super::{Direction, LocalFinding, Protocol};
pub use advice::{Advice, Device, Remedy};
pub use finding::{Evidence, Finding, FindingKind, Place, Tunnel};
pub(crate) use vlan_tag::VLAN_TAG;
pub(super) use vlan_tag::without_tag;

/// Everything that an investigation found out.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PathReport {
    pub far_end: IpAddr,
    /// The size that the path should carry.
    #[serde(rename = "requested_bytes")]
    pub asked: Bytes,
    /// The judgement on that size.
    pub verdict: Verdict,
    /// The direction to the far end.
    pub forward: DirectionResult,
    /// The direction of its answers.
    pub reverse: DirectionResult,
    /// The smallest round-trip time of small probes.
    #[serde(rename = "round_trip_s", with = "units::with_unit::seconds")]
    pub round_trip: Option<Span>,
    /// The routers of the path, nearest first, and the far end if it was reached.
    pub hops: Vec<Hop>,
    /// The results by protocol.
    pub protocols: Vec<ProtocolResult>,
    /// The loss of small probes.
    pub loss: Option<Loss>,
    /// The loss by size, the smallest first; none if the answers to the probes are limited
    /// in rate.
    pub losses: Vec<SizeLoss>,
    /// The findings, most severe first.
    pub findings: Vec<Finding>,
    /// Settings to change, the most useful first.
    pub advice: Vec<Advice>,
    /// Tests that could not be made.
    pub not_seen: Vec<NotSeen>,
    /// Packets sent.
    pub probes: u64,
    /// Bytes sent.
    #[serde(rename = "sent_bytes")]
    pub bytes: Bytes,
    /// The time that it took.
    #[serde(rename = "duration_s", with = "units::with_unit::seconds")]
    pub took: Span,
}

impl PathReport {
    /// The report on a path that could not be investigated.
    pub fn nothing_seen(far_end: IpAddr, asked: Bytes) -> Self {
        let direction = DirectionResult {
            mtu: None,
            limit: Limit::NotSeen,
            loss: None,
        };
        Self {
            far_end,
            asked,
            verdict: Verdict::Unclear,
            forward: direction,
            reverse: direction,
            round_trip: None,
            hops: Vec::new(),
            protocols: Vec::new(),
            loss: None,
            losses: Vec::new(),
            findings: Vec::new(),
            advice: Vec::new(),
            not_seen: Vec::new(),
            probes: 0,
            bytes: Bytes::ZERO,
            took: Span::ZERO,
        }
    }

    /// Whether no packet to the far end is answered: nothing answers, or a router rejects all.
    pub fn is_unanswered(&self) -> bool {
        let is_it = |one: &Finding| {
            matches!(
                one.kind,
                FindingKind::NoAnswer | FindingKind::RejectsAll { .. }
            )
        };
        self.findings.iter().any(is_it)
    }

    /// The finding that large packets are lost more often than small ones: the direction,
    /// if it is known, and the loss of the large ones.
    pub fn loss_by_size(&self) -> Option<(Option<Direction>, SizeLoss)> {
        self.findings.iter().find_map(|finding| match finding.kind {
            FindingKind::LossBySize {
                direction, large, ..
            } => Some((direction, large)),
            _ => None,
        })
    }

    /// Adds that the local host made fragments of the probes outside of a tunnel, and what
    /// fits without. Nothing else on the path is then to blame for answers in pieces.
    pub fn add_outer_fragments(&mut self, made: u64, fits: Bytes) {
        let kind = FindingKind::OuterFragments { made, fits };
        let evidence = Vec::new();
        self.findings.insert(0, Finding { kind, evidence });
        self.verdict = Verdict::Problem;
        self.advice.retain(|advice| advice.device != Device::Path);
        let advice = [Device::Own, Device::FarEnd].map(|device| Advice {
            device,
            remedy: Remedy::InterfaceMtu(fits),
        });
        self.advice.splice(0..0, advice);
    }

    /// The MTU to set for the path to the far end, if packets of the size asked for or of a
    /// smaller one do not reach it: what passes, without the bytes that links take in addition
    /// to their MTU.
    pub fn advised_mtu(&self) -> Option<Bytes> {
        let passed = self.forward.mtu.filter(|mtu| *mtu < self.asked);
        let is_fragment = self.reverse.limit == Limit::Fragmented;
        let of_limit = passed.map(|passed| match self.forward.limit {
            Limit::Vanish => without_tag(passed, self.reverse.mtu.filter(|_| is_fragment)),
            _ => passed,
        });
        let findings = self.findings.iter();
        let below_ranges = findings.filter_map(|finding| match finding.kind {
            FindingKind::LostRange {
                direction: None | Some(Direction::Forward),
                from,
                protocol: None,
                ..
            } => from.checked_sub(Bytes::new(1)),
            _ => None,
        });
        of_limit.into_iter().chain(below_ranges).min()
    }

    /// Adds those findings about the local host that concern the path.
    pub fn add_local(&mut self, found: Vec<LocalFinding>) {
        let silent = |finding: &Finding| match finding.kind {
            FindingKind::FirstLink { .. } => true,
            FindingKind::BlackHole { direction, .. } => direction != Some(Direction::Reverse),
            _ => false,
        };
        let outside = |one: &Finding| matches!(one.kind, FindingKind::OuterFragments { .. });
        let measured = Measured {
            asked: self.asked,
            passed: self.forward.mtu,
            answered: (self.reverse.mtu).filter(|_| self.reverse.limit != Limit::NotSeen),
            has_hole: self.findings.iter().any(silent),
            fragments_outside: self.findings.iter().any(outside),
        };
        for local in found {
            if !local.problem.concerns(measured) {
                continue;
            }
            self.advice.push(Advice {
                device: Device::Own,
                remedy: Remedy::Command(local.command.clone()),
            });
            let kind = FindingKind::Local(local);
            if kind.is_problem() {
                self.verdict = Verdict::Problem;
            }
            let evidence = Vec::new();
            self.findings.push(Finding { kind, evidence });
        }
        self.findings.sort_by_key(|finding| finding.kind.rank());
    }
}

/// The judgement on a path, from good to bad.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The path carries the size asked for in both directions, and nothing else is wrong
    /// with it.
    Clean,
    /// No problem was found, nor could the size be confirmed in both directions.
    Unclear,
    /// A problem was found.
    Problem,
}

/// The result for one direction.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// It is the size asked for.
    #[serde(rename = "requested")]
    Asked,
    /// Larger packets do not leave the local interface.
    Interface,
    /// A router says so.
    #[serde(rename = "packet_too_big")]
    Rejected,
    /// Larger packets are dropped silently.
    #[serde(rename = "dropped_silently")]
    Vanish,
    /// Larger packets arrive in fragments.
    Fragmented,
    /// TCP sends no larger segments: the far end's MSS, or its MTU, is the limit.
    SegmentSize,
    /// The largest packets of connections pass, and the system does not state their size.
    #[serde(rename = "not_stated")]
    Unstated,
    /// Larger answers were not asked for, because larger probes do not arrive, or the
    /// protocols that answer give small answers only.
    NotSeen,
}

/// A system of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Hop {
    /// The hop limit that ends here: 1 for the first router.
    #[serde(rename = "hop")]
    pub number: u8,
    /// The address; `None` if it did not answer.
    pub address: Option<IpAddr>,
    /// The smallest round-trip time.
    #[serde(rename = "round_trip_s", with = "units::with_unit::seconds")]
    pub round_trip: Option<Span>,
    /// The largest probe that it answered.
    #[serde(rename = "largest_bytes")]
    pub largest: Option<Bytes>,
}

/// The result for one protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ProtocolResult {
    pub protocol: Protocol,
    /// Whether the far end answered it.
    pub answers: bool,
    /// The largest probe that the far end answered.
    #[serde(rename = "largest_bytes")]
    pub largest: Option<Bytes>,
    /// The smallest probe that vanished or was rejected.
    #[serde(rename = "fails_from_bytes")]
    pub fails_from: Option<Bytes>,
    /// The MSS option of the far end's SYN/ACK.
    pub mss: Option<u16>,
}

/// Loss of probes.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Loss {
    /// Probes sent whose answers are not limited in rate; in one direction, the packets that
    /// entered it, up to the latest reply.
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

/// The loss of packets of one size.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SizeLoss {
    /// The size of the packets; echo replies, and those of a reflector, have the same.
    #[serde(rename = "size_bytes")]
    pub size: Bytes,
    #[serde(flatten)]
    pub loss: Loss,
}

/// A test that an investigation could not make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotSeen {
    /// Echo, which the system does not let the program send.
    Echo,
    /// Large TCP segments, which need raw sockets.
    TcpSizes,
    /// Fragments, which need raw sockets.
    Fragments,
    /// The reverse direction alone, which needs a reflector at the far end.
    Reverse,
    /// The MSS, which needs an open TCP port.
    Mss,
    /// The size of answers, because those of the server fill no packet.
    LargeAnswers,
    /// The exact size, because a server takes no more connections.
    ExactSize,
    /// What connections deliver to a server that answers no request, because the system does not
    /// state what was acknowledged.
    Unanswered,
    /// The MSS and the size of the packets that connections send, which the system does not state.
    SentSizes,
    /// The size of the packets that arrived, which the system does not state.
    ArrivedSizes,
    /// The exact size, because the system does not state the options of TCP in each packet.
    Options,
    /// The exact size on the reverse path, because the system lets no program choose the MSS.
    ReverseSize,
    /// What was acknowledged and sent again, which the system does not state.
    Acknowledgements,
    /// The end of the investigation, because time or probes ran out.
    Cut,
}
