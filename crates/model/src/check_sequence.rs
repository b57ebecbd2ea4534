//! Errors that the frame check sequence of Ethernet, CRC-32, does not detect.

use units::{Bytes, Framing};

/// Bits of data up to which any error of fewer bits than the distance is detected
/// by CRC-32 of Ethernet, the largest distance last [Koopman2002].
const REACH: [(u32, u64); 8] = [
    (3, 4_294_967_263),
    (4, 91_607),
    (5, 2_974),
    (6, 268),
    (7, 171),
    (8, 91),
    (9, 57),
    (10, 34),
];

/// The share of error patterns with as many bits as the distance or more that
/// leave a check sequence of 32 bits right, as for bits drawn at random.
const MISSED: f64 = 1.0 / 4_294_967_296.0;

/// The bits of a frame in front of its check sequence.
fn data_bits(frame: Bytes) -> u64 {
    (frame - Framing::FCS).bits()
}

/// The Hamming distance of frames of this size: fewer wrong bits than that are
/// always detected. `None` for frames beyond all tables.
pub fn hamming_distance(frame: Bytes) -> Option<u32> {
    let bits = data_bits(frame);
    let reach = REACH.iter().rev().find(|(_, reach)| bits <= *reach);
    reach.map(|(distance, _)| *distance)
}

/// The largest frame with this Hamming distance, its check sequence counted.
pub fn largest_frame(distance: u32) -> Option<Bytes> {
    let reach = REACH.iter().find(|(own, _)| *own == distance);
    reach.map(|(_, bits)| Bytes::new(bits / 8) + Framing::FCS)
}

/// The probability that a frame has wrong bits and a right check sequence, where
/// bits are wrong independently with probability `bit_error_rate`: of the patterns
/// with at least the Hamming distance of wrong bits, one in 2^32 is missed. `None`
/// for frames beyond all tables.
///
/// The exact number of patterns of four bits in a frame of MTU 1500 is 223 059
/// [Koopman2002]; this formula counts 5 % fewer.
pub fn undetected(frame: Bytes, bit_error_rate: f64) -> Option<f64> {
    let distance = hamming_distance(frame)?;
    Some(at_least(distance, frame.bits(), bit_error_rate) * MISSED)
}

/// The probability of at least `least` wrong bits among `bits`.
fn at_least(least: u32, bits: u64, rate: f64) -> f64 {
    let (bits, most) = (bits as f64, 700.0);
    if rate <= 0.0 {
        return 0.0;
    }
    // So many errors are expected that fewer than ten never happen, and the first
    // term is too small for a number.
    if rate >= 1.0 || bits * rate > most {
        return 1.0;
    }
    let odds = rate / (1.0 - rate);
    let mut wrong = 0.0;
    let mut term = ((-rate).ln_1p() * bits).exp();
    let mut sum = 0.0;
    // The terms grow up to the expected number and then fall for good.
    while wrong < f64::from(least) || wrong <= bits * rate || term > sum * f64::EPSILON {
        if wrong >= f64::from(least) {
            sum += term;
        }
        term *= (bits - wrong) / (wrong + 1.0) * odds;
        wrong += 1.0;
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The generator of CRC-32 without its highest bit [IEEE802.3 s3.2.9].
    const GENERATOR: u32 = 0x04C1_1DB7;

    /// The residues of 1, x, x^2, ... modulo the generator.
    fn residues() -> impl Iterator<Item = u32> {
        std::iter::successors(Some(1_u32), |last| {
            let carry = last >> 31;
            Some((last << 1) ^ (carry * GENERATOR))
        })
    }

    /// The bits of data from which a pattern of three wrong bits is missed: the
    /// smallest i with 1 + x^j + x^i a multiple of the generator.
    #[test]
    fn three_wrong_bits_are_first_missed_beyond_the_reach_of_the_table() {
        let mut seen = std::collections::BTreeSet::new();
        let first = residues().take(100_000).position(|residue| {
            let is_missed = seen.contains(&(residue ^ 1));
            seen.insert(residue);
            is_missed
        });
        let bits_of_codeword = first.unwrap() as u64 + 1;
        let (_, reach) = REACH[1];
        assert_eq!(bits_of_codeword, reach + 32 + 1);
    }

    #[test]
    fn frames_of_mtu_1500_and_9000_have_one_distance_and_12_000_bytes_less() {
        for (frame, distance) in [
            (64, 5),
            (375, 5),
            (376, 4),
            (1518, 4),
            (9018, 4),
            (11_454, 4),
            (11_455, 3),
            (12_018, 3),
        ] {
            assert_eq!(
                hamming_distance(Bytes::new(frame)),
                Some(distance),
                "{frame}"
            );
        }
        assert_eq!(largest_frame(4), Some(Bytes::new(11_454)));
        assert_eq!(largest_frame(5), Some(Bytes::new(375)));
        assert_eq!(largest_frame(2), None);
        assert_eq!(hamming_distance(Bytes::new(1 << 40)), None);
    }

    /// 223 059 patterns of four bits in 12 112 bits of data and 32 of check
    /// sequence [Koopman2002].
    #[test]
    fn the_patterns_of_four_bits_are_nearly_as_many_as_were_counted() {
        let rate = 1e-10;
        let found = undetected(Bytes::new(1518), rate).unwrap();
        let counted = 223_059.0 * rate.powi(4);
        assert!(
            (0.93..1.0).contains(&(found / counted)),
            "{found} {counted}"
        );
    }

    #[test]
    fn with_every_bit_at_random_one_frame_in_2_to_the_32_is_missed() {
        for frame in [64, 1518, 9018, 65_553] {
            let found = undetected(Bytes::new(frame), 0.5).unwrap();
            assert!((found / MISSED - 1.0).abs() < 1e-9, "{frame}: {found}");
        }
        assert_eq!(undetected(Bytes::new(1518), 0.0), Some(0.0));
    }

    proptest! {
        #[test]
        fn more_bytes_and_more_wrong_bits_are_missed_more_often(
            frame in 64u64..20_000, more in 1u64..10_000, exponent in -12.0f64..-1.0,
        ) {
            let rate = 10f64.powf(exponent);
            let of = |frame, rate| undetected(Bytes::new(frame), rate).unwrap();
            let found = of(frame, rate);
            prop_assert!((0.0..=MISSED).contains(&found));
            prop_assert!(of(frame + more, rate) >= found * (1.0 - 1e-9));
            prop_assert!(of(frame, rate * 1.5) >= found * (1.0 - 1e-9));
        }
    }
}
