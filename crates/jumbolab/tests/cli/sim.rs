//! The backend `sim`: identical results however it is run, and no privileges.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::harness::Dir;
use crate::lookup::{Lines, Object};

/// mtu-and-queues in reduced size.
const SHORT: &str = "run mtu-and-queues --on sim --set traffic.duration=100ms --repeat 6";

/// A transfer through a network with all kinds of randomness.
const CHANCE: &str = "\
format = 1
name = \"chance\"
[network]
shape = \"chain\"
devices = 3
rate = \"100mbit\"
buffer = \"30kB\"
delay = \"1ms\"
jitter = \"200us\"
loss = \"1%\"
reorder = \"1%\"
duplicate = \"1%\"
[traffic]
protocol = \"udp\"
size = \"200kB\"
[sweep]
\"network.mtu\" = [1500, 4000, 9000]
[trials]
repeat = 4
";

fn bytes(folder: &Path, name: &str) -> Vec<u8> {
    fs::read(folder.join(name)).unwrap()
}

#[test]
fn one_thread_and_many_leave_the_same_journal_and_the_same_archive() {
    let dir = Dir::new();
    dir.write("chance.toml", CHANCE);
    for threads in [1, 2, 5] {
        let run = format!("run chance.toml --on sim --threads {threads} -o r{threads}");
        dir.run(&run).fine();
    }
    for name in ["trials.jsonl", "trials.parquet"] {
        let one = bytes(&dir.path().join("r1"), name);
        assert!(!one.is_empty());
        for many in ["r2", "r5"] {
            assert!(
                bytes(&dir.path().join(many), name) == one,
                "{name} of {many}"
            );
        }
    }
    for trial in dir.trials("r1", 12) {
        assert_eq!(trial["failure"], Value::Null, "{trial}");
        assert_eq!(trial["start"], Value::Null, "no clock was looked at");
        assert!(trial.figure("seconds") > 0.003, "{trial}");
        assert!(trial.metric("loss") < 50.0, "{trial}");
    }
    dir.expect_no_process();
}

#[test]
fn three_shards_together_are_the_whole_run() {
    let dir = Dir::new();
    dir.run(&format!("{SHORT} -o whole")).fine();
    let parts = dir.path().join("parts");
    for (shard, done) in [
        ("2/3", "8 of 24"),
        ("1/3", "16 of 24"),
        ("3/3", "24 of 24 trials finished"),
    ] {
        assert!(!parts.join("report.html").exists(), "a part has no page");
        let said = dir.run(&format!("{SHORT} -o parts --shard {shard}")).fine();
        assert!(said.stdout.contains(done), "{}", said.stdout);
    }
    assert!(parts.join("report.html").exists());
    assert!(!parts.join("trials.jsonl").exists());
    fs::remove_file(parts.join("trials.parquet")).unwrap();
    let report = dir.run("report parts").fine().stdout;
    assert!(!report.contains("incomplete"), "{report}");
    let whole = bytes(&dir.path().join("whole"), "trials.parquet");
    assert!(bytes(&parts, "trials.parquet") == whole);
    // A whole run executes the trials that the shards lack.
    fs::remove_file(parts.join("trials.2of3.jsonl")).unwrap();
    dir.run(&format!("{SHORT} -o parts --resume")).fine();
    dir.trials("parts", 8);
    assert!(bytes(&parts, "trials.parquet") == whole);
}

#[test]
fn a_run_that_was_cut_short_is_gone_on_with_to_the_same_end() {
    let dir = Dir::new();
    dir.run(&format!("{SHORT} -o r")).fine();
    let folder = dir.path().join("r");
    let (all, archive) = (
        bytes(&folder, "trials.jsonl"),
        bytes(&folder, "trials.parquet"),
    );
    // In the middle of a line.
    fs::write(folder.join("trials.jsonl"), &all[..all.len() / 2]).unwrap();
    dir.run(&format!("{SHORT} -o r --resume")).fine();
    assert!(bytes(&folder, "trials.jsonl") == all);
    assert!(bytes(&folder, "trials.parquet") == archive);
}

#[test]
fn a_quiet_run_prints_its_answer_and_paths_and_nothing_else() {
    let dir = Dir::new();
    let outcome = dir.run(&format!("{SHORT} -o r --quiet")).fine();
    assert_eq!(outcome.stderr, "");
    let (answer, paths) = outcome.stdout.split_once("\n\n").unwrap();
    assert!(
        answer.starts_with("Simulated: 100 Mbit/s links"),
        "{answer}"
    );
    assert_eq!(paths, "Results: r\nPage: r/report.html\n");
}

