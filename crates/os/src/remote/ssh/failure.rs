//! The meaning of messages of `ssh` and of programs that change the user.

use super::destination::Become;

/// The messages of a call that failed.
#[derive(Clone, Copy, Debug)]
pub(super) struct SshFailure<'a> {
    /// Its standard error.
    pub(super) text: &'a str,
    /// Its exit code.
    pub(super) code: Option<i32>,
    /// The command that was to change the user.
    pub(super) privilege: Option<&'a Become>,
    /// The command with which the user connects by hand.
    pub(super) ssh: &'a str,
}

/// Messages of `ssh` in the order in which they are looked for [OpenSSH], the problem,
/// and the remedy, in which `{ssh}` is the command to connect by hand.
const MEANINGS: [(&[&str], &str, &str); 15] = [
    (
        &[
            "REMOTE HOST IDENTIFICATION HAS CHANGED",
            "POSSIBLE DNS SPOOFING",
        ],
        "its host key is not the known one",
        "another machine may have its address; if it was set up anew, remove the old key (ssh-keygen -R NAME) \
         and type `{ssh}` once",
    ),
    (
        &["Host key verification failed"],
        "its host key is unknown",
        "type `{ssh}` once and compare the key",
    ),
    (
        &["Could not resolve hostname"],
        "its name is not known",
        "check the name, or name it in ~/.ssh/config",
    ),
    (
        &["Connection refused"],
        "it rejects the connection",
        "start its ssh server (systemctl start ssh), or name the port in ~/.ssh/config",
    ),
    (
        &[
            "Connection timed out",
            "Operation timed out",
            "No route to host",
            "Network is unreachable",
            "Host is down",
            "Cannot assign requested address",
        ],
        "it cannot be reached",
        "see whether it is up, and whether there is a route to it (ping)",
    ),
    (
        &["Too many authentication failures"],
        "it rejects further keys",
        "name the right one in ~/.ssh/config, with IdentitiesOnly yes",
    ),
    (
        &["UNPROTECTED PRIVATE KEY FILE"],
        "others may read the private key",
        "type `chmod 600` and its name",
    ),
    (
        &["Permission denied ("],
        "it accepts no key of yours, and no password is asked for",
        "let it know your key (ssh-copy-id), and unlock a key with a passphrase (ssh-add); \
         `{ssh}` must ask nothing",
    ),
    (
        &["Unable to negotiate with"],
        "it has no algorithm in common with this ssh",
        "update the older of the two, or allow the algorithm in ~/.ssh/config",
    ),
    (
        &[
            "Bad configuration option",
            "Bad owner or permissions",
            "Can't open user config file",
        ],
        "the configuration of ssh has an error",
        "correct the file",
    ),
    (
        &["not responding"],
        "the connection was lost",
        "see whether it is up, and whether there is a route to it (ping)",
    ),
    (
        &[
            "Connection closed by",
            "Connection reset by",
            "Broken pipe",
            "closed by remote host",
        ],
        "it closed the connection",
        "see its log (journalctl -u ssh): too many connections, a filter, or a restart",
    ),
    (
        &["This account is", "nologin"],
        "the account has no shell",
        "choose another user",
    ),
    (
        &[
            "administratively prohibited",
            "Session open rejected by peer",
            "session request failed",
        ],
        "it rejects further sessions in a connection",
        "raise MaxSessions of its ssh server (sshd_config)",
    ),
    (
        &["No space left on device"],
        "its disk is full",
        "make room there",
    ),
];

/// Messages of `sudo` and the like, in which `{become}` is the program.
const PRIVILEGE: [(&[&str], &str, &str); 4] = [
    (
        &[
            "a password is required",
            "authentication is required",
            "a terminal is required",
            "Authorization required",
        ],
        "`{become}` wants a password there",
        "allow it without one (/etc/sudoers.d: USER ALL=(ALL) NOPASSWD: ALL), or connect as root",
    ),
    (
        &["you must have a tty"],
        "`{become}` wants a terminal there",
        "remove `requiretty` from /etc/sudoers there, or connect as root",
    ),
    (
        &[
            "is not in the sudoers file",
            "may not run",
            "is not allowed to",
            "Operation not permitted",
        ],
        "`{become}` is not allowed to your user there",
        "allow it (/etc/sudoers.d: USER ALL=(ALL) NOPASSWD: ALL), or connect as root",
    ),
    (
        &["not found", "No such file", "Unknown command"],
        "there is no program `{become}` there",
        "install it there, or connect as root and leave `become` out",
    ),
];

