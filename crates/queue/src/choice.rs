//! Disciplines by their names.

use alloc::vec::Vec;
use core::fmt;

use units::Bytes;

use crate::keys::{Keyed, Keys, Reaction, Visitor};
use crate::spec::DISCIPLINES;
use crate::{BadSpec, Limit, Spec};

/// A discipline that can be asked for by name.
pub struct Choice {
    /// Its name, and that of the table of its keys.
    pub name: &'static str,
    /// The first words of that table, in Markdown.
    pub about: &'static str,
    configure: fn(Limit, Bytes, &mut Visitor<'_>) -> Configured,
}

/// A discipline that was set by keys.
#[derive(Clone, Debug)]
pub struct Configured {
    /// The discipline, or why its keys do not go together.
    pub spec: Result<Spec, BadSpec>,
    /// The reaction of sources to notices of drops; `None` if the queue sends none.
    pub notices: Option<Reaction>,
    /// Keys that were written and have no effect beside the others, each as what a
    /// rejection of it would say.
    pub idle: Vec<BadSpec>,
}

impl Choice {
    pub(crate) const fn of<D: Keyed>() -> Self
    where
        D::Settings: Into<Spec>,
    {
        Self {
            name: D::NAME,
            about: D::ABOUT,
            configure: configured::<D>,
        }
    }

    /// The discipline called `name`.
    pub fn named(name: &str) -> Option<&'static Self> {
        DISCIPLINES.iter().find(|choice| choice.name == name)
    }

    /// The discipline that there is where none is named.
    pub const fn usual() -> &'static Self {
        &DISCIPLINES[0]
    }

    /// The discipline where `limit` may wait and the largest frame has
    /// `largest` bytes, after its keys were shown to `visitor`: those of the
    /// queue of each class too, where it has classes.
    pub fn configure(&self, limit: Limit, largest: Bytes, visitor: &mut Visitor<'_>) -> Configured {
        (self.configure)(limit, largest, visitor)
    }
}

impl fmt::Debug for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Choice {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

fn configured<D: Keyed>(limit: Limit, largest: Bytes, visitor: &mut Visitor<'_>) -> Configured
where
    D::Settings: Into<Spec>,
{
    let mut draft = D::usual(limit, largest);
    draft.keys(&mut Keys::new(D::NAME, visitor));
    Configured {
        notices: draft.notices(),
        idle: draft.idle(),
        spec: draft.settings().map(Into::into),
    }
}
