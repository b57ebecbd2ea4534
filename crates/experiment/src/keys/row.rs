//! A row of the table of keys.

use keyfile::{Node, Origin, Value};
use plan::{Action, SideEffect};

use super::support::Backends;
use crate::values_file;

/// Keys of the same tables.
#[derive(Debug)]
pub(crate) struct Section {
    /// The tables that have these keys; empty: the head of the file. A part in
    /// capitals stands for any name.
    pub(crate) tables: &'static [&'static str],
    /// The kinds of traffic that have them; empty: all.
    pub(crate) kinds: &'static [&'static str],
    /// The purpose of the tables.
    pub(crate) about: &'static str,
    /// The backends' support of the tables as a whole.
    pub(crate) backends: Backends,
    pub(crate) keys: &'static [Key],
}

/// A key of the format.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// The type and unit of its value in a user's terms.
    pub(crate) kind: &'static str,
    pub(crate) default: DefaultValue,
    pub(crate) meaning: &'static str,
    pub(crate) backends: Backends,
    pub(crate) effect: Effect,
}

/// What a value makes a run do outside of its results folder and of networks that it
/// builds itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing.
    None,
    /// This, with every value.
    Does(Action),
    /// It changes interfaces of hosts that the run did not build, unless the value is this
    /// one.
    Changes(&'static str),
    /// It reads the file that the value names, which may be outside of the experiment's
    /// folder.
    Reads,
}

/// The type of a key that names a queue discipline; documents list the names.
pub(crate) const QUEUES: &str = "the name of a queue";

impl Key {
    /// What the value of this key, which stands at `path`, does outside of a run, which
    /// builds its network itself or not.
    pub(crate) fn side_effect(&self, path: &str, node: &Node, builds: bool) -> Option<SideEffect> {
        let value = match &node.value {
            Value::Text(text) => text.clone(),
            value => value.to_string(),
        };
        Some(SideEffect {
            action: self.effect.of(&value, builds)?,
            key: path.to_owned(),
            is_option: matches!(node.origin, Origin::Option { .. }),
            value,
        })
    }
}

impl Effect {
    /// What `value` makes a run do.
    fn of(self, value: &str, builds: bool) -> Option<Action> {
        match self {
            Self::None => None,
            Self::Does(action) => Some(action),
            Self::Changes(neutral) => {
                let changes = !builds && value != neutral;
                changes.then_some(Action::Change)
            }
            Self::Reads => values_file::leaves_its_folder(value).then_some(Action::Read),
        }
    }
}

/// The default of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefaultValue {
    Text(&'static str),
    Number(i64),
    /// None: the key is required.
    Required,
    /// None: without the key the feature is absent.
    Absent,
    /// A description of how the default follows from other keys.
    Follows(&'static str),
}

impl DefaultValue {
    /// The default value, if it is a value.
    pub(crate) fn value(self) -> Option<Value> {
        match self {
            Self::Text(text) => Some(text.into()),
            Self::Number(number) => Some(number.into()),
            Self::Required | Self::Absent | Self::Follows(_) => None,
        }
    }
}
