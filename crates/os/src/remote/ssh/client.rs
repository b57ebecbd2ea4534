//! The calls of `ssh`.

use std::env;
use std::process::Stdio;

use files::PrivateFolder;
use units::Span;

use super::destination::Destination;
use super::failure::SshFailure;
use super::output;
use crate::error::{Error, OperationContext, Result};

/// The environment variable with another command than `ssh`, with options. A command with
/// [`PLACE`] is no `ssh`: it runs the words behind it on the machine that is named there.
pub const VARIABLE: &str = "JUMBOLAB_SSH";

/// The place of the machine in a command that is no `ssh`, as in `kubectl exec -i {} --`.
const PLACE: &str = "{}";

/// Options of every call: nothing is asked, nothing is forwarded, and a connection is
/// given up 6 s after the last sign of the other machine [ssh_config(5)].
const OPTIONS: [&str; 9] = [
    "BatchMode=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=2",
    "ServerAliveCountMax=2",
    "ClearAllForwardings=yes",
    "ForwardAgent=no",
    "ForwardX11=no",
    "PermitLocalCommand=no",
    "RemoteCommand=none",
];

/// The time in which `ssh` prints the configuration of a host.
const CONFIGURATION: Span = Span::from_secs(20);

/// How a machine is called.
#[derive(Debug)]
pub(super) struct Client {
    /// `ssh` and the user's options, or another command with a [`PLACE`].
    program: Vec<String>,
    pub(super) destination: Destination,
    /// The folder of the socket by which commands share a connection; `None` if the
    /// user's configuration has one.
    shared: Option<PrivateFolder>,
}

/// The name or address of a machine in the user's configuration.
///
/// # Errors
/// There is no `ssh`, or its configuration is faulty: one line with the remedy.
pub fn host_name(destination: &Destination) -> Result<String> {
    let client = Client::new(destination);
    let configuration = client.configuration()?;
    let name = value(&configuration, "hostname");
    Ok(name.unwrap_or_else(|| destination.as_str()).to_owned())
}

impl Client {
    fn new(destination: &Destination) -> Self {
        let program = env::var(VARIABLE).ok();
        let program = program.filter(|text| !text.trim().is_empty());
        Self {
            program: split(program.as_deref().unwrap_or("ssh")),
            destination: destination.clone(),
            shared: None,
        }
    }

    /// # Errors
    /// There is no `ssh`, or its configuration is faulty: one line with the remedy.
    pub(crate) fn open(destination: &Destination) -> Result<Self> {
        let mut client = Self::new(destination);
        if client.is_ssh() && !is_shared(&client.configuration()?) {
            let folder = PrivateFolder::create().during(|| "making a temporary folder")?;
            client.shared = Some(folder);
        }
        Ok(client)
    }

    /// Whether the command takes options of `ssh`.
    fn is_ssh(&self) -> bool {
        !self.program.iter().any(|word| word.contains(PLACE))
    }

    /// The configuration of the machine, as `ssh -G` prints it; empty without `ssh`.
    fn configuration(&self) -> Result<String> {
        if !self.is_ssh() {
            return Ok(String::new());
        }
        let mut words = self.program.clone();
        words.extend(["-G", "--", self.destination.as_str()].map(str::to_owned));
        let output = output::run(&words, Stdio::null(), CONFIGURATION)
            .map_err(|problem| self.error(problem))?;
        if output.code != Some(0) {
            let complaint = SshFailure {
                text: &output.complaint,
                code: output.code,
                privilege: None,
                ssh: &self.by_hand(),
            };
            return Err(self.error(complaint.problem()));
        }
        Ok(String::from_utf8_lossy(&output.bytes).into_owned())
    }

    /// The words of the first command, over whose connection all others go.
    pub(super) fn first_words(&self, remote: &str) -> Vec<String> {
        self.all_words(&["ControlMaster=yes", "ControlPersist=no"], remote)
    }

    /// The words of a later command.
    pub(super) fn words(&self, remote: &str) -> Vec<String> {
        self.all_words(&["ControlMaster=no"], remote)
    }

