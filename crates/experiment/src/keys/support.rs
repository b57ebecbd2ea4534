//! The backends' support of a key.

use plan::Backend;

/// One backend's support of a key or table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Support {
    /// The accepted values.
    pub(crate) takes: KeySupport,
    /// An additional condition for the page; the reader of the key checks it.
    pub(crate) condition: &'static str,
}

/// The values of a key that a backend accepts, compared in canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeySupport {
    /// Any value.
    Any,
    /// Any value, without effect; the reason.
    NoEffect(&'static str),
    /// No value; the reason of the rejection.
    Nothing(&'static str),
    /// These values; the reason for rejecting others.
    Only(&'static [&'static str], &'static str),
    /// All values but these, each with its reason.
    AllBut(&'static [(&'static str, &'static str)]),
    /// These values; with others the cell is kept unmeasured, for this reason.
    Measured(&'static [&'static str], &'static str),
}

/// The support of a key by each backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Backends {
    netns: Support,
    hosts: Support,
    sim: Support,
    model: Support,
}

impl Backends {
    /// The support by `backend`.
    pub(crate) const fn support(&self, backend: Backend) -> &Support {
        match backend {
            Backend::Netns => &self.netns,
            Backend::Hosts => &self.hosts,
            Backend::Sim => &self.sim,
            Backend::Model => &self.model,
        }
    }

    /// The same, but `support` by hosts that the user names, between which the
    /// network is as it is.
    pub(super) const fn between_hosts(self, support: Support) -> Self {
        Self {
            hosts: support,
            ..self
        }
    }

    /// The same, but `support` where figures follow from closed forms.
    pub(super) const fn predicted(self, support: Support) -> Self {
        Self {
            model: support,
            ..self
        }
    }
}

impl Support {
    /// The reason why no value is accepted, if none is.
    pub(crate) const fn rejection(&self) -> Option<&'static str> {
        match self.takes {
            KeySupport::Nothing(why) => Some(why),
            _ => None,
        }
    }

    /// The same support under a condition.
    pub(super) const fn if_(self, condition: &'static str) -> Self {
        Self { condition, ..self }
    }
}

/// Every value has an effect.
pub(super) const SUPPORTED: Support = takes(KeySupport::Any);

/// Every value has an effect under a condition that the reader of the key
/// checks.
pub(super) const fn when(condition: &'static str) -> Support {
    SUPPORTED.if_(condition)
}

/// Read without effect, for this reason.
pub(super) const fn no_effect(why: &'static str) -> Support {
    takes(KeySupport::NoEffect(why))
}

/// Rejected, for this reason.
pub(super) const fn rejected(why: &'static str) -> Support {
    takes(KeySupport::Nothing(why))
}

/// Only these values are accepted; the reason for rejecting others.
pub(super) const fn only(values: &'static [&'static str], why: &'static str) -> Support {
    takes(KeySupport::Only(values, why))
}

/// All values are accepted but these, each with its reason.
pub(super) const fn all_but(values: &'static [(&'static str, &'static str)]) -> Support {
    takes(KeySupport::AllBut(values))
}

/// Only these values are measured; the reason for others.
pub(super) const fn measured(values: &'static [&'static str], why: &'static str) -> Support {
    takes(KeySupport::Measured(values, why))
}

/// The support by backends with kernels, and by backends whose hosts an experiment
/// describes: they are simulated, or figures are computed. This is the only place that lists the backends.
pub(super) const fn backends(kernels: Support, simulator: Support) -> Backends {
    Backends {
        netns: kernels,
        hosts: kernels,
        sim: simulator,
        model: simulator,
    }
}

/// Supported in every backend.
pub(super) const fn everywhere() -> Backends {
    backends(SUPPORTED, SUPPORTED)
}

/// Supported by simulated hosts; `support` applies to kernels.
pub(super) const fn kernels(support: Support) -> Backends {
    backends(support, SUPPORTED)
}

/// Supported by kernels; `support` applies to simulated hosts.
pub(super) const fn simulator(support: Support) -> Backends {
    backends(SUPPORTED, support)
}

const fn takes(takes: KeySupport) -> Support {
    Support {
        takes,
        condition: "",
    }
}
