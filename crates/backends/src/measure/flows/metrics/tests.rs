use serde_json::{from_value, json};

use super::*;
use crate::measure::synthetic::{flow, tcp};

#[test]
fn a_flow_is_stated_by_what_its_ends_saw() {
    let (mut sent, mut came) = flow();
    came.summary.lost = 20;
    came.by_program.delay_mean = Some(0.003);
    sent.echoes = 10;
    sent.round_trips = Some([4, 3, 5, 6].map(|millis| millis * 1_000_000));
    let found = stats(&(&sent, &came));
    assert_eq!(
        (found.sent, found.bytes, found.lost),
        (1_000, 1_000_000, Some(20))
    );
    let schedule = found.schedule.unwrap();
    assert_eq!(
        (schedule.offered, schedule.lasted),
        (1_000, Span::from_secs(1))
    );
    assert_eq!(schedule.timing_error_p99, Span::from_micros(2));
    assert!(matches!(found.carried, Some(Carried::Rate(8.0))));
    assert_eq!(found.first_due, Some(Time::ZERO));
    assert_eq!(found.first_arrival, Some(Time::from_nanos(2_000_000)));
    assert_eq!(
        (found.delays.messages, found.delays.mean),
        (1_000, Some(0.002))
    );
    assert_eq!(found.by_program.latency, Some(0.003));
    let trips = found.round_trips.unwrap();
    assert_eq!((trips.count, trips.took_ms), (10, 40.0));
    assert_eq!(trips.p95, Some(Span::from_millis(5)));
    assert!(found.tcp.is_none());
}

#[test]
fn a_connection_sends_again_and_loses_no_message() {
    let (mut sent, mut came) = flow();
    sent.tcp = Some(tcp());
    // Undelivered messages of a stream are not lost.
    came.summary.lost = 500;
    let found = stats(&(&sent, &came));
    assert_eq!(found.lost, None);
    assert_eq!(found.tcp.unwrap().retransmitted, 10);
}

#[test]
fn a_message_of_a_stream_crosses_from_its_first_bytes_stamp_to_its_last_ones() {
    let (mut sent, mut came) = flow();
    sent.departures = vec![(3, 1_000_000), (4, 2_000_000), (6, 9_000_000)];
    let samples = json!([
        { "sequence": 3, "bytes": 1_000, "received": 3_000_000 },
        { "sequence": 4, "bytes": 3_000, "received": 8_000_000 },
        { "sequence": 5, "bytes": 9_000, "received": 9_000_000 },
    ]);
    came.samples = from_value(samples).unwrap();
    let found = crossing(&sent, &came);
    let sums = (found.messages, found.nanos, found.bytes);
    assert_eq!(sums, (2, 8_000_000, 4_000));
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
    let mut measurements = Measurements::default();
    measurements.take_fragments(&before, &nodes(counts(4, 8, 0), counts(0, 0, 7)));
    let expected = json!({ "router": { "cut": 3, "made": 6 } });
    assert_eq!(
        measurements.evidence.json().get("fragments"),
        Some(&expected)
    );
    let mut none = Measurements::default();
    none.take_fragments(&before, &before);
    assert!(none.evidence.is_empty());
}

#[test]
fn equal_flows_are_one_over_time_and_their_quantiles_are_averaged() {
    let flows = |count| {
        let text = format!(
            "format = 1\nname = \"x\"\n[network]\nmtu = 1500\n[traffic]\nkind = \"flows\"\nduration = \"1s\"\n[flows.a]\nmessage = 100\ngap = \"1ms\"\ncount = {count}\n[sweep]\n\"network.mtu\" = [1500]\n"
        );
        let experiment = experiment::Experiment::parse(&text, "x.toml").unwrap();
        let plan = experiment.plan(plan::Backend::Netns, |_| Ok(())).unwrap();
        match &plan.cells[0].setting.as_ref().unwrap().traffic {
            plan::setting::Traffic::Flows(flows) => flows.clone(),
            _ => unreachable!("it has flows"),
        }
    };
    let (mut sent, came) = flow();
    let ends = |bytes| {
        let mut came = came.clone();
        came.over_time.carried(Time::ZERO, units::Bytes::new(bytes));
        came.messages = bytes;
        came.summary.delay_quantiles = Some([bytes as f64 / 1e5; 10]);
        came
    };
    let both = [ends(100), ends(300)];
    sent.echoes = 2;
    sent.round_trip_quantiles = Some([0.004; 10]);
    let mut measurements = Measurements::default();
    let ends: Vec<Ends<'_>> = both.iter().map(|came| (&sent, came)).collect();
    measurements.take_flows_over_time(&flows(2), &ends);
    let evidence = &measurements.evidence;
    assert_eq!(evidence["flow_series"]["a"]["bytes"], "400");
    assert_eq!(evidence["delay_quantiles"]["a"], ["2.5"; 10].join(" "));
    assert_eq!(evidence["rtt_quantiles"]["a"], ["4"; 10].join(" "));
}

#[test]
fn quantiles_of_several_flows_are_weighted_by_messages() {
    let quantiles = |first| std::array::from_fn(|place| first + place as f64);
    let flows = [
        (3, Some(quantiles(1.0))),
        (1, Some(quantiles(5.0))),
        (7, None),
    ];
    assert_eq!(mean_quantiles(flows.into_iter()), Some(quantiles(2.0)));
    assert_eq!(mean_quantiles([(0, None)].into_iter()), None);
}
