//! Names of evidence.

use std::fmt;
use std::marker::PhantomData;

use serde_json::Value;

/// A name of evidence; its values have the type `T`. A value may also be null: unknown.
pub struct Fact<T> {
    name: &'static str,
    value: PhantomData<fn() -> T>,
}

impl<T> Clone for Fact<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Fact<T> {}

impl<T> PartialEq for Fact<T> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl<T> Eq for Fact<T> {}

impl<T> fmt::Debug for Fact<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<T> Fact<T> {
    pub(super) const fn new(name: &'static str) -> Self {
        Self {
            name,
            value: PhantomData,
        }
    }

    /// The name in journals.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The same evidence, read as JSON.
    pub const fn as_json(self) -> Fact<Value> {
        Fact::new(self.name)
    }
}

/// A type of evidence that is a number.
pub trait Number {}

impl Number for f64 {}
impl Number for i32 {}
impl Number for i64 {}
impl Number for u64 {}
impl Number for usize {}

/// Names of evidence with a unit and a meaning in common.
pub(crate) struct Row {
    pub(crate) names: &'static [&'static str],
    pub(crate) unit: &'static str,
    pub(crate) meaning: &'static str,
}
