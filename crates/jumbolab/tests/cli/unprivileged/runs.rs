//! Runs that complete.

use std::io::Read;
use std::process::Stdio;

use serde_json::Value;

use crate::harness::{Dir, SHORT};
use crate::lookup::{Lines, Object};

#[test]
fn os_comparison_prints_its_tables_and_leaves_nothing_behind() {
    let dir = Dir::new();
    // The study's own size; with another size its published values would be
    // omitted.
    let run = "run os-comparison --repeat 2 --set cpu_bytes=1MB --set network.timing_error=1min --full -o r";
    let outcome = dir.run(run).ran();
    for table in ["Table 2", "Table 3", "Table 4", "Table 5"] {
        assert!(
            outcome.stdout.contains(table),
            "{table} is not in:\n{}",
            outcome.stdout
        );
    }
    assert!(outcome.stdout.contains("needs a Windows host"));
    assert!(outcome.stdout.contains("framing not counted by the bucket"));
    dir.expect_no_process();
    dir.trials("r", 12);
    assert!(dir.path().join("r/trials.parquet").exists());
    let csv = dir.run("report r --csv").ran().stdout;
    assert_eq!(csv.lines().count(), 13, "{csv}");

    let lines = dir.run("report r --json").ran().json();
    let factors = [("mtu", "9000"), ("scenario", "LU-LU"), ("offloads", "off")];
    let line = lines.of_metric("throughput", &factors);
    assert_eq!(
        (line["unit"].as_str(), line["n"].as_u64()),
        (Some("Mbit/s"), Some(2))
    );
    assert_eq!(line["published"], 938.88);
    assert_eq!(line["published_change_percent"], 25.03);
    assert!(line.figure("mean") > 0.0);
    for metric in ["rtt", "jitter", "cpu_total", "cpu_sender", "cpu_receiver"] {
        let measured = |line: &Value| line["metric"] == metric && line["n"] == 2;
        assert!(lines.iter().any(measured), "no {metric}");
    }
}

#[test]
fn jumbo_at_distance_shows_the_closed_form_beside_what_was_measured() {
    let dir = Dir::new();
    let short = "--set warmup=100kB --set size=200kB --set delay=2ms --set loss=1% --set network.timing_error=1min";
    let run = format!("run jumbo-at-distance --repeat 1 --full -o r {short}");
    let outcome = dir.run(&run).ran();
    assert!(outcome.stdout.contains("model"), "{}", outcome.stdout);
    dir.expect_no_process();
    for trial in dir.trials("r", 6) {
        assert_eq!(trial["failure"], Value::Null, "{trial}");
        assert_eq!(trial["metrics"]["rtt"], Value::Null, "{trial}");
        assert_eq!(
            trial["evidence"]["congestion"],
            trial["factors"]["congestion"]
        );
    }
    let lines = dir.run("report r --json").ran().json();
    let model = |congestion: &str, mtu: &str| {
        let factors = [("congestion", congestion), ("mtu", mtu)];
        lines.of_metric("throughput", &factors)["model"].as_f64()
    };
    assert_eq!(model("bbr", "1500"), None);
    for congestion in ["reno", "cubic"] {
        let (small, large) = (
            model(congestion, "1500").unwrap(),
            model(congestion, "9000").unwrap(),
        );
        assert!((30.0..40.0).contains(&small), "{small}");
        assert!(large > 2.5 * small, "{large}");
    }
    assert_eq!(lines.of_metric("delay", &[]).get("model"), None);
}

#[test]
fn every_shape_protocol_and_option_carries_traffic() {
    for (settings, count) in [
        ("shape=pair ip=4 mtu=576 congestion=reno", 2),
        ("shape=switched mtu=9000 offloads=off", 1),
        ("shape=routed ip=4 mtu=65535 protocol=udp rate=100mbit", 2),
        ("protocol=udp mtu=1500 message=9000 offloads=off", 1),
        (
            "mtu=1280 rate=none size=5MB offloads=on message=1200 nagle=true",
            1,
        ),
        (
            "links.router-receiver.mtu=1500 mtu=9000 offloads=off send_buffer=100kB receive_buffer=200kB",
            1,
        ),
        (
            "link=kernel network.timing_error=auto shape=chain network.devices=3 mtu=3000 offloads=off",
            1,
        ),
        (
            "link=emulated shape=chain network.devices=4 ip=4 mtu=9000 rate=100mbit network.delay=1ms",
            2,
        ),
        (
            "link=emulated shape=switched network.devices=2 rate=200mbit network.jitter=100us",
            6,
        ),
        (
            "link=emulated shape=pair rate=50mbit network.loss=0.5% network.queue=dropfront buffer=50kB offloads=off",
            3,
        ),
        (
            "link=emulated protocol=udp message=3000 rate=100mbit network.duplicate=1% network.reorder=1% offloads=off",
            3,
        ),
        (
            "shape=pair ip=4 mtu=68 message=56 size=2kB warmup=0 offloads=off cpu_bytes=0",
            1,
        ),
    ] {
        let dir = Dir::new();
        let mut line = format!("run os-comparison --repeat 1 -o r {SHORT}");
        for setting in settings.split_whitespace() {
            line += &format!(" --set {setting}");
        }
        dir.run(&line).ran();
        for trial in dir.trials("r", count) {
            assert_eq!(trial["failure"], Value::Null, "{settings}: {trial}");
            assert!(trial.metric("throughput") > 0.0, "{settings}: {trial}");
        }
    }
}

