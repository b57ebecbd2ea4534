//! Keys of one link that are those of all links where it has none.

use anyhow::Result;

use super::Keys;
use crate::reader::{Found, Meaning, Reader};
use crate::tree::{Origin, Value};

/// A table whose keys, where they are missing, are those of another.
pub(super) struct Inherited<'r, 'a, 'd> {
    pub(super) reader: &'r mut Reader<'a>,
    pub(super) table: &'r str,
    pub(super) defaults: Option<&'d Keys>,
}

impl Inherited<'_, '_, '_> {
    /// A key of this table alone.
    pub(super) fn own<T>(
        &mut self,
        key: &str,
        meaning: impl FnOnce(&Value) -> Meaning<T>,
    ) -> Result<Option<Found<T>>> {
        self.reader
            .optional(&format!("{}.{key}", self.table), meaning)
    }

    /// A key that, where it is not written here, is what the medium makes it.
    pub(super) fn preset<T: Clone>(
        &mut self,
        key: &str,
        preset: Option<(Value, Origin)>,
        meaning: impl Fn(&Value) -> Meaning<T>,
        inherited: impl Fn(&Keys) -> &Found<T>,
    ) -> Result<Found<T>> {
        match preset {
            Some((value, cause)) => {
                let path = format!("{}.{key}", self.table);
                self.reader.follows(&path, value, &cause, meaning)
            }
            None => self.key(key, meaning, inherited),
        }
    }

    /// A key that plan.toml has only where the experiment writes it.
    pub(super) fn if_written<T: Clone>(
        &mut self,
        key: &str,
        meaning: impl Fn(&Value) -> Meaning<T>,
        inherited: impl Fn(&Keys) -> &Option<Found<T>>,
    ) -> Result<Option<Found<T>>> {
        let own = self.own(key, meaning)?;
        Ok(own.or_else(|| inherited(self.defaults?).clone()))
    }

    /// A key of this table, or else of the other, or else its default.
    pub(super) fn key<T: Clone>(
        &mut self,
        key: &str,
        meaning: impl Fn(&Value) -> Meaning<T>,
        inherited: impl Fn(&Keys) -> &Found<T>,
    ) -> Result<Found<T>> {
        let path = format!("{}.{key}", self.table);
        match self.defaults {
            None => self.reader.read(&path, meaning),
            Some(defaults) => {
                let own = self.reader.optional(&path, meaning)?;
                Ok(own.unwrap_or_else(|| inherited(defaults).clone()))
            }
        }
    }
}
