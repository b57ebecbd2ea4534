//! TCP connections over simulated links.

use jumbolab_sim::{
    Flow, Host, Link, Node, Outcome, Role, Scenario, Seen, Tcp, Tracer, Traffic, Work,
};
use link::Settings;
use model::sawtooth_utilisation;
use proptest::prelude::*;
use queue::{Limit, RedSettings, Spec};
use tcp::{Acknowledging, Control, Profile, Recovery};
use units::{Bytes, IpVersion, Rate, Seed, Span, Time};

fn direction(bits: u64, millis: u64, queue: Spec) -> Settings {
    Settings {
        ethernet: false,
        delay: Span::from_millis(millis),
        ..Settings::perfect(Rate::from_bits_per_second(bits), queue)
    }
}

fn packets(most: u32) -> Spec {
    let limit = Limit::Packets(most);
    Spec::DropTail { limit }
}

fn connection(settings: tcp::Settings, bytes: Option<u64>) -> Tcp {
    Tcp {
        bytes,
        ..Tcp::new(settings)
    }
}

/// A host, a router, a host; a fast link and `direction`.
fn line(direction: &Settings, seconds: u64, connections: Vec<Tcp>) -> Scenario {
    let node = |name: &str, role| Node {
        name: name.to_owned(),
        role,
    };
    let link = |name: &str, ends, direction: &Settings| Link {
        name: name.to_owned(),
        ends,
        directions: [direction.clone(), direction.clone()],
    };
    let host = Role::Host(Host::default());
    let fast = self::direction(1_000_000_000, 0, packets(1_000));
    let flow = |(number, tcp): (u64, Tcp)| Flow {
        name: format!("{number:02}"),
        from: 0,
        to: 2,
        ip: IpVersion::V4,
        // Staggered, to avoid synchronisation.
        start: Time::ZERO + Span::from_millis(137) * number,
        stop: None,
        traffic: Traffic::Tcp(tcp),
    };
    Scenario {
        nodes: vec![node("a", host), node("r", Role::Router), node("b", host)],
        links: vec![link("ar", [0, 1], &fast), link("rb", [1, 2], direction)],
        flows: (0..).zip(connections).map(flow).collect(),
        end: Time::ZERO + Span::from_secs(seconds),
        seed: Seed::new(1),
        budget: Scenario::BUDGET,
        max_recorded_messages: Scenario::MAX_RECORDED_MESSAGES,
    }
}

fn run(scenario: Scenario) -> Outcome {
    scenario.check().unwrap().run()
}

/// Bytes whose transmission on the second link begins after a number of seconds.
struct Carried(u64, u64);

impl Tracer for Carried {
    fn sent(&mut self, at: Time, _: Time, link: (usize, usize), packet: Seen, _: Span) {
        if link == (1, 0) && at >= Time::ZERO + Span::from_secs(self.0) {
            self.1 += packet.size.get();
        }
    }
}

#[test]
fn one_flow_uses_what_its_buffer_lets_it() {
    // 24 Mb/s times 100 ms are two hundred packets of 1500 bytes.
    for (buffer, waiting, expected) in [
        (0.0, 2, 0.75),
        (0.1, 22, 0.8176),
        (0.25, 52, 0.8929),
        (0.5, 102, 0.9643),
        (0.75, 152, 0.9932),
        (1.0, 202, 1.0),
        (1.5, 302, 1.0),
    ] {
        let settings = tcp::Settings {
            acknowledging: Acknowledging::Each,
            initial_ssthresh: Some(80),
            ..tcp::Settings::new(1_448)
        };
        let scenario = line(
            &direction(24_000_000, 50, packets(waiting)),
            120,
            vec![connection(settings, None)],
        );
        let mut carried = Carried(40, 0);
        scenario.check().unwrap().run_traced(&mut carried);
        let used = carried.1 as f64 / (3e6 * 80.0);
        assert!((used / expected - 1.0).abs() < 0.02, "{buffer}: {used}");
        assert!((sawtooth_utilisation(buffer) - expected).abs() < 1e-4);
    }
}

#[test]
fn equal_flows_get_equal_shares() {
    let red = RedSettings::new(Limit::Packets(100), Bytes::new(1_500));
    let settings = tcp::Settings::new(1_448);
    let flows = vec![connection(settings, None); 8];
    let outcome = run(line(&direction(12_000_000, 20, Spec::Red(red)), 150, flows));
    let rates = outcome.flows.iter();
    let rates: Vec<f64> = rates.map(|flow| flow.received_bytes.get() as f64).collect();
    let (sum, squares) = rates.iter().fold((0.0, 0.0), |(sum, squares), rate| {
        (sum + rate, squares + rate * rate)
    });
    let jain = sum * sum / (rates.len() as f64 * squares);
    assert!(jain >= 0.95, "{jain}");
}

#[test]
fn marks_take_the_place_of_drops() {
    let red = RedSettings {
        ecn: true,
        ..RedSettings::new(Limit::Packets(200), Bytes::new(1_500))
    };
    let settings = tcp::Settings {
        ecn: true,
        initial_ssthresh: Some(10),
        ..tcp::Settings::new(1_448)
    };
    let outcome = run(line(
        &direction(12_000_000, 5, Spec::Red(red)),
        30,
        vec![connection(settings, None)],
    ));
    let done = outcome.flows[0].tcp.unwrap().sender;
    assert!(done.marks > 5, "{done:?}");
    assert_eq!((done.retransmissions, done.timeouts), (0, 0));
    assert!(outcome.links[1].directions[0].utilisation > 0.9);
}

