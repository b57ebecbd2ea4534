use super::*;

const SEGMENT: u32 = 1_460;
const MILLI: Span = Span::from_millis(1);

fn ack(next: u64, echo: bool) -> Ack {
    let mut ack = Ack::of(next);
    (ack.header, ack.echo) = (32, echo);
    ack
}

/// The segments that are ready to be sent.
fn sent(sender: &mut Sender) -> Vec<Data> {
    std::iter::from_fn(|| sender.poll_transmit()).collect()
}

/// A sender of the standards whose SYN was acknowledged after a millisecond,
/// and the ten segments of its first window.
fn opened(settings: &Settings) -> (Sender, Vec<Data>) {
    let mut sender = Sender::new(settings, None);
    sender.start(Time::ZERO);
    let syn = sent(&mut sender);
    assert_eq!((syn.len(), syn[0].sequence, syn[0].payload), (1, 0, 0));
    assert_eq!(sender.counts(), Counts::default(), "a SYN carries no data");
    sender.receive(Time::ZERO + MILLI, &ack(1, false));
    let first = sent(&mut sender);
    assert_eq!(first.len(), 10);
    (sender, first)
}

#[test]
fn segments_are_counted_once_and_their_repetitions_apart() {
    let (mut sender, _) = opened(&Settings::new(SEGMENT));
    let counts = sender.counts();
    assert_eq!((counts.segments, counts.bytes), (10, 14_600));
    assert_eq!((counts.retransmissions, counts.timeouts), (0, 0));
    assert_eq!((counts.round_trips, counts.round_trips_took), (1, MILLI));
    sender.timeout(sender.next_timeout().unwrap());
    let again = sent(&mut sender);
    assert_eq!((again.len(), again[0].again), (1, true));
    let counts = sender.counts();
    assert_eq!((counts.segments, counts.bytes), (10, 14_600));
    assert_eq!((counts.retransmissions, counts.timeouts), (1, 1));
}

#[test]
fn segments_that_do_not_fit_are_sent_again_smaller_in_a_window_of_as_many_bytes() {
    let (mut sender, first) = opened(&Settings::new(SEGMENT));
    let before = sender.state();
    // Neither none nor more than a segment has is news.
    sender.too_big(Time::ZERO + MILLI, 0);
    sender.too_big(Time::ZERO + MILLI, SEGMENT);
    assert_eq!((sent(&mut sender).len(), sender.state()), (0, before));
    sender.too_big(Time::ZERO + MILLI, SEGMENT / 2);
    let again = sent(&mut sender);
    assert_eq!(again.len(), 2 * first.len());
    assert!(
        again
            .iter()
            .all(|data| data.again && data.payload == SEGMENT / 2)
    );
    let bytes = |state: State, payload: u32| state.window * f64::from(payload);
    let after = sender.state();
    assert_eq!(bytes(after, SEGMENT / 2), bytes(before, SEGMENT));
    assert_eq!((before.flight, after.flight), (10.0, 20.0));
}

#[test]
fn a_queue_may_mark_new_data_and_the_next_new_segment_tells_of_the_reduction() {
    let settings = Settings {
        ecn: true,
        ..Settings::new(SEGMENT)
    };
    let (mut sender, first) = opened(&settings);
    assert!(first.iter().all(|data| data.capable && !data.reduced));
    // Sent again: neither to be marked nor a place for the news.
    let later = Time::ZERO + MILLI * 2;
    sender.receive(later, &ack(1 + u64::from(SEGMENT), true));
    sender.too_big(later, SEGMENT / 2);
    let again = sent(&mut sender);
    let (again, fresh): (Vec<Data>, Vec<Data>) = again.iter().partition(|data| data.again);
    assert!(!again.is_empty() && again.iter().all(|data| !data.capable && !data.reduced));
    assert!(fresh.is_empty(), "the window is smaller than the flight");
    assert_eq!(sender.counts().marks, 1);
    let next = first.last().unwrap().sequence + u64::from(SEGMENT);
    sender.receive(later + MILLI, &ack(next, false));
    let fresh = sent(&mut sender);
    assert!(fresh.len() > 1 && fresh.iter().all(|data| data.capable && !data.again));
    let notified: Vec<bool> = fresh.iter().map(|data| data.reduced).collect();
    assert!(notified[0] && !notified[1..].contains(&true));
    // A connection whose ends do not answer marks sends no packet to be marked.
    let (mut sender, _) = opened(&Settings::new(SEGMENT));
    let next = 1 + 10 * u64::from(SEGMENT);
    sender.receive(later, &ack(next, false));
    assert!(sent(&mut sender).iter().all(|data| !data.capable));
}

#[test]
fn a_sender_that_stops_repairs_but_sends_no_new_data() {
    let (mut sender, first) = opened(&Settings::new(SEGMENT));
    sender.stop();
    let later = Time::ZERO + MILLI * 2;
    sender.receive(later, &ack(first[1].sequence, false));
    assert_eq!(sent(&mut sender), []);
    sender.timeout(sender.next_timeout().unwrap());
    let again: Vec<u64> = sent(&mut sender).iter().map(|data| data.sequence).collect();
    assert_eq!(again, [first[1].sequence]);
}

#[test]
fn a_segment_is_lost_once_more_than_two_behind_it_are_reported() {
    // [RFC6675 s4]
    for (reported, lost) in [(1, false), (2, false), (3, true)] {
        let (mut sender, first) = opened(&Settings::new(SEGMENT));
        let mut duplicate = ack(1, false);
        let range = crate::ranges::Range {
            from: first[1].sequence,
            to: first[1 + reported].sequence,
        };
        duplicate.report(0, range);
        sender.receive(Time::ZERO + MILLI * 2, &duplicate);
        let again = sent(&mut sender).into_iter().filter(|data| data.again);
        let again: Vec<u64> = again.map(|data| data.sequence).collect();
        assert_eq!(again, [1].repeat(lost.into()), "{reported}");
    }
}

#[test]
fn data_that_are_sent_again_share_no_segment_with_new_data() {
    let mut sender = Sender::new(&Settings::new(SEGMENT), Some(100));
    sender.start(Time::ZERO);
    sender.receive(Time::ZERO + MILLI, &ack(1, false));
    sender.supply(Time::ZERO + MILLI, 20 * u64::from(SEGMENT));
    let payloads = |sender: &mut Sender| -> Vec<u32> {
        sent(sender).iter().map(|data| data.payload).collect()
    };
    // Ten whole segments are more than the window of 14 600 bytes.
    assert_eq!(
        payloads(&mut sender),
        [&[0, 100][..], &[SEGMENT; 9]].concat()
    );
    sender.timeout(sender.next_timeout().unwrap());
    assert_eq!(payloads(&mut sender), [SEGMENT]);
    let nine = 1 + 9 * u64::from(SEGMENT);
    sender.receive(Time::ZERO + MILLI * 2, &ack(nine, false));
    assert_eq!(payloads(&mut sender)[..2], [100, SEGMENT]);
}
