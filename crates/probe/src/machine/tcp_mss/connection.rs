//! A connection of a test, and how it ended.

use units::{Bytes, Span, Time};

use super::facts::Facts;
use super::plan::{Plan, Role};
use super::{Action, Observation, State, number};

/// The longest time until a connection is established: its SYN is sent three times at most.
const CONNECTS: Span = Span::from_secs(3);

/// The longest time of an established connection.
const LIVES: Span = Span::from_secs(4);

/// The longest time that a server takes for the first byte of an answer.
const ANSWERS: Span = Span::from_secs(2);

/// The time without further data after which an answer counts as complete, and the same in round
/// trips.
const QUIET: Span = Span::from_millis(150);
const QUIET_ROUND_TRIPS: u64 = 2;

/// The time without progress after which segments count as lost, if the first of them was sent
/// three times, or this many segments were lost and one was sent again; and if one was sent again.
const LOST: usize = 3;
const STALLED: Span = Span::from_millis(250);
const STALLED_LONG: Span = Span::from_secs(1);
const STALLED_ROUND_TRIPS: u64 = 2;

/// The time without data after which an answer counts as lost, longer than the server took for
/// the one that arrived. The first timeout of a sender is 200 ms and more, so the segment was
/// sent twice.
const HANGS: Span = Span::from_millis(400);
/// The same for the first large answer.
const HANGS_FIRST: Span = Span::from_millis(600);
const HANGS_ROUND_TRIPS: u64 = 4;

/// A connection that is open.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) id: u32,
    pub(super) plan: Plan,
    pub(super) latest: Option<Observation>,
    /// The sizes of packets that a ladder sent.
    pub(super) rungs: Vec<u32>,
    opened: Time,
    /// When it was established.
    established: Option<Time>,
    /// The bytes that arrived before it sent its data.
    pub(super) unasked: u64,
    /// When it sent its data.
    asked: Option<Time>,
    /// When data were last acknowledged or arrived, and what had been sent again until then.
    progress: Time,
    retransmitted: u32,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Nothing answered in time.
    Silent,
    /// The far end rejected or reset it before it told anything.
    Reset,
    /// A ladder: the number of rungs that were acknowledged, and how often the next one was sent
    /// if it was lost.
    Climbed { rungs: usize, lost: Option<u32> },
    /// A fetch: the answer arrived.
    Answered { took: Span },
    /// A fetch: the answer did not arrive.
    Hangs,
}

impl Connection {
    pub(super) const fn new(id: u32, plan: Plan, now: Time) -> Self {
        Self {
            id,
            plan,
            latest: None,
            rungs: Vec::new(),
            opened: now,
            established: None,
            unasked: 0,
            asked: None,
            progress: now,
            retransmitted: 0,
        }
    }

    /// Takes what the kernel knows.
    pub(super) fn observed(&mut self, now: Time, observation: Observation, facts: &mut Facts) {
        let done = |seen: &Observation| (seen.acknowledged(), seen.received);
        if self.latest.as_ref().map(done) < Some(done(&observation)) {
            self.progress = now;
            self.retransmitted = retransmitted(&observation);
        }
        if observation.state == State::Open {
            self.established.get_or_insert(now);
        }
        facts.observe(&self.plan, self.latest.as_ref(), &observation);
        self.latest = Some(observation);
    }

    /// Sends its data once it is established.
    pub(super) fn poll_send(&mut self, now: Time, facts: &Facts) -> Option<Action> {
        let latest = self.latest.filter(|latest| latest.state == State::Open)?;
        if self.asked.is_some() || self.listens(now, &latest) {
            return None;
        }
        self.asked = Some(now);
        self.progress = now;
        self.unasked = latest.received;
        Some(match self.plan {
            Plan::Fetch { requests, .. } => Action::SendRequests {
                id: self.id,
                count: requests,
            },
            Plan::Whole => {
                let size = facts.whole_size();
                self.rungs = vec![size];
                Action::SendWhole {
                    id: self.id,
                    packet: Bytes::new(size.into()),
                }
            }
            Plan::Ladder => {
                self.rungs = facts.rungs(&latest);
                let packets = self.rungs.iter();
                Action::SendLadder {
                    id: self.id,
                    packets: packets.map(|&size| Bytes::new(size.into())).collect(),
                }
            }
        })
    }

    /// Whether it waits before its request for what the far end says by itself. Where only an
    /// answer shows that a request arrived, what comes without one is none.
    fn listens(&self, now: Time, latest: &Observation) -> bool {
        let is_first = matches!(
            self.plan,
            Plan::Fetch {
                role: Role::Small,
                ..
            }
        );
        let open = self.established.and_then(|open| now.since(open));
        let round_trip = latest.round_trip.unwrap_or_default();
        let quiet = QUIET.max(round_trip * QUIET_ROUND_TRIPS);
        is_first && latest.sending.is_none() && open.unwrap_or_default() < quiet
    }

