//! The compared programs and their command lines.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;
use crate::work::{Kind, MEAN_GAP, PACE, RECORDS, SIZE, Work};

/// A traffic generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    Jumbolab,
    Ditg,
    Iperf3,
    Nuttcp,
    Sockperf,
}

pub(crate) const PROGRAMS: [Program; 5] = [
    Program::Jumbolab,
    Program::Ditg,
    Program::Iperf3,
    Program::Nuttcp,
    Program::Sockperf,
];

/// Jumbolab's options for buffers of the same size as the others'.
const BUFFERS: &str = "--send-buffer 4MiB --receive-buffer 4MiB";

/// The command lines for a work.
pub(crate) struct Lines {
    pub(crate) receiver: Vec<String>,
    pub(crate) sender: Vec<String>,
}

impl Program {
    /// The program file, or that of its sender.
    pub(crate) const fn file(self) -> &'static str {
        match self {
            Self::Jumbolab => env!("CARGO_BIN_EXE_jumbolab"),
            Self::Ditg => "ITGSend",
            Self::Iperf3 => "iperf3",
            Self::Nuttcp => "nuttcp",
            Self::Sockperf => "sockperf",
        }
    }

    /// The Debian package.
    pub(crate) const fn package(self) -> &'static str {
        match self {
            Self::Jumbolab => "jumbolab",
            Self::Ditg => "d-itg",
            Self::Iperf3 => "iperf3",
            Self::Nuttcp => "nuttcp",
            Self::Sockperf => "sockperf",
        }
    }

    /// The name of its file.
    pub(crate) fn file_name(self) -> &'static str {
        let file = self.file();
        file.rsplit_once('/').map_or(file, |(_, name)| name)
    }

    /// The log that its receiver wrote below `folder`.
    pub(crate) fn received(self, folder: &Path) -> Result<PathBuf> {
        if self != Self::Jumbolab {
            return Ok(folder.join("itg-received.log"));
        }
        let logs = fs::read_dir(folder.join("received"))?.next();
        Ok(logs.ok_or("it wrote no log")??.path())
    }

    /// The command line that decodes a log.
    pub(crate) fn decoding(self, log: &Path) -> Vec<String> {
        let log = log.display().to_string();
        match self {
            Self::Jumbolab => words(self.file(), "decode --json").with(&log),
            _ => words("ITGDec", "").with(&log),
        }
    }

    /// Whether the receiver ends after one sender.
    pub(crate) const fn ends_by_itself(self) -> bool {
        matches!(self, Self::Jumbolab | Self::Iperf3 | Self::Nuttcp)
    }

    /// The command lines of `work` with the receiver's address `to`; logs go to
    /// `folder`.
    ///
    /// All programs use buffers of 4 MiB for datagrams, except D-ITG, which has
    /// no option for them. D-ITG polls, as its help recommends for gaps below 1
    /// ms.
    pub(crate) fn lines(self, work: &Work, to: &str, folder: &Path) -> Lines {
        let file = |name: &str| folder.join(name).display().to_string();
        let Work { seconds, .. } = work;
        let gap = 1_000_000 / PACE;
        let (receiver, sender) = match (self, work.kind) {
            (Self::Jumbolab, kind) => {
                let what = match kind {
                    Kind::Rate => format!("--message {SIZE} --gap 0s {BUFFERS}"),
                    Kind::Departures => format!("--message {SIZE} --gap {gap}us {BUFFERS}"),
                    Kind::RoundTrip { tcp, busy } => format!(
                        "--meter round-trip --message {SIZE} --gap 0s{}{}",
                        if tcp { " --protocol tcp" } else { "" },
                        if busy { " --busy-poll" } else { "" }
                    ),
                    Kind::Goodput => "--protocol tcp --congestion cubic".to_owned(),
                    Kind::Decode => format!(
                        "--message uniform:{SIZE},1472 --gap exponential:{MEAN_GAP}us --packets {RECORDS} {BUFFERS}"
                    ),
                };
                return Lines {
                    receiver: words(
                        self.file(),
                        "recv --once --json --open --max-busy-poll 1 --listen",
                    )
                    .with(to)
                    .with("--packet-log-dir")
                    .with(&file("received")),
                    sender: words(self.file(), "send --json --packet-log")
                        .with(&file("sent.jlog"))
                        .with(to)
                        .and(&format!("{what} --duration {seconds}s")),
                };
            }
            (Self::Iperf3, kind) => {
                let what = match kind {
                    Kind::Departures => {
                        let bits = 8 * SIZE * PACE as usize;
                        format!("-u -l {SIZE} -w 4M -b {bits} --pacing-timer {gap}")
                    }
                    Kind::Goodput => "-C cubic".to_owned(),
                    _ => format!("-u -l {SIZE} -w 4M -b 0"),
                };
                (
                    "iperf3 -s -1 -i 0".to_owned(),
                    format!("iperf3 -c {to} {what} -t {seconds} -i 0 -J"),
                )
            }
            (Self::Nuttcp, kind) => {
                let rate = match kind {
                    Kind::Departures => format!("-R{PACE}p"),
                    _ => "-Ru".to_owned(),
                };
                (
                    "nuttcp -S -1 --nofork".to_owned(),
                    format!("nuttcp -u -l{SIZE} -w4m {rate} -T{seconds} -fparse {to}"),
                )
            }
            (Self::Ditg, kind) => {
                let what = match kind {
                    Kind::Departures => format!("-c {SIZE} -C {PACE}"),
                    Kind::Decode => format!("-u {SIZE} 1472 -E {}", 1_000_000 / MEAN_GAP),
                    _ => format!("-c {SIZE} -C 1000000"),
                };
                let millis = 1_000 * seconds;
                (
                    format!("ITGRecv -l {}", file("itg-received.log")),
                    format!(
                        "ITGSend -a {to} -T UDP {what} -poll -t {millis} -l {}",
                        file("itg-sent.log")
                    ),
                )
            }
            (Self::Sockperf, Kind::RoundTrip { tcp, busy }) => {
                let how = format!(
                    "{}{}",
                    if tcp { " --tcp" } else { "" },
                    if busy { " --nonblocked" } else { "" }
                );
                (
                    format!("sockperf server -i {to}{how}"),
                    format!("sockperf ping-pong -i {to}{how} -m {SIZE} -t {seconds} --full-rtt"),
                )
            }
            (Self::Sockperf, _) => (
                format!("sockperf server -i {to} --buffer-size 4194304"),
                format!("sockperf throughput -i {to} -m {SIZE} -t {seconds} --buffer-size 4194304"),
            ),
        };
        Lines {
            receiver: split(&receiver),
            sender: split(&sender),
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Jumbolab => "Jumbolab",
            Self::Ditg => "D-ITG",
            Self::Iperf3 => "iperf3",
            Self::Nuttcp => "nuttcp",
            Self::Sockperf => "sockperf",
        })
    }
}

fn split(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// The words of a program's command line.
fn words(program: &str, line: &str) -> Vec<String> {
    [vec![program.to_owned()], split(line)].concat()
}

/// Appends words to a command line; a path may contain spaces.
trait Arguments {
    fn with(self, word: &str) -> Self;
    fn and(self, line: &str) -> Self;
}

impl Arguments for Vec<String> {
    fn with(mut self, word: &str) -> Self {
        self.push(word.to_owned());
        self
    }

    fn and(mut self, line: &str) -> Self {
        self.extend(split(line));
        self
    }
}
