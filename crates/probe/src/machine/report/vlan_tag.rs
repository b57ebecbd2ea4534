//! Links that pass four bytes more than their MTU: those of interfaces that are ready for a
//! VLAN tag, as virtual ones of Linux are.

use units::Bytes;

/// The tag that an interface takes in addition to its MTU [IEEE802.1Q].
pub(crate) const VLAN_TAG: Bytes = Bytes::new(4);

/// MTUs of Ethernet links: the standard's [IEEE802.3 s3.2.7], and that of jumbo frames.
const COMMON: [u64; 2] = [1500, 9000];

/// The unit in which fragments are cut [RFC791 s3.2].
const FRAGMENT_UNIT: u64 = 8;

/// The MTU of a link that passes packets of `passed`, and drops larger ones silently:
/// without the tag if that leaves a common MTU, or one that the largest fragment of larger
/// answers shows.
pub(in crate::machine) fn without_tag(passed: Bytes, fragment: Option<Bytes>) -> Bytes {
    let Some(mtu) = passed.checked_sub(VLAN_TAG) else {
        return passed;
    };
    let is_common = |mtu: Bytes| COMMON.contains(&mtu.get());
    let is_shown = fragment.is_some_and(|fragment| {
        let rest = mtu.checked_sub(fragment);
        rest.is_some_and(|rest| rest.get() < FRAGMENT_UNIT)
    });
    match is_common(mtu) || is_shown && !is_common(passed) {
        true => mtu,
        false => passed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_takes_a_tag_is_called_by_its_mtu() {
        for (passed, fragment, expected) in [
            (1504, None, 1500),
            (9004, None, 9000),
            (1500, None, 1500),
            (9000, Some(8996), 9000),
            // MTU 1400, whose largest fragment has 1376 bytes of data.
            (1404, Some(1396), 1400),
            (1404, Some(1400), 1400),
            (1404, None, 1404),
            // The reverse path has another limit.
            (1404, Some(1392), 1404),
            (1404, Some(1404), 1404),
            (1500, Some(1492), 1500),
            (3, None, 3),
        ] {
            let mtu = without_tag(Bytes::new(passed), fragment.map(Bytes::new));
            assert_eq!(mtu.get(), expected, "{passed} {fragment:?}");
        }
    }
}
