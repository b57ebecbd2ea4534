//! The report of a test.

use units::Span;

use super::bracket::Bracket;
use super::facts::Facts;
use super::number;
use crate::machine::findings::tunnel;
use crate::machine::kind::bytes;
use crate::machine::{
    Advice, Device, Direction, DirectionResult, Evidence, Finding, FindingKind, Limit, NotSeen,
    PathReport, Place, Protocol, ProtocolResult, Remedy, Verdict,
};

pub(super) fn report(facts: &Facts, took: Span) -> PathReport {
    let asked = facts.asked();
    let (forward, reverse) = (facts.forward(asked), facts.reverse(asked));
    let mut findings = facts.holes(asked);
    findings.extend(facts.others());
    findings.sort_by_key(|finding| finding.kind.rank());
    let verdict = if findings.iter().any(|finding| finding.kind.is_problem()) {
        Verdict::Problem
    } else if [forward, reverse].iter().all(is_reached) {
        Verdict::Clean
    } else {
        Verdict::Unclear
    };
    let size = |size: Option<u32>| size.map(bytes);
    PathReport {
        verdict,
        forward,
        reverse,
        round_trip: facts.round_trip,
        protocols: vec![ProtocolResult {
            protocol: Protocol::Tcp,
            answers: facts.connected || facts.rejected,
            largest: forward.mtu,
            fails_from: size(facts.forward.fails()),
            mss: facts.mss,
        }],
        advice: facts.advice(asked),
        findings,
        not_seen: facts.not_seen([forward.limit, reverse.limit]),
        probes: facts.segments,
        bytes: facts.sent,
        took,
        ..PathReport::nothing_seen(facts.settings.far_end, bytes(asked))
    }
}

impl Facts {
    /// The size that the path should carry: unless it was asked for, the largest that
    /// connections have in both directions.
    fn asked(&self) -> u32 {
        let usual = || match self.is_short_of_segments() {
            true => self.reverse.passes().unwrap_or(u32::MAX).min(self.goal()),
            false => self.goal(),
        };
        self.settings.asked.map_or_else(usual, number)
    }

    fn forward(&self, asked: u32) -> DirectionResult {
        let passes = self.forward.passes();
        let passes = match self.hides_sent() {
            // What is sent in one piece leaves in packets of the path MTU that the system knows.
            true => passes.map(|passes| {
                let most = self.with_options(passes);
                most.min(self.known_mtu.unwrap_or(most))
            }),
            false => passes,
        };
        let reaches = |size: Option<u32>| size.is_some() && passes >= size;
        let limit = if self.forward.fails().is_some() {
            Limit::Vanish
        } else if reaches(Some(asked)) {
            Limit::Asked
        } else if self.is_limited_by_known_mtu() && reaches(self.known_mtu) {
            Limit::Rejected
        } else if reaches(Some(number(self.settings.interface_mtu))) {
            Limit::Interface
        } else if reaches(self.mss.map(|mss| self.settings.packet(mss))) {
            Limit::SegmentSize
        } else {
            Limit::NotSeen
        };
        direction(passes, limit, self.hides_sent())
    }

    fn reverse(&self, asked: u32) -> DirectionResult {
        let passes = self.reverse.passes();
        let limit = if self.reverse.fails().is_some() {
            Limit::Vanish
        } else if passes >= Some(asked) {
            Limit::Asked
        } else if passes >= Some(number(self.settings.interface_mtu)) {
            Limit::Interface
        } else if self.accepts.is_some() && passes >= self.accepts || self.is_short_of_segments() {
            Limit::SegmentSize
        } else {
            Limit::NotSeen
        };
        direction(passes, limit, self.hides_arrived())
    }

    /// Whether the far end sends segments that are smaller than it may, and the answer is long
    /// enough for larger ones.
    fn is_short_of_segments(&self) -> bool {
        let Some((passes, large)) = self.reverse.passes().zip(self.large_answer) else {
            return false;
        };
        let may = self.goal().min(self.accepts.unwrap_or(0));
        self.reverse.fails().is_none() && passes < may && large >= 2 * u64::from(may)
    }

