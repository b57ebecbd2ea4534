//! Recordings: the outcome of every frame on an emulated link, as a CSV file for
//! replay (docs/reference/formats.md).

mod read;
#[cfg(target_os = "linux")]
mod write;

use std::path::Path;

use anyhow::{Context, Result};
use files::Folder;
use link::{PacketOutcome, Reseed, Settings};
use queue::Reason;
use serde::{Deserialize, Serialize};
use units::Time;

pub use read::{Decision, Input, Recorded, Traced};
#[cfg(target_os = "linux")]
pub use write::Recording;

/// The version of the format.
const FORMAT: u32 = 3;

/// The version of which recordings can be read, too: their seeds stand at the end.
const SEEDS_LAST: u32 = 2;

/// The prefix of the first line, before its JSON.
const MAGIC: &str = "# jumbolab recording ";

/// The prefix of lines about random streams: direction, packets before,
/// time, seed.
const CHANCE: &str = "# chance ";

/// The last line of a whole recording.
const END: &str = "# end";

/// The names of the columns.
const COLUMNS: &str = "arrival_ps,left_ps,direction,size,flow,outcome,number,reason,marked,class,precedence,markable,tags,live,served_ps";

/// The outcome of a packet that was still waiting at the end.
const WAITING: &str = "waiting";

/// The description of a recorded link.
#[derive(Clone, Debug, PartialEq)]
pub struct Heading {
    /// The origin of all times, on the clock that the link was given.
    pub origin: Time,
    /// The link of each direction.
    pub directions: [Settings; 2],
    /// The restarts of the random streams of each direction so far, the initial
    /// seeds first.
    pub reseeds: [Vec<Reseed>; 2],
}

/// The first line of the file.
#[derive(Serialize, Deserialize)]
struct FirstLine {
    format: u32,
    origin_ps: u64,
    #[serde(rename = "ways")]
    directions: [Settings; 2],
}

/// The files of one trial: recordings, packet logs, and files of its programs.
#[derive(Clone, Copy, Debug)]
pub struct ArtifactDir<'a> {
    /// The results folder.
    pub results: &'a Path,
    /// The trial's name within the plan.
    pub trial: &'a str,
}

impl ArtifactDir<'_> {
    /// The folder `name` of the results folder, created if needed.
    ///
    /// # Errors
    /// It is a link, or cannot be created.
    pub(crate) fn folder(&self, name: &str) -> Result<Folder> {
        let folder = Folder::open(self.results).and_then(|results| results.folder(name));
        folder.with_context(|| format!("cannot use {}", self.results.join(name).display()))
    }
}

const fn word(outcome: PacketOutcome) -> &'static str {
    match outcome {
        PacketOutcome::Delivered => "delivered",
        PacketOutcome::Duplicated => "duplicated",
        PacketOutcome::Dropped => "dropped",
        PacketOutcome::Lost => "lost",
        PacketOutcome::Damaged => "damaged",
        PacketOutcome::TooBig => "too-big",
    }
}

const fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::Full => "full",
        Reason::Early => "early",
        Reason::Forced => "forced",
        Reason::Late => "late",
    }
}
