use emulator::Crossed;
use link::Counters;
use serde_json::{Value, json};

use super::*;
use crate::measure::synthetic::{ends, inspection, passes, path, setting};

/// The metrics of `passes`, with accessors.
struct Of(Measurements);

impl Of {
    #[track_caller]
    fn metric(&self, name: &str, value: f64) {
        let found = self.0.metrics.get(name).copied();
        let near = found.is_some_and(|found| (found - value).abs() <= 1e-9 * value.abs());
        assert!(near, "{name}: {found:?}, not {value}");
    }

    #[track_caller]
    fn evidence(&self, name: &str, value: Value) {
        assert_eq!(self.0.evidence.json().get(name), Some(&value), "{name}");
    }
}

#[test]
fn what_the_ends_saw_is_put_down_in_the_units_of_the_catalogue() {
    let mut passes = passes();
    passes.one_way.1.delays.lost = 250;
    let of = Of(Measurements::of(&passes));
    of.metric("throughput", 94.0);
    of.metric("rtt_transfer", 1_000.0);
    of.metric("delay", 2.0);
    of.metric("jitter", 0.0);
    of.metric("loss", 25.0);
    of.metric("rtt_tcp", 4.5);
    of.metric("retransmissions", 10.0);
    of.metric("segments", 1_000.0);
    of.evidence("counted_bytes", json!(11_000_000));
    of.evidence("send_buffer", json!(200_000));
    of.evidence("receive_buffer", json!(400_000));
    of.evidence("congestion", json!("cubic"));
    // Half of the 10 us between reads.
    for metric in ["delay", "jitter", "jitter_ditg", "ipdv_p95"] {
        of.evidence(&format!("resolution_{metric}"), json!(0.005));
    }
    // Nothing was echoed.
    assert!(!of.0.metrics.contains_key("rtt") && !of.0.evidence.json().contains_key("echoes"));
    assert_eq!(of.0.flags, []);
}

#[test]
fn reads_without_a_stamp_are_counted_over_both_transfers() {
    let mut passes = passes();
    passes.rated.1.unstamped = 2;
    passes.one_way.1.unstamped = 3;
    Of(Measurements::of(&passes)).evidence("unstamped_reads", json!(5));
}

#[test]
fn processors_are_told_by_the_bytes_of_the_transfer_and_by_its_time() {
    // 500 MB in 10 s, 5 s of CPU time of two CPUs, 0.5 s in soft interrupts.
    let of = Of(Measurements::of(&passes()));
    of.metric("throughput_long", 94.0);
    of.metric("retransmitted_long", 1.0);
    of.metric("cpu_total", 10.0);
    of.metric("cpu_softirq", 1.0);
    of.metric("cpu_sender", 10.0);
    of.metric("cpu_sender_high", 15.0);
    of.metric("cpu_receiver", 20.0);
    of.metric("cpu_receiver_high", 25.0);
    of.evidence("cpu_sender_seconds_per_gigabyte", json!(2.0));
    of.evidence("cpu_bytes", json!(500_000_000));
    of.evidence("cpu_seconds", json!(5.0));
    of.evidence("cpu_window_seconds", json!(10.0));
    of.evidence("cpu_busy_percent", json!(25.0));
    of.evidence("run_queue_wait_percent", json!(0.0));
    let without = Passes {
        metered: None,
        ..passes()
    };
    let measurements = Measurements::of(&without);
    let mut names = measurements
        .metrics
        .keys()
        .chain(measurements.evidence.json().keys());
    assert!(names.all(|name| !name.starts_with("cpu_")));
}

#[test]
fn echoes_have_a_round_trip_and_a_time_that_all_of_them_took() {
    let (sent, received) = ends();
    let trips = received.delays.clone();
    let sent = Sent {
        round_trips: Some(trips),
        echoes_took: Some(Span::from_millis(1_500)),
        ..sent
    };
    let of = Of(Measurements::of(&Passes {
        echoed: Some((sent, received)),
        ..passes()
    }));
    of.metric("rtt", 2.0);
    of.metric("echo_time", 1_500.0);
    of.evidence("echoes", json!(1_000));
}

#[test]
fn processors_that_worked_for_others_are_what_nothing_of_ours_explains() {
    let others = |busy, emulator| {
        let mut disturbance = passes().disturbance;
        disturbance.machine.busy = Span::from_millis(busy);
        disturbance.emulator = Some(Report {
            cpu: Span::from_millis(emulator),
            ..Report::default()
        });
        disturbance.others()
    };
    // Ends 3 s, coordinator 0.1 s, soft interrupts 0.5 s, of 10 s.
    assert!((others(5_000, 0) - 0.14).abs() < 1e-9);
    assert!((others(5_000, 400) - 0.1).abs() < 1e-9);
    assert_eq!(others(1_000, 0), 0.0, "less than our own work");
}

