//! Decisions in numbers.

use gateway::machine::{Decision, Event};
use gateway::replay::Decided;
use plan::replayed_gateway::ReplayedSettings;
use units::{Span, Time};

/// The outcome of decisions about the arrivals of each section.
pub(super) fn outcome(settings: Option<String>, decided: Decided<'_>) -> ReplayedSettings {
    let mut outcome = ReplayedSettings {
        settings,
        ..ReplayedSettings::default()
    };
    let mut waits = Vec::new();
    for (section, decisions) in decided {
        let arrivals: Vec<Time> = section
            .events
            .iter()
            .filter_map(|event| match event {
                Event::Arrived(arrival) => Some(arrival.at),
                _ => None,
            })
            .collect();
        outcome.arrived += arrivals.len() as u64;
        let arrived = |number: u64| {
            let place = usize::try_from(number).ok()?;
            arrivals.get(place).copied()
        };
        for decision in decisions {
            match decision {
                Decision::Sent { at, packets, .. } => {
                    outcome.bundles += 1;
                    outcome.sent += packets.len() as u64;
                    outcome.marked += packets.iter().filter(|(.., marked)| *marked).count() as u64;
                    let waited = packets.iter().filter_map(|(number, ..)| arrived(*number));
                    waits.extend(waited.map(|came| at.since(came).unwrap_or_default()));
                }
                Decision::Dropped {
                    taken_out, packets, ..
                } => {
                    let packets = packets.len() as u64;
                    outcome.dropped += packets;
                    outcome.taken_out += if taken_out { packets } else { 0 };
                }
            }
        }
    }
    waits.sort_unstable();
    outcome.waits = [50, 90, 99].map(|percent| quantile(&waits, percent));
    outcome
}

/// The wait of which so many percent are not longer, by nearest rank.
fn quantile(sorted: &[Span], percent: usize) -> Option<Span> {
    let rank = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(rank).copied()
}
