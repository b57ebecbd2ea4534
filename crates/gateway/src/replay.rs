//! Lets recorded arrivals come to a gateway again. Under the recorded settings it makes
//! every decision again; under others the result tells what would have been.

mod settings;

use anyhow::{Context as _, Result};

use crate::machine::{Decision, Event, Settings};
use crate::recording::{Recording, Section};
pub use settings::{Variant, variants};

/// The agreement of a replay under the recorded settings with the recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Recorded decisions.
    pub compared: u64,
    /// Decisions that the replay made again, each at its time.
    pub agreed: u64,
    /// The first decision that differs, by its number from 0.
    pub first: Option<u64>,
}

/// The sections of a recording, each with decisions about its arrivals.
pub type Decided<'a> = Vec<(&'a Section, Vec<Decision>)>;

/// Replays `recording` under its own settings.
///
/// # Errors
/// No gateway can work with these settings.
pub fn reproduce(recording: &Recording) -> Result<Agreement> {
    let mut agreement = Agreement::default();
    for (place, section) in recording.sections.iter().enumerate() {
        let replayed = crate::machine::replay(settings_of(section)?, &section.events, true)?;
        let recorded: Vec<&Decision> = decisions(section).collect();
        let is_last = place + 1 == recording.sections.len();
        // Behind the end of a recording that was cut there is nothing to compare with.
        let count = match is_last && !recording.is_whole {
            true => recorded.len(),
            false => recorded.len().max(replayed.len()),
        };
        for number in 0..count {
            if recorded.get(number).copied() == replayed.get(number) {
                agreement.agreed += 1;
            } else if agreement.first.is_none() {
                agreement.first = Some(agreement.compared + number as u64);
            }
        }
        agreement.compared += count as u64;
    }
    Ok(agreement)
}

/// The decisions as recorded.
pub fn recorded(recording: &Recording) -> Decided<'_> {
    let sections = recording.sections.iter();
    let decided = sections.map(|section| (section, decisions(section).cloned().collect()));
    decided.collect()
}

/// The decisions under other settings.
///
/// # Errors
/// No gateway can work with these settings.
pub fn replay_with<'a>(recording: &'a Recording, variant: &Variant) -> Result<Decided<'a>> {
    let mut decided = Vec::new();
    for section in &recording.sections {
        let settings = variant.of(&section.settings)?;
        let settings = settings.settings().context("an MTU is out of range")?;
        let made = crate::machine::replay(settings, &section.events, false);
        decided.push((section, made.with_context(|| variant.name.clone())?));
    }
    Ok(decided)
}

fn settings_of(section: &Section) -> Result<Settings> {
    let settings = section.settings.settings();
    settings.context("the recorded settings have an MTU that is out of range")
}

fn decisions(section: &Section) -> impl Iterator<Item = &Decision> {
    section.events.iter().filter_map(|event| match event {
        Event::Decided(decision) => Some(decision),
        _ => None,
    })
}
