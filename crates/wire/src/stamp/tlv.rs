//! The TLVs behind the base of a test packet [RFC8972 s4].

use crate::bytes::{array, u8_at, u16_at};

/// Bytes in front of the value of a TLV.
pub(super) const HEADER_LEN: usize = 4;

/// Offsets in a TLV [RFC8972 s4].
pub(super) mod field {
    pub(in super::super) const FLAGS: usize = 0;
    pub(in super::super) const KIND: usize = 1;
    pub(in super::super) const LENGTH: usize = 2;
}

/// Types of TLVs.
pub mod kind {
    /// Not assigned [RFC8972 s5.1]: the bytes from here on are padding and no TLVs.
    pub const RESERVED: u8 = 0;
    /// Extra Padding [RFC8972 s4.1].
    pub const EXTRA_PADDING: u8 = 1;
    /// Reflected Test Packet Control [RFC10052 s3].
    pub const REFLECTED_CONTROL: u8 = 12;
    /// The identifier of a probe, of a type for private use [RFC8972 s5.1].
    pub const PROBE_ID: u8 = 252;
    /// The largest piece in which a probe arrived, of a type for private use.
    pub const PIECE: u8 = 253;
}

/// The flags of a TLV [RFC8972 s4] [RFC10052 s3].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// U: the reflector does not know the type. Senders set it, reflectors clear it.
    pub const UNRECOGNISED: Self = Self(0x80);
    /// M: the length does not fit the type or the packet.
    pub const MALFORMED: Self = Self(0x40);
    /// C: the reflector does not fulfil the request for other replies [RFC10052 s3].
    pub const NOT_CONFORMANT: Self = Self(0x10);

    /// Whether all flags of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A TLV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tlv<'a> {
    /// Its flags.
    pub flags: Flags,
    /// Its type.
    pub kind: u8,
    /// Its value.
    pub value: &'a [u8],
}

/// The TLVs in the bytes behind the base of a test packet.
#[derive(Clone, Debug)]
pub struct Tlvs<'a> {
    rest: &'a [u8],
}

/// The TLVs in `bytes`, which follow the base of a test packet: up to the first that
/// does not fit the packet, or to padding that is no TLV.
pub const fn tlvs(bytes: &[u8]) -> Tlvs<'_> {
    Tlvs { rest: bytes }
}

impl<'a> Tlvs<'a> {
    /// The bytes that were not read.
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Tlvs<'a> {
    type Item = Tlv<'a>;

    fn next(&mut self) -> Option<Tlv<'a>> {
        let [flags, kind] = array(self.rest, field::FLAGS).ok()?;
        let length = usize::from(u16_at(self.rest, field::LENGTH).ok()?);
        let value = self.rest.get(HEADER_LEN..HEADER_LEN + length)?;
        if kind == kind::RESERVED {
            return None;
        }
        self.rest = &self.rest[HEADER_LEN + length..];
        Some(Tlv {
            flags: Flags(flags),
            kind,
            value,
        })
    }
}

/// Whether `rest`, at which [`Tlvs`] ended, begins with a TLV that the packet cuts.
pub(super) fn is_cut(rest: &[u8]) -> bool {
    u8_at(rest, field::KIND).is_ok_and(|kind| kind != kind::RESERVED)
}

/// Writes the header of a TLV with a value of `length` bytes to `bytes`, which have
/// room for it. Returns the bytes behind it.
pub(super) fn emit(flags: Flags, kind: u8, length: u16, bytes: &mut [u8]) -> &mut [u8] {
    let (header, rest) = bytes.split_at_mut(HEADER_LEN);
    let [high, low] = length.to_be_bytes();
    header.copy_from_slice(&[flags.0, kind, high, low]);
    rest
}
