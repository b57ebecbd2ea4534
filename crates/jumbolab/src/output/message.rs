//! The line of an error: what happened, from the outermost cause to the innermost, and then
//! what to do.

use std::borrow::Cow;
use std::env::consts::OS;
use std::io::{self, ErrorKind};

use anyhow::Error;

/// The text before the number of a system error, as the standard library prints it.
const NUMBER: &str = " (os error ";

/// The line of an error. A cause may end in `; ` and a remedy: remedies stand last. A system
/// error for which no cause has one gets that of its kind.
pub(super) fn of(error: &Error) -> String {
    let (mut causes, mut remedies) = (Vec::new(), Vec::new());
    for cause in error.chain() {
        let text = cause.to_string();
        let is_last = cause.source().is_none();
        match text.split_once("; ") {
            Some((what, remedy)) if !is_last => {
                causes.push(what.to_owned());
                remedies.push(remedy.to_owned());
            }
            _ => causes.push(text),
        }
    }
    let mut message = causes.join(": ");
    // That of the innermost cause is in the message and comes first.
    for remedy in remedies.iter().rev() {
        message += &format!("; {remedy}");
    }
    if !message.contains("; ")
        && let Some((_, number, _)) = number_in(&message)
        && let Some(remedy) = remedy(io::Error::from_raw_os_error(number).kind(), OS)
    {
        message += &format!("; {remedy}");
    }
    in_words(&message).into_owned()
}

/// `text` with system errors in words alone: `permission denied` for `Permission denied (os
/// error 13)`. Errors of other threads, processes and hosts arrive as text.
pub(crate) fn in_words(text: &str) -> Cow<'_, str> {
    let mut rest = text;
    let mut words = String::new();
    while let Some((before, _, after)) = number_in(rest) {
        let begin = before.rfind([':', '(', '"', ';']).map_or(0, |at| at + 1);
        let (place, reason) = before.split_at(begin);
        words.push_str(place);
        words.push_str(&uncapitalised(reason));
        rest = after;
    }
    match words.is_empty() {
        true => text.into(),
        false => (words + rest).into(),
    }
}

/// The first number of a system error in a text, and the text on both sides of it.
fn number_in(text: &str) -> Option<(&str, i32, &str)> {
    let (before, rest) = text.split_once(NUMBER)?;
    let (number, after) = rest.split_once(')')?;
    Some((before, number.parse().ok()?, after))
}

/// A reason of the system as a part of a sentence: without a capital, except in `RFS specific
/// error`, and without a full stop.
fn uncapitalised(reason: &str) -> String {
    let mut letters: Vec<char> = reason.trim_end_matches('.').chars().collect();
    let first = letters.iter().position(|letter| *letter != ' ');
    if let Some(first) = first
        && let Some([capital, next]) = letters.get_mut(first..first + 2)
        && next.is_lowercase()
    {
        capital.make_ascii_lowercase();
    }
    letters.into_iter().collect()
}

