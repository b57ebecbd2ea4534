//! Waits until other work on the machine pauses.

use anyhow::{Context, Result};
use os::clock;
use os::cpu_time::Machine;
use units::Span;

use super::spare;

/// The longest wait before one pass.
const LONGEST: Span = Span::from_millis(1_000);

/// The time between two looks at the machine.
const INTERVAL: Span = Span::from_millis(1);

/// Waits before passes, of which none begins while other threads run.
///
/// Work that pauses now and then lets a pass begin in a pause. Work that never
/// pauses is not worth waiting for: after a wait in vain the next one is half
/// as long, and after a successful one it may be as long as before.
#[derive(Debug, Default)]
pub(crate) struct IdleWaits {
    /// The time left for all waits.
    left: Span,
    /// The longest next wait.
    longest: Span,
}

impl IdleWaits {
    /// Waits of at most `time` altogether.
    pub(crate) const fn new(time: Span) -> Self {
        Self {
            left: time,
            longest: LONGEST,
        }
    }

    /// The time left for all waits.
    pub(crate) const fn left(&self) -> Span {
        self.left
    }

    /// Waits until the machine is idle; returns how long.
    ///
    /// # Errors
    /// The machine cannot be metered.
    pub(crate) fn wait(&mut self) -> Result<Span> {
        self.until(is_idle)
    }

    /// The same, where `is_idle` says whether what is waited for is idle.
    ///
    /// # Errors
    /// Those of `is_idle`.
    pub(crate) fn until(&mut self, mut is_idle: impl FnMut() -> Result<bool>) -> Result<Span> {
        if self.left == Span::ZERO {
            return Ok(Span::ZERO);
        }
        if is_idle()? {
            self.longest = LONGEST;
            return Ok(Span::ZERO);
        }
        let most = self.longest.min(self.left);
        let begun = clock::monotonic();
        loop {
            clock::sleep(INTERVAL);
            let waited = clock::monotonic().since(begun).unwrap_or_default();
            let idle = is_idle()?;
            if idle || waited >= most {
                self.left =
                    Span::from_picos(self.left.as_picos().saturating_sub(waited.as_picos()));
                self.longest = match idle {
                    true => LONGEST,
                    false => Span::from_picos(self.longest.as_picos() / 2),
                };
                return Ok(waited);
            }
        }
    }
}

/// Whether no other threads run on the CPUs that a pass needs.
fn is_idle() -> Result<bool> {
    let machine = Machine::sample().context("metering the machine")?;
    Ok(machine.running() <= Some(spare(machine.processors())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_machine_is_not_waited_for_and_a_pause_is() {
        let mut waits = IdleWaits::new(Span::from_secs(1));
        assert_eq!(waits.until(|| Ok(true)).unwrap(), Span::ZERO);
        let mut looks = 0;
        let third = || {
            looks += 1;
            Ok(looks == 3)
        };
        let waited = waits.until(third).unwrap();
        assert!(
            waited >= INTERVAL * 2 && waited < Span::from_secs(1),
            "{waited}"
        );
        assert_eq!(waits.left() + waited, Span::from_secs(1));
    }

    #[test]
    fn work_that_never_pauses_is_waited_for_less_and_less() {
        let mut waits = IdleWaits {
            left: Span::from_millis(100),
            longest: Span::from_millis(8),
        };
        let spent: Vec<Span> = (0..60)
            .map(|_| waits.until(|| Ok(false)).unwrap())
            .collect();
        assert!(spent[0] >= Span::from_millis(8));
        assert!(waits.longest < Span::from_millis(1));
        let none = IdleWaits::default().until(|| Ok(false));
        assert_eq!(none.unwrap(), Span::ZERO, "no time, no wait");
    }
}
