//! Command lines of the user's programs. They are split into words by the rules
//! of a shell, without running one, and placeholders in braces are replaced.

use std::net::IpAddr;
use std::path::Path;
use std::str::FromStr;
use std::{env, fmt};

use units::Bytes;

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    text: String,
    /// The program and its arguments; never empty.
    words: Vec<String>,
}

/// The addresses that replace the placeholders of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    pub sender: IpAddr,
    pub receiver: IpAddr,
    /// `{router}`: the router's address towards the sender, if the path has a
    /// router.
    pub router: Option<IpAddr>,
}

/// Whether this machine has no program of this name or path.
pub fn is_missing(program: &str) -> bool {
    let folders = env::var_os("PATH").unwrap_or_default();
    !match program.contains('/') {
        true => Path::new(program).exists(),
        false => env::split_paths(&folders).any(|folder| folder.join(program).exists()),
    }
}

/// The placeholder for the router's address.
pub const ROUTER: &str = "{router}";

/// The placeholder for the path of this program.
const PROGRAM: &str = "{jumbolab}";

/// The placeholder for `traffic.size` in bytes.
pub const SIZE: &str = "{size}";

/// The placeholder for a folder of the trial.
const FOLDER: &str = "{folder}";

impl CommandLine {
    /// The program, unless it is this one.
    pub fn program(&self) -> Option<&str> {
        Some(self.words[0].as_str()).filter(|program| *program != PROGRAM)
    }

    /// The program's name, if this machine has no such program.
    pub fn missing_program(&self) -> Option<&str> {
        self.program().filter(|program| is_missing(program))
    }

    /// Whether the command line contains `{router}`.
    pub fn names_router(&self) -> bool {
        self.words.iter().any(|word| word.contains(ROUTER))
    }

    /// Whether the command line contains `{size}`.
    pub fn names_size(&self) -> bool {
        self.words.iter().any(|word| word.contains(SIZE))
    }

    /// Whether the command line contains `{folder}`.
    pub fn names_folder(&self) -> bool {
        self.words.iter().any(|word| word.contains(FOLDER))
    }

    /// Replaces `{size}` with `size`.
    pub fn sized(&self, size: Option<Bytes>) -> Self {
        match size {
            Some(size) => self.with(SIZE, &size.get().to_string()),
            None => self.clone(),
        }
    }

    /// Replaces `{folder}` with `folder`.
    pub fn with_folder(&self, folder: Option<&Path>) -> Self {
        match folder {
            Some(folder) => self.with(FOLDER, &folder.to_string_lossy()),
            None => self.clone(),
        }
    }

    fn with(&self, name: &str, value: &str) -> Self {
        let words = self.words.iter();
        Self {
            text: self.text.clone(),
            words: words.map(|word| word.replace(name, value)).collect(),
        }
    }

    /// The words with all addresses and the path of this program filled in.
    pub fn filled(&self, addresses: &Addresses) -> Vec<String> {
        let words = self.words.iter();
        words.map(|word| addresses.fill(word)).collect()
    }
}

impl FromStr for CommandLine {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match shlex::split(text) {
            None => Err("unclosed quote".to_owned()),
            Some(words) if words.first().is_none_or(String::is_empty) => {
                Err("write a program and its arguments".to_owned())
            }
            Some(words) => Ok(Self {
                text: text.to_owned(),
                words,
            }),
        }
    }
}

impl Addresses {
    /// Replaces `{sender}`, `{receiver}`, `{router}` and `{jumbolab}` in
    /// `word`; other braces stay.
    pub fn fill(&self, word: &str) -> String {
        let program = || env::current_exe().ok()?.into_os_string().into_string().ok();
        let word = match word.contains(PROGRAM) {
            true => word.replace(PROGRAM, program().as_deref().unwrap_or("jumbolab")),
            false => word.to_owned(),
        };
        let word = word
            .replace("{sender}", &self.sender.to_string())
            .replace("{receiver}", &self.receiver.to_string());
        match self.router {
            Some(router) => word.replace(ROUTER, &router.to_string()),
            None => word,
        }
    }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Joins words into a line that splits into the same words.
pub fn joined(words: &[String]) -> String {
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESSES: Addresses = Addresses {
        sender: IpAddr::V4(std::net::Ipv4Addr::new(198, 18, 0, 1)),
        receiver: IpAddr::V4(std::net::Ipv4Addr::new(198, 18, 1, 2)),
        router: None,
    };

    fn words(line: &str) -> Vec<String> {
        line.parse::<CommandLine>().unwrap().filled(&ADDRESSES)
    }

    #[test]
    fn only_the_names_of_nodes_in_braces_are_replaced() {
        assert_eq!(
            words("nc {receiver} {Sender} { sender } [{sender}]:80 {router} {}"),
            [
                "nc",
                "198.18.1.2",
                "{Sender}",
                "{",
                "sender",
                "}",
                "[198.18.0.1]:80",
                "{router}",
                "{}"
            ]
        );
    }

    #[test]
    fn a_size_and_this_program_are_filled_in() {
        let line: CommandLine = "{jumbolab} send --jumbogram --message {size} {sized}"
            .parse()
            .unwrap();
        assert!(line.names_size() && line.missing_program().is_none());
        let sized = line.sized(Some(Bytes::new(190_000)));
        assert_eq!(
            sized.filled(&ADDRESSES)[1..],
            ["send", "--jumbogram", "--message", "190000", "{sized}"]
        );
        let program = env::current_exe().unwrap();
        assert_eq!(sized.filled(&ADDRESSES)[0], program.to_str().unwrap());
        assert_eq!(line.sized(None), line);
    }

    #[test]
    fn a_folder_is_one_word_whatever_its_name() {
        let line: CommandLine = "tool -o {folder}/a.txt".parse().unwrap();
        assert!(line.names_folder() && !line.names_size());
        let filled = line.with_folder(Some(Path::new("/tmp/two words")));
        assert_eq!(
            filled.filled(&ADDRESSES),
            ["tool", "-o", "/tmp/two words/a.txt"]
        );
        assert_eq!(line.with_folder(None), line);
    }

    #[test]
    fn words_are_those_of_a_shell_and_join_to_the_same() {
        let line = r#"sh -c 'echo "two  spaces"' a\ b "" "don't""#;
        let cut = words(line);
        assert_eq!(
            cut,
            ["sh", "-c", "echo \"two  spaces\"", "a b", "", "don't"]
        );
        assert_eq!(words(&joined(&cut)), cut);
    }

    #[test]
    fn nothing_and_half_a_word_are_no_command() {
        for line in ["", "  ", "''", "sh -c 'half"] {
            assert!(line.parse::<CommandLine>().is_err(), "{line}");
        }
    }
}
