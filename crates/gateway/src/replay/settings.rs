//! Other settings for a replay, from arguments of `--set`.

use anyhow::{Result, anyhow, bail};
use keyfile::{Origin, Section};
use queue::{Limit, Tick, Trigger};
use units::Bytes;

use crate::recording::{Described, DescribedUplink};
use crate::written::{aggregation, mtu_of, uplink};

/// The keys that can be varied.
const KEYS: [(&str, &[&str]); 3] = [
    ("aggregation", &["trigger", "max_wait", "share", "unit"]),
    ("uplink", &["rate", "queue", "buffer", "seed"]),
    ("peers", &["mtu"]),
];

/// The key whose value has commas of its own.
const WITH_COMMAS: &str = "uplink.queue";

/// Settings that differ from the recorded ones.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The difference, as requested.
    pub name: String,
    /// Each key with its value and the argument that it stands in.
    values: Vec<(String, String, String)>,
}

/// The variants that `sets` request: one for each combination of values, which commas
/// separate.
///
/// # Errors
/// One line of text for the first invalid argument.
pub fn variants(recorded: &[Described], sets: &[String]) -> Result<Vec<Variant>> {
    if sets.is_empty() {
        return Ok(Vec::new());
    }
    let mut variants = vec![Vec::new()];
    for set in sets {
        let (key, text) = read(set)?;
        let values: Vec<&str> = match key == WITH_COMMAS {
            true => vec![text],
            false => text.split(',').collect(),
        };
        let with = |before: &Vec<(String, String, String)>| {
            let before = before.clone();
            let each = values.clone().into_iter().map(move |value| {
                let mut all = before.clone();
                all.push((key.to_owned(), value.to_owned(), set.clone()));
                all
            });
            each.collect::<Vec<_>>()
        };
        variants = variants.iter().flat_map(with).collect();
        if variants.len() > MOST_VARIANTS {
            bail!("--set {set}: more than {MOST_VARIANTS} settings");
        }
    }
    let named = variants.into_iter().map(|values| Variant {
        name: (values
            .iter()
            .map(|(key, value, _)| format!("{key}={value}")))
        .collect::<Vec<_>>()
        .join(" "),
        values,
    });
    let named: Vec<Variant> = named.collect();
    for variant in &named {
        for described in recorded {
            variant.of(described)?;
        }
    }
    Ok(named)
}

/// The most settings of one replay.
const MOST_VARIANTS: usize = 1_000;

/// The key and the text of an argument.
fn read(set: &str) -> Result<(&str, &str)> {
    let known = |key: &str| {
        let (table, name) = key.split_once('.')?;
        let (_, names) = KEYS.iter().find(|(known, _)| *known == table)?;
        names.contains(&name).then_some(())
    };
    let (key, text) = set.split_once('=').unwrap_or((set, ""));
    match known(key) {
        Some(()) => Ok((key, text)),
        None => {
            let keys = KEYS.iter();
            let keys = keys
                .flat_map(|(table, names)| names.iter().map(move |name| format!("{table}.{name}")));
            let keys: Vec<String> = keys.collect();
            Err(anyhow!(
                "--set {set}: of a gateway's recording these can be varied: {}",
                keys.join(", ")
            ))
        }
    }
}

impl Variant {
    /// The settings that differ from `recorded` by this variant.
    ///
    /// # Errors
    /// One line of text for the first invalid argument.
    pub(super) fn of(&self, recorded: &Described) -> Result<Described> {
        let mut described = recorded.clone();
        if let Some(section) = self.section("aggregation", &aggregate_of(recorded)) {
            described.aggregate = aggregation(&section)?;
        }
        if let Some(section) = self.section("peers", &[]) {
            for peer in &mut described.peers {
                peer.mtu = mtu_of(&section, "mtu", peer.mtu.into())?.get();
            }
        }
        if let Some(section) = self.section("uplink", &uplink_of(recorded)) {
            let largest = described.peers.iter().map(|peer| u64::from(peer.mtu)).max();
            let asked = uplink(&section, Bytes::new(largest.unwrap_or(0)))?;
            let mut queue = asked.queue;
            if let (Some(before), false) = (&recorded.uplink, self.names(WITH_COMMAS)) {
                let limit = queue.limit_of_class();
                queue = before.queue.clone();
                *queue.limit_of_class_mut() = limit;
            }
            described.uplink = Some(DescribedUplink {
                rate: asked.rate,
                queue,
                seed: asked.seed.get(),
            });
        }
        if let Some(settings) = described.settings() {
            settings
                .check()
                .map_err(|bad| anyhow!("{}: {bad}", self.name))?;
        }
        Ok(described)
    }

    fn names(&self, key: &str) -> bool {
        self.values.iter().any(|(own, ..)| own == key)
    }

    /// A table with the recorded values and those of this variant; `None` if it has none.
    fn section(&self, table: &str, recorded: &[(&str, String)]) -> Option<Section> {
        let mut section = Section::default();
        for (key, value) in recorded {
            section.set(key, std::slice::from_ref(value), Origin::Default);
        }
        let mut any = false;
        for (key, value, set) in &self.values {
            if let Some(name) = key
                .strip_prefix(table)
                .and_then(|key| key.strip_prefix('.'))
            {
                any = true;
                section.set(
                    name,
                    std::slice::from_ref(value),
                    Origin::option("set", set),
                );
            }
        }
        any.then_some(section)
    }
}

/// The recorded aggregation as text.
fn aggregate_of(recorded: &Described) -> Vec<(&'static str, String)> {
    let aggregate = recorded.aggregate;
    let (trigger, wait) = match aggregate.trigger {
        Trigger::Timer(wait) => ("timer", Some(wait)),
        Trigger::EgressBusy(wait) => ("busy", Some(wait)),
        Trigger::Full => ("full", None),
    };
    let unit = match aggregate.tick {
        Tick::Micro => "1us",
        Tick::TenMicros => "10us",
    };
    let mut values = vec![
        ("trigger", trigger.to_owned()),
        ("unit", unit.to_owned()),
        ("share", aggregate.share.to_string()),
    ];
    values.extend(wait.map(|wait| ("max_wait", wait.to_string())));
    values
}

/// The recorded queue toward the core as text, without its discipline.
fn uplink_of(recorded: &Described) -> Vec<(&'static str, String)> {
    let Some(uplink) = &recorded.uplink else {
        return Vec::new();
    };
    let buffer = match uplink.queue.limit_of_class() {
        Limit::Bytes(bytes) => bytes.to_string(),
        Limit::Packets(packets) => format!("{packets} packets"),
    };
    vec![
        ("rate", uplink.rate.to_string()),
        ("buffer", buffer),
        ("seed", uplink.seed.to_string()),
    ]
}