#[test]
fn an_answer_says_whose_hosts_were_simulated_until_their_costs_are_set() {
    let dir = Dir::new();
    let run = "run os-comparison --on sim --set scenario=LU-LU --set offloads=off --set mtu=1500,9000 --set size=1MB --repeat 1 --quiet";
    for (set, words) in [
        (
            "",
            "Simulated with hosts as slow as those of [Praptodiyono2019], not yours: ",
        ),
        ("--set host.send_per_packet=4us", "Simulated: "),
    ] {
        let outcome = dir.run(&format!("{run} {set}")).fine();
        let text = outcome.stdout.replace("\n  ", " ");
        assert!(text.starts_with(words), "{set}: {text}");
    }
}

#[test]
fn a_report_is_short_unless_asked_otherwise_and_coloured_on_request() {
    let dir = Dir::new();
    dir.run(&format!("{SHORT} -o r")).fine();
    let lines = |options: &str| {
        let text = dir.run(&format!("report r {options}")).fine().stdout;
        text.lines().count()
    };
    let (short, verbose, full) = (lines(""), lines("-v"), lines("--full"));
    assert!(
        short <= 40 && short < verbose && 40 < full,
        "{short} {verbose} {full}"
    );
    let coloured = |variable: &str| {
        let mut command = dir.command();
        let output = command.args(["report", "r"]).env(variable, "1").output();
        output.unwrap().stdout.contains(&0x1b)
    };
    assert!(coloured("CLICOLOR_FORCE") && !coloured("NO_COLOR"));
}

#[test]
fn mtu_and_queues_says_what_a_small_packet_pays() {
    let dir = Dir::new();
    let outcome = dir
        .run(&format!("{SHORT} -o r --set load=70% --full"))
        .fine();
    for words in [
        "Simulated: 100 Mbit/s links",
        "one-way delay, talk +",
        "delay/talk",
        "Seed 1",
        "whatever the machine",
    ] {
        assert!(
            outcome.stdout.contains(words),
            "{words}: {}",
            outcome.stdout
        );
    }
    for words in ["On this machine", "CPU", "Linux"] {
        assert!(
            !outcome.stdout.contains(words),
            "{words}: {}",
            outcome.stdout
        );
    }
    let lines = dir.run("report r --json").fine().json();
    let delay = |mtu: &str| {
        lines
            .of_metric("delay/talk", &[("mtu", mtu)])
            .figure("mean")
    };
    // A packet of 208 bytes crosses three links behind at least nothing.
    let idle = (246.0 * 8.0 / 1e9 * 2.0 + 246.0 * 8.0 / 1e8) * 1e3;
    assert!(delay("1500") > idle, "{}", delay("1500"));
    assert!(
        delay("9000") > 2.0 * delay("1500"),
        "{} and {}",
        delay("9000"),
        delay("1500")
    );
}

#[test]
fn experiments_over_tcp_run_without_privileges() {
    let dir = Dir::new();
    dir.run("run os-comparison --on sim --set size=1MB --repeat 1 -o r")
        .fine();
    // Those with offloads are kept as rows, not run.
    for trial in dir.trials("r", 12) {
        assert_eq!(trial["failure"], Value::Null, "{trial}");
        for metric in ["throughput", "rtt", "jitter", "retransmissions", "segments"] {
            assert!(trial["metrics"][metric].is_number(), "{metric}: {trial}");
        }
    }
    dir.run("run jumbo-at-distance --on sim --set size=500kB --set warmup=100kB --repeat 1 -o s")
        .fine();
    // Without bbr, which is not simulated.
    dir.trials("s", 16);
}

#[test]
fn what_only_one_backend_does_is_rejected_by_name_in_the_other() {
    let dir = Dir::new();
    let rejected = |line: &str, words: &[&str]| dir.run(line).rejected(words);
    rejected(
        "run os-comparison --set tcp.window=50",
        &["tcp.window", "--on sim"],
    );
    rejected(
        "run mtu-and-queues",
        &[
            "experiments/mtu-and-queues.toml:",
            "network.shape",
            "--on sim",
        ],
    );
    rejected("run os-comparison --threads 2", &["--threads", "sim"]);
    rejected("run os-comparison --shard 1/2", &["--shard", "sim"]);
    rejected(
        "run mtu-and-queues --on sim --shard 3/2",
        &["--shard 3/2", "1/3"],
    );
    rejected(
        "run mtu-and-queues --on sim --shard 1/2 --set trials.until=ci<=5%",
        &["--shard", "trials.until"],
    );
    assert!(dir.entries().is_empty(), "{:?}", dir.entries());
}
