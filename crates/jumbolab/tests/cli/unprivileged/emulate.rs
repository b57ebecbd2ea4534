//! Invalid options of `jumbolab emulate`; its function is tested between
//! namespaces, in the target `emulate`.

use crate::harness::Dir;

/// Runs it between two interfaces that do not exist, and expects an error.
#[track_caller]
fn rejected(arguments: &str, words: &[&str]) {
    let dir = Dir::new();
    dir.run(&format!(
        "emulate --between no-such-a no-such-b {arguments}"
    ))
    .rejected(words);
    assert!(dir.entries().is_empty(), "left behind: {:?}", dir.entries());
    dir.expect_no_process();
}

#[test]
fn bad_values_are_rejected_by_option_and_value() {
    rejected("--rate 100", &["--rate 100", "unit", "100mbit"]);
    rejected("--delay 10m", &["--delay 10m", "minutes", "10ms"]);
    rejected("--delay 2min", &["--delay 2min", "at most"]);
    rejected("--jitter=-1ms", &["--jitter -1ms", "10ms"]);
    rejected("--loss 0.1", &["--loss 0.1", "per cent", "0.1%"]);
    rejected("--reorder 200%", &["--reorder 200%", "0.1%"]);
    rejected("--duplicate x%", &["--duplicate x%", "0.1%"]);
    rejected("--bit-error-rate 1e3", &["--bit-error-rate 1e3", "1e-9"]);
    rejected("--buffer 0", &["--buffer 0", "500kB"]);
    rejected(
        "--queue blue",
        &["--queue blue", "droptail, dropfront, red"],
    );
    rejected("--mtu 20", &["--mtu 20", "1500"]);
    rejected("--seed x", &["--seed x", "whole number"]);
    rejected("--duration 0s", &["--duration 0s", "30s"]);
    rejected(
        "--reverse-option loss=1",
        &["--reverse-option loss=1", "0.1%"],
    );
    rejected(
        "--reverse-option mtuu=1500",
        &["--reverse-option mtuu=1500", "mtu"],
    );
}

#[test]
fn interfaces_that_make_no_link_are_rejected_by_name() {
    rejected("", &["--between", "unknown interface no-such-a", "ip link"]);
    let dir = Dir::new();
    dir.run("emulate --between lo lo")
        .rejected(&["--between lo lo", "two different"]);
    dir.run("emulate --between lo no-such-b")
        .rejected(&["lo has no Ethernet", "veth"]);
}
