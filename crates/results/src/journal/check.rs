//! Checks the numbers of a trial that was read from a journal.

use std::fmt;

use anyhow::bail;
use plan::setting::LARGEST_MESSAGE;
use plan::{LARGEST_FIGURE, Trial};
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The bound of the absolute value of any number of the evidence: integers of
/// 64 bits, such as seeds and instants, are below.
const LARGEST_NUMBER: f64 = 1e20;

/// The evidence whose texts are lists of numbers: by message size, by link and by flow
/// over time, and quantiles by flow.
const LISTS: [&str; 5] = [
    "sizes",
    "series",
    "flow_series",
    "delay_quantiles",
    "rtt_quantiles",
];

/// The word of such a list for an unknown value.
const UNKNOWN: &str = "-";

/// The maximum number of characters of a value in a message.
const MOST_SHOWN: usize = 40;

/// Whether every number of `trial` is finite and within its range; of a trial whose evidence
/// is still the text of its line.
pub(super) fn is_in_range(trial: &Trial) -> bool {
    let is_figure = |value: f64| value.is_finite() && value.abs() <= LARGEST_FIGURE;
    let is_value = |name: &str, text: &str| match LISTS.contains(&name) {
        false => serde_json::from_str::<InRange>(text).is_ok(),
        true => serde_json::from_str::<Value>(text)
            .is_ok_and(|value| evidence(name, &value).is_ok() && lists(name, &value).is_ok()),
    };
    trial.seconds >= 0.0
        && is_figure(trial.seconds)
        && trial.metrics.iter().all(|(_, &value)| is_figure(value))
        && trial.evidence.all_texts(is_value)
}

/// A value of JSON, read only if all its numbers are in range.
struct InRange;

impl<'de> Deserialize<'de> for InRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for InRange {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("numbers in the range of a trial")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self, E> {
        match value.abs() <= LARGEST_NUMBER {
            true => Ok(self),
            false => Err(E::custom("out of range")),
        }
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<IgnoredAny, Self>()?.is_some() {}
        Ok(self)
    }
}

/// Checks that every number of `trial` is finite and within its range.
///
/// # Errors
/// The key and the value of the first that is not, in one line.
pub(super) fn finite_and_in_range(trial: &Trial) -> anyhow::Result<()> {
    if !(0.0..=LARGEST_FIGURE).contains(&trial.seconds) {
        return refused("seconds", &format!("{:e}", trial.seconds));
    }
    for (name, value) in trial.metrics.iter() {
        if !value.is_finite() || value.abs() > LARGEST_FIGURE {
            return refused(name, &format!("{value:e}"));
        }
    }
    for (name, value) in trial.evidence.iter() {
        evidence(&name, &value)?;
        if LISTS.contains(&name.as_str()) {
            lists(&name, &value)?;
        }
    }
    Ok(())
}

/// Checks the numbers of evidence at any depth; the JSON reader limits the
/// depth.
fn evidence(key: &str, value: &Value) -> anyhow::Result<()> {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(known) if known.abs() <= LARGEST_NUMBER => Ok(()),
            Some(known) => refused(key, &format!("{known:e}")),
            None => refused(key, &number.to_string()),
        },
        Value::Array(values) => values.iter().try_for_each(|value| evidence(key, value)),
        Value::Object(values) => values
            .iter()
            .try_for_each(|(name, value)| evidence(&format!("{key}.{name}"), value)),
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

/// Checks texts that are lists of numbers.
fn lists(key: &str, value: &Value) -> anyhow::Result<()> {
    match value {
        Value::Object(values) => values
            .iter()
            .try_for_each(|(name, value)| lists(&format!("{key}.{name}"), value)),
        Value::String(text) => text
            .split_whitespace()
            .try_for_each(|word| listed(key, word)),
        _ => Ok(()),
    }
}

