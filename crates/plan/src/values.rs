//! The values of a trial by name, in few octets: a run may hold a million trials.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Index;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::Trial;

/// Sorted names, shared by all trials with the same ones: see [`Shared`].
type Names = Arc<[Box<str>]>;

/// The metrics of a trial: numbers by name, sorted.
#[derive(Clone, Default, PartialEq)]
pub struct Metrics {
    names: Names,
    values: Box<[f64]>,
}

impl Metrics {
    /// The value of the metric `name`.
    pub fn get(&self, name: &str) -> Option<&f64> {
        self.values.get(place(&self.names, name)?)
    }

    /// Whether the metric `name` has a value.
    pub fn contains_key(&self, name: &str) -> bool {
        place(&self.names, name).is_some()
    }

    /// The names, sorted.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(AsRef::as_ref)
    }

    /// Names and values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &f64)> {
        self.keys().zip(&self.values)
    }

    /// The number of metrics.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no metric.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The values, to change them.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut f64> {
        self.values.iter_mut()
    }

    /// Gives the metric `name` this value.
    pub fn insert(&mut self, name: &str, value: f64) {
        self.change(|all| {
            all.insert(name.into(), value);
        });
    }

    /// Removes the metric `name`.
    pub fn remove(&mut self, name: &str) {
        self.retain(|other| other != name);
    }

    /// Keeps the metrics whose names are `wanted`.
    pub fn retain(&mut self, wanted: impl Fn(&str) -> bool) {
        if !self.keys().all(&wanted) {
            self.change(|all| all.retain(|name, _| wanted(name)));
        }
    }

    fn change(&mut self, change: impl FnOnce(&mut BTreeMap<Box<str>, f64>)) {
        let own = |(name, value): (&str, &f64)| (name.into(), *value);
        let mut all = self.iter().map(own).collect();
        change(&mut all);
        *self = all.into_iter().collect();
    }
}

impl<N: Into<Box<str>>> FromIterator<(N, f64)> for Metrics {
    fn from_iter<I: IntoIterator<Item = (N, f64)>>(all: I) -> Self {
        let sorted: BTreeMap<Box<str>, f64> = all
            .into_iter()
            .map(|(name, value)| (name.into(), value))
            .collect();
        Self {
            values: sorted.values().copied().collect(),
            names: sorted.into_keys().collect(),
        }
    }
}

impl Index<&str> for Metrics {
    type Output = f64;

    /// The value of a metric that is known to be there.
    fn index(&self, name: &str) -> &f64 {
        self.get(name).expect("the trial has the metric")
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Serialize for Metrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Metrics {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(BTreeMap::<String, f64>::deserialize(deserializer)?
            .into_iter()
            .collect())
    }
}

/// The evidence of a trial: values of JSON by name, sorted. It is kept as text, and
/// read where it is asked for.
#[derive(Clone, Default, PartialEq)]
pub struct Evidence {
    names: Names,
    /// The values, each with a line break behind it.
    text: Box<str>,
}

impl Evidence {
    /// The value of `name`.
    pub fn get(&self, name: &str) -> Option<Value> {
        let text = self.text.lines().nth(place(&self.names, name)?)?;
        serde_json::from_str(text).ok()
    }

    /// The object called `name`; `None` also if its value is another one.
    pub fn object(&self, name: &str) -> Option<Map<String, Value>> {
        match self.get(name)? {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The list called `name`; `None` also if its value is another one.
    pub fn list(&self, name: &str) -> Option<Vec<Value>> {
        match self.get(name)? {
            Value::Array(list) => Some(list),
            _ => None,
        }
    }

    /// Whether there is a value of `name`.
    pub fn contains_key(&self, name: &str) -> bool {
        place(&self.names, name).is_some()
    }

    /// Names and values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Value)> {
        let values = self
            .texts()
            .map(|(name, text)| (name, serde_json::from_str(text)));
        values.filter_map(|(name, value)| Some((name, value.ok()?)))
    }

    /// Gives `name` this value.
    pub fn insert(&mut self, name: &str, value: Value) {
        self.change(|all| drop(all.insert(name.to_owned(), value)));
    }

    /// Removes the value of `name`.
    pub fn remove(&mut self, name: &str) {
        self.retain(|other| other != name);
    }

    /// Keeps the values whose names are `wanted`.
    pub fn retain(&mut self, wanted: impl Fn(&str) -> bool) {
        if !self.names.iter().all(|name| wanted(name)) {
            self.change(|all| all.retain(|name, _| wanted(name)));
        }
    }

    /// The values as one object of JSON.
    pub fn json(&self) -> String {
        let mut json = String::with_capacity(self.text.len() + 16 * self.names.len());
        for (name, text) in self.texts() {
            json.push(if json.is_empty() { '{' } else { ',' });
            json.push_str(&Value::from(name).to_string());
            json.push(':');
            json.push_str(text);
        }
        if json.is_empty() {
            json.push('{');
        }
        json.push('}');
        json
    }

    fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.names.iter().map(AsRef::as_ref).zip(self.text.lines())
    }

