//! Checks this machine for runs: available backends, missing features with
//! remedies, and the precision of its timing.
//!
//! [`Facts`] are aggregated first; [`judge`] derives checks from them alone.

pub(crate) mod attempt;
mod backends;
mod emulated;
mod facts;
mod interfaces;
mod kernel;
mod processors;
mod timing;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use units::Span;

pub use attempt::{Ability, Attempt, Encapsulation, Inside, Step, Trial};
pub use facts::{Clock, Facts, Load};

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
}

/// In bit/s.
const MEGABIT: u64 = 1_000_000;

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
    Interfaces,
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
            Self::Interfaces => "Interfaces",
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

/// Derives all checks from the facts, in the order of the groups.
pub fn judge(facts: &Facts) -> Vec<Check> {
    let mut checks = backends::judge(facts);
    checks.extend(kernel::judge(facts));
    checks.extend(processors::judge(facts));
    checks.extend(timing::judge(facts));
    checks.extend(emulated::judge(facts));
    checks.extend(interfaces::judge(facts));
    checks
}

/// All checks of this machine as one JSON object (docs/reference/json.md).
pub fn to_json(facts: &Facts, checks: &[Check]) -> Value {
    json!({
        "kind": "doctor",
        "version": env!("CARGO_PKG_VERSION"),
        "kernel": facts.machine.kernel,
        "root": facts.privileged,
        "checks": checks,
    })
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

    /// Turns the check into a note.
    fn noted(self) -> Self {
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
    fn missing(self, remedy: impl Into<String>, advice: &str) -> Self {
        Self {
            status: Status::Missing,
            remedy: Some(remedy.into()),
            advice: (!advice.is_empty()).then(|| advice.to_owned()),
            ..self
        }
    }

    fn value(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.values.insert(name.into(), value.into());
        self
    }
}

/// A command that needs root, as this user types it.
fn as_root(facts: &Facts, command: &str) -> String {
    if facts.privileged {
        command.to_owned()
    } else {
        format!("sudo {command}")
    }
}

/// A span in a readable unit, with two or three digits.
fn short(span: Span) -> String {
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
