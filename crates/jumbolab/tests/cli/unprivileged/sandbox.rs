//! Machines that forbid a feature of test networks.
#![allow(
    unsafe_code,
    reason = "the child forbids itself something before it becomes the program"
)]

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::harness::{Dir, Outcome, SHORT, journal};

fn run(dir: &Dir, prepare: impl FnMut() -> io::Result<()> + Send + Sync + 'static) -> Outcome {
    let mut command = dir.command();
    command
        .args(["run", "os-comparison", "--repeat", "2", "-o", "disk/r"])
        .args(SHORT.split_whitespace());
    Outcome::of(prepared(&mut command, prepare).output().unwrap())
}

/// Makes `command` start with `prepare`.
pub(crate) fn prepared(
    command: &mut Command,
    prepare: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) -> &mut Command {
    // SAFETY: `prepare` makes system calls in the single-threaded child.
    unsafe { command.pre_exec(prepare) }
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// Makes the child root of a user namespace, or an unprivileged user in it.
pub(crate) fn enter_user_namespace(inside: u32) -> io::Result<()> {
    // SAFETY: plain system calls.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    // SAFETY: as above.
    check(unsafe { libc::unshare(libc::CLONE_NEWUSER) })?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{inside} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{inside} {group} 1"))
}

#[test]
fn no_user_namespaces_are_rejected_with_the_sysctl() {
    let dir = Dir::new();
    let outcome = run(&dir, || {
        // In a namespace of its own the limit can be set without touching the machine's.
        enter_user_namespace(4711)?;
        fs::write("/proc/sys/user/max_user_namespaces", "0")
    });
    outcome.rejected(&["user.max_user_namespaces", "root"]);
    assert!(dir.entries().is_empty(), "left behind: {:?}", dir.entries());
    dir.expect_no_process();
}

#[test]
fn a_policy_that_forbids_unshare_is_named_with_the_remedy() {
    let dir = Dir::new();
    let outcome = run(&dir, forbid_unshare);
    outcome.rejected(&["namespaces", "forbids"]);
    assert!(dir.entries().is_empty(), "left behind: {:?}", dir.entries());
}

/// A seccomp filter like that of container engines: unshare fails with EPERM.
pub(crate) fn forbid_unshare() -> io::Result<()> {
    // struct sock_filter: code, jt, jf, k [seccomp(2)]: load the number of
    // the call, and reject it if it is unshare's.
    let number = u32::try_from(libc::SYS_unshare).map_err(io::Error::other)?;
    let mut filter = [
        libc::sock_filter {
            code: 0x20,
            jt: 0,
            jf: 0,
            k: 0,
        },
        libc::sock_filter {
            code: 0x15,
            jt: 0,
            jf: 1,
            k: number,
        },
        libc::sock_filter {
            code: 0x06,
            jt: 0,
            jf: 0,
            k: 0x0005_0000 | 1,
        },
        libc::sock_filter {
            code: 0x06,
            jt: 0,
            jf: 0,
            k: 0x7fff_0000,
        },
    ];
    let program = libc::sock_fprog {
        len: 4,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: the program outlives the call, which copies it.
    unsafe {
        check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
        check(libc::prctl(libc::PR_SET_SECCOMP, 2, &raw const program))
    }
}

#[test]
fn a_full_disk_ends_with_a_clear_error_and_keeps_what_was_measured() {
    let dir = Dir::new();
    let disk = dir.path().join("disk");
    fs::create_dir(&disk).unwrap();
    let log = dir.path().join("kept.jsonl");
    let (from, to) = (disk.join("r/trials.jsonl"), log.clone());
    let place = std::ffi::CString::new(disk.as_os_str().as_encoded_bytes()).unwrap();
    // The disk exists in the child's mount namespace only, so a shell in it
    // copies the journal out before the namespace ends.
    let mut shell = Command::new("/bin/sh");
    shell
        .current_dir(dir.path())
        .args([
            "-c",
            r#"program=$1; from=$2; to=$3; shift 3; "$program" "$@"; code=$?; cp "$from" "$to"; exit $code"#,
            "sh",
        ])
        .arg(dir.command().get_program())
        .args([&from, &to])
        .args(["run", "os-comparison", "--repeat", "9", "-o", "disk/r"])
        .args(SHORT.split_whitespace());
    prepared(&mut shell, move || {
        enter_user_namespace(0)?;
        // SAFETY: plain system calls with strings that end in zeros.
        unsafe {
            check(libc::unshare(libc::CLONE_NEWNS))?;
            let options = c"size=32k";
            check(libc::mount(
                c"disk".as_ptr(),
                place.as_ptr(),
                c"tmpfs".as_ptr(),
                0,
                options.as_ptr().cast(),
            ))
        }
    });
    let outcome = Outcome::of(shell.output().unwrap());
    assert_eq!(
        outcome.code,
        Some(2),
        "{}{}",
        outcome.stdout,
        outcome.stderr
    );
    let complaint = outcome.stderr.lines().last().unwrap();
    assert!(
        complaint.contains("full") || complaint.contains("No space"),
        "{complaint}"
    );
    assert!(complaint.contains("--resume"), "{complaint}");
    let text = fs::read_to_string(&log).unwrap();
    assert!(text.ends_with('\n'), "the journal ends with a whole line");
    fs::create_dir(dir.path().join("copy")).unwrap();
    fs::rename(&log, dir.path().join("copy/trials.jsonl")).unwrap();
    assert!(!journal(&dir.path().join("copy")).is_empty());
}
