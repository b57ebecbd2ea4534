mod chance;

use proptest::prelude::*;
use queue::law::Curve;
use queue::{Limit, RedSettings, Spec};
use units::{Bytes, Rate, Span};

use super::*;
use queue::View;

/// A frame with nothing but a number and a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame(u64, u64);

impl Packet for Frame {
    fn view(&self) -> View {
        View {
            size: Bytes::new(self.1),
            flow: 7,
            ..View::default()
        }
    }
}

fn perfect(bits: u64) -> Settings {
    let limit = Limit::Packets(1_000_000);
    Settings::perfect(Rate::from_bits_per_second(bits), Spec::DropTail { limit })
}

fn link(settings: Settings) -> Link<Frame> {
    Link::new(settings, Seed::new(1)).unwrap()
}

/// All deliveries, polled at the end of time.
fn drain(link: &mut Link<Frame>) -> Vec<(Time, Frame, u8)> {
    let end = Time::from_picos(u64::MAX);
    std::iter::from_fn(|| link.poll_transmit(end))
        .map(|out| (out.at, out.packet, out.copies))
        .collect()
}

#[test]
fn a_frame_on_an_idle_link_takes_its_bits_and_the_distance() {
    // 64 to 9018 bytes of frame take 84 to 9038 bytes of wire.
    for (bits, frame, nanos) in [
        (1_000_000_000, 64, 672),
        (1_000_000_000, 1518, 12_304),
        (1_000_000_000, 9018, 72_304),
        (100_000_000, 1518, 123_040),
        (10_000_000, 9018, 7_230_400),
    ] {
        let mut link = link(Settings {
            delay: Span::from_micros(500),
            ..perfect(bits)
        });
        let sent = Time::from_nanos(1_000);
        assert!(link.receive(sent, Frame(1, frame)).is_none());
        let arrives = sent + Span::from_nanos(nanos) + Span::from_micros(500);
        assert_eq!(link.next_timeout(), Some(arrives));
        assert!(link.poll_transmit(sent).is_none());
        assert_eq!(drain(&mut link), [(arrives, Frame(1, frame), 1)]);
        assert_eq!(link.next_timeout(), None);
    }
}

#[test]
fn cut_through_forwards_when_the_header_is_in() {
    let mut link = link(Settings {
        cut_through: true,
        ..perfect(1_000_000_000)
    });
    link.receive(Time::ZERO, Frame(1, 9018));
    // Preamble and header have 22 bytes, which take 176 ns.
    assert_eq!(drain(&mut link)[0].0, Time::from_nanos(176));
    // The next one still begins when the wire is free.
    link.receive(Time::ZERO, Frame(2, 64));
    assert_eq!(drain(&mut link)[0].0, Time::from_nanos(72_304 + 176));
}

#[test]
fn no_rate_takes_no_time_and_nothing_is_kept_behind() {
    let limit = Limit::Packets(10);
    let mut link = link(Settings::perfect(None, Spec::DropTail { limit }));
    for number in 0..1_000 {
        link.receive(Time::from_nanos(number), Frame(number, 1518));
    }
    assert_eq!(drain(&mut link).len(), 1_000);
}

#[test]
fn what_is_too_big_comes_back_and_what_finds_no_room_is_dropped() {
    let mut link = link(Settings {
        largest_packet: Some(Bytes::new(1500)),
        queue: Spec::DropTail {
            limit: Limit::Bytes(Bytes::new(2 * 1518)),
        },
        ..perfect(1_000_000)
    });
    assert_eq!(
        link.receive(Time::ZERO, Frame(0, 1519)),
        Some(Frame(0, 1519))
    );
    link.record();
    // One on the wire, two in the queue, one dropped.
    for number in 1..=4 {
        assert!(link.receive(Time::ZERO, Frame(number, 1518)).is_none());
    }
    let out = drain(&mut link);
    assert_eq!(out.iter().map(|out| out.1.0).collect::<Vec<_>>(), [1, 2, 3]);
    let counters = link.counters();
    assert_eq!(counters.arrived, 5);
    assert_eq!(counters.of(PacketOutcome::TooBig), 1);
    assert_eq!(counters.of(PacketOutcome::Dropped), 1);
    assert_eq!(counters.of(PacketOutcome::Delivered), 3);
    let events = link.take_events();
    let outcomes: Vec<PacketOutcome> = events.iter().map(|event| event.outcome).collect();
    use PacketOutcome::{Delivered, Dropped};
    assert_eq!(outcomes, [Delivered, Dropped, Delivered, Delivered]);
    assert_eq!((events[1].flow, events[1].size), (7, 1518));
    assert!(link.take_events().is_empty());
}

