//! The instrument's own certificate: what ran, on what, and whether its
//! figures can be trusted.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use crate::folder::{HostFacts, RunFacts};
use crate::metric::number;
use crate::trial::Trial;

/// By how much goodput may exceed the link's theoretical maximum: the frames
/// that chance puts before the first or behind the last stamp.
pub(crate) const TOLERANCE: f64 = 0.002;

/// One trial of so many that were disturbed is worth a warning on the first screen.
const MANY: usize = 5;

/// What can be wrong with a trial that finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flag {
    /// Goodput above the link's theoretical maximum: the link was none.
    AboveLimit,
    /// A link's token bucket is too deep for the pre-roll to drain it.
    BucketNotDrained,
    /// Arrivals were stamped by the user's clock, later than they happened.
    Unstamped,
    /// Others used the CPUs: run-queue wait or steal was high.
    Disturbed,
    /// An end used a whole processor: it, not the link, was measured.
    CpuBound,
    /// The clock was stepped during the trial.
    ClockStepped,
    /// Frames seen on the wire contradict the offload setting.
    OffloadsDiffer,
    /// TCP ran another congestion control than was set.
    CongestionDiffers,
    /// The kernel gave another socket buffer than was asked for.
    BufferDiffers,
    /// The host itself dropped packets.
    HostDrops,
    /// Frames seen on the wire contradict the MTU.
    MtuDiffers,
    /// The emulator let frames go late.
    EmulatorLate,
    /// Messages left later than their law says.
    SenderLate,
}

impl Flag {
    /// Every flag, in the order of reports.
    pub const ALL: [Self; 13] = [
        Self::AboveLimit,
        Self::BucketNotDrained,
        Self::Unstamped,
        Self::Disturbed,
        Self::CpuBound,
        Self::ClockStepped,
        Self::OffloadsDiffer,
        Self::CongestionDiffers,
        Self::BufferDiffers,
        Self::HostDrops,
        Self::MtuDiffers,
        Self::EmulatorLate,
        Self::SenderLate,
    ];

    /// The word in journals.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AboveLimit => "above-limit",
            Self::BucketNotDrained => "bucket-not-drained",
            Self::Unstamped => "unstamped",
            Self::Disturbed => "disturbed",
            Self::CpuBound => "cpu-bound",
            Self::ClockStepped => "clock-stepped",
            Self::OffloadsDiffer => "offloads-differ",
            Self::CongestionDiffers => "congestion-differs",
            Self::BufferDiffers => "buffer-differs",
            Self::HostDrops => "host-drops",
            Self::MtuDiffers => "mtu-differs",
            Self::EmulatorLate => "emulator-late",
            Self::SenderLate => "sender-late",
        }
    }

    /// Whether one such trial fails the certificate; other flags are notes.
    pub const fn fails(self) -> bool {
        match self {
            Self::AboveLimit
            | Self::BucketNotDrained
            | Self::Unstamped
            | Self::ClockStepped
            | Self::OffloadsDiffer
            | Self::CongestionDiffers
            | Self::MtuDiffers => true,
            Self::Disturbed
            | Self::CpuBound
            | Self::BufferDiffers
            | Self::HostDrops
            | Self::EmulatorLate
            | Self::SenderLate => false,
        }
    }

    /// What it means, in a few words.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::AboveLimit => "goodput above what the link can carry",
            Self::BucketNotDrained => "a token bucket deeper than half the pre-roll",
            Self::Unstamped => "arrivals without the kernel's stamp",
            Self::Disturbed => "other work on the CPUs",
            Self::CpuBound => "an end used a whole CPU: the host, not the link, was measured",
            Self::ClockStepped => "the clock was stepped",
            Self::OffloadsDiffer => "frames contradict the offload setting",
            Self::CongestionDiffers => "another congestion control than set",
            Self::BufferDiffers => "another socket buffer than set",
            Self::HostDrops => "packets dropped by the host",
            Self::MtuDiffers => "frames contradict the MTU",
            Self::EmulatorLate => {
                "one frame in a hundred left an emulated link more than 100 us late"
            }
            Self::SenderLate => {
                "one message in a hundred left more than 1 ms late: more was offered than went through"
            }
        }
    }
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Flag {
    type Err = anyhow::Error;
    fn from_str(text: &str) -> anyhow::Result<Self> {
        Self::ALL
            .into_iter()
            .find(|flag| flag.as_str() == text)
            .ok_or_else(|| anyhow::anyhow!("{text:?} is no flag of a trial; see docs/formats.md"))
    }
}

