//! Costs of bytes that travel in packets.

/// The time that a stage spends on a transfer: a host, a router, a link, or all of
/// them in a row. It is linear in packets and bytes, as a host that copies bytes
/// and handles headers works [Clark1989] [Kay1993].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Seconds for a transfer, whatever its size.
    pub per_transfer: f64,
    /// Seconds for each packet, its headers included.
    pub per_packet: f64,
    /// Seconds for each byte of payload.
    pub per_byte: f64,
}

impl Cost {
    /// Seconds for each byte of a long transfer in packets that carry `segment`
    /// bytes of payload each.
    pub fn per_payload_byte(&self, segment: f64) -> f64 {
        self.per_byte + self.per_packet / segment
    }

    /// Seconds for `size` bytes of payload.
    pub fn seconds(&self, size: f64, segment: f64) -> f64 {
        self.per_transfer + size * self.per_payload_byte(segment)
    }

    /// The goodput of a long transfer in bits per second; `None` if it costs nothing.
    pub fn goodput(&self, segment: f64) -> Option<f64> {
        let seconds = self.per_payload_byte(segment);
        (seconds > 0.0).then(|| 8.0 / seconds)
    }

    /// The cost of a host that hands over each segment to a link of `rate` bits per
    /// second and waits for it: the link's time for the payload is added to the
    /// host's time for a packet. The one figure `goodput`, in bits per second, at
    /// segments of `segment` bytes decides the latter, in which the time of headers on
    /// the link is included. `None` if the link alone would be slower.
    pub fn beside_link(rate: f64, segment: f64, goodput: f64) -> Option<Self> {
        let per_byte = 8.0 / rate;
        let per_packet = segment * (8.0 / goodput - per_byte);
        (per_packet >= 0.0).then_some(Self {
            per_byte,
            per_packet,
            per_transfer: 0.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Linux to Linux over Gigabit Ethernet [Praptodiyono2019 Table 4].
    #[test]
    fn one_figure_at_1500_gives_those_at_4000_and_9000_within_two_percent() {
        let cost = Cost::beside_link(1e9, 1428.0, 750.94e6).unwrap();
        assert!((cost.per_packet - 3.789e-6).abs() < 1e-9, "{cost:?}");
        for (mtu, expected, printed) in [(4000.0, 892.4, 895.53), (9000.0, 949.6, 938.88)] {
            let goodput = cost.goodput(mtu - 72.0).unwrap() / 1e6;
            assert!((goodput - expected).abs() < 0.05, "{mtu}: {goodput}");
            assert!((goodput / printed - 1.0).abs() < 0.012, "{mtu}: {goodput}");
        }
    }

    #[test]
    fn a_link_that_is_slower_than_the_goodput_explains_nothing() {
        assert_eq!(Cost::beside_link(1e9, 1428.0, 1.1e9), None);
        assert_eq!(Cost::default().goodput(1428.0), None);
    }

    proptest! {
        #[test]
        fn larger_segments_never_cost_more(
            packet in 0.0f64..1e-4, byte in 1e-12f64..1e-7, segment in 1.0f64..65_000.0, size in 1.0f64..1e9,
        ) {
            let cost = Cost { per_transfer: 1e-3, per_packet: packet, per_byte: byte };
            prop_assert!(cost.seconds(size, segment + 1.0) <= cost.seconds(size, segment));
            prop_assert!(cost.goodput(segment).unwrap() <= 8.0 / byte);
        }

        #[test]
        fn the_figure_that_decides_a_cost_follows_from_it(share in 0.01f64..1.0, segment in 100.0f64..9_000.0) {
            let cost = Cost::beside_link(1e9, segment, share * 1e9).unwrap();
            let goodput = cost.goodput(segment).unwrap();
            prop_assert!((goodput / 1e9 / share - 1.0).abs() < 1e-9);
        }
    }
}
