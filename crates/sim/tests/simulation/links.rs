//! Behaviour of simulated links, and their equality with the emulator's.

use jumbolab_sim::{Datagrams, Role, Seen, Tracer};
use link::{Link as Machine, PacketOutcome, QueueState, Settings};
use meter::departures::{Distribution, Schedule};
use proptest::prelude::*;
use queue::{Limit, Packet, RedSettings, RioSettings, Spec, View};
use units::{Bytes, Framing, Rate, Seed, Span, Time};

use crate::network::{bare, constant, flow, host, line, link, node, pair, run, scenario};

#[test]
fn messages_at_equal_intervals_take_their_bits_and_the_distance_and_never_vary() {
    // Bytes of payload, and of wire: plus 28 of IPv4 and UDP and 38 of Ethernet.
    for (bytes, wire) in [(18, 84), (1_472, 1_538), (8_972, 9_038)] {
        for bits in [10_000_000, 1_000_000_000] {
            let direction = Settings {
                ethernet: true,
                delay: Span::from_millis(5),
                ..bare(bits, 10)
            };
            let ran = run(pair(&direction, constant(0.01, bytes, 100)));
            let expected = wire as f64 * 8.0 / bits as f64 + 0.005;
            let delays = ran.flows[0].delays.unwrap();
            let summary = ran.flows[0].summary.clone().unwrap();
            assert_eq!((delays.min, delays.max), (delays.mean, delays.mean));
            assert!((delays.mean / expected - 1.0).abs() < 1e-12, "{delays:?}");
            assert_eq!(summary.jitter_ditg, Some(0.0));
            assert_eq!(summary.jitter_rfc3550, Some(0.0));
            assert_eq!((ran.flows[0].received, ran.flows[0].lost), (100, 0));
            let goodput = u64::from(bytes) * 8 * 100;
            assert_eq!(ran.flows[0].goodput, Rate::from_bits_per_second(goodput));
        }
    }
}

#[test]
fn a_switch_that_stores_takes_a_frame_longer_than_one_that_cuts_through() {
    let store = Settings {
        ethernet: true,
        ..bare(1_000_000_000, 10)
    };
    let cut = Settings {
        cut_through: true,
        ..store.clone()
    };
    let delay = |first: &Settings| {
        let scenario = line(Role::Switch, [first, &store], constant(0.001, 1_472, 10));
        run(scenario).flows[0].delays.unwrap().mean
    };
    // With cut-through, preamble and header take 22 bytes.
    assert!((delay(&store) - 2.0 * 12_304e-9).abs() < 1e-15);
    assert!((delay(&cut) - 12_304e-9 - 176e-9).abs() < 1e-15);
}

#[test]
fn hosts_work_on_packets_one_by_one_and_drop_what_their_buffer_cannot_hold() {
    let direction = bare(8_000_000_000, 100);
    let burst = Datagrams {
        limit: Some(10),
        ..Datagrams::new(
            Distribution::Constant(1_000.0 * 1e3),
            Distribution::Constant(972.0),
        )
    };
    let mut scenario = pair(&direction, burst);
    let Role::Host(receiver) = &mut scenario.nodes[1].role else {
        panic!("b is a host");
    };
    // 10 us plus 1000 bytes of 10 ns: 20 us per packet, with an arrival every
    // microsecond.
    receiver.receive.per_packet = Span::from_micros(10);
    receiver.receive.per_byte = Span::from_nanos(10);
    receiver.receive_buffer = Some(Bytes::new(4_000));
    let ran = run(scenario.clone());
    assert_eq!((ran.nodes[1].received, ran.nodes[1].dropped), (4, 6));
    assert_eq!((ran.flows[0].received, ran.flows[0].lost), (4, 6));
    let delays = ran.flows[0].delays.unwrap();
    assert!((delays.min - 21e-6).abs() < 1e-15, "{delays:?}");
    // The fourth arrived 3 us after the first, behind 80 us of work.
    assert!((delays.max - 78e-6).abs() < 1e-15, "{delays:?}");

    let Role::Host(receiver) = &mut scenario.nodes[1].role else {
        panic!("b is a host");
    };
    receiver.receive_buffer = None;
    let Role::Host(sender) = &mut scenario.nodes[0].role else {
        panic!("a is a host");
    };
    sender.send.per_packet = Span::from_micros(30);
    let ran = run(scenario);
    // The sender is the slower one: 30 us each, then 1 us on the link and 20 us at the
    // receiver.
    assert_eq!((ran.nodes[0].sent, ran.flows[0].received), (10, 10));
    let delays = ran.flows[0].delays.unwrap();
    assert!((delays.min - 51e-6).abs() < 1e-15, "{delays:?}");
    assert!(
        (delays.max - (10.0 * 30e-6 - 9e-6 + 21e-6)).abs() < 1e-15,
        "{delays:?}"
    );
}

