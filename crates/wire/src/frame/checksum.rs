//! Checksums that a host leaves to its interface.

use crate::Error;
use crate::bytes::{demand_mut, put};
use crate::protocol::checksum::Checksum;

/// Bytes of a checksum of TCP, UDP or ICMP.
const LEN: usize = 2;

/// Completes a checksum that covers the bytes of `frame` from `start` on. The checksum
/// is `offset` bytes behind, and its place holds the sum of the pseudo-header
/// [Virtio s5.1.6].
///
/// # Errors
/// [`Error::Truncated`] if the frame ends before.
pub fn complete_checksum(frame: &mut [u8], start: usize, offset: usize) -> Result<(), Error> {
    let length = frame.len();
    let place = start.saturating_add(offset);
    demand_mut(frame, place.saturating_add(LEN))?;
    // Zero would say that there is no checksum [RFC768].
    let sum = match Checksum::default().add(&frame[start..length]).finish() {
        0 => u16::MAX,
        sum => sum,
    };
    put(frame, place, sum.to_be_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_completed_checksum_is_the_complement_of_the_sum_and_never_zero() {
        // Two bytes in front, four numbers, of which the third is the place.
        let mut frame = [9, 9, 0x12, 0x34, 0x00, 0x01, 0x00, 0x10, 0xff];
        complete_checksum(&mut frame, 2, 4).unwrap();
        assert_eq!(frame[6..8], (!0x1146_u16).to_be_bytes());
        let mut whole = [0xff, 0xff, 0, 0];
        complete_checksum(&mut whole, 0, 2).unwrap();
        assert_eq!(whole, [0xff; 4]);
    }

    #[test]
    fn a_place_behind_the_end_is_rejected_and_nothing_changes() {
        for (start, offset) in [(0, 3), (4, 0), (usize::MAX, 2), (1, usize::MAX)] {
            let mut frame = [1, 2, 3, 4];
            assert!(complete_checksum(&mut frame, start, offset).is_err());
            assert_eq!(frame, [1, 2, 3, 4]);
        }
    }
}
