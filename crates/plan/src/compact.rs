//! Texts and lists in few bytes: a run may hold a million trials.

use std::borrow::Borrow;
use std::fmt;
use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The longest text that [`TrialName`] keeps in place.
const IN_PLACE: usize = 14;

/// The name of a trial. Names of up to 14 bytes take no memory of their own.
#[derive(Clone)]
pub struct TrialName(Name);

#[derive(Clone)]
enum Name {
    Short(u8, [u8; IN_PLACE]),
    // A thin pointer: the name is no larger than a short one.
    #[expect(clippy::box_collection, reason = "a pointer of 8 bytes instead of 24")]
    Long(Box<String>),
}

impl TrialName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Name::Short(length, bytes) => bytes
                .get(..usize::from(*length))
                .and_then(|bytes| std::str::from_utf8(bytes).ok())
                .unwrap_or_default(),
            Name::Long(text) => text,
        }
    }
}

impl From<&str> for TrialName {
    fn from(text: &str) -> Self {
        let mut bytes = [0; IN_PLACE];
        let place = bytes.get_mut(..text.len());
        Self(match (place, u8::try_from(text.len())) {
            (Some(place), Ok(length)) => {
                place.copy_from_slice(text.as_bytes());
                Name::Short(length, bytes)
            }
            _ => Name::Long(Box::new(text.to_owned())),
        })
    }
}

impl From<String> for TrialName {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<TrialName> for String {
    fn from(name: TrialName) -> Self {
        name.as_str().to_owned()
    }
}

impl Deref for TrialName {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for TrialName {
    fn as_ref(&self) -> &str {
        self
    }
}

impl Borrow<str> for TrialName {
    fn borrow(&self) -> &str {
        self
    }
}

impl PartialEq for TrialName {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for TrialName {}

impl PartialEq<str> for TrialName {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for TrialName {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Display for TrialName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl fmt::Debug for TrialName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl Serialize for TrialName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for TrialName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = TrialName;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a trial")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<TrialName, E> {
                Ok(text.into())
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

/// A list that is empty in most trials. An empty one takes the bytes of a pointer.
#[derive(Clone)]
#[expect(clippy::box_collection, reason = "a pointer of 8 bytes instead of 24")]
pub struct OptionalVec<T>(Option<Box<Vec<T>>>);

impl<T: 'static> OptionalVec<T> {
    const EMPTY: &'static Vec<T> = &Vec::new();
}

impl<T> Default for OptionalVec<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: 'static> Deref for OptionalVec<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        self.0.as_deref().unwrap_or(Self::EMPTY)
    }
}

impl<T: 'static> DerefMut for OptionalVec<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        self.0.get_or_insert_default()
    }
}

impl<T> From<Vec<T>> for OptionalVec<T> {
    fn from(list: Vec<T>) -> Self {
        Self((!list.is_empty()).then(|| Box::new(list)))
    }
}

impl<T> FromIterator<T> for OptionalVec<T> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Self {
        Vec::from_iter(all).into()
    }
}

impl<'a, T: 'static> IntoIterator for &'a OptionalVec<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: PartialEq + 'static> PartialEq for OptionalVec<T> {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl<T: PartialEq<U> + 'static, U, const N: usize> PartialEq<[U; N]> for OptionalVec<T> {
    fn eq(&self, other: &[U; N]) -> bool {
        self.as_slice() == other
    }
}

impl<T: fmt::Debug + 'static> fmt::Debug for OptionalVec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl<T: Serialize + 'static> Serialize for OptionalVec<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_slice().serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OptionalVec<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_name_is_the_text_that_it_was_made_of(text in "\\PC{0,24}") {
            let name = TrialName::from(text.as_str());
            prop_assert_eq!(name.as_str(), &text);
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(&serde_json::to_string(&name).unwrap(), &json);
            prop_assert_eq!(serde_json::from_str::<TrialName>(&json).unwrap(), name);
        }

        #[test]
        fn a_list_is_the_one_that_it_was_made_of(list in prop::collection::vec(any::<u8>(), 0..4)) {
            let mut rare = OptionalVec::from(list.clone());
            prop_assert_eq!(rare.as_slice(), list.as_slice());
            prop_assert_eq!(serde_json::to_string(&rare).unwrap(), serde_json::to_string(&list).unwrap());
            rare.push(7);
            prop_assert_eq!(rare.last(), Some(&7));
        }
    }
}
