//! Invalid options of `jumbolab emulate`; its function is tested between
//! namespaces, in the target `emulate`.

use crate::harness::Dir;

/// Runs it between two interfaces that do not exist, and expects an error.
#[track_caller]
fn refused(arguments: &str, words: &[&str]) {
    let dir = Dir::new();
    dir.run(&format!(
        "emulate --between no-such-a no-such-b {arguments}"
    ))
    .refused(words);
    assert!(dir.entries().is_empty(), "left behind: {:?}", dir.entries());
    dir.expect_no_process();
}

#[test]
fn bad_values_are_refused_by_option_and_value() {
    refused("--rate 100", &["--rate 100", "unit", "100mbit"]);
    refused("--delay 10m", &["--delay 10m", "minutes", "10ms"]);
    refused("--delay 2min", &["--delay 2min", "at most"]);
    refused("--jitter=-1ms", &["--jitter -1ms", "10ms"]);
    refused("--loss 0.1", &["--loss 0.1", "per cent", "0.1%"]);
    refused("--reorder 200%", &["--reorder 200%", "0.1%"]);
    refused("--duplicate x%", &["--duplicate x%", "0.1%"]);
    refused("--bit-error-rate 1e3", &["--bit-error-rate 1e3", "1e-9"]);
    refused("--buffer 0", &["--buffer 0", "500kB"]);
    refused(
        "--queue blue",
        &["--queue blue", "droptail, dropfront, red"],
    );
    refused("--mtu 20", &["--mtu 20", "1500"]);
    refused("--seed x", &["--seed x", "whole number"]);
    refused("--duration 0s", &["--duration 0s", "30s"]);
    refused(
        "--reverse-option loss=1",
        &["--reverse-option loss=1", "0.1%"],
    );
    refused(
        "--reverse-option mtuu=1500",
        &["--reverse-option mtuu=1500", "mtu"],
    );
}

#[test]
fn interfaces_that_make_no_link_are_refused_by_name() {
    refused("", &["--between", "unknown interface no-such-a", "ip link"]);
    let dir = Dir::new();
    dir.run("emulate --between lo lo")
        .refused(&["--between lo lo", "two different"]);
    dir.run("emulate --between lo no-such-b")
        .refused(&["lo has no Ethernet", "veth"]);
}
