//! Flows between namespaces: datagrams and streams side by side.

use crate::harness::Dir;
use crate::lookup::Object;

const FLOWS: &str = "\
format = 1
name = \"flows\"
[network]
rate = \"100mbit\"
[traffic]
kind = \"flows\"
duration = \"300ms\"
log = \"on\"
[flows.voice]
message = 160
gap = \"2ms\"
gap_distribution = \"constant\"
count = 2
[flows.bulk]
protocol = \"tcp\"
message = 6000
gap = \"2ms\"
gap_distribution = \"constant\"
[sweep]
\"network.mtu\" = [1500, 9000]
[trials]
repeat = 1
";

#[test]
fn flows_of_both_kinds_arrive_and_every_packet_is_logged() {
    let dir = Dir::new();
    dir.write("flows.toml", FLOWS);
    dir.run("run flows.toml -o r").ran();
    dir.expect_no_process();
    let trials = dir.trials("r", 2);
    for trial in &trials {
        assert!(trial["failure"].is_null(), "{trial}");
        let count = |name: &str| trial["evidence"].count(name);
        // One message every 2 ms of each of three flows.
        assert_eq!(count("messages_offered"), 3 * 149, "{trial}");
        assert!(count("messages_sent") <= count("messages_offered"));
        assert_eq!(
            count("messages_received"),
            count("messages_sent"),
            "{trial}"
        );
        assert_eq!(trial.metric("loss/voice"), 0.0);
        assert_eq!(count("unstamped_reads"), 0);
        // The program's times of a message include those on the link.
        assert!(trial.metric("latency") > 0.0);
        assert!(
            trial.metric("latency_ditg/bulk") >= trial.metric("latency/bulk"),
            "{trial}"
        );
        let restated = 6000.0 * 8.0 / trial.metric("latency/bulk") / 1e3;
        assert!((trial.metric("paper_throughput/bulk") / restated - 1.0).abs() < 1e-9);

        let evidence = &trial["evidence"];
        let over_time = |flow: &str, key: &str| evidence["flow_series"][flow].list(key);
        for flow in ["voice", "bulk"] {
            let bytes: f64 = over_time(flow, "bytes").iter().sum();
            assert!(bytes > 0.0 && trial.metric(&format!("throughput/{flow}")) > 0.0);
            let longest = over_time(flow, "delay_max_ms");
            let longest = longest.into_iter().fold(0.0, f64::max);
            let quantiles = evidence["delay_quantiles"].list(flow);
            assert!(quantiles.is_sorted() && quantiles.len() == 10, "{trial}");
            assert!(quantiles[9] <= longest * 1.001, "{trial}");
        }
        assert!(!over_time("bulk", "rtt_ms").is_empty(), "TCP's own");
        let bulk: f64 = over_time("bulk", "bytes").iter().sum();
        assert_eq!(bulk % 6000.0, 0.0, "whole messages");
        assert!(evidence["flow_series"]["voice"]["rtt_ms"].is_null());

        let log = trial["evidence"]["packet_log"].as_str().unwrap();
        let bytes = std::fs::metadata(dir.path().join("r").join(log))
            .unwrap()
            .len();
        assert!(bytes > count("messages_received"), "{bytes} bytes");
    }
    dir.run("report r").ran();
}
