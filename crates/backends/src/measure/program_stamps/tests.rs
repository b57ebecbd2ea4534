use os::ProgramStamps;
use plan::Flag;

use super::*;
use crate::measure::checks::flags_of_flows;
use crate::measure::synthetic::{disturbance, flow, passes, path, setting};

/// Stamps that are `micros` microseconds late.
fn late(micros: u64) -> Option<ProgramStamps> {
    Some(ProgramStamps {
        resolution: Span::from_nanos(100),
        late: Span::from_micros(micros),
    })
}

/// The resolution of a metric as the trial states it.
fn resolution(of: &Measurements, metric: &Metric) -> Option<f64> {
    of.evidence.get(evidence::resolution(metric))
}

/// The measurements of a transfer whose stamps are `micros` microseconds late.
fn transfer(micros: u64) -> Measurements {
    let mut passes = passes();
    passes.one_way.1.stamps = late(micros);
    let mut measurements = Measurements::of(&passes);
    measurements.take_stamps_of_transfer(&passes);
    measurements
}

#[test]
fn times_of_messages_are_resolved_to_the_stamps_and_rates_over_seconds_as_ever() {
    let measurements = transfer(60);
    assert_eq!(
        measurements.evidence.get(evidence::STAMP_LATE_US),
        Some(60.0)
    );
    for metric in OF_TRANSFER {
        assert_eq!(resolution(&measurements, metric), Some(0.06), "{metric:?}");
    }
    for metric in [&metric::THROUGHPUT, &metric::THROUGHPUT_LONG] {
        assert!(measurements.value(metric).is_some());
        assert_eq!(resolution(&measurements, metric), None, "{metric:?}");
    }
    // The reads are further apart than the stamps are late.
    assert_eq!(resolution(&transfer(1), &metric::DELAY), Some(0.005));
}

#[test]
fn a_rate_over_a_short_time_is_resolved_to_the_share_that_is_late() {
    // The transfer takes a second, of which 10 ms are 1 %.
    let measurements = transfer(10_000);
    let found = resolution(&measurements, &metric::THROUGHPUT);
    assert!((found.unwrap() - 0.94).abs() < 1e-9, "{found:?}");
}

#[test]
fn without_stamps_of_the_program_nothing_changes() {
    let passes = passes();
    let mut measurements = Measurements::of(&passes);
    let before = measurements.evidence.clone();
    measurements.take_stamps_of_transfer(&passes);
    assert_eq!(measurements.evidence, before);
}

#[test]
fn flows_are_resolved_to_the_stamps_of_the_end_where_messages_arrive() {
    let put = |stamped: [Option<u64>; 2], echoes| {
        let (mut sent, mut came) = flow();
        (sent.stamps_late, came.stamps_late) = (stamped[0], stamped[1]);
        (sent.echoes, came.unstamped) = (echoes, 1_000);
        let disturbance = disturbance();
        let seeing = FlowsObservation {
            sent: &[sent],
            received: &[came],
            disturbance: &disturbance,
        };
        let mut measurements = Measurements::default();
        for metric in [
            metric::of_flow(&metric::DELAY, "web"),
            &metric::RTT,
            &metric::LATENCY_DITG,
            &metric::THROUGHPUT,
        ] {
            measurements.put(metric, Some(2.0));
        }
        measurements.put(&metric::LATENCY, Some(4.0));
        measurements.put(&metric::PAPER_THROUGHPUT, Some(100.0));
        measurements.take_stamps_of_flows(&seeing);
        let setting = setting("");
        let flags = flags_of_flows(&setting, &measurements, &seeing, &path(&setting));
        (measurements, flags)
    };
    let (received, flags) = put([Some(9_000), Some(50_000)], 0);
    assert_eq!(flags, [Flag::ProgramStamps]);
    let of_web = metric::of_flow(&metric::DELAY, "web");
    assert_eq!(resolution(&received, of_web), Some(0.05));
    assert_eq!(resolution(&received, &metric::PAPER_THROUGHPUT), Some(1.25));
    for metric in [&metric::RTT, &metric::LATENCY_DITG, &metric::THROUGHPUT] {
        assert_eq!(resolution(&received, metric), None, "{metric:?}");
    }
    let (echoed, flags) = put([Some(9_000), None], 5);
    assert!(flags.contains(&Flag::ProgramStamps) && flags.contains(&Flag::Unstamped));
    assert_eq!(resolution(&echoed, &metric::RTT), Some(0.009));
    assert_eq!(resolution(&echoed, of_web), None);
    let (_, flags) = put([Some(9_000), None], 0);
    assert_eq!(flags, [Flag::Unstamped]);
}
