//! Files of somebody else: results folders with links and pipes,
//! journals with numbers and characters that no run writes, inputs without end.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::harness::{self, Dir, Outcome};

const SMALL: &str = "\
format = 1
name = \"small\"
backend = \"sim\"
[network]
shape = \"pair\"
[traffic]
protocol = \"udp\"
size = \"100kB\"
[aliases]
mtu = \"network.mtu\"
[sweep]
mtu = [1500, 9000]
[trials]
repeat = 2
";

/// A finished run in the folder `r`.
fn small() -> Dir {
    let dir = Dir::new();
    dir.write("small.toml", SMALL);
    dir.run("run small.toml -o r").fine();
    dir
}

/// The journal of [`small`].
fn journal(dir: &Dir) -> PathBuf {
    dir.path().join("r/trials.jsonl")
}

/// Changes the first line of the journal.
fn change(dir: &Dir, from: &str, to: &str) {
    let text = fs::read_to_string(journal(dir)).unwrap();
    assert!(text.lines().next().unwrap().contains(from), "{text}");
    fs::write(journal(dir), text.replacen(from, to, 1)).unwrap();
}

#[test]
fn links_for_temporary_files_lead_nowhere() {
    let dir = small();
    let victim = dir.write("victim", "precious");
    let mut command = Command::new("sh");
    // The shell's process id becomes the program's.
    let script = "for name in report.html trials.parquet; do
        ln -s ../victim r/.$name.$$.tmp; done; exec \"$0\" report r";
    let program = env!("CARGO_BIN_EXE_jumbolab");
    command
        .args(["-c", script, program])
        .current_dir(dir.path());
    Outcome::of(command.output().unwrap()).fine();
    assert_eq!(fs::read_to_string(victim).unwrap(), "precious");
    let page = fs::read_to_string(dir.path().join("r/report.html")).unwrap();
    assert!(page.contains("small"));
}

#[test]
fn a_journal_that_is_a_link_is_not_gone_on_with() {
    let dir = small();
    let victim = dir.write("victim", "precious\n");
    fs::remove_file(journal(&dir)).unwrap();
    symlink("../victim", journal(&dir)).unwrap();
    dir.run("run small.toml -o r --resume")
        .rejected(&["trials.jsonl", "symbolic link"]);
    dir.run("report r")
        .rejected(&["trials.jsonl", "symbolic link"]);
    assert_eq!(fs::read_to_string(victim).unwrap(), "precious\n");
}

#[test]
fn a_journal_of_another_run_is_rejected() {
    let dir = small();
    dir.run("run small.toml -o other --set mtu=1400,2800")
        .fine();
    fs::copy(dir.path().join("other/trials.jsonl"), journal(&dir)).unwrap();
    for line in ["report r", "report r --json", "report other r"] {
        dir.run(line)
            .rejected(&["trials.jsonl", "1400", "in no cell of plan.toml"]);
    }
}

#[test]
fn a_results_folder_names_no_files_but_its_own() {
    let dir = Dir::new();
    dir.write("gaps.txt", "200us\n300us\n500us\n");
    let udp = "[traffic]\nkind = \"flows\"\nduration = \"50ms\"\n";
    let flow = "[flows.one]\ngap = \"file:gaps.txt\"\nmessage = \"200\"\n";
    let head = SMALL.replace("[traffic]\nprotocol = \"udp\"\nsize = \"100kB\"\n", udp);
    dir.write("gaps.toml", &format!("{head}{flow}"));
    dir.run("run gaps.toml -o r").fine();
    dir.run("report r").fine();
    let folder = dir.path().join("r");
    let names = fs::read_dir(&folder).unwrap();
    let mut names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let name = names.find(|name| name.starts_with("gaps-")).unwrap();
    let values = fs::read_to_string(folder.join(&name)).unwrap();
    // A link, other values, and a plan that names a file elsewhere.
    let outside = dir.write("outside", &values);
    fs::remove_file(folder.join(&name)).unwrap();
    symlink(&outside, folder.join(&name)).unwrap();
    dir.run("report r").rejected(&[&name, "symbolic link"]);
    fs::remove_file(folder.join(&name)).unwrap();
    fs::write(folder.join(&name), "7ms\n").unwrap();
    dir.run("report r").rejected(&[&name, "is not the file"]);
    let plan = fs::read_to_string(folder.join("plan.toml")).unwrap();
    for place in ["../outside", "/proc/version"] {
        let changed = plan.replace(&format!("file:{name}"), &format!("file:{place}"));
        assert_ne!(changed, plan);
        fs::write(folder.join("plan.toml"), changed).unwrap();
        dir.run("report r").rejected(&[place]);
    }
}

