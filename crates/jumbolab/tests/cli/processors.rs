//! The load of the machine during a measurement.

use std::fs;

use crate::undisturbed::Disturbed;

/// The idle share of CPU time that an undisturbed measurement needs, and the
/// share that the hypervisor may take. Tests that wait for messages or send few
/// leave most of the time idle.
const IDLE: f64 = 0.5;
const STOLEN: f64 = 0.01;

/// The CPU times since boot, in ticks [proc_stat(5)].
pub(crate) struct Processors {
    all: u64,
    idle: u64,
    stolen: u64,
}

impl Processors {
    pub(crate) fn now() -> Self {
        let text = fs::read_to_string("/proc/stat").unwrap();
        let line = text.lines().next().unwrap();
        let ticks: Vec<u64> = line
            .split_whitespace()
            .skip(1)
            .map(|ticks| ticks.parse().unwrap())
            .collect();
        // user, nice, system, idle, iowait, irq, softirq, steal; guest time is
        // included in user.
        Self {
            all: ticks[..8].iter().sum(),
            idle: ticks[3] + ticks[4],
            stolen: ticks[7],
        }
    }

    /// The reason why the machine has been too busy since then for a
    /// measurement of times, if it has.
    pub(crate) fn disturbed(&self) -> Option<Disturbed> {
        let now = Self::now();
        let all = now.all.saturating_sub(self.all).max(1) as f64;
        let idle = now.idle.saturating_sub(self.idle) as f64 / all;
        let stolen = now.stolen.saturating_sub(self.stolen) as f64 / all;
        (idle < IDLE || stolen > STOLEN).then(|| {
            Disturbed(format!(
                "processors were idle for {:.0} % of the time, and stolen for {:.1} %",
                100.0 * idle,
                100.0 * stolen
            ))
        })
    }
}
