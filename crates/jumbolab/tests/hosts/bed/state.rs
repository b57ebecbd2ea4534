//! The state of a host: its interface, files and processes.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use super::Bed;

/// The state of a host that a run may change, and the traces that it may leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    /// MTU and offloads of the interface `meas`.
    interface: [Value; 2],
    /// In the folder of the host, but for the copy of the program, and in `/run`.
    files: BTreeSet<PathBuf>,
    /// The processes of the program.
    processes: Vec<Vec<String>>,
}

impl Bed {
    /// The state of a host.
    pub(crate) fn state(&self, host: &str) -> State {
        let processes = self.processes(Some(host)).into_iter();
        let processes = processes.map(|(_, words)| words);
        let is_ours = |words: &Vec<String>| words.first().is_some_and(|word| is_program(word));
        let mut state = State {
            interface: self.interface(host),
            files: BTreeSet::new(),
            processes: processes.filter(is_ours).collect(),
        };
        let own = self.host_folder(host);
        for folder in [
            own.join("home"),
            own.join("tmp"),
            self.host(host).namespace.root().join("run"),
        ] {
            files_in(&folder, &folder, &mut state.files);
        }
        state
    }

    /// MTU and offloads of the interface `meas` of a host.
    fn interface(&self, host: &str) -> [Value; 2] {
        let mut command = self
            .host(host)
            .namespace
            .command(env!("CARGO_BIN_EXE_jumbolab"));
        command
            .arg("agent")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut agent = command.spawn().unwrap();
        let input = agent.stdin.as_mut().unwrap();
        std::io::Write::write_all(input, b"ListInterfaces []\n").unwrap();
        let mut line = String::new();
        let output = agent.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        drop(agent.stdin.take());
        agent.wait().unwrap();
        let reply: Value = serde_json::from_str(&line).unwrap();
        let all = reply["Ok"].as_array().unwrap();
        let ours = all.iter().find(|interface| interface["name"] == "meas");
        let ours = ours.unwrap_or_else(|| panic!("{line}"));
        ["mtu", "offloads"].map(|key| ours[key].clone())
    }

    /// The processes in the network of a host, or of the controller if it is `None`: id
    /// and words.
    pub(crate) fn processes(&self, host: Option<&str>) -> Vec<(u32, Vec<String>)> {
        let namespace = host.map_or(&self.controller, |name| &self.host(name).namespace);
        let place = fs::read_link(namespace.path("net")).unwrap();
        let is_there = |id: &u32| {
            let there = fs::read_link(format!("/proc/{id}/ns/net")).ok();
            there.as_ref() == Some(&place)
        };
        let words = |id: u32| {
            let text = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
            let words = text
                .split(|byte| *byte == 0)
                .filter(|word| !word.is_empty());
            let words = words.map(|word| String::from_utf8_lossy(word).into_owned());
            (id, words.collect())
        };
        let all = fs::read_dir("/proc").unwrap().flatten();
        let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.filter(is_there).map(words).collect()
    }

    /// The ids of the processes of the program in the network of a host whose last words
    /// are these, those of `ssh` and `sshd` excluded.
    pub(crate) fn workers(&self, host: &str, last: &[&str]) -> Vec<u32> {
        let is_one = |(_, words): &(u32, Vec<String>)| {
            let program = words.first().is_some_and(|word| is_program(word));
            program
                && words
                    .iter()
                    .rev()
                    .zip(last.iter().rev())
                    .all(|(a, b)| a == b)
        };
        let all = self.processes(Some(host)).into_iter();
        all.filter(is_one).map(|(id, _)| id).collect()
    }

    /// The ids of the agents' processes on a host.
    pub(crate) fn agents(&self, host: &str) -> Vec<u32> {
        self.workers(host, &["agent"])
    }
}

/// Whether a first word is that of the program.
fn is_program(word: &str) -> bool {
    Path::new(word)
        .file_name()
        .is_some_and(|name| name == "jumbolab")
}

/// Enters the paths of everything in a folder, without its links.
fn files_in(folder: &Path, base: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        found.insert(path.strip_prefix(base).unwrap().to_owned());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            files_in(&path, base, found);
        }
    }
}