#[test]
fn a_capture_is_not_written_through_a_link() {
    let dir = Dir::new();
    dir.write(
        "small.toml",
        &format!("{SMALL}[links.sender-receiver]\nwatch.capture = \"on\"\n"),
    );
    dir.run("run small.toml -o r").fine();
    let captures = fs::read_dir(dir.path().join("r/watch")).unwrap();
    let mut names: Vec<PathBuf> = captures.map(|entry| entry.unwrap().path()).collect();
    names.retain(|name| name.extension().is_some_and(|kind| kind == "pcapng"));
    assert_eq!(names.len(), 4);
    let victim = dir.write("victim", "precious");
    fs::write(journal(&dir), "").unwrap();
    for name in &names {
        fs::remove_file(name).unwrap();
        symlink(&victim, name).unwrap();
    }
    dir.run("run small.toml -o r --resume").fine();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    assert!(names.iter().all(|name| !name.is_symlink()));
    // The folder itself is a link.
    fs::write(journal(&dir), "").unwrap();
    fs::remove_dir_all(dir.path().join("r/watch")).unwrap();
    fs::create_dir(dir.path().join("elsewhere")).unwrap();
    symlink("../elsewhere", dir.path().join("r/watch")).unwrap();
    let outcome = dir.run("run small.toml -o r --resume");
    let why = "watch is a symbolic link";
    assert!(outcome.stderr.contains(why), "{}", outcome.stderr);
    assert_eq!(
        fs::read_dir(dir.path().join("elsewhere")).unwrap().count(),
        0
    );
}

#[test]
fn a_damaged_last_line_is_an_error_and_stays() {
    let dir = small();
    let mut text = fs::read(journal(&dir)).unwrap();
    let last = text.len() - 2;
    text[last] ^= 1;
    fs::write(journal(&dir), &text).unwrap();
    for line in ["report r", "run small.toml -o r --resume"] {
        dir.run(line).rejected(&["trials.jsonl:4: ", "not a trial"]);
    }
    assert_eq!(fs::read(journal(&dir)).unwrap(), text);
}

#[test]
fn figures_that_no_metric_has_are_rejected() {
    let dir = small();
    let text = fs::read_to_string(journal(&dir)).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    for (metric, value) in [("throughput", -5.0), ("loss", 300.5), ("jitter", -0.1)] {
        let mut line: Value = serde_json::from_str(first).unwrap();
        line["metrics"][metric] = value.into();
        fs::write(journal(&dir), format!("{line}\n{rest}")).unwrap();
        dir.run("report r")
            .rejected(&["trials.jsonl:1", metric, &format!("{value:e}")]);
    }
}

#[test]
fn numbers_that_no_trial_has_are_rejected_by_line_and_key() {
    for (from, to, place) in [
        (
            "\"seconds\":",
            "\"seconds\":1e100,\"was\":",
            "seconds = 1e100",
        ),
        (
            "\"throughput\":",
            "\"throughput\":1e100,\"was\":",
            "throughput = 1e100",
        ),
        (
            "\"evidence\":{",
            "\"evidence\":{\"sizes\":{\"size\":\"4294967295\"},",
            "sizes.size = 4294967295",
        ),
        (
            "\"evidence\":{",
            "\"evidence\":{\"sizes\":{\"mean_us\":\"nan\"},",
            "sizes.mean_us = nan",
        ),
    ] {
        let dir = small();
        change(&dir, from, to);
        dir.run("report r").rejected(&["trials.jsonl:1: ", place]);
    }
}

#[test]
fn what_a_terminal_acts_on_is_escaped() {
    let dir = small();
    let owned = r"\u001b]0;owned\u0007\u009b\u202e";
    change(
        &dir,
        "\"metrics\"",
        &format!("\"failure\":\"{owned}\",\"flags\":[\"{owned}\"],\"metrics\""),
    );
    let plan = dir.path().join("r/plan.toml");
    let text = fs::read_to_string(&plan).unwrap();
    let version = text
        .lines()
        .find(|line| line.starts_with("version = "))
        .unwrap();
    fs::write(
        &plan,
        text.replace(version, &format!("version = \"{owned}\"")),
    )
    .unwrap();
    for line in ["report r", "report r --full", "report r --json"] {
        let outcome = dir.run(line).fine();
        // Only the whole report has text of the journal.
        let is_shown = outcome.stdout.contains(owned);
        assert!(is_shown || !line.ends_with("full"), "{}", outcome.stdout);
        let raw = |letter: char| letter != '\n' && keyfile::acts_on_terminals(letter);
        assert!(!outcome.stdout.contains(raw), "{:?}", outcome.stdout);
        assert!(!outcome.stderr.contains(raw), "{:?}", outcome.stderr);
    }
    dir.write("bidi.toml", &format!("title = \"{owned}\"\n{SMALL}"));
    dir.run("run bidi.toml").rejected(&["bidi.toml:1", "title"]);
}

