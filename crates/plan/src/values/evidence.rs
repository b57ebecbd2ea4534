//! The evidence of a trial.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::Names;
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

/// The evidence of a trial: values of JSON by name, sorted. It is kept as text, and
/// read where it is asked for. In large runs the text is not in memory.
#[derive(Clone)]
pub struct Evidence(Storage);

#[derive(Clone)]
enum Storage {
    /// All of it in memory.
    Here(Text),
    /// At a place of a store.
    There { known: Arc<Known>, place: u64 },
}

/// Names and values.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Text {
    names: Names,
    /// The values, each with a line break behind it.
    values: Box<str>,
}

/// The part of stored evidence that is in memory. Many trials share it.
#[derive(Debug)]
pub(super) struct Known {
    /// All names; the values of those that do not stay are empty.
    text: Text,
    store: Arc<dyn EvidenceStore>,
}

impl Known {
    /// By what two of them differ.
    pub(super) fn key(&self) -> impl Ord + use<'_> {
        (&self.text, Arc::as_ptr(&self.store).addr())
    }
}

impl Text {
    fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let names = self.names.iter().map(AsRef::as_ref);
        names.zip(self.values.lines())
    }

    /// The text of one value.
    fn get(&self, name: &str) -> Option<&str> {
        self.values.lines().nth(self.names.place(name)?)
    }
}

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
        self.names().place(fact.name()).is_some()
    }

    /// The value of `name`.
    pub(crate) fn parsed<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let parsed = |text: &str| serde_json::from_str(text).ok();
        match &self.0 {
            Storage::Here(text) => parsed(text.get(name)?),
            Storage::There { known, place } => match known.text.get(name)? {
                "" => known.store.read(*place).parsed(name),
                kept => parsed(kept),
            },
        }
    }

    /// Names and values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (String, Value)> {
        let parsed = |(name, text): (&str, &str)| {
            let value = serde_json::from_str(text).ok()?;
            Some((name.to_owned(), value))
        };
        let all: Vec<_> = self.text().iter().filter_map(parsed).collect();
        all.into_iter()
    }

    /// Whether each name with the text of its value `holds`.
    pub fn all_texts(&self, holds: impl Fn(&str, &str) -> bool) -> bool {
        self.text().iter().all(|(name, text)| holds(name, text))
    }

    /// The same evidence in memory, to ask it for several values.
    pub fn loaded(&self) -> Cow<'_, Self> {
        match &self.0 {
            Storage::Here(_) => Cow::Borrowed(self),
            Storage::There { known, place } => Cow::Owned(known.store.read(*place)),
        }
    }

    /// Evidence of texts of JSON without line breaks, by `names`.
    pub(super) fn of_texts<'a>(names: Names, texts: impl Iterator<Item = &'a str> + Clone) -> Self {
        let bytes = texts.clone().map(|text| text.len() + 1).sum();
        let mut values = String::with_capacity(bytes);
        for text in texts {
            values.push_str(text);
            values.push('\n');
        }
        let values = values.into();
        Self(Storage::Here(Text { names, values }))
    }

    /// Gives `fact` this value; `None`: it is unknown.
    pub fn insert<T: Serialize>(&mut self, fact: Fact<T>, value: impl Into<Option<T>>) {
        let mut notes = Notes::default();
        notes.note(fact, value);
        for (name, value) in notes.0 {
            self.set(name, value);
        }
    }

    /// Gives `name` this value.
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        self.change(|all| drop(all.insert(name.to_owned(), value)));
    }

    /// Removes the value of `name`.
    pub(crate) fn remove(&mut self, name: &str) {
        self.retain(|other| other != name);
    }

    /// Keeps the values whose names are `wanted`.
    pub fn retain(&mut self, wanted: impl Fn(&str) -> bool) {
        if !self.names().iter().all(|name| wanted(name)) {
            self.change(|all| all.retain(|name, _| wanted(name)));
        }
    }

    /// The values as one object of JSON.
    pub fn json(&self) -> String {
        let text = self.text();
        let mut json = String::with_capacity(text.values.len() + 16 * text.names.len());
        for (name, text) in text.iter() {
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

    /// The bytes of values that are in memory for this trial alone.
    pub fn bytes(&self) -> usize {
        match &self.0 {
            Storage::Here(text) => text.values.len(),
            Storage::There { .. } => 0,
        }
    }

    /// Why evidence of this store could not be read, if it could not.
    pub fn failure(&self) -> Option<&str> {
        match &self.0 {
            Storage::Here(_) => None,
            Storage::There { known, .. } => known.store.failure(),
        }
    }

    /// The part that stays in memory if `store` has the rest; `None` if a store has it already.
    pub(super) fn known(&self, store: &Arc<dyn EvidenceStore>) -> Option<Known> {
        let Storage::Here(text) = &self.0 else {
            return None;
        };
        let mut values = String::new();
        for (name, value) in text.iter() {
            if stays(name) {
                values.push_str(value);
            }
            values.push('\n');
        }
        let text = Text {
            names: text.names.clone(),
            values: values.into(),
        };
        let store = Arc::clone(store);
        Some(Known { text, store })
    }

    /// The same evidence at `place` of the store of `known`.
    pub(super) const fn at(known: Arc<Known>, place: u64) -> Self {
        Self(Storage::There { known, place })
    }

    /// The names, if they are of this trial alone.
    pub(super) const fn own_names(&mut self) -> Option<&mut Names> {
        match &mut self.0 {
            Storage::Here(text) => Some(&mut text.names),
            Storage::There { .. } => None,
        }
    }

    fn names(&self) -> &Names {
        match &self.0 {
            Storage::Here(text) => &text.names,
            Storage::There { known, .. } => &known.text.names,
        }
    }

    /// All of it.
    fn text(&self) -> Cow<'_, Text> {
        match &self.0 {
            Storage::Here(text) => Cow::Borrowed(text),
            Storage::There { known, place } => {
                Cow::Owned(known.store.read(*place).text().into_owned())
            }
        }
    }

    fn change(&mut self, change: impl FnOnce(&mut BTreeMap<String, Value>)) {
        let mut all = self.iter().collect();
        change(&mut all);
        *self = Self::of(all.iter().map(|(name, value)| (name.as_str(), value)));
    }

    /// Evidence of names, sorted, and their values.
    fn of<'a>(all: impl Iterator<Item = (&'a str, &'a Value)>) -> Self {
        let mut text = String::new();
        let names = all.map(|(name, value)| {
            // Text of JSON on one line: line breaks in strings are escaped.
            text.push_str(&value.to_string());
            text.push('\n');
            name.into()
        });
        let names = names.collect();
        let values = text.into();
        Self(Storage::Here(Text { names, values }))
    }
}

/// Whether the evidence `name` stays in memory: findings ask each trial for it.
fn stays(name: &str) -> bool {
    let asked = [LIMIT_MBIT.name(), GOODPUT_LATE_PERCENT.name()];
    metric_of_resolution(name).is_some() || asked.contains(&name)
}

impl Default for Evidence {
    fn default() -> Self {
        Self(Storage::Here(Text::default()))
    }
}

impl PartialEq for Evidence {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl From<Notes> for Evidence {
    fn from(Notes(all): Notes) -> Self {
        Self::of(all.iter().map(|(name, value)| (*name, value)))
    }
}

impl fmt::Debug for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Serialize for Evidence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Texts that are no JSON are left out, as in `iter`.
        let raw = |(name, text)| Some((name, serde_json::from_str::<&RawValue>(text).ok()?));
        serializer.collect_map(self.text().iter().filter_map(raw))
    }
}

impl<'de> Deserialize<'de> for Evidence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let all = BTreeMap::<String, Value>::deserialize(deserializer)?;
        Ok(Self::of(
            all.iter().map(|(name, value)| (name.as_str(), value)),
        ))
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
