//! Separates cross traffic, which is in no metric; its counts are evidence.

use std::borrow::Cow;

use plan::Setting;
use plan::evidence::{self, CrossDirection, CrossTraffic};
use sim::{FlowOutcome, Outcome};
use units::{Bytes, Time};

use super::scenario::{CROSS_TRAFFIC, place_of};
use crate::measurements::Measurements;

/// The outcome without cross traffic, and the flows of cross traffic.
pub(super) fn separate<'a>(
    setting: &Setting,
    outcome: &'a Outcome,
) -> (Cow<'a, Outcome>, Vec<FlowOutcome>) {
    if setting
        .network
        .links
        .iter()
        .all(|link| link.cross.is_none())
    {
        return (Cow::Borrowed(outcome), Vec::new());
    }
    let mut own = outcome.clone();
    let (cross, flows) =
        (own.flows.into_iter()).partition(|flow| flow.name.starts_with(CROSS_TRAFFIC));
    own.flows = flows;
    own.links
        .retain(|link| !link.name.starts_with(CROSS_TRAFFIC));
    (Cow::Owned(own), cross)
}

/// Records the counts of cross traffic sent until `stop`.
pub(super) fn record(
    cross: &[FlowOutcome],
    stop: Time,
    setting: &Setting,
    measurements: &mut Measurements,
) {
    let seconds = stop.since(Time::ZERO).unwrap_or_default().as_secs_f64();
    let all: Vec<CrossTraffic> = cross
        .iter()
        .filter_map(|flow| {
            let (link, direction) = place_of(&flow.name)?;
            let mut links = setting.network.links.iter();
            let settings = links.find(|one| one.name == link)?;
            let wire = settings.framing.wire_size(settings.cross?.packet);
            let megabits = |packets: u64| {
                let bytes = Bytes::new(wire.get().saturating_mul(packets));
                count(bytes.bits()) / seconds / 1e6
            };
            Some(CrossTraffic {
                link: link.to_owned(),
                direction: match direction {
                    "0" => CrossDirection::Forward,
                    _ => CrossDirection::Reverse,
                },
                offered_mbit: megabits(flow.sent),
                carried_mbit: megabits(flow.received),
                packets: flow.sent,
                dropped: None,
                lost: flow.lost,
            })
        })
        .collect();
    if !all.is_empty() {
        measurements.note(evidence::CROSS, all);
    }
}

const fn count(number: u64) -> f64 {
    number as f64
}
