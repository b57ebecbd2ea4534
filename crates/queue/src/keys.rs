//! The keys of a discipline: what text may set of its settings.
//!
//! A discipline shows its keys to a visitor one by one, each with the field
//! that it sets. The visitor reads a value into the field, or looks at the
//! default that is in it. It has its own notion of text; there is none here.

use alloc::vec::Vec;

use units::{Bytes, Span};

use crate::law::{Profile, Spread};
use crate::{BadSpec, Limit};

/// A key, as documents and messages have it.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// How it is written.
    pub name: &'static str,
    /// In one sentence.
    pub meaning: &'static str,
    /// The default in words, where it depends on other keys.
    pub default: Option<&'static str>,
    /// Whether it concerns sources that the queue notifies of its drops.
    pub is_for_sources: bool,
}

impl Key {
    /// A key of the queue itself, whose default is what its field holds.
    pub const fn new(name: &'static str, meaning: &'static str) -> Self {
        Self {
            name,
            meaning,
            default: None,
            is_for_sources: false,
        }
    }

    /// The same with a default in words.
    pub const fn or(self, words: &'static str) -> Self {
        Self {
            default: Some(words),
            ..self
        }
    }

    /// The same, about sources.
    pub const fn for_sources(self) -> Self {
        Self {
            is_for_sources: true,
            ..self
        }
    }
}

/// The field that a key sets, by the type of its values.
pub enum Field<'a> {
    /// A time.
    Span(&'a mut Span),
    /// A time, or none.
    SpanOrNone(&'a mut Option<Span>),
    /// A size in bytes.
    Size(&'a mut Bytes),
    /// A length of the queue in frames.
    Frames(&'a mut f64),
    /// A length of the queue in the unit of the law.
    Threshold {
        /// The length.
        length: &'a mut f64,
        /// Becomes true where it was written in bytes.
        bytes: &'a mut bool,
    },
    /// A number from 0 on.
    Number(&'a mut f64),
    /// From 0 to 1.
    Probability(&'a mut f64),
    /// The least and the largest share, from 0 to 1.
    Shares(&'a mut f64, &'a mut f64),
    /// Above 0, at most 1.
    Weight(&'a mut f64),
    /// A whole number from 1 on.
    Count {
        /// The largest.
        most: u16,
        /// The number.
        count: &'a mut u16,
    },
    /// On or off.
    Switch(&'a mut bool),
    /// One of some words.
    Word(&'a mut dyn NamedChoice),
    /// The name of a discipline.
    Queue(&'a mut dyn NamedChoice),
}

/// A choice by name.
pub trait NamedChoice {
    /// All words.
    fn words(&self) -> Vec<&'static str>;

    /// The word that is chosen.
    fn word(&self) -> &'static str;

    /// Chooses `word`, and says whether it is one of them.
    fn choose(&mut self, word: &str) -> bool;
}

/// A type of which each value has a word.
pub(crate) trait Word: Copy + PartialEq + 'static {
    const WORDS: &'static [(&'static str, Self)];
}

impl<T: Word> NamedChoice for T {
    fn words(&self) -> Vec<&'static str> {
        T::WORDS.iter().map(|(word, _)| *word).collect()
    }

    fn word(&self) -> &'static str {
        let named = T::WORDS.iter().find(|(_, value)| value == self);
        named.map_or("", |(word, _)| word)
    }

    fn choose(&mut self, word: &str) -> bool {
        let named = T::WORDS.iter().find(|(name, _)| *name == word);
        if let Some((_, value)) = named {
            *self = *value;
        }
        named.is_some()
    }
}

/// Who is shown keys: given the discipline, the key and the field that it sets,
/// it says whether the key was written.
pub type Visitor<'a> = dyn FnMut(&'static str, &Key, Field<'_>) -> bool + 'a;

/// Shows the keys of one discipline to a visitor.
pub(crate) struct Keys<'a, 'b> {
    discipline: &'static str,
    visitor: &'a mut Visitor<'b>,
}

impl<'a, 'b> Keys<'a, 'b> {
    pub(crate) fn new(discipline: &'static str, visitor: &'a mut Visitor<'b>) -> Self {
        Self {
            discipline,
            visitor,
        }
    }

    /// Shows a key, and returns whether it was written.
    pub(crate) fn show(&mut self, key: Key, field: Field<'_>) -> bool {
        (self.visitor)(self.discipline, &key, field)
    }

    /// Shows a key whose default is what its field holds.
    pub(crate) fn key(&mut self, name: &'static str, meaning: &'static str, field: Field<'_>) {
        self.show(Key::new(name, meaning), field);
    }

    /// The visitor, for the keys of another discipline.
    pub(crate) fn visitor(&mut self) -> &mut Visitor<'b> {
        self.visitor
    }
}

/// A discipline that is set by keys.
pub(crate) trait Keyed: Sized {
    /// Its settings, once all keys were read.
    type Settings;
    /// How it is asked for, and how the table of its keys is called.
    const NAME: &'static str;
    /// The first words of the table of its keys.
    const ABOUT: &'static str;

    /// The usual settings where `limit` may wait and the largest frame has
    /// `largest` bytes.
    fn usual(limit: Limit, largest: Bytes) -> Self;

    /// Shows every key in the order of the documents, with its field.
    fn keys(&mut self, keys: &mut Keys<'_, '_>);

    /// The settings.
    ///
    /// # Errors
    /// Where keys do not go together.
    fn settings(self) -> Result<Self::Settings, BadSpec>;

    /// The reaction of sources to notices of drops; `None` if the queue sends none.
    fn notices(&self) -> Option<Reaction> {
        None
    }

    /// Keys that were written and have no effect beside the others.
    fn idle(&self) -> Vec<BadSpec> {
        Vec::new()
    }
}

/// The reaction of sources to a drop notification [Mulahuwaish s3].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// They send what was dropped again.
    Retransmit,
    /// They also bring down their window.
    RetransmitAndReduce,
}

impl Word for Reaction {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("retransmit", Self::Retransmit),
        ("retransmit + reduce", Self::RetransmitAndReduce),
    ];
}

impl Word for Spread {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("independent", Self::Independent),
        ("uniform", Self::Uniform),
        ("wait", Self::Wait),
    ];
}