#[test]
fn a_packets_class_and_precedence_reach_the_queue() {
    // Two flows with a total of 1.6 times the link's rate.
    let two = |queue: Spec, change: fn(&mut Datagrams)| {
        let direction = Settings {
            queue,
            ..bare(8_000_000, 1)
        };
        let poisson = Datagrams {
            limit: Some(2_000),
            ..Datagrams::new(
                Distribution::Exponential(1.25e9),
                Distribution::Constant(972.0),
            )
        };
        let mut changed = poisson.clone();
        change(&mut changed);
        let mut scenario = pair(&direction, poisson);
        scenario.flows.push(flow("g", 0, 1, changed));
        run(scenario).flows
    };
    let limit = Limit::Packets(30);
    let each = Box::new(Spec::DropTail { limit });
    let by_class = two(Spec::Priority { classes: 2, each }, |other| other.class = 1);
    assert_eq!(by_class[1].lost, 0);
    assert!(by_class[0].lost > 1_000);
    let rio = Spec::Rio(RioSettings::new(limit, Bytes::new(1_000)));
    let by_precedence = two(rio, |other| other.precedence = 1);
    assert!(by_precedence[1].lost > 2 * by_precedence[0].lost);
}

#[test]
fn what_is_done_makes_room_for_what_comes_at_that_instant() {
    let mut scenario = pair(&bare(8_000_000_000, 100), constant(20e-6, 972, 50));
    let Role::Host(receiver) = &mut scenario.nodes[1].role else {
        panic!("b is a host");
    };
    // Room for one packet, which takes exactly the time until the next arrival.
    receiver.receive.per_packet = Span::from_micros(20);
    receiver.receive_buffer = Some(Bytes::new(1_000));
    let ran = run(scenario);
    assert_eq!((ran.nodes[1].received, ran.nodes[1].dropped), (50, 0));
}

#[test]
fn averages_over_time_end_when_sources_do() {
    // Ten packets at once with a second of work each; sources stop after five seconds.
    let mut scenario = pair(&bare(8_000, 100), constant(1e-12, 972, 10));
    scenario.end = Time::ZERO + Span::from_secs(5);
    let ran = run(scenario);
    assert_eq!(ran.flows[0].received, 10);
    let direction = ran.links[0].directions[0];
    assert!((direction.utilisation - 1.0).abs() < 1e-9, "{direction:?}");
    // Nine wait in the first second, eight in the next, five in the fifth.
    assert!((direction.mean_queue - 7.0).abs() < 1e-9, "{direction:?}");
}

#[test]
fn of_equally_short_paths_the_link_that_comes_first_by_name_is_taken() {
    let direction = bare(1_000_000, 10);
    for [upper, lower] in [["m", "n"], ["n", "m"]] {
        let nodes = vec![
            host("a"),
            node("upper", Role::Router),
            node("lower", Role::Router),
            host("b"),
        ];
        let links = vec![
            link(upper, [0, 1], &direction),
            link(lower, [0, 2], &direction),
            link("x", [1, 3], &direction),
            link("y", [2, 3], &direction),
        ];
        let flows = vec![flow("f", 0, 3, constant(1.0, 100, 1))];
        let ran = run(scenario(nodes, links, flows));
        let taken = |name: &str| {
            let link = ran.links.iter().find(|link| link.name == name).unwrap();
            link.directions[0].counters.arrived
        };
        assert_eq!((taken("m"), taken("n")), (1, 0));
    }
}

/// The average queue sizes found by arrivals.
#[derive(Default)]
struct Averages(Vec<f64>);

impl Tracer for Averages {
    fn queued(&mut self, _: Time, _: (usize, usize), _: Seen, state: QueueState) {
        self.0.extend(state.average.map(|average| average.frames));
    }
}

