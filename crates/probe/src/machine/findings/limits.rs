//! Findings about sizes that do not pass.

use core::net::IpAddr;
use std::collections::BTreeMap;

use super::super::kind::bytes;
use super::super::phase::{Boundary, Hole};
use super::super::search::Found;
use super::super::{Direction, Finding, FindingKind, Protocol};
use super::{Facts, finding};

pub(super) fn findings(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(branches(facts));
    findings.extend(one_protocol(facts));
    findings.extend(hole(facts));
    findings.extend(rejected(facts));
    findings.extend(reverse_limit(facts));
    findings.extend(interface(facts));
    findings
}

impl Facts<'_> {
    /// The router that said that packets larger than `mtu` are too big.
    pub(super) fn rejecter(&self, protocol: Protocol, mtu: u32) -> Option<IpAddr> {
        let messages = self.history.messages();
        let about = messages.filter(|one| one.protocol == protocol && one.flow == 0);
        about
            .filter(|one| one.size == mtu + 1 || one.announced == mtu && one.size > mtu)
            .map(|one| one.router)
            .next()
    }

    /// The largest size that a protocol carries to the far end, and the first that fails.
    pub(super) fn carried_forward(&self) -> Vec<(Protocol, Option<u32>, Option<u32>)> {
        let walked = self.walked;
        let forward = Some(Direction::Forward);
        let is_reverse = walked.hole.is_some_and(|hole| hole.direction != forward);
        let of_main = walked.main.zip(walked.found).map(|(main, found)| {
            let fails = found.fails.map(|(fails, _)| fails);
            (main.protocol, Some(found.mtu), fails)
        });
        let others = walked.carried.iter().map(|one| {
            let fails = one.fails.map(|(fails, _)| fails);
            (one.protocol, one.largest, fails)
        });
        // Echo replies are as large as the probes: if they vanish, others tell.
        let is_told = |protocol| !is_reverse || protocol != Protocol::Icmp;
        let all = of_main.into_iter().chain(others);
        all.filter(|&(protocol, ..)| is_told(protocol)).collect()
    }

    /// Whether echoes above a size do not pass, while another protocol carries that size: a
    /// filter of large ICMP, which limits no other packets.
    pub(super) fn is_icmp_filtered(&self) -> bool {
        let carried = self.carried_forward();
        let mut of_icmp = carried
            .iter()
            .filter(|(protocol, ..)| *protocol == Protocol::Icmp);
        let fails = of_icmp.find_map(|&(.., fails)| fails);
        let mut others = carried
            .iter()
            .filter(|(protocol, ..)| *protocol != Protocol::Icmp);
        fails.is_some() && others.any(|&(_, largest, _)| largest >= fails)
    }

    fn narrow(&self, protocol: Protocol) -> Option<Boundary> {
        if self
            .walked
            .main
            .is_some_and(|main| main.protocol == protocol)
        {
            return self.walked.hole.map(|hole| hole.boundary);
        }
        let mut narrow = self.walked.narrow.iter();
        let (_, boundary) = narrow.find(|(one, _)| *one == protocol)?;
        Some(*boundary)
    }
}

fn branches(facts: &Facts<'_>) -> Option<Finding> {
    let branches = facts.walked.branches.as_ref()?;
    let sizes = [branches.small, branches.large, branches.fails];
    let evidence = facts.evidence(|kind| {
        let is_far = kind.hop_limit.is_none() && kind.fragment_size.is_none();
        is_far && kind.protocol == branches.protocol && sizes.contains(&kind.size)
    });
    let kind = FindingKind::Branches {
        flows: branches.flows.clone(),
        of: branches.of,
        small: bytes(branches.small),
        large: bytes(branches.large),
        place: Some(facts.place(&branches.boundary)).filter(|place| place.is_known),
    };
    Some(finding(kind, evidence))
}

