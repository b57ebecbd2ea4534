//! Lets recorded arrivals come to a gateway again. Under the recorded settings it makes
//! every decision again; under others the result tells what would have been.

mod outcome;
mod settings;

use anyhow::{Context as _, Result};
use gateway::machine::{Decision, Event, Settings};
use plan::replayed_gateway::ReplayedSettings;

use super::recording::{Recording, Section};
pub use settings::{Variant, variants};

/// The agreement of a replay under the recorded settings with the recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Recorded decisions.
    pub compared: u64,
    /// Decisions that the replay made again, each at its instant.
    pub agreed: u64,
    /// The first decision that differs, by its number from 0.
    pub first: Option<u64>,
}

/// Replays `recording` under its own settings.
///
/// # Errors
/// No gateway can work with these settings.
pub fn reproduce(recording: &Recording) -> Result<Agreement> {
    let mut agreement = Agreement::default();
    for (place, section) in recording.sections.iter().enumerate() {
        let replayed = gateway::machine::replay(settings_of(section)?, &section.events, true)?;
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
pub fn recorded(recording: &Recording) -> ReplayedSettings {
    let sections = recording.sections.iter();
    let decided = sections.map(|section| (section, decisions(section).cloned().collect()));
    outcome::outcome(None, decided)
}

/// The decisions under other settings.
///
/// # Errors
/// No gateway can work with these settings.
pub fn replay_with(recording: &Recording, variant: &Variant) -> Result<ReplayedSettings> {
    let mut decided = Vec::new();
    for section in &recording.sections {
        let settings = variant.of(&section.settings)?;
        let settings = settings.settings().context("an MTU is out of range")?;
        let made = gateway::machine::replay(settings, &section.events, false);
        decided.push((section, made.with_context(|| variant.name.clone())?));
    }
    let name = Some(variant.name.clone());
    Ok(outcome::outcome(name, decided.into_iter()))
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
