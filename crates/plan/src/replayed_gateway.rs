//! The decisions of a recorded gateway on the packets that it received, and those it would have
//! made under other settings.

use units::Span;

/// A recorded gateway and its replays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayedGateway {
    /// The name of the recording.
    pub recording: String,
    /// Whether the recording goes to its end.
    pub is_whole: bool,
    /// Whether the gateway repeated its decisions, and how many; one sentence.
    pub verdict: String,
    /// Whether it repeated all of them.
    pub is_reproduced: bool,
    /// The settings, the recorded ones first.
    pub settings: Vec<ReplayedSettings>,
}

/// The decisions under one choice of settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayedSettings {
    /// The settings that differ from the recorded ones; `None`: as recorded.
    pub settings: Option<String>,
    /// Packets that were to be aggregated.
    pub arrived: u64,
    /// Packets sent to the core, most of them bundles.
    pub bundles: u64,
    /// Packets from inside that left with them.
    pub sent: u64,
    /// Packets from inside that the queue dropped.
    pub dropped: u64,
    /// Those of them that it took out of bundles.
    pub taken_out: u64,
    /// Packets that the queue marked.
    pub marked: u64,
    /// The times from arrival to departure that 50, 90 and 99 % of the packets did not
    /// exceed.
    pub waits: [Option<Span>; 3],
}
