//! The first command on another machine: it describes the machine, and stays for the
//! length of the connection.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};

use units::Span;

use super::client::Client;
use super::destination::Become;
use super::failure::SshFailure;
use super::output::{MOST_COMPLAINT, absent, left_until};
use super::quoted;
use crate::error::{Error, Result};
use crate::tool::stream::{ListenOutcome, Stream, hear};
use crate::{clock, interrupt};

/// The command, in words that every shell takes in single quotes. It ends with its
/// input.
const SCRIPT: &str = "echo jumbolab-kind: $(uname -s) $(uname -m); \
                      echo jumbolab-user: $(id -u); \
                      echo jumbolab-cache: ${XDG_CACHE_HOME:-$HOME/.cache}/jumbolab; \
                      echo jumbolab-ready:; exec cat >/dev/null";

/// The time for the connection and the first answer.
const ANSWER: Span = Span::from_secs(30);

/// The time in which the connection is closed in order.
const GRACE: Span = Span::from_secs(1);

/// The interval between checks whether it has ended.
const PAUSE: Span = Span::from_millis(2);

/// The most bytes before the answer: greetings of the login shell.
const MOST_GREETING: usize = 1 << 20;

/// The description of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Host {
    /// The system and the processor, as `uname -sm` prints them.
    pub(super) kind: String,
    /// The number of the user.
    pub(super) user: u32,
    /// The folder for cached files.
    pub(super) cache: String,
}

/// The connection, which its first command keeps open.
#[derive(Debug)]
pub(super) struct Connection {
    child: Child,
    /// Closed first, which ends the command and with it the connection.
    input: Option<ChildStdin>,
    complaint: Stream,
}

impl Connection {
    /// Connects, and asks the machine what it is.
    ///
    /// # Errors
    /// It cannot be reached: one line with the remedy.
    pub(crate) fn open(client: &Client, privilege: Option<&Become>) -> Result<(Self, Host)> {
        let deadline = clock::monotonic() + ANSWER;
        let remote = quoted(privilege, &["sh", "-c", SCRIPT]);
        let remote = remote.ok_or_else(|| client.error("a word has a zero byte"))?;
        let words = client.first_words(&remote);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // A group of its own: Ctrl-C does not reach it. It outlives the thread that
        // starts it, and ends with its input.
        command.stderr(Stdio::piped()).process_group(0);
        let mut child = command
            .spawn()
            .map_err(|error| client.error(absent(&words[0], &error)))?;
        let mut output = Stream::of(child.stdout.take(), MOST_GREETING);
        let mut connection = Self {
            input: child.stdin.take(),
            complaint: Stream::of(child.stderr.take(), MOST_COMPLAINT),
            child,
        };
        loop {
            let left = left_until(deadline);
            let heard = hear([&mut output, &mut connection.complaint], left)?;
            if let Some(host) = parse(&String::from_utf8_lossy(output.kept())) {
                return Ok((connection, host));
            }
            if heard == ListenOutcome::AllClosed {
                return Err(connection.rejected(client, privilege));
            }
            if interrupt::asked() {
                return Err(client.error("stopped"));
            }
            if left == Span::ZERO || output.whole().is_none() {
                return Err(client.error(format!(
                    "connected, but the login shell did not run a command within {} s; \
                     see what its startup files do",
                    ANSWER.as_secs_f64()
                )));
            }
        }
    }

    fn rejected(&mut self, client: &Client, privilege: Option<&Become>) -> Error {
        let code = self.child.wait().ok().and_then(|status| status.code());
        let text = String::from_utf8_lossy(self.complaint.kept()).into_owned();
        let complaint = SshFailure {
            text: &text,
            code,
            privilege,
            ssh: &client.by_hand(),
        };
        client.error(complaint.problem())
    }

    /// The complaint of `ssh`, if the connection has ended.
    pub(super) fn ended(&mut self) -> Option<String> {
        let ended = !matches!(self.child.try_wait(), Ok(None));
        let mut none = Stream::of(None::<std::os::fd::OwnedFd>, 0);
        while let Ok(ListenOutcome::Something) = hear([&mut self.complaint, &mut none], Span::ZERO)
        {
        }
        ended.then(|| String::from_utf8_lossy(self.complaint.kept()).into_owned())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        drop(self.input.take());
        let deadline = clock::monotonic() + GRACE;
        while left_until(deadline) > Span::ZERO && matches!(self.child.try_wait(), Ok(None)) {
            clock::sleep(PAUSE);
        }
        // Failures do not matter: it may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The answer of the first command, once it is complete. Other lines are greetings of the
/// login shell.
fn parse(text: &str) -> Option<Host> {
    let value = |key: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(':'));
        lines.find_map(|(name, value)| (name == key).then_some(value.trim()))
    };
    value("jumbolab-ready")?;
    Some(Host {
        kind: value("jumbolab-kind")?.to_owned(),
        user: value("jumbolab-user")?.parse().ok()?,
        cache: value("jumbolab-cache")?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_describes_this_machine_and_greetings_are_skipped() {
        let script = format!("echo welcome: to all; {SCRIPT}");
        let mut command = Command::new("sh");
        let command = command.args(["-c", &script]).stdin(Stdio::null());
        let output = command.env("XDG_CACHE_HOME", "/a b/c").output().unwrap();
        let host = parse(&String::from_utf8(output.stdout).unwrap()).unwrap();
        let user = crate::effective_user();
        assert_eq!((host.user, host.cache.as_str()), (user, "/a b/c/jumbolab"));
        assert!(host.kind.starts_with("Linux "), "{host:?}");
    }

    #[test]
    fn an_incomplete_answer_is_none() {
        assert_eq!(
            parse("jumbolab-kind: Linux x86_64\njumbolab-user: 0\n"),
            None
        );
        assert_eq!(parse("jumbolab-ready:\n"), None);
        let whole = "jumbolab-kind: a b\njumbolab-user: x\njumbolab-cache: /\njumbolab-ready:\n";
        assert_eq!(parse(whole), None);
    }
}
