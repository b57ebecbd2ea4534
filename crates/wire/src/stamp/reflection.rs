//! The reply of a session-reflector to a test packet.

use super::probe::{CONTROL_LEN, ID_LEN, PIECE_LEN, control};
use super::tlv::{self, Flags, HEADER_LEN, Tlv, is_cut, kind, tlvs};
use super::{BASE_LEN, ReflectorPacket};
use crate::Error;
use crate::bytes::{demand, demand_mut, put, u16_at};

/// The most bytes of a test packet: the payload of UDP over IPv6 [RFC8200 s3] [RFC768].
pub const LARGEST: usize = 65_527;

/// What a reflector says about a test packet besides the base of its reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// Whether the sequence number of the reply is the reflector's own.
    pub stateful: bool,
    /// Bytes of the largest IP packet in which the test packet arrived: a fragment, or the
    /// whole packet. `None` if that is not known.
    pub piece: Option<u32>,
}

/// Writes the reply to the test packet `request`, with the given base, to the beginning
/// of `reply`. Returns its length, which is never above that of the request; `None` if
/// the request asks for no reply [RFC10052 s3].
///
/// The reply repeats what follows the base [RFC8762 s4.3], with the flags of TLVs set
/// [RFC8972 s4]: U on unknown types, and on the identifier of a probe unless the sequence
/// number is the reflector's own, and on the largest piece unless it is known; M on a TLV that is malformed, behind which
/// nothing is processed. A request for one reply that is no longer than the test packet
/// is fulfilled; any other one gets the C flag and a reply of the same length, which is
/// stricter than [RFC10052 s3]. Requests that only some reflectors shall answer (sub-TLVs)
/// are not known: U.
///
/// # Errors
/// [`Error::Truncated`] if the request is shorter than [`BASE_LEN`], or the reply has
/// less room than the request has bytes.
pub fn reflect(
    request: &[u8],
    base: &ReflectorPacket,
    observed: Observation,
    reply: &mut [u8],
) -> Result<Option<usize>, Error> {
    let behind = &demand(request, request.len().max(BASE_LEN))?[BASE_LEN..];
    let reply = demand_mut(reply, request.len())?;
    base.emit(reply)?;
    let Some(length) = Length::asked(behind) else {
        return Ok(None);
    };
    let mut out = Output {
        bytes: reply,
        length: BASE_LEN,
    };
    let mut walk = tlvs(behind);
    let mut at = walk.clone();
    while let Some(tlv) = walk.next() {
        if !fits(&tlv) {
            break;
        }
        at = walk.clone();
        match (tlv.kind, length) {
            (kind::EXTRA_PADDING, Length::Shorter(_)) => {}
            (kind::REFLECTED_CONTROL, _) => out.tlv(length.flags(), &tlv),
            (kind::PIECE, _) => match observed.piece {
                Some(piece) => out.piece(piece, &tlv),
                None => out.tlv(Flags::UNRECOGNISED, &tlv),
            },
            _ => out.tlv(flags(tlv.kind, observed.stateful), &tlv),
        }
    }
    // The rest is padding, or begins with a malformed TLV; it is copied as it is.
    let rest = at.rest();
    let from = out.length;
    out.copy(rest);
    if is_cut(rest) {
        out.bytes[from] = Flags::MALFORMED.0;
    }
    if let Length::Shorter(wanted) = length {
        out.pad(wanted);
    }
    Ok(Some(out.length))
}

/// The length of a reply.
#[derive(Clone, Copy)]
enum Length {
    /// That of the request.
    Same,
    /// Without the request's Extra Padding, but at least this.
    Shorter(usize),
    /// That of the request, although another one was asked for.
    Rejected,
    /// That of the request, because the wish is not understood.
    Unknown,
}