    /// Whether the kernel sends less than its interface, because of an ICMP error or a route.
    fn is_limited_by_known_mtu(&self) -> bool {
        let known = self.known_mtu.unwrap_or(u32::MAX);
        known < self.goal().min(number(self.settings.interface_mtu))
    }

    /// The MTU black holes, and the MSS that ignores one.
    fn holes(&self, asked: u32) -> Vec<Finding> {
        let mut findings = Vec::new();
        let ways = [
            (Direction::Forward, &self.forward),
            (Direction::Reverse, &self.reverse),
        ];
        for (direction, bracket) in ways {
            let Some(fails) = bracket.fails() else {
                continue;
            };
            let kind = FindingKind::BlackHole {
                direction: Some(direction),
                from: bytes(fails),
                place: Place::default(),
            };
            let failing = bracket.failing().map(|(size, _)| size);
            let sizes = bracket.passes().into_iter().chain(failing);
            let evidence = sizes.map(|size| evidence(bracket, size)).collect();
            findings.push(Finding { kind, evidence });
            // A size that is not exact is that of no tunnel.
            let is_exact = match direction {
                Direction::Forward => self.unstated_options == 0,
                Direction::Reverse => self.settings.chooses_mss,
            };
            let tunnel = bracket.passes().filter(|_| is_exact).map(bytes);
            let tunnel = tunnel.and_then(|mtu| tunnel::guess(mtu, bytes(asked)));
            let found = tunnel.map(|tunnel| finding(FindingKind::Tunnel(tunnel), None));
            findings.extend(found.filter(|found| !findings.contains(found)));
        }
        if let (Some(seen), Some(passes)) = (self.mss, self.forward.limit()) {
            let expected = self.settings.mss(passes);
            findings.push(finding(FindingKind::MssTooLarge { seen, expected }, None));
        }
        findings
    }

    fn others(&self) -> Vec<Finding> {
        let interface = self.settings.interface_mtu;
        let mut findings = Vec::new();
        let mut add = |kind, shown| findings.push(finding(kind, shown));
        if self.rejected {
            add(FindingKind::ClosedPort, None);
        } else if !self.connected {
            add(FindingKind::NoAnswer, None);
        }
        if self.settings.asked > Some(interface) {
            add(FindingKind::Interface { mtu: interface }, None);
        }
        if let (Some(known), true) = (self.known_mtu, self.is_limited_by_known_mtu()) {
            add(FindingKind::KnownMtu { mtu: bytes(known) }, None);
        }
        let by_interface = self.settings.mss(number(interface));
        let reverse = self
            .reverse
            .passes()
            .map(|passes| self.settings.mss(passes));
        if let Some(seen) = self.mss {
            let [of_reverse, of_forward] = [&self.reverse, &self.forward].map(largest);
            if let Some(expected) = reverse.filter(|&reverse| reverse > seen) {
                add(FindingKind::MssClamped { seen, expected }, of_reverse);
            } else if seen < by_interface {
                let kind = FindingKind::SmallMss {
                    direction: Direction::Forward,
                    seen,
                    expected: by_interface,
                };
                add(kind, of_forward);
            }
        }
        if let (Some(seen), true) = (reverse, self.is_short_of_segments()) {
            let kind = FindingKind::SmallMss {
                direction: Direction::Reverse,
                seen,
                expected: self.settings.mss(self.goal()),
            };
            add(kind, largest(&self.reverse));
        }
        findings
    }

