//! Bundles of packets: what they save, and how long their packets wait.

use units::{Bytes, Span};

/// Bytes of a bundle's header, and of each packet's entry [Salyers2007].
const HEADER: i64 = 6;
const ENTRY: i64 = 4;

/// The bytes that a bundle of `packets` adds to the wire: an IP header, the
/// bundle's header with its entries, and `framing` bytes fewer for each packet but
/// one. Negative where it saves [Mulahuwaish eq 1].
///
/// The paper prints (N - 4) for the entries, with which its own example is -14; with
/// four bytes for each packet, 4 N, it is the -4 of its text.
pub fn bundle_cost(ip_header: Bytes, packets: u32, framing: Bytes) -> i64 {
    let entries = ENTRY * i64::from(packets);
    cost_with(entries, ip_header, packets, framing)
}

/// The bytes of [`bundle_cost`] by the equation as the paper prints it, with N - 4 for
/// the entries [Mulahuwaish eq 1].
pub fn bundle_cost_as_printed(ip_header: Bytes, packets: u32, framing: Bytes) -> i64 {
    let entries = i64::from(packets) - ENTRY;
    cost_with(entries, ip_header, packets, framing)
}

/// The bytes that a bundle adds with this many bytes of entries.
fn cost_with(entries: i64, ip_header: Bytes, packets: u32, framing: Bytes) -> i64 {
    let bytes = |size: Bytes| i64::try_from(size.get()).unwrap_or(i64::MAX);
    let added = bytes(ip_header).saturating_add(HEADER + entries);
    added.saturating_sub(bytes(framing).saturating_mul(i64::from(packets) - 1))
}

/// A stream of packets that are larger than a bundle, and are cut to fill bundles
/// [RFC9347 s2.2]; as averages of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pieces {
    /// Full bundles that it takes.
    pub bundles: f64,
    /// Bundles that have a part of it. It is lost with any of them.
    pub touched: f64,
    /// The bytes that bundles add to the wire: their headers, framing and entries.
    pub added_bytes: f64,
}

impl Pieces {
    /// Packets of `packet` bytes in bundles of `mtu` bytes with an IP header, each with
    /// `framing` bytes around it. A piece has an entry, as each packet of equation 1 has
    /// [Mulahuwaish eq 1], and each bundle but the first begins with a piece. `None`: a bundle
    /// has room for the whole packet, or for no piece.
    pub fn new(packet: Bytes, mtu: Bytes, ip_header: Bytes, framing: Bytes) -> Option<Self> {
        let [packet, mtu, ip_header, framing] =
            [packet, mtu, ip_header, framing].map(|bytes| bytes.get() as f64);
        let (header, entry) = (ip_header + HEADER as f64, ENTRY as f64);
        // Room for packets, behind the entry of the piece that begins the bundle.
        let room = mtu - header - entry;
        if room < 1.0 || packet <= room {
            return None;
        }
        let bundles = (packet + entry) / room;
        Some(Self {
            bundles,
            touched: 1.0 + bundles,
            added_bytes: bundles * (header + framing + entry) + entry,
        })
    }

    /// The share of packets that are lost where a share `loss` of the bundles is, each by
    /// itself.
    pub fn lost(&self, loss: f64) -> f64 {
        1.0 - (1.0 - loss).powf(self.touched)
    }
}

/// The mean number of packets in bundles that leave `timer` after their first packet
/// (the paper's MAX_WAIT), if packets arrive at random times, `arrivals` a second:
/// the first one, and those that arrive meanwhile [Mulahuwaish s2.A].
pub fn bundle_packets(timer: Span, arrivals: f64) -> f64 {
    1.0 + arrivals * timer.as_secs_f64()
}

