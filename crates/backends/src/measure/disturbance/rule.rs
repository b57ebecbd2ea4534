//! The rule that tells whether other work on the machine disturbed a pass.
//!
//! It sees the machine alone, never the result: a disturbed pass is run again,
//! and a choice by the result would bias it. All kinds of traffic use it.

use os::cpu_time::tick;
use units::Span;

use super::super::passes::ratio;
use super::Disturbance;

/// The share of its time for which an end may wait for a CPU while others use
/// more than [`SOME`]. The ends of an undisturbed pass wait, too: for each
/// other, for soft interrupts and for the emulator. On two CPUs this was up to
/// two thirds of the time.
const WAITED: f64 = 0.25;

/// The number of CPUs of others that explains such a wait.
const SOME: f64 = 0.1;

/// The share of the machine's time that the hypervisor may take.
const STOLEN: f64 = 0.05;

/// The share of its time for which a CPU may be stalled. In a pass of 40 ms each
/// stall that the meter reports is more.
const STALLED: f64 = 0.05;

/// The number of CPUs that other processes may use. One busy loop uses much
/// more.
const OTHERS: f64 = 0.3;

/// The timing error of the emulator, which is the error of the kernel's own token
/// buckets ([`auto_burst`](experiment::auto_burst)).
const LATE: Span = Span::from_millis(1);

/// With fewer departures the median of timing error decides.
const FEW: u64 = 100;

/// The number of CPUs that a pass keeps busy: sender, receiver, emulator, and
/// soft interrupts.
const NEEDED: u64 = 4;

/// The number of CPUs that others may use without a disturbance: half of those
/// that a pass does not need, because two of them may share a core.
pub(crate) const fn spare(processors: u64) -> u64 {
    processors.saturating_sub(NEEDED) / 2
}

impl Disturbance {
    /// How other work on the machine disturbed the pass, in one line; `None`: it
    /// did not.
    ///
    /// Steal and the CPU time of others are counted in ticks, so one tick of
    /// each is its error.
    pub(in super::super) fn reason(&self) -> Option<String> {
        let machine = &self.machine;
        let all = machine.elapsed * machine.processors;
        let stolen = self.stolen() - ratio(tick(), all);
        let waited = ratio(self.waited, machine.elapsed);
        let others = self.others() - ratio(tick(), machine.elapsed);
        let spare = spare(machine.processors);
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        if let Some(why) = &self.invalid {
            Some(why.clone())
        } else if stolen > STOLEN {
            let stolen = percent(stolen);
            Some(format!("the hypervisor took {stolen} of the CPU time"))
        } else if ratio(self.stalled, machine.elapsed) > STALLED {
            let [stalled, elapsed] = [self.stalled, machine.elapsed].map(Span::as_millis_f64);
            Some(format!(
                "a CPU stalled for {stalled:.1} ms of {elapsed:.1} ms"
            ))
        } else if waited > WAITED && others > SOME + spare as f64 {
            let waited = percent(waited);
            Some(format!(
                "an end waited for a CPU {waited} of the time while others used {others:.1} CPUs"
            ))
        } else if others > OTHERS + spare as f64 {
            Some(format!("others used {others:.1} CPUs"))
        } else if let Some(running) = machine.running.filter(|running| *running > spare) {
            Some(format!("{running} other threads were running at the end"))
        } else if let Some(drops) = machine.backlog_drops.filter(|drops| *drops > 0) {
            Some(format!(
                "the kernel's backlog queues dropped {drops} packets"
            ))
        } else {
            self.late()
        }
    }

    /// How late the emulator was, if that is too late.
    fn late(&self) -> Option<String> {
        let emulator = self.emulator.as_ref()?;
        let [median, late, _] = emulator.late;
        let late = match emulator.departures {
            0..FEW => median,
            FEW.. => late,
        };
        let millis = late.as_millis_f64();
        (late > LATE).then(|| format!("frames left an emulated link {millis:.1} ms late"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::synthetic::disturbance;
    use emulator::Report;

    /// Whether a pass of 10 s on two CPUs, with one fact changed, is disturbed.
    fn disturbed(change: impl FnOnce(&mut Disturbance)) -> bool {
        let mut pass = disturbance();
        assert_eq!(pass.reason(), None);
        change(&mut pass);
        pass.reason().is_some()
    }

    #[test]
    fn the_machine_alone_decides() {
        let millis = Span::from_millis;
        // 5 % of two CPUs for 10 s, and a tick.
        let steal = |span| disturbed(|pass| pass.machine.steal = Some(span));
        assert!(!steal(millis(1_000) + tick()) && steal(millis(1_001) + tick()));
        let stalled = |span| disturbed(|pass| pass.stalled = span);
        assert!(!stalled(millis(500)) && stalled(millis(501)));
        // 3.6 s are known, 1 s of others explains a wait.
        let waited = |span, busy| {
            disturbed(|pass| {
                pass.waited = span;
                pass.machine.busy = busy;
            })
        };
        let some = millis(4_602) + tick();
        assert!(!waited(millis(2_500), some) && waited(millis(2_501), some));
        let few = millis(4_599) + tick();
        assert!(!waited(millis(9_000), few), "its own threads");
        // 3.6 s are known, 3 s of others are the bound.
        let busy = |span| disturbed(|pass| pass.machine.busy = span);
        assert!(!busy(millis(6_599) + tick()) && busy(millis(6_602) + tick()));
        assert!(disturbed(|pass| pass.machine.running = Some(1)));
        assert!(disturbed(|pass| pass.machine.backlog_drops = Some(1)));
        assert!(disturbed(|pass| pass.invalid = Some("late".into())));
    }

    #[test]
    fn a_late_emulator_disturbs_its_pass() {
        let late = |departures, micros: [u64; 3]| {
            disturbed(|pass| {
                pass.emulator = Some(Report {
                    departures,
                    late: micros.map(Span::from_micros),
                    ..Report::default()
                });
            })
        };
        assert!(!late(1_000, [5, 1_000, 9_000]) && late(1_000, [5, 1_001, 9_000]));
        assert!(!late(99, [1_000, 9_000, 9_000]) && late(99, [1_001, 9_000, 9_000]));
    }

    #[test]
    fn a_large_machine_has_cpus_to_spare() {
        assert_eq!([1, 2, 4, 8, 16].map(spare), [0, 0, 0, 2, 6]);
        let running = |processors, running| {
            disturbed(|pass| {
                pass.machine.processors = processors;
                pass.machine.running = Some(running);
            })
        };
        assert!(!running(16, 6) && running(16, 7));
    }

    #[test]
    fn a_tick_of_steal_is_no_disturbance_of_a_short_pass() {
        let short = |ticks: u64| {
            disturbed(|pass| {
                pass.machine.elapsed = Span::from_millis(45);
                pass.machine.busy = Span::from_millis(20);
                pass.machine.steal = Some(tick() * ticks);
            })
        };
        assert!(!short(1) && short(2));
    }
}
