use live::transfer::TcpState;
use serde_json::from_value;

use super::*;
use crate::measure::synthetic::{flow, tcp};

/// The metrics of flows, each of which is the one of `synthetic` with changes.
fn metrics(flows: &[(Departed, Arrived)]) -> BTreeMap<&'static str, f64> {
    let ends: Vec<Ends<'_>> = flows.iter().map(|(sent, came)| (sent, came)).collect();
    let found = of(&ends).into_iter();
    found
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

/// The flow of `synthetic` with one change.
fn changed(change: impl FnOnce(&mut Departed, &mut Arrived)) -> (Departed, Arrived) {
    let (mut sent, mut came) = flow();
    change(&mut sent, &mut came);
    (sent, came)
}

#[test]
fn rates_of_flows_are_added_and_delays_weighted_by_messages() {
    let twice = metrics(&[flow(), flow()]);
    for name in ["throughput", "offered_rate", "sent_rate"] {
        assert_eq!(twice[name], 16.0, "{name}");
    }
    let late = changed(|sent, came| {
        sent.lateness = Some([1_000, 5_000_000, 6_000_000]);
        came.summary.delay_mean = Some(0.006);
        came.summary.received = 3_000;
    });
    let both = metrics(&[flow(), late]);
    // A thousand messages of 2 ms and three thousand of 6 ms.
    assert!((both["delay"] - 5.0).abs() < 1e-9);
    assert_eq!(both["latency_ditg"], 2.0);
    assert_eq!(both["lateness_p99"], 5.0, "that of the later flow");
}

#[test]
fn a_flow_that_sent_less_than_it_was_asked_for_offers_more_than_it_sent() {
    let slow = changed(|sent, _| {
        sent.messages = 500;
        sent.octets = 500_000;
    });
    let found = metrics(&[slow]);
    assert_eq!((found["offered_rate"], found["sent_rate"]), (8.0, 4.0));
    // As fast as it goes: there are no instants that offer a rate.
    let greedy = changed(|sent, _| sent.lateness = None);
    let found = metrics(&[greedy]);
    assert!(!found.contains_key("offered_rate") && !found.contains_key("lateness_p99"));
}

#[test]
fn datagrams_are_lost_and_segments_are_sent_again() {
    let lossy = changed(|_, came| came.summary.lost = 20);
    let stream = changed(|sent, came| {
        sent.tcp = Some(TcpState {
            retransmitted: 7,
            ..tcp()
        });
        // What a stream has not delivered at the end is not lost.
        came.summary.lost = 500;
    });
    let both = metrics(&[lossy, stream]);
    assert_eq!((both["loss"], both["retransmissions"]), (2.0, 7.0));
    let datagrams = metrics(&[flow()]);
    assert!(!datagrams.contains_key("retransmissions"));
}

#[test]
fn a_message_of_a_stream_crosses_from_its_first_octets_stamp_to_its_last_ones() {
    let stamped = changed(|sent, came| {
        sent.departures = vec![(3, 1_000_000), (4, 2_000_000), (6, 9_000_000)];
        let samples = json!([
            { "sequence": 3, "octets": 1_000, "received": 3_000_000 },
            { "sequence": 4, "octets": 3_000, "received": 8_000_000 },
            { "sequence": 5, "octets": 9_000, "received": 9_000_000 },
        ]);
        came.samples = from_value(samples).unwrap();
    });
    let found = metrics(&[stamped]);
    // 2 ms and 6 ms; 2000 octets in 4 ms are 4 Mbit/s.
    assert_eq!((found["latency"], found["paper_throughput"]), (4.0, 4.0));
    assert!(!metrics(&[flow()]).contains_key("latency"));
}

#[test]
fn round_trips_have_a_mean_over_messages_and_percentiles_of_the_worst_flow() {
    let back = |echoes, millis: [u64; 4]| {
        changed(|sent, _| {
            sent.echoes = echoes;
            sent.round_trips = Some(millis.map(|millis| millis * 1_000_000));
        })
    };
    let found = metrics(&[back(100, [2, 1, 5, 9]), back(300, [6, 4, 3, 20])]);
    let names = ["rtt", "rtt_p50", "rtt_p95", "rtt_p99"];
    assert_eq!(names.map(|name| found[name]), [5.0, 4.0, 5.0, 20.0]);
}

#[test]
fn a_flow_that_got_nothing_counts_for_fairness() {
    let of = |flows: &[(Departed, Arrived)]| {
        let ends: Vec<Ends<'_>> = flows.iter().map(|(sent, came)| (sent, came)).collect();
        fairness(&ends)
    };
    let starved = || changed(|_, came| came.counted = None);
    assert_eq!(of(&[flow(), flow()]), Some(1.0));
    assert_eq!(of(&[flow(), starved()]), Some(0.5));
    assert_eq!(of(&[starved(), starved()]), None);
}

#[test]
fn nodes_are_told_by_what_they_did_with_packets_that_did_not_fit_meanwhile() {
    let counts = |cut, made, joined| Fragments {
        cut,
        made,
        joined,
        ..Fragments::default()
    };
    let nodes = |router, receiver| {
        let named = [("router", router), ("receiver", receiver)];
        named.map(|(name, counts)| (name.to_owned(), counts))
    };
    let before = nodes(counts(1, 2, 0), counts(0, 0, 7));
    let mut figures = Figures::default();
    figures.take_fragments(&before, &nodes(counts(4, 8, 0), counts(0, 0, 7)));
    let expected = json!({ "router": { "cut": 3, "made": 6 } });
    assert_eq!(figures.evidence.get("fragments"), Some(&expected));
    let mut none = Figures::default();
    none.take_fragments(&before, &before);
    assert!(none.evidence.is_empty());
}