#[test]
fn what_others_used_in_user_mode_is_no_cost_of_a_disturbed_pass() {
    let busy = |busy: u64, user: u64, emulator: u64| {
        let mut disturbance = passes().disturbance;
        disturbance.machine.busy = Span::from_millis(busy);
        disturbance.machine.user = Span::from_millis(user);
        disturbance.emulator = Some(Report {
            cpu: Span::from_millis(emulator),
            ..Report::default()
        });
        disturbance.busy()
    };
    // Ours are 3.1 s, 0.95 s of them in user mode, and 0.5 s of soft interrupts.
    assert_eq!(busy(5_000, 1_000, 0), Span::from_millis(5_000), "idle");
    assert_eq!(busy(20_000, 15_950, 0), Span::from_millis(3_600));
    assert_eq!(busy(20_000, 17_950, 0), Span::from_millis(3_000));
    assert_eq!(busy(20_000, 17_950, 400), Span::from_millis(3_400));
    // Their kernel mode is known where nothing of ours explains it.
    assert_eq!(busy(20_000, 1_000, 0), Span::from_millis(3_600));
}

#[test]
fn a_trial_of_which_nothing_can_be_counted_has_failed() {
    let (size, message) = (Bytes::new(1_000), Bytes::new(100));
    let mut passes = passes();
    assert!(passes.something_arrived(message, size).is_ok());
    passes.rated.1.goodput = None;
    assert!(passes.something_arrived(message, size).is_err());
    assert!(passes.something_arrived(size, size).is_ok(), "one message");
    passes.one_way.1.delays.received = 0;
    let Err(Failure::Transfer(why)) = passes.something_arrived(size, size) else {
        panic!("nothing arrived");
    };
    assert_eq!(why, "too few messages arrived to count");
}

#[test]
fn of_the_path_its_limit_its_links_and_its_frames_are_kept() {
    let setting = setting("[links.sender-receiver]\nburst = 10000\nbuffer = 200000");
    let mut path = path(&setting);
    path.pace = Rate::from_bits_per_second(94_150_000);
    path.offloads = Some(vec!["tx-tcp-segmentation".into()]);
    inspection(&mut path).largest_received = Bytes::new(1_400);
    let mut of = Of(Measurements::default());
    of.0.take_setting(&setting, &path);
    of.evidence("limit_mbit", json!(94.15));
    of.evidence("offloads_on", json!(["tx-tcp-segmentation"]));
    of.evidence("burst_bytes", json!([10_000]));
    of.evidence("buffer_bytes", json!([200_000]));
    of.evidence("largest_packet_sent", json!(1_500));
    of.evidence("largest_packet_received", json!(1_400));
    path.pace = None;
    of.0.take_setting(&setting, &path);
    of.evidence("limit_mbit", Value::Null);
}

/// An emulator report for `links` with a median timing error of 50 us.
fn emulated(links: usize) -> Report {
    Report {
        links: vec![Default::default(); links],
        late: [50, 80, 900].map(Span::from_micros),
        departures: 1_000,
        cpu: Span::from_millis(300),
        ..Report::default()
    }
}

#[test]
fn a_delay_is_known_no_better_than_departures_are_punctual_on_each_link() {
    let mut of = Of(Measurements::default());
    of.0.note(evidence::resolution(&metric::DELAY), 0.12);
    of.0.note(evidence::resolution(&metric::JITTER), 0.02);
    of.0.note(evidence::ECHOES, 10);
    of.0.take_emulator(&emulated(2));
    // 2 links with 0.05 ms each, twice that for a round trip, times ten.
    of.evidence("resolution_delay", json!(0.12));
    of.evidence("resolution_jitter", json!(0.1));
    of.evidence("resolution_rtt", json!(0.2));
    of.evidence("resolution_echo_time", json!(2.0));
    of.evidence("emulator_departures", json!(1_000));
    of.evidence("emulator_cpu_seconds", json!(0.3));
    of.evidence("emulator_scheduling", json!("ordinary"));
}

#[test]
fn cross_traffic_is_told_by_link_and_direction_and_left_out_where_there_is_none() {
    let setting = setting("");
    let mut report = emulated(1);
    let crossed = |report: &Report| {
        let mut measurements = Measurements::default();
        measurements.take_crossed(&setting, report);
        measurements.evidence.json().get("cross").cloned()
    };
    assert_eq!(crossed(&report), None);
    let mut counters = Counters {
        arrived: 100,
        ..Counters::default()
    };
    for (outcome, count) in [
        (PacketOutcome::Dropped, 5),
        (PacketOutcome::Lost, 2),
        (PacketOutcome::Damaged, 1),
    ] {
        counters.outcomes[outcome as usize] = count;
    }
    report.links[0][1].crossed = Crossed {
        counters,
        offered: Bytes::new(1_000_000),
        carried: Bytes::new(500_000),
        lasted: Span::from_millis(500),
    };
    let expected = json!([{
        "link": "sender-receiver", "direction": "reverse", "offered_mbit": 16.0, "carried_mbit": 8.0,
        "packets": 100, "dropped": 5, "lost": 3,
    }]);
    assert_eq!(crossed(&report), Some(expected));
}
