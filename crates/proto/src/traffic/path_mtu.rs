//! How a sender treats the path MTU.

/// What the kernel of a sender does about the path's MTU [ip(7)].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum PathMtu {
    /// What the machine is set to.
    #[default]
    Machine,
    /// Fragments what is too big, and does not set DF: over IPv4 routers may
    /// fragment on.
    Dont,
    /// Sets DF, and fragments what is bigger than the known path MTU.
    Want,
    /// Sets DF, and refuses what is bigger than the known path MTU.
    Do,
    /// Sets DF, and ignores the known path MTU.
    Probe,
}
