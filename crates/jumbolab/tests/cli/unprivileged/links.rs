//! Emulated links: cross traffic, recordings, and echoes of whole messages.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::harness::{Dir, Outcome, SHORT};
use crate::lookup::Object;
use crate::undisturbed::{Disturbed, until_undisturbed};

const EMULATED: &str = "--set link=emulated --set offloads=off --set mtu=1500 --set cpu_bytes=0";

/// Emulated links of every kind, with rates at which the emulator mostly
/// sleeps.
const KINDS: [&str; 4] = [
    "--set shape=pair --set network.jitter=200us --set network.delay=1ms",
    "--set shape=chain --set network.devices=2 --set network.loss=0.5%",
    "--set shape=switched --set network.cut_through=on --set protocol=udp",
    "--set shape=routed --set network.queue=red --set links.router-receiver.cross.load=20%",
];

#[test]
fn links_of_every_kind_are_in_time_by_the_rule_that_trials_have() {
    for kind in KINDS {
        let settings = format!("--set rate=20mbit --set network.timing_error=auto {kind}");
        until_undisturbed(kind, 10, || {
            let dir = Dir::new();
            let line =
                format!("run os-comparison --repeat 1 -o r {SHORT} {EMULATED} {ONCE} {settings}");
            let outcome = dir.run(&line);
            let trial = dir.trials("r", 1).remove(0);
            let Some(why) = trial["failure"].as_str() else {
                outcome.ran();
                return Ok(());
            };
            assert!(why.contains("the emulator could not keep up"), "{why}");
            Err(Disturbed(why.to_owned()))
        })
        .unwrap();
    }
}

/// A disturbed trial is not run again.
const ONCE: &str = "--set trials.retry_limit=none";

/// The only trial of a run with `settings`.
#[track_caller]
fn trial(dir: &Dir, settings: &str) -> Value {
    let line = format!("run os-comparison --repeat 1 -o r {SHORT} {EMULATED} {ONCE} {settings}");
    dir.run(&line).ran();
    let trials = dir.trials("r", 1);
    assert_eq!(trials[0]["failure"], Value::Null, "{}", trials[0]);
    trials[0].clone()
}

/// A bucket that counted the framing of a super-packet once would pass 1.6 % more; one that
/// holds a frame without room for TCP's options drops nearly all segments at MTU 40 000.
/// While other work keeps the sender from the CPUs, the bucket fills.
#[test]
fn a_kernel_link_of_a_pair_carries_its_rate_and_no_more() {
    until_undisturbed("a kernel link of a pair", 10, within_its_rate).unwrap();
}

fn within_its_rate() -> Result<(), Disturbed> {
    let dir = Dir::new();
    let pair = "--set shape=pair --set link=kernel --set offloads=off --set mtu=1500,9000,40000 --set scenario=LU-LU";
    let large_bucket = "--set rate=200mbit --set burst=125kB --set warmup=1MB --set size=4MB";
    let short = "--set cpu_bytes=0 --set traffic.echo=off";
    let line = format!("run os-comparison --repeat 1 -o r {pair} {large_bucket} {short}");
    dir.run(&line).ran();
    for trial in dir.trials("r", 3) {
        let limit = trial["evidence"].figure("limit_mbit");
        let late = trial["evidence"].figure("goodput_late_percent");
        for goodput in [
            trial.metric("throughput"),
            trial["evidence"].figure("goodput_after_warmup_mbit"),
        ] {
            let words = format!("{goodput} of {limit} Mbit/s, {late} % may have been stored");
            if goodput > limit * 1.002 && late > 0.0 {
                return Err(Disturbed(words));
            }
            assert!(goodput <= limit * 1.002, "{words}");
            assert!(goodput >= limit * 0.5, "{words}");
        }
    }
    Ok(())
}

