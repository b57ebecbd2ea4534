use super::*;

fn data(from: u64, length: u32) -> Data {
    Data {
        sequence: from,
        length,
        payload: length,
        header: HEADER,
        again: false,
        capable: false,
        marked: false,
        reduced: false,
        push: false,
    }
}

fn settings() -> Settings {
    Settings {
        acknowledging: Acknowledging::Each,
        ..Settings::new(100)
    }
}

/// The acknowledgements of arriving segments of 100 bytes.
fn acks(settings: &Settings, arrivals: &[u64]) -> Vec<Option<Ack>> {
    let mut receiver = Receiver::new(settings);
    let arrive = |from: &u64| {
        receiver.receive(Time::ZERO, &data(*from, 100));
        receiver.poll_transmit()
    };
    arrivals.iter().map(arrive).collect()
}

fn blocks(ack: Option<Ack>) -> Vec<(u64, u64)> {
    let ack = ack.unwrap();
    ack.ranges().map(|range| (range.from, range.to)).collect()
}

#[test]
fn blocks_begin_with_the_one_that_the_segment_is_in() {
    let acks = acks(&settings(), &[0, 200, 400, 300, 600, 800, 1_000]);
    assert_eq!(blocks(acks[0]), []);
    assert_eq!(blocks(acks[1]), [(200, 300)]);
    assert_eq!(blocks(acks[2]), [(400, 500), (200, 300)]);
    assert_eq!(blocks(acks[3]), [(200, 500)]);
    assert_eq!(blocks(acks[5]), [(800, 900), (600, 700), (200, 500)]);
    // There is room for three blocks.
    assert_eq!(blocks(acks[6]), [(1_000, 1_100), (800, 900), (600, 700)]);
    assert!(acks.iter().all(|ack| ack.unwrap().next == 100));
    // 20 bytes of TCP, 12 of options, 4 and 24 of blocks.
    assert_eq!(acks[6].unwrap().header, 60);
}

#[test]
fn what_fills_a_gap_is_acknowledged_with_all_behind_it() {
    let acks = acks(&settings(), &[0, 200, 300, 100]);
    assert_eq!(acks[3].unwrap().next, 400);
    assert_eq!(blocks(acks[3]), []);
}

#[test]
fn every_second_segment_in_order_is_acknowledged_at_once() {
    let delay = Span::from_millis(40);
    let delayed = Settings {
        acknowledging: Acknowledging::Delayed(delay),
        ..settings()
    };
    let sent = acks(&delayed, &[0, 100, 200, 400, 300]);
    let next = |ack: &Option<Ack>| ack.map(|ack| ack.next);
    let numbers: Vec<Option<u64>> = sent.iter().map(next).collect();
    assert_eq!(numbers, [None, Some(200), None, Some(300), Some(500)]);

    let mut receiver = Receiver::new(&delayed);
    receiver.receive(Time::ZERO, &data(0, 100));
    assert_eq!(receiver.next_timeout(), Some(Time::ZERO + delay));
    receiver.timeout(Time::ZERO + delay);
    assert_eq!(receiver.poll_transmit().unwrap().next, 100);
    assert_eq!(receiver.next_timeout(), None);
}

#[test]
fn marks_are_echoed_until_the_sender_has_reduced() {
    let mut receiver = Receiver::new(&settings());
    let mut echo = |marked, reduced, from| {
        let segment = Data {
            marked,
            reduced,
            ..data(from, 100)
        };
        receiver.receive(Time::ZERO, &segment);
        receiver.poll_transmit().unwrap().echo
    };
    assert!(!echo(false, false, 0));
    assert!(echo(true, false, 100));
    assert!(echo(false, false, 200));
    assert!(!echo(false, true, 300));
    assert!(echo(true, true, 400));
}

#[test]
fn ns2_goes_on_reporting_what_the_number_has_overtaken() {
    let ns2 = Settings::ns2(Recovery::Sack, 100, 20);
    let arrivals = [0, 200, 400, 600, 100, 800];
    let theirs = acks(&ns2, &arrivals);
    // Equal except for padding and options.
    assert_eq!(theirs[3].unwrap().header, HEADER + 24);
    let standard = acks(&settings(), &arrivals);
    assert_eq!(blocks(standard[5]), [(800, 900), (600, 700), (400, 500)]);
    assert_eq!(theirs[4].unwrap().next, 300);
}

#[test]
fn linux_delays_nothing_at_first_and_no_push() {
    let settings = Settings::linux(crate::Control::Reno, 100);
    let mut receiver = Receiver::new(&settings);
    let mut acknowledged = |number: u64, push: bool| {
        let segment = Data {
            push,
            ..data(100 * number, 100)
        };
        receiver.receive(Time::ZERO, &segment);
        receiver.poll_transmit().is_some()
    };
    assert!((0..16).all(|number| acknowledged(number, false)));
    assert!(!acknowledged(16, false) && acknowledged(17, false));
    assert!(acknowledged(18, true) && !acknowledged(19, false));
}
