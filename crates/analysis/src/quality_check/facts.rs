//! Facts about program, machine and the trials' evidence, as lines.

use std::collections::BTreeSet;

use plan::evidence::{self, Fact};
use plan::{HostFacts, RunFacts, Trial};
use serde_json::Value;

/// Summarised evidence: name, label, unit.
const EVIDENCE: &[(Fact<Value>, &str, &str)] = &[
    (evidence::CONGESTION.as_json(), "congestion control", ""),
    (evidence::LIMIT_MBIT.as_json(), "link limit", " Mbit/s"),
    (evidence::BOUND.as_json(), "what bounds predictions", ""),
    (
        evidence::LARGEST_PACKET_SENT.as_json(),
        "largest packet seen leaving the sender",
        " B",
    ),
    (
        evidence::LARGEST_PACKET_RECEIVED.as_json(),
        "largest packet seen at the receiver",
        " B",
    ),
    (evidence::SEND_BUFFER.as_json(), "send buffer", " B"),
    (evidence::RECEIVE_BUFFER.as_json(), "receive buffer", " B"),
    (evidence::STEAL_PERCENT.as_json(), "steal in trials", " %"),
    (
        evidence::STALLED_MS.as_json(),
        "stalls of a processor in trials",
        " ms",
    ),
    (
        evidence::OTHERS_PROCESSORS.as_json(),
        "processors at work for others in trials",
        "",
    ),
    (
        evidence::RUN_QUEUE_WAIT_PERCENT.as_json(),
        "run-queue wait",
        " %",
    ),
    (evidence::CLOCK_STEP_US.as_json(), "clock steps", " us"),
    (
        evidence::CLOCK_BOUND_US.as_json(),
        "bound of the offset of the clocks",
        " us",
    ),
    (
        evidence::CLOCK_SLEW_US.as_json(),
        "slews of the clocks in trials",
        " us",
    ),
    (
        evidence::NIC_DROPPED.as_json(),
        "packets dropped by interfaces in trials",
        "",
    ),
    (
        evidence::NIC_ERRORS.as_json(),
        "packets damaged at interfaces in trials",
        "",
    ),
    (evidence::NIC_PAUSES.as_json(), "pause frames in trials", ""),
    (
        evidence::QUEUE_DROPS.as_json(),
        "drops in front of the links",
        "",
    ),
    (
        evidence::BACKLOG_DROPS.as_json(),
        "drops of the kernel's backlog queues",
        "",
    ),
    (
        evidence::IDLE_WAIT_SECONDS.as_json(),
        "waits until the machine was idle",
        " s",
    ),
    (
        evidence::EMULATED_LINK.as_json(),
        "emulated link between the gateways",
        "",
    ),
    (
        evidence::EMULATOR_QUEUE_DROPS.as_json(),
        "drops in front of emulated links",
        "",
    ),
    (
        evidence::EMULATOR_CPU_SECONDS.as_json(),
        "CPU of the emulator",
        " s",
    ),
    (
        evidence::EMULATOR_SCHEDULING.as_json(),
        "scheduling of the emulator",
        "",
    ),
    (
        evidence::EMULATOR_LATE_US.as_json(),
        "emulated departures late, median",
        " us",
    ),
    (
        evidence::EMULATOR_LATE_US_P99.as_json(),
        "emulated departures late, 99 of 100",
        " us",
    ),
    (
        evidence::SENDER_LATE_US.as_json(),
        "departures of messages late, median",
        " us",
    ),
    (
        evidence::SENDER_LATE_US_P99.as_json(),
        "departures of messages late, 99 of 100",
        " us",
    ),
    (
        evidence::CPU_TICK_SECONDS.as_json(),
        "CPU accounting tick",
        " s",
    ),
];

/// Facts about the machine with a label other than their key: key, label, unit.
const MACHINE: &[(&str, &str, &str)] = &[
    ("clock_resolution_ns", "clock resolution", " ns"),
    (
        "others_before",
        "processors at work for others before the run",
        "",
    ),
    ("steal_percent_before", "steal before the run", " %"),
    ("pacing_late_us_median", "pacing error, median", " us"),
    ("pacing_late_us_p99", "pacing error, 99th percentile", " us"),
    (
        "stamp_late_us_p99",
        "stamps of the program, late at the 99th percentile",
        " us",
    ),
];

