//! Reads the varied settings of a replay from arguments of `--set`.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use experiment::Experiment;
use link::Settings;
use plan::Backend;
use queue::Limit;
use units::{Bytes, Framing};

use crate::recording::{Recorded, Traced};

/// The shipped experiment whose keys can be varied.
const EXPERIMENT: &str = "replay";

/// The backend whose links are recorded.
const RECORDED: Backend = Backend::Netns;

/// The error for other keys.
const KEYS: &str = "a replay has one link and its recorded arrivals; write rate, buffer, queue and its parameters, delay, jitter, jitter_distribution, loss, bit_error_rate, reorder, duplicate or mtu, all of [network]";

/// A varied link.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// The variation, as requested.
    pub name: String,
    /// Each direction.
    pub directions: [Settings; 2],
}

/// The variants that `sets` request: one for each combination of levels. All
/// other settings are as recorded.
///
/// # Errors
/// One line of text for the first invalid argument.
pub fn variants(recorded: &Recorded, sets: &[String]) -> Result<Vec<Variant>> {
    if sets.is_empty() {
        return Ok(Vec::new());
    }
    let [there, back] = &recorded.directions;
    let (there, back) = (of_direction(there, sets)?, of_direction(back, sets)?);
    Ok(there
        .into_iter()
        .zip(back)
        .map(|((name, there), (_, back))| Variant {
            name,
            directions: [there, back],
        })
        .collect())
}

fn of_direction(traced: &Traced, sets: &[String]) -> Result<Vec<(String, Settings)>> {
    let was = &traced.settings;
    let mut experiment = Experiment::load(EXPERIMENT)?;
    let buffer = match was.queue.limit_of_class() {
        Limit::Bytes(bytes) => bytes.to_string(),
        Limit::Packets(packets) => format!("{packets} packets"),
    };
    let rate = was
        .rate
        .map_or_else(|| "none".to_owned(), |rate| rate.to_string());
    experiment.set(&format!("network.buffer={buffer}"))?;
    experiment.set(&format!("network.rate={rate}"))?;
    experiment.set(&format!("network.mtu={}", largest_packet(traced).get()))?;
    experiment.set(&format!("network.jitter={}", was.jitter))?;
    let mut asked = BTreeSet::new();
    for set in sets {
        let key = experiment.key_of(set)?;
        match key.strip_prefix("network.") {
            Some(key) => asked.insert(key.to_owned()),
            None => bail!("--set {set}: {KEYS}"),
        };
        experiment.set(set)?;
    }
    let plan = crate::backend::plan(experiment, RECORDED)?;
    let mut all = Vec::new();
    for cell in &plan.cells {
        let Ok(setting) = &cell.setting else { continue };
        let Some(link) = setting.network.links.first() else {
            continue;
        };
        let wanted = setting.network.emulated(link);
        let mut settings = was.clone();
        for key in &asked {
            take(&mut settings, &wanted, key)?;
        }
        if asked.contains("buffer") && !asked.iter().any(|key| is_of_queue(key)) {
            *settings.queue.limit_of_class_mut() = wanted.queue.limit_of_class();
        }
        let levels = cell.factors.0.iter();
        let levels = levels.map(|(name, level)| format!("{name}={level}"));
        let swept = |set: &&String| {
            let name = set.split('=').next().unwrap_or_default();
            !cell.factors.0.iter().any(|(factor, _)| factor == name)
        };
        let fixed = sets.iter().filter(swept).cloned();
        let of_no_use = |text: &String| text.starts_with("queue=") && !asked.contains("queue");
        let name: Vec<String> = levels
            .filter(|text| !of_no_use(text))
            .chain(fixed)
            .collect();
        all.push((name.join(" "), settings));
    }
    Ok(all)
}

/// Applies `key` of `wanted` to `settings`.
fn take(settings: &mut Settings, wanted: &Settings, key: &str) -> Result<()> {
    match key {
        "rate" => {
            settings.rate = wanted.rate;
            settings.hold = wanted.hold;
        }
        "delay" => settings.delay = wanted.delay,
        "jitter" => settings.jitter = wanted.jitter,
        "jitter_distribution" => settings.jitter_distribution = wanted.jitter_distribution,
        "loss" => settings.loss = wanted.loss,
        "bit_error_rate" => settings.bit_error_rate = wanted.bit_error_rate,
        "reorder" => settings.reorder = wanted.reorder,
        "duplicate" => settings.duplicate = wanted.duplicate,
        "mtu" => settings.largest_packet = wanted.largest_packet,
        // Applied together with other keys of the queue, or alone.
        "buffer" => {}
        key if is_of_queue(key) => settings.queue = wanted.queue.clone(),
        key => bail!("--set network.{key}: {KEYS}"),
    }
    Ok(())
}

fn is_of_queue(key: &str) -> bool {
    key == "queue" || key.contains('.')
}

/// The largest IP packet that the link carries, or else the largest that
/// arrived.
fn largest_packet(traced: &Traced) -> Bytes {
    let around = Framing::MAC_HEADER + Framing::FCS;
    let sizes = traced.packets.iter().map(|(arrival, _)| arrival.size);
    let frame = Bytes::new(sizes.max().unwrap_or(1518));
    let seen = frame.checked_sub(around).unwrap_or_default();
    let largest = traced.settings.largest_packet.unwrap_or(seen);
    // The bounds of an MTU of IPv4 [RFC791 s3.2].
    largest.clamp(Bytes::new(68), Bytes::new(65_535))
}
