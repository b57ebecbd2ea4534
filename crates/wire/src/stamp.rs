//! Test packets of STAMP, the Simple Two-way Active Measurement Protocol, in
//! unauthenticated mode [RFC8762] with TLVs [RFC8972].
//!
//! A session-sender sends [`SenderPacket`]s over UDP; a session-reflector answers each
//! with a [`ReflectorPacket`] of the same length. TLVs and padding follow behind either.
//! [`Probe`] writes the test packets of path probes and reads what comes back;
//! [`reflect`] writes what a reflector returns.
//!
//! # The identifier of a probe
//!
//! A probe carries 64 random bits that nobody off the path can guess. The sequence number
//! and the timestamp of a test packet can be guessed, so the identifier has a TLV of its
//! own, the first one: type 252, which is for private use [RFC8972 s5.1], with the
//! identifier in its first eight bytes, at offset [`Probe::ID_AT`] of the UDP payload.
//! Every reflector returns it: one that knows no TLVs copies what follows the base packet
//! [RFC8762 s4.3], one that does not know this type copies the TLV and sets its U flag
//! [RFC8972 s4]. A reflector of this crate clears the flag if the sequence numbers of its
//! replies are its own, so that the sender can tell on which way packets were lost.
//!
//! # The fragments in which a probe arrived
//!
//! A probe with room for it has another TLV for private use, type 253 with a value of four
//! bytes. A reflector of this crate writes there the size of the largest IP packet in which
//! the probe arrived, a fragment or the whole, and clears the U flag.
//!
//! # Replies that are shorter than the request
//!
//! A probe that asks for a short reply holds the Reflected Test Packet Control TLV
//! [RFC10052 s3], type 12. It asks for one packet without Extra Padding. A reflector that
//! does not know the TLV sets its U flag and sends a reply of the same length. RFC 10052
//! allows longer and repeated replies as well; [`reflect`] rejects those, because they
//! amplify.

mod probe;
mod reflection;
mod timestamp;
mod tlv;

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;

use crate::bytes::{array, demand, demand_mut, put, u8_at, u16_at, u32_at, u64_at};
use crate::{Error, Field};
pub use probe::{LengthControl, Probe, Reflected};
pub use reflection::{LARGEST, Observation, reflect};
pub use timestamp::{ErrorEstimate, Format, Timestamp};
pub use tlv::{Flags, Tlv, Tlvs, kind, tlvs};

/// The UDP port of a session-reflector, unless another one is agreed on [RFC8762 s4.1].
pub const PORT: u16 = 862;

/// Bytes of a test packet without TLVs and padding, in both directions
/// [RFC8762 s4.2.1, s4.3.1].
pub const BASE_LEN: usize = 44;

/// Offsets in both packets [RFC8762 s4.2.1, s4.3.1] [RFC8972 s3].
mod field {
    pub(super) const SEQUENCE: usize = 0;
    pub(super) const SENT: usize = 4;
    pub(super) const ERROR: usize = 12;
    pub(super) const SESSION: usize = 14;
    /// A session-sender's packet is zero from here on.
    pub(super) const RECEIVED: usize = 16;
    pub(super) const SENDER_SEQUENCE: usize = 24;
    pub(super) const SENDER_SENT: usize = 28;
    pub(super) const SENDER_ERROR: usize = 36;
    /// Zero up to the next field.
    pub(super) const ZERO: usize = 38;
    pub(super) const HOP_LIMIT: usize = 40;
    /// Zero up to the end.
    pub(super) const ZERO_TOO: usize = 41;
}

/// The base of a test packet from a session-sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderPacket {
    /// The sequence number in the session, from 0.
    pub sequence: u32,
    /// The time of sending, on the sender's clock.
    pub sent: Timestamp,
    /// The format and the error of the timestamp.
    pub error: ErrorEstimate,
    /// The session identifier (SSID), not zero; 0: none [RFC8972 s3].
    pub session: u16,
}

