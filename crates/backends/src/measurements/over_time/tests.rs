use proptest::prelude::*;
use serde_json::json;
use units::{Bytes, Time};

use super::*;

fn flow(name: &str) -> FlowOverTime {
    FlowOverTime {
        name: name.to_owned(),
        arrivals: None,
        round_trips: None,
        delay_quantiles: None,
        rtt_quantiles: None,
    }
}

fn series(interval: u64, observed: &[(u64, u64, u64)]) -> TimeSeries {
    let mut series = TimeSeries::new(Span::from_millis(interval), 100);
    for &(at, bytes, micros) in observed {
        let at = Time::from_nanos(at * 1_000_000);
        series.carried(at, Bytes::new(bytes));
        series.took(at, Span::from_micros(micros));
    }
    series
}

#[test]
fn flows_of_a_trial_have_the_same_intervals() {
    let mut measurements = Measurements::default();
    let flows = [
        FlowOverTime {
            arrivals: Some(series(10, &[(0, 100, 1_500), (25, 1_000, 2_250)])),
            ..flow("video")
        },
        FlowOverTime {
            round_trips: Some(series(20, &[(50, 0, 123_456)])),
            ..flow("web")
        },
        flow("silent"),
    ];
    measurements.note_over_time(&flows, Some(Span::from_millis(65)));
    let expected = json!({
        "video": {
            "interval_s": 0.02, "last_s": 0.005, "bytes": "100 1000 0 0",
            "delay_ms": "1.5 2.25 - -", "delay_max_ms": "1.5 2.25 - -",
        },
        "web": {
            "interval_s": 0.02, "last_s": 0.005, "rtt_ms": "- - 123.46 -",
            "rtt_max_ms": "- - 123.46 -",
        },
    });
    assert_eq!(measurements.evidence["flow_series"], expected);
    assert!(!measurements.evidence.json().contains_key("delay_quantiles"));
}

#[test]
fn quantiles_are_in_milliseconds() {
    let mut measurements = Measurements::default();
    let flows = [FlowOverTime {
        delay_quantiles: Some(std::array::from_fn(|place| (2.0 + place as f64) / 1e3)),
        ..flow("video")
    }];
    measurements.note_over_time(&flows, None);
    let kept = &measurements.evidence["delay_quantiles"]["video"];
    assert_eq!(kept, "2 3 4 5 6 7 8 9 10 11");
    assert!(!measurements.evidence.json().contains_key("rtt_quantiles"));
    assert!(!measurements.evidence.json().contains_key("flow_series"));
}

proptest! {
    #[test]
    fn a_number_has_five_digits_and_reads_back(value in 1e-8..1e9_f64) {
        let text = short(value);
        let read: f64 = text.parse().unwrap();
        prop_assert!((read - value).abs() <= 0.5001e-4 * value.max(1e-8 / 1e-4), "{text} of {value}");
        prop_assert!(text.len() <= 15, "{text}");
    }
}