impl Word for Profile {
    const WORDS: &'static [(&'static str, Self)] = &[("clean", Self::Clean), ("ns2", Self::Ns2)];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CodelSettings;

    #[test]
    fn the_keys_of_codel_set_all_its_settings_but_the_sizes() {
        let mut codel = CodelSettings::usual(Limit::Packets(9), Bytes::new(1_500));
        let mut names = Vec::new();
        let mut visitor = |_, key: &Key, field: Field<'_>| {
            names.push(key.name);
            match field {
                Field::Span(span) => *span = Span::from_millis(names.len() as u64),
                Field::Switch(switch) => *switch = true,
                _ => return false,
            }
            true
        };
        codel.keys(&mut Keys::new(CodelSettings::NAME, &mut visitor));
        assert_eq!(names, ["target", "interval", "ecn"]);
        let set = CodelSettings {
            target: Span::from_millis(1),
            interval: Span::from_millis(2),
            ecn: true,
            ..CodelSettings::new(Limit::Packets(9), Bytes::new(1_500))
        };
        assert_eq!(codel, set);
    }

    #[test]
    fn a_key_is_of_the_queue_without_a_default_in_words_unless_it_says_so() {
        let key = Key::new("target", "Meaning.");
        assert_eq!((key.name, key.meaning), ("target", "Meaning."));
        assert_eq!((key.default, key.is_for_sources), (None, false));
        let other = key.or("as the link").for_sources();
        assert_eq!((other.name, other.meaning), ("target", "Meaning."));
        assert_eq!(
            (other.default, other.is_for_sources),
            (Some("as the link"), true)
        );
    }
}
