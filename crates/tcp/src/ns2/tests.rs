use units::{Span, Time};

use super::*;
use crate::ranges::Range;

const ALL: [Recovery; 4] = [
    Recovery::Tahoe,
    Recovery::Reno,
    Recovery::NewReno,
    Recovery::Sack,
];

/// An agent with segments 7 to 14 in flight, and the current time.
fn in_flight(recovery: Recovery) -> (Agent, Time) {
    let mut agent = Agent::new(&Settings::ns2(recovery, 1_000, 20), 1_000);
    let mut now = Time::ZERO;
    agent.start(now);
    for next in 1..=7 {
        now += Span::from_millis(10);
        agent.receive(now, &ack(next));
    }
    sent(&mut agent);
    let state = agent.state();
    assert_eq!((state.acknowledged, state.window), (7, 8.0));
    (agent, now)
}

/// The numbers of the segments that it sends, and whether each is a retransmission.
fn sent(agent: &mut Agent) -> Vec<(u64, bool)> {
    let data = std::iter::from_fn(|| agent.poll_transmit());
    data.map(|data| (data.sequence, data.again)).collect()
}

/// An acknowledgement of all segments before `next`.
const fn ack(next: u64) -> Ack {
    Ack::of(next)
}

/// A duplicate acknowledgement of 7 that reports `beyond` segments behind it.
fn duplicate(beyond: u64) -> Ack {
    let mut ack = ack(7);
    let reported = Range {
        from: 8,
        to: 8 + beyond,
    };
    ack.report(0, reported);
    ack
}

/// Segment `sequence`.
const fn lost(sequence: u64) -> Range {
    Range {
        from: sequence,
        to: sequence + 1,
    }
}

#[test]
fn a_notified_drop_is_retransmitted_at_once_and_duplicates_ask_for_nothing_more() {
    for recovery in ALL {
        let (mut agent, now) = in_flight(recovery);
        agent.notified(now, lost(7), false);
        assert_eq!(sent(&mut agent), [(7, true)], "{recovery:?}");
        assert_eq!(agent.state().window, 8.0);
        for beyond in 1..=4 {
            agent.receive(now, &duplicate(beyond));
        }
        let again = sent(&mut agent);
        assert!(!again.contains(&(7, true)), "{recovery:?}: {again:?}");
        assert_eq!(agent.counts().recoveries, 0, "{recovery:?}");
        // An agent without a notification takes the third duplicate for a loss.
        let (mut agent, now) = in_flight(recovery);
        for beyond in 1..=4 {
            agent.receive(now, &duplicate(beyond));
        }
        assert!(sent(&mut agent).contains(&(7, true)), "{recovery:?}");
        assert_eq!(agent.counts().recoveries, 1, "{recovery:?}");
    }
}

#[test]
fn its_window_is_reduced_once_for_the_segments_in_flight_if_set() {
    for recovery in ALL {
        let (mut agent, now) = in_flight(recovery);
        agent.notified(now, lost(7), true);
        agent.notified(now, lost(9), true);
        assert_eq!(sent(&mut agent), [(7, true), (9, true)], "{recovery:?}");
        assert_eq!(agent.state().window, 4.0, "{recovery:?}");
        assert_eq!(agent.state().threshold, Some(4.0), "{recovery:?}");
        // Segments sent after that may be lost themselves.
        agent.receive(now, &ack(15));
        let next = sent(&mut agent);
        let (first, _) = next[0];
        agent.notified(now, lost(first), true);
        assert_eq!(agent.state().window, 2.0, "{recovery:?}");
    }
}

#[test]
fn a_notification_of_what_arrived_or_was_never_sent_is_ignored() {
    for recovery in ALL {
        let (mut agent, now) = in_flight(recovery);
        for sequence in [0, 6, 15, 900] {
            agent.notified(now, lost(sequence), true);
        }
        assert_eq!(sent(&mut agent), [], "{recovery:?}");
        assert_eq!(agent.state().window, 8.0);
    }
}

#[test]
fn a_partial_acknowledgement_takes_two_segments_from_the_pipe() {
    let (mut agent, now) = in_flight(Recovery::Sack);
    for beyond in 1..=3 {
        agent.receive(now, &duplicate(beyond));
    }
    sent(&mut agent);
    let before = agent.pipe;
    agent.receive(now, &ack(8));
    let more = i64::try_from(sent(&mut agent).len()).unwrap();
    assert_eq!(agent.pipe, before - 2 + more);
}
