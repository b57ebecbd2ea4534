//! Keys of one link with defaults from those of all links.

use anyhow::Result;
use keyfile::{Origin, Parsed, Value};

use super::Keys;
use crate::reader::{Reader, Spanned};

/// A table whose missing keys are taken from another one.
pub(super) struct Inherited<'r, 'a, 'd> {
    pub(super) reader: &'r mut Reader<'a>,
    pub(super) table: &'r str,
    pub(super) defaults: Option<&'d Keys>,
}

impl Inherited<'_, '_, '_> {
    /// A key that only this table has.
    pub(super) fn own<T>(
        &mut self,
        key: &str,
        parse: impl FnOnce(&Value) -> Parsed<T>,
    ) -> Result<Option<Spanned<T>>> {
        self.reader
            .optional(&format!("{}.{key}", self.table), parse)
    }

    /// A key with a default from the medium.
    pub(super) fn preset<T: Clone>(
        &mut self,
        key: &str,
        preset: Option<(Value, Origin)>,
        parse: impl Fn(&Value) -> Parsed<T>,
        inherited: impl Fn(&Keys) -> &Spanned<T>,
    ) -> Result<Spanned<T>> {
        match preset {
            Some((value, cause)) => {
                let path = format!("{}.{key}", self.table);
                self.reader.follows(&path, value, &cause, parse)
            }
            None => self.key(key, parse, inherited),
        }
    }

    /// A key that plan.toml has only if the experiment writes it.
    pub(super) fn if_written<T: Clone>(
        &mut self,
        key: &str,
        parse: impl Fn(&Value) -> Parsed<T>,
        inherited: impl Fn(&Keys) -> &Option<Spanned<T>>,
    ) -> Result<Option<Spanned<T>>> {
        let own = self.own(key, parse)?;
        Ok(own.or_else(|| inherited(self.defaults?).clone()))
    }

    /// A key of this table, or of the other one, or its default.
    pub(super) fn key<T: Clone>(
        &mut self,
        key: &str,
        parse: impl Fn(&Value) -> Parsed<T>,
        inherited: impl Fn(&Keys) -> &Spanned<T>,
    ) -> Result<Spanned<T>> {
        let path = format!("{}.{key}", self.table);
        match self.defaults {
            None => self.reader.read(&path, parse),
            Some(defaults) => {
                let own = self.reader.optional(&path, parse)?;
                Ok(own.unwrap_or_else(|| inherited(defaults).clone()))
            }
        }
    }
}