impl SshFailure<'_> {
    /// The problem and its remedy, in one line.
    pub(super) fn problem(&self) -> String {
        let of = |meanings: &[(&[&str], &str, &str)]| {
            let mut meanings = meanings.iter();
            let found =
                meanings.find(|(marks, ..)| marks.iter().any(|mark| self.text.contains(mark)));
            found.map(|(marks, problem, remedy)| self.worded(marks, problem, remedy))
        };
        // Messages of the other machine's programs do not come with the code of `ssh`.
        let privilege = (self.code != Some(255)).then_some(self.privilege).flatten();
        let known = privilege.and_then(|_| of(&PRIVILEGE));
        known
            .or_else(|| of(&MEANINGS))
            .unwrap_or_else(|| self.unknown())
    }

    fn worded(&self, marks: &[&str], problem: &str, remedy: &str) -> String {
        let program = self.privilege.map_or("", Become::program);
        let words = format!("{problem}; {remedy}");
        let words = words
            .replace("{ssh}", self.ssh)
            .replace("{become}", program);
        // The place of a fault in a file is in the message.
        match problem.contains("configuration") {
            true => {
                let line = self
                    .lines()
                    .find(|line| marks.iter().any(|mark| line.contains(mark)));
                format!("{words}: {}", printable(line.unwrap_or_default()))
            }
            false => words,
        }
    }

    /// A message that is not known: its last line.
    fn unknown(&self) -> String {
        let last = self.lines().next_back().map(printable);
        match (last, self.code) {
            (Some(line), _) => format!("{line}; run `{} true` to see why", self.ssh),
            (None, Some(code)) => format!(
                "{} ended with code {code} and without a message; run `{} true` to see why",
                self.program(),
                self.ssh
            ),
            (None, None) => format!("a signal ended {}", self.program()),
        }
    }

    /// The program that connects.
    fn program(&self) -> &str {
        self.ssh.split(' ').next().unwrap_or_default()
    }

    fn lines(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
    }
}

/// A line of another machine, without control characters and at most 200 characters.
pub(super) fn printable(line: &str) -> String {
    line.trim()
        .chars()
        .filter(|c| !c.is_control())
        .take(200)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str, code: i32, privilege: Option<&str>) -> String {
        let privilege = privilege.map(|text| text.parse().unwrap());
        let complaint = SshFailure {
            text,
            code: Some(code),
            privilege: privilege.as_ref(),
            ssh: "ssh b",
        };
        complaint.problem()
    }

    #[test]
    fn each_message_of_ssh_has_its_meaning_and_remedy() {
        for (text, words, remedy) in [
            (
                "@@@@@@@@\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n@@@@\n\
                 Offending ED25519 key in /h/.ssh/known_hosts:3\nHost key verification failed.\r\n",
                "its host key is not the known one",
                "ssh-keygen -R",
            ),
            (
                "No ED25519 host key is known for b and you have requested strict checking.\r\n\
                 Host key verification failed.\r\n",
                "its host key is unknown",
                "type `ssh b` once",
            ),
            (
                "Host key verification failed.\r\n",
                "its host key is unknown",
                "`ssh b`",
            ),
            (
                "ssh: Could not resolve hostname b: Name or service not known\r\n",
                "its name is not known",
                "~/.ssh/config",
            ),
            (
                "ssh: connect to host b port 22: Connection refused\r\n",
                "it rejects the connection",
                "systemctl",
            ),
            (
                "ssh: connect to host b port 22: Connection timed out\r\n",
                "it cannot be reached",
                "ping",
            ),
            (
                "ssh: connect to host b port 22: No route to host\r\n",
                "it cannot be reached",
                "ping",
            ),
            (
                "root@b: Permission denied (publickey,password,keyboard-interactive).\r\n",
                "it accepts no key of yours, and no password is asked for",
                "ssh-copy-id",
            ),
            (
                "/h/.ssh/config: line 2: Bad configuration option: colour\r\n/h/.ssh/config: terminating, 1 bad \
                 configuration options\r\n",
                "the configuration of ssh has an error",
                "correct the file: /h/.ssh/config: line 2: Bad configuration option: colour",
            ),
            (
                "Connection closed by 10.0.0.2 port 22\r\n",
                "it closed the connection",
                "journalctl",
            ),
            (
                "Timeout, server b not responding.\r\n",
                "the connection was lost",
                "ping",
            ),
            (
                "This account is currently not available.\n",
                "the account has no shell",
                "another user",
            ),
            (
                "something else\r\nthat is new\r\n\r\n",
                "that is new",
                "`ssh b true`",
            ),
            (
                "",
                "ssh ended with code 255 and without a message",
                "`ssh b true`",
            ),
        ] {
            let line = problem(text, 255, Some("sudo"));
            assert!(line.starts_with(words), "{text}: {line}");
            assert!(line.contains(remedy), "{text}: {line}");
            assert!(!line.contains(['\n', '\r']), "{line}");
        }
    }

    #[test]
    fn each_message_of_sudo_has_its_meaning_and_remedy() {
        for (text, code, words) in [
            (
                "sudo: a password is required\n",
                1,
                "`sudo` wants a password there",
            ),
            (
                "sudo: interactive authentication is required\n",
                1,
                "`sudo` wants a password there",
            ),
            (
                "sudo: sorry, you must have a tty to run sudo\n",
                1,
                "`sudo` wants a terminal",
            ),
            (
                "u is not in the sudoers file.\n",
                1,
                "`sudo` is not allowed to your user",
            ),
            (
                "sh: 1: sudo: not found\n",
                127,
                "there is no program `sudo` there",
            ),
            (
                "bash: line 1: sudo: command not found\n",
                127,
                "there is no program `sudo` there",
            ),
        ] {
            let line = problem(text, code, Some("sudo"));
            assert!(line.starts_with(words), "{text}: {line}");
            assert!(line.contains("connect as root"), "{line}");
        }
    }

    #[test]
    fn a_message_of_another_machine_controls_no_terminal() {
        let line = problem("\u{1b}[2Jx\u{7}\n", 1, None);
        assert_eq!(line, "[2Jx; run `ssh b true` to see why");
        assert!(problem(&"y".repeat(10_000), 1, None).len() < 300);
    }
}
