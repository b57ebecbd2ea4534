//! The factors that identify the cells of a sweep, and their levels.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The extra factor of repeated cells with equal levels.
pub const COPY: &str = "copy";

/// The factors of a cell, in sweep order. A level that is listed twice makes
/// two cells; the second has the extra factor [`COPY`] with the level 2.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Factors(pub Vec<(String, Level)>);

/// One value of a factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Level {
    /// A whole number, e.g. an MTU.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// A word or a quantity, e.g. `1gbit`.
    Text(String),
}

impl Level {
    /// Whether two levels are equal in value, even if they are written
    /// differently.
    pub fn is_same(&self, other: &Self) -> bool {
        self == other || self.to_string() == other.to_string()
    }
}

impl Factors {
    /// The level of `factor`, if the cell has this factor.
    pub fn level(&self, factor: &str) -> Option<&Level> {
        self.0
            .iter()
            .find(|(name, _)| name == factor)
            .map(|(_, level)| level)
    }

    /// The levels of these factors, as far as the cell has them.
    pub fn only(&self, names: &[String]) -> Self {
        let mut own = self.0.clone();
        own.retain(|(name, _)| names.contains(name));
        Self(own)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => number.fmt(f),
            Self::Float(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

impl fmt::Display for Factors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (name, level)) in self.0.iter().enumerate() {
            write!(f, "{}{name}={level}", if position == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}

impl Serialize for Factors {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, level)| (name, level)))
    }
}

impl<'de> Deserialize<'de> for Factors {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> serde::de::Visitor<'de> for InOrder {
            type Value = Factors;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of factors")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Factors, A::Error> {
                let mut factors = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    factors.push(entry);
                }
                Ok(Factors(factors))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}