#[test]
fn a_tracer_sees_the_average_of_red() {
    // A burst onto a slow link: the packet being transmitted does not count.
    const WEIGHT: f64 = 0.002;
    let red = RedSettings {
        weight: WEIGHT,
        ..RedSettings::new(Limit::Packets(1_000), Bytes::new(1_000))
    };
    let direction = Settings {
        queue: Spec::Red(red),
        ..bare(1_000, 1)
    };
    let mut seen = Averages::default();
    let scenario = pair(&direction, constant(1e-6, 972, 52));
    scenario.check().unwrap().run_traced(&mut seen);
    assert_eq!(seen.0.len(), 52);
    let mut average = 0.0;
    for (waiting, seen) in (0..51).zip(&seen.0[1..]) {
        average += WEIGHT * (f64::from((waiting - 1).max(0)) - average);
        assert!(
            (seen - average).abs() <= 1e-12,
            "{waiting} {seen} {average}"
        );
    }
}

/// A frame with nothing but a number and a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame(u64, u64);

/// The times at which messages were delivered.
#[derive(Default)]
struct Deliveries(Vec<(Time, u64)>);

impl Tracer for Deliveries {
    fn delivered(&mut self, at: Time, _node: usize, packet: Seen) {
        self.0.push((at, packet.sequence));
    }
}

impl Packet for Frame {
    fn view(&self) -> View {
        View {
            size: Bytes::new(self.1),
            ..View::default()
        }
    }
}

/// Random settings of a link with real frames.
fn settings() -> impl Strategy<Value = Settings> {
    let probability = || prop_oneof![Just(0.0), 0.0..0.3f64];
    let chances = [probability(), probability(), probability()];
    (chances, 1u64..2_000, 0u64..3_000, 2u32..20, any::<bool>()).prop_map(
        |([loss, reorder, duplicate], megabits, micros, room, cut_through)| Settings {
            ethernet: true,
            largest_packet: Some(Bytes::new(9_000)),
            delay: Span::from_micros(micros),
            jitter: Span::from_micros(micros / 3),
            loss,
            bit_error_rate: loss / 1e4,
            reorder,
            hold: Span::from_micros(50),
            duplicate,
            cut_through,
            ..Settings::perfect(
                Rate::from_bits_per_second(megabits * 1_000_000),
                Spec::DropTail {
                    limit: Limit::Packets(room),
                },
            )
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Compares with the link that the live emulator drives, given frames of these
    /// sizes at these times.
    #[test]
    fn a_network_of_one_link_is_the_emulators_link(
        settings in settings(), gap in 1.0..200.0f64, largest in 100.0..8_972.0f64, seed: u64,
    ) {
        const MESSAGES: u64 = 300;
        let gaps = Distribution::Exponential(gap * 1e6);
        let payloads = Distribution::Uniform(0.0, largest);
        let datagrams = Datagrams {
            limit: Some(MESSAGES),
            ..Datagrams::new(gaps.clone(), payloads.clone())
        };
        let mut scenario = pair(&settings, datagrams);
        scenario.seed = Seed::new(seed);
        let mut seen = Deliveries::default();
        let ran = scenario.clone().check().unwrap().run_traced(&mut seen);

        let seed = |name| scenario.seed.derive(name);
        let mut machine = Machine::new(settings, seed("link/wire/0")).unwrap();
        let mut arrivals = Vec::new();
        let mut drain = |machine: &mut Machine<Frame>, until| {
            while let Some(out) = machine.poll_transmit(until) {
                arrivals.extend(vec![(out.at, out.packet.0); out.copies.into()]);
            }
        };
        let schedule = Schedule::new(Time::ZERO, gaps, payloads, seed("flow/f"));
        for (number, (sent, payload)) in (0..MESSAGES).zip(schedule) {
            drain(&mut machine, sent);
            let frame = Framing::Ethernet.frame_size(payload + Bytes::new(28));
            machine.receive(sent, Frame(number, frame.get()));
        }
        drain(&mut machine, Time::from_picos(u64::MAX));

        prop_assert_eq!(seen.0, arrivals);
        let counters = machine.counters();
        prop_assert_eq!(ran.links[0].directions[0].counters, counters);
        let twice = counters.of(PacketOutcome::Duplicated);
        prop_assert_eq!(ran.flows[0].received, counters.of(PacketOutcome::Delivered) + twice);
        prop_assert_eq!(ran.flows[0].copies, twice);
        let summary = ran.flows[0].summary.as_ref().unwrap();
        prop_assert_eq!((summary.lost, summary.duplicates), (ran.flows[0].lost, twice));
    }
}