fn listed(key: &str, word: &str) -> anyhow::Result<()> {
    if word == UNKNOWN {
        return Ok(());
    }
    let known = word.parse::<f64>().ok();
    let is_in_range = match key {
        "sizes.size" => word
            .parse()
            .is_ok_and(|size: u64| (1..=LARGEST_MESSAGE.get()).contains(&size)),
        _ => known.is_some_and(|number| number.abs() <= LARGEST_FIGURE),
    };
    match is_in_range {
        true => Ok(()),
        false => refused(key, word),
    }
}

fn refused(key: &str, value: &str) -> anyhow::Result<()> {
    let shown = |text: &str| -> String { text.chars().take(MOST_SHOWN).collect() };
    bail!(
        "{} = {}: this is not a finite number in the range of a trial; restore the line or start anew with -o DIR",
        shown(key),
        shown(value)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::synthetic::{factors, trial};
    use serde_json::json;

    fn refusal(trial: &Trial) -> Option<String> {
        let error = finite_and_in_range(trial).err()?;
        Some(error.to_string())
    }

    #[test]
    fn figures_of_trials_pass() {
        let mut good = trial(factors(9000), 1, &[("delay", -0.5), ("segments", 1e12)]);
        for (key, value) in [
            ("seed", json!(u64::MAX)),
            ("clock_step_us", json!(-17)),
            ("congestion", json!("cubic nan")),
            ("dropped", json!([[0, 1], [2, 3]])),
            (
                "sizes",
                json!({ "size": "1 16777216", "mean_us": "0.250 1e3" }),
            ),
            (
                "series",
                json!({ "wire": { "interval_s": 0.5, "average": "- 1.5" } }),
            ),
            ("delay_quantiles", json!({ "web": "0.5 1.5" })),
        ] {
            good.evidence.insert(key, value);
        }
        assert_eq!(refusal(&good), None);
    }

    #[test]
    fn numbers_that_no_trial_has_are_refused_by_key() {
        let good = trial(factors(9000), 1, &[]);
        for value in [1e19, -1e100, f64::NAN, f64::INFINITY] {
            let mut bad = good.clone();
            bad.metrics.insert("rtt", value);
            assert!(refusal(&bad).unwrap().starts_with("rtt = "), "{value}");
            let mut bad = good.clone();
            bad.seconds = value;
            assert!(refusal(&bad).unwrap().starts_with("seconds = "), "{value}");
        }
        for (key, value, place) in [
            ("limit_mbit", json!(1e100), "limit_mbit = 1e100"),
            ("sent", json!([1, [-1e30]]), "sent = -1e30"),
            (
                "sizes",
                json!({ "mean_us": "1 nan" }),
                "sizes.mean_us = nan",
            ),
            (
                "sizes",
                json!({ "least_us": "inf" }),
                "sizes.least_us = inf",
            ),
            (
                "sizes",
                json!({ "mean_us": "1e308" }),
                "sizes.mean_us = 1e308",
            ),
            ("sizes", json!({ "whole_us": "x" }), "sizes.whole_us = x"),
            ("sizes", json!({ "size": "1 0" }), "sizes.size = 0"),
            ("sizes", json!({ "size": "1.5" }), "sizes.size = 1.5"),
            (
                "sizes",
                json!({ "size": "4294967295" }),
                "sizes.size = 4294967295",
            ),
            (
                "series",
                json!({ "wire": { "queue": "1 NaN" } }),
                "series.wire.queue = NaN",
            ),
            (
                "flow_series",
                json!({ "web": { "octets": "1 x" } }),
                "flow_series.web.octets = x",
            ),
            (
                "delay_quantiles",
                json!({ "web": "1 1e19" }),
                "delay_quantiles.web = 1e19",
            ),
            (
                "rtt_quantiles",
                json!({ "web": "-inf" }),
                "rtt_quantiles.web = -inf",
            ),
        ] {
            let mut bad = good.clone();
            bad.evidence.insert(key, value);
            let error = refusal(&bad).unwrap_or_else(|| panic!("{place} passes"));
            assert!(error.starts_with(place), "{error}");
        }
        let mut long = good.clone();
        let text = "9".repeat(100_000);
        long.evidence.insert("sizes", json!({ "size": text }));
        assert!(refusal(&long).unwrap().len() < 200);
    }
}
