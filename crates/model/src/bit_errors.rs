//! Goodput on a link whose bits are wrong now and then, and the packet that
//! carries most.

use units::Bytes;

/// The probability that an independent error hits one of these bytes:
/// 1 - (1 - rate)^(8 n).
pub fn frame_error_rate(bit_error_rate: f64, bytes: Bytes) -> f64 {
    crate::path_loss([(0.0, bit_error_rate)], bytes)
}

/// The share of a link's rate that is payload where each frame with an error is
/// sent again, alone, until it is right: payload/wire, of which the share without
/// error arrives.
pub fn share_after_errors(payload: Bytes, wire: Bytes, frame: Bytes, bit_error_rate: f64) -> f64 {
    let share = payload.get() as f64 / wire.get() as f64;
    share * (1.0 - frame_error_rate(bit_error_rate, frame))
}

/// The payload in bytes, not rounded, with which [`share_after_errors`] is largest
/// where `overhead` bytes of wire are beside it: -h/2 + sqrt(h^2/4 + h/l) with
/// l = -8 ln(1 - rate) [Chu1974]. `None` without errors: the larger the better.
///
/// Follows from the derivative of ln x - ln(x + h) - l x, whose zero is
/// x (x + h) = h/l; bytes of the overhead that errors hit change the share by a
/// constant factor only.
pub fn best_payload(overhead: Bytes, bit_error_rate: f64) -> Option<f64> {
    let per_byte = -8.0 * (-bit_error_rate).ln_1p();
    let half = overhead.get() as f64 / 2.0;
    (per_byte > 0.0).then(|| {
        let square = 2.0 * half / per_byte;
        // The difference of two large numbers, without losing digits.
        square / (half + (half * half + square).sqrt())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 110 bytes beside the payload of TCP over IPv6 and Ethernet.
    const OVERHEAD: Bytes = Bytes::new(110);

    #[test]
    fn the_best_payload_is_near_the_root_of_overhead_over_errors() {
        // 110/(8e-6) = 13 750 000; -55 + sqrt(55^2 + 13 750 000).
        for (rate, best) in [(1e-6, 3653.5), (1e-5, 1119.0), (1e-4, 319.9)] {
            let found = best_payload(OVERHEAD, rate).unwrap();
            assert!((found - best).abs() < 0.5, "{rate}: {found}");
        }
        assert_eq!(best_payload(OVERHEAD, 0.0), None);
    }

    #[test]
    fn a_standard_frame_and_a_jumbo_frame_are_hit_as_their_bits_are_many() {
        for (bytes, lost) in [(1518, 0.012_071), (9018, 0.069_603)] {
            let found = frame_error_rate(1e-6, Bytes::new(bytes));
            assert!((found - lost).abs() < 1e-6, "{bytes}: {found}");
        }
    }

    proptest! {
        #[test]
        fn no_payload_carries_more_than_the_best_one(
            overhead in 20u64..400, exponent in -9.0f64..-3.5, other in 1u64..200_000,
        ) {
            let rate = 10f64.powf(exponent);
            let of = |payload: f64| {
                let per_byte = (-rate).ln_1p() * 8.0;
                payload / (payload + overhead as f64) * (per_byte * payload).exp()
            };
            let best = best_payload(Bytes::new(overhead), rate).unwrap();
            prop_assert!(best > 0.0);
            prop_assert!(of(best) >= of(other as f64) * (1.0 - 1e-9));
            // And a link with more errors wants smaller packets.
            prop_assert!(best_payload(Bytes::new(overhead), rate * 2.0).unwrap() < best);
        }

        #[test]
        fn the_share_is_that_of_whole_frames(bytes in 64u64..9_100, exponent in -12.0f64..-3.0) {
            let rate = 10f64.powf(exponent);
            let (payload, frame) = (Bytes::new(bytes), Bytes::new(bytes + 18));
            let share = share_after_errors(payload, Bytes::new(bytes + 38), frame, rate);
            prop_assert!((0.0..1.0).contains(&share));
            let clean = share_after_errors(payload, Bytes::new(bytes + 38), frame, 0.0);
            prop_assert!(share <= clean);
        }
    }
}
