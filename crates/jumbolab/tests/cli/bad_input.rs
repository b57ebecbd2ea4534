//! Bad input yields one line with the place and the expected value, exit code
//! 2, and no files.

use crate::harness::{Dir, SHORT};

/// Runs os-comparison with `arguments` and expects a refusal with `words`.
#[track_caller]
fn refused(arguments: &str, words: &[&str]) {
    let dir = Dir::new();
    dir.run(&format!("run os-comparison {arguments}"))
        .refused(words);
    assert!(dir.entries().is_empty(), "left behind: {:?}", dir.entries());
    dir.expect_no_process();
}

#[test]
fn bad_values_are_refused_by_key_and_value() {
    refused("--set mtu=0", &["--set mtu=0", "network.mtu", "1280"]);
    refused("--set mtu=67 --set ip=4", &["network.mtu", "67", "68"]);
    refused("--set mtu=68", &["network.mtu", "68", "IPv6", "1280"]);
    refused("--set mtu=1279", &["network.mtu", "1279", "1280"]);
    refused("--set mtu=70000", &["network.mtu", "70000", "65535"]);
    refused("--set rate=1gb", &["network.rate", "1gb", "1gbit"]);
    refused("--set size=5Mb", &["traffic.size", "5Mb"]);
    refused("--repeat 0", &["repeat", "0"]);
    refused("--set colour=red", &["colour"]);
    refused("--set mtu=", &["mtu"]);
    refused(
        "--set congestion=nosuch",
        &["congestion", "nosuch", "cubic"],
    );
}

#[test]
fn what_this_backend_cannot_do_is_refused_by_name() {
    refused("--set network.delay=10ms", &["delay", "emulated"]);
    refused("--set network.loss=1%", &["loss", "emulated"]);
    for key in ["cross.load=30%", "record=on"] {
        let link = "links.sender-router";
        refused(&format!("--set {link}.{key}"), &[link, "emulated", "mixed"]);
    }
    refused(
        "--set network.link=emulated --set burst=50kB",
        &["burst", "bucket"],
    );
    refused("--on hosts", &["--on hosts", "--host sender=user@machine"]);
    refused(
        "--on model --set network.queue=codel",
        &["none of its 24 cells"],
    );
    refused("--on model,sim,model", &["`model` is named twice"]);
    refused("--on sim,mars", &["mars", "netns"]);
    refused("--on model,sim --shard 1/2", &["--shard", "one backend"]);
    refused(
        "--on model,sim --host sender=user@machine",
        &["--host", "add `hosts`"],
    );
    refused(
        "--on netns,hosts",
        &["--on hosts", "--host sender=user@machine"],
    );
    refused("--on mars", &["mars", "netns"]);
}

#[test]
fn a_bad_file_is_refused_with_its_line() {
    let dir = Dir::new();
    let template = dir.run("run --template").fine().stdout;
    let table = template
        .lines()
        .position(|line| line == "[network]")
        .unwrap();
    let file = template.replace("\n[network]\n", "\n[network]\nmtuu = 1500\n");
    dir.write("my.toml", &file);
    let place = format!("my.toml:{}", table + 2);
    dir.run("run my.toml")
        .refused(&[&place, "mtuu", "did you mean `network.mtu`"]);
    dir.write("broken.toml", "name = \n");
    dir.run("run broken.toml").refused(&["broken.toml:1"]);
    dir.run("run absent.toml").refused(&["absent.toml"]);
    dir.run("run os-comparisn").refused(&["os-comparison"]);
}

#[test]
fn an_unwritable_folder_is_refused_with_the_remedy() {
    // A folder cannot be created at the path of a file, not even by root.
    let dir = Dir::new();
    dir.write("taken", "");
    dir.run(&format!(
        "run os-comparison --repeat 1 -o taken/results {SHORT}"
    ))
    .refused(&["taken/results", "-o"]);
    dir.expect_no_process();
}

#[test]
fn a_report_on_nothing_is_refused() {
    Dir::new().run("report nowhere").refused(&["nowhere"]);
}

#[test]
fn a_receiver_that_could_serve_nobody_is_refused() {
    for limit in ["0s", "0ms"] {
        let dir = Dir::new();
        dir.run(&format!("recv --max-duration {limit}"))
            .refused(&["--max-duration", limit, "1h"]);
    }
}
