//! A folder and a command for each test.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use os::clock;
use serde_json::Value;
use tempfile::TempDir;
use units::Span;

pub(crate) use crate::program::Outcome;
use crate::program::program;
use crate::schema;

/// The folder of a test, and a mark that identifies its processes.
pub(crate) struct Dir {
    folder: TempDir,
    mark: String,
}

/// Settings that make a trial of os-comparison short: enough to run through all
/// code, too short for meaningful results, and valid in spite of concurrent
/// tests.
pub(crate) const SHORT: &str = "--set size=500kB --set warmup=300kB --set cpu_bytes=1MB --set rate=200mbit --set scenario=LU-LU --set network.timing_error=1min";

impl Dir {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let mark = format!("jumbolab-test-{}-{number}", std::process::id());
        Self {
            folder: TempDir::with_prefix("jumbolab test ").unwrap(),
            mark,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Writes a file that only its owner can read.
    pub(crate) fn write_private(&self, name: &str, text: &str) -> PathBuf {
        let path = self.write(name, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path
    }

    /// The command that runs the binary in this folder.
    pub(crate) fn command(&self) -> Command {
        let mut command = program(self.path());
        command.env("JUMBOLAB_TEST", &self.mark);
        command
    }

    /// Runs the binary with the words of `line` and returns the outcome.
    pub(crate) fn run(&self, line: &str) -> Outcome {
        Outcome::of(
            self.command()
                .args(line.split_whitespace())
                .output()
                .unwrap(),
        )
    }

    /// The processes of this test that are alive: not zombies.
    pub(crate) fn processes(&self) -> Vec<String> {
        let needle = format!("JUMBOLAB_TEST={}", self.mark);
        let is_ours = |process: &Path| {
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            environment
                .split(|&byte| byte == 0)
                .any(|entry| entry == needle.as_bytes())
        };
        fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|process| is_ours(process))
            .map(|process| process.display().to_string())
            .collect()
    }

    /// Waits until no process of this test is alive.
    #[track_caller]
    pub(crate) fn expect_no_process(&self) {
        let gone = holds(|| self.processes().is_empty());
        assert!(gone, "left behind: {:?}", self.processes());
    }

    /// The trials in the results folder `name`, of which there must be `count`.
    /// Of a trial that was run again because the machine was disturbed, the
    /// last attempt takes the place of the first.
    #[track_caller]
    pub(crate) fn trials(&self, name: &str, count: usize) -> Vec<Value> {
        let mut trials: Vec<Value> = Vec::new();
        for attempt in journal(&self.path().join(name)) {
            match trials.iter_mut().find(|trial| trial["id"] == attempt["id"]) {
                Some(trial) => *trial = attempt,
                None => trials.push(attempt),
            }
        }
        assert_eq!(trials.len(), count, "trials in {name}");
        trials
    }

    /// Runs a shell script as root of user and network namespaces of its own,
    /// where loopback is up and `$0` is the binary. It ends at the first command
    /// that fails, and after two minutes.
    pub(crate) fn in_namespaces(&self, script: &str) -> Outcome {
        let mut command = Command::new("timeout");
        let script = format!("set -e; ip link set lo up; {script}");
        command.args(["120", "unshare", "-Urn", "sh", "-c", &script]);
        command.arg(self.command().get_program());
        Outcome::of(command.current_dir(self.path()).output().unwrap())
    }

    /// The names of the folder's entries.
    pub(crate) fn entries(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Outcome {
    /// Asserts exit code 2 and one line `error: ..` that contains all `words`, apart from the list of
    /// what an experiment does outside of its run.
    #[track_caller]
    pub(crate) fn rejected(&self, words: &[&str]) {
        assert_eq!(self.code, Some(2), "{}{}", self.stdout, self.stderr);
        let is_listed = |line: &&str| *line == "this experiment will:" || line.starts_with("  ");
        assert_eq!(
            { self.stderr.lines() }
                .filter(|line| !is_listed(line))
                .count(),
            1,
            "one line, not: {}",
            self.stderr
        );
        let is_complaint = |line: &str| line.starts_with("error: ") && !line.contains(": : ");
        assert!(self.stderr.lines().any(is_complaint), "{}", self.stderr);
        for word in words {
            assert!(
                self.stderr.contains(word),
                "`{word}` is not in: {}",
                self.stderr
            );
        }
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
    }

    /// Asserts that a signal stopped the command.
    #[track_caller]
    pub(crate) fn stopped(self) -> Self {
        assert_eq!(self.code, Some(130), "{}{}", self.stdout, self.stderr);
        self
    }

    /// Every line of stdout as an object that is as its schema says.
    #[track_caller]
    pub(crate) fn json(&self) -> Vec<Value> {
        let lines = self.stdout.lines();
        let objects: Vec<Value> = lines
            .map(|line| serde_json::from_str(line).expect(line))
            .collect();
        objects.iter().for_each(schema::check);
        objects
    }
}

/// The interval of polling a condition of another process, and the number of
/// polls: one minute.
const PAUSE: Span = Span::from_millis(2);
const LOOKS: u32 = 30_000;

/// Polls `condition` for up to a minute and returns whether it held. The CPU is
/// left to the observed process.
pub(crate) fn holds(mut condition: impl FnMut() -> bool) -> bool {
    (0..LOOKS).any(|look| {
        if look > 0 {
            clock::sleep(PAUSE);
        }
        condition()
    })
}

/// The complete lines of an unfinished run's journal. [`Dir::trials`] reads
/// that of a finished run.
pub(crate) fn journal(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("trials.jsonl")).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    whole
        .lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect()
}
