//! What the worlds make of a key.

use plan::World;

/// What one world makes of a key or of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Support {
    /// Which values it takes.
    pub(crate) takes: Takes,
    /// What that depends on besides, for the page: the reader of the key checks
    /// it.
    pub(crate) condition: &'static str,
}

/// Which values of a key a world takes. Values are compared as they are written
/// canonically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Any value.
    Any,
    /// Any value, and none makes a difference: why.
    NoEffect(&'static str),
    /// No value: why the key is refused wherever it is written.
    Nothing(&'static str),
    /// These values; why others are refused.
    Only(&'static [&'static str], &'static str),
    /// All values but these, and why each of them is refused.
    AllBut(&'static [(&'static str, &'static str)]),
    /// These values; with others the cell is kept, and why it is not measured.
    Measured(&'static [&'static str], &'static str),
}

/// What each world makes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Worlds {
    netns: Support,
    sim: Support,
}

impl Worlds {
    /// What `world` makes of it.
    pub(crate) const fn support(&self, world: World) -> &Support {
        match world {
            World::Netns => &self.netns,
            World::Sim => &self.sim,
        }
    }
}

impl Support {
    /// Why no value is taken, if that is so.
    pub(crate) const fn refusal(&self) -> Option<&'static str> {
        match self.takes {
            Takes::Nothing(why) => Some(why),
            _ => None,
        }
    }

    /// The same under a condition.
    pub(super) const fn if_(self, condition: &'static str) -> Self {
        Self { condition, ..self }
    }
}

/// Every value counts.
pub(super) const HONOURED: Support = takes(Takes::Any);

/// Every value counts under a condition that the reader of the key checks.
pub(super) const fn when(condition: &'static str) -> Support {
    HONOURED.if_(condition)
}

/// Read, without effect: why.
pub(super) const fn no_effect(why: &'static str) -> Support {
    takes(Takes::NoEffect(why))
}

/// Refused wherever it is written: why.
pub(super) const fn refused(why: &'static str) -> Support {
    takes(Takes::Nothing(why))
}

/// These values are taken; why others are refused.
pub(super) const fn only(values: &'static [&'static str], why: &'static str) -> Support {
    takes(Takes::Only(values, why))
}

/// All values are taken but these; why each of them is refused.
pub(super) const fn all_but(values: &'static [(&'static str, &'static str)]) -> Support {
    takes(Takes::AllBut(values))
}

/// These values are measured; why a cell with another one is not.
pub(super) const fn measured(values: &'static [&'static str], why: &'static str) -> Support {
    takes(Takes::Measured(values, why))
}

/// What worlds with kernels make of a key, and what worlds with simulated
/// packets do. The only place that fills in the worlds one by one.
pub(super) const fn worlds(kernels: Support, simulator: Support) -> Worlds {
    Worlds {
        netns: kernels,
        sim: simulator,
    }
}

/// Honoured in every world.
pub(super) const fn everywhere() -> Worlds {
    worlds(HONOURED, HONOURED)
}

/// Honoured by the simulator; what kernels make of it.
pub(super) const fn kernels(support: Support) -> Worlds {
    worlds(support, HONOURED)
}

/// Honoured by kernels; what the simulator makes of it.
pub(super) const fn simulator(support: Support) -> Worlds {
    worlds(HONOURED, support)
}

const fn takes(takes: Takes) -> Support {
    Support {
        takes,
        condition: "",
    }
}
