//! Recordings of a gateway: what came to be aggregated, and each decision toward the core,
//! as lines of a file for replay (docs/reference/formats.md).

mod described;
#[cfg(target_os = "linux")]
mod line;
mod read;
#[cfg(target_os = "linux")]
mod write;

use queue::Reason;

pub(crate) use described::DescribedUplink;
pub use described::{Described, DescribedPeer};
pub use read::{Recording, Section};
#[cfg(target_os = "linux")]
pub use write::RecordingFile;

/// The version of the format.
const FORMAT: u32 = 3;

/// The prefix of lines with settings.
const SETTINGS: &str = "# settings ";

/// The last line of a whole recording.
const END: &str = "# end";

/// The reasons of drops, by their words.
const REASONS: [(&str, Reason); 4] = [
    ("full", Reason::Full),
    ("early", Reason::Early),
    ("forced", Reason::Forced),
    ("late", Reason::Late),
];

/// The first line of a file.
#[derive(serde::Serialize, serde::Deserialize)]
struct FirstLine {
    format: u32,
    /// The time from which all others count, on a clock that is never set.
    origin_ps: u64,
}

#[cfg(test)]
mod tests;
