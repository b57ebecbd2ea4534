//! A protocol of stacks: its bytes, options, and what it may carry.

use super::layer::HeaderBytes;

/// A protocol that a stack may have as a layer.
#[derive(Debug)]
pub struct Protocol {
    /// Its word in a stack.
    pub name: &'static str,
    /// Its name.
    pub title: &'static str,
    /// The words of what it may carry; nothing: payload only.
    pub carries: &'static [&'static str],
    /// Its options.
    pub options: &'static [Choice],
    /// The source of its size.
    pub source: &'static str,
    pub(super) bytes: HeaderBytes,
    /// The most bytes of the header with all options.
    pub(super) longest_header: Option<u64>,
}

/// An option of a protocol: a word behind a `+`.
#[derive(Debug)]
pub struct Choice {
    /// Its word.
    pub name: &'static str,
    /// Its meaning, and the unit of its number.
    pub meaning: &'static str,
    /// The least and the largest number behind `=`, and the one that is taken
    /// without it; none for an option without a number.
    pub number: Option<[u64; 3]>,
    /// The source of its size.
    pub source: &'static str,
    /// The bytes with this option.
    pub(super) apply: fn(HeaderBytes, u64) -> HeaderBytes,
    /// Options that exclude each other have the same group.
    pub(super) group: &'static str,
}

impl Protocol {
    pub(super) const fn new(
        name: &'static str,
        title: &'static str,
        bytes: HeaderBytes,
        source: &'static str,
        carries: &'static [&'static str],
        options: &'static [Choice],
    ) -> Self {
        Self {
            name,
            title,
            carries,
            options,
            source,
            bytes,
            longest_header: None,
        }
    }

    /// The protocol with at most so many bytes of header: what a length field
    /// of four bits counts, in words of 32 bits.
    pub(super) const fn at_most(self, bytes: u64) -> Self {
        Self {
            longest_header: Some(bytes),
            ..self
        }
    }
}

/// An option that adds bytes to the header.
pub(super) const fn adds(
    name: &'static str,
    meaning: &'static str,
    source: &'static str,
    apply: fn(HeaderBytes, u64) -> HeaderBytes,
) -> Choice {
    Choice {
        name,
        meaning,
        number: None,
        source,
        apply,
        group: name,
    }
}

impl Choice {
    pub(super) const fn numbered(self, number: [u64; 3]) -> Self {
        Self {
            number: Some(number),
            ..self
        }
    }

    pub(super) const fn in_group(self, group: &'static str) -> Self {
        Self { group, ..self }
    }
}

/// The bytes with a longer header.
pub(super) const fn longer(bytes: HeaderBytes, more: u64) -> HeaderBytes {
    HeaderBytes {
        header: bytes.header + more,
        ..bytes
    }
}
