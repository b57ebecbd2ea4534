//! The evidence of a trial.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::evidence::{
    Fact, GOODPUT_LATE_PERCENT, LIMIT_MBIT, Notes, Number, metric_of_resolution,
};

/// Evidence that is not in memory.
pub trait EvidenceStore: fmt::Debug + Send + Sync {
    /// The evidence at `place`; none if it cannot be read, which [`Self::failure`] tells.
    fn read(&self, place: u64) -> Evidence;

    /// Why evidence could not be read, if it could not.
    fn failure(&self) -> Option<&str>;
}

/// The evidence of a trial: values of JSON by name. They are kept as text, and read where
/// they are asked for. In large runs the text is not in memory.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// The values. Of stored evidence those that do not stay in memory are null here, and
    /// many trials share them.
    values: Arc<Values>,
    /// Where all values are.
    stored: Option<(Arc<dyn EvidenceStore>, u64)>,
}

pub(super) type Values = BTreeMap<Box<str>, Box<RawValue>>;

impl Evidence {
    /// The value of `fact`; `None` also if a journal has one of another type.
    pub fn get<T: DeserializeOwned>(&self, fact: Fact<T>) -> Option<T> {
        self.parsed(fact.name())
    }

    /// The value of `fact` as a number; `None` also if a journal has none.
    pub fn number<T: Number>(&self, fact: Fact<T>) -> Option<f64> {
        self.parsed(fact.name())
    }

    /// Whether there is a value of `fact`, which may be null.
    pub fn contains<T>(&self, fact: Fact<T>) -> bool {
        self.values.contains_key(fact.name())
    }

    /// The value of `name`.
    pub(crate) fn parsed<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let value = self.values.get(name)?;
        match &self.stored {
            Some((store, place)) if !stays(name) => store.read(*place).parsed(name),
            _ => serde_json::from_str(value.get()).ok(),
        }
    }

    /// All values by name.
    ///
    /// # Errors
    /// A value has the form of JSON, and cannot be read: a number is too large.
    pub fn all(&self) -> serde_json::Result<BTreeMap<String, Value>> {
        let all = self.loaded();
        let all = all.values.iter();
        all.map(|(name, value)| Ok((name.to_string(), serde_json::from_str(value.get())?)))
            .collect()
    }

    /// The same evidence in memory, to ask it for several values.
    pub fn loaded(&self) -> Cow<'_, Self> {
        match &self.stored {
            None => Cow::Borrowed(self),
            Some((store, place)) => Cow::Owned(store.read(*place)),
        }
    }

    /// Gives `fact` this value; `None`: it is unknown.
    pub fn insert<T: Serialize>(&mut self, fact: Fact<T>, value: impl Into<Option<T>>) {
        let mut notes = Notes::default();
        notes.note(fact, value);
        for (name, value) in notes.0 {
            self.set(name, &value);
        }
    }

    /// Gives `name` this value.
    pub(crate) fn set(&mut self, name: &str, value: &Value) {
        self.change(|all| drop(all.insert(name.into(), raw(value))));
    }

    /// Removes the value of `name`.
    pub(crate) fn remove(&mut self, name: &str) {
        self.change(|all| drop(all.remove(name)));
    }

    /// Keeps the values whose names are `wanted`.
    pub fn retain(&mut self, wanted: impl Fn(&str) -> bool) {
        self.change(|all| all.retain(|name, _| wanted(name)));
    }

    fn change(&mut self, change: impl FnOnce(&mut Values)) {
        let mut all = self.loaded().into_owned();
        change(Arc::make_mut(&mut all.values));
        *self = all;
    }

    /// The values as one object of JSON.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("names and values of JSON are JSON")
    }

    /// The octets of names and values that are in memory for this trial alone.
    pub fn octets(&self) -> usize {
        let all = self.values.iter();
        match self.stored {
            None => all
                .map(|(name, value)| name.len() + value.get().len())
                .sum(),
            Some(_) => 0,
        }
    }

    /// Why evidence of this store could not be read, if it could not.
    pub fn failure(&self) -> Option<&str> {
        self.stored.as_ref()?.0.failure()
    }

    /// Leaves the values to `store`, which has them at `place`. Those that stay in memory are
    /// shared with all evidence in `known` that has the same ones, by their text.
    pub(super) fn leave(
        &mut self,
        store: &Arc<dyn EvidenceStore>,
        place: u64,
        known: &mut BTreeMap<Box<[u8]>, Arc<Values>>,
    ) {
        let mut text = Vec::new();
        let kept = self.values.iter();
        let kept = kept.map(|(name, value)| (name, stays(name).then_some(value)));
        let written = serde_json::Serializer::new(&mut text).collect_map(kept);
        written.expect("names and values of JSON are JSON");
        self.values = match known.get(&*text) {
            Some(known) => Arc::clone(known),
            None => {
                let values = serde_json::from_slice(&text).expect("it was just written");
                let values = Arc::new(values);
                known.insert(text.into(), Arc::clone(&values));
                values
            }
        };
        self.stored = Some((Arc::clone(store), place));
    }
}

/// Whether the evidence `name` stays in memory: findings ask each trial for it.
fn stays(name: &str) -> bool {
    let asked = [LIMIT_MBIT.name(), GOODPUT_LATE_PERCENT.name()];
    metric_of_resolution(name).is_some() || asked.contains(&name)
}

/// The text of a value.
fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).expect("the names of objects are text")
}

impl PartialEq for Evidence {
    fn eq(&self, other: &Self) -> bool {
        self.json() == other.json()
    }
}

impl From<Notes> for Evidence {
    fn from(Notes(all): Notes) -> Self {
        let all = all.iter().map(|(name, value)| ((*name).into(), raw(value)));
        Self {
            values: Arc::new(all.collect()),
            stored: None,
        }
    }
}

impl Serialize for Evidence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.loaded().values.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Evidence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values = Arc::new(Values::deserialize(deserializer)?);
        let stored = None;
        Ok(Self { values, stored })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
            let text = serde_json::to_string(&all).unwrap();
            let evidence: Evidence = serde_json::from_str(&text).unwrap();
            for (name, value) in &all {
                prop_assert_eq!(evidence.parsed(name), Some(value.clone()));
            }
            prop_assert_eq!(evidence.parsed::<Value>("no such name"), None);
            prop_assert_eq!(&evidence.json(), &text);
            prop_assert_eq!(&serde_json::to_string(&evidence).unwrap(), &text);
            prop_assert_eq!(serde_json::from_str::<Evidence>(&text).unwrap(), evidence);
        }
    }
}
