//! The parts of an argument's help.

use clap::Arg;

/// The start of a default that the text of a help names.
const DEFAULT: &str = " [default: ";

/// The help of an argument, as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Help {
    /// Its meaning.
    pub(crate) meaning: String,
    /// Its default, where it has one: as the text says, or a value.
    pub(crate) default: Option<String>,
    /// Each word that it may be, with its meaning if it needs one.
    pub(crate) words: Vec<(String, Option<String>)>,
}

impl Help {
    pub(crate) fn of(argument: &Arg) -> Self {
        let text = argument.get_help().map(ToString::to_string);
        let text = text.unwrap_or_default();
        let (meaning, stated) = match text.strip_suffix(']').and_then(|it| it.split_once(DEFAULT)) {
            Some((meaning, default)) => (meaning.to_owned(), Some(default.to_owned())),
            None => (text, None),
        };
        let takes_values = argument.get_action().takes_values();
        let values = argument.get_default_values().iter();
        let values: Vec<_> = values.map(|value| value.to_string_lossy()).collect();
        let is_shown = takes_values && !values.is_empty() && !argument.is_hide_default_value_set();
        let words = argument.get_possible_values().into_iter();
        let words = words.filter(|_| takes_values && !argument.is_hide_possible_values_set());
        Self {
            meaning,
            default: stated.or_else(|| is_shown.then(|| values.join(" "))),
            words: words
                .map(|word| {
                    let help = word.get_help().map(ToString::to_string);
                    (word.get_name().to_owned(), help)
                })
                .collect(),
        }
    }
}
