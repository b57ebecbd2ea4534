//! The CPU time that processes other than ours used, by the kernel's accounts
//! of all processes. The program finds it in another way, which is tested.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};

use crate::undisturbed::Disturbed;

/// The number of CPUs that others may use beside a quiet trial. Ticks sample
/// the time of all processes [proc_stat(5)], so that a busy trial of a second has an
/// error of about 0.05.
const USED: f64 = 0.1;

/// CPU times since boot, in ticks.
pub(crate) struct Others {
    /// That of others: in user mode and in the kernel, without interrupts.
    busy: u64,
    stolen: u64,
    /// The time of one CPU.
    elapsed: f64,
}

impl Others {
    pub(crate) fn now() -> Result<Self> {
        let text = fs::read_to_string("/proc/stat")?;
        let cpus = text.lines().filter(|line| line.starts_with("cpu")).count() - 1;
        let line = text.lines().next().context("no line of all CPUs")?;
        let ticks: Result<Vec<u64>, _> = line.split_whitespace().skip(1).map(str::parse).collect();
        let ticks = ticks?;
        // user, nice, system, idle, iowait, irq, softirq, steal.
        let all: u64 = ticks[..8].iter().sum();
        Ok(Self {
            busy: ticks[..3].iter().sum::<u64>().saturating_sub(ours()?),
            stolen: ticks[7],
            elapsed: all as f64 / cpus as f64,
        })
    }

    /// How many CPUs others and the hypervisor have used since then, if they
    /// have.
    pub(crate) fn disturbed(&self) -> Result<Option<Disturbed>> {
        let now = Self::now()?;
        let elapsed = (now.elapsed - self.elapsed).max(1.0);
        let since = |now: u64, then: u64| now.saturating_sub(then) as f64 / elapsed;
        let used = since(now.busy, self.busy) + since(now.stolen, self.stolen);
        let why = format!("others and the hypervisor used {used:.2} CPUs");
        Ok((used > USED).then_some(Disturbed(why)))
    }
}

/// The CPU time of this process and of its descendants, in ticks
/// [proc_pid_stat(5)].
fn ours() -> Result<u64> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir("/proc")? {
        let path = entry?.path().join("stat");
        // Other files, and processes that have just ended.
        let Ok(text) = fs::read_to_string(path) else {
            continue;
        };
        // The name, in parentheses, may contain anything.
        let Some((number, rest)) = text.split_once(' ').zip(text.rsplit_once(") ")) else {
            continue;
        };
        let fields: Vec<&str> = rest.1.split_whitespace().collect();
        let Ok(number) = number.0.parse::<u32>() else {
            continue;
        };
        let parent: u32 = fields[1].parse()?;
        // In user mode and in the kernel, then those of ended children.
        let ticks: Result<Vec<u64>, _> = fields[11..15].iter().map(|word| word.parse()).collect();
        all.insert(number, (parent, ticks?));
    }
    let this = std::process::id();
    let is_ours = |number: u32| {
        let mut parents = std::iter::successors(Some(number), |number| Some(all.get(number)?.0));
        parents.any(|number| number == this)
    };
    let ours = all.iter().filter(|(number, _)| is_ours(**number));
    Ok(ours.flat_map(|(_, (_, ticks))| ticks).sum())
}
