//! Flags: conditions that put a finished trial in doubt.

use std::fmt;
use std::str::FromStr;

/// A condition that puts a finished trial in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flag {
    /// Goodput exceeds the theoretical maximum of the link, so the link did not
    /// limit the rate.
    AboveLimit,
    /// A link's token bucket is too deep for the warm-up to drain it.
    BucketNotDrained,
    /// A kernel that stamps arrivals left some without a stamp: the program's are later.
    Unstamped,
    /// The system of a receiver stamps no arrivals, so its program did.
    ProgramStamps,
    /// Other processes used the CPUs: run-queue wait or steal was high.
    Disturbed,
    /// An end host used a whole CPU, so the trial measured the host and not the
    /// link.
    CpuBound,
    /// The clock was stepped during the trial.
    ClockStepped,
    /// Captured frames contradict the offload setting.
    OffloadsDiffer,
    /// TCP used a congestion control other than the one set.
    CongestionDiffers,
    /// The kernel set a socket buffer of another size than requested.
    BufferDiffers,
    /// The host itself dropped packets.
    HostDrops,
    /// Captured frames contradict the MTU.
    MtuDiffers,
    /// The emulator forwarded frames late.
    EmulatorLate,
    /// Messages left later than their schedule says.
    SenderLate,
    /// A one-way delay is smaller than the bound of the clocks' offset.
    ClocksApart,
    /// An interface dropped or damaged packets.
    NicDrops,
    /// The machine named as router did not carry the traffic.
    RouterBypassed,
    /// Goodput of a transfer is below half of what links, windows and hosts allow.
    BelowLimit,
}

impl Flag {
    /// Every flag, in the order of reports.
    pub const ALL: [Self; 18] = [
        Self::AboveLimit,
        Self::BucketNotDrained,
        Self::Unstamped,
        Self::ProgramStamps,
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
        Self::ClocksApart,
        Self::NicDrops,
        Self::RouterBypassed,
        Self::BelowLimit,
    ];

    /// The name of the flag in journals.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AboveLimit => "above-limit",
            Self::BucketNotDrained => "bucket-not-drained",
            Self::Unstamped => "unstamped",
            Self::ProgramStamps => "program-stamps",
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
            Self::ClocksApart => "clocks-apart",
            Self::NicDrops => "nic-drops",
            Self::RouterBypassed => "router-bypassed",
            Self::BelowLimit => "below-limit",
        }
    }

    /// Whether one trial with this flag fails the quality check; other flags are
    /// notes.
    pub const fn fails(self) -> bool {
        match self {
            Self::AboveLimit
            | Self::BucketNotDrained
            | Self::Unstamped
            | Self::ClockStepped
            | Self::OffloadsDiffer
            | Self::CongestionDiffers
            | Self::MtuDiffers => true,
            Self::ProgramStamps
            | Self::Disturbed
            | Self::CpuBound
            | Self::BufferDiffers
            | Self::HostDrops
            | Self::EmulatorLate
            | Self::SenderLate
            | Self::ClocksApart
            | Self::NicDrops
            | Self::RouterBypassed
            | Self::BelowLimit => false,
        }
    }

    /// A short description of the flag for reports.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::AboveLimit => "goodput above what the link can carry",
            Self::BucketNotDrained => "a token bucket deeper than half the warm-up",
            Self::Unstamped => "arrivals without the kernel's stamp",
            Self::ProgramStamps => "a system stamps no arrivals, so the program did",
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
            Self::ClocksApart => "one-way delays smaller than the bound of the clocks' offset",
            Self::NicDrops => "an interface dropped or damaged packets",
            Self::RouterBypassed => "the router's interfaces carried less than the payload",
            Self::BelowLimit => {
                "goodput below half of what links, windows and hosts allow, and no host was busy"
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
            .ok_or_else(|| {
                anyhow::anyhow!("{text:?} is not a trial flag; see docs/reference/metrics.md")
            })
    }
}
