use proptest::prelude::*;
use queue::{Limit, Spec};
use units::{Bytes, Rate, Span};

use super::*;

/// A frame that is only its number and its size.
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

/// Everything that comes out, however late it is asked for.
fn drain(link: &mut Link<Frame>) -> Vec<(Time, Frame, u8)> {
    let end = Time::from_picos(u64::MAX);
    std::iter::from_fn(|| link.poll_transmit(end))
        .map(|out| (out.at, out.packet, out.copies))
        .collect()
}

#[test]
fn a_frame_on_an_idle_link_takes_its_bits_and_the_distance() {
    // 64 to 9018 octets of frame are 84 to 9038 of wire.
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
    // Preamble and header are 22 octets, 176 ns.
    assert_eq!(drain(&mut link)[0].0, Time::from_nanos(176));
    // The next one begins when the wire is free all the same.
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
    // One on the wire, two in the queue, one without room.
    for number in 1..=4 {
        assert!(link.receive(Time::ZERO, Frame(number, 1518)).is_none());
    }
    let out = drain(&mut link);
    assert_eq!(out.iter().map(|out| out.1.0).collect::<Vec<_>>(), [1, 2, 3]);
    let counters = link.counters();
    assert_eq!(counters.arrived, 5);
    assert_eq!(counters.of(Fate::TooBig), 1);
    assert_eq!(counters.of(Fate::Dropped), 1);
    assert_eq!(counters.of(Fate::Delivered), 3);
    let events = link.take_events();
    let fates: Vec<Fate> = events.iter().map(|event| event.fate).collect();
    use Fate::{Delivered, Dropped};
    assert_eq!(fates, [Delivered, Dropped, Delivered, Delivered]);
    assert_eq!((events[1].flow, events[1].size), (7, 1518));
    assert!(link.take_events().is_empty());
}

