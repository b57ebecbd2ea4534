//! Transfers over Ethernet: frames, bytes of wire, and times.

use units::{Bytes, Rate, Span};

use crate::stack::{DoesNotFit, Sizes, Stack};

/// Data rates of Ethernet from 10 Mbit/s to 800 Gbit/s, in bits per second
/// [IEEE802.3].
pub const ETHERNET_RATES: [u64; 13] = [
    10_000_000,
    100_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    10_000_000_000,
    25_000_000_000,
    40_000_000_000,
    50_000_000_000,
    100_000_000_000,
    200_000_000_000,
    400_000_000_000,
    800_000_000_000,
];

/// A transfer in packets that fill the MTU, the last one perhaps in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// All frames.
    pub frames: u64,
    /// A full frame.
    pub full: Sizes,
    /// The last frame.
    pub last: Sizes,
}

impl Transfer {
    /// The transfer of `size` bytes. The last bundle of a transfer in bundles has
    /// packets of equal size, rounded up.
    ///
    /// # Errors
    /// As [`Stack::largest`].
    pub fn new(stack: &Stack, size: Bytes, mtu: Bytes) -> Result<Self, DoesNotFit> {
        let full = stack.largest(mtu)?;
        let frames = size.get().div_ceil(full.carried().get()).max(1);
        let rest = size - full.carried() * (frames - 1);
        let last = Bytes::new(rest.get().div_ceil(full.packets));
        Ok(Self {
            frames,
            last: stack.with_payload(last, mtu)?,
            full,
        })
    }

    /// The bytes of wire of all frames.
    pub fn wire(&self) -> Bytes {
        self.full.wire * (self.frames - 1) + self.last.wire
    }

    /// The time from the first bit on the first of `links` links of this rate
    /// until the last bit has passed the last of them; each hop but the last
    /// stores a frame before it forwards it.
    ///
    /// Follows from the order of the frames: each link begins one frame after the
    /// one before, and the first frame is the largest.
    pub fn time(&self, rate: Rate, links: u64) -> Span {
        let first = match self.frames {
            1 => self.last.wire,
            _ => self.full.wire,
        };
        store_and_forward(self.wire(), first, rate, links)
    }
}

/// The time of frames that take `wire` bytes together, the largest of them
/// `largest`, over `links` links of one rate in a row. All links but the first
/// wait for the largest frame: the sum, and the largest once more for each further
/// link.
pub fn store_and_forward(wire: Bytes, largest: Bytes, rate: Rate, links: u64) -> Span {
    rate.serialise(wire + largest * links.saturating_sub(1))
}

/// Frames of `wire` bytes per second that fill a link.
pub fn frames_per_second(rate: Rate, wire: Bytes) -> f64 {
    rate.bits_per_second() as f64 / wire.bits() as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use units::{Framing, IpMtu, IpVersion, Transport};

    use super::*;
    use crate::packets;

    fn rate(bits: u64) -> Rate {
        Rate::from_bits_per_second(bits).unwrap()
    }

    /// The study of 2019 sends 5 MB [Praptodiyono2019 s3.1].
    #[test]
    fn five_megabytes_take_3502_1273_and_561_frames() {
        let stack: Stack = "eth,ipv6,tcp+ts".parse().unwrap();
        for (mtu, frames) in [(1500, 3502), (4000, 1273), (9000, 561)] {
            let transfer = Transfer::new(&stack, Bytes::new(5_000_000), Bytes::new(mtu)).unwrap();
            assert_eq!(transfer.frames, frames);
            let headers = frames * (72 + 38);
            assert_eq!(transfer.wire(), Bytes::new(5_000_000 + headers));
        }
    }

    /// The smallest frame at each rate, as benchmarks state it [RFC2544 s20].
    #[test]
    fn the_smallest_frames_fill_a_link_at_the_rates_of_benchmarks() {
        for (bits, frames) in [
            (10_000_000, 14_880),
            (100_000_000, 148_809),
            (1_000_000_000, 1_488_095),
            (10_000_000_000, 14_880_952),
        ] {
            let found = frames_per_second(rate(bits), Bytes::new(84));
            assert_eq!(found.floor(), f64::from(frames));
        }
        // 81 274 and 13 830 frames/s fill 1 Gbit/s at 1500 and 9000.
        let found =
            [1538, 9038].map(|wire| frames_per_second(rate(1_000_000_000), Bytes::new(wire)));
        assert_eq!(found.map(f64::round), [81_274.0, 13_830.0]);
    }

    /// 11 000 bytes over UDP and IPv4 at 1 Gbit/s: small frames are under way on
    /// several links at once [Egan].
    #[test]
    fn small_frames_pass_stages_while_large_ones_are_stored() {
        let time = |mtu, links| {
            let mtu = IpMtu::new(mtu, IpVersion::V4).unwrap();
            let sizes = packets(Bytes::new(11_000), mtu, IpVersion::V4, Transport::Udp);
            let wire = |size: &Bytes| Framing::Ethernet.wire_size(*size);
            let (all, largest) = (sizes.iter().map(wire).sum(), sizes.iter().map(wire).max());
            store_and_forward(all, largest.unwrap(), rate(1_000_000_000), links)
        };
        for (links, at_1500, at_9000) in [
            (1, 91_776, 88_992),
            (2, 104_080, 161_264),
            (3, 116_384, 233_536),
        ] {
            assert_eq!(time(1500, links), Span::from_nanos(at_1500));
            assert_eq!(time(9000, links), Span::from_nanos(at_9000));
        }
    }

    /// When the last bit has passed the last link, link by link and frame by frame.
    fn passed(frames: &[u64], links: u64) -> u64 {
        let mut arrivals = vec![0; frames.len()];
        for _ in 0..links {
            let mut free = 0;
            for (arrival, bytes) in arrivals.iter_mut().zip(frames) {
                free = free.max(*arrival) + bytes;
                *arrival = free;
            }
        }
        arrivals.last().copied().unwrap_or(0)
    }

    proptest! {
        #[test]
        fn the_time_over_stages_is_that_of_each_frame_on_each_link(
            full in 84u64..9_100, count in 0usize..20, last in 84u64..9_100, links in 1u64..6,
        ) {
            let last = last.min(full);
            let mut frames = vec![full; count];
            frames.push(last);
            let largest = frames[0];
            let all: u64 = frames.iter().sum();
            let time = store_and_forward(Bytes::new(all), Bytes::new(largest), rate(8), links);
            prop_assert_eq!(time, Span::from_secs(passed(&frames, links)));
        }

        #[test]
        fn frames_hold_the_whole_transfer_and_one_less_does_not(
            size in 1u64..100_000_000, mtu in 1280u64..65_535,
        ) {
            let stack: Stack = "eth,ipv6,udp".parse().unwrap();
            let transfer = Transfer::new(&stack, Bytes::new(size), Bytes::new(mtu)).unwrap();
            let full = transfer.full.payload.get();
            prop_assert_eq!(full * (transfer.frames - 1) + transfer.last.payload.get(), size);
            prop_assert!(full * (transfer.frames - 1) < size);
        }
    }
}
