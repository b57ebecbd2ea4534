//! The exit codes of docs/reference/commands.md, and the object of a run in JSON.

use std::fs;

use serde_json::{Value, json};

use super::probe::see;
use crate::harness::Dir;

/// A simulated study of two cells with two trials each.
const STUDY: &str = "run os-comparison --on sim --set scenario=LU-LU --set mtu=1500,9000 --set size=1MB --repeat 2 -o r";

/// A folder `r` with the study, where the lines of the journal that contain
/// `cell` begin their metrics with `keys`: the first of them only, or all.
fn changed(cell: &str, keys: &str, all: bool) -> Dir {
    let dir = Dir::new();
    dir.run(STUDY).fine();
    let journal = dir.path().join("r/trials.jsonl");
    let mut left = if all { usize::MAX } else { 1 };
    let text = fs::read_to_string(&journal).unwrap();
    let lines = text.lines().map(|line| {
        if !line.contains(cell) || left == 0 {
            return format!("{line}\n");
        }
        left -= 1;
        format!(
            "{}\n",
            line.replacen("\"metrics\"", &format!("{keys},\"metrics\""), 1)
        )
    });
    let lines: String = lines.collect();
    assert_ne!(lines, text, "no line has {cell}");
    fs::write(journal, lines).unwrap();
    dir
}

/// The exit codes of `report` without and with `--strict`, and the object of the
/// run.
#[track_caller]
fn reported(dir: &Dir) -> ([Option<i32>; 2], Value) {
    let codes = ["", "--strict"].map(|strict| dir.run(&format!("report r {strict}")).code);
    let lines = dir.run("report r --json").json();
    (codes, lines.last().unwrap().clone())
}

#[test]
fn a_sound_run_ends_with_0_and_its_object_names_its_files() {
    let dir = Dir::new();
    let lines = dir.run(&format!("{STUDY} --strict --json")).fine().json();
    let run = lines.last().unwrap();
    assert_eq!(run["run"], "os-comparison");
    assert_eq!(run["quality_check"]["state"], "passed");
    assert_eq!(run["counts"]["finished"], 4);
    for file in ["folder", "page", "table"] {
        let path = run["paths"][file].as_str().unwrap();
        assert!(dir.path().join(path).exists(), "{file}: {path}");
    }
    let text = dir.run("report r").fine().stdout;
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = run["headline"][0].as_str().unwrap();
    assert!(words(&text).contains(&words(first)), "{first} {text}");
    let (codes, _) = reported(&dir);
    assert_eq!(codes, [Some(0), Some(0)]);
}

#[test]
fn warnings_end_with_0_and_if_strict_with_1() {
    let dir = changed("1500", r#""flags":["disturbed"]"#, false);
    let (codes, run) = reported(&dir);
    assert_eq!(codes, [Some(0), Some(1)]);
    let warning =
        "approximate results: other work disturbed 1 of 4 trials; repeat on an idle machine";
    assert_eq!(run["state"], "passed_with_warnings");
    assert_eq!(run["quality_check"]["warnings"], json!([warning]));
    let text = dir.run("report r").fine().stdout;
    assert!(
        text.contains("quality check passed with warnings"),
        "{text}"
    );
    // Between two runs and between backends the least sound one decides.
    fs::create_dir(dir.path().join("sound")).unwrap();
    let other = STUDY.replace("-o r", "-o sound/r");
    dir.run(&other).fine();
    let both = |strict: &str| dir.run(&format!("report sound/r r {strict}")).code;
    assert_eq!([both(""), both("--strict")], [Some(0), Some(1)]);
    let lines = dir.run("report sound/r r --json").fine().json();
    let runs: Vec<&Value> = lines
        .iter()
        .filter(|line| line["run"].is_string())
        .collect();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0]["paths"]["folder"], "sound/r");
    assert_eq!(runs[1]["state"], "passed_with_warnings");
}

#[test]
fn a_failed_quality_check_and_a_cell_without_trials_end_with_1() {
    let faulty = changed("1500", r#""flags":["mtu-differs"]"#, false);
    let (codes, run) = reported(&faulty);
    assert_eq!(codes, [Some(1), Some(1)]);
    assert_eq!(run["quality_check"]["state"], "failed");
    let missing = changed("9000", r#""failure":"timed out""#, true);
    let (codes, run) = reported(&missing);
    assert_eq!(codes, [Some(1), Some(1)]);
    assert_eq!(run["quality_check"]["state"], "passed");
    assert_eq!(run["state"], "failed");
    assert_eq!(run["unmeasured"][0]["mtu"], 9000);
}

#[test]
fn traffic_of_which_nothing_arrives_ends_with_1() {
    let dir = Dir::new();
    let silent = dir.in_namespaces(
        "echo 1 >/proc/sys/net/ipv4/icmp_echo_ignore_all; \
         \"$0\" send 127.0.0.1 --protocol icmp --packets 3 --gap 1ms",
    );
    assert_eq!(silent.code, Some(1), "{}{}", silent.stdout, silent.stderr);
    assert!(silent.stdout.contains("3 lost"), "{}", silent.stdout);
}

/// Commands that end with each code of the table, in the namespaces of the tests of `probe`.
const ENDINGS: &str = r#"
code_of() { code=0; "$@" >out 2>err || code=$?; echo "$code"; }
probe() { ip netns exec a "$JUMBOLAB" probe 10.0.3.2 --protocol icmp --max-mtu 9000; }
code_of "$JUMBOLAB" list
code_of probe
ip -n s link set sr mtu 1500
code_of probe
code_of "$JUMBOLAB" list --nonsense
code_of "$JUMBOLAB" report nowhere
at b sh -c 'echo 1 >/proc/sys/net/ipv4/icmp_echo_ignore_all'
code_of probe
ip netns exec a "$JUMBOLAB" send 10.0.1.2 --protocol icmp --duration 50min --interval 100ms >out & sender=$!
until grep -q ms out; do kill -0 $sender; done
kill -INT $sender
code_of wait $sender
"#;

#[test]
fn each_exit_code_of_the_table_is_that_of_a_command() {
    let outcome = see(&Dir::new(), ENDINGS).fine();
    let codes: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!(codes, ["0", "0", "1", "2", "2", "3", "130"]);
    let page = include_str!("../../../../../docs/reference/commands.md");
    let (_, table) = page
        .split_once("\n| code | meaning |\n|---|---|\n")
        .unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    let listed = table.lines().filter_map(|row| row.split(' ').nth(1));
    assert_eq!(listed.collect::<Vec<_>>(), ["0", "1", "2", "3", "130"]);
}
