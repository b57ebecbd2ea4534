//! The payload of a datagram: a number, a time, and a hash of the rest.

use std::net::Ipv6Addr;

use sha2::{Digest, Sha256};
use wire::jumbogram::{Packet, Sum};

use os::error::{OperationContext, Result};
use os::kernel_clock;

/// Bytes in front of the hashed data: a number of 64 bits, the time of sending
/// (CLOCK_MONOTONIC in nanoseconds), and the SHA-256 of the rest.
pub const LEAST: u32 = 48;
const HEAD: usize = 48;
/// Bytes that change from message to message.
const CHANGING: usize = 16;

/// A packet that is sent repeatedly.
pub(super) struct Message {
    bytes: Vec<u8>,
    packet: Packet,
    /// The sum of the bytes that do not change.
    still: Sum,
}

/// A message that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// Bytes of its payload.
    pub bytes: usize,
    /// The number of the message.
    pub number: u64,
    /// Time from just before sending until the receiver had it, in nanoseconds.
    pub delay_nanos: u64,
    /// The first eight bytes of the hash in the message.
    pub digest: [u8; 8],
    /// Whether the hash matches the data; `None` if not requested.
    pub whole: Option<bool>,
}

impl Message {
    /// A payload of `size` bytes, at least [`LEAST`], that neither compression nor
    /// shifts leave unchanged.
    pub(super) fn new(addresses: [Ipv6Addr; 2], ports: [u16; 2], size: u32) -> Self {
        let packet = Packet {
            addresses,
            ports,
            payload: size,
        };
        let head = packet.head_len();
        let mut bytes = vec![0; head + size as usize];
        let mut state = u64::from(size) | 1;
        for piece in bytes[head + HEAD..].chunks_mut(8) {
            // Any generator will do.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            piece.copy_from_slice(&state.to_le_bytes()[..piece.len()]);
        }
        let digest = Sha256::digest(&bytes[head + HEAD..]);
        bytes[head + CHANGING..head + HEAD].copy_from_slice(&digest);
        let still = Sum::default().with(&bytes[head + CHANGING..]);
        Self {
            bytes,
            packet,
            still,
        }
    }

    /// The packet with this number and the present time, headers included.
    ///
    /// # Errors
    /// If no packet has this size.
    pub(super) fn stamped(&mut self, number: u64) -> Result<&[u8]> {
        let (head, payload) = self.bytes.split_at_mut(self.packet.head_len());
        payload[..8].copy_from_slice(&number.to_be_bytes());
        payload[8..CHANGING].copy_from_slice(&kernel_clock::monotonic_nanos().to_be_bytes());
        let sum = self.still.with(&payload[..CHANGING]);
        self.packet
            .emit(sum, head)
            .map_err(std::io::Error::other)
            .during(|| "writing the headers of a jumbogram")?;
        Ok(&self.bytes)
    }

    /// The payload alone, likewise.
    ///
    /// # Errors
    /// As [`Message::stamped`].
    pub(super) fn payload(&mut self, number: u64) -> Result<&[u8]> {
        let head = self.packet.head_len();
        Ok(&self.stamped(number)?[head..])
    }

    /// Bytes of the packet.
    pub(super) const fn packet_len(&self) -> u64 {
        self.packet.packet_len()
    }

    /// Whether the packet is a jumbogram.
    pub(super) const fn is_jumbogram(&self) -> bool {
        self.packet.is_jumbogram()
    }
}

impl Arrived {
    /// Reads a payload that has just arrived; `None` if it is from another program.
    /// Hashing takes longer than carrying, so it is optional.
    pub(super) fn read(payload: &[u8], hash: bool) -> Option<Self> {
        let now = kernel_clock::monotonic_nanos();
        let number = u64::from_be_bytes(*payload.first_chunk()?);
        let sent = u64::from_be_bytes(*payload.get(8..)?.first_chunk()?);
        let body = payload.get(HEAD..)?;
        let digest = payload.get(CHANGING..HEAD)?;
        Some(Self {
            bytes: payload.len(),
            number,
            delay_nanos: now.saturating_sub(sent),
            digest: *digest.first_chunk()?,
            whole: hash.then(|| Sha256::digest(body).as_slice() == digest),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_one_wrong_bit_is_seen() {
        for size in [LEAST, 1_452, 65_527, 65_528, 190_001] {
            let mut message = Message::new([Ipv6Addr::LOCALHOST; 2], [1, 2], size);
            let mut payload = message.payload(7).unwrap().to_vec();
            let arrived = Arrived::read(&payload, true).unwrap();
            assert_eq!((arrived.bytes, arrived.number), (size as usize, 7));
            assert_eq!(arrived.whole, Some(true));
            let last = payload.len() - 1;
            payload[last] ^= 1;
            let damaged = Arrived::read(&payload, true).unwrap();
            assert_eq!(damaged.whole, Some(false), "{size}");
        }
        assert_eq!(Arrived::read(&[0; 47], true), None);
    }

    #[test]
    fn the_checksum_of_a_stamped_packet_holds() {
        let mut message = Message::new([Ipv6Addr::LOCALHOST; 2], [1, 2], 70_001);
        for number in [0, 1, u64::MAX] {
            let bytes = message.stamped(number).unwrap();
            let head = wire::jumbogram::Head::parse(bytes, bytes.len() as u64).unwrap();
            let udp = head.udp(bytes).unwrap();
            let sum = Sum::default().with(&bytes[56..]);
            assert!(udp.packet.holds(udp.header, sum));
        }
    }
}
