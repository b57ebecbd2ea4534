//! The names of other machines and users.

use std::fmt;
use std::str::FromStr;

/// A machine as `ssh` takes it: a name, an alias of the user's configuration, or
/// `USER@NAME`, or `ssh://USER@NAME:PORT`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Destination(String);

/// The longest destination, in bytes: a name of the DNS has 253 at most, and a user
/// needs room, too.
const LONGEST: usize = 512;

/// Characters that `ssh` rejects in names of hosts, because they may become part of a
/// command [OpenSSH].
const FORBIDDEN: &str = "'`\"$\\<>;&|(){}";

impl Destination {
    /// The text that `ssh` gets.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Destination {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const REMEDY: &str = "write a name or USER@NAME, as after `ssh`";
        let problem = if text.is_empty() {
            "a host has no name"
        } else if text.len() > LONGEST {
            "the name of a host is too long"
        } else if text.starts_with('-') {
            "the name of a host begins with a dash"
        } else if text
            .chars()
            .any(|c| c.is_whitespace() || c.is_control() || FORBIDDEN.contains(c))
        {
            "the name of a host has a character that `ssh` rejects"
        } else {
            return Ok(Self(text.to_owned()));
        };
        Err(format!("{problem}; {REMEDY}"))
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A command that runs another as another user: `sudo`, `doas`, or a command with its
/// options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Become(Vec<String>);

impl Become {
    /// The words in front of the command.
    pub fn words(&self) -> &[String] {
        &self.0
    }

    pub(super) fn program(&self) -> &str {
        self.0.first().map_or("", String::as_str)
    }
}

impl FromStr for Become {
    type Err = String;

    /// `sudo` and `doas` get the options with which they ask nothing.
    fn from_str(text: &str) -> Result<Self, String> {
        let words: &[&str] = match text.trim() {
            // Root's own home folder; the end of the options [sudo(8)].
            "sudo" => &["sudo", "-n", "-H", "--"],
            "doas" => &["doas", "-n"],
            _ => {
                let words = shlex::split(text).filter(|words| !words.is_empty());
                return words.map(Self).ok_or_else(|| {
                    format!("`{text}` is no command; write sudo, or a command with its options")
                });
            }
        };
        Ok(Self(words.iter().map(|&word| word.to_owned()).collect()))
    }
}

impl fmt::Display for Become {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_be_options_or_commands_are_rejected() {
        for good in [
            "a",
            "user@a.example",
            "ssh://u@[2001:db8::1]:2222",
            "fe80::1%eth0",
        ] {
            assert_eq!(good.parse::<Destination>().unwrap().as_str(), good);
        }
        let long = "a".repeat(LONGEST + 1);
        for bad in [
            "",
            "-oProxyCommand=x",
            "a b",
            "a\nb",
            "a;b",
            "$(a)",
            "a\u{7f}",
            &long,
        ] {
            let why = bad.parse::<Destination>().unwrap_err();
            assert!(why.contains("write a name"), "{bad}: {why}");
        }
    }

    #[test]
    fn a_command_that_changes_the_user_asks_nothing() {
        let words = |text: &str| text.parse::<Become>().unwrap().to_string();
        assert_eq!(words("sudo"), "sudo -n -H --");
        assert_eq!(words("doas"), "doas -n");
        assert_eq!(words("sudo -n -u 'a b'"), "sudo -n -u a b");
        assert!("".parse::<Become>().is_err());
        assert!("'".parse::<Become>().is_err());
    }
}
