//! Figures of [Egan].

use model::{largest_message, packets};
use units::{Bytes, Framing, IpMtu, IpVersion, Transport};

use super::{Computation, Printed};

/// Bytes of wire of a message over UDP and IPv4.
fn wire(bytes: u64, mtu: u64) -> f64 {
    IpMtu::new(mtu, IpVersion::V4).map_or(f64::NAN, |mtu| {
        let packets = packets(Bytes::new(bytes), mtu, IpVersion::V4, Transport::Udp);
        let sizes = packets
            .into_iter()
            .map(|packet| Framing::Ethernet.wire_size(packet));
        sizes.sum::<Bytes>().get() as f64
    })
}

/// The time of 11 000 bytes over UDP on a link of 1 Gbit/s in ms.
fn message_time(mtu: u64) -> f64 {
    wire(11_000, mtu) * 8.0 / 1e9 * 1e3
}

/// The distance of the sum of five such times in s from a whole number of ms.
fn left_of_a_tick(mean: f64) -> f64 {
    let ticks = 5.0 * mean * 1e3;
    (ticks - ticks.round()).abs()
}

pub(super) const ALL: &[Computation] = &[
    Computation {
        name: "egan-ratio",
        how: "0.1782 / 0.0962 ms",
        unit: "",
        printed: Printed::Is(1.8524, 0.000_05),
        exact: || 0.1782 / 0.0962,
    },
    // Both interpretations of his figures: the time of one message in ms, and that of a megabyte
    // in s, which his loop times as well.
    Computation {
        name: "egan-message-time",
        how: "11 000 bytes over UDP in 8 frames of MTU 1500 on one link of 1 Gbit/s, without its answer",
        unit: "ms",
        printed: Printed::AtMost(0.0962),
        exact: || message_time(1500),
    },
    Computation {
        name: "egan-message-decrease",
        how: "65 000 against 1000 bytes over UDP on one link of 1 Gbit/s: the time of a message",
        unit: "times",
        printed: Printed::AtMost(1.0),
        exact: || wire(65_000, 1500) / wire(1000, 1500),
    },
    Computation {
        name: "egan-megabyte-rate",
        how: "8 Mbit in 0.0962 s, on a link of 1 Gbit/s",
        unit: "Mbit/s",
        printed: Printed::AtMost(1000.0),
        exact: || 8.0 / 0.0962,
    },
    Computation {
        name: "egan-megabyte-ticks",
        how: "5 x 0.0962 s and 5 x 0.1782 s in ticks of 1 ms: 481 and 891; the part of a tick that is left",
        unit: "ticks",
        printed: Printed::AtMost(0.0),
        exact: || [0.0962, 0.1782].map(left_of_a_tick).into_iter().sum(),
    },
    Computation {
        name: "egan-megabyte-stages",
        how: "(0.1782 - 0.0962) s / 91 messages: what a message takes longer; three links add three frames of MTU 9000, 0.217 ms",
        unit: "ms",
        printed: Printed::AtMost(0.217),
        exact: || (0.1782 - 0.0962) * 1e3 / 91.0,
    },
    Computation {
        name: "egan-echo",
        how: "2 x 11 000 bytes x 8 / 1 Gbit/s; printed as 0.0962 ms",
        unit: "ms",
        printed: Printed::AtMost(0.0962),
        exact: || 2.0 * 11_000.0 * 8.0 / 1e9 * 1e3,
    },
    Computation {
        name: "egan-echo-megabyte",
        how: "2 x 8 Mbit / 1 Gbit/s; printed as 0.0962, in s",
        unit: "s",
        printed: Printed::AtMost(0.0962),
        exact: || 2.0 * 8e6 / 1e9,
    },
    Computation {
        name: "egan-afterburner",
        how: "goodput of TCP at an MTU of 14 000 against 65 535 on one link: (13 928 / 14 038) / (65 463 / 65 573)",
        unit: "%",
        printed: Printed::AtLeast(95.0),
        exact: || 100.0 * (13_928.0 / 14_038.0) / (65_463.0 / 65_573.0),
    },
    Computation {
        name: "egan-65549",
        how: "the largest size that his runs of TCP were to reach; his largest TCP segment is 65 495",
        unit: "bytes",
        printed: Printed::AtLeast(65_496.0),
        exact: || 65_549.0,
    },
    // Length fields of 16 bits limit a datagram [RFC791 s3.1] [RFC768].
    Computation {
        name: "egan-udp-limit",
        how: "2^16 - 1 - 20 - 8",
        unit: "bytes",
        printed: Printed::Is(65_507.0, 0.0),
        exact: || largest_message(IpVersion::V4).get() as f64,
    },
    Computation {
        name: "egan-tcp-limit",
        how: "2^16 - 1 - 20 - 20",
        unit: "bytes",
        printed: Printed::Is(65_495.0, 0.0),
        exact: || f64::from(u16::MAX) - 20.0 - 20.0,
    },
    Computation {
        name: "egan-tcp-sizes",
        how: "3643 - 1000 + 1",
        unit: "sizes",
        printed: Printed::Is(2643.0, 0.0),
        exact: || 3643.0 - 1000.0 + 1.0,
    },
    Computation {
        name: "egan-hang",
        how: "the last size of TCP at MTU 1500 that is reported",
        unit: "bytes",
        printed: Printed::AtMost(3700.0),
        exact: || 3643.0,
    },
];
