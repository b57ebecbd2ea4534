//! The largest size that a system sends, where trying one that it rejects costs nothing.

/// The largest packet of IP that a datagram makes, and one that every system sends [RFC791].
pub(super) const LARGEST: u32 = 65_535;
const LEAST: u32 = 68;

/// The usual ones: of loopback, of jumbo frames and of Ethernet.
const USUAL: [u32; 3] = [LARGEST - 1, 9_000, 1_500];

/// The distance of the sizes that are tried first.
const STEP: u32 = 256;

/// The largest size that is sent, of which all smaller ones are, too. At most three sizes are
/// tried that are sent. `None` if none is.
pub(super) fn largest(is_sent: impl Fn(u32) -> bool) -> Option<u32> {
    let (mut sent, mut rejected) = (None, LARGEST + 1);
    for usual in USUAL {
        if is_sent(usual + 1) {
            sent = Some(usual + 1);
            break;
        }
        if is_sent(usual) {
            return Some(usual);
        }
        rejected = usual;
    }
    let from_above = |above: u32, least: u32, step: usize| {
        let mut sizes = (least..above).rev().step_by(step);
        sizes.find(|size| is_sent(*size))
    };
    let above_sent = |sent: Option<u32>| sent.map_or(LEAST, |sent| sent + 1);
    let sent = from_above(rejected, above_sent(sent), STEP as usize).or(sent);
    let rejected = rejected.min(sent.unwrap_or(LEAST) + STEP);
    from_above(rejected, above_sent(sent), 1).or(sent)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_largest_size_is_found_by_few_packets() {
        let all = (LEAST..2_000).chain(4_000..4_600).chain(8_700..9_300);
        for mtu in all.chain(LARGEST - 300..=LARGEST) {
            let packets = Cell::new(0);
            let is_sent = |size| {
                packets.set(packets.get() + u32::from(size <= mtu));
                size <= mtu
            };
            assert_eq!(largest(is_sent), Some(mtu));
            assert!(packets.get() <= 3, "{mtu}: {packets:?}");
        }
        assert_eq!(largest(|_| false), None);
    }
}
