//! Tests that need real root: they start the program both as root and as
//! another user.

#[path = "root/ditg.rs"]
mod ditg;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

use os::clock;
use os::frames::Pool;
use os::kernel_clock::Mapping;
use os::pacing::{Poller, Round, Stop};
use os::port::{Port, Purpose};
use tempfile::TempDir;
use units::Span;

/// The user `nobody` on every Linux.
const ORDINARY: u32 = 65_534;

/// A folder that `owner` may write to, with a readable copy of the program.
fn folder(owner: u32) -> TempDir {
    let folder = TempDir::new().unwrap();
    assert_eq!(
        fs::metadata(folder.path()).unwrap().uid(),
        0,
        "these tests need a real root"
    );
    // By another process: a test that starts a program meanwhile would hand it
    // a file that is open for writing, and nobody can execute such a file.
    let copied = Command::new("cp")
        .arg(env!("CARGO_BIN_EXE_jumbolab"))
        .arg(folder.path().join("jumbolab"))
        .status();
    assert!(copied.unwrap().success());
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    fs::create_dir(folder.path().join("own")).unwrap();
    std::os::unix::fs::chown(folder.path().join("own"), Some(owner), Some(owner)).unwrap();
    folder
}

fn run(folder: &TempDir, user: u32) -> Output {
    Command::new(folder.path().join("jumbolab"))
        .args([
            "run",
            "os-comparison",
            "--repeat",
            "1",
            "-o",
            "r",
            "--set",
            "scenario=LU-LU",
        ])
        .args([
            "--set",
            "size=500kB",
            "--set",
            "network.timing_error=1min",
            "--set",
            "warmup=300kB",
            "--set",
            "cpu_bytes=1MB",
            "--set",
            "rate=200mbit",
        ])
        .current_dir(folder.path().join("own"))
        .env_remove("HOME")
        .stdin(Stdio::null())
        .uid(user)
        .gid(user)
        .output()
        .unwrap()
}

#[track_caller]
fn check(user: u32) {
    let folder = folder(user);
    let output = run(&folder, user);
    // Whether its short trials are sound is not judged.
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let plan = folder.path().join("own/r/plan.toml");
    assert_eq!(
        fs::metadata(&plan).unwrap().uid(),
        user,
        "the results are the user's own"
    );
    let text = fs::read_to_string(plan).unwrap();
    assert!(text.contains(&format!("root = {}", user == 0)), "{text}");
}

#[test]
fn a_real_root_runs_without_a_user_namespace() {
    check(0);
}

#[test]
fn an_ordinary_user_runs_everything_and_owns_the_results() {
    check(ORDINARY);
}

#[test]
fn jumbograms_go_from_namespace_to_namespace_and_through_a_router() {
    let folder = folder(0);
    for (over, size) in [
        ("namespaces", 190_000),
        ("namespaces", 65_536),
        ("namespaces", 1_000_000),
        ("router", 190_000),
        ("router", 1_452),
    ] {
        let output = json(&jumbogram(&folder, 0, over, size, &["--packets", "3"]));
        assert_eq!(output["jumbogram"], size > 65_527, "{output}");
        for count in ["sent", "whole", "packets"] {
            assert_eq!(output[count], 3, "{count} of {output}");
        }
        let forwarded = if over == "router" { Some(3) } else { None };
        assert_eq!(output["forwarded"].as_u64(), forwarded, "{output}");
        let output = json(&jumbogram(&folder, 0, over, size, &["--duration", "100ms"]));
        assert_eq!(output["over"], over);
        // Other tests share the kernel's queues, which may have no room for a
        // packet.
        assert!(
            output["messages"].as_u64() > output["lost"].as_u64(),
            "{output}"
        );
    }
}

#[test]
fn an_ordinary_user_has_jumbograms_over_loopback_and_hears_why_not_elsewhere() {
    let folder = folder(ORDINARY);
    let output = json(&jumbogram(&folder, ORDINARY, "loopback", 190_000, &[]));
    assert_eq!(output["whole"], 1, "{output}");
    for over in ["namespaces", "router"] {
        let output = jumbogram(&folder, ORDINARY, over, 190_000, &[]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.contains("sudo"), "{said}");
    }
}

