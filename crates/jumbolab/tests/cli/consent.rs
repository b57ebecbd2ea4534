//! Experiments of others: what they may do, and what their programs may say.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use crate::harness::{self, Dir, Outcome};

/// The experiment of a program that prints `output` as its JSON.
fn tool(dir: &Dir, output: &str) {
    dir.write("tool.sh", &format!("printf '%s' '{output}'\n"));
    dir.write(
        "tool.toml",
        "\
format = 1
name = \"tool\"
[traffic]
kind = \"command\"
sender = \"sh ./tool.sh\"
read = { throughput = \"/a\", delay = \"/b\" }
[sweep]
\"network.mtu\" = [1500]
[trials]
repeat = 1
",
    );
}

#[test]
fn figures_of_programs_that_no_metric_has_fail_their_trial() {
    for (output, why) in [
        (r#"{"a": 1e100, "b": 1}"#, "the number is too large at /a"),
        (r#"{"a": -5, "b": 1}"#, "throughput is never negative"),
    ] {
        let dir = Dir::new();
        tool(&dir, output);
        dir.run("run tool.toml -o r");
        let trials = harness::journal(&dir.path().join("r"));
        let failure = trials[0]["failure"].as_str().unwrap();
        assert!(failure.contains(why), "{failure}");
        dir.run("report r");
    }
    let dir = Dir::new();
    tool(&dir, r#"{"a": 5, "b": -0.5}"#);
    let said = dir.run("run tool.toml -o r").stderr;
    assert!(
        said.contains("this experiment will:\n  run `sh ./tool.sh` (traffic.sender)\n"),
        "{said}"
    );
    let trials = harness::journal(&dir.path().join("r"));
    assert_eq!(trials[0]["metrics"]["delay"], -0.5);
}

#[test]
fn programs_of_a_file_that_others_can_write_are_started_only_if_allowed() {
    let dir = Dir::new();
    tool(&dir, r#"{"a": 5, "b": 1}"#);
    let file = dir.path().join("tool.toml");
    fs::set_permissions(&file, Permissions::from_mode(0o666)).unwrap();
    let mut command = dir.command();
    command
        .args(["run", "tool.toml", "-o", "r"])
        .stdin(Stdio::null());
    let outcome = Outcome::of(command.output().unwrap());
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    for words in ["run `sh ./tool.sh`", "--allow-commands"] {
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    }
    assert!(!dir.path().join("r").exists());
    dir.run("run tool.toml -o r --allow-commands");
    assert!(!harness::journal(&dir.path().join("r")).is_empty());
}

/// Two hosts, of which one asks for a program at the far end. The stand-in for ssh of
/// [`ssh`] leaves a mark for each connection.
const HOSTS: &str = "\
format = 1
name = \"far\"
backend = \"hosts\"
[network]
mtu_method = \"mss\"
rate = \"none\"
[traffic]
cpu_bytes = 0
[sweep]
\"network.mtu\" = [1500]
[hosts.receiver]
destination = \"far2\"
become = \"touch far-mark\"
[hosts.sender]
destination = \"far1\"
";

/// A run of [`HOSTS`] with permissions `mode` and more `arguments`.
fn far_run(dir: &Dir, mode: u32, arguments: &[&str]) -> Outcome {
    dir.write("far.toml", HOSTS);
    dir.write("ssh.sh", "touch connected\nexit 255\n");
    fs::set_permissions(dir.path().join("far.toml"), Permissions::from_mode(mode)).unwrap();
    let mut command = dir.command();
    command
        .args(["run", "far.toml", "-o", "r"])
        .args(arguments)
        .env("JUMBOLAB_SSH", "sh ./ssh.sh")
        .stdin(Stdio::null());
    Outcome::of(command.output().unwrap())
}

#[test]
fn hosts_of_a_file_that_others_can_write_are_reached_only_if_allowed() {
    let dir = Dir::new();
    let is_connected = || dir.path().join("connected").exists();
    let listed = [
        "connect to far1 by ssh (hosts.sender.destination)",
        "connect to far2 by ssh (hosts.receiver.destination)",
        "run `touch far-mark` on the host (hosts.receiver.become)",
        "change interfaces of the hosts (host.offloads = off)",
    ];
    for (mode, arguments) in [(0o622, &[][..]), (0o622, &["--resume"][..])] {
        let outcome = far_run(&dir, mode, arguments);
        assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
        for words in listed.iter().chain(&["--allow-commands"]) {
            assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
        }
        assert!(!is_connected());
    }
    let planned = far_run(&dir, 0o622, &["--dry-run"]);
    let objects = far_run(&dir, 0o622, &["--dry-run", "--json"]);
    for words in listed {
        assert!(planned.stdout.contains(words), "{}", planned.stdout);
        assert!(objects.stdout.contains(words), "{}", objects.stdout);
    }
    assert!(!is_connected());
    // The user's own file names what it does as well, and is not asked about.
    for (mode, arguments) in [(0o644, &[][..]), (0o666, &["--allow-commands"][..])] {
        let outcome = far_run(&dir, mode, arguments);
        assert!(outcome.stderr.contains(listed[2]), "{}", outcome.stderr);
        assert!(is_connected(), "{}", outcome.stderr);
        fs::remove_file(dir.path().join("connected")).unwrap();
    }
}

#[test]
fn hosts_of_a_mesh_that_others_can_write_are_not_reached() {
    let dir = Dir::new();
    dir.write("ssh.sh", "touch connected\nexit 255\n");
    dir.write(
        "mesh",
        "a ssh=far1 address=192.0.2.1 become=touch\nb address=192.0.2.2\n",
    );
    let probe = |mode: u32| {
        fs::set_permissions(dir.path().join("mesh"), Permissions::from_mode(mode)).unwrap();
        let mut command = dir.command();
        command
            .args(["probe", "--mesh", "mesh"])
            .env("JUMBOLAB_SSH", "sh ./ssh.sh");
        Outcome::of(command.output().unwrap())
    };
    probe(0o646).rejected(&["mesh", "another user", "copy"]);
    assert!(!dir.path().join("connected").exists());
    probe(0o640);
    assert!(dir.path().join("connected").exists());
}

#[test]
fn what_a_program_says_is_escaped() {
    let dir = Dir::new();
    tool(&dir, "");
    dir.write("tool.sh", "printf '\\033]0;owned\\007\\n' >&2; exit 3\n");
    for line in ["run tool.toml -o r", "report r"] {
        let outcome = dir.run(line);
        assert!(!outcome.stderr.contains('\u{1b}'), "{:?}", outcome.stderr);
        assert!(!outcome.stdout.contains('\u{1b}'), "{:?}", outcome.stdout);
    }
    let trials = harness::journal(&dir.path().join("r"));
    let failure = trials[0]["failure"].as_str().unwrap();
    assert!(failure.contains("\u{1b}]0;owned\u{7}"), "{failure:?}");
    let said = dir.run("run tool.toml -o s").stderr;
    assert!(
        said.contains(r"failed: sender: exit status: 3: \u001b]0;owned"),
        "{said}"
    );
}

#[test]
fn a_list_that_is_not_shown_whole_is_not_agreed_to() {
    let dir = Dir::new();
    tool(&dir, "{}");
    let path = dir.path().join("tool.toml");
    let text = fs::read_to_string(&path).unwrap();
    let hidden = format!("sh -c 'true{}'", "; true".repeat(900));
    fs::write(&path, text.replace("sh ./tool.sh", &hidden)).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o646)).unwrap();
    dir.run("run tool.toml -o r")
        .rejected(&["the list above is not whole", "--allow-commands"]);
    assert!(!dir.path().join("r").exists());
}