/// Slow start overflows the buffer during the warm-up, so that segments are missing where
/// counting may start. Those behind them have arrived, although they cannot be read yet.
#[test]
fn segments_that_arrived_out_of_order_before_the_window_are_not_counted() {
    let dir = Dir::new();
    let overflow = "--set shape=pair --set link=emulated --set rate=20mbit --set network.delay=20ms --set network.buffer=60kB";
    let short = "--set size=600kB --set warmup=300kB --set cpu_bytes=0 --set traffic.echo=off --set network.timing_error=1min";
    let cell = "--set scenario=LU-LU --set offloads=off --set mtu=9000 --set congestion=bbr";
    let line = format!("run os-comparison --repeat 3 -o r {overflow} {short} {cell}");
    dir.run(&line).fine();
    for trial in dir.trials("r", 3) {
        let limit = trial["evidence"].figure("limit_mbit");
        // A late emulator sends frames in a burst.
        let late = trial["evidence"].figure("goodput_late_percent") / 100.0;
        assert!(trial.metric("retransmissions") > 0.0, "{trial}");
        for goodput in [
            trial.metric("throughput"),
            trial["evidence"].figure("goodput_after_warmup_mbit"),
        ] {
            assert!(
                goodput <= limit * (1.002 + late),
                "{goodput} of {limit} Mbit/s, {late} late"
            );
        }
    }
}

/// As [`segments_that_arrived_out_of_order_before_the_window_are_not_counted`], of a flow.
/// Its rate starts 20 ms after the first arrival.
#[test]
fn segments_of_a_flow_that_arrived_out_of_order_before_its_rate_starts_are_not_counted() {
    let dir = Dir::new();
    let overflow = "--set link=emulated --set network.rate=20mbit --set network.delay=20ms --set network.buffer=60kB --set host.congestion=bbr";
    let cell = "--set load=saturated --set size=1500 --set mtu=9000 --set duration=100ms --set network.timing_error=1min";
    let line = format!("run jumbogram-throughput --repeat 3 -o r {overflow} {cell}");
    dir.run(&line).ran();
    for trial in dir.trials("r", 3) {
        let limit = trial["evidence"].figure("limit_mbit");
        // A late emulator sends frames in a burst.
        let late = trial["evidence"].figure("emulator_late_us_max") / 80e3;
        assert!(trial.metric("retransmissions") > 0.0, "{trial}");
        let throughput = trial.metric("throughput");
        assert!(
            throughput <= limit * (1.002 + late),
            "{throughput} of {limit} Mbit/s, {late} late"
        );
    }
}

/// No machine carries 100 Gbit/s through the emulator. Beside other tests that is a warning.
#[test]
fn a_rate_that_the_emulator_cannot_carry_is_found_before_the_first_trial() {
    let dir = Dir::new();
    let at_rate = |command: &str, rate: &str| {
        let short = "--set trials.retry_limit=none --set size=1MB --set traffic.echo=off";
        dir.run(&format!(
            "{command} {SHORT} {EMULATED} {short} --set rate={rate}"
        ))
    };
    for (command, folder) in [
        ("run os-comparison --repeat 1 -o r", "r"),
        (
            "sensitivity os-comparison --on netns --max-trials 1 -o s",
            "s",
        ),
    ] {
        let fast = at_rate(command, "100gbit");
        let first = fast.stderr.lines().next().unwrap_or_default();
        for words in [
            "rate = 100gbit",
            "Mbit/s with MTU 1500",
            "--set rate=",
            "--set link=kernel",
        ] {
            assert!(first.contains(words), "{command}: {words}: {}", fast.stderr);
        }
        match first.contains("while other work ran") {
            true => assert_ne!(fast.code, Some(2), "{command}: {}", fast.stderr),
            false => {
                fast.rejected(&["without other work"]);
                let entries = dir.entries();
                assert!(!entries.contains(&folder.to_owned()), "nothing is written");
            }
        }
    }
    let ordinary = at_rate("run os-comparison --repeat 1 -o t", "100mbit");
    assert!(
        !ordinary.stderr.contains("the emulator c"),
        "{}",
        ordinary.stderr
    );
    ordinary.ran();
}

