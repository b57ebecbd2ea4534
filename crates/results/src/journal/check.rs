//! Checks the numbers of a trial that was read from a journal.

use std::fmt;

use anyhow::bail;
use meter::streaming_recorder::SHARES;
use plan::metric::is_possible;
use plan::setting::LARGEST_MESSAGE;
use plan::{LARGEST_FIGURE, Trial, UNKNOWN, evidence};
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// The bound of the absolute value of any number of the evidence: integers of
/// 64 bits, such as seeds and times, are below.
const LARGEST_NUMBER: f64 = 1e20;

/// The maximum number of factors: each is looked for in the list.
const MOST_FACTORS: usize = 1_000;

/// The evidence whose texts are lists of numbers: by message size, by link and by flow
/// over time, and quantiles by flow.
const LISTS: [&str; 5] = [
    SIZES,
    SERIES,
    FLOW_SERIES,
    evidence::DELAY_QUANTILES.name(),
    evidence::RTT_QUANTILES.name(),
];

const SIZES: &str = evidence::SIZES.name();
const SERIES: &str = evidence::SERIES.name();
const FLOW_SERIES: &str = evidence::FLOW_SERIES.name();

/// The number of quantiles of a flow.
const QUANTILES: usize = SHARES.len();

/// The maximum number of characters of a value in a message.
const MOST_SHOWN: usize = 40;