#[test]
fn a_gateway_of_an_ordinary_user_is_rejected_in_one_line() {
    let folder = folder(ORDINARY);
    for (path, operation) in [
        (&[][..], "making the TUN interface jumbo0"),
        (&["--inside-interface", "lo"], "opening lo for a gateway"),
    ] {
        let output = Command::new(folder.path().join("jumbolab"))
            .args(["gateway", "--local", "127.0.0.1", "--peer", "203.0.113.2"])
            .args(["--prefix", "10.2.0.0/16", "--duration", "1s"])
            .args(path)
            .stdin(Stdio::null())
            .uid(ORDINARY)
            .gid(ORDINARY)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.contains(operation), "{said}");
        assert!(said.contains("root") || said.contains("sudo"), "{said}");
    }
}

#[test]
fn a_frame_goes_out_of_a_port_and_comes_back_with_the_instant_at_which_it_came() {
    let purpose = Purpose {
        noun: "a test",
        verb: "testing",
    };
    let error = Port::open("no-such-thing", purpose).map(drop).unwrap_err();
    assert!(error.to_string().contains("no-such-thing"), "{error}");
    let mut port = Port::open("lo", purpose).unwrap();
    let (pool, mut mapping) = (Pool::default(), Mapping::now());
    let mut poller = Poller::new().unwrap();
    // Nobody else sends frames of the first type for local experiments
    // [IEEE802] that say this.
    let mut bytes = vec![0; 12];
    bytes.extend([0x88, 0xb5]);
    bytes.extend(format!("{}", std::process::id()).bytes());
    bytes.resize(3_000, 7);
    let sent = clock::monotonic();
    port.send(&[pool.frame(&bytes)]).unwrap();
    let mut came = None;
    while came.is_none() {
        let now = clock::monotonic();
        mapping.renew();
        let more = port.receive(&mapping, now, &pool, |at, frame| {
            if frame.ethernet() == bytes {
                came = Some(at);
            }
        });
        let round = Round {
            now,
            more,
            next: None,
            longest: None,
        };
        let stop = Stop {
            control: None,
            deadline: Some(sent + Span::from_secs(60)),
        };
        let late = poller.wait([&port], stop, round).unwrap();
        assert!(!late, "no frame came back");
    }
    let came = came.unwrap();
    // The wall clock, of which stamps are, is compared to within some microseconds.
    let slack = Span::from_millis(1);
    assert!(sent < came + slack && came < clock::monotonic() + slack);
    assert_eq!(port.rejected().unsent, 0);
}

fn jumbogram(folder: &TempDir, user: u32, over: &str, size: u32, more: &[&str]) -> Output {
    Command::new(folder.path().join("jumbolab"))
        .args([
            "send",
            "--jumbogram",
            "--message",
            &size.to_string(),
            "--topology",
            over,
        ])
        .arg("--json")
        .args(more)
        .current_dir(folder.path().join("own"))
        .stdin(Stdio::null())
        .uid(user)
        .gid(user)
        .output()
        .unwrap()
}

#[track_caller]
fn json(output: &Output) -> serde_json::Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_secret_of_another_user_is_rejected_and_the_owner_of_one_is_not_dumped() {
    let folder = folder(ORDINARY);
    let key = folder.path().join("key");
    fs::write(&key, "correct horse battery\n").unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::chown(&key, Some(ORDINARY), Some(ORDINARY)).unwrap();
    let program = |line: &str, user: u32| {
        let mut command = Command::new(folder.path().join("jumbolab"));
        command.args(line.split(' ')).uid(user).gid(user);
        command.current_dir(folder.path()).stdin(Stdio::null());
        command
    };
    let gateway = "gateway --peer 192.0.2.2 --local 192.0.2.1 --check --private-key-file key --public-key 3p7bfXt9wbTTW2HC7OQ1Nz+DQ8hbeGdNrfx+FG+IK08=";
    for line in [
        "recv --port 0 --secret-file key",
        "send ::1 --secret-file key",
        gateway,
    ] {
        let output = program(line, 0).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let right = "it belongs to another user; type: chown root key; chmod 600 key";
        assert!(said.contains(right), "{line}: {said}");
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
    }
    // The files of a process below /proc are root's if it is not dumped [prctl(2)].
    for (options, owner) in [("--secret-file key", 0), ("--open", ORDINARY)] {
        let mut receiver = program(&format!("recv --port 0 {options}"), ORDINARY);
        let mut receiver = receiver.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(receiver.stderr.take().unwrap()).lines();
        said.next().unwrap().unwrap();
        let found = fs::metadata(format!("/proc/{}/mem", receiver.id())).unwrap();
        receiver.kill().unwrap();
        receiver.wait().unwrap();
        assert_eq!(found.uid(), owner, "{options}");
    }
}
