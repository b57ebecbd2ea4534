//! Modes of path MTU discovery.

/// The treatment of the path MTU by a sender's kernel [ip(7)].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum PathMtu {
    /// The default of the machine.
    #[default]
    Machine,
    /// Fragments oversized packets and does not set DF: over IPv4 routers may fragment
    /// further.
    Dont,
    /// Sets DF, and fragments packets above the known path MTU.
    Want,
    /// Sets DF, and rejects packets above the known path MTU.
    Do,
    /// Sets DF, and ignores the known path MTU.
    Probe,
}

impl PathMtu {
    /// The modes by the words for them.
    pub const WORDS: &[(&str, Self)] = &[
        ("machine", Self::Machine),
        ("dont", Self::Dont),
        ("want", Self::Want),
        ("do", Self::Do),
        ("probe", Self::Probe),
    ];
}
