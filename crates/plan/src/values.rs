//! The values of a trial by name, in few bytes: a run may hold a million trials.

mod evidence;
mod reader;
mod shared;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, Index};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::metric::Metric;
pub use evidence::{Evidence, EvidenceStore};
pub use reader::TrialReader;
pub use shared::Shared;

/// Sorted names, shared by all trials with the same ones: see [`Shared`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Names(Arc<Box<[Box<str>]>>);

impl Names {
    /// The position of `name`.
    fn place(&self, name: &str) -> Option<usize> {
        self.binary_search_by(|other| (**other).cmp(name)).ok()
    }
}

impl Ord for Names {
    fn cmp(&self, other: &Self) -> Ordering {
        match Arc::ptr_eq(&self.0, &other.0) {
            true => Ordering::Equal,
            false => self.0.cmp(&other.0),
        }
    }
}

impl PartialOrd for Names {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Deref for Names {
    type Target = [Box<str>];

    fn deref(&self) -> &[Box<str>] {
        &self.0
    }
}

impl FromIterator<Box<str>> for Names {
    fn from_iter<I: IntoIterator<Item = Box<str>>>(all: I) -> Self {
        Self(Arc::new(all.into_iter().collect()))
    }
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
        self.values.get(self.names.place(name)?)
    }

    /// The value of a metric of the catalogue.
    pub fn of(&self, metric: &Metric) -> Option<f64> {
        self.get(metric.name).copied()
    }

    /// Whether the metric `name` has a value.
    pub fn contains_key(&self, name: &str) -> bool {
        self.names.place(name).is_some()
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
        Arc::ptr_eq(&self.names.0, &other.names.0) || self.names == other.names
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
