use serde_json::Value;

use crate::backend::sim::tests::measurements;

/// A connection and datagrams through a queue, some of which arrive twice.
const BOTH: &str = r#"
format = 1
name = "both"
[network]
shape = "dumbbell"
pairs = 2
rate = "10mbit"
delay = "5ms"
buffer = "30 packets"
[host]
congestion = "reno"
[traffic]
kind = "flows"
duration = "2s"
[flows.f]
protocol = "tcp"
count = 2
[flows.d]
from = "sender2"
to = "receiver2"
message = 160
gap = "20ms"
gap_distribution = "constant"
start = "500ms"
[links.bottleneck.series]
interval = "400ms"
[sweep]
"network.mtu" = [1500]
"#;

fn list(flow: &Value, key: &str) -> Vec<f64> {
    let words = flow[key].as_str().unwrap().split(' ');
    words.map(|word| word.parse().unwrap_or(f64::NAN)).collect()
}

fn near(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 0.02 * expected,
        "{found} {expected}"
    );
}

#[test]
fn what_flows_carry_over_time_adds_up_to_what_they_carried() {
    let measurements = measurements(BOTH, &[]);
    let flow = |name: &str| &measurements.evidence["flow_series"][name];
    let [tcp, datagrams] = ["f", "d"].map(flow);
    let carried = |flow: &Value| list(flow, "bytes").iter().sum::<f64>() * 8.0 / 2e6;
    assert_eq!(
        (&tcp["interval_s"], &tcp["last_s"]),
        (&0.4.into(), &Value::Null)
    );
    assert_eq!(list(tcp, "bytes").len(), 5);
    near(carried(tcp), measurements.metrics["throughput/f"]);
    assert!(tcp.get("delay_ms").is_none() && datagrams.get("rtt_ms").is_none());
    // The first datagram leaves in the second interval; 50 leave in a second.
    let bytes = list(datagrams, "bytes");
    assert_eq!(bytes[0], 0.0);
    assert!(bytes.iter().sum::<f64>() >= 70.0 * 160.0, "{bytes:?}");
    assert!(bytes.iter().all(|bytes| bytes % 160.0 == 0.0), "{bytes:?}");
    assert!(list(datagrams, "delay_ms")[0].is_nan());
}

#[test]
fn one_interval_has_the_means_of_the_flows_and_quantiles_are_about_them() {
    let one = ["links.bottleneck.series.interval=2s"];
    let measurements = measurements(BOTH, &one);
    for (flow, mean, most, quantiles, metric) in [
        ("f", "rtt_ms", "rtt_max_ms", "rtt_quantiles", "rtt/f"),
        (
            "d",
            "delay_ms",
            "delay_max_ms",
            "delay_quantiles",
            "delay/d",
        ),
    ] {
        let series = &measurements.evidence["flow_series"][flow];
        let mean = list(series, mean)[0];
        near(mean, measurements.metrics[metric]);
        let quantiles = list(&measurements.evidence[quantiles], flow);
        assert!(quantiles.is_sorted() && quantiles.len() == 10);
        assert!(quantiles[0] < mean && mean < quantiles[9], "{quantiles:?}");
        assert!(quantiles[9] <= list(series, most)[0] * 1.001);
        assert!(quantiles[0] > 5.0, "no less than the path takes");
    }
}

#[test]
fn copies_of_a_datagram_are_not_counted() {
    let twice = measurements(BOTH, &["network.duplicate=100%"]);
    let bytes = list(&twice.evidence["flow_series"]["d"], "bytes");
    let sent = twice.evidence["sent"][1].as_f64().unwrap();
    assert!(bytes.iter().sum::<f64>() <= sent * 160.0, "{bytes:?}");
}

#[test]
fn a_run_without_series_of_links_has_none_of_flows() {
    let text = BOTH.replace("series", "windows");
    let text = text.replace("interval = \"400ms\"", "all = \"0s..2s\"");
    let evidence = measurements(&text, &[]).evidence;
    assert!(!evidence.json().contains_key("flow_series"));
    assert!(!evidence.json().contains_key("delay_quantiles"));
}
