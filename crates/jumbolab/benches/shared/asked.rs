//! What was typed behind `cargo bench -p jumbolab --bench NAME --`.

use std::error::Error;

/// How often, and what.
pub(crate) struct Asked {
    pub(crate) rounds: usize,
    /// All that are meant, in the order in which they are known.
    pub(crate) names: Vec<&'static str>,
}

impl Asked {
    /// Reads a number of rounds, and names or parts of them; where nothing is
    /// said, so many `rounds` of all that are `known`.
    ///
    /// # Errors
    /// When a word is no part of any name.
    pub(crate) fn read(rounds: usize, known: &[&'static str]) -> Result<Self, Box<dyn Error>> {
        // Cargo adds options of its own.
        let words = std::env::args()
            .skip(1)
            .filter(|word| !word.starts_with('-'));
        let (numbers, parts): (Vec<String>, Vec<String>) =
            words.partition(|word| word.parse::<usize>().is_ok());
        // A name means itself alone, also where it is a part of others.
        let is_meant = |name: &str, part: &str| match known.contains(&part) {
            true => name == part,
            false => name.contains(part),
        };
        let nothing = |part: &&String| !known.iter().any(|name| is_meant(name, part));
        if let Some(part) = parts.iter().find(nothing) {
            let known = known.join(", ");
            return Err(format!("there is no `{part}`; there are: {known}").into());
        }
        let asked_for =
            |name: &str| parts.is_empty() || parts.iter().any(|part| is_meant(name, part));
        let typed = numbers.first().and_then(|word| word.parse().ok());
        Ok(Self {
            rounds: typed.unwrap_or(rounds).max(1),
            names: known
                .iter()
                .copied()
                .filter(|name| asked_for(name))
                .collect(),
        })
    }
}
