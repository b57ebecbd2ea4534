//! What this machine can do for a run: which worlds it has, what is missing
//! and what to type for it, and how well it keeps time.
//!
//! [`Facts`] are gathered first; [`judge`] makes checks of them and looks at
//! nothing else.

pub(crate) mod attempt;
mod emulated;
mod facts;
mod interfaces;
mod kernel;
mod processors;
mod timing;
mod worlds;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};
use units::Span;

pub use attempt::{Ability, Attempt, Carriage, Inside, Step, Trial};
pub use facts::{Clock, Facts, Load};

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// As it should be, or nothing to be done about.
    Ok,
    /// Works, but a reader should know.
    Note,
    /// Not there; the remedy says what to type.
    Missing,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// The heading it stands below.
    pub group: &'static str,
    /// What it is about; within a group no two are alike.
    pub name: String,
    /// How it came out.
    pub status: Status,
    /// What was found, one line.
    pub finding: String,
    /// What to type.
    pub remedy: Option<String>,
    /// What to do with that, or what else would help.
    pub advice: Option<String>,
    /// The figures in the finding, by name with unit, for programs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<&'static str, Value>,
}

/// Makes a check of everything that was looked at, in the order of the groups.
pub fn judge(facts: &Facts) -> Vec<Check> {
    let mut checks = worlds::judge(facts);
    checks.extend(kernel::judge(facts));
    checks.extend(processors::judge(facts));
    checks.extend(timing::judge(facts));
    checks.extend(emulated::judge(facts));
    checks.extend(interfaces::judge(facts));
    checks
}

/// All of it as one JSON object (docs/formats.md).
pub fn to_json(facts: &Facts, checks: &[Check]) -> Value {
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "kernel": facts.machine.kernel,
        "root": facts.privileged,
        "checks": checks,
    })
}

impl Check {
    fn ok(group: &'static str, name: impl Into<String>, finding: impl Into<String>) -> Self {
        Self {
            group,
            name: name.into(),
            status: Status::Ok,
            finding: finding.into(),
            remedy: None,
            advice: None,
            figures: BTreeMap::new(),
        }
    }

    /// The same, worth a note.
    fn noted(self) -> Self {
        Self {
            status: Status::Note,
            ..self
        }
    }

    /// The same, worth a note, with what to type.
    fn noted_with(self, remedy: impl Into<String>, advice: &str) -> Self {
        Self {
            status: Status::Note,
            ..self.missing(remedy, advice)
        }
    }

    /// The same as a thing that is missing, with what to type.
    fn missing(self, remedy: impl Into<String>, advice: &str) -> Self {
        Self {
            status: Status::Missing,
            remedy: Some(remedy.into()),
            advice: (!advice.is_empty()).then(|| advice.to_owned()),
            ..self
        }
    }

    fn figure(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.figures.insert(name, value.into());
        self
    }
}

/// A command that only root may give, as this user types it.
fn as_root(facts: &Facts, command: &str) -> String {
    if facts.privileged {
        command.to_owned()
    } else {
        format!("sudo {command}")
    }
}

/// A span in the unit that people would use, to two or three digits.
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