/// One line each for the program, the machine, and the evidence of `trials`.
pub(super) fn describe(facts: &RunFacts, trials: &[&Trial]) -> Vec<String> {
    let mut lines = vec![format!(
        "jumbolab {}, build {}",
        facts.version, facts.binary
    )];
    let mut machines = facts.machines().peekable();
    if machines.peek().is_none() {
        let what = match facts.backend.profile().predicts {
            true => "predicted: figures follow from the plan and this program",
            false => "simulated: figures follow from the plan, its seed and this program",
        };
        lines.push(format!("{what}, whatever the machine"));
    }
    for (name, host) in machines {
        lines.extend(machine(host).into_iter().map(|line| match name.as_str() {
            "" => line,
            name => format!("{name}: {line}"),
        }));
    }
    let scenario = facts.scenario();
    lines.extend(scenario.map(|found| format!("systems of these hosts: {found}")));
    for host in &facts.hosts {
        for (name, of_interface) in &host.interfaces {
            lines.extend(of_interface.iter().map(|(fact, value)| {
                let fact = fact.replace('_', " ");
                format!(
                    "{} {}, {name}: {fact}: {}",
                    host.role,
                    host.name,
                    word(value)
                )
            }));
        }
    }
    let summaries = summaries(trials);
    let of_keys = EVIDENCE.iter().zip(summaries);
    lines.extend(of_keys.filter_map(|((_, label, unit), summary)| {
        Some(format!("{label}: {}{unit}", summary.text()?))
    }));
    lines
}

fn machine(host: &HostFacts) -> Vec<String> {
    let user = if host.root {
        "root"
    } else {
        "an ordinary user"
    };
    let mut lines = vec![format!(
        "{}, {} x {}, run by {user}",
        host.kernel, host.cpus, host.cpu_model
    )];
    lines.extend(host.machine.iter().map(|(name, value)| {
        match MACHINE.iter().find(|(key, _, _)| key == name) {
            Some((_, label, unit)) => format!("{label}: {}{unit}", word(value)),
            None => format!("{}: {}", name.replace('_', " "), word(value)),
        }
    }));
    lines
}

/// The values of each key of [`EVIDENCE`].
fn summaries(trials: &[&Trial]) -> Vec<Summary> {
    let mut all: Vec<Summary> = EVIDENCE.iter().map(|_| Summary::default()).collect();
    let keys = || EVIDENCE.iter().map(|(key, _, _)| *key);
    for trial in trials {
        if !keys().any(|key| trial.evidence.contains(key)) {
            continue;
        }
        let evidence = trial.evidence.loaded();
        for (key, summary) in keys().zip(&mut all) {
            if let Some(value) = evidence.get(key).filter(|value| !value.is_null()) {
                summary.add(&value);
            }
        }
    }
    // Beside words, numbers are words too.
    for (key, summary) in keys().zip(&mut all) {
        if summary
            .range
            .take_if(|_| !summary.words.is_empty())
            .is_some()
        {
            let values = trials.iter().filter_map(|trial| trial.evidence.get(key));
            let numbers = values.filter(Value::is_number);
            summary.words.extend(numbers.map(|number| word(&number)));
        }
    }
    all
}

/// The range of numbers, or the distinct words.
#[derive(Default)]
struct Summary {
    /// The range of the values that are numbers.
    range: Option<(f64, f64)>,
    /// The others.
    words: BTreeSet<String>,
}

impl Summary {
    fn add(&mut self, value: &Value) {
        match value.as_f64() {
            Some(number) => {
                let (low, high) = self.range.unwrap_or((number, number));
                self.range = Some((low.min(number), high.max(number)));
            }
            None => drop(self.words.insert(word(value))),
        }
    }

    fn text(&self) -> Option<String> {
        let Some((low, high)) = self.range.map(|(low, high)| (short(low), short(high))) else {
            let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
            return (!words.is_empty()).then(|| words.join(", "));
        };
        Some(match low == high {
            true => low,
            false => format!("{low} to {high}"),
        })
    }
}

/// A number with at most three decimal places, without trailing zeros.
fn short(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A value as text for readers.
pub fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_f64().map_or_else(String::new, short),
        Value::Array(values) => values.iter().map(word).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
