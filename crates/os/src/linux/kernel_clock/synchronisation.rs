//! How well a time service keeps the wall clock.

use serde::{Deserialize, Serialize};
use units::Span;

use crate::error::{OperationContext, Result};
use crate::sys::adjtimex::clock_state;

/// The state of the wall clock as the kernel has it from a time service, such as NTP or
/// PTP [adjtimex(2)].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Synchronisation {
    /// Whether a time service keeps the clock.
    pub synchronised: bool,
    /// The error that the service estimates; `None` if it never said.
    pub estimated_error: Option<Span>,
    /// The bound of the error; `None` if the clock is not synchronised.
    pub maximum_error: Option<Span>,
}

/// The errors that the kernel states without a time service, in microseconds.
const UNKNOWN: i64 = 16_000_000;

impl Synchronisation {
    /// Reads the state of this machine.
    ///
    /// # Errors
    /// If the kernel rejects.
    pub fn read() -> Result<Self> {
        let state = clock_state().during(|| "reading the state of the clock")?;
        let error = |micros: i64| {
            let known = u64::try_from(micros).ok().filter(|_| micros < UNKNOWN);
            known.map(Span::from_micros)
        };
        Ok(Self {
            synchronised: state.synchronised,
            estimated_error: error(state.estimated_error).filter(|_| state.synchronised),
            maximum_error: error(state.maximum_error).filter(|_| state.synchronised),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_nothing_keeps_has_no_known_error() {
        let state = Synchronisation::read().unwrap();
        assert!(
            state.synchronised || state.maximum_error.is_none(),
            "{state:?}"
        );
    }
}
