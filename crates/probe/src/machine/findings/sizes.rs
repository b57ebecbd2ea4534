//! Findings about sizes that should pass on any path: small packets, those that IPv6
//! requires, and sizes below a larger one that passes.

use units::IpVersion;

use super::super::kind::{SMALL, bytes};
use super::super::local::smallest_of_ipv6;
use super::super::phase::{Boundary, LostRange};
use super::super::{Direction, DirectionResult, Finding, FindingKind, Limit, Target};
use super::{Facts, finding};

/// The findings, given the results of both directions.
pub(super) fn findings(facts: &Facts<'_>, directions: [DirectionResult; 2]) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(rejects_all(facts));
    findings.extend(below_ipv6(facts, directions));
    findings.extend(lost_ranges(facts));
    findings.extend(forward_fragments(facts, directions[0]));
    findings
}

/// A router that rejects small packets as too big, if the far end answers nothing.
pub(super) fn rejects_all(facts: &Facts<'_>) -> Option<Finding> {
    let reach = &facts.walked.reach;
    if reach.tcp || !reach.answers.is_empty() {
        return None;
    }
    let small = facts.history.messages().filter(|one| one.size <= SMALL);
    let message = small.min_by_key(|one| one.size)?;
    let kind = FindingKind::RejectsAll {
        router: message.router,
        hop: facts.hop_of(message.router),
        size: bytes(message.size),
        announced: bytes(message.announced),
    };
    let evidence = facts.evidence(|kind| kind.hop_limit.is_none());
    Some(finding(kind, evidence))
}

/// A direction of IPv6 that passes less than each link must [RFC8200 s5].
fn below_ipv6(facts: &Facts<'_>, directions: [DirectionResult; 2]) -> Option<Finding> {
    if facts.settings.version() != IpVersion::V6 {
        return None;
    }
    let is_measured = |limit| matches!(limit, Limit::Vanish | Limit::Rejected);
    let measured = directions.map(|one| one.mtu.filter(|_| is_measured(one.limit)));
    let mut both = Direction::BOTH.into_iter().zip(measured);
    let (direction, mtu) = both.find_map(|(direction, mtu)| {
        let mtu = mtu.filter(|mtu| *mtu < smallest_of_ipv6())?;
        Some((direction, mtu))
    })?;
    let main = facts.walked.main?;
    let kind = FindingKind::BelowIpv6 { direction, mtu };
    let sizes = [SMALL, IpVersion::V6.smallest_mtu()];
    let evidence = facts.evidence(|kind| {
        let is_to_far_end = kind.to == Target::FarEnd && kind.hop_limit.is_none();
        is_to_far_end && kind.protocol == main.protocol && sizes.contains(&kind.size)
    });
    Some(finding(kind, evidence))
}

/// Packets that arrive in fragments, although they ask not to be fragmented.
fn forward_fragments(facts: &Facts<'_>, forward: DirectionResult) -> Option<Finding> {
    let mtu = forward.mtu.filter(|_| forward.limit == Limit::Fragmented)?;
    let (main, found) = (facts.walked.main?, facts.walked.found?);
    let (fails, _) = found.fails?;
    let cleared = facts.history.where_df_is_cleared().map(|(last, first)| {
        facts.place(&Boundary {
            last,
            first: Some(first),
            is_known: true,
            is_open: false,
        })
    });
    let kind = FindingKind::ForwardFragments { mtu, cleared };
    let sizes = [found.mtu, fails, facts.walked.up_to];
    Some(finding(kind, facts.sizes(main.protocol, &sizes)))
}

fn lost_ranges(facts: &Facts<'_>) -> Vec<Finding> {
    let ranges = facts.walked.ranges.iter();
    let found = ranges.map(|range| {
        let kind = FindingKind::LostRange {
            direction: range.direction,
            from: bytes(range.from),
            to: bytes(range.to),
            protocol: range.only,
            place: Some(facts.place(&range.boundary)).filter(|place| place.is_known),
        };
        let LostRange {
            from, inside, to, ..
        } = *range;
        let sizes = [from - 1, from, inside, to, to + 1];
        let evidence = facts.evidence(|kind| {
            let is_whole = kind.fragment_size.is_none() && kind.flow == 0;
            is_whole && sizes.contains(&kind.size)
        });
        finding(kind, evidence)
    });
    found.collect()
}
