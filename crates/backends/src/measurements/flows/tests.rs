use std::collections::BTreeMap;

use plan::metric::METRICS;
use units::Time;

use super::*;

/// A flow of a thousand datagrams of 1000 bytes in one second, all of which
/// arrived 2 ms after they were sent.
fn flow() -> FlowStats {
    FlowStats {
        sent: 1_000,
        bytes: 1_000_000,
        lost: Some(0),
        schedule: Some(Schedule {
            offered: 1_000,
            lasted: Span::from_secs(1),
            timing_error_p99: Span::from_micros(2),
        }),
        carried: Some(Carried::Rate(8.0)),
        first_due: Some(Time::ZERO),
        first_arrival: Some(Time::from_nanos(2_000_000)),
        delays: DelayStats {
            messages: 1_000,
            mean: Some(0.002),
            p99: Some(0.002),
            jitter: Some(0.0),
            ipdv_p95: Some(0.0),
        },
        by_program: ProgramStats {
            messages: 1_000,
            latency: Some(0.002),
            jitter: Some(0.0),
        },
        ..FlowStats::default()
    }
}

/// Such a flow with one change.
fn changed(change: impl FnOnce(&mut FlowStats)) -> FlowStats {
    let mut flow = flow();
    change(&mut flow);
    flow
}

/// A connection that carried `bytes` between two times in seconds.
fn connection(bytes: u64, began: u64, ended: u64) -> FlowStats {
    let instant = |seconds| Time::ZERO + Span::from_secs(seconds);
    FlowStats {
        carried: Some(Carried::Connection {
            bytes,
            began: instant(began),
            ended: instant(ended),
        }),
        tcp: Some(ConnectionStats {
            retransmitted: 7,
            segments: Some(1_000),
            timeouts: None,
            smoothed_rtt: Some(Span::from_micros(4_500)),
        }),
        ..FlowStats::default()
    }
}

fn found(flows: &[FlowStats], scope: Scope) -> BTreeMap<&'static str, f64> {
    let all = metrics(flows, scope).into_iter();
    all.filter_map(|(metric, value)| Some((metric.name, value?)))
        .collect()
}

fn averaged(flows: &[FlowStats]) -> BTreeMap<&'static str, f64> {
    found(flows, Scope::All(Spread::Averaged))
}

#[test]
fn the_catalogue_says_of_all_metrics_made_here_which_are_of_single_flows() {
    let made: Vec<&str> = metrics(&[], Scope::One)
        .iter()
        .map(|(metric, _)| metric.name)
        .collect();
    for metric in METRICS.iter().filter(|metric| metric.of_flows) {
        assert!(made.contains(&metric.name), "{} is not made", metric.name);
    }
}

#[test]
fn rates_of_flows_are_added_and_delays_weighted_by_messages() {
    let twice = averaged(&[flow(), flow()]);
    for name in ["throughput", "offered_rate", "sent_rate"] {
        assert_eq!(twice[name], 16.0, "{name}");
    }
    let late = changed(|flow| {
        flow.schedule.as_mut().unwrap().timing_error_p99 = Span::from_millis(5);
        flow.delays.mean = Some(0.006);
        flow.delays.messages = 3_000;
    });
    let both = averaged(&[flow(), late]);
    // A thousand messages of 2 ms and three thousand of 6 ms.
    assert!((both["delay"] - 5.0).abs() < 1e-9);
    assert_eq!(both["latency_ditg"], 2.0);
    assert_eq!(both["timing_error_p99"], 5.0, "that of the later flow");
}

#[test]
fn percentiles_and_jitter_of_several_flows_are_averaged_or_omitted() {
    let spread = ["delay_p99", "jitter", "ipdv_p95", "jitter_ditg"];
    let omitted = found(&[flow()], Scope::All(Spread::Omitted));
    let alike = found(&[flow(), flow()], Scope::Alike(Spread::Omitted));
    for name in spread {
        assert!(averaged(&[flow(), flow()]).contains_key(name), "{name}");
        assert!(found(&[flow()], Scope::One).contains_key(name), "{name}");
        assert!(!omitted.contains_key(name) && !alike.contains_key(name));
    }
    assert_eq!(omitted["delay"], 2.0);
}