    fn all_words(&self, sharing: &[&str], remote: &str) -> Vec<String> {
        if !self.is_ssh() {
            let mut words = self.placed();
            words.extend(["sh", "-c", remote].map(str::to_owned));
            return words;
        }
        let mut words = self.program.clone();
        words.push("-T".to_owned());
        let mut option = |option: &str| words.extend(["-o".to_owned(), option.to_owned()]);
        OPTIONS.into_iter().for_each(&mut option);
        if let Some(folder) = &self.shared {
            sharing.iter().copied().for_each(&mut option);
            // Percent signs begin tokens [ssh_config(5)].
            let path = folder.path().join("socket");
            let path = path.to_string_lossy().replace('%', "%%");
            option(&format!("ControlPath=\"{path}\""));
        }
        words.extend(["--", self.destination.as_str(), remote].map(str::to_owned));
        words
    }

    /// The command that is no `ssh`, with the machine in its place.
    fn placed(&self) -> Vec<String> {
        let words = self.program.iter();
        let placed = words.map(|word| word.replace(PLACE, self.destination.as_str()));
        placed.collect()
    }

    /// The command with which a user connects by hand, for advice.
    pub(super) fn by_hand(&self) -> String {
        match self.is_ssh() {
            true => format!("{} {}", self.program.join(" "), self.destination),
            false => self.placed().join(" "),
        }
    }

    pub(super) fn error(&self, problem: impl Into<String>) -> Error {
        Error::new(format!("host {}", self.destination), problem)
    }
}

/// The words of the user's command. Quotes have no meaning in them.
fn split(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// The value of a key in a configuration.
fn value<'a>(configuration: &'a str, key: &str) -> Option<&'a str> {
    let mut pairs = configuration
        .lines()
        .filter_map(|line| line.split_once(' '));
    pairs.find_map(|(name, value)| (name == key).then_some(value))
}

/// Whether a configuration, as `ssh -G` prints it, has a shared connection.
fn is_shared(configuration: &str) -> bool {
    let is_wanted = value(configuration, "controlmaster")
        .is_some_and(|value| value != "false" && value != "no");
    is_wanted && value(configuration, "controlpath").is_some_and(|path| path != "none")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_connection_of_the_configuration_is_seen() {
        assert!(is_shared(
            "user a\ncontrolmaster auto\ncontrolpath /run/x\n"
        ));
        assert!(!is_shared("controlmaster false\ncontrolpath /run/x\n"));
        assert!(!is_shared("controlmaster auto\n"));
        assert!(!is_shared("controlmaster auto\ncontrolpath none\n"));
        assert!(!is_shared(""));
        assert_eq!(value("user a\nhostname b\n", "hostname"), Some("b"));
    }

    #[test]
    fn nothing_after_the_options_can_become_one() {
        let client = Client {
            program: split(" ssh  -F file "),
            destination: "user@a".parse().unwrap(),
            shared: Some(PrivateFolder::create().unwrap()),
        };
        let words = client.first_words("-v");
        assert_eq!(words[..3], ["ssh", "-F", "file"]);
        assert_eq!(words[words.len() - 3..], ["--", "user@a", "-v"]);
        assert!(words.contains(&"BatchMode=yes".to_owned()));
        assert_eq!(client.by_hand(), "ssh -F file user@a");
    }

    #[test]
    fn a_command_with_a_place_for_the_machine_runs_a_shell_there() {
        let client = Client {
            program: split("kubectl exec -i pod/{} --"),
            destination: "agent-7".parse().unwrap(),
            shared: None,
        };
        let words = client.first_words("echo 'a b'");
        let before = ["kubectl", "exec", "-i", "pod/agent-7", "--"];
        assert_eq!(words[..5], before);
        assert_eq!(words[5..], ["sh", "-c", "echo 'a b'"]);
        assert_eq!(client.words("echo 'a b'"), words);
        assert_eq!(client.by_hand(), before.join(" "));
        assert_eq!(client.configuration().unwrap(), "", "nothing was started");
    }
}
