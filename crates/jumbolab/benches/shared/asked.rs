//! The arguments after `cargo bench -p jumbolab --bench NAME --`.

use std::error::Error;

/// The requested rounds and names.
pub(crate) struct Asked {
    pub(crate) rounds: usize,
    /// All selected names, in their defined order.
    pub(crate) names: Vec<&'static str>,
}

impl Asked {
    /// Reads a number of rounds, and names or parts of them. The defaults are
    /// `rounds` and all `known` names.
    ///
    /// # Errors
    /// A word is not part of any name.
    pub(crate) fn read(rounds: usize, known: &[&'static str]) -> Result<Self, Box<dyn Error>> {
        // Cargo adds options of its own.
        let words = std::env::args()
            .skip(1)
            .filter(|word| !word.starts_with('-'));
        let (numbers, parts): (Vec<String>, Vec<String>) =
            words.partition(|word| word.parse::<usize>().is_ok());
        // An exact name selects itself only, even if other names contain it.
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
