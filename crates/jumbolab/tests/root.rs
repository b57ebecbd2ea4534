//! What only a real root can test: it starts the program both as itself and
//! as somebody else.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// `nobody` on every Linux.
const ORDINARY: u32 = 65_534;

/// A folder that `owner` may write to, with a copy of the program that he may read.
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
            "network.lateness=1min",
            "--set",
            "preroll=300kB",
            "--set",
            "cpu_size=1MB",
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
    assert!(
        output.status.success(),
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
        let told = json(&jumbogram(&folder, 0, over, size, &["--packets", "3"]));
        assert_eq!(told["jumbogram"], size > 65_527, "{told}");
        for count in ["sent", "whole", "packets"] {
            assert_eq!(told[count], 3, "{count} of {told}");
        }
        let forwarded = if over == "router" { Some(3) } else { None };
        assert_eq!(told["forwarded"].as_u64(), forwarded, "{told}");
        let told = json(&jumbogram(&folder, 0, over, size, &["--for", "100ms"]));
        assert_eq!(told["over"], over);
        // Other tests share the kernel's queues, and may leave a packet no room.
        assert!(told["messages"].as_u64() > told["lost"].as_u64(), "{told}");
    }
}

#[test]
fn an_ordinary_user_has_jumbograms_over_loopback_and_hears_why_not_elsewhere() {
    let folder = folder(ORDINARY);
    let told = json(&jumbogram(&folder, ORDINARY, "loopback", 190_000, &[]));
    assert_eq!(told["whole"], 1, "{told}");
    for over in ["namespaces", "router"] {
        let output = jumbogram(&folder, ORDINARY, over, 190_000, &[]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.contains("sudo"), "{said}");
    }
}

fn jumbogram(folder: &TempDir, user: u32, over: &str, size: u32, more: &[&str]) -> Output {
    Command::new(folder.path().join("jumbolab"))
        .args(["send", "--jumbogram", &size.to_string(), "--over", over])
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
