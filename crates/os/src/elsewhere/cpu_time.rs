//! Processor time of the machine and of a process, on systems other than Linux.
//!
//! These systems state neither soft interrupts nor steal, runnable threads or drops of backlog
//! queues: they are `None`.

use units::Span;

use super::sys;
use crate::clock;
use crate::error::{OperationContext, Result};
pub use crate::portable::cpu_use::{Machine, MachineUse, Process};

const READING: &str = "reading the processors' account";

impl Machine {
    /// Reads the account of all processors.
    ///
    /// # Errors
    /// The system has none.
    pub fn sample() -> Result<Self> {
        let ([user, idle], unit) = account()?;
        let processors = std::thread::available_parallelism();
        Ok(Self {
            taken: clock::monotonic(),
            processors: processors.map_or(1, usize::from) as u64,
            tick: unit,
            user,
            idle,
            softirq: None,
            steal: None,
            running: None,
            backlog_drops: None,
        })
    }
}

/// User mode and idle time, and the unit of both.
#[cfg(windows)]
fn account() -> Result<([u64; 2], Span)> {
    let [idle, _, user] = sys::windows::system_times().during(|| READING)?;
    Ok(([user, idle], HUNDRED_NANOS))
}

/// User mode and idle time, and the unit of both.
#[cfg(unix)]
fn account() -> Result<([u64; 2], Span)> {
    let [user, _, idle] = sys::unix::processor_ticks().during(|| READING)?;
    Ok(([user, idle], tick()))
}

/// The unit of times of Windows.
#[cfg(windows)]
const HUNDRED_NANOS: Span = Span::from_nanos(100);

/// The interval in which Windows brings its account up to date, as it is without requests of
/// programs: 64 times a second [WinTimerResolution].
#[cfg(windows)]
pub fn tick() -> Span {
    Span::from_picos(1_000_000_000_000 / 64)
}

/// The unit in which the system counts processor time.
#[cfg(unix)]
pub fn tick() -> Span {
    Span::from_picos(1_000_000_000_000 / sys::unix::ticks_per_second())
}

impl Process {
    /// Reads the account of this process. The time without a processor is not stated.
    ///
    /// # Errors
    /// The system has none.
    pub fn sample() -> Result<Self> {
        let [user, kernel] = own_times().during(|| "reading the process's processor time")?;
        Ok(Self {
            cpu: user + kernel,
            user,
            waited: Span::ZERO,
        })
    }
}

#[cfg(windows)]
fn own_times() -> std::io::Result<[Span; 2]> {
    let [kernel, user] = sys::windows::process_times()?;
    Ok([user, kernel].map(|units| HUNDRED_NANOS * units))
}

#[cfg(unix)]
fn own_times() -> std::io::Result<[Span; 2]> {
    sys::unix::process_times()
}