/// Protocols that carry less than others, unless branches explain it.
fn one_protocol(facts: &Facts<'_>) -> Vec<Finding> {
    if facts.walked.branches.is_some() {
        return Vec::new();
    }
    let carried = facts.carried_forward();
    let widest = carried.iter().filter_map(|&(_, largest, _)| largest).max();
    let narrower = carried.iter().filter_map(|&(protocol, largest, fails)| {
        let (widest, fails) = (widest?, fails?);
        (fails <= widest).then_some(())?;
        let boundary = facts.narrow(protocol).filter(|one| one.is_known);
        let kind = FindingKind::OneProtocol {
            protocol,
            from: bytes(fails),
            others: bytes(widest),
            place: boundary.map(|boundary| facts.place(&boundary)),
        };
        let sizes = [fails, largest.unwrap_or(fails)];
        Some(finding(kind, facts.sizes(protocol, &sizes)))
    });
    narrower.collect()
}

/// The place where packets vanish.
fn hole(facts: &Facts<'_>) -> Option<Finding> {
    let walked = facts.walked;
    let Hole {
        direction,
        boundary,
    } = walked.hole?;
    let (main, found) = (walked.main?, walked.found?);
    let is_reverse = direction == Some(Direction::Reverse);
    let reverse = walked.back.filter(|_| is_reverse);
    let Found { mtu, fails } = reverse.unwrap_or(found);
    let (fails, _) = fails?;
    let others_carry = walked.carried.iter().any(|one| one.largest >= Some(fails));
    let is_branch = walked.branches.as_ref().is_some_and(|one| one.small == mtu);
    let is_told = facts.rejecter(main.protocol, mtu).is_some();
    if !is_reverse && (others_carry || is_branch || is_told) {
        return None;
    }
    let route = &walked.route;
    let is_first = boundary.last.is_none()
        && boundary.is_known
        && (boundary.first == Some(1) || route.far_end == Some(1));
    let from = bytes(fails);
    let kind = if is_first {
        let first = facts.hop(1);
        FindingKind::FirstLink { from, first }
    } else {
        let place = facts.place(&boundary);
        FindingKind::BlackHole {
            direction,
            from,
            place,
        }
    };
    Some(finding(
        kind,
        facts.evidence_of_hole(main.protocol, &[mtu, fails]),
    ))
}

impl Facts<'_> {
    fn evidence_of_hole(&self, protocol: Protocol, sizes: &[u32]) -> Vec<super::super::Evidence> {
        self.evidence(|kind| {
            let is_of = kind.protocol == protocol || kind.protocol == Protocol::Icmp;
            let is_whole = kind.fragment_size.is_none() && kind.flow == 0;
            is_of && is_whole && sizes.contains(&kind.size)
        })
    }
}

/// Routers that said that packets are too big, those of the smallest sizes first.
fn rejected(facts: &Facts<'_>) -> Vec<Finding> {
    let (Some(main), Some(found)) = (facts.walked.main, facts.walked.found) else {
        return Vec::new();
    };
    let mut routers: BTreeMap<(u32, IpAddr), Vec<u32>> = BTreeMap::new();
    let last = facts.rejecter(main.protocol, found.mtu);
    for one in facts.history.messages() {
        // What was rejected before the last router.
        let is_earlier = one.announced > found.mtu && one.announced < one.size;
        let mtu = match Some(one.router) == last {
            true => found.mtu,
            false if is_earlier => one.announced,
            false => continue,
        };
        routers.entry((mtu, one.router)).or_default().push(one.size);
    }
    let each = routers.into_iter().map(|((mtu, router), sizes)| {
        let located = facts.walked.rejecter.and_then(|boundary| boundary.last);
        let located = located.filter(|_| Some(router) == last);
        let kind = FindingKind::Rejected {
            mtu: bytes(mtu),
            router,
            hop: facts.hop_of(router).or(located),
        };
        finding(kind, facts.sizes(main.protocol, &sizes))
    });
    each.collect()
}

fn reverse_limit(facts: &Facts<'_>) -> Option<Finding> {
    let mtu = facts.history.fragmented_reply()?;
    let kind = FindingKind::ReverseLimit { mtu: bytes(mtu) };
    Some(finding(
        kind,
        facts.evidence(|kind| kind.size > mtu && kind.hop_limit.is_none()),
    ))
}

fn interface(facts: &Facts<'_>) -> Option<Finding> {
    let up_to = facts.walked.up_to;
    (up_to < facts.asked()).then(|| {
        let mtu = bytes(up_to);
        finding(FindingKind::Interface { mtu }, Vec::new())
    })
}