/// Whether every number of `trial` is finite and within its range; of a trial whose evidence
/// is still the text of its line.
pub(super) fn is_in_range(trial: &Trial) -> bool {
    let is_figure = |value: f64| value.is_finite() && value.abs() <= LARGEST_FIGURE;
    let is_value = |name: &str, text: &str| match LISTS.contains(&name) {
        false => serde_json::from_str::<InRange>(text).is_ok(),
        true => serde_json::from_str::<Value>(text)
            .is_ok_and(|value| evidence(name, &value).is_ok() && list(name, &value).is_ok()),
    };
    trial.factors.0.len() <= MOST_FACTORS
        && trial.seconds >= 0.0
        && is_figure(trial.seconds)
        && { trial.metrics.iter() }.all(|(name, &value)| is_possible(name, value))
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
    let factors = trial.factors.0.len();
    if factors > MOST_FACTORS {
        bail!(
            "factors: {factors} of them, and at most {MOST_FACTORS} are read; restore the line or start anew with -o DIR"
        );
    }
    if !(0.0..=LARGEST_FIGURE).contains(&trial.seconds) {
        return rejected("seconds", &format!("{:e}", trial.seconds));
    }
    for (name, value) in trial.metrics.iter() {
        if !is_possible(name, *value) {
            return rejected(name, &format!("{value:e}"));
        }
    }
    for (name, value) in trial.evidence.iter() {
        evidence(&name, &value)?;
        if LISTS.contains(&name.as_str()) {
            list(&name, &value)?;
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
            Some(known) => rejected(key, &format!("{known:e}")),
            None => rejected(key, &number.to_string()),
        },
        Value::Array(values) => values.iter().try_for_each(|value| evidence(key, value)),
        Value::Object(values) => values
            .iter()
            .try_for_each(|(name, value)| evidence(&format!("{key}.{name}"), value)),
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

/// Checks evidence of [`LISTS`]: numbers, and how lists belong together.
fn list(name: &str, value: &Value) -> anyhow::Result<()> {
    lists(name, value)?;
    let Value::Object(of_names) = value else {
        return Ok(());
    };
    match name {
        SIZES => {
            alike(name, of_names)?;
            ascend("sizes.size", of_names.get("size"), |one, next| one < next)
        }
        SERIES | FLOW_SERIES => of_names.iter().try_for_each(|(own, value)| match value {
            Value::Object(lists) => alike(&format!("{name}.{own}"), lists),
            _ => Ok(()),
        }),
        _ => of_names.iter().try_for_each(|(own, value)| {
            let key = format!("{name}.{own}");
            let count = value.as_str().map_or(QUANTILES, count);
            if count != QUANTILES {
                return rejected_lists(&key, &format!("{count} numbers, and not {QUANTILES}"));
            }
            ascend(&key, Some(value), |one, next| one <= next)
        }),
    }
}

/// The number of values in a list.
fn count(text: &str) -> usize {
    text.split_ascii_whitespace().count()
}

/// Checks that all lists of an object are equally long: a value stands in the same place in
/// each.
fn alike(key: &str, lists: &Map<String, Value>) -> anyhow::Result<()> {
    let mut lists = lists
        .iter()
        .filter_map(|(name, value)| Some((name, count(value.as_str()?))));
    let Some((first, length)) = lists.next() else {
        return Ok(());
    };
    match lists.find(|(_, other)| *other != length) {
        None => Ok(()),
        Some((name, other)) => rejected_lists(
            &format!("{key}.{name}"),
            &format!("{other} numbers, and {first} has {length}"),
        ),
    }
}

/// Checks the order of a list whose numbers are known to be such.
fn ascend(
    key: &str,
    value: Option<&Value>,
    is_right: impl Fn(f64, f64) -> bool,
) -> anyhow::Result<()> {
    let text = value.and_then(Value::as_str).unwrap_or_default();
    let mut last = f64::NEG_INFINITY;
    for word in text.split_ascii_whitespace() {
        let next = word.parse().unwrap_or(f64::NAN);
        if !is_right(last, next) {
            return rejected_lists(key, &format!("{} after {last}", shown(word)));
        }
        last = next;
    }
    Ok(())
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
    let of = key.split_once('.').map(|(of, _)| of);
    let is_series = [Some(SERIES), Some(FLOW_SERIES)].contains(&of);
    if word == UNKNOWN && is_series {
        return Ok(());
    }
    // How long a queue is follows from counts of what comes and goes, which may miss some.
    let least = match of == Some(SERIES) {
        true => -LARGEST_FIGURE,
        false => 0.0,
    };
    let known = word.parse::<f64>().ok();
    let is_in_range = match key {
        "sizes.size" => word
            .parse()
            .is_ok_and(|size: u64| (1..=LARGEST_MESSAGE.get()).contains(&size)),
        _ => known.is_some_and(|number| (least..=LARGEST_FIGURE).contains(&number)),
    };
    match is_in_range {
        true => Ok(()),
        false => rejected(key, word),
    }
}

fn rejected(key: &str, value: &str) -> anyhow::Result<()> {
    bail!(
        "{} = {}: this is not a finite number in the range of a trial; restore the line or start anew with -o DIR",
        shown(key),
        shown(value)
    )
}

fn rejected_lists(key: &str, value: &str) -> anyhow::Result<()> {
    bail!(
        "{} = {value}: these lists do not belong together; restore the line or start anew with -o DIR",
        shown(key)
    )
}

fn shown(text: &str) -> String {
    text.chars().take(MOST_SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::synthetic::{factors, set_evidence, trial};
    use serde_json::json;

    fn rejection(trial: &Trial) -> Option<String> {
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
                json!({ "size": "1 16777216", "mean_us": "0.250 1e3", "note": 1 }),
            ),
            (
                "series",
                json!({ "wire": { "interval_s": 0.5, "queue": "0 -0.01", "average": "- 1.5" } }),
            ),
            (
                "flow_series",
                json!({ "a": { "bytes": "1 2" }, "b": { "bytes": "1" } }),
            ),
            ("delay_quantiles", json!({ "web": "0 0 1 2 3 4 5 6 7 8.5" })),
        ] {
            set_evidence(&mut good, key, value);
        }
        assert_eq!(rejection(&good), None);
        assert!(is_in_range(&good));
    }

    #[test]
    fn numbers_that_no_trial_has_are_rejected_by_key() {
        let good = trial(factors(9000), 1, &[]);
        for value in [1e19, -1e100, f64::NAN, f64::INFINITY] {
            let mut bad = good.clone();
            bad.metrics.insert("rtt", value);
            assert!(rejection(&bad).unwrap().starts_with("rtt = "), "{value}");
            let mut bad = good.clone();
            bad.seconds = value;
            assert!(
                rejection(&bad).unwrap().starts_with("seconds = "),
                "{value}"
            );
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
                json!({ "web": { "bytes": "1 x" } }),
                "flow_series.web.bytes = x",
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
            ("sizes", json!({ "size": "1 -" }), "sizes.size = -"),
            ("sizes", json!({ "mean_us": "1 -" }), "sizes.mean_us = -"),
            (
                "sizes",
                json!({ "deviation_us": "-0.5" }),
                "sizes.deviation_us = -0.5",
            ),
            (
                "sizes",
                json!({ "mean_us": "1 2 3", "size": "5 6", "whole_us": "1 2 3" }),
                "sizes.size = 2 numbers, and mean_us has 3",
            ),
            (
                "sizes",
                json!({ "size": "5 7 6" }),
                "sizes.size = 6 after 7",
            ),
            ("sizes", json!({ "size": "5 5" }), "sizes.size = 5 after 5"),
            (
                "series",
                json!({ "wire": { "arrivals": "1 2 3", "drops": "1 2" } }),
                "series.wire.drops = 2 numbers, and arrivals has 3",
            ),
            (
                "flow_series",
                json!({ "web": { "delay_ms": "-", "bytes": "1 2" } }),
                "flow_series.web.delay_ms = 1 numbers, and bytes has 2",
            ),
            (
                "flow_series",
                json!({ "web": { "rtt_ms": "1 -3" } }),
                "flow_series.web.rtt_ms = -3",
            ),
            (
                "delay_quantiles",
                json!({ "web": "1 2 3" }),
                "delay_quantiles.web = 3 numbers, and not 10",
            ),
            (
                "rtt_quantiles",
                json!({ "web": "1 2 3 4 5 6 7 8 10 9" }),
                "rtt_quantiles.web = 9 after 10",
            ),
        ] {
            let mut bad = good.clone();
            set_evidence(&mut bad, key, value);
            assert!(!is_in_range(&bad), "{place} passes the quick check");
            let error = rejection(&bad).unwrap_or_else(|| panic!("{place} passes"));
            assert!(error.starts_with(place), "{error}");
        }
        let mut wide = good.clone();
        let factor = |number| (format!("f{number}"), plan::Level::Integer(number));
        wide.factors = std::sync::Arc::new(plan::Factors((0..1_001).map(factor).collect()));
        assert!(!is_in_range(&wide));
        assert!(
            rejection(&wide)
                .unwrap()
                .starts_with("factors: 1001 of them")
        );
        let mut long = good.clone();
        let text = "9".repeat(100_000);
        set_evidence(&mut long, "sizes", json!({ "size": text }));
        assert!(rejection(&long).unwrap().len() < 200);
    }
}