impl Length {
    /// The length that the TLVs in `behind` ask for; `None`: no reply.
    fn asked(behind: &[u8]) -> Option<Self> {
        let mut walk = tlvs(behind);
        let mut at_end = walk.clone();
        let (mut asked, mut kept) = (Self::Same, 0);
        while let Some(tlv) = walk.next() {
            if !fits(&tlv) {
                break;
            }
            at_end = walk.clone();
            if tlv.kind != kind::EXTRA_PADDING {
                kept += HEADER_LEN + tlv.value.len();
            }
            if tlv.kind == kind::REFLECTED_CONTROL && matches!(asked, Self::Same) {
                asked = Self::read(tlv.value)?;
            }
        }
        let whole = BASE_LEN + behind.len();
        let kept = BASE_LEN + kept + at_end.rest().len();
        Some(match asked {
            Self::Shorter(_) if is_cut(at_end.rest()) => Self::Rejected,
            Self::Shorter(wanted) if wanted.max(kept) > whole => Self::Rejected,
            asked => asked,
        })
    }

    /// The request of a control TLV; `None`: no reply.
    fn read(value: &[u8]) -> Option<Self> {
        let field = |at| u16_at(value, at).unwrap_or(0);
        if value[control::SUB_TLVS..].iter().any(|byte| *byte != 0) {
            return Some(Self::Unknown);
        }
        match field(control::NUMBER) {
            0 => None,
            // Aligned to four bytes [RFC10052 s3].
            1 => {
                let wanted = usize::from(field(control::LENGTH));
                Some(Self::Shorter(wanted.next_multiple_of(4)))
            }
            _ => Some(Self::Rejected),
        }
    }

    /// The flags of the control TLV in the reply.
    const fn flags(self) -> Flags {
        match self {
            Self::Same | Self::Shorter(_) => Flags(0),
            Self::Rejected => Flags::NOT_CONFORMANT,
            Self::Unknown => Flags::UNRECOGNISED,
        }
    }
}

/// Whether the length of a TLV fits its type.
const fn fits(tlv: &Tlv<'_>) -> bool {
    match tlv.kind {
        kind::PROBE_ID => tlv.value.len() >= ID_LEN,
        kind::REFLECTED_CONTROL => tlv.value.len() >= CONTROL_LEN,
        kind::PIECE => tlv.value.len() >= PIECE_LEN,
        _ => true,
    }
}

/// The flags of a TLV in a reply.
const fn flags(kind: u8, stateful: bool) -> Flags {
    match kind {
        kind::EXTRA_PADDING => Flags(0),
        kind::PROBE_ID if stateful => Flags(0),
        _ => Flags::UNRECOGNISED,
    }
}

/// A reply as it is written. It has room for the whole request.
struct Output<'a> {
    bytes: &'a mut [u8],
    length: usize,
}

impl Output<'_> {
    fn copy(&mut self, bytes: &[u8]) {
        self.bytes[self.length..][..bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    fn tlv(&mut self, flags: Flags, tlv: &Tlv<'_>) {
        // The value was read from a TLV with 16 bits for its length.
        let length = u16::try_from(tlv.value.len()).unwrap_or(u16::MAX);
        tlv::emit(flags, tlv.kind, length, &mut self.bytes[self.length..]);
        self.length += HEADER_LEN;
        self.copy(tlv.value);
    }

    /// A TLV for the largest piece, with its size.
    fn piece(&mut self, piece: u32, tlv: &Tlv<'_>) {
        let from = self.length + HEADER_LEN;
        self.tlv(Flags(0), tlv);
        put(self.bytes, from, piece.to_be_bytes());
    }

    /// Adds Extra Padding up to `wanted` bytes, which has at least a header.
    fn pad(&mut self, wanted: usize) {
        let spare = self.bytes.len() - self.length;
        let missing = wanted.saturating_sub(self.length);
        if missing == 0 || spare < HEADER_LEN {
            return;
        }
        let length = missing.max(HEADER_LEN).min(spare) - HEADER_LEN;
        let padding = tlv::emit(
            Flags(0),
            kind::EXTRA_PADDING,
            u16::try_from(length).unwrap_or(u16::MAX),
            &mut self.bytes[self.length..],
        );
        padding[..length].fill(0);
        self.length += HEADER_LEN + length;
    }
}
