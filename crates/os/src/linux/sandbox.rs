//! The sandbox of a run: private namespaces, whose processes all end with this process.

use std::path::Path;
use std::{fs, io};

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};

use crate::error::{Error, Result};
use crate::worker::{Command, INIT_PROCESS, Worker};

/// Capabilities that a test network needs [capabilities(7)]: CAP_NET_ADMIN (12),
/// CAP_NET_RAW (13) and CAP_SYS_ADMIN (21).
const NEEDED: u64 = 1 << 12 | 1 << 13 | 1 << 21;

/// The calling process in private namespaces: network, mounts, processes and, if it
/// lacks privilege, users.
///
/// Network namespaces made inside have no names, so the kernel removes them with their
/// last process. All workers live in one process namespace. Its first process, the init
/// process, dies with this process (parent-death signal), and the kernel then kills the
/// others.
pub struct Sandbox {
    _init_process: Worker,
}

impl Sandbox {
    /// Enters the sandbox, permanently.
    ///
    /// The process must be single-threaded and stays so: afterwards the kernel rejects
    /// new threads, because children belong to another process namespace than their
    /// parent.
    ///
    /// # Errors
    /// If this machine forbids user namespaces: one line with the remedy.
    pub fn enter() -> Result<Self> {
        if !privileged() {
            enter_user_namespace().map_err(rejected)?;
        }
        let flags = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWNET;
        unshare(flags).map_err(|error| rejected(error.into()))?;
        // Later mounts, e.g. for a user's program, stay inside.
        let flags = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
        mount(None::<&str>, "/", None::<&str>, flags, None::<&str>)
            .map_err(|error| rejected(error.into()))?;
        Ok(Self {
            _init_process: Worker::spawn(Command::local(None, INIT_PROCESS))?,
        })
    }
}

/// Allows the process to create network namespaces, without further changes: it may
/// have threads afterwards, and sees the same processes as before. Its namespaces are
/// removed when it ends.
///
/// # Errors
/// As [`Sandbox::enter`].
pub fn allow_networks() -> Result<()> {
    match privileged() {
        true => Ok(()),
        false => enter_user_namespace().map_err(rejected),
    }
}

/// Whether the process has the capabilities already. The real root has powers that no
/// user namespace grants, so it does not enter one.
pub fn privileged() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok())
        .is_some_and(|capabilities| capabilities & NEEDED == NEEDED)
}

/// Becomes root of a new user namespace that contains only the caller.
fn enter_user_namespace() -> io::Result<()> {
    let (user, group) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}

/// The reason for which the sandbox could not be entered, with a remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The cause.
    pub reason: &'static str,
    /// The command to type.
    pub command: &'static str,
    /// Alternatives.
    pub advice: &'static str,
}

impl Rejection {
    /// The meaning of an error of [`Sandbox::enter`] on this machine.
    pub fn of(error: &Error) -> Self {
        reason(&error.source, &Facts::of_this_machine())
    }
}

fn rejected(source: io::Error) -> Error {
    let Rejection {
        reason,
        command,
        advice,
    } = reason(&source, &Facts::of_this_machine());
    let operation =
        format!("making namespaces for the test network: {reason}; type `{command}`, {advice}");
    Error { operation, source }
}

/// This machine's settings of user namespaces.
#[derive(Clone, Copy, Debug, Default)]
struct Facts {
    /// `user.max_user_namespaces` is 0.
    none_allowed: bool,
    /// `kernel.apparmor_restrict_unprivileged_userns` is 1.
    apparmor: bool,
    /// `kernel.unprivileged_userns_clone` is 0.
    clone_off: bool,
    /// Whether the machine has the marks of a container engine.
    container: bool,
}

impl Facts {
    fn of_this_machine() -> Self {
        let is = |file: &str, value: &str| {
            fs::read_to_string(file).is_ok_and(|text| text.trim() == value)
        };
        Self {
            none_allowed: is("/proc/sys/user/max_user_namespaces", "0"),
            apparmor: is(
                "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
                "1",
            ),
            clone_off: is("/proc/sys/kernel/unprivileged_userns_clone", "0"),
            container: ["/.dockerenv", "/run/.containerenv"]
                .iter()
                .any(|mark| Path::new(mark).exists()),
        }
    }
}

/// The cause and the remedy.
fn reason(error: &io::Error, facts: &Facts) -> Rejection {
    let (reason, command, advice) = match error.raw_os_error() {
        Some(libc::ENOSPC) if facts.none_allowed => (
            "user.max_user_namespaces is 0",
            "sudo sysctl user.max_user_namespaces=10000",
            "or run as root",
        ),
        Some(libc::ENOSPC) => (
            "too many namespaces exist",
            "sudo sysctl user.max_user_namespaces=10000 user.max_net_namespaces=10000",
            "or end what made them",
        ),
        _ if facts.container => (
            "the container forbids it",
            "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined \
             --security-opt systempaths=unconfined",
            "with the rest of what starts it; or with --privileged",
        ),
        _ if facts.clone_off => (
            "kernel.unprivileged_userns_clone is 0",
            "sudo sysctl kernel.unprivileged_userns_clone=1",
            "or run as root",
        ),
        _ if facts.apparmor => (
            "AppArmor forbids it to unprivileged programs",
            "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0",
            "or run as root",
        ),
        Some(libc::EINVAL) => (
            "this kernel lacks a kind of namespace; it needs CONFIG_USER_NS, NET_NS, PID_NS",
            "grep -E 'CONFIG_(USER|NET|PID)_NS=' /boot/config-$(uname -r)",
            "and choose a kernel that has them",
        ),
        _ => (
            "a security policy forbids it (seccomp, SELinux or AppArmor)",
            "sudo jumbolab doctor",
            "to see whether root may; or run it outside of the policy",
        ),
    };
    Rejection {
        reason,
        command,
        advice,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rejection_names_who_forbids_and_the_remedy() {
        let none = Facts::default();
        for (errno, facts, word) in [
            (
                libc::ENOSPC,
                Facts {
                    none_allowed: true,
                    ..none
                },
                "sysctl user.max_user_namespaces",
            ),
            (libc::ENOSPC, none, "too many namespaces"),
            (
                libc::EPERM,
                Facts {
                    apparmor: true,
                    ..none
                },
                "AppArmor",
            ),
            (
                libc::EACCES,
                Facts {
                    apparmor: true,
                    ..none
                },
                "AppArmor",
            ),
            (
                libc::EPERM,
                Facts {
                    container: true,
                    apparmor: true,
                    ..none
                },
                "--security-opt",
            ),
            (
                libc::EPERM,
                Facts {
                    clone_off: true,
                    ..none
                },
                "unprivileged_userns_clone",
            ),
            (libc::EINVAL, none, "CONFIG_USER_NS"),
            (libc::EPERM, none, "security policy"),
        ] {
            let text = rejected_text(errno, &facts);
            assert!(text.contains(word), "{errno} {facts:?}: {text}");
        }
    }
    fn rejected_text(errno: i32, facts: &Facts) -> String {
        let Rejection {
            reason, command, ..
        } = reason(&io::Error::from_raw_os_error(errno), facts);
        format!("{reason}; {command}")
    }
}
