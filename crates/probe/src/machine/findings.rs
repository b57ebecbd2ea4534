//! The report: what the record of probes says about the path.

mod advice;
mod directions;
mod evidence;
mod limits;
mod losses;
mod others;
mod sizes;
pub(super) mod tunnel;

use core::net::IpAddr;

use units::{Bytes, Span};

use super::history::History;
use super::kind::{TCP_HEADER, bytes};
use super::phase::{Boundary, KnownPath};
use super::{
    Finding, FindingKind, Hop, Limit, NotSeen, PathReport, Place, Protocol, ProtocolResult,
    Settings, TcpProbes, Verdict,
};

/// The inputs of a report.
#[derive(Clone, Copy)]
pub(super) struct Facts<'a> {
    pub(super) settings: &'a Settings,
    pub(super) history: &'a History,
    pub(super) walked: &'a KnownPath,
    /// The sizes that passed before the path changed.
    pub(super) earlier: &'a [u32],
    pub(super) took: Span,
    /// Whether it ended before everything was found out.
    pub(super) is_cut: bool,
}

/// The report of these facts.
pub(super) fn report(facts: &Facts<'_>) -> PathReport {
    let forward = directions::forward(facts);
    let reverse = directions::reverse(facts);
    let mut findings = limits::findings(facts);
    findings.extend(losses::finding(facts));
    findings.extend(sizes::findings(facts, [forward, reverse]));
    findings.extend(others::findings(facts, forward));
    findings.sort_by_key(|finding| finding.kind.rank());
    let verdict = if findings.iter().any(|finding| finding.kind.is_problem()) {
        Verdict::Problem
    } else if [forward.limit, reverse.limit] == [Limit::Asked; 2] && !facts.is_cut {
        Verdict::Clean
    } else {
        Verdict::Unclear
    };
    PathReport {
        far_end: facts.settings.far_end,
        asked: facts.settings.asked,
        verdict,
        forward,
        reverse,
        round_trip: facts.history.round_trip(),
        hops: facts.hops(),
        protocols: facts.protocols(),
        loss: facts.history.loss(),
        losses: losses::by_size(facts),
        advice: advice::advice(facts, &findings),
        findings,
        not_seen: facts.not_seen(),
        probes: facts.history.probes(),
        bytes: facts.history.bytes(),
        took: facts.took,
    }
}

impl FindingKind {
    /// Whether it says that something is wrong. The others explain or inform.
    pub const fn is_problem(&self) -> bool {
        match self {
            Self::NoAnswer
            | Self::AnswerRate { .. }
            | Self::ClosedPort
            | Self::SmallMss { .. }
            | Self::MtuChanged { .. }
            | Self::Tunnel(_)
            | Self::Loss(_) => false,
            Self::Local(local) => local.problem.is_limit(),
            _ => true,
        }
    }

    /// The weight of findings: the smallest first.
    pub(super) const fn rank(&self) -> u8 {
        match self {
            Self::NoAnswer | Self::ClosedPort | Self::OuterFragments { .. } => 0,
            Self::RejectsAll { .. } | Self::BelowIpv6 { .. } => 0,
            Self::FirstLink { .. } => 1,
            Self::Branches { .. } => 2,
            Self::BlackHole { .. } | Self::ForwardFragments { .. } => 3,
            Self::LossBySize { .. } => 3,
            Self::OneProtocol { .. } | Self::LostRange { .. } => 4,
            Self::AnswersLimited { .. } => 5,
            Self::AnnouncedTooSmall { .. } => 6,
            Self::AnnouncedTooLarge { .. } => 7,
            Self::Rejected { .. } | Self::KnownMtu { .. } => 8,
            Self::ReverseLimit { .. } => 9,
            Self::Interface { .. } => 10,
            Self::MssTooLarge { .. } | Self::MssClamped { .. } | Self::SmallMss { .. } => 11,
            Self::FragmentsDropped => 12,
            Self::Local(local) if local.problem.is_limit() => 13,
            Self::MtuChanged { .. } => 14,
            Self::Tunnel(_) => 15,
            Self::Local(_) => 16,
            Self::Loss(_) | Self::AnswerRate { .. } => 17,
        }
    }
}

