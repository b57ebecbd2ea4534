//! Measures the timing error of the machine itself: a process that neither sends
//! nor sleeps sees the times of the same grid late when its CPU is taken
//! away. No program can do better on that CPU.

use std::io::{BufRead, stdin};

use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use os::Worker;
use os::clock::monotonic;
use os::worker::Command;
use units::Span;

use crate::Result;
use crate::processor::f64_of;
use crate::statistics::sorted;
use crate::work::{PACE, Work};

/// The observation time per round, in seconds.
const SECONDS: u32 = 3;

/// The role of the observing process.
pub(crate) const ROLE: &str = "clock-watcher";

/// The 99th percentile of timing error of a grid of [`PACE`] times a second on
/// the sender's processor, in microseconds, with nothing sent.
pub(crate) fn watch(work: &Work) -> Result<f64> {
    let mut worker = Worker::spawn(Command::local(None, ROLE))?;
    worker.send_line(&work.processors[0].to_string())?;
    let deadline = monotonic() + Span::from_secs(2 * u64::from(SECONDS));
    let said = worker.receive_line(deadline)?;
    Ok(said.ok_or("the clock's watcher says nothing")?.parse()?)
}

/// The main function of the observing process: waits for its CPU number and
/// reports the timing error.
pub(crate) fn run() -> Result<()> {
    let mut line = String::new();
    stdin().lock().read_line(&mut line)?;
    let mut processors = CpuSet::new();
    processors.set(line.trim().parse()?)?;
    sched_setaffinity(Pid::from_raw(0), &processors)?;
    let late = sorted(timing_error().into_iter());
    println!("{}", late[late.len() - 1 - late.len() / 100]);
    Ok(())
}

/// The timing error of each time, in microseconds.
fn timing_error() -> Vec<f64> {
    let gap = Span::from_nanos(1_000_000_000 / u64::from(PACE));
    let mut due = monotonic();
    let instants = 0..PACE * SECONDS;
    instants
        .map(|_| {
            due += gap;
            loop {
                if let Some(late) = monotonic().since(due) {
                    return f64_of(i64::try_from(late.as_nanos()).unwrap_or(i64::MAX)) / 1e3;
                }
                std::hint::spin_loop();
            }
        })
        .collect()
}