#[test]
fn cross_traffic_takes_its_share_of_its_own_link() {
    let dir = Dir::new();
    let trial = trial(
        &dir,
        "--set links.router-receiver.cross.load=50% --set links.router-receiver.cross.interarrival=constant \
         --set links.router-receiver.cross.size=1000B --set size=2MB --set traffic.echo=off",
    );
    let cross = trial["evidence"]["cross"].as_array().unwrap();
    assert_eq!(cross.len(), 1, "one link, one way: {cross:?}");
    assert_eq!(cross[0]["link"], "router-receiver");
    assert_eq!(cross[0]["direction"], "forward");
    // Gaps are all alike: at most one is cut off at each end of some hundred ms.
    let offered = cross[0].figure("offered_mbit");
    assert!((99.5..100.5).contains(&offered), "{offered}");
    assert!(
        cross[0].figure("carried_mbit") <= offered * 1.01,
        "{cross:?}"
    );
    assert!(cross[0].figure("packets") > 1_000.0, "{cross:?}");
    assert_eq!(cross[0].figure("lost"), 0.0);
    // 100 of the 200 Mbit/s are gone, and goodput over emulated links may read
    // too high by what the emulator was late.
    let goodput = trial.metric("throughput");
    let late = trial["evidence"].figure("goodput_late_percent");
    assert!(goodput < 110.0 * (1.0 + late / 100.0), "{goodput}");
}

#[test]
fn a_dry_run_says_who_shares_a_link() {
    let settings = "--set link=emulated --set links.sender-router.cross.load=5% --set links.sender-router.record=on";
    let outcome = Dir::new().run(&format!("run os-comparison --dry-run {settings}"));
    let words = outcome.fine().stdout;
    assert!(
        words.contains(
            "sender-router 1gbit MTU 1500, shared with 50mbit of cross traffic, recorded"
        ),
        "{words}"
    );
}

/// The cross traffic alone keeps some four packets in the queue, however late TCP is.
#[test]
fn what_a_recorded_trial_decided_is_decided_again_by_a_replay() {
    let dir = Dir::new();
    trial(
        &dir,
        "--set links.router-receiver.record=on --set network.queue=red --set network.red.min=2 \
         --set network.red.max=6 --set network.loss=1% --set links.router-receiver.rate=100mbit \
         --set links.router-receiver.cross.load=90%",
    );
    let replay = "run replay --recording r/recordings/c00-r01-router-receiver.csv";
    let outcome = dir.run(&format!("{replay} --set queue=droptail,codel --json"));
    let rows: Vec<Value> = outcome
        .fine()
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), 6, "{rows:?}");
    for direction in [&rows[0], &rows[3]] {
        assert_eq!(direction["agreed"], direction["compared"], "{direction}");
    }
    assert!(rows[0]["compared"].as_u64().unwrap() > 300, "{}", rows[0]);
    assert!(
        rows[0]["dropped_early"].as_u64().unwrap() > 0,
        "{}",
        rows[0]
    );
    assert_eq!(rows[1]["settings"], "queue=droptail");
    assert_eq!(rows[1]["dropped_early"], 0);
    // What tells the kinds of recordings apart is not lost of a pipe.
    let script = "cat r/recordings/*.csv | \"$0\" run replay --recording /dev/stdin --json";
    let mut piped = Command::new("sh");
    piped.args(["-c", script]).arg(dir.command().get_program());
    let piped = Outcome::of(piped.current_dir(dir.path()).output().unwrap());
    let first = piped.fine().stdout;
    let first: Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
    assert_eq!(first["compared"], rows[0]["compared"]);
    let outcome = dir.run(&format!("{replay} -o replayed"));
    let words = outcome.fine().stdout;
    assert!(words.contains("reproduced: all "), "{words}");
    assert!(words.contains("Page: replayed/replay.html"), "{words}");
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    let page = read("replayed/replay.html");
    assert!(page.contains("What became of the packets"));
    let unasked = "results/replay-c00-r01-router-receiver/replay.html";
    assert!(read(unasked).len() > page.len(), "with two settings");
}

#[test]
fn a_replay_is_rejected_in_one_line_where_it_has_nothing_to_go_by() {
    let dir = Dir::new();
    dir.write(
        "wire.csv",
        "arrival_ps,left_ps,direction,size,flow,outcome\n",
    );
    for (line, words) in [
        (
            "run replay",
            "replay: it needs a recording; write for instance `jumbolab run replay --recording frames.csv`",
        ),
        (
            "run os-comparison --recording wire.csv",
            "--recording: works with `jumbolab run replay` only",
        ),
        (
            "run replay --recording nowhere.csv",
            "cannot read nowhere.csv",
        ),
        (
            "run replay --on netns --recording wire.csv",
            "--on netns: a replay is always simulated; leave it out",
        ),
        (
            "run replay --recording wire.csv",
            "wire.csv: not a recording with a description of its link",
        ),
    ] {
        let outcome = dir.run(line);
        assert_eq!(outcome.code, Some(2), "{line}");
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
        assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    }
}