    /// How it ended; `None` while that is unknown.
    pub(super) fn outcome(&self, now: Time, facts: &Facts) -> Option<Outcome> {
        let since = |earlier: Time| now.since(earlier).unwrap_or_default();
        let age = since(self.opened);
        let Some((asked, latest)) = self.asked.zip(self.latest) else {
            let state = self.latest.map(|latest| latest.state);
            return match state {
                Some(State::Reset) => Some(Outcome::Reset),
                Some(State::Failed | State::Ended) => Some(Outcome::Silent),
                _ => (age >= CONNECTS).then_some(Outcome::Silent),
            };
        };
        let round_trip = latest.round_trip.unwrap_or_default();
        let idle = since(self.progress);
        let outcome = match self.plan {
            Plan::Ladder => self.climbed(&latest, idle, round_trip),
            Plan::Whole => self.asked_whole(&latest, idle, round_trip, facts),
            Plan::Fetch { .. } => self.fetched(&latest, [idle, since(asked)], round_trip, facts),
        };
        outcome.or_else(|| (since(asked) >= LIVES).then_some(Outcome::Silent))
    }

    fn climbed(&self, latest: &Observation, idle: Span, round_trip: Span) -> Option<Outcome> {
        let Some(sending) = latest.sending else {
            let has_ended = matches!(latest.state, State::Reset | State::Failed);
            return has_ended.then_some(Outcome::Reset);
        };
        let mut left = sending.acknowledged;
        let acknowledged = self.rungs.iter().take_while(|&&size| {
            let data = u64::from(size.saturating_sub(number(latest.headers)));
            let rest = left.checked_sub(data);
            left = rest.unwrap_or(0);
            rest.is_some()
        });
        let rungs = acknowledged.count();
        let climbed = |lost| Some(Outcome::Climbed { rungs, lost });
        let again = sending.retransmitted.saturating_sub(self.retransmitted);
        let stalls = STALLED.max(round_trip * STALLED_ROUND_TRIPS);
        let none_behind = sending.behind.is_none_or(|behind| behind == 0);
        let all_lost = self.rungs.len() - rungs >= LOST && none_behind;
        let is_lost = again >= 2 && idle >= stalls
            || again >= 1 && idle >= stalls && all_lost
            || again >= 1 && idle >= STALLED_LONG.max(stalls);
        match latest.state {
            _ if rungs == self.rungs.len() => climbed(None),
            State::Connecting | State::Open | State::Ended if is_lost => climbed(Some(1 + again)),
            State::Connecting | State::Open | State::Ended => None,
            State::Reset | State::Failed if rungs > 0 => climbed(None),
            State::Reset | State::Failed => Some(Outcome::Reset),
        }
    }

    /// The outcome of a request in one segment, which only its answer shows.
    fn asked_whole(
        &self,
        latest: &Observation,
        idle: Span,
        round_trip: Span,
        facts: &Facts,
    ) -> Option<Outcome> {
        let took = facts.answer().map_or(Span::ZERO, |answer| answer.took);
        let waits = HANGS_FIRST
            .max(took * 2)
            .max(round_trip * HANGS_ROUND_TRIPS);
        let climbed = |rungs, lost| Some(Outcome::Climbed { rungs, lost });
        match latest.state {
            _ if latest.received > self.unasked => climbed(1, None),
            State::Connecting | State::Open if idle >= waits => climbed(0, Some(1)),
            State::Connecting | State::Open => None,
            State::Ended | State::Reset | State::Failed => Some(Outcome::Reset),
        }
    }

    fn fetched(
        &self,
        latest: &Observation,
        [idle, age]: [Span; 2],
        round_trip: Span,
        facts: &Facts,
    ) -> Option<Outcome> {
        let took = age - idle;
        let answered = Some(Outcome::Answered { took });
        let quiet = QUIET.max(round_trip * QUIET_ROUND_TRIPS);
        let enough = facts.enough();
        let has_answer = latest.received > 0;
        match (latest.state, facts.answer()) {
            (State::Reset | State::Failed | State::Ended, _) => match has_answer {
                true => answered,
                false => Some(Outcome::Reset),
            },
            _ if latest.received >= enough => answered,
            // Nobody knows yet how long the answer is.
            (_, None) if has_answer && idle >= quiet => answered,
            (_, None) => (!has_answer && age >= ANSWERS).then_some(Outcome::Hangs),
            (_, Some(answer)) => {
                let expected = answer.received.min(enough);
                let is_most = latest.received >= expected - expected / 4;
                let in_order = latest.out_of_order.is_none_or(|segments| segments == 0);
                if is_most && in_order && idle >= quiet {
                    return answered;
                }
                let least = match self.plan {
                    Plan::Fetch {
                        role: Role::Large, ..
                    } => HANGS_FIRST,
                    _ => HANGS,
                };
                let waits = least
                    .max(answer.took * 2)
                    .max(round_trip * HANGS_ROUND_TRIPS);
                // A request that did not arrive has no answer.
                let has_arrived = latest.acknowledged().is_none_or(|bytes| bytes > 0);
                (idle >= waits && has_arrived).then_some(Outcome::Hangs)
            }
        }
    }
}

/// Segments that were sent again, as far as the system states them.
fn retransmitted(seen: &Observation) -> u32 {
    seen.sending.map_or(0, |sending| sending.retransmitted)
}
