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
    fs::copy(
        env!("CARGO_BIN_EXE_jumbolab"),
        folder.path().join("jumbolab"),
    )
    .unwrap();
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
