//! Other probers of `run pmtu-faults` between kernels.

use std::fs;
use std::process::Command;

use serde_json::Value;

/// One trial of each prober on a path whose router says that packets are too big; valid in
/// spite of concurrent tests.
const ONCE: &str = "run pmtu-faults --on netns --repeat 1 --set trials.patience=none \
    --set network.lateness=1min --set fault=too-big --set ip=4 \
    --set prober=tracepath,scamper,tcp_mtu_probing -o r";

#[test]
fn other_probers_are_run_and_scored() {
    let dir = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_jumbolab"))
        .args(ONCE.split_whitespace())
        .current_dir(&dir)
        .output()
        .unwrap();
    let journal = fs::read_to_string(dir.path().join("r/trials.jsonl"));
    let trials: Vec<Value> = journal
        .unwrap_or_else(|error| panic!("{error}: {output:?}"))
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for prober in ["tracepath", "scamper", "tcp_mtu_probing"] {
        let of = |trial: &&Value| trial["factors"]["prober"] == prober;
        let trial = trials.iter().find(of).unwrap();
        let metrics = &trial["metrics"];
        assert_eq!(metrics["mtu_right"], 100.0, "{trial}");
        // A connection names no hop.
        let hop = match prober {
            "tracepath" | "scamper" => Value::from(100.0),
            _ => Value::Null,
        };
        assert_eq!(metrics["hop_right"], hop, "{trial}");
        assert!(metrics["probes"].as_f64() > Some(4.0), "{trial}");
    }
}
