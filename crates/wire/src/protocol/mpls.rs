//! Entries of an MPLS label stack [RFC3032 s2.1].

use super::ip::HOP_LIMIT;
use crate::bytes::u32_at;
use crate::{Error, Field};

/// Bits of an entry: the label, its class, the bottom-of-stack flag, and the time to
/// live.
mod field {
    pub(super) const LABEL_SHIFT: u32 = 12;
    pub(super) const CLASS_SHIFT: u32 = 9;
    pub(super) const CLASS_MASK: u8 = 0b111;
    pub(super) const BOTTOM: u32 = 1 << 8;
}

/// Bytes of an entry.
pub(crate) const ENTRY_LEN: usize = 4;
/// Number of distinct labels.
const LABELS: u32 = 1 << 20;

/// An entry. Its time to live is written as [`super::ip::HOP_LIMIT`] and not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The label, 20 bits.
    pub(crate) label: u32,
    /// The traffic class, 3 bits.
    pub(crate) class: u8,
    /// Whether no other entry follows.
    pub(crate) bottom: bool,
}

impl Entry {
    /// Reads the entry at `at`.
    pub(crate) fn parse(bytes: &[u8], at: usize) -> Result<Self, Error> {
        let entry = u32_at(bytes, at)?;
        let [_, _, upper, _] = entry.to_be_bytes();
        Ok(Self {
            label: entry >> field::LABEL_SHIFT,
            class: upper >> (field::CLASS_SHIFT - u8::BITS) & field::CLASS_MASK,
            bottom: entry & field::BOTTOM != 0,
        })
    }

    /// The bytes of the entry.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the label or the class has too many bits.
    pub(crate) fn bytes(self) -> Result<[u8; ENTRY_LEN], Error> {
        if self.label >= LABELS || self.class > field::CLASS_MASK {
            return Err(Error::Malformed(Field::Label));
        }
        let bottom = if self.bottom { field::BOTTOM } else { 0 };
        let entry = self.label << field::LABEL_SHIFT
            | u32::from(self.class) << field::CLASS_SHIFT
            | bottom
            | u32::from(HOP_LIMIT);
        Ok(entry.to_be_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_laid_out_as_in_the_figure() {
        let entry = Entry {
            label: 0xf_abcd,
            class: 5,
            bottom: true,
        };
        let bytes = entry.bytes().unwrap();
        // 20 bits of label, 101, 1, and eight bits of time to live.
        assert_eq!(bytes, [0xfa, 0xbc, 0xdb, 64]);
        assert_eq!(Entry::parse(&bytes, 0), Ok(entry));
        let above = Entry {
            bottom: false,
            ..entry
        };
        assert_eq!(above.bytes(), Ok([0xfa, 0xbc, 0xda, 64]));
        let truncated = Err(Error::Truncated { need: 5, have: 4 });
        assert_eq!(Entry::parse(&bytes, 1), truncated);
    }
}
