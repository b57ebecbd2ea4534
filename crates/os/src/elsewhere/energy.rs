//! Energy of the processors, which other systems than Linux do not state.

use std::fmt;

/// The energy counters of all processor packages: never of this system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Energy {}

/// Why there are no counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// The program reads those of Linux alone.
    OtherSystem,
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("energy counters are read on Linux alone")
    }
}

impl Energy {
    /// Rejects to read the counters.
    ///
    /// # Errors
    /// Always.
    pub fn sample() -> Result<Self, Absence> {
        Err(Absence::OtherSystem)
    }

    /// The joules since `earlier`.
    pub fn joules_since(&self, _: &Self) -> Option<f64> {
        match *self {}
    }
}