    /// What mends the holes: the link, and until then smaller packets of either end.
    fn advice(&self, asked: u32) -> Vec<Advice> {
        let mut advice = Vec::new();
        let mut add = |device, remedy| {
            let one = Advice { device, remedy };
            if !advice.contains(&one) {
                advice.push(one);
            }
        };
        let forward = self.forward.limit();
        // Its size is known if a connection can choose the MSS.
        let reverse = self.reverse.limit();
        let reverse = reverse.filter(|_| self.settings.chooses_mss);
        if forward.is_some() || self.reverse.limit().is_some() {
            add(Device::Path, Remedy::Mtu(bytes(asked)));
        }
        if let Some(size) = forward {
            add(Device::Own, Remedy::Mtu(bytes(size)));
        }
        if let Some(size) = reverse {
            add(Device::FarEnd, Remedy::Mtu(bytes(size)));
        }
        // This end's MSS limits the segments of both ends.
        if let Some(size) = forward.into_iter().chain(reverse).min() {
            add(Device::Own, Remedy::Mss(self.settings.mss(size)));
        }
        if self.settings.asked > Some(self.settings.interface_mtu) {
            add(Device::Own, Remedy::Mtu(bytes(asked)));
        }
        advice
    }

    fn not_seen(&self, [forward, reverse]: [Limit; 2]) -> Vec<NotSeen> {
        let fails = |bracket: &Bracket| bracket.passes().zip(bracket.fails());
        let is_wide = |(passes, fails)| self.is_wide(passes, fails);
        let chooses = self.settings.chooses_mss;
        let forward_fails = fails(&self.forward);
        let reverse_fails = fails(&self.reverse);
        let is_wide_forward = forward_fails.is_some_and(is_wide);
        let is_wide_reverse = chooses && reverse_fails.is_some_and(is_wide);
        let hides_reverse = self.hides_arrived() && reverse != Limit::NotSeen;
        let by_answers = self.connected && !self.states_sending;
        [
            (
                self.connected && reverse == Limit::NotSeen && !self.hangs_above,
                NotSeen::LargeAnswers,
            ),
            (
                !self.is_cut && (is_wide_forward || is_wide_reverse),
                NotSeen::ExactSize,
            ),
            (
                by_answers && self.forward.passes().is_none(),
                NotSeen::Unanswered,
            ),
            (forward == Limit::Unstated, NotSeen::SentSizes),
            (hides_reverse, NotSeen::ArrivedSizes),
            (
                forward_fails.is_some() && self.unstated_options > 0,
                NotSeen::Options,
            ),
            (
                self.hangs_above || !chooses && reverse_fails.is_some(),
                NotSeen::ReverseSize,
            ),
            (by_answers, NotSeen::Acknowledgements),
            (self.is_cut, NotSeen::Cut),
        ]
        .into_iter()
        .filter_map(|(is_so, what)| is_so.then_some(what))
        .collect()
    }
}

/// Whether the size that the path should carry passed, or the largest packets of connections
/// whose size the system does not state.
fn is_reached(direction: &DirectionResult) -> bool {
    matches!(direction.limit, Limit::Asked | Limit::Unstated)
}

/// The result of a direction. If the size of its packets is hidden, none is claimed.
fn direction(passes: Option<u32>, limit: Limit, is_hidden: bool) -> DirectionResult {
    let is_of_size = matches!(limit, Limit::Asked | Limit::Interface | Limit::SegmentSize);
    let is_hidden = is_hidden && is_of_size;
    DirectionResult {
        mtu: passes.filter(|_| !is_hidden).map(bytes),
        limit: match limit {
            Limit::Asked if is_hidden => Limit::Unstated,
            limit => limit,
        },
        loss: None,
    }
}

/// The packets, or the connections with packets, of a size.
fn evidence(bracket: &Bracket, size: u32) -> Evidence {
    let tries = bracket.tries(size);
    Evidence {
        protocol: Protocol::Tcp,
        size: bytes(size),
        hop_limit: None,
        router: None,
        flow: 0,
        fragments: false,
        sent: tries.sent,
        answered: tries.passed,
        rejected: 0,
    }
}

/// The largest packets that passed.
fn largest(bracket: &Bracket) -> Option<Evidence> {
    bracket.passes().map(|size| evidence(bracket, size))
}

fn finding(kind: FindingKind, shown: Option<Evidence>) -> Finding {
    let evidence = shown.into_iter().collect();
    Finding { kind, evidence }
}
