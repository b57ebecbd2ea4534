//! VLAN tags between the addresses of an Ethernet frame and its type
//! [IEEE802.1Q].

use super::ethernet::field::TYPE;
use crate::Error;
use crate::bytes::u16_at;

/// Bytes of a tag: its type, then priority and VLAN.
pub(crate) const TAG_LEN: usize = 4;
/// The EtherType of a customer tag.
pub const CUSTOMER: u16 = 0x8100;
/// The EtherType of a provider tag.
const PROVIDER: u16 = 0x88a8;

/// The number of VLAN tags of a frame, at most `most`.
pub(crate) fn tags(frame: &[u8], most: usize) -> usize {
    let is_tag =
        |tag: &usize| matches!(u16_at(frame, TYPE + tag * TAG_LEN), Ok(CUSTOMER | PROVIDER));
    (0..most).take_while(is_tag).count()
}

/// The EtherType behind the tags of a frame, of which at most `most` are skipped, and
/// the offset of the payload.
pub(crate) fn inside(frame: &[u8], most: usize) -> Result<(u16, usize), Error> {
    let at = TYPE + tags(frame, most) * TAG_LEN;
    Ok((u16_at(frame, at)?, at + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_passed_over_as_far_as_they_are_looked_for() {
        let mut frame = [2; 24];
        frame[12..22].copy_from_slice(&[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, 0x08, 0]);
        for (most, found) in [
            (0, (PROVIDER, 14)),
            (1, (CUSTOMER, 18)),
            (2, (0x0800, 22)),
            (3, (0x0800, 22)),
        ] {
            assert_eq!(inside(&frame, most), Ok(found));
        }
        assert_eq!(
            tags(&frame[..14], 2),
            1,
            "what it is in front of is cut off"
        );
        let cut = Err(Error::Truncated { need: 18, have: 14 });
        assert_eq!(inside(&frame[..14], 2), cut);
    }
}
