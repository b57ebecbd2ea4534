//! Test packets of path probes, and the replies to them.

use units::Seed;

use super::tlv::{self, Flags, HEADER_LEN, Tlv, kind, tlvs};
use super::{BASE_LEN, ReflectorPacket, SenderPacket};
use crate::bytes::{demand_mut, put, u8_at, u32_at, u64_at};
use crate::{Error, Field};

/// Bytes of an identifier.
pub(super) const ID_LEN: usize = 8;

/// Bytes of the size of the largest piece, and of its TLV.
pub(super) const PIECE_LEN: usize = 4;
const PIECE_TLV: usize = HEADER_LEN + PIECE_LEN;

/// Bytes of the value of a Reflected Test Packet Control TLV: length, number and
/// interval of the replies, and room for the header of a sub-TLV, without which the TLV
/// is too short [RFC10052 s3].
pub(super) const CONTROL_LEN: usize = 12;

/// Offsets in that value.
pub(super) mod control {
    pub(in super::super) const LENGTH: usize = 0;
    pub(in super::super) const NUMBER: usize = 2;
    pub(in super::super) const SUB_TLVS: usize = 8;
}

/// A test packet with which a path is probed: base, identifier, the request for a short
/// reply, room for the largest piece in which it arrives, and Extra Padding up to the length
/// of the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The base.
    pub packet: SenderPacket,
    /// The identifier, which nobody off the path can guess.
    pub id: u64,
    /// Whether the reply shall have no Extra Padding.
    pub short_reply: bool,
}

impl Probe {
    /// Offset of the identifier in the UDP payload.
    pub const ID_AT: usize = BASE_LEN + HEADER_LEN;

    /// The fewest bytes of UDP payload that a probe has.
    pub const fn shortest(short_reply: bool) -> usize {
        let control = if short_reply {
            HEADER_LEN + CONTROL_LEN
        } else {
            0
        };
        Self::ID_AT + ID_LEN + control
    }

    /// Writes a probe that has the length of `bytes`. The padding looks random, so that
    /// no link compresses it [RFC8972 s4.1].
    ///
    /// # Errors
    /// [`Error::Truncated`] with fewer than [`Self::shortest`] bytes;
    /// [`Error::Malformed`] with more than a packet has room for.
    pub fn emit(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let spare = demand_mut(bytes, Self::shortest(self.short_reply)).map(|bytes| bytes.len());
        let spare = bytes.len() - spare?;
        let has_piece = spare >= PIECE_TLV;
        let spare = if has_piece { spare - PIECE_TLV } else { spare };
        // The header of the padding has no room in one to three bytes, which the
        // identifier's TLV takes.
        let odd = if spare < HEADER_LEN { spare } else { 0 };
        let (base, rest) = bytes.split_at_mut(BASE_LEN);
        self.packet.emit(base)?;
        let length = length(ID_LEN + odd)?;
        let rest = tlv::emit(Flags::UNRECOGNISED, kind::PROBE_ID, length, rest);
        let (value, mut rest) = rest.split_at_mut(ID_LEN + odd);
        value.fill(0);
        put(value, 0, self.id.to_be_bytes());
        if self.short_reply {
            rest = emit_control(rest);
        }
        if has_piece {
            const PIECE: u16 = 4;
            let value = tlv::emit(Flags::UNRECOGNISED, kind::PIECE, PIECE, rest);
            let (value, behind) = value.split_at_mut(PIECE_LEN);
            value.fill(0);
            rest = behind;
        }
        if rest.is_empty() {
            return Ok(());
        }
        let length = self::length(rest.len() - HEADER_LEN)?;
        let padding = tlv::emit(Flags::UNRECOGNISED, kind::EXTRA_PADDING, length, rest);
        for (number, bytes) in (0..).zip(padding.chunks_mut(ID_LEN)) {
            let random = Seed::new(self.id).with(number).get().to_be_bytes();
            bytes.copy_from_slice(&random[..bytes.len()]);
        }
        Ok(())
    }

    /// The identifier of the probe whose UDP payload begins with `bytes`, or of a reply
    /// to it; error messages quote the beginning only.
    pub fn id_of(bytes: &[u8]) -> Option<u64> {
        let kind = u8_at(bytes, BASE_LEN + tlv::field::KIND).ok()?;
        (kind == kind::PROBE_ID).then(|| u64_at(bytes, Self::ID_AT).ok())?
    }
}

/// Writes the request for one reply without Extra Padding. Returns the bytes behind it.
fn emit_control(bytes: &mut [u8]) -> &mut [u8] {
    const CONTROL: u16 = 12;
    let rest = tlv::emit(Flags::UNRECOGNISED, kind::REFLECTED_CONTROL, CONTROL, bytes);
    let (value, rest) = rest.split_at_mut(CONTROL_LEN);
    // The shortest length, no interval, and no sub-TLV.
    value.fill(0);
    put(value, control::NUMBER, 1_u16.to_be_bytes());
    rest
}

fn length(bytes: usize) -> Result<u16, Error> {
    u16::try_from(bytes).map_err(|_| Error::Malformed(Field::Length))
}

/// The outcome of the request for a short reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthControl {
    /// The reflector fulfilled it.
    Fulfilled,
    /// The reflector knows such requests, and rejected this one.
    Rejected,
    /// The reflector does not know such requests: the reply is as long as the probe.
    Unknown,
}

/// A reply to a [`Probe`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reflected {
    /// The base.
    pub packet: ReflectorPacket,
    /// The identifier of the probe; `None` if the reflector does not return it.
    pub id: Option<u64>,
    /// Whether the reflector says that its sequence numbers are its own: it clears the U
    /// flag of the identifier.
    pub stateful: bool,
    /// The request for a short reply, if the reply has one.
    pub length_control: Option<LengthControl>,
    /// Bytes of the largest IP packet in which the probe arrived: a fragment, or the whole
    /// packet. `None` if the reflector does not say.
    pub piece: Option<u32>,
}

impl Reflected {
    /// Reads a reply.
    ///
    /// # Errors
    /// Those of [`ReflectorPacket::parse`].
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let packet = ReflectorPacket::parse(bytes)?;
        let mut reflected = Self {
            packet,
            id: None,
            stateful: false,
            length_control: None,
            piece: None,
        };
        for tlv in tlvs(&bytes[BASE_LEN..]) {
            reflected.read(&tlv);
        }
        Ok(reflected)
    }

    fn read(&mut self, tlv: &Tlv<'_>) {
        let known = !tlv.flags.contains(Flags::UNRECOGNISED);
        match tlv.kind {
            kind::PROBE_ID if self.id.is_none() => {
                self.id = u64_at(tlv.value, 0).ok();
                self.stateful = known && !tlv.flags.contains(Flags::MALFORMED);
            }
            kind::REFLECTED_CONTROL if self.length_control.is_none() => {
                let rejected = tlv.flags.contains(Flags::NOT_CONFORMANT)
                    || tlv.flags.contains(Flags::MALFORMED);
                self.length_control = Some(match (known, rejected) {
                    (true, false) => LengthControl::Fulfilled,
                    (true, true) => LengthControl::Rejected,
                    (false, _) => LengthControl::Unknown,
                });
            }
            kind::PIECE if self.piece.is_none() && known => {
                self.piece = u32_at(tlv.value, 0).ok().filter(|&piece| piece > 0);
            }
            _ => {}
        }
    }
}