#[test]
fn a_flow_that_sent_less_than_it_was_asked_for_offers_more_than_it_sent() {
    let slow = changed(|flow| {
        flow.sent = 500;
        flow.bytes = 500_000;
    });
    let slow = averaged(&[slow]);
    assert_eq!((slow["offered_rate"], slow["sent_rate"]), (8.0, 4.0));
    // As fast as it goes: there are no times that offer a rate.
    let greedy = averaged(&[changed(|flow| flow.schedule = None)]);
    assert!(!greedy.contains_key("offered_rate") && !greedy.contains_key("timing_error_p99"));
}

#[test]
fn datagrams_are_lost_and_segments_are_sent_again() {
    let lossy = changed(|flow| flow.lost = Some(20));
    let both = averaged(&[lossy, connection(0, 0, 1)]);
    assert_eq!((both["loss"], both["retransmissions"]), (2.0, 7.0));
    let none = ["retransmissions", "timeouts", "segments", "rtt_tcp"];
    assert!(
        none.iter()
            .all(|name| !averaged(&[flow()]).contains_key(name))
    );
    // All TCP statistics are those of one connection.
    let alone = found(&[connection(0, 0, 1)], Scope::One);
    assert_eq!((alone["rtt_tcp"], alone["segments"]), (4.5, 1_000.0));
    assert!(!alone.contains_key("timeouts"), "not known");
    assert!(!both.contains_key("segments") && !both.contains_key("rtt_tcp"));
}

#[test]
fn bytes_of_connections_count_over_the_time_in_which_there_was_one() {
    // 3 MB in 4 s; one after the other, and beside datagrams.
    let two = [connection(1_000_000, 0, 1), connection(2_000_000, 2, 4)];
    assert_eq!(averaged(&two)["throughput"], 6.0);
    let [first, second] = two;
    assert_eq!(averaged(&[first, second, flow()])["throughput"], 14.0);
    assert!(!averaged(&[connection(0, 1, 1)]).contains_key("throughput"));
}

#[test]
fn a_message_is_restated_as_a_rate_by_the_time_that_it_took() {
    let stamped = changed(|flow| {
        flow.crossing = Crossing {
            messages: 2,
            nanos: 8_000_000,
            bytes: 4_000,
        };
    });
    let stamped = averaged(&[stamped]);
    // 2000 bytes in 4 ms are 4 Mbit/s.
    assert_eq!(
        (stamped["latency"], stamped["paper_throughput"]),
        (4.0, 4.0)
    );
    assert!(!averaged(&[flow()]).contains_key("latency"));
}

#[test]
fn round_trips_have_a_mean_over_messages_and_percentiles_of_the_worst_flow() {
    let back = |count: u32, [mean, p50, p95, p99]: [u64; 4]| {
        changed(|flow| {
            flow.round_trips = Some(RoundTrips {
                count: count.into(),
                took_ms: f64::from(count) * Span::from_millis(mean).as_millis_f64(),
                p50: Some(Span::from_millis(p50)),
                p95: Some(Span::from_millis(p95)),
                p99: Some(Span::from_millis(p99)),
            });
        })
    };
    let found = averaged(&[back(100, [2, 1, 5, 9]), back(300, [6, 4, 3, 20])]);
    let names = ["rtt", "rtt_p50", "rtt_p95", "rtt_p99"];
    assert_eq!(names.map(|name| found[name]), [5.0, 4.0, 5.0, 20.0]);
}

#[test]
fn a_flow_that_got_nothing_counts_for_fairness() {
    let of = |flows: &[FlowStats]| {
        let found = found(flows, Scope::Alike(Spread::Averaged));
        found.get("fairness").copied()
    };
    let starved = || changed(|flow| flow.carried = None);
    assert_eq!(of(&[flow(), flow()]), Some(1.0));
    assert_eq!(of(&[flow(), starved()]), Some(0.5));
    assert_eq!(of(&[starved(), starved()]), None);
    assert!(!averaged(&[flow(), flow()]).contains_key("fairness"));
}

#[test]
fn the_first_delivery_is_that_of_the_flow_that_waits_longest() {
    let late = changed(|flow| flow.first_arrival = Some(Time::from_nanos(7_000_000)));
    let never = changed(|flow| flow.first_arrival = None);
    assert_eq!(first_delivery(&[flow(), late, never.clone()]), Some(7.0));
    assert_eq!(first_delivery(&[never]), None);
}