#[test]
fn settings_that_no_link_can_have_are_refused() {
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

/// How many of 100 000 frames of `size` octets met `fate`.
fn frequency(settings: Settings, size: u64, fate: Fate) -> u64 {
    let mut link = link(Settings {
        rate: None,
        ..settings
    });
    for number in 0..100_000 {
        link.receive(Time::from_nanos(number), Frame(number, size));
        while link.poll_transmit(Time::from_nanos(number)).is_some() {}
    }
    link.counters().of(fate)
}

/// Whether `count` of 100 000 is within a 99 % interval of `probability`.
fn plausible(count: u64, probability: f64) {
    let expected = 100_000.0 * probability;
    let deviation = (expected * (1.0 - probability)).sqrt();
    let distance = (count as f64 - expected).abs();
    assert!(
        distance <= 2.576 * deviation,
        "{count} of 100000 at {probability}"
    );
}

#[test]
fn every_law_strikes_as_often_as_asked() {
    let base = || perfect(1);
    for probability in [0.001, 0.01, 0.3] {
        let lossy = Settings {
            loss: probability,
            ..base()
        };
        plausible(frequency(lossy, 1518, Fate::Lost), probability);
        let doubling = Settings {
            duplicate: probability,
            ..base()
        };
        plausible(frequency(doubling, 1518, Fate::Duplicated), probability);
    }
    assert_eq!(
        frequency(
            Settings {
                loss: 1.0,
                ..base()
            },
            64,
            Fate::Lost
        ),
        100_000
    );
    assert_eq!(frequency(base(), 64, Fate::Delivered), 100_000);
}

#[test]
fn bit_errors_strike_long_frames_more_often_by_the_formula() {
    for (rate, size) in [(1e-6, 64), (1e-6, 1518), (1e-6, 9018), (1e-5, 9018)] {
        let noisy = Settings {
            bit_error_rate: rate,
            ..perfect(1)
        };
        let expected = 1.0 - (1.0_f64 - rate).powf(8.0 * size as f64);
        plausible(frequency(noisy, size, Fate::Damaged), expected);
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

/// Extra delays of frames so far apart that none has to wait for another, in
/// shares of 100 us, the shortest first.
fn extra_delays(law: JitterLaw) -> Vec<f64> {
    let mut link = link(Settings {
        jitter: Span::from_micros(100),
        jitter_law: law,
        ..perfect(1_000_000_000)
    });
    let mut shares = Vec::new();
    for number in 0..10_000 {
        let sent = Time::from_picos(number * 5_000_000_000);
        link.receive(sent, Frame(number, 64));
        let (at, frame, _) = drain(&mut link)[0];
        assert_eq!(frame.0, number);
        let extra = at.since(sent + Span::from_nanos(672)).unwrap();
        assert!(extra < law.reach(Span::from_micros(100)));
        shares.push(extra.as_secs_f64() * 1e4);
    }
    shares.sort_by(f64::total_cmp);
    shares
}

#[test]
fn extra_delays_follow_the_law_that_was_asked_for() {
    // Mean, standard deviation and median of each law for a scale of 1.
    let half_normal = (2.0 / std::f64::consts::PI).sqrt();
    for (law, mean, deviation, median) in [
        (JitterLaw::Uniform, 0.5, (1.0f64 / 12.0).sqrt(), 0.5),
        (
            JitterLaw::Normal,
            half_normal,
            (1.0 - half_normal * half_normal).sqrt(),
            0.674_49,
        ),
        (JitterLaw::Exponential, 1.0, 1.0, std::f64::consts::LN_2),
    ] {
        let shares = extra_delays(law);
        let seen = shares.iter().sum::<f64>() / 10_000.0;
        let off = (seen - mean).abs();
        assert!(off < 2.576 * deviation / 100.0, "{law:?}: {seen}");
        let below = shares.iter().filter(|&&share| share < median).count();
        // Half of 10 000 within 2.576 standard deviations of 50.
        assert!(below.abs_diff(5_000) <= 128, "{law:?}: {below}");
    }
}

#[test]
fn uniform_luck_is_the_same_for_ever() {
    let mut link = link(Settings {
        jitter: Span::from_micros(100),
        ..perfect(1_000_000_000)
    });
    let extras = [0u64, 1, 2].map(|number| {
        let sent = Time::from_picos(number * 1_000_000_000);
        link.receive(sent, Frame(number, 64));
        let (at, _, _) = drain(&mut link)[0];
        at.since(sent + Span::from_nanos(672)).unwrap().as_picos()
    });
    assert_eq!(extras, [72_367_472, 10_307_092, 3_872_187]);
}

#[test]
fn luck_that_begins_anew_is_that_of_a_new_link() {
    let settings = || Settings {
        loss: 0.3,
        ..perfect(1_000_000_000)
    };
    let fates = |link: &mut Link<Frame>| {
        for number in 0..100 {
            link.receive(Time::ZERO, Frame(number, 64));
        }
        drain(link).iter().map(|out| out.1.0).collect::<Vec<_>>()
    };
    let mut used = link(settings());
    fates(&mut used);
    used.reseed(Seed::new(7));
    let mut new = Link::new(settings(), Seed::new(7)).unwrap();
    assert_eq!(fates(&mut used), fates(&mut new));
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
    assert_eq!(silent.told_mtu(), None);
    assert!(!silent.may_answer(Time::ZERO));
    assert_eq!(silent.counters().answered, 0);
    let mut telling = narrow(TooBig::Answer);
    assert_eq!(telling.told_mtu(), Some(Bytes::new(1400)));
    assert!(telling.may_answer(Time::ZERO));
    assert_eq!(telling.counters().answered, 1);
}

#[test]
fn one_law_does_not_change_the_luck_of_another() {
    let lost = |jitter: Span, duplicate: f64| {
        let mut link = link(Settings {
            loss: 0.1,
            jitter,
            duplicate,
            ..perfect(1_000_000_000)
        });
        for number in 0..1_000 {
            link.receive(Time::ZERO, Frame(number, 1518));
        }
        let mut out: Vec<u64> = drain(&mut link).iter().map(|out| out.1.0).collect();
        out.sort_unstable();
        out
    };
    assert_eq!(lost(Span::default(), 0.0), lost(Span::from_millis(1), 0.2));
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
        // A driver that is late, or that asks at each timeout.
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
        // The last bit is out when all bits have taken their time, to a picosecond.
        let octets: u64 = sizes.iter().map(|size| size + 20).sum();
        let expected = u128::from(octets) * 8 * 1_000_000_000_000 / u128::from(bits);
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
        let mut octets = 0;
        for (number, &(gap, size)) in (0u64..).zip(&arrivals) {
            now += Span::from_nanos(gap);
            back += u64::from(link.receive(now, Frame(number, size)).is_some());
            while let Some(delivery) = link.poll_transmit(now) {
                out += u64::from(delivery.copies);
                octets += u64::from(delivery.copies) * delivery.packet.1;
            }
            let counters = link.counters();
            let sealed: u64 = counters.fates.iter().sum();
            prop_assert_eq!(counters.arrived, sealed + u64::from(link.backlog().packets));
        }
        for (_, packet, copies) in drain(&mut link) {
            out += u64::from(copies);
            octets += u64::from(copies) * packet.1;
        }
        let counters = link.counters();
        prop_assert_eq!(counters.arrived, arrivals.len() as u64);
        prop_assert_eq!(counters.fates.iter().sum::<u64>(), counters.arrived);
        let twice = counters.of(Fate::Duplicated);
        prop_assert_eq!(out, counters.of(Fate::Delivered) + 2 * twice);
        prop_assert_eq!(octets, counters.octets);
        prop_assert_eq!(back, counters.of(Fate::TooBig));
    }
}
