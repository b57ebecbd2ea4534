//! A check, and the words and limits that all groups of checks share.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use units::Span;

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// As required, or without a remedy.
    Ok,
    /// Works, with a remark.
    Note,
    /// Missing; the remedy is a command.
    Missing,
    /// This system or this build has none, and nothing can be done about it here.
    Absent,
}

/// The program that shows which processes are busy.
pub(super) const PROCESSES: &str = if cfg!(windows) { "taskmgr" } else { "top" };

/// CPUs used by others that affect a trial.
pub(super) const BUSY: f64 = 0.15;

/// The largest step of the wall clock that the alternate reading of two clocks
/// explains.
pub(super) const WALL_STEP_NANOS: u64 = 100_000;

/// In bit/s.
pub(super) const MEGABIT: u64 = 1_000_000;

/// A group of checks, which is a heading of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// The connection to another machine.
    Host,
    Backends,
    Kernel,
    Processors,
    Clock,
    Pacing,
    EmulatedLinks,
    /// Sockets of this machine, each tried with another one.
    Loopback,
    Interfaces,
    /// The places to which the program writes.
    Output,
    /// The parts of the program that this system or this build lacks.
    Absent,
}

impl Group {
    /// The heading.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Host => "Host",
            Self::Backends => "Backends",
            Self::Kernel => "Kernel",
            Self::Processors => "Processors",
            Self::Clock => "Clock",
            Self::Pacing => "Pacing",
            Self::EmulatedLinks => "Emulated links",
            Self::Loopback => "Loopback",
            Self::Interfaces => "Interfaces",
            Self::Output => "Output",
            Self::Absent => "Absent",
        }
    }
}

/// One check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// The heading of the check.
    pub group: Group,
    /// The subject, unique within its group.
    pub name: String,
    /// The result.
    pub status: Status,
    /// The finding, in one line.
    pub finding: String,
    /// The command to type.
    pub remedy: Option<String>,
    /// The purpose of the command, or an alternative.
    pub advice: Option<String>,
    /// The values of the finding, by name with unit, for programs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<Cow<'static, str>, Value>,
}

impl Check {
    pub(crate) fn ok(group: Group, name: impl Into<String>, finding: impl Into<String>) -> Self {
        Self {
            group,
            name: name.into(),
            status: Status::Ok,
            finding: finding.into(),
            remedy: None,
            advice: None,
            values: BTreeMap::new(),
        }
    }

    /// A part of the program that is absent here, with the reason.
    pub fn absent(name: &str, finding: impl Into<String>, why: &str) -> Self {
        Self {
            status: Status::Absent,
            advice: (!why.is_empty()).then(|| why.to_owned()),
            ..Self::ok(Group::Absent, name, finding)
        }
    }

    /// Turns the check into a note.
    pub(super) fn noted(self) -> Self {
        Self {
            status: Status::Note,
            ..self
        }
    }

    /// Turns the check into a note with a command.
    pub(crate) fn noted_with(self, remedy: impl Into<String>, advice: &str) -> Self {
        Self {
            status: Status::Note,
            ..self.missing(remedy, advice)
        }
    }

    /// Turns the check into a missing feature with a command.
    pub(super) fn missing(self, remedy: impl Into<String>, advice: &str) -> Self {
        Self {
            status: Status::Missing,
            remedy: Some(remedy.into()),
            advice: (!advice.is_empty()).then(|| advice.to_owned()),
            ..self
        }
    }

    /// Adds the commands that depend on what was checked.
    #[cfg(any(test, not(target_os = "linux")))]
    pub(super) fn used_by(self, commands: &str) -> Self {
        Self {
            finding: format!("{} ({commands})", self.finding),
            ..self
        }
    }

    pub(super) fn value(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.values.insert(name.into(), value.into());
        self
    }
}

/// A span in a readable unit, with two or three digits.
pub(super) fn short(span: Span) -> String {
    let nanos = nanos(span);
    match nanos {
        n if n < 1e3 => format!("{n:.0} ns"),
        n if n < 1e4 => format!("{:.1} us", n / 1e3),
        n if n < 1e6 => format!("{:.0} us", n / 1e3),
        n if n < 1e7 => format!("{:.1} ms", n / 1e6),
        n => format!("{:.0} ms", n / 1e6),
    }
}

fn nanos(span: Span) -> f64 {
    span.as_secs_f64() * 1e9
}
