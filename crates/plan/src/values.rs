//! The values of a trial by name, in few octets: a run may hold a million trials.

mod evidence;
mod shared;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Index;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::metric::Metric;
pub use evidence::{Evidence, EvidenceStore};
pub use shared::Shared;

/// Sorted names, shared by all trials with the same ones: see [`Shared`].
type Names = Arc<[Box<str>]>;

/// The position of `name`.
fn place(names: &Names, name: &str) -> Option<usize> {
    names.binary_search_by(|other| (**other).cmp(name)).ok()
}

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

    /// The value of a metric of the catalogue.
    pub fn of(&self, metric: &Metric) -> Option<f64> {
        self.get(metric.name).copied()
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

    /// Whether `other` has the same metrics.
    pub fn has_names_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.names, &other.names) || self.names == other.names
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
        *self = all.into();
    }
}

impl From<BTreeMap<Box<str>, f64>> for Metrics {
    fn from(all: BTreeMap<Box<str>, f64>) -> Self {
        Self {
            values: all.values().copied().collect(),
            names: all.into_keys().collect(),
        }
    }
}

impl<N: Into<Box<str>>> FromIterator<(N, f64)> for Metrics {
    fn from_iter<I: IntoIterator<Item = (N, f64)>>(all: I) -> Self {
        let all = all.into_iter().map(|(name, value)| (name.into(), value));
        BTreeMap::from_iter(all).into()
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
        BTreeMap::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
