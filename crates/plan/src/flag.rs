//! What can be wrong with a trial.

use std::fmt;
use std::str::FromStr;

/// What can be wrong with a trial that finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flag {
    /// Goodput above the link's theoretical maximum: the link was none.
    AboveLimit,
    /// A link's token bucket is too deep for the pre-roll to drain it.
    BucketNotDrained,
    /// Arrivals were stamped by the user's clock, later than they happened.
    Unstamped,
    /// Others used the CPUs: run-queue wait or steal was high.
    Disturbed,
    /// An end used a whole processor: it, not the link, was measured.
    CpuBound,
    /// The clock was stepped during the trial.
    ClockStepped,
    /// Frames seen on the wire contradict the offload setting.
    OffloadsDiffer,
    /// TCP ran another congestion control than was set.
    CongestionDiffers,
    /// The kernel gave another socket buffer than was asked for.
    BufferDiffers,
    /// The host itself dropped packets.
    HostDrops,
    /// Frames seen on the wire contradict the MTU.
    MtuDiffers,
    /// The emulator let frames go late.
    EmulatorLate,
    /// Messages left later than their law says.
    SenderLate,
}

impl Flag {
    /// Every flag, in the order of reports.
    pub const ALL: [Self; 13] = [
        Self::AboveLimit,
        Self::BucketNotDrained,
        Self::Unstamped,
        Self::Disturbed,
        Self::CpuBound,
        Self::ClockStepped,
        Self::OffloadsDiffer,
        Self::CongestionDiffers,
        Self::BufferDiffers,
        Self::HostDrops,
        Self::MtuDiffers,
        Self::EmulatorLate,
        Self::SenderLate,
    ];

    /// The word in journals.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AboveLimit => "above-limit",
            Self::BucketNotDrained => "bucket-not-drained",
            Self::Unstamped => "unstamped",
            Self::Disturbed => "disturbed",
            Self::CpuBound => "cpu-bound",
            Self::ClockStepped => "clock-stepped",
            Self::OffloadsDiffer => "offloads-differ",
            Self::CongestionDiffers => "congestion-differs",
            Self::BufferDiffers => "buffer-differs",
            Self::HostDrops => "host-drops",
            Self::MtuDiffers => "mtu-differs",
            Self::EmulatorLate => "emulator-late",
            Self::SenderLate => "sender-late",
        }
    }

    /// Whether one such trial fails the certificate; other flags are notes.
    pub const fn fails(self) -> bool {
        match self {
            Self::AboveLimit
            | Self::BucketNotDrained
            | Self::Unstamped
            | Self::ClockStepped
            | Self::OffloadsDiffer
            | Self::CongestionDiffers
            | Self::MtuDiffers => true,
            Self::Disturbed
            | Self::CpuBound
            | Self::BufferDiffers
            | Self::HostDrops
            | Self::EmulatorLate
            | Self::SenderLate => false,
        }
    }

    /// What it means, in a few words.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::AboveLimit => "goodput above what the link can carry",
            Self::BucketNotDrained => "a token bucket deeper than half the pre-roll",
            Self::Unstamped => "arrivals without the kernel's stamp",
            Self::Disturbed => "other work on the CPUs",
            Self::CpuBound => "an end used a whole CPU: the host, not the link, was measured",
            Self::ClockStepped => "the clock was stepped",
            Self::OffloadsDiffer => "frames contradict the offload setting",
            Self::CongestionDiffers => "another congestion control than set",
            Self::BufferDiffers => "another socket buffer than set",
            Self::HostDrops => "packets dropped by the host",
            Self::MtuDiffers => "frames contradict the MTU",
            Self::EmulatorLate => {
                "one frame in a hundred left an emulated link more than 100 us late"
            }
            Self::SenderLate => {
                "one message in a hundred left more than 1 ms late: more was offered than went through"
            }
        }
    }
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Flag {
    type Err = anyhow::Error;
    fn from_str(text: &str) -> anyhow::Result<Self> {
        Self::ALL
            .into_iter()
            .find(|flag| flag.as_str() == text)
            .ok_or_else(|| anyhow::anyhow!("{text:?} is no flag of a trial; see docs/formats.md"))
    }
}