impl Facts<'_> {
    fn hops(&self) -> Vec<Hop> {
        let route = &self.walked.route;
        let last = route.far_end.or_else(|| route.routers.last().copied());
        (1..=last.unwrap_or(0))
            .map(|number| self.hop(number))
            .collect()
    }

    fn hop(&self, number: u8) -> Hop {
        let seen = self.history.hops().get(&number);
        Hop {
            number,
            address: seen.map(|seen| seen.address),
            round_trip: seen.map(|seen| seen.round_trip),
            largest: seen.map(|seen| bytes(seen.largest)),
        }
    }

    /// The hop limit at which this address answered.
    fn hop_of(&self, address: IpAddr) -> Option<u8> {
        let mut hops = self.history.hops().iter();
        hops.find(|(_, seen)| seen.address == address)
            .map(|(&number, _)| number)
    }

    fn place(&self, boundary: &Boundary) -> Place {
        Place {
            behind: boundary.last.map(|number| self.hop(number)),
            before: boundary.first.map(|number| self.hop(number)),
            is_known: boundary.is_known && !boundary.is_open,
        }
    }

    fn protocols(&self) -> Vec<ProtocolResult> {
        let reach = &self.walked.reach;
        let of_tcp = |protocol| protocol == Protocol::Tcp;
        let asked = self.settings.protocols.iter();
        asked
            .map(|&protocol| {
                let carried = self.carried(protocol);
                let size = |size: Option<u32>| size.map(bytes);
                ProtocolResult {
                    protocol,
                    answers: reach.answers.contains(&protocol) || of_tcp(protocol) && reach.tcp,
                    largest: size(carried.and_then(|(largest, _)| largest)),
                    fails_from: size(carried.and_then(|(_, fails)| fails)),
                    mss: self.history.mss().filter(|_| of_tcp(protocol)),
                }
            })
            .collect()
    }

    /// The largest size that a protocol carries, and the smallest that it does not.
    fn carried(&self, protocol: Protocol) -> Option<(Option<u32>, Option<u32>)> {
        if self
            .walked
            .main
            .is_some_and(|main| main.protocol == protocol)
        {
            let found = self.walked.found?;
            return Some((Some(found.mtu), found.fails.map(|(fails, _)| fails)));
        }
        let mut carried = self.walked.carried.iter();
        let one = carried.find(|one| one.protocol == protocol)?;
        Some((one.largest, one.fails.map(|(fails, _)| fails)))
    }

    fn not_seen(&self) -> Vec<NotSeen> {
        let Settings { protocols, .. } = self.settings;
        let reach = &self.walked.reach;
        let asks = |protocol| protocols.contains(&protocol);
        let has_echoes = reach.answers.contains(&Protocol::Icmp) && !self.is_icmp_filtered();
        let no_large_answers = !self.settings.reflector.is_short() && !has_echoes;
        [
            (
                asks(Protocol::Icmp) && !self.settings.can_echo,
                NotSeen::Echo,
            ),
            (
                asks(Protocol::Tcp) && self.settings.tcp != TcpProbes::Any,
                NotSeen::TcpSizes,
            ),
            (!self.settings.can_fragment, NotSeen::Fragments),
            (no_large_answers, NotSeen::Reverse),
            (self.history.mss().is_none(), NotSeen::Mss),
            (self.is_cut, NotSeen::Cut),
        ]
        .into_iter()
        .filter_map(|(is_so, what)| is_so.then_some(what))
        .collect()
    }

    fn asked(&self) -> u32 {
        u32::try_from(self.settings.asked.get()).unwrap_or(u32::MAX)
    }

    /// The largest TCP segment of packets of this size [RFC9293 s3.7.1].
    fn mss(&self, mtu: Bytes) -> u16 {
        let headers = self.settings.version().header() + TCP_HEADER;
        u16::try_from((mtu - headers).get()).unwrap_or(u16::MAX)
    }
}

/// A finding with its evidence.
const fn finding(kind: FindingKind, evidence: Vec<super::Evidence>) -> Finding {
    Finding { kind, evidence }
}
