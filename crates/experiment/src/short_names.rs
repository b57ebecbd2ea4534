//! Names for `--set` besides dotted keys: the aliases of an experiment and its
//! words.

use anyhow::Result;

use super::Experiment;
use super::aliases::Aliases;
use super::choices::Choice;

/// A name that `--set` takes in place of a dotted key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortName {
    pub name: String,
    /// The dotted key, or the words of a name that sets several keys.
    pub sets: Sets,
}

/// The effect of a short name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sets {
    /// It sets this dotted key; a bare number has this unit, if there is one.
    Key {
        /// The dotted key.
        key: String,
        /// The unit of a bare number.
        unit: Option<String>,
    },
    /// Each of its words sets keys of its own.
    Words(Vec<String>),
}

impl Experiment {
    /// The names that `--set` takes for this experiment, sorted: those with words
    /// first, then the aliases of keys.
    ///
    /// # Errors
    /// One line of text if the tables of aliases or choices are invalid.
    pub fn short_names(&self) -> Result<Vec<ShortName>> {
        let aliases = Aliases::read(&self.tree, &self.place)?;
        let words = |choice: &Choice| choice.words.iter().map(|word| word.name.clone()).collect();
        let choices = aliases.choices().iter().map(|(name, choice)| ShortName {
            name: name.to_owned(),
            sets: Sets::Words(words(choice)),
        });
        let keys = aliases.keys().map(|(name, path)| ShortName {
            name: name.to_owned(),
            sets: Sets::Key {
                key: path.to_string(),
                unit: aliases.unit(name).map(str::to_owned),
            },
        });
        Ok(choices.chain(keys).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Vec<ShortName> {
        Experiment::load(name).unwrap().short_names().unwrap()
    }

    #[test]
    fn each_name_is_one_that_set_takes() {
        for shipped in crate::shipped() {
            let experiment = Experiment::load(shipped.name).unwrap();
            for ShortName { name, sets } in of(shipped.name) {
                let key = experiment.key_of(&format!("{name}=1")).unwrap();
                match sets {
                    Sets::Key { key: shown, .. } => assert_eq!(key, shown),
                    Sets::Words(words) => {
                        assert_eq!(key, format!("choices.{name}"));
                        assert!(!words.is_empty(), "{name}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_last_part_of_a_key_leads_to_its_alias() {
        let experiment = Experiment::load("red-increase").unwrap();
        let error = experiment.key_of("max_probability=0.1").unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("did you mean `max_p` (links.bottleneck.red.max_probability)?"),
            "{error}"
        );
    }

    #[test]
    fn words_are_listed_in_the_order_of_the_file_and_units_are_told() {
        let names = of("red-increase");
        let words = |names: &[ShortName]| match &names[0].sets {
            Sets::Words(words) => words.clone(),
            Sets::Key { .. } => Vec::new(),
        };
        assert_eq!(names[0].name, "queue");
        assert_eq!(words(&names)[..2], ["red", "rednog"]);
        let buffer = names.iter().find(|short| short.name == "buffer").unwrap();
        let packets = Sets::Key {
            key: "links.bottleneck.buffer".into(),
            unit: Some("packets".into()),
        };
        assert_eq!(buffer.sets, packets);
    }
}