/// The mean wait in seconds of a packet for its bundle: the first waits for the
/// whole timer, and those that follow for half of it on average [Mulahuwaish s2.A].
/// Bundles that are full before their timer ends wait less.
pub fn bundle_wait(timer: Span, arrivals: f64) -> f64 {
    let (timer, followers) = (timer.as_secs_f64(), arrivals * timer.as_secs_f64());
    timer * (1.0 + followers / 2.0) / (1.0 + followers)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_example_of_equation_1_saves_four_bytes() {
        let cost = |ip, packets| bundle_cost(Bytes::new(ip), packets, Bytes::new(38));
        assert_eq!(cost(20, 2), -4);
        assert_eq!(cost(20, 6), -140);
        assert_eq!(cost(40, 2), 16);
        assert_eq!(cost(20, 1), 30);
        assert_eq!(
            bundle_cost_as_printed(Bytes::new(20), 2, Bytes::new(38)),
            -14
        );
    }

    #[test]
    fn a_lone_packet_waits_for_the_timer_and_many_for_half_of_it() {
        let timer = Span::from_micros(500);
        assert!((bundle_wait(timer, 0.0) - 500e-6).abs() < 1e-12);
        // 2000/s: one packet follows on average; (500 + 250)/2.
        assert!((bundle_wait(timer, 2_000.0) - 375e-6).abs() < 1e-12);
        assert!((bundle_packets(timer, 2_000.0) - 2.0).abs() < 1e-12);
        assert!((bundle_wait(timer, 1e12) - 250e-6).abs() < 1e-9);
    }

    #[test]
    fn jumbo_frames_over_1500_bytes_are_in_six_bundles_and_a_part_of_one() {
        let pieces = |packet, mtu| {
            Pieces::new(
                Bytes::new(packet),
                Bytes::new(mtu),
                Bytes::new(20),
                Bytes::new(38),
            )
        };
        // 1500 - 20 - 6 - 4 bytes of each bundle.
        let found = pieces(9_000, 1_500).unwrap();
        assert!((found.bundles - 9_004.0 / 1_470.0).abs() < 1e-12);
        assert!((found.added_bytes - (found.bundles * 68.0 + 4.0)).abs() < 1e-9);
        assert!((found.touched - found.bundles - 1.0).abs() < 1e-12);
        assert!((found.lost(0.01) - (1.0 - 0.99f64.powf(found.touched))).abs() < 1e-12);
        assert_eq!((pieces(1_470, 1_500), pieces(9_000, 30)), (None, None));
        assert!(pieces(1_471, 1_500).is_some());
    }

    proptest! {
        #[test]
        fn full_bundles_hold_the_packets_and_their_entries(
            packet in 1_471u64..65_536, mtu in 576u64..1_501,
        ) {
            let [packet, mtu, header] = [packet, mtu, 20].map(Bytes::new);
            let found = Pieces::new(packet, mtu, header, Bytes::new(38)).unwrap();
            // The bytes of IP, less the headers.
            let sent = found.bundles * mtu.get() as f64;
            let added = found.added_bytes - found.bundles * 38.0;
            prop_assert!((sent - added - packet.get() as f64).abs() < 1e-6);
            prop_assert!(found.lost(0.0).abs() < 1e-12 && found.lost(0.1) > 0.1);
        }

        #[test]
        fn each_further_packet_saves_the_same(packets in 1u32..1_000, ip in 20u64..60) {
            let cost = |packets| bundle_cost(Bytes::new(ip), packets, Bytes::new(38));
            prop_assert_eq!(cost(packets + 1) - cost(packets), 4 - 38);
        }

        #[test]
        fn the_wait_falls_with_traffic_and_stays_between_half_a_timer_and_one(
            micros in 1u64..1_000_000, arrivals in 0.0f64..1e7,
        ) {
            let timer = Span::from_micros(micros);
            let wait = bundle_wait(timer, arrivals);
            let whole = timer.as_secs_f64();
            prop_assert!((whole / 2.0 - 1e-12..=whole + 1e-12).contains(&wait));
            prop_assert!(bundle_wait(timer, arrivals + 1_000.0) <= wait);
        }
    }
}