/// The remedy for system errors of a kind, whatever operation failed, with commands of this
/// system alone: Windows has no `sudo`, no `ulimit` and no `route get`; only Linux has `ip`.
fn remedy(kind: ErrorKind, system: &str) -> Option<&'static str> {
    let (on_windows, on_linux) = (system == "windows", system == "linux");
    Some(match kind {
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::IsADirectory => {
            "check the path"
        }
        ErrorKind::PermissionDenied if on_windows => "check the permissions",
        ErrorKind::OutOfMemory if on_windows => "end other programs",
        ErrorKind::PermissionDenied => "check the permissions, or use `sudo`",
        ErrorKind::AlreadyExists => "write another name",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free some space, or choose another disk"
        }
        ErrorKind::ReadOnlyFilesystem => "choose another folder",
        ErrorKind::AddrInUse => "end the program that uses it, or choose another port",
        ErrorKind::ConnectionRefused => "start the program that listens there, or check the port",
        ErrorKind::TimedOut => "check whether the host is up, with `ping`",
        ErrorKind::AddrNotAvailable if on_windows => "`ipconfig` lists the addresses of this host",
        _ if on_windows => return None,
        ErrorKind::AddrNotAvailable if on_linux => "`ip address` lists the addresses of this host",
        ErrorKind::AddrNotAvailable => "`ifconfig` lists the addresses of this host",
        ErrorKind::NetworkUnreachable | ErrorKind::HostUnreachable | ErrorKind::NetworkDown => {
            match on_linux {
                true => "`ip route get ADDRESS` shows the route to a host",
                false => "`route get ADDRESS` shows the route to a host",
            }
        }
        ErrorKind::OutOfMemory => "end other programs, or raise the limit of `ulimit -v`",
        ErrorKind::WouldBlock => "end other programs, or raise the limit of `ulimit -u`",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    fn failed(kind: i32) -> Error {
        io::Error::from_raw_os_error(kind).into()
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn remedies_stand_last_and_a_system_error_has_one() {
        let line = |error: Error| of(&error);
        assert_eq!(
            line(failed(libc::ENOENT).context("x.toml")),
            "x.toml: no such file or directory; check the path"
        );
        let known = failed(libc::EACCES).context("cannot read r; make it readable");
        assert_eq!(
            line(known.context("--resume")),
            "--resume: cannot read r: permission denied; make it readable"
        );
        let inner = Error::msg("r is a link; remove it").context("cannot write r; choose another");
        assert_eq!(
            line(inner),
            "cannot write r: r is a link; remove it; choose another"
        );
        let call: os::error::Result<()> = Err(os::error::Error {
            operation: "listening at [::1]:7770".into(),
            source: io::Error::from_raw_os_error(libc::EADDRINUSE),
        });
        let call = call.context("--port 7770").unwrap_err();
        assert_eq!(
            line(call),
            "--port 7770: listening at [::1]:7770: address already in use; end the program that uses it, or choose another port"
        );
    }

    #[test]
    fn remedies_name_no_command_that_a_system_lacks() {
        use ErrorKind::{AddrNotAvailable, NetworkUnreachable, OutOfMemory, PermissionDenied};
        let named = |kind, system, words: &[&str]| {
            let text = remedy(kind, system).unwrap_or_default();
            words.iter().any(|word| text.contains(word))
        };
        for kind in [
            AddrNotAvailable,
            NetworkUnreachable,
            OutOfMemory,
            PermissionDenied,
        ] {
            let of_unix = ["`sudo`", "`ip ", "`ulimit", "`route get"];
            assert!(named(kind, "linux", &of_unix), "{kind}");
            assert!(!named(kind, "windows", &of_unix), "{kind}");
            for system in ["macos", "freebsd"] {
                assert!(!named(kind, system, &["`ip "]), "{kind}");
            }
        }
        assert!(named(AddrNotAvailable, "macos", &["`ifconfig`"]));
        assert_eq!(
            remedy(PermissionDenied, "windows"),
            Some("check the permissions")
        );
    }

    #[test]
    fn system_errors_are_in_words_and_all_else_stays() {
        for (text, words) in [
            (
                "cannot read a: No such file or directory (os error 2)",
                "cannot read a: no such file or directory",
            ),
            (
                "3 not sent (Operation not permitted (os error 1)), 2 sent",
                "3 not sent (operation not permitted), 2 sent",
            ),
            (
                r#"{"why":"Is a directory (os error 21)"}"#,
                r#"{"why":"is a directory"}"#,
            ),
            (
                "a: Broken pipe (os error 32); b: RFS specific error (os error 78)",
                "a: broken pipe; b: RFS specific error",
            ),
            ("a (os error x) b", "a (os error x) b"),
            ("Nothing: Fails", "Nothing: Fails"),
        ] {
            assert_eq!(in_words(text), words);
        }
    }
}
