//! Sends recorded arrivals through a link again. With the recorded settings the
//! link repeats its decisions; with other settings the result answers a "what
//! if" question.

mod settings;
mod summary;

use anyhow::{Result, anyhow, ensure};
use link::{Arrival, Event, Link, Settings};
use plan::replayed_link::ReplayedQueue;
use queue::{Packet, Spec, View};
use units::{Bytes, Seed, Span, Time};

use crate::recording::{Decision, Recorded, Traced};
pub use settings::{Variant, variants};

/// The agreement of one direction's replay under the recorded settings with the
/// recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// Packets with a recorded outcome.
    pub compared: usize,
    /// Packets with the same outcome, reason and mark at the same time.
    pub agreed: usize,
    /// The first packet that differs.
    pub first: Option<Difference>,
}

/// A packet with a different decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Its number among the packets of its direction.
    pub number: u64,
    /// The time of arrival.
    pub arrival: Time,
    pub recorded: Decision,
    pub replayed: Decision,
}

/// Replays `direction` of `recorded` under the recorded settings.
///
/// # Errors
/// The recorded settings are invalid, or packets would have to be dropped out
/// of bundles.
pub fn reproduce(recorded: &Recorded, direction: usize) -> Result<Agreement> {
    let traced = &recorded.directions[direction];
    let replayed = drive(&traced.settings, traced, recorded.origin)?;
    let mut agreement = Agreement {
        compared: 0,
        agreed: 0,
        first: None,
    };
    for ((arrival, decided), now) in traced.packets.iter().zip(replayed) {
        let Some(recorded) = *decided else { continue };
        agreement.compared += 1;
        if recorded == now {
            agreement.agreed += 1;
        } else if agreement.first.is_none() {
            agreement.first = Some(Difference {
                number: arrival.header.number,
                arrival: arrival.at,
                recorded,
                replayed: now,
            });
        }
    }
    Ok(agreement)
}

/// One direction as recorded.
pub fn recorded(recorded: &Recorded, direction: usize) -> ReplayedQueue {
    let packets = recorded.directions[direction].packets.iter();
    let decided = packets.map(|(arrival, decision)| (arrival, *decision));
    queue(decided, direction, None)
}

/// One direction on a link with `settings`, as [`recorded`].
///
/// # Errors
/// The settings are invalid, or packets would have to be dropped out of
/// bundles.
pub fn replay_with(
    recorded: &Recorded,
    direction: usize,
    variant: &Variant,
) -> Result<ReplayedQueue> {
    let traced = &recorded.directions[direction];
    let settings = &variant.directions[direction];
    let decisions = drive(settings, traced, recorded.origin)?;
    let arrivals = traced.packets.iter().map(|(arrival, _)| arrival);
    let decided = arrivals.zip(decisions.into_iter().map(Some));
    Ok(queue(decided, direction, Some(variant.name.clone())))
}

fn queue<'a>(
    decided: impl Iterator<Item = (&'a Arrival, Option<Decision>)> + Clone,
    direction: usize,
    settings: Option<String>,
) -> ReplayedQueue {
    let (outcomes, waits) = summary::summary(decided.clone());
    ReplayedQueue {
        direction,
        settings,
        outcomes,
        waits,
        over_time: summary::over_time(decided),
    }
}

/// The decisions of a link with `settings` about the packets of `traced`, in
/// order of arrival.
fn drive(settings: &Settings, traced: &Traced, origin: Time) -> Result<Vec<Decision>> {
    let is_bare = |(arrival, _): &(Arrival, Option<Decision>)| arrival.header.live == 1;
    ensure!(
        !drops_inner(&settings.queue) || traced.packets.iter().all(is_bare),
        "the recording has bundles but not their content, so MRED's drops of inner packets cannot be replayed; choose another queue"
    );
    let first = traced.reseeds.first();
    let chance = first.map_or(Seed::new(0), |reseed| reseed.seed);
    let mut link = Link::new(settings.clone(), chance)?;
    link.record();
    let mut decided = vec![None; traced.packets.len()];
    let mut reseeds = traced.reseeds.iter().skip(1).peekable();
    // Use the recording's own clock, since disciplines may depend on the time.
    let on_clock = |at: Time| origin + span(at);
    for (arrival, _) in &traced.packets {
        let header = arrival.header;
        while let Some(reseed) = reseeds.next_if(|reseed| reseed.after < header.number) {
            link.reseed(on_clock(reseed.at), reseed.seed);
        }
        let at = on_clock(arrival.at);
        // Packets transmitted by then no longer wait, even if the driver read
        // this packet late.
        discard(&mut link, at.max(on_clock(header.served)));
        link.receive(
            at,
            Replayed {
                view: View {
                    size: Bytes::new(arrival.size),
                    flow: arrival.flow,
                    class: header.class,
                    precedence: header.precedence,
                },
                tags: Bytes::new(header.tags),
                live: header.live,
                markable: header.markable,
            },
        );
        note(&mut decided, link.take_events(), origin);
    }
    discard(&mut link, Time::from_picos(u64::MAX));
    note(&mut decided, link.take_events(), origin);
    let all: Option<Vec<Decision>> = decided.into_iter().collect();
    all.ok_or_else(|| anyhow!("the link did not return all packets"))
}

/// Whether a queue drops packets out of bundles.
fn drops_inner(queue: &Spec) -> bool {
    match queue {
        Spec::Mred(_) => true,
        Spec::Priority { each, .. } => drops_inner(each),
        _ => false,
    }
}

fn note(decided: &mut [Option<Decision>], events: Vec<Event>, origin: Time) {
    for event in events {
        // The link numbers packets from 1, whatever was recorded before.
        let place = usize::try_from(event.header.number - 1).unwrap_or(usize::MAX);
        if let Some(decision) = decided.get_mut(place) {
            *decision = Some(Decision {
                at: Time::ZERO + event.at.since(origin).unwrap_or_default(),
                outcome: event.outcome,
                reason: event.reason,
                marked: event.marked,
            });
        }
    }
}

/// Discards the packets that leave the link by `until`.
fn discard(link: &mut Link<Replayed>, until: Time) {
    while link.poll_transmit(until).is_some() {}
}

fn span(at: Time) -> Span {
    at.since(Time::ZERO).unwrap_or_default()
}

/// A packet as the queue sees it.
struct Replayed {
    view: View,
    tags: Bytes,
    live: u32,
    markable: bool,
}

impl Packet for Replayed {
    fn view(&self) -> View {
        self.view
    }

    fn tags(&self) -> Bytes {
        self.tags
    }

    fn live(&self) -> u32 {
        self.live
    }

    fn markable(&self) -> bool {
        self.markable
    }

    fn mark(&mut self) -> bool {
        self.markable
    }
}

#[cfg(test)]
mod tests;
