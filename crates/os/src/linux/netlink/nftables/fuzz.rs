//! Messages of any content are read as far as they can be, and end.

use proptest::prelude::*;

use super::rule::Rule;
use super::tests::{ALL, bytes, ruleset};
use super::{attributes, number};

proptest! {
    #[test]
    fn damaged_messages_are_read_as_far_as_they_can_be(
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        end in any::<prop::sample::Index>(),
    ) {
        let mut messages = bytes(&ALL.concat());
        for (place, value) in places {
            *place.get_mut(&mut messages[..]) = value;
        }
        messages.truncate(end.index(messages.len()) + 1);
        // Each clamp is a rule, seen for one hook out of four at most.
        prop_assert!(ruleset(&messages).clamps().len() <= 4 * ALL.len());
    }

    #[test]
    fn any_bytes_are_a_rule(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let length = attributes(&bytes).map(|(_, value)| 4 + value.len()).sum::<usize>();
        prop_assert!(length <= bytes.len());
        Rule::read(number(libc::NFPROTO_INET), &bytes);
    }

    #[test]
    fn any_expressions_are_a_rule(
        parts in prop::collection::vec((1..8_u16, prop::collection::vec(any::<u8>(), 0..40)), 0..12),
        name in prop::sample::select(vec!["cmp", "exthdr", "immediate", "meta", "target"]),
    ) {
        let nested = |kind: u16, value: &[u8]| {
            let length = u16::try_from(4 + value.len()).unwrap();
            let mut bytes = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
            bytes.extend(value);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            bytes
        };
        let data: Vec<u8> = parts.iter().flat_map(|(kind, value)| nested(*kind, value)).collect();
        let expression = [nested(1, name.as_bytes()), nested(2, &data)].concat();
        let rule = nested(4, &nested(1, &expression));
        Rule::read(number(libc::NFPROTO_INET), &rule);
    }
}
