//! The evidence of a trial while it is measured.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::fact::{Fact, Number};

/// Evidence by name, to which more is added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notes(pub(crate) BTreeMap<&'static str, Value>);

impl Notes {
    /// Gives `fact` this value; `None`: it is unknown.
    pub fn note<T: Serialize>(&mut self, fact: Fact<T>, value: impl Into<Option<T>>) {
        let value = serde_json::to_value(value.into()).expect("evidence has a form in JSON");
        self.0.insert(fact.name(), value);
    }

    /// The value of `fact`, if it is known.
    pub fn get<T: DeserializeOwned>(&self, fact: Fact<T>) -> Option<T> {
        T::deserialize(self.0.get(fact.name())?).ok()
    }

    /// The value of `fact` as a number, if it is known.
    pub fn number<T: Number>(&self, fact: Fact<T>) -> Option<f64> {
        self.0.get(fact.name())?.as_f64()
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }

    /// Removes the value of `name`.
    pub fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// Whether there is no evidence.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Tests look at the evidence as programs do: by name, as JSON.
#[cfg(any(test, feature = "synthetic"))]
impl Notes {
    /// All of it.
    pub const fn json(&self) -> &BTreeMap<&'static str, Value> {
        &self.0
    }
}

#[cfg(any(test, feature = "synthetic"))]
impl std::ops::Index<&str> for Notes {
    type Output = Value;

    fn index(&self, name: &str) -> &Value {
        &self.0[name]
    }
}
