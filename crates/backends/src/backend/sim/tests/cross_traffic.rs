//! The waiting time behind cross traffic agrees with theory.

use super::*;

/// Occasional messages of 100 bytes behind packets of 9000 on links of 100
/// Mbit/s.
const BEHIND: &str = "\
format = 1
name = \"behind\"
[network]
shape = \"chain\"
devices = 0
ip = 4
mtu = 9000
rate = \"100mbit\"
buffer = \"100MB\"
[traffic]
kind = \"flows\"
duration = \"30s\"
[flows.probe]
message = 100
gap = \"20ms\"
[sweep]
\"network.mtu\" = [9000]
";

/// The mean delay of the messages, in milliseconds.
fn delay(sets: &[&str]) -> (f64, Measurements) {
    let measurements = measurements(BEHIND, sets);
    (measurements.metrics["delay"], measurements)
}

#[test]
fn a_message_waits_for_poisson_packets_as_theory_says() {
    let each = wire(9000.0 + 38.0);
    let (idle, bare) = delay(&[]);
    assert!(!bare.evidence.json().contains_key("cross"));
    for (load, share) in [("light", 0.2), ("moderate", 0.5), ("heavy", 0.8)] {
        let (loaded, measurements) = delay(&[&format!("network.load={load}")]);
        // The mean wait of M/D/1 [Kleinrock1975].
        let expected = share * each / (2.0 * (1.0 - share));
        let waited = loaded - idle;
        let off = (waited / expected - 1.0).abs();
        assert!(off < 0.12, "{load}: {waited} ms instead of {expected}");
        let cross = &measurements.evidence["cross"][0];
        assert_eq!(cross["direction"], "forward");
        let offered = cross["offered_mbit"].as_f64().unwrap();
        assert!((offered / (100.0 * share) - 1.0).abs() < 0.05, "{offered}");
        // Cross traffic is not in metrics and lists.
        assert_eq!(measurements.evidence["sent"].as_array().unwrap().len(), 1);
        assert!(measurements.metrics["throughput"] < 0.1);
    }
}

#[test]
fn behind_even_packets_no_message_waits_longer_than_one_takes() {
    let each = wire(9000.0 + 38.0);
    let (idle, _) = delay(&[]);
    let (loaded, measurements) = delay(&[
        "network.load=moderate",
        "network.cross.interarrival=constant",
    ]);
    let waited = (loaded - idle) / (0.5 * each / 2.0);
    assert!((waited - 1.0).abs() < 0.08, "{waited} of the mean");
    let worst = (measurements.metrics["delay_p99/probe"] - idle) / (0.98 * each);
    assert!((worst - 1.0).abs() < 0.03, "{worst} of the 99th percentile");
}

#[test]
fn every_hop_has_others_of_its_own_and_directions_are_apart() {
    let (idle, _) = delay(&["network.devices=3"]);
    let (loaded, measurements) = delay(&["network.devices=3", "network.load=moderate"]);
    let expected = 4.0 * 0.5 * wire(9038.0) / (2.0 * 0.5);
    let waited = (loaded - idle) / expected;
    assert!((waited - 1.0).abs() < 0.12, "{waited}");
    let links =
        |measurements: &Measurements| measurements.evidence["cross"].as_array().unwrap().len();
    assert_eq!(links(&measurements), 4);
    assert_eq!(
        measurements.evidence["utilisation"]
            .as_array()
            .unwrap()
            .len(),
        4
    );
    // Traffic in the opposite direction does not interfere.
    let against = ["network.load=heavy", "network.cross.direction=reverse"];
    let (loaded, measurements) = delay(&against);
    assert!((loaded - delay(&[]).0).abs() < 1e-9);
    assert_eq!(measurements.evidence["cross"][0]["direction"], "reverse");
    let (_, measurements) = delay(&["network.load=light", "network.cross.direction=both"]);
    assert_eq!(links(&measurements), 2);
}

#[test]
fn a_transfer_of_datagrams_shares_its_links_too() {
    let busy = measurements(TRANSFER, &["network.load=moderate", "network.buffer=100MB"]);
    assert!(busy.metrics["delay"] > measurements(TRANSFER, &[]).metrics["delay"]);
    assert_eq!(busy.evidence["cross"].as_array().unwrap().len(), 2);
}

#[test]
fn a_connection_has_others_beside_it_until_it_is_done() {
    let with = |load: &str| {
        let sets = [
            "traffic.protocol=tcp",
            "traffic.size=2MB",
            "traffic.message=10kB",
            "network.buffer=50kB",
            load,
        ];
        settings(TRANSFER, &sets).remove(0)
    };
    let idle = run(&with("network.load=none"));
    let busy = run(&with("network.load=heavy"));
    let [before, after] = [&idle, &busy].map(|measurements| measurements.metrics["throughput"]);
    assert!(after < 0.5 * before, "{after} of {before} Mbit/s");
    let cross = &busy.evidence["cross"][0];
    let offered = cross["offered_mbit"].as_f64().unwrap();
    assert!((offered / 80.0 - 1.0).abs() < 0.05, "{offered}");
    // Later cross traffic does not affect the result.
    let setting = with("network.load=heavy");
    let simulator = simulator(std::slice::from_ref(&setting));
    let (scenario, until) = simulator.scenario(&setting, Seed::new(1)).unwrap();
    assert!(until < scenario.end);
    let delivered = |until: Time| {
        let shared = shared_until(&setting, Seed::new(1), simulator.budget, Some(until));
        let outcome = simulation_of(&setting, shared).unwrap().run();
        let flows = outcome.flows.into_iter();
        let own = flows.filter(|flow| flow.tcp.is_some());
        own.map(|flow| format!("{flow:?}")).collect::<Vec<_>>()
    };
    let longer = until + until.since(Time::ZERO).unwrap();
    assert_eq!(delivered(until), delivered(longer));
}

#[track_caller]
fn run(setting: &Setting) -> Measurements {
    let trial = simulator(std::slice::from_ref(setting)).run(setting, Seed::new(1));
    trial.unwrap().0
}
