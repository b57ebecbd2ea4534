//! The result for each direction.

use super::super::kind::bytes;
use super::super::{Direction, DirectionResult, Limit, Protocol};
use super::Facts;

/// The direction to the far end.
pub(super) fn forward(facts: &Facts<'_>) -> DirectionResult {
    let walked = facts.walked;
    let [loss, _] = facts.history.one_way_loss();
    let (Some(main), Some(found)) = (walked.main, walked.found) else {
        return DirectionResult {
            mtu: None,
            limit: Limit::NotSeen,
            loss,
        };
    };
    let forward = facts.carried_forward();
    let is_hole_reverse = walked
        .hole
        .is_some_and(|hole| hole.direction == Some(Direction::Reverse));
    let is_untold = is_hole_reverse && forward.is_empty();
    let is_filtered = |protocol| protocol == Protocol::Icmp && facts.is_icmp_filtered();
    let of_path = forward
        .into_iter()
        .filter(|&(protocol, ..)| !is_filtered(protocol));
    let of_protocols = of_path.filter_map(|(_, largest, _)| largest);
    let of_branches = walked.branches.as_ref().map(|branches| branches.small);
    let mtu = of_protocols.chain(of_branches).min();
    let mtu = mtu.unwrap_or(found.mtu);
    let rejected = facts.rejecter(main.protocol, mtu).is_some()
        || walked.carried.iter().any(|one| {
            one.fails
                .is_some_and(|(size, rejected)| rejected && size == mtu + 1)
        });
    let limit = if mtu >= facts.asked() {
        Limit::Asked
    } else if mtu >= walked.up_to {
        Limit::Interface
    } else if facts.history.piece(mtu + 1).is_some() {
        Limit::Fragmented
    } else if rejected {
        Limit::Rejected
    } else if is_untold {
        Limit::NotSeen
    } else {
        Limit::Vanish
    };
    DirectionResult {
        mtu: Some(bytes(mtu)),
        limit,
        loss,
    }
}

/// The direction of the answers.
pub(super) fn reverse(facts: &Facts<'_>) -> DirectionResult {
    let walked = facts.walked;
    let [_, loss] = facts.history.one_way_loss();
    let largest = facts.history.largest_reply();
    let (mtu, limit) = if let Some(fragment) = facts.history.fragmented_reply() {
        (Some(fragment), Some(Limit::Fragmented))
    } else if let Some(back) = walked.back {
        let limit = back.fails.map(|_| Limit::Vanish);
        (Some(back.mtu), limit)
    } else if walked
        .hole
        .is_some_and(|hole| hole.direction == Some(Direction::Reverse))
    {
        (walked.found.map(|found| found.mtu), Some(Limit::Vanish))
    } else {
        (largest, None)
    };
    let carries_asked = mtu >= Some(facts.asked());
    let limit = limit.unwrap_or(match carries_asked {
        true => Limit::Asked,
        false => Limit::NotSeen,
    });
    DirectionResult {
        mtu: mtu.map(bytes),
        limit,
        loss,
    }
}
