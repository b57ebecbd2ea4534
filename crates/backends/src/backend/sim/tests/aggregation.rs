//! Trials in networks with a domain.

use super::*;

/// A source of 2 Mbit/s in front of a core of 1 Mbit/s that carries bundles;
/// all but the queue can be computed by hand.
const DOMAIN: &str = "\
format = 1
name = \"domain\"
[network]
shape = \"explicit\"
ip = 4
mtu = 500
framing = \"none\"
rate = \"100mbit\"
[nodes]
a = { role = \"host\", address = \"10.1.0.1\" }
in = { role = \"router\" }
out = { role = \"router\" }
b = { role = \"host\", address = \"10.2.0.1\" }
[links.a-in]
ends = [\"a\", \"in\"]
[links.core]
ends = [\"in\", \"out\"]
mtu = 1042
rate = \"1mbit\"
buffer = \"4 packets\"
[links.core.windows]
early = \"0s..500ms\"
all = \"0s..1s\"
[links.out-b]
ends = [\"out\", \"b\"]
[domain]
edges = [\"in\", \"out\"]
mtu = 1042
trigger = \"full\"
[domain.routes.east]
prefix = \"10.2.0.0/16\"
egress = \"out\"
[traffic]
kind = \"flows\"
duration = \"1s\"
[flows.f]
from = \"a\"
to = \"b\"
message = 472
gap = \"2ms\"
gap_distribution = \"constant\"
[sweep]
\"network.ip\" = [4]
";

fn link(measurements: &Measurements, direction: usize) -> [u64; 3] {
    let counts = &measurements.evidence["domain"]["links"][1][direction];
    std::array::from_fn(|at| counts[at].as_u64().unwrap())
}

#[test]
fn losses_are_told_per_frame_and_per_packet_of_a_sender() {
    // Two packets of 500 bytes fill a bundle: 8.272 ms of a core that is offered
    // one each 4 ms.
    let whole = measurements(DOMAIN, &["links.core.queue=droptail"]);
    let inner_dropped = measurements(
        DOMAIN,
        &[
            "links.core.queue=mred",
            "links.core.mred.min=1",
            "links.core.mred.max=3",
            "links.core.mred.weight=0.5",
        ],
    );
    for measurements in [&whole, &inner_dropped] {
        near(measurements, "packets_per_frame_all", 2.0);
        // One a 2 ms; of whole bundles each takes half of 1034 bytes.
        assert!((measurements.metrics["packet_rate_all"] - 500.0).abs() < 3.0);
        assert!((measurements.metrics["frame_rate_all"] - 250.0).abs() < 3.0);
        let [arrived, dropped, inner_dropped] = link(measurements, 0);
        // All packets but the last arrived and were dropped within the second.
        let percent = 100.0 * dropped as f64 / arrived as f64;
        let measured = measurements.metrics["inner_drop_percent_all"];
        assert!(
            (measured - percent).abs() < 1.0,
            "{measured} is not {percent}"
        );
        assert!(dropped >= inner_dropped && dropped > 0);
        assert_eq!(link(measurements, 1), [0, 0, 0]);
    }
    near(&whole, "wire_bytes_all", 517.0);
    // A frame that lost one of its two packets has its headers for the other alone.
    assert!(inner_dropped.metrics["wire_bytes_all"] > 517.5);
    // Drop-tail loses frames, and with each of them its two packets.
    assert_eq!(
        whole.metrics["drop_percent_all"],
        whole.metrics["inner_drop_percent_all"]
    );
    assert_eq!(link(&whole, 0)[2], 0);
    // MRED takes packets out of frames that go on.
    assert!(link(&inner_dropped, 0)[2] > 0);
    let [frames, packets] =
        ["drop_percent_all", "inner_drop_percent_all"].map(|name| inner_dropped.metrics[name]);
    assert!(frames < packets, "{frames} is not below {packets}");
}

#[test]
fn a_bundle_that_lost_every_packet_before_it_is_dropped_counts_no_packet_twice() {
    let text = include_str!("../../../../../../experiments/aqm-ablations.toml");
    let sets = ["queue=mredmark,red", "frames=bundles"];
    let marking = measurements(text, &sets);
    let [arrived, dropped, inner_dropped] = {
        let counts = &marking.evidence["domain"]["links"][2][0];
        std::array::from_fn(|at| counts[at].as_u64().unwrap())
    };
    assert!(inner_dropped > 0 && inner_dropped <= dropped);
    assert!(dropped < arrived, "{dropped} of {arrived}");
}

#[test]
fn a_source_that_is_notified_of_drops_repairs_them_sooner_and_may_slow_down() {
    let tcp = DOMAIN
        .replace(
            "message = 472\ngap = \"2ms\"\ngap_distribution = \"constant\"\n",
            "protocol = \"tcp\"\n",
        )
        .replace(
            "egress = \"out\"\n",
            "egress = \"out\"\n[domain.routes.west]\nprefix = \"10.1.0.0/16\"\negress = \"in\"\n",
        )
        .replace("1s\"", "10s\"");
    let run = |sets: &[&str]| {
        let queue = [
            "links.core.queue=mred",
            "links.core.delay=50ms",
            "links.core.buffer=20 packets",
            "domain.trigger=egress-busy",
        ];
        measurements(&tcp, &[&queue, sets].concat())
    };
    let silent = run(&[]);
    let notified = run(&["links.core.mred.notify=on"]);
    let reduced = run(&[
        "links.core.mred.notify=on",
        "links.core.mred.reaction=retransmit + reduce",
    ]);
    let of = |measurements: &Measurements| {
        ["throughput/f", "inner_drop_percent_all"].map(|name| measurements.metrics[name])
    };
    assert_ne!(of(&silent), of(&notified));
    assert_ne!(of(&notified), of(&reduced));
    // A source that does not slow down loses more.
    assert!(of(&reduced)[1] < of(&notified)[1]);
}

#[test]
fn what_the_link_carried_is_a_share_of_the_whole_trial() {
    let measurements = measurements(DOMAIN, &["links.core.queue=red", "links.core.red.weight=1"]);
    let [early, all] = ["early", "all"]
        .map(|window| measurements.metrics[format!("carried_percent_{window}").as_str()]);
    near(&measurements, "utilisation_percent_early", 2.0 * early);
    near(&measurements, "utilisation_percent_all", all);
    // The largest average of a queue of four is below RED's upper threshold.
    assert!(!measurements.metrics.contains_key("crossing_all"));
    assert!(measurements.metrics["average_queue_all"] > 0.0);
    // A frame waits for those before it: at most four of 8.336 ms.
    let delay = measurements.metrics["queue_delay_all"];
    assert!((8.0..=33.4).contains(&delay), "{delay}");
}

#[test]
fn an_average_that_crosses_its_upper_threshold_tells_when_first_and_when_last() {
    let measurements = measurements(
        DOMAIN,
        &[
            "links.core.queue=red",
            "links.core.red.weight=1",
            "links.core.red.min=1",
            "links.core.red.max=2",
        ],
    );
    let [first, last] = ["crossing_all", "settling_all"].map(|name| measurements.metrics[name]);
    assert!(0.0 < first && first < last && last < 1.0, "{first} {last}");
}

#[test]
fn with_aggregation_off_a_domain_changes_nothing() {
    let without: String = DOMAIN
        .lines()
        .filter(|line| !line.contains("prefix") && !line.contains("egress"))
        .map(|line| {
            line.replace(", address = \"10.1.0.1\"", "")
                .replace(", address = \"10.2.0.1\"", "")
        })
        .filter(|line| {
            !line.starts_with("[domain")
                && !line.starts_with("edges")
                && !line.starts_with("trigger")
        })
        .filter(|line| line != "mtu = 1042")
        .map(|line| format!("{line}\n"))
        .collect();
    let off = measurements(DOMAIN, &["domain.aggregate=off", "links.core.mtu=500"]);
    let plain = measurements(&without, &[]);
    near(&off, "packets_per_frame_all", 1.0);
    for metric in ["delay/f", "loss", "drop_percent_all", "mean_queue_all"] {
        assert_eq!(off.metrics[metric], plain.metrics[metric], "{metric}");
    }
    assert_eq!(
        off.metrics["drop_percent_all"],
        off.metrics["inner_drop_percent_all"]
    );
}

#[test]
fn one_way_delays_are_of_packets_that_came_over_the_link_and_arrived_in_the_window() {
    // A bundle of two takes the core 8.272 ms and leaves once it is full: the
    // first packet waits 10 ms for the second. Each takes 40 us before and
    // behind the core.
    let slow = DOMAIN.replace("gap = \"2ms\"", "gap = \"10ms\"");
    let both_directions = format!(
        "{slow}[domain.routes.west]\nprefix = \"10.1.0.0/16\"\negress = \"in\"\n\
         [flows.back]\nfrom = \"b\"\nto = \"a\"\nmessage = 100\ngap = \"3ms\"\ngap_distribution = \"constant\"\n"
    );
    let shaped = measurements(&slow, &["domain.shaping=on"]);
    let unshaped = measurements(&slow, &["domain.shaping=off"]);
    let alone = measurements(&slow, &["domain.aggregate=off"]);
    // Unshaped, both leave at once, and one waits 40 us for the other.
    for (measurements, aggregated) in [(&shaped, 10.0), (&unshaped, 5.02)] {
        near(measurements, "one_way_delay_all", aggregated + 0.08 + 8.272);
        near(
            measurements,
            "one_way_delay_early",
            measurements.metrics["one_way_delay_all"],
        );
    }
    near(&alone, "one_way_delay_all", 0.08 + 4.0);
    near(&alone, "one_way_delay_all", alone.metrics["delay/f"]);
    // Traffic in the opposite direction does not count here.
    let beside = measurements(&both_directions, &["domain.aggregate=off"]);
    near(&beside, "one_way_delay_all", 0.08 + 4.0);
}

#[test]
fn connections_have_one_way_delays_too_and_their_acknowledgements_are_none() {
    let tcp = DOMAIN.replace(
        "message = 472\ngap = \"2ms\"\ngap_distribution = \"constant\"\n",
        "protocol = \"tcp\"\n",
    );
    let measurements = |sets: &[&str]| {
        let sets = [&["domain.aggregate=off", "links.core.delay=30ms"], sets].concat();
        super::measurements(&tcp, &sets)
    };
    // A window of one segment never waits: 4 ms on the core's link.
    let one = measurements(&["tcp.window=1"]);
    near(&one, "one_way_delay_all", 0.08 + 4.0 + 30.0);
    // The queue in front of the core accounts for the difference.
    let many = measurements(&["links.core.buffer=100 packets", "tcp.window=40"]);
    let [waited, took] = ["queue_delay_all", "one_way_delay_all"].map(|name| many.metrics[name]);
    assert!(waited > 50.0, "{waited}");
    assert!((took - waited - 34.08).abs() < 5.0, "{took} {waited}");
}