#[test]
fn a_path_that_is_narrower_than_the_first_link_makes_segments_smaller() {
    let narrow = Settings {
        largest_packet: Some(Bytes::new(1_500)),
        ..direction(12_000_000, 5, packets(100))
    };
    let all = 3_000_000;
    let jumbo = connection(tcp::Settings::new(8_948), Some(all));
    let outcome = run(line(&narrow, 60, vec![jumbo]));
    let flow = &outcome.flows[0];
    assert_eq!(flow.path_mtu, Some(1_500));
    assert_eq!(flow.received_bytes, Bytes::new(all));
    assert_eq!(flow.tcp.unwrap().sender.timeouts, 0);
    assert!(outcome.nodes[1].answered > 0);
}

#[test]
fn the_order_of_tables_makes_no_difference() {
    let red = RedSettings::new(Limit::Packets(30), Bytes::new(1_500));
    let cubic = tcp::Settings {
        control: Control::Cubic,
        ..tcp::Settings::new(1_448)
    };
    let flows = vec![
        connection(cubic, None),
        connection(tcp::Settings::new(1_448), None),
    ];
    let scenario = line(&direction(5_000_000, 10, Spec::Red(red)), 20, flows);
    let mut other = scenario.clone();
    other.flows.reverse();
    let (one, mut other) = (run(scenario.clone()), run(other));
    other.flows.reverse();
    assert_eq!(one, other);
    assert_eq!(one, run(scenario));
}

#[test]
fn copies_of_the_last_acknowledgement_ask_for_nothing_that_there_is_not() {
    let direction = Settings {
        reorder: 0.05,
        hold: Span::from_millis(7),
        duplicate: 0.05,
        ..direction(10_000_000, 10, packets(50))
    };
    for seed in 0..40 {
        let settings = tcp::Settings::ns2(Recovery::NewReno, 1_000, 100);
        let scenario = line(
            &direction,
            100_000,
            vec![connection(settings, Some(62_000))],
        );
        let outcome = run(Scenario {
            seed: Seed::new(seed),
            ..scenario
        });
        assert_eq!(outcome.flows[0].received_bytes, Bytes::new(62_000));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn whatever_the_path_does_everything_arrives_once(
        seed in any::<u64>(),
        (loss, reorder, duplicate) in (0.0f64..0.15, 0.0f64..0.1, 0.0f64..0.1),
        recovery in prop::sample::select(vec![Recovery::Reno, Recovery::NewReno, Recovery::Sack]),
        control in prop::sample::select(vec![Control::Reno, Control::Cubic]),
        profile in prop::sample::select(vec![Profile::Standard, Profile::Ns2]),
        segments in 1u64..300,
        delayed in any::<bool>(),
    ) {
        let direction = Settings {
            loss,
            reorder,
            hold: Span::from_millis(7),
            duplicate,
            ..direction(10_000_000, 10, packets(50))
        };
        let base = match profile {
            Profile::Standard => tcp::Settings::new(1_000),
            Profile::Ns2 => tcp::Settings::ns2(recovery, 1_000, 100),
        };
        let settings = tcp::Settings {
            recovery,
            control,
            acknowledging: match delayed {
                true => Acknowledging::Delayed(Span::from_millis(40)),
                false => Acknowledging::Each,
            },
            ..base
        };
        let bytes = segments * 1_000;
        let scenario = line(&direction, 100_000, vec![connection(settings, Some(bytes))]);
        let outcome = run(Scenario { seed: Seed::new(seed), ..scenario });
        let flow = &outcome.flows[0];
        prop_assert_eq!(flow.received_bytes, Bytes::new(bytes));
        prop_assert_eq!((flow.sent, flow.received, flow.lost), (segments, segments, 0));
        // The run ends when all data are acknowledged, before its limit.
        prop_assert!(outcome.end < Time::ZERO + Span::from_secs(99_000));
    }
}

#[test]
fn a_sender_that_takes_time_limits_a_connection_over_links_without_a_rate() {
    let unlimited = Settings {
        rate: None,
        ..direction(1_000_000_000, 1, packets(1_000))
    };
    let settings = || tcp::Settings::new(1_448);
    let mut scenario = line(
        &unlimited,
        4,
        vec![connection(settings(), Some(10_000_000))],
    );
    for direction in &mut scenario.links[0].directions {
        direction.rate = None;
    }
    let rejected = scenario.clone().check().err().unwrap().to_string();
    assert!(rejected.contains("no link that has a rate"), "{rejected}");

    let per_packet = Span::from_micros(100);
    let send = Work {
        per_packet,
        ..Work::default()
    };
    let host = Host {
        send,
        ..Host::default()
    };
    scenario.nodes[0].role = Role::Host(host);
    let mut carried = Carried(0, 0);
    scenario.check().unwrap().run_traced(&mut carried);
    // 6907 packets of 100 us take 0.69 s; the whole transfer is there within 4 s.
    let packets = 10_000_000_u64.div_ceil(1_448);
    assert!(carried.1 >= 10_000_000 + 52 * packets, "{}", carried.1);
}