#[test]
fn each_trial_leaves_a_recording_that_no_later_one_writes_over() {
    let dir = Dir::new();
    let settings = "--set links.sender-router.record=on --set links.sender-router.cross.load=5mbit";
    let first = trial(&dir, settings);
    let name = |trial: &Value| {
        trial["evidence"]["recordings"][0]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(name(&first), "recordings/c00-r01-sender-router.csv");
    let results = dir.path().join("r");
    let text = fs::read_to_string(results.join(name(&first))).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let mut rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let columns = rows.remove(0);
    assert_eq!(
        columns[..6].join(","),
        "arrival_ps,left_ps,direction,size,flow,outcome"
    );
    assert!(rows.iter().all(|row| row.len() == columns.len()));
    let full = |row: &&Vec<&str>| row[2] == "0" && row[3] == "1518";
    assert!(rows.iter().filter(full).count() > 300, "500 kB and more");
    assert!(
        rows.iter().any(|row| row[4] == u64::MAX.to_string()),
        "cross traffic"
    );

    // As if the run had been killed between the recording and the journal
    // entry.
    fs::write(results.join("trials.jsonl"), "").unwrap();
    dir.run(&format!(
        "run os-comparison --repeat 1 -o r --resume {SHORT} {EMULATED} {ONCE} {settings}"
    ))
    .ran();
    let again = dir.trials("r", 1).remove(0);
    assert_eq!(name(&again), "recordings/c00-r01-sender-router-2.csv");
    assert!(results.join(name(&again)).exists());
    let kept = fs::read_to_string(results.join(name(&first))).unwrap();
    assert_eq!(kept, text, "nothing recorded is written over");
    let recorded = fs::read_dir(results.join("recordings")).unwrap();
    assert_eq!(recorded.count(), 2, "only the link that was named");
}

#[test]
fn copies_of_datagrams_stand_for_no_others() {
    let dir = Dir::new();
    let trial = trial(
        &dir,
        "--set shape=pair --set protocol=udp --set network.duplicate=30% --set rate=100mbit --set warmup=0",
    );
    // If duplicates counted, the receiver would have exited before the last
    // third.
    assert_eq!(trial.metric("loss"), 0.0, "{trial}");
    let limit = trial["evidence"].figure("limit_mbit");
    let late = trial["evidence"].figure("goodput_late_percent");
    assert!(
        trial.metric("throughput") < 1.01 * limit * (1.0 + late / 100.0),
        "{trial}"
    );
    assert!(trial["evidence"]["counted_bytes"].as_u64() <= Some(500_000));
    let bytes = trial["evidence"]["flow_series"]["transfer"].list("bytes");
    assert_eq!(bytes.iter().sum::<f64>(), 500_000.0, "{trial}");
}

#[test]
fn whole_echoes_go_one_at_a_time_and_take_both_directions() {
    for protocol in ["tcp", "udp"] {
        let dir = Dir::new();
        let trial = trial(
            &dir,
            &format!(
                "--set shape=pair --set protocol={protocol} --set message=50000 --set traffic.echo=whole"
            ),
        );
        assert_eq!(trial["evidence"]["echoes"], 10, "{protocol}");
        for kind in ["delay_quantiles", "rtt_quantiles"] {
            let quantiles = trial["evidence"][kind].list("transfer");
            assert!(quantiles.is_sorted() && quantiles[0] > 0.0, "{protocol}");
        }
        let bulk = &trial["evidence"]["flow_series"]["transfer"];
        assert!(bulk.list("bytes").iter().sum::<f64>() >= 500_000.0);
        assert_eq!(bulk["rtt_ms"].is_string(), protocol == "tcp", "{bulk}");
        // 500 kB there and back at 200 Mbit/s are 40 ms without any framing,
        // as if nothing of one message overlapped with the next.
        assert!(
            trial.metric("echo_time") > 40.0,
            "{protocol}: {}",
            trial.metric("echo_time")
        );
        assert!(
            trial.metric("rtt") > 4.0,
            "{protocol}: {}",
            trial.metric("rtt")
        );
        assert!(
            trial.metric("echo_time") > 9.9 * trial.metric("rtt"),
            "{protocol}"
        );
    }
}
