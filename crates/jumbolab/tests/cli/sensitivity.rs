//! The search of settings that a study does not state: the same however it is
//! run, and nothing of it is lost.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::harness::{Dir, Outcome, journal};

/// A study whose claim holds over a fast link and fails over a slow one, whatever
/// the delay and the TCP; a second claim holds everywhere.
const STUDY: &str = "\
format = 1
name = \"planted\"
backend = \"sim\"
[network]
shape = \"routed\"
[traffic]
size = \"100kB\"
warmup = \"0B\"
echo = \"off\"
cpu_bytes = \"0B\"
[sweep]
\"network.mtu\" = [1500, 9000]
[trials]
repeat = 6
[[claim]]
text = \"more than 20 Mbit/s\"
source = \"here\"
metric = \"throughput\"
at_least = 20
[[claim]]
text = \"no more than the link carries\"
source = \"here\"
metric = \"throughput\"
at_most = 1000
[[unstated]]
name = \"network.rate\"
values = [\"1gbit\", \"10mbit\"]
reason = \"it is not said\"
[[unstated]]
name = \"network.delay\"
values = [\"10us\"]
range = { from = \"20us\", to = \"80us\", steps = 3, scale = \"log\" }
reason = \"one building\"
[[unstated]]
name = \"tcp.agent\"
values = [\"standard\", \"linux\", \"sack1\", \"tahoe\"]
reason = \"none is named\"
";

fn bytes(folder: &Path, name: &str) -> Vec<u8> {
    fs::read(folder.join(name)).unwrap()
}

#[test]
fn a_planted_study_is_seen_through_alike_with_one_thread_and_with_two() {
    let dir = Dir::new();
    dir.write("planted.toml", STUDY);
    let search = |threads: usize| {
        let line =
            format!("sensitivity planted.toml --max-trials 5000 --threads {threads} -o r{threads}");
        dir.run(&line).fine().stdout
    };
    let (one, two) = (search(1), search(2));
    assert_eq!(one.replace("r1", "r2"), two.replace("r1", "r2"));
    for words in [
        "All 32 plausible settings were run",
        "network.rate (1 of 2",
        "#1 fails when network.rate is 10mbit instead of 1gbit, all else as by default",
    ] {
        assert!(one.contains(words), "{words}: {one}");
    }
    let [r1, r2] = ["r1", "r2"].map(|name| dir.path().join(name));
    for name in ["trials.jsonl", "trials.parquet"] {
        assert!(bytes(&r1, name) == bytes(&r2, name), "{name}");
    }
    let lines = dir.run("report r1 --json").fine().json();
    assert_eq!(lines[0]["deciding"], serde_json::json!(["network.rate"]));
    assert_eq!(lines[0]["is_all"], true);
    let of = |number: usize| &lines[number];
    assert_eq!(of(1)["shares"]["holds"]["share"], 0.5);
    assert_eq!(of(1)["shares"]["holds"]["interval"], Value::Null);
    assert_eq!(of(1)["differing"], serde_json::json!(["network.rate"]));
    assert_eq!(of(2)["shares"]["holds"]["share"], 1.0);
    let page = fs::read_to_string(r1.join("report.html")).unwrap();
    assert!(page.contains("0 0 32 1"), "no picture");
}

#[test]
fn a_search_that_was_cut_short_or_killed_is_gone_on_with_to_the_same_end() {
    let dir = Dir::new();
    dir.write("planted.toml", STUDY);
    let search = "sensitivity planted.toml --max-trials 150";
    dir.run(&format!("{search} -o whole")).fine();
    let whole = bytes(&dir.path().join("whole"), "trials.jsonl");
    assert_eq!(journal(&dir.path().join("whole")).len(), 150);
    // By a smaller budget.
    let begin = dir
        .run("sensitivity planted.toml --max-trials 40 -o parts")
        .fine();
    assert!(begin.stderr.contains("--max-trials 40"), "{}", begin.stderr);
    let parts = dir.path().join("parts");
    assert_eq!(bytes(&parts, "trials.jsonl"), bytes_of(&whole, 40));
    dir.run(&format!("{search} -o parts"))
        .rejected(&["40 trials", "--resume"]);
    dir.run(&format!("{search} -o parts --resume")).fine();
    assert!(bytes(&parts, "trials.jsonl") == whole);
    // In the middle of a line.
    fs::write(parts.join("trials.jsonl"), &whole[..whole.len() / 2]).unwrap();
    dir.run(&format!("{search} -o parts --resume")).fine();
    assert!(bytes(&parts, "trials.jsonl") == whole);
    // By kill -9, as soon as something is kept.
    let words = format!("{search} -o killed");
    let mut child = dir
        .command()
        .args(words.split_whitespace())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let killed = dir.path().join("killed");
    while journal(&killed).len() < 5 && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(whole.starts_with(&bytes(&killed, "trials.jsonl")));
    dir.run(&format!("{words} --resume")).fine();
    assert!(bytes(&killed, "trials.jsonl") == whole);
}

/// The first lines of a journal.
fn bytes_of(journal: &[u8], lines: usize) -> Vec<u8> {
    let lines = journal.split_inclusive(|&byte| byte == b'\n').take(lines);
    lines.flatten().copied().collect()
}

#[test]
fn two_parts_of_a_search_in_one_folder_are_the_search() {
    let dir = Dir::new();
    dir.write("planted.toml", STUDY);
    dir.run("sensitivity planted.toml --max-trials 5000 -o whole")
        .fine();
    // A part waits for the others after each round.
    for _ in 0..2 {
        for part in ["1/2", "2/2"] {
            let resume = if dir.path().join("parts").exists() {
                "--resume"
            } else {
                ""
            };
            let line = format!(
                "sensitivity planted.toml --max-trials 5000 -o parts --shard {part} {resume}"
            );
            let said = dir.run(&line).fine();
            if resume.is_empty() {
                let words = "trials are in parts; `jumbolab report parts`";
                assert!(said.stdout.contains(words), "{}", said.stdout);
                let page = dir.path().join("parts/report.html");
                assert!(!page.exists(), "findings need the other parts");
            }
        }
    }
    let [whole, parts] = ["whole", "parts"].map(|name| {
        let mut ids: Vec<String> = journal_of_all(&dir.path().join(name));
        ids.sort();
        ids
    });
    assert!(whole.len() >= 320);
    assert_eq!(parts, whole);
}

/// The names of the trials in all journals of a folder.
fn journal_of_all(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|end| end == "jsonl"));
    let text: String = files
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .map(|line| line["id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn what_states_everything_or_claims_nothing_is_rejected() {
    let dir = Dir::new();
    dir.run("sensitivity hops-and-load")
        .rejected(&["hops-and-load", "[[unstated]]"]);
    let (claims, unstated) = STUDY.split_once("[[claim]]").unwrap();
    let unstated = &unstated[unstated.find("[[unstated]]").unwrap()..];
    dir.write("claimless.toml", &format!("{claims}{unstated}"));
    dir.run("sensitivity rtt-by-packet-size --on model")
        .rejected(&["--on model", "predictions have no chance"]);
    dir.run("sensitivity claimless.toml")
        .rejected(&["[[claim]]"]);
    dir.run("sensitivity claimless.toml --max-time soon")
        .rejected(&["--max-time soon", "30s"]);
    let kept: Outcome = dir.run("run claimless.toml --repeat 1 -o r");
    kept.fine();
    dir.run("report r").fine();
}