#[test]
fn offloads_are_what_was_asked_on_the_frames_themselves() {
    let dir = Dir::new();
    let settings = "--set mtu=1500 --set rate=none --set size=5MB --set message=60000";
    dir.run(&format!(
        "run os-comparison --repeat 1 -o r {SHORT} {settings}"
    ))
    .ran();
    for trial in dir.trials("r", 2) {
        let largest = trial["evidence"].count("largest_packet_received");
        match trial["factors"]["offloads"].as_str().unwrap() {
            "off" => assert_eq!(largest, 1500, "{trial}"),
            _ => assert!(largest > 1500, "{trial}"),
        }
    }
}

#[test]
fn a_bucket_that_is_too_deep_is_kept_flagged_and_fails_the_quality_check() {
    let dir = Dir::new();
    let run = |folder: &str, fault: &str| {
        dir.run(&format!(
            "run os-comparison --repeat 1 -o {folder} {SHORT} {fault}"
        ))
        .ran()
    };
    let flagged = |folder: &str| {
        let trials = dir.trials(folder, 6);
        let flag = Value::from("bucket-not-drained");
        let carries = |trial: &&Value| {
            trial["flags"]
                .as_array()
                .is_some_and(|flags| flags.contains(&flag))
        };
        assert!(
            trials
                .iter()
                .all(|trial| trial["metrics"]["throughput"].is_number())
        );
        (trials.iter().filter(carries).count(), trials.len())
    };
    let outcome = run("faulty", "--set burst=1MB");
    for words in ["quality check FAILED", "bucket-not-drained"] {
        assert!(outcome.stdout.contains(words), "{}", outcome.stdout);
    }
    assert_eq!(flagged("faulty"), (6, 6));
    run("sound", "");
    assert_eq!(flagged("sound"), (0, 6));
}

#[test]
fn a_dry_run_says_what_would_be_run_and_writes_nothing() {
    let dir = Dir::new();
    let outcome = dir.run("run os-comparison --dry-run").fine();
    assert!(outcome.stdout.contains("120 trials"), "{}", outcome.stdout);
    let links = [
        "\n  sender-router: 1 Gbit/s",
        "\n  router-receiver: 1 Gbit/s",
    ];
    for link in links {
        assert!(outcome.stdout.contains(link), "{}", outcome.stdout);
    }
    assert!(dir.entries().is_empty());
}

#[test]
fn the_template_runs() {
    let dir = Dir::new();
    let template = dir.run("run --template").fine().stdout;
    dir.write("mine.toml", &template);
    // It has no scenarios.
    let settings = SHORT.replace("--set scenario=LU-LU ", "");
    let settings = format!("{settings} --set network.timing_error=auto");
    dir.run(&format!("run mine.toml --repeat 1 {settings}"))
        .ran();
}

#[test]
fn the_list_names_each_experiment_on_a_line() {
    let outcome = Dir::new().run("list").fine();
    assert!(
        outcome
            .stdout
            .lines()
            .any(|line| line.starts_with("os-comparison "))
    );
    let lines = Dir::new().run("list --json").fine().json();
    assert!(lines.iter().any(|line| line["name"] == "os-comparison"));
}

#[test]
fn a_closed_pipe_is_no_error() {
    let dir = Dir::new();
    let mut command = dir.command();
    let command = command
        .arg("list")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""));
}

#[test]
fn a_complete_folder_is_never_overwritten() {
    let dir = Dir::new();
    let run = format!("run os-comparison --repeat 1 --set mtu=1500 --set offloads=off {SHORT}");
    dir.run(&format!("{run} -o r")).ran();
    dir.run(&format!("{run} -o r")).rejected(&["r", "complete"]);
    dir.run(&run).ran();
    dir.run(&run).ran();
    let results: Vec<_> = std::fs::read_dir(dir.path().join("results"))
        .unwrap()
        .collect();
    assert_eq!(results.len(), 2);
}

#[test]
fn jumbo_frames_measures_each_case_and_answers_in_one_table() {
    let dir = Dir::new();
    // Shorter transfers; words of the choice override --set.
    let shown = dir.run("show jumbo-frames --template").fine().stdout;
    let short = [
        ("\"1GB\"", "\"2MB\""),
        ("\"400MB\"", "\"2MB\""),
        ("\"200MB\"", "\"2MB\""),
        ("\"150MB\"", "\"2MB\""),
        ("\"100MB\"", "\"1MB\""),
        ("\"20MB\"", "\"1MB\""),
        (
            "\"emulated\"",
            "\"emulated\"\n\"network.timing_error\" = \"1min\"",
        ),
        ("\"network.timing_error\" = \"1s\"\n", ""),
        ("\"700ms\"", "\"100ms\""),
        ("\"300ms\"", "\"100ms\""),
    ];
    let text = short.iter().fold(shown, |text, (long, short)| {
        assert!(text.contains(long), "{long}");
        text.replace(long, short)
    });
    dir.write("short.toml", &text);
    let run = "run ./short.toml --repeat 1 --set trials.retry_limit=none --set rate=100mbit -o r";
    let outcome = dir.run(run).ran();
    dir.expect_no_process();
    for trial in dir.trials("r", 14) {
        assert_eq!(trial["failure"], Value::Null, "{trial}");
    }
    let lines = dir.run("report r --json").ran().json();
    let run = lines.iter().find(|line| line["rows"].is_array()).unwrap();
    let rows = run["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 9, "{}", outcome.stdout);
    for row in rows {
        let mean = row.figure("mean");
        // So short a transfer can cost less than a tick of CPU accounting.
        let is_plausible = mean > 0.0 || (row["metric"] == "cpu_total" && mean == 0.0);
        assert!(is_plausible, "{row}");
    }
}
