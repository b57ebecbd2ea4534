//! Reduction of the maximum segment size that a SYN announces, as routers in front of
//! tunnels do.

use crate::Error;
use crate::bytes::put;
use crate::ip_packet::IpPacket;
use crate::protocol::checksum::Sum;
use crate::protocol::ip::number;
use crate::protocol::tcp;
use crate::protocol::tcp::flag;

/// Lowers the maximum segment size in the whole packet in `bytes` to `most`, and
/// updates the checksum. Returns whether it did: not if the packet is no SYN, or
/// announces no more than `most`.
///
/// # Errors
/// If the packet is cut short or malformed.
pub fn clamp_segment_size(bytes: &mut [u8], most: u16) -> Result<bool, Error> {
    let packet = IpPacket::parse_whole(bytes)?;
    if packet.protocol != number::TCP || packet.is_later_fragment() {
        return Ok(false);
    }
    let header = tcp::Header::of(packet.payload);
    if header.flags()? & flag::SYN == 0 {
        return Ok(false);
    }
    let (checksum, found) = (
        header.checksum()?,
        tcp::option::find_segment_size(header.options()?),
    );
    let Some((place, before)) = found.filter(|(_, size)| *size > most) else {
        return Ok(false);
    };
    let at = tcp::HEADER_LEN + place;
    let end = usize::try_from(packet.size).unwrap_or(usize::MAX);
    let start = end - packet.payload.len();
    // The option may begin at an odd offset, where its bytes count swapped.
    let checksum = Sum::behind(checksum)
        .minus(Sum::word(before).moved(at))
        .plus(Sum::word(most).moved(at))
        .checksum();
    put(bytes, start + at, most.to_be_bytes());
    tcp::Header::of(&mut bytes[start..]).set_checksum(checksum)?;
    Ok(true)
}