#[test]
fn inputs_without_end_are_rejected_with_their_limit() {
    let dir = Dir::new();
    dir.run("run /dev/zero").rejected(&["/dev/zero", "1 MiB"]);
    dir.run("send ::1 --flow-file /dev/zero")
        .rejected(&["/dev/zero", "1 MiB"]);
    dir.run("run replay --recording /dev/zero")
        .rejected(&["/dev/zero", "line 1", "1 MiB"]);
    dir.run("decode /dev/zero")
        .rejected(&["/dev/zero", "pipe or a device"]);
    let many = "x".repeat(100_000);
    dir.write(
        "long.toml",
        &format!("{SMALL}[host]\noffloads = \"{many}\"\n"),
    );
    let outcome = dir.run("run long.toml");
    outcome.rejected(&["long.toml:", "host.offloads"]);
    assert!(outcome.stderr.len() < 10_000);
}

#[test]
fn a_log_through_a_pipe_is_rejected_in_words() {
    let dir = Dir::new();
    let mut command = dir.command();
    command.args(["decode", "/dev/stdin"]).stdin(Stdio::piped());
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let outcome = Outcome::of(child.unwrap().wait_with_output().unwrap());
    outcome.rejected(&["/dev/stdin", "pipe", "save it to a file"]);
}

#[test]
fn a_full_file_is_an_error_in_words() {
    let dir = Dir::new();
    dir.write("small.toml", SMALL);
    let mut command = Command::new("sh");
    let script = "ulimit -f 4; exec \"$0\" run small.toml -o r --repeat 1000";
    let program = env!("CARGO_BIN_EXE_jumbolab");
    command
        .args(["-c", script, program])
        .current_dir(dir.path());
    let outcome = Outcome::of(command.output().unwrap());
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("limit of a file's size"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_folder_that_is_removed_during_a_run_costs_no_trial() {
    let harms: [fn(&Dir); 3] = [
        |dir| fs::remove_dir_all(dir.path().join("r")).unwrap(),
        |dir| fs::write(journal(dir), "").unwrap(),
        |dir| {
            // Something else stands in its place.
            fs::create_dir(dir.path().join("elsewhere")).unwrap();
            fs::rename(dir.path().join("r"), dir.path().join("moved")).unwrap();
            symlink("elsewhere", dir.path().join("r")).unwrap();
        },
    ];
    for harm in harms {
        let dir = Dir::new();
        dir.write("small.toml", SMALL);
        // More trials than any machine runs meanwhile.
        let mut command = dir.command();
        command
            .args(["run", "small.toml", "-o", "r", "--repeat", "100000"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let has_trials = || fs::metadata(journal(&dir)).is_ok_and(|found| found.len() > 10_000);
        assert!(harness::holds(has_trials));
        harm(&dir);
        let outcome = Outcome::of(child.wait_with_output().unwrap());
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
        let last = outcome.stderr.lines().last().unwrap();
        let said = "error: r/trials.jsonl: it";
        assert!(
            last.starts_with(said) && last.contains("are saved in r-rescued"),
            "{last}"
        );
        assert!(
            !outcome.stderr.contains("all trials are saved"),
            "{}",
            outcome.stderr
        );
        let kept = harness::journal(&dir.path().join("r-rescued"));
        assert!(
            last.contains(&format!("the {} trials", kept.len())),
            "{last}"
        );
        assert!(kept.len() > 10, "{last}");
        if let Ok(elsewhere) = fs::read_dir(dir.path().join("elsewhere")) {
            assert_eq!(elsewhere.count(), 0, "nothing is written through the link");
        }
    }
}

#[test]
fn formulas_and_names_of_files_from_outside_do_nothing() {
    let dir = small();
    change(
        &dir,
        "\"metrics\"",
        "\"failure\":\"=HYPERLINK(1)\",\"metrics\"",
    );
    let table = dir.run("report r --csv").fine().stdout;
    assert!(table.contains(",'=HYPERLINK(1),"), "{table}");
    for name in ["../x", "a.b", "-x", "a/b"] {
        dir.run(&format!("claims --record r --variant={name}"))
            .rejected(&[&format!("--variant {name}: "), "letters, digits"]);
    }
}

#[test]
fn an_output_without_room_is_named() {
    let dir = small();
    for line in ["report r", "report r --json", "report r --csv", "list"] {
        let mut command = dir.command();
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        command.args(line.split_whitespace()).stdout(full);
        let outcome = Outcome::of(command.output().unwrap());
        outcome.rejected(&["cannot write to stdout: no space left on device"]);
    }
}
