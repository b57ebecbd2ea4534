//! Other machines, reached by the system's `ssh` with the user's configuration, keys and
//! jump hosts [ssh(1)].
//!
//! The first command on the other machine describes it and stays: its connection carries
//! those of all later commands, and ends with this process, whatever ends it. Nothing is
//! asked of the user: an `ssh` that would need a password fails, with a line that names
//! the remedy.

mod client;
mod destination;
mod failure;
mod hello;
mod output;
mod program;

use std::process::Stdio;

use units::Span;

use crate::error::{Error, Result};
use crate::worker;
use client::Client;
use failure::SshFailure;
use hello::{Connection, Host};

pub use client::{VARIABLE, host_name};
pub use destination::{Become, Destination};
pub use output::Output;

/// A machine that was reached. Its connection is closed when this value is dropped.
#[derive(Debug)]
pub struct Ssh {
    /// Ends before the folder of its socket, which the client has, is removed.
    connection: Connection,
    client: Client,
    privilege: Option<Become>,
    host: Host,
}

impl Ssh {
    /// Connects to a machine, and becomes another user there if `privilege` says so.
    ///
    /// # Errors
    /// One line with the remedy: the host key is wrong or unknown, no key is accepted,
    /// the machine cannot be reached or its name is not known, or `privilege` fails.
    pub fn connect(destination: &Destination, privilege: Option<&Become>) -> Result<Self> {
        let client = Client::open(destination)?;
        let (connection, host) = Connection::open(&client, privilege)?;
        Ok(Self {
            connection,
            client,
            privilege: privilege.cloned(),
            host,
        })
    }

    /// The machine, as it was named.
    pub fn destination(&self) -> &Destination {
        &self.client.destination
    }

    /// The number of the user that commands have there: 0 for root.
    pub fn user(&self) -> u32 {
        self.host.user
    }

    /// The path of this program there. It is copied to a folder for cached files unless
    /// it is there.
    ///
    /// # Errors
    /// That machine is of another kind and has no `jumbolab` of this version, or the
    /// copy fails or cannot be started: one line with the remedy.
    pub fn program(&self) -> Result<String> {
        program::provide(self)
    }

    /// A command that starts a worker there that reads its input by
    /// [`lease::requests`](crate::lease::requests): a program and its arguments, which no
    /// shell changes. It gets heartbeats. Its input ends with this process, and it has
    /// `grace` to end then.
    ///
    /// # Errors
    /// A word contains a zero byte.
    pub fn command(&self, words: &[&str], grace: Span) -> Result<worker::Command<'static>> {
        let remote = self.remote(words)?;
        let words = self.client.words(&remote);
        let (program, arguments) = words.split_first().expect("`ssh` is a word");
        let name = format!("{} on {}", words_of(&remote), self.destination());
        Ok(worker::Command::new(program, arguments, grace)
            .called(name)
            .leased())
    }

    /// Runs a program there to its end, for at most `time`, and keeps its output.
    ///
    /// # Errors
    /// `ssh` fails, the time is over, the output is too long, or the user stops this
    /// program. An exit code of the program is no error.
    pub fn output(&self, words: &[&str], input: Stdio, time: Span) -> Result<Output> {
        let words = self.client.words(&self.remote(words)?);
        let output = output::run(&words, input, time).map_err(|error| self.error(error))?;
        match output.code {
            // The exit code of `ssh` for errors of its own [ssh(1)].
            Some(255) => Err(self.rejected(&output)),
            _ => Ok(output),
        }
    }

    /// The reason for which the connection has ended, if it has.
    pub fn lost(&mut self) -> Option<Error> {
        let complaint = self.connection.ended()?;
        let problem = match complaint.trim().is_empty() {
            true => "the connection was closed; see whether the machine is up".to_owned(),
            false => self.explain(&complaint, Some(255)),
        };
        Some(self.error(problem))
    }

    fn explain(&self, text: &str, code: Option<i32>) -> String {
        let complaint = SshFailure {
            text,
            code,
            privilege: self.privilege.as_ref(),
            ssh: &self.client.by_hand(),
        };
        complaint.problem()
    }

    /// The error for a command that failed.
    fn rejected(&self, output: &Output) -> Error {
        self.error(self.explain(&output.complaint, output.code))
    }

    fn error(&self, problem: impl Into<String>) -> Error {
        Error::new(format!("host {}", self.destination()), problem)
    }

    /// The text that the shell of the other machine reads as `words`.
    fn remote(&self, words: &[&str]) -> Result<String> {
        quoted(self.privilege.as_ref(), words).ok_or_else(|| self.error("a word has a zero byte"))
    }
}

/// A program and its arguments, after those of `privilege`, as a shell reads them;
/// `None` if one of them contains a zero byte.
fn quoted(privilege: Option<&Become>, words: &[&str]) -> Option<String> {
    let before = privilege.map(Become::words).unwrap_or_default();
    let before = before.iter().map(String::as_str);
    shlex::try_join(before.chain(words.iter().copied())).ok()
}

/// A command for messages: without its folder, and no more than its first words.
fn words_of(remote: &str) -> String {
    const MOST: usize = 3;
    let words: Vec<&str> = remote.split(' ').take(MOST).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    /// The words as a shell reads them.
    fn read_by_shell(text: &str) -> Vec<String> {
        let script = format!(r#"printf '%s\0' {text}"#);
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        let bytes = output.stdout.strip_suffix(b"\0").unwrap();
        let words = bytes.split(|byte| *byte == 0);
        words
            .map(|word| String::from_utf8(word.to_vec()).unwrap())
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_shell_reads_the_words_that_were_written(
            words in prop::collection::vec("[^\0]{0,12}|[ '\"$`\\\\!*?;&|<>(){}#~\n\t=-]{0,8}", 1..5)
        ) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let text = quoted(None, &words).unwrap();
            prop_assert_eq!(read_by_shell(&text), words);
        }
    }

    #[test]
    fn another_user_comes_before_the_program() {
        let sudo: Become = "sudo".parse().unwrap();
        let text = quoted(Some(&sudo), &["true", "a b"]).unwrap();
        assert_eq!(text, "sudo -n -H -- true 'a b'");
        assert_eq!(quoted(None, &["a\0b"]), None);
    }
}
