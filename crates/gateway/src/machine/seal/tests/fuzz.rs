//! Handshake messages with changed bytes.

use proptest::prelude::*;
use wire::bundle::MAC_LEN;

use super::*;

proptest! {
    #[test]
    fn a_changed_handshake_message_does_no_harm(
        place in any::<prop::sample::Index>(), bit in 0u8..8, cut in 0usize..3, which in 0usize..2,
    ) {
        let mut ends = pair();
        let now = Time::ZERO;
        let first = ends[0].poll(now).remove(0);
        let (to, message) = match which {
            0 => (1, first.clone()),
            _ => {
                ends[1].take(now, &first).unwrap();
                (0, ends[1].poll(now).remove(0))
            }
        };
        let mut changed = message.clone();
        let place = place.index(changed.len() - MAC_LEN);
        changed[place] ^= 1 << bit;
        changed.truncate(changed.len() - cut);
        prop_assert!(ends[to].take(now, &changed).is_err());
        prop_assert!(ends[to].take(now, &message[..message.len() - 1 - cut]).is_err());
        prop_assert_eq!(ends[to].take(now, &message), Ok(None));
        exchange(&mut ends, now, &mut || false);
        prop_assert!(both_cross(&mut ends, now));
    }
}
