//! Recorded arrivals, sent through a link once more: under the settings of the
//! record it decides as it did, under others the answer is "what if".

mod settings;
mod summary;

use anyhow::{Result, anyhow, ensure};
use proto::link::{Arrival, Event, Link, Settings};
use queue::{Packet, Spec, View};
use units::{Bytes, Seed, Span, Time};

use crate::recording::{Decision, Recorded, Traced};
pub use settings::{Variant, variants};
pub use summary::Summary;

/// How far one way's replay under the settings of the record agrees with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// Packets whose fate is in the record.
    pub compared: usize,
    /// Those of the same fate, reason and mark at the same instant.
    pub agreed: usize,
    /// The first that differs.
    pub first: Option<Difference>,
}

/// A packet of which something else was decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Its number among the packets of its direction.
    pub number: u64,
    /// When it came.
    pub arrival: Time,
    /// What the record says.
    pub recorded: Decision,
    /// What was decided now.
    pub replayed: Decision,
}

/// Replays `direction` of `recorded` under its own settings.
///
/// # Errors
/// Where the settings in the record are those of no link, or packets would have to
/// be taken out of bundles.
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

/// What the record says became of the packets of a direction.
pub fn recorded(traced: &Traced) -> Summary {
    let decided = traced.packets.iter();
    Summary::of(decided.filter_map(|(arrival, decision)| Some((arrival.at, (*decision)?))))
}

/// What becomes of the packets of `direction` where the link is like `settings`.
///
/// # Errors
/// Where there is no such link, or packets would have to be taken out of bundles.
pub fn replay_with(recorded: &Recorded, direction: usize, settings: &Settings) -> Result<Summary> {
    let traced = &recorded.directions[direction];
    let decided = drive(settings, traced, recorded.origin)?;
    let arrivals = traced.packets.iter().map(|(arrival, _)| arrival.at);
    Ok(Summary::of(arrivals.zip(decided)))
}

/// What a link like `settings` decides of the packets of `traced`, in the
/// order of their arrival.
fn drive(settings: &Settings, traced: &Traced, origin: Time) -> Result<Vec<Decision>> {
    let is_bare = |(arrival, _): &(Arrival, Option<Decision>)| arrival.header.live == 1;
    ensure!(
        !drops_inner(&settings.queue) || traced.packets.iter().all(is_bare),
        "bundles came, and a recording does not say what is in them: what MRED takes out cannot be decided again"
    );
    let first = traced.reseeds.first();
    let chance = first.map_or(Seed::new(0), |reseed| reseed.seed);
    let mut link = Link::new(settings.clone(), chance)?;
    link.record();
    let mut decided = vec![None; traced.packets.len()];
    let mut reseeds = traced.reseeds.iter().skip(1).peekable();
    // Instants are those of the record's own clock: laws may look at them.
    let on_clock = |at: Time| origin + span(at);
    for (arrival, _) in &traced.packets {
        let header = arrival.header;
        while let Some(reseed) = reseeds.next_if(|reseed| reseed.after < header.number) {
            link.reseed(on_clock(reseed.at), reseed.seed);
        }
        let at = on_clock(arrival.at);
        // What had gone on the wire by then does not wait any more, even where
        // the packet came earlier and was read late.
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
    all.ok_or_else(|| anyhow!("the link kept packets to itself"))
}

/// Whether a queue takes packets out of bundles.
fn drops_inner(queue: &Spec) -> bool {
    match queue {
        Spec::Mred(_) => true,
        Spec::Priority { each, .. } => drops_inner(each),
        _ => false,
    }
}

fn note(decided: &mut [Option<Decision>], events: Vec<Event>, origin: Time) {
    for event in events {
        // The link counts from 1, whatever was recorded before.
        let place = usize::try_from(event.header.number - 1).unwrap_or(usize::MAX);
        if let Some(decision) = decided.get_mut(place) {
            *decision = Some(Decision {
                at: Time::ZERO + event.at.since(origin).unwrap_or_default(),
                fate: event.fate,
                reason: event.reason,
                marked: event.marked,
            });
        }
    }
}

/// Lets go what comes out by `until`.
fn discard(link: &mut Link<Replayed>, until: Time) {
    while link.poll_transmit(until).is_some() {}
}

fn span(at: Time) -> Span {
    at.since(Time::ZERO).unwrap_or_default()
}

/// A packet as queues saw it.
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