/// Whether a run's figures can be trusted, and what supports them.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// Whether nothing was found that makes the figures wrong.
    pub passed: bool,
    /// What everybody should know who reads a figure, though it fails nothing.
    pub warning: Option<String>,
    /// What fails it, a line each.
    pub faults: Vec<String>,
    /// What a reader should know though it fails nothing, a line each.
    pub notes: Vec<String>,
    /// Program, machine and what the trials recorded, a line each.
    pub facts: Vec<String>,
}

/// Evidence that the certificate sums up: key, label, unit.
const EVIDENCE: &[(&str, &str, &str)] = &[
    ("congestion", "congestion control", ""),
    ("limit_mbit", "link limit", " Mbit/s"),
    (
        "largest_packet_sent",
        "largest packet seen leaving the sender",
        " B",
    ),
    (
        "largest_packet_received",
        "largest packet seen at the receiver",
        " B",
    ),
    ("send_buffer", "send buffer", " B"),
    ("receive_buffer", "receive buffer", " B"),
    ("steal_percent", "steal in trials", " %"),
    (
        "others_processors",
        "processors at work for others in trials",
        "",
    ),
    ("run_queue_wait_percent", "run-queue wait", " %"),
    ("clock_step_us", "clock steps", " us"),
    ("queue_drops", "drops in front of the links", ""),
    (
        "emulator_queue_drops",
        "drops in front of emulated links",
        "",
    ),
    ("emulator_cpu_seconds", "CPU of the emulator", " s"),
    ("emulator_scheduling", "scheduling of the emulator", ""),
    (
        "emulator_late_us",
        "emulated departures late, median",
        " us",
    ),
    (
        "emulator_late_us_p99",
        "emulated departures late, 99 of 100",
        " us",
    ),
    (
        "sender_late_us",
        "departures of messages late, median",
        " us",
    ),
    (
        "sender_late_us_p99",
        "departures of messages late, 99 of 100",
        " us",
    ),
    ("cpu_tick_seconds", "CPU accounting tick", " s"),
];

/// Facts of the machine that read better in other words than their key: key,
/// label, unit.
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
];

/// The certificate of a run.
pub fn certify(facts: &RunFacts, trials: &[Trial]) -> Certificate {
    let finished: Vec<&Trial> = trials
        .iter()
        .filter(|trial| trial.failure.is_none())
        .collect();
    let (mut faults, mut notes) = (Vec::new(), Vec::new());
    let disturbed = finished
        .iter()
        .filter(|trial| carries(trial, Flag::Disturbed));
    let disturbed = disturbed.count();
    let warning = (disturbed * MANY > finished.len()).then(|| {
        format!(
            "other work disturbed {disturbed} of {} trials: let the machine be idle and run again",
            finished.len()
        )
    });
    if finished.is_empty() {
        faults.push("no trial finished: there is nothing to certify".to_owned());
    }
    for flag in Flag::ALL {
        let flagged: Vec<&Trial> = finished
            .iter()
            .copied()
            .filter(|trial| carries(trial, flag))
            .collect();
        if let Some(first) = flagged.first() {
            let line = format!(
                "{flag}: {} in {} of {} trials, first {}{}",
                flag.meaning(),
                flagged.len(),
                finished.len(),
                first.id,
                detail(first, flag)
            );
            if flag.fails() {
                faults.push(line);
            } else {
                notes.push(line);
            }
        }
    }
    let mut unknown: Vec<&str> = finished
        .iter()
        .flat_map(|trial| &trial.flags)
        .map(String::as_str)
        .filter(|flag| flag.parse::<Flag>().is_err())
        .collect();
    unknown.sort_unstable();
    unknown.dedup();
    faults.extend(
        unknown
            .iter()
            .map(|flag| format!("{flag}: this program does not know the flag; use a newer one")),
    );
    let failed = trials.len() - finished.len();
    if let Some(why) = trials.iter().find_map(|trial| trial.failure.as_deref()) {
        notes.push(format!(
            "{failed} of {} trials failed and are in no figure; the first: {why}",
            trials.len()
        ));
    }
    notes.extend(facts.resumed.iter().map(|resumed| {
        format!(
            "gone on with by force: version {}, build {}{}",
            resumed.version,
            resumed.binary,
            resumed
                .kernel
                .as_ref()
                .map_or_else(String::new, |kernel| format!(", {kernel}"))
        )
    }));
    Certificate {
        passed: faults.is_empty(),
        warning,
        faults,
        notes,
        facts: describe(facts, &finished),
    }
}

