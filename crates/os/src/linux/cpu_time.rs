//! Processor time of the machine and of a process.

use std::fs;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use nix::unistd::{SysconfVar, sysconf};
use units::{Span, Time};

use crate::clock;
use crate::error::{Error, OperationContext, Result};
pub use crate::portable::cpu_use::{Machine, MachineUse, Process};

impl Machine {
    /// Reads `/proc/stat`.
    ///
    /// The kernel measures idle time exactly, so busy time is computed as the rest; the
    /// other columns are sampled at every tick and therefore coarse
    /// [LinuxDoc cpu-load]. All are printed in units of [`tick`].
    ///
    /// # Errors
    /// If `/proc/stat` cannot be read.
    pub fn sample() -> Result<Self> {
        let text = fs::read_to_string("/proc/stat").during(|| "reading /proc/stat")?;
        let sample = Self::parse(&text, clock::monotonic(), tick())
            .ok_or_else(|| Error::new("reading /proc/stat", "it has no cpu line"))?;
        // Kernels without networking have no such file, and nothing to drop.
        let backlog = fs::read_to_string("/proc/net/softnet_stat").unwrap_or_default();
        Ok(Self {
            backlog_drops: Some(backlog_drops(&backlog)),
            ..sample
        })
    }

    fn parse(text: &str, taken: Time, tick: Span) -> Option<Self> {
        let mut lines = text.lines().filter(|line| line.starts_with("cpu"));
        let total: Vec<u64> = lines
            .next()?
            .split_whitespace()
            .skip(1)
            .map_while(|field| field.parse().ok())
            .collect();
        let column = |number: usize| total.get(number).copied();
        // user nice system idle iowait irq softirq steal [proc_stat(5)]
        Some(Self {
            taken,
            tick,
            processors: lines.count() as u64,
            user: column(0)? + column(1)?,
            idle: column(3)? + column(4)?,
            softirq: Some(column(5)? + column(6)?),
            steal: Some(column(7).unwrap_or_default()),
            running: { text.lines() }
                .find_map(|line| line.strip_prefix("procs_running ")?.trim().parse().ok()),
            backlog_drops: None,
        })
    }
}

/// The second column of `/proc/net/softnet_stat`, of all processors and network
/// namespaces together: packets that found the backlog full
/// [LinuxDoc net].
fn backlog_drops(text: &str) -> u64 {
    let column = |line: &str| {
        let column = line.split_whitespace().nth(1)?;
        u64::from_str_radix(column, 16).ok()
    };
    text.lines().filter_map(column).sum()
}

/// The unit in which the kernel prints processor time.
pub fn tick() -> Span {
    let hertz = sysconf(SysconfVar::CLK_TCK)
        .ok()
        .flatten()
        .and_then(|hertz| u64::try_from(hertz).ok());
    Span::from_picos(1_000_000_000_000 / hertz.unwrap_or(100).max(1))
}

impl Process {
    /// Reads the counters of the calling process.
    ///
    /// # Errors
    /// If the kernel provides none.
    pub fn sample() -> Result<Self> {
        let usage =
            getrusage(UsageWho::RUSAGE_SELF).during(|| "reading the process's processor time")?;
        let waited = fs::read_to_string("/proc/self/schedstat")
            .ok()
            .and_then(|text| text.split_whitespace().nth(1)?.parse().ok())
            .map_or(Span::ZERO, Span::from_nanos);
        Ok(Self {
            cpu: span(usage.user_time()) + span(usage.system_time()),
            user: span(usage.user_time()),
            waited,
        })
    }
}

fn span(time: TimeVal) -> Span {
    let micros = i128::from(time.tv_sec()) * 1_000_000 + i128::from(time.tv_usec());
    Span::from_micros(u64::try_from(micros).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_time_is_what_was_neither_idle_nor_stolen() {
        let tick = Span::from_millis(10);
        let before = "cpu  8 2 10 100 0 0 5 0 0 0\ncpu0 5 0 5 50 0 0 5 0 0 0\ncpu1 5 0 5 50 0 0 0 0 0 0\nintr 1\nprocs_running 9\n";
        let after =
            "cpu  18 12 20 200 10 0 15 20 0 0\ncpu0 0 0 0 0\ncpu1 0 0 0 0\nprocs_running 3\n";
        let at = |text, nanos| Machine::parse(text, Time::from_nanos(nanos), tick).unwrap();
        let used = at(after, 1_000_000_000).since(&at(before, 0));
        // 2 s of processor time, 1.1 s idle or waiting, 0.2 s stolen.
        assert_eq!(used.busy, Span::from_millis(700));
        assert_eq!(used.softirq, Some(Span::from_millis(100)));
        assert_eq!(used.user, Span::from_millis(200));
        assert_eq!((used.processors, used.running), (2, Some(2)));
    }

    #[test]
    fn drops_of_all_backlogs_are_added() {
        let text = "0483bf48 0000000a 00000008 00000000\n041bb054 00000003 0000000a\n";
        assert_eq!(backlog_drops(text), 13);
        assert_eq!(backlog_drops("nonsense\n"), 0);
    }

    #[test]
    fn text_of_another_kind_is_no_sample() {
        assert!(Machine::parse("nonsense\n", Time::ZERO, tick()).is_none());
        assert!(Machine::parse("cpu 1 2\n", Time::ZERO, tick()).is_none());
    }
}
