//! Stalls of CPUs: times for which a CPU let no thread run.
//!
//! A hypervisor may take a CPU from a virtual machine without reporting steal,
//! and the kernel may keep one busy with interrupts. No counter shows either.
//! A [`StallMeter`] therefore has a thread on each CPU that asks for a wake-up
//! every 2 ms. A late wake-up is a stall.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use units::{Span, Time};

use crate::clock;
use crate::cpu_time::Process;
use crate::error::{Error, OperationContext, Result};
use crate::sys::scheduling;

/// The interval between two wake-ups. Each costs some 20 us of CPU time.
const INTERVAL: Span = Span::from_millis(2);

/// The timing error that is no stall. On a kernel without preemption, soft interrupts
/// and system calls of a pass keep a thread with real-time priority waiting for up
/// to 3 ms; an ordinary one waits for the scheduler's next tick, 4 ms at 250 Hz.
const TOLERANCE: Span = Span::from_millis(4);

/// The stalls of this machine's CPUs in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Stalls {
    /// The time for which the CPU with the longest stalls was stalled. Of each
    /// stall up to 2 ms are missing, because the thread was asleep meanwhile.
    /// Stalls below 4 ms do not count, those up to 6 ms only in part.
    pub total: Span,
    /// The CPU time of the meter.
    pub cpu: Span,
}

/// A running meter; dropping it ends its threads.
pub struct StallMeter {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Result<Span>>>,
    before: Process,
}

impl StallMeter {
    /// Starts a thread on each CPU that the caller may use: with real-time
    /// priority if the kernel allows it, else with the shortest slice.
    ///
    /// # Errors
    /// The kernel rejects to start a thread.
    pub fn start() -> Result<Self> {
        let before = Process::sample()?;
        let allowed = sched_getaffinity(CALLER).during(|| "listing the CPUs")?;
        let mut meter = Self {
            stop: Arc::default(),
            threads: Vec::new(),
            before,
        };
        for cpu in 0..CpuSet::count() {
            if allowed.is_set(cpu) == Ok(true) {
                let stop = Arc::clone(&meter.stop);
                let thread = thread::Builder::new().spawn(move || stalled(cpu, &stop));
                let thread = thread.during(|| "starting a thread of the stall meter")?;
                meter.threads.push(thread);
            }
        }
        Ok(meter)
    }

    /// Ends the threads, and reports the stalls since the start.
    ///
    /// # Errors
    /// The kernel rejected to bind a thread to its CPU.
    pub fn finish(mut self) -> Result<Stalls> {
        self.stop.store(true, Ordering::Relaxed);
        let mut total = Span::ZERO;
        for thread in self.threads.drain(..) {
            let stalled = thread.join();
            let stalled =
                stalled.map_err(|_| Error::new("metering stalls", "a thread failed"))??;
            total = total.max(stalled);
        }
        let cpu = (Process::sample()? - self.before).cpu;
        Ok(Stalls { total, cpu })
    }
}

impl Drop for StallMeter {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The calling thread in the kernel's calls.
const CALLER: Pid = Pid::from_raw(0);

/// The stalls of `cpu` until `stop` is set.
fn stalled(cpu: usize, stop: &AtomicBool) -> Result<Span> {
    let operation = || "binding a thread to a CPU";
    let mut only = CpuSet::new();
    only.set(cpu).during(operation)?;
    sched_setaffinity(CALLER, &only).during(operation)?;
    if scheduling::run_first().is_err() {
        // Kernels before 6.12 have no such slices.
        let _ = scheduling::run_in_short_slices();
    }
    let mut total = Span::ZERO;
    let mut asleep_since = clock::monotonic();
    while !stop.load(Ordering::Relaxed) {
        clock::sleep(INTERVAL);
        let awake = clock::monotonic();
        total += stall(asleep_since, awake);
        asleep_since = awake;
    }
    Ok(total)
}

/// The stall of a CPU whose thread slept from `asleep` until `awake`: its
/// timing error, if that is above [`TOLERANCE`].
fn stall(asleep: Time, awake: Time) -> Span {
    let late = awake.since(asleep + INTERVAL).unwrap_or_default();
    match late > TOLERANCE {
        true => late,
        false => Span::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_wake_up_is_a_stall() {
        let of = |micros| stall(Time::ZERO, Time::ZERO + Span::from_micros(micros));
        assert_eq!(of(1_000), Span::ZERO, "a signal ended the sleep");
        assert_eq!(of(6_000), Span::ZERO);
        assert_eq!(of(6_001), Span::from_micros(4_001));
        assert_eq!(of(19_000), Span::from_millis(17));
    }

    #[test]
    fn a_cpu_taken_by_a_real_time_thread_is_stalled() {
        let begun = clock::monotonic();
        let meter = StallMeter::start().unwrap();
        clock::sleep(Span::from_millis(5));
        #[expect(
            clippy::disallowed_methods,
            reason = "a test panics where it has no thread"
        )]
        let taken = thread::spawn(|| {
            let first = scheduling::run_above_meters().is_ok();
            let end = clock::monotonic() + Span::from_millis(30);
            while clock::monotonic() < end {}
            first
        });
        let taken = taken.join().unwrap();
        let stalls = meter.finish().unwrap();
        let lasted = clock::monotonic().since(begun).unwrap();
        assert!(stalls.total <= lasted, "{stalls:?} in {lasted}");
        assert!(stalls.cpu > Span::ZERO && stalls.cpu < lasted * 2);
        if taken {
            assert!(stalls.total >= Span::from_millis(25), "{stalls:?}");
        }
    }
}
