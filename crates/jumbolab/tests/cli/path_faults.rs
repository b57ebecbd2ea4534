//! Investigations of paths with faults between kernels.

use serde_json::Value;

use crate::harness::Dir;

/// Each trial once, and valid in spite of concurrent tests.
const ONCE: &str = "run pmtu-faults --on netns --repeat 1 --set trials.retry_limit=none --set network.timing_error=1min";

/// Runs the faults `sets` and checks that each trial is right.
fn check_right(sets: &str, trials: usize) -> Vec<Value> {
    let dir = Dir::new();
    dir.run(&format!("{ONCE} {sets} -o r")).ran();
    let trials = dir.trials("r", trials);
    for trial in &trials {
        for metric in ["verdict_right", "mtu_right", "hop_right"] {
            assert_eq!(trial["metrics"][metric], 100.0, "{metric}: {trial}");
        }
    }
    dir.expect_no_process();
    trials
}

#[test]
fn faults_between_kernels_are_found_without_help_from_the_far_end() {
    check_right("--set fault=too-small-mtu,silent,mss --set ip=4,6", 6);
}

#[test]
fn a_reflector_tells_directions_apart() {
    let trials = check_right(
        "--set fault=asymmetric,udp-hole --set ip=6 --set reflector=on",
        2,
    );
    for trial in trials {
        let reflected = &trial["evidence"]["reflector"]["counts"]["reflected"];
        assert!(reflected.as_u64() > Some(10), "{trial}");
    }
}

#[test]
fn a_wire_that_carries_less_than_its_interfaces_is_a_silent_fault_at_its_link() {
    let wire = "--set fault=clean --set ip=4 --set links.router1-router2.link_mtu=4000";
    let expected = &check_right(wire, 1)[0]["evidence"]["expected"];
    assert_eq!(expected["forward"], 4_000, "{expected}");
    assert_eq!(expected["link"], 1, "{expected}");
}