impl SenderPacket {
    /// Reads the base of a test packet.
    ///
    /// The bytes that must be zero are checked although [RFC8762 s4.2.1] tells receivers
    /// to ignore them: a reply has the time of reception there, so two reflectors
    /// cannot be made to answer each other for ever.
    ///
    /// # Errors
    /// [`Error::Truncated`] with fewer than [`BASE_LEN`] bytes; [`Error::Malformed`] if
    /// the error estimate has no value, or the reserved bytes are not zero.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let bytes = demand(bytes, BASE_LEN)?;
        if bytes[field::RECEIVED..].iter().any(|byte| *byte != 0) {
            return Err(Error::Malformed(Field::Reserved));
        }
        Ok(Self {
            sequence: u32_at(bytes, field::SEQUENCE)?,
            sent: Timestamp(u64_at(bytes, field::SENT)?),
            error: ErrorEstimate::parse(array(bytes, field::ERROR)?)?,
            session: u16_at(bytes, field::SESSION)?,
        })
    }

    /// Writes the base to the first [`BASE_LEN`] of `bytes`; the others are unchanged.
    ///
    /// # Errors
    /// [`Error::Truncated`] if it has no room.
    pub fn emit(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let bytes = demand_mut(bytes, BASE_LEN)?;
        bytes.fill(0);
        put(bytes, field::SEQUENCE, self.sequence.to_be_bytes());
        put(bytes, field::SENT, self.sent.0.to_be_bytes());
        put(bytes, field::ERROR, self.error.bytes());
        put(bytes, field::SESSION, self.session.to_be_bytes());
        Ok(())
    }
}

/// The base of a test packet from a session-reflector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReflectorPacket {
    /// The sequence number: the reflector's own, from 0 in each session, or a copy of the
    /// sender's if the reflector keeps no state [RFC8762 s4.3].
    pub sequence: u32,
    /// The time at which the reply was sent, on the reflector's clock.
    pub sent: Timestamp,
    /// The format and the error of the reflector's timestamps.
    pub error: ErrorEstimate,
    /// The time at which the test packet was received, on the reflector's clock.
    pub received: Timestamp,
    /// The packet that this one answers.
    pub request: SenderPacket,
    /// The TTL or hop limit with which the test packet arrived.
    pub hop_limit: u8,
}

impl ReflectorPacket {
    /// Reads the base of a reply.
    ///
    /// # Errors
    /// [`Error::Truncated`] with fewer than [`BASE_LEN`] bytes; [`Error::Malformed`] if
    /// an error estimate has no value.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let bytes = demand(bytes, BASE_LEN)?;
        Ok(Self {
            sequence: u32_at(bytes, field::SEQUENCE)?,
            sent: Timestamp(u64_at(bytes, field::SENT)?),
            error: ErrorEstimate::parse(array(bytes, field::ERROR)?)?,
            received: Timestamp(u64_at(bytes, field::RECEIVED)?),
            request: SenderPacket {
                sequence: u32_at(bytes, field::SENDER_SEQUENCE)?,
                sent: Timestamp(u64_at(bytes, field::SENDER_SENT)?),
                error: ErrorEstimate::parse(array(bytes, field::SENDER_ERROR)?)?,
                session: u16_at(bytes, field::SESSION)?,
            },
            hop_limit: u8_at(bytes, field::HOP_LIMIT)?,
        })
    }

    /// Writes the base to the first [`BASE_LEN`] of `bytes`; the others are unchanged.
    ///
    /// # Errors
    /// [`Error::Truncated`] if it has no room.
    pub fn emit(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let bytes = demand_mut(bytes, BASE_LEN)?;
        put(bytes, field::SEQUENCE, self.sequence.to_be_bytes());
        put(bytes, field::SENT, self.sent.0.to_be_bytes());
        put(bytes, field::ERROR, self.error.bytes());
        put(bytes, field::SESSION, self.request.session.to_be_bytes());
        put(bytes, field::RECEIVED, self.received.0.to_be_bytes());
        let request = &self.request;
        put(
            bytes,
            field::SENDER_SEQUENCE,
            request.sequence.to_be_bytes(),
        );
        put(bytes, field::SENDER_SENT, request.sent.0.to_be_bytes());
        put(bytes, field::SENDER_ERROR, request.error.bytes());
        bytes[field::ZERO..field::HOP_LIMIT].fill(0);
        bytes[field::HOP_LIMIT] = self.hop_limit;
        bytes[field::ZERO_TOO..].fill(0);
        Ok(())
    }
}