#[test]
fn settings_that_no_link_can_have_are_rejected() {
    for bad in [
        Settings {
            loss: 1.1,
            ..perfect(1)
        },
        Settings {
            reorder: -0.1,
            ..perfect(1)
        },
        Settings {
            bit_error_rate: f64::NAN,
            ..perfect(1)
        },
        Settings {
            queue: Spec::DropTail {
                limit: Limit::Packets(0),
            },
            ..perfect(1)
        },
    ] {
        assert!(Link::<Frame>::new(bad, Seed::new(1)).is_err());
    }
}

#[test]
fn what_is_held_back_is_overtaken_and_nothing_else_is() {
    let mut link = link(Settings {
        reorder: 0.1,
        hold: Span::from_micros(50),
        jitter: Span::from_micros(30),
        ..perfect(1_000_000_000)
    });
    for number in 0..20_000 {
        link.receive(Time::ZERO, Frame(number, 1518));
    }
    let out = drain(&mut link);
    assert_eq!(out.len(), 20_000);
    assert!(out.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    let mut highest = 0;
    let late = out.iter().filter(|out| {
        let overtaken = out.1.0 < highest;
        highest = highest.max(out.1.0);
        overtaken
    });
    let late = late.count();
    assert!((1_800..=2_200).contains(&late), "{late}");
}

#[test]
fn who_sent_what_is_too_big_is_told_only_where_that_was_asked_for() {
    let narrow = |too_big| {
        link(Settings {
            largest_packet: Some(Bytes::new(1400)),
            too_big,
            ..perfect(1)
        })
    };
    let mut silent = narrow(TooBig::Drop);
    assert_eq!(silent.advertised_mtu(), None);
    assert!(!silent.may_answer(Time::ZERO));
    assert_eq!(silent.counters().answered, 0);
    let mut notifying = narrow(TooBig::Answer);
    assert_eq!(notifying.advertised_mtu(), Some(Bytes::new(1400)));
    assert!(notifying.may_answer(Time::ZERO));
    assert_eq!(notifying.counters().answered, 1);
}

proptest! {
    #[test]
    fn a_busy_link_works_without_a_gap_and_without_drift(
        sizes in prop::collection::vec(64u64..9_019, 1..300),
        bits in 1_000u64..40_000_000_000,
        late in any::<bool>(),
    ) {
        let mut link = link(perfect(bits));
        for (number, &size) in (0u64..).zip(&sizes) {
            link.receive(Time::ZERO, Frame(number, size));
        }
        // A driver that is late, and one that polls at each timeout.
        let mut out = Vec::new();
        while let Some(next) = link.next_timeout() {
            let asked = if late { Time::from_picos(u64::MAX) } else { next };
            while let Some(delivery) = link.poll_transmit(asked) {
                prop_assert!(delivery.at <= asked);
                out.push(delivery);
            }
            let after = link.next_timeout();
            prop_assert!(after.is_none_or(|after| after > asked), "no timeout in the past");
        }
        // The last bit arrives after the total time of all bits, to a picosecond.
        let bytes: u64 = sizes.iter().map(|size| size + 20).sum();
        let expected = u128::from(bytes) * 8 * 1_000_000_000_000 / u128::from(bits);
        prop_assert_eq!(u128::from(out.last().unwrap().at.as_picos()), expected);
        let numbers: Vec<u64> = out.iter().map(|out| out.packet.0).collect();
        prop_assert_eq!(numbers, (0..sizes.len() as u64).collect::<Vec<_>>());
    }

    #[test]
    fn nothing_is_lost_uncounted(
        arrivals in prop::collection::vec((0u64..200_000, 64u64..9_019), 0..200),
        loss in 0.0f64..0.5,
    ) {
        let mut link = link(Settings {
            loss,
            duplicate: loss,
            reorder: loss,
            hold: Span::from_micros(100),
            bit_error_rate: 1e-6,
            largest_packet: Some(Bytes::new(8_000)),
            queue: Spec::DropFront { limit: Limit::Bytes(Bytes::new(20_000)) },
            ..perfect(1_000_000_000)
        });
        let (mut now, mut out, mut back) = (Time::ZERO, 0u64, 0u64);
        let mut bytes = 0;
        for (number, &(gap, size)) in (0u64..).zip(&arrivals) {
            now += Span::from_nanos(gap);
            back += u64::from(link.receive(now, Frame(number, size)).is_some());
            while let Some(delivery) = link.poll_transmit(now) {
                out += u64::from(delivery.copies);
                bytes += u64::from(delivery.copies) * delivery.packet.1;
            }
            let counters = link.counters();
            let sealed: u64 = counters.outcomes.iter().sum();
            prop_assert_eq!(counters.arrived, sealed + u64::from(link.backlog().packets));
        }
        for (_, packet, copies) in drain(&mut link) {
            out += u64::from(copies);
            bytes += u64::from(copies) * packet.1;
        }
        let counters = link.counters();
        prop_assert_eq!(counters.arrived, arrivals.len() as u64);
        prop_assert_eq!(counters.outcomes.iter().sum::<u64>(), counters.arrived);
        let twice = counters.of(PacketOutcome::Duplicated);
        prop_assert_eq!(out, counters.of(PacketOutcome::Delivered) + 2 * twice);
        prop_assert_eq!(bytes, counters.bytes);
        prop_assert_eq!(back, counters.of(PacketOutcome::TooBig));
    }
}

/// A frame that can be marked.
#[derive(Clone, Copy, Debug, Default)]
struct Capable {
    marked: bool,
}

impl Packet for Capable {
    fn view(&self) -> View {
        View {
            size: Bytes::new(1518),
            ..View::default()
        }
    }

    fn mark(&mut self) -> bool {
        self.marked = true;
        true
    }
}

/// RED with thresholds of 2 and 6 frames; `weight` is that of an arrival in the
/// average.
fn red(weight: f64, ecn: bool) -> Settings {
    let usual = RedSettings::new(Limit::Packets(8), Bytes::new(1518));
    let queue = Spec::Red(RedSettings {
        curve: Curve {
            min: 2.0,
            max: 6.0,
            max_probability: 1.0,
            gentle: false,
        },
        weight,
        ecn,
        ..usual
    });
    Settings {
        queue,
        ..perfect(1_000_000)
    }
}

#[test]
fn drops_name_their_reason_and_marks_are_counted_where_packets_go_on() {
    let mut marking = Link::new(red(1.0, true), Seed::new(1)).unwrap();
    marking.record();
    for _ in 0..20 {
        marking.receive(Time::ZERO, Capable::default());
    }
    let end = Time::from_picos(u64::MAX);
    let out = std::iter::from_fn(|| marking.poll_transmit(end));
    let marked = out.filter(|delivery| delivery.packet.marked).count() as u64;
    let counters = marking.counters();
    assert!(marked >= 2 && counters.marked == marked);
    assert_eq!(counters.dropped_for(Reason::Early), 0);
    assert!(counters.dropped_for(Reason::Forced) > 5);
    let events = marking.take_events();
    let passed = |event: &&Event| event.marked && event.reason.is_none();
    assert_eq!(events.iter().filter(passed).count() as u64, marked);

    let mut dropping = Link::new(red(1.0, false), Seed::new(1)).unwrap();
    for _ in 0..20 {
        dropping.receive(Time::ZERO, Capable::default());
    }
    let counters = dropping.counters();
    assert!(counters.dropped_for(Reason::Early) >= 2 && counters.marked == 0);
    assert_eq!(
        counters.dropped.iter().sum::<u64>(),
        counters.of(PacketOutcome::Dropped)
    );
    let since = counters.since(&counters);
    assert_eq!(since, Counters::default());
}

#[test]
fn a_queue_that_reckons_with_the_rate_is_rejected_without_one() {
    let settings = Settings {
        rate: None,
        ..red(1.0, false)
    };
    let rejected = Link::<Frame>::new(settings, Seed::new(1)).err().unwrap();
    assert_eq!(
        rejected.to_string(),
        "RED reckons with the rate of its link; give the link a rate"
    );
}

#[test]
fn a_queue_hears_that_the_link_rests_however_late_it_is_asked() {
    // Twelve frames take up to 148 ms: the link is idle at some arrivals and busy at
    // others.
    let outcomes = [false, true].map(|polled| {
        let mut link = Link::new(red(0.2, false), Seed::new(3)).unwrap();
        link.record();
        let mut now = Time::ZERO;
        for burst in 0..100_u64 {
            for number in 0..12 {
                link.receive(now, Frame(number, 1518));
            }
            now += Span::from_millis(50 + burst * 7 % 200);
            while polled && link.poll_transmit(now).is_some() {}
        }
        drain(&mut link);
        // A record includes the times of service, which differ here.
        let asked = |event| Event {
            header: Header::default(),
            ..event
        };
        link.take_events()
            .into_iter()
            .map(asked)
            .collect::<Vec<_>>()
    });
    assert_eq!(outcomes[0], outcomes[1]);
    let dropped = |event: &&Event| event.reason.is_some();
    assert!(outcomes[0].iter().filter(dropped).count() > 100);

    // A long idle period decays an average that admitted hardly any packet.
    let mut link = Link::new(red(0.2, false), Seed::new(3)).unwrap();
    link.record();
    for number in 0..100 {
        link.receive(Time::ZERO, Frame(number, 1518));
    }
    let later = Time::ZERO + Span::from_secs(10);
    assert!(link.take_events().iter().filter(dropped).count() > 80);
    for number in 0..3 {
        link.receive(later, Frame(number, 1518));
    }
    drain(&mut link);
    assert!(
        link.take_events()
            .iter()
            .all(|event| event.reason.is_none())
    );
}
