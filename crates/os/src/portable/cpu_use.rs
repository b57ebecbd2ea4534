//! Processor time in words, which are the same on every system: the use of a machine's
//! processors and of a process.

use std::ops::Sub;

use units::{Span, Time};

/// The processors of the whole machine at one time. Only samples of one process have a
/// difference, because times count from its start. What the system does not state is `None`.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Machine {
    pub(crate) taken: Time,
    pub(crate) processors: u64,
    /// Length of a tick, the unit of the other fields.
    pub(crate) tick: Span,
    /// User mode, whatever the priority.
    pub(crate) user: u64,
    pub(crate) idle: u64,
    pub(crate) softirq: Option<u64>,
    pub(crate) steal: Option<u64>,
    /// Runnable threads, those on a processor included.
    pub(crate) running: Option<u64>,
    /// Packets dropped by the kernel's backlog queues.
    pub(crate) backlog_drops: Option<u64>,
}

/// The use of the processors between two samples. What the system does not state is `None`.
#[derive(Clone, Copy, Debug)]
pub struct MachineUse {
    /// Length of the interval.
    pub elapsed: Span,
    /// Processor time that was not idle, of all processors together, without steal.
    pub busy: Span,
    /// Processor time of programs in user mode.
    pub user: Span,
    /// Processor time in soft interrupts, which do most of the network processing of Linux.
    pub softirq: Option<Span>,
    /// Processor time that the hypervisor gave to other machines.
    pub steal: Option<Span>,
    /// Packets that the backlog queues between interfaces and protocols dropped,
    /// because their processor did not come to process them.
    pub backlog_drops: Option<u64>,
    /// Runnable threads at the end, without the calling one.
    pub running: Option<u64>,
    /// Number of processors.
    pub processors: u64,
}

impl Machine {
    /// The processors of this and of another machine together, at the same time. What one of
    /// them does not state is unknown of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let both = |one: Option<u64>, other: Option<u64>| Some(one? + other?);
        Self {
            processors: self.processors + other.processors,
            user: self.user + self.in_ticks(other.tick, other.user),
            idle: self.idle + self.in_ticks(other.tick, other.idle),
            softirq: both(self.softirq, other.softirq),
            steal: both(self.steal, other.steal),
            // One thread of each takes the sample.
            running: both(self.running, other.running()),
            backlog_drops: both(self.backlog_drops, other.backlog_drops),
            ..self
        }
    }

    /// Ticks of another length in those of this machine: systems count in different ones.
    fn in_ticks(&self, tick: Span, ticks: u64) -> u64 {
        let picos = u128::from(ticks) * u128::from(tick.as_picos());
        let own = picos / u128::from(self.tick.as_picos().max(1));
        u64::try_from(own).unwrap_or(u64::MAX)
    }

    /// Runnable threads, without the calling one.
    pub fn running(&self) -> Option<u64> {
        self.running.map(|running| running.saturating_sub(1))
    }

    /// Number of processors.
    pub const fn processors(&self) -> u64 {
        self.processors
    }

    /// The use since `earlier`.
    pub fn since(&self, earlier: &Self) -> MachineUse {
        let elapsed = self.taken.since(earlier.taken).unwrap_or_default();
        let since = |now: u64, before: u64| self.tick * now.saturating_sub(before);
        let stated = |now: Option<u64>, before: Option<u64>| Some(since(now?, before?));
        let steal = stated(self.steal, earlier.steal);
        let idle = since(self.idle, earlier.idle);
        let drops = self.backlog_drops.zip(earlier.backlog_drops);
        MachineUse {
            elapsed,
            busy: elapsed * self.processors - idle - steal.unwrap_or_default(),
            user: since(self.user, earlier.user),
            softirq: stated(self.softirq, earlier.softirq),
            steal,
            // The counters have 32 bits and wrap around.
            backlog_drops: drops.map(|(now, before)| now.saturating_sub(before)),
            running: self.running(),
            processors: self.processors,
        }
    }
}

/// Processor time of the calling process since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Process {
    /// Time on a processor, in user and kernel mode, including interrupts during that
    /// time.
    pub cpu: Span,
    /// The part of it in user mode.
    pub user: Span,
    /// Time in which the process was runnable but had no processor; zero where the system does
    /// not state it.
    pub waited: Span,
}

impl Sub for Process {
    type Output = Self;
    fn sub(self, earlier: Self) -> Self {
        Self {
            cpu: self.cpu - earlier.cpu,
            user: self.user - earlier.user,
            waited: self.waited - earlier.waited,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(tick: Span, idle: u64, stated: Option<u64>) -> Machine {
        Machine {
            taken: Time::ZERO,
            processors: 2,
            tick,
            user: idle,
            idle,
            softirq: stated,
            steal: stated,
            running: stated,
            backlog_drops: stated,
        }
    }

    #[test]
    fn machines_with_other_ticks_add_up_and_what_one_does_not_state_is_unknown() {
        let linux = machine(Span::from_millis(10), 100, Some(3));
        let windows = machine(Span::from_nanos(100), 5_000_000, None);
        let both = linux.and(windows);
        assert_eq!((both.processors, both.idle, both.user), (4, 150, 150));
        let since = both.since(&linux);
        assert_eq!((since.softirq, since.steal), (None, None));
        assert_eq!((since.running, since.backlog_drops), (None, None));
        let stated = linux.and(linux);
        assert_eq!((stated.softirq, stated.running()), (Some(6), Some(4)));
    }
}