    fn change(&mut self, change: impl FnOnce(&mut BTreeMap<String, Value>)) {
        let own = |(name, value): (&str, Value)| (name.to_owned(), value);
        let mut all = self.iter().map(own).collect();
        change(&mut all);
        *self = all.into();
    }
}

impl From<BTreeMap<String, Value>> for Evidence {
    fn from(all: BTreeMap<String, Value>) -> Self {
        let mut text = String::new();
        for value in all.values() {
            // Text of JSON on one line: line breaks in strings are escaped.
            text.push_str(&value.to_string());
            text.push('\n');
        }
        Self {
            names: all.into_keys().map(String::into_boxed_str).collect(),
            text: text.into(),
        }
    }
}

impl fmt::Debug for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Serialize for Evidence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Evidence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(BTreeMap::<String, Value>::deserialize(deserializer)?.into())
    }
}

/// The names that the trials of a run have, each list once.
#[derive(Debug, Default)]
pub struct Shared(BTreeSet<Names>);

impl Shared {
    /// Makes `trial` share its lists of names with those before it.
    pub fn share(&mut self, trial: &mut Trial) {
        for names in [&mut trial.metrics.names, &mut trial.evidence.names] {
            match self.0.get(&**names) {
                Some(known) => *names = Arc::clone(known),
                None => drop(self.0.insert(Arc::clone(names))),
            }
        }
    }
}

/// The position of `name` in sorted names.
fn place(names: &Names, name: &str) -> Option<usize> {
    names.binary_search_by(|other| (**other).cmp(name)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{factors, trial};
    use proptest::prelude::*;
    use serde_json::json;

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(2, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(".{0,4}", inner, 0..4)
                    .prop_map(|all| Value::Object(all.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn evidence_is_the_map_that_it_was_made_of(
            all in prop::collection::btree_map(".{0,6}", any_json(), 0..6),
        ) {
            let evidence = Evidence::from(all.clone());
            for (name, value) in &all {
                prop_assert_eq!(evidence.get(name), Some(value.clone()));
            }
            prop_assert_eq!(evidence.get("no such name"), None);
            let text = serde_json::to_string(&all).unwrap();
            prop_assert_eq!(&evidence.json(), &text);
            prop_assert_eq!(&serde_json::to_string(&evidence).unwrap(), &text);
            prop_assert_eq!(serde_json::from_str::<Evidence>(&text).unwrap(), evidence);
        }
    }

    #[test]
    fn metrics_are_changed_by_name() {
        let mut metrics: Metrics = [("rtt", 2.0), ("delay", 1.0)].into_iter().collect();
        metrics.insert("jitter", 3.0);
        metrics.insert("rtt", 4.0);
        metrics.remove("delay");
        metrics.remove("none");
        assert_eq!(
            metrics.iter().collect::<Vec<_>>(),
            [("jitter", &3.0), ("rtt", &4.0)]
        );
        assert_eq!((metrics.get("delay"), metrics["rtt"]), (None, 4.0));
        assert_eq!(
            serde_json::to_string(&metrics).unwrap(),
            r#"{"jitter":3.0,"rtt":4.0}"#
        );
    }

    #[test]
    fn trials_with_the_same_names_share_them() {
        let of = |value| {
            let mut trial = trial(factors(1500), 1, &[("rtt", value), ("delay", 1.0)]);
            trial.evidence.insert("seed", json!(7));
            trial
        };
        let (mut first, mut second) = (of(1.0), of(2.0));
        let mut shared = Shared::default();
        shared.share(&mut first);
        shared.share(&mut second);
        assert_eq!((&first, &second), (&of(1.0), &of(2.0)));
        assert!(Arc::ptr_eq(&first.metrics.names, &second.metrics.names));
        assert!(Arc::ptr_eq(&first.evidence.names, &second.evidence.names));
    }
}