/// Goodput and the link's theoretical maximum, both in Mbit/s, if the first
/// exceeds the second by more than stamps can explain.
pub fn above_limit(trial: &Trial) -> Option<(f64, f64)> {
    let goodput = *trial.metrics.get("throughput")?;
    let limit = number(trial, "limit_mbit")?;
    let late = number(trial, "goodput_late_percent").unwrap_or(0.0) / 100.0;
    (goodput > limit * (1.0 + TOLERANCE + late)).then_some((goodput, limit))
}

/// Whether a trial carries `flag`, or should: goodput is held against the
/// limit once more, so that a fault never passes for want of a flag.
fn carries(trial: &Trial, flag: Flag) -> bool {
    trial.flags.iter().any(|name| name == flag.as_str())
        || flag == Flag::AboveLimit && above_limit(trial).is_some()
}

fn detail(trial: &Trial, flag: Flag) -> String {
    match above_limit(trial).filter(|_| flag == Flag::AboveLimit) {
        Some((goodput, limit)) => format!(" ({goodput:.1} of {limit:.1} Mbit/s)"),
        None => String::new(),
    }
}

fn describe(facts: &RunFacts, trials: &[&Trial]) -> Vec<String> {
    let mut lines = vec![format!(
        "jumbolab {}, build {}",
        facts.version, facts.binary
    )];
    match &facts.host {
        Some(host) => lines.extend(machine(host)),
        None => lines.push(
            "simulated: figures follow from the plan, its seed and this program, whatever the machine"
                .to_owned(),
        ),
    }
    lines.extend(EVIDENCE.iter().filter_map(|(key, label, unit)| {
        let values: Vec<&Value> = trials
            .iter()
            .filter_map(|trial| trial.evidence.get(*key))
            .filter(|value| !value.is_null())
            .collect();
        Some(format!("{label}: {}{unit}", summary(&values)?))
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

/// The range of numbers, or the words that occur.
fn summary(values: &[&Value]) -> Option<String> {
    let numbers: Vec<f64> = values.iter().filter_map(|value| value.as_f64()).collect();
    if !numbers.is_empty() && numbers.len() == values.len() {
        let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = (short(low), short(high));
        return Some(if low == high {
            low
        } else {
            format!("{low} to {high}")
        });
    }
    let mut words: Vec<String> = values.iter().map(|value| word(value)).collect();
    words.sort();
    words.dedup();
    (!words.is_empty()).then(|| words.join(", "))
}

/// A number with three places at most, and no more than it needs.
fn short(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A value as people read it.
pub(crate) fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_f64().map_or_else(String::new, short),
        Value::Array(values) => values.iter().map(word).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::synthetic::{factors, facts, trial};
    use crate::folder::Resumed;

    fn good(throughput: f64) -> Trial {
        let mut trial = trial(factors(9000), 1, &[("throughput", throughput)]);
        trial.evidence.insert("limit_mbit".into(), 989.9.into());
        trial.evidence.insert("congestion".into(), "cubic".into());
        trial
    }

    fn flagged(flag: &str) -> Trial {
        let mut trial = good(980.0);
        trial.flags.push(flag.into());
        trial
    }

    #[test]
    fn a_sound_run_passes_and_says_what_it_ran_on() {
        let mut other = good(970.0);
        other.evidence.insert("limit_mbit".into(), 949.25.into());
        other.metrics.insert("throughput".into(), 949.3);
        let certificate = certify(&facts(), &[good(990.5), other]);
        assert!(certificate.passed && certificate.notes.is_empty());
        assert_eq!(
            certificate.facts,
            [
                "jumbolab 0.1.0, build b1",
                "Linux 6.18.0, 2 x Test CPU, run by an ordinary user",
                "memory gib: 8",
                "congestion control: cubic",
                "link limit: 949.25 to 989.9 Mbit/s",
            ]
        );
    }

    #[test]
    fn facts_of_the_machine_are_told_with_their_units() {
        let mut facts = facts();
        let late = ("pacing_late_us_p99".to_owned(), 8.5.into());
        facts.host.as_mut().unwrap().machine.extend([late]);
        let certificate = certify(&facts, &[good(980.0)]);
        let line = "pacing error, 99th percentile: 8.5 us".to_owned();
        assert!(certificate.facts.contains(&line), "{certificate:?}");
    }

    #[test]
    fn goodput_above_the_limit_fails_even_if_nobody_flagged_it() {
        assert_eq!(above_limit(&good(991.8)), None, "within 0.2 %");
        assert_eq!(above_limit(&good(992.0)), Some((992.0, 989.9)));
        let certificate = certify(&facts(), &[good(980.0), good(1100.0)]);
        assert!(!certificate.passed);
        assert_eq!(
            certificate.faults,
            [
                "above-limit: goodput above what the link can carry in 1 of 2 trials, \
                 first mtu=9000-r01 (1100.0 of 989.9 Mbit/s)"
            ]
        );
    }

    #[test]
    fn goodput_over_emulated_links_may_read_as_much_too_high_as_they_were_late() {
        let mut late = good(995.0);
        assert!(above_limit(&late).is_some());
        late.evidence
            .insert("goodput_late_percent".into(), 0.5.into());
        assert_eq!(above_limit(&late), None);
        late.metrics.insert("throughput".into(), 1_000.0);
        assert!(above_limit(&late).is_some());
    }

    #[test]
    fn each_flag_reads_back_and_weighs_as_it_should() {
        for flag in Flag::ALL {
            assert_eq!(flag.as_str().parse::<Flag>().unwrap(), flag);
            let certificate = certify(&facts(), &[flagged(flag.as_str())]);
            assert_eq!(certificate.passed, !flag.fails(), "{flag}");
            let lines = certificate.faults.len() + certificate.notes.len();
            assert_eq!(lines, 1, "{flag}");
        }
        assert!(!certify(&facts(), &[flagged("on-fire")]).passed);
        assert!("on-fire".parse::<Flag>().is_err());
    }

    #[test]
    fn a_machine_that_was_not_idle_is_warned_of() {
        let trials = |disturbed: usize| {
            let of = |number| match number < disturbed {
                true => flagged("disturbed"),
                false => good(980.0),
            };
            (0..10).map(of).collect::<Vec<_>>()
        };
        assert_eq!(certify(&facts(), &trials(2)).warning, None);
        let certificate = certify(&facts(), &trials(3));
        assert!(certificate.passed);
        assert!(
            certificate
                .warning
                .unwrap()
                .starts_with("other work disturbed 3 of 10 trials")
        );
    }

    #[test]
    fn failed_trials_and_forced_resumption_are_noted() {
        let mut failed = trial(factors(9000), 2, &[]);
        failed.failure = Some("timed out".into());
        let mut mixed = facts();
        mixed.resumed.push(Resumed {
            version: "0.2.0".into(),
            binary: "b2".into(),
            kernel: Some("Linux 7.0.0".into()),
        });
        let certificate = certify(&mixed, &[good(980.0), failed.clone()]);
        assert!(certificate.passed);
        assert_eq!(certificate.notes.len(), 2);
        assert!(certificate.notes[0].contains("1 of 2 trials failed"));
        assert!(!certify(&facts(), &[failed]).passed, "nothing finished");
    }
}
