//! Figures of [Mulahuwaish].

use model::bundle_cost;
use units::{Bytes, Framing, Rate};

use super::{Computation, Printed};

/// Bytes on the wire of an Ethernet frame that carries a packet of this size.
fn wire(packet: u64) -> Bytes {
    Framing::Ethernet.wire_size(Bytes::new(packet))
}

/// Frames a second that fill a link of 1 Gbit/s.
fn frames_per_second(wire: Bytes) -> f64 {
    let rate = Rate::from_bits_per_second(1_000_000_000);
    rate.map_or(0.0, |rate| model::frames_per_second(rate, wire))
}

/// The largest frame in which CRC-32 detects any three wrong bits, in bytes.
fn largest_detected() -> f64 {
    let frame = model::largest_frame(4).unwrap_or(Bytes::ZERO);
    frame.get() as f64
}

/// Equation 1 with four bytes for each packet, for two packets in Ethernet.
fn cost_of_two() -> f64 {
    let framing = wire(1500) - Bytes::new(1500);
    bundle_cost(Bytes::new(20), 2, framing) as f64
}

pub(super) const ALL: &[Computation] = &[
    Computation {
        name: "mred-six",
        how: "9000 / 1500 bytes of payload",
        unit: "times",
        printed: Printed::Is(6.0, 0.0),
        exact: || 9000.0 / 1500.0,
    },
    Computation {
        name: "mred-290",
        how: "5 x (40 + 18)",
        unit: "bytes",
        printed: Printed::Is(290.0, 0.0),
        exact: || 5.0 * (40.0 + 18.0),
    },
    Computation {
        name: "mred-nfs",
        how: "8192 + 8 of UDP + 20 of IPv4",
        unit: "bytes",
        printed: Printed::AtMost(9000.0),
        exact: || 8192.0 + 8.0 + 20.0,
    },
    Computation {
        name: "mred-frame-size",
        how: "9000 + 14 of header + 4 of VLAN tag + 4 of frame check sequence",
        unit: "bytes",
        printed: Printed::Is(9022.0, 0.0),
        exact: || 9000.0 + 14.0 + 4.0 + 4.0,
    },
    Computation {
        name: "mred-crc",
        how: "the largest frame in which CRC-32 detects any three wrong bits, 91 607 bits of data",
        unit: "bytes",
        printed: Printed::AtLeast(9000.0),
        exact: largest_detected,
    },
    Computation {
        name: "mred-80000",
        how: "1 Gbit/s / (8 x 1538)",
        unit: "frames/s",
        printed: Printed::AtLeast(80_000.0),
        exact: || frames_per_second(wire(1500)),
    },
    Computation {
        name: "mred-14000",
        how: "1 Gbit/s / (8 x 9038)",
        unit: "frames/s",
        printed: Printed::Is(14_000.0, 500.0),
        exact: || frames_per_second(wire(9000)),
    },
    Computation {
        name: "mred-saved-rate",
        how: "(81 274 - 13 830 frames/s) x 58 bytes x 8",
        unit: "Mbit/s",
        printed: Printed::Is(4.0, 0.5),
        exact: || {
            let fewer = frames_per_second(wire(1500)) - frames_per_second(wire(9000));
            fewer * 58.0 * 8.0 / 1e6
        },
    },
    Computation {
        name: "mred-packets-per-second",
        how: "2 x 1 Gbit/s / (8 x 84): the smallest frames, in both directions",
        unit: "packets/s",
        printed: Printed::AtLeast(2_000_000.0),
        exact: || 2.0 * frames_per_second(wire(46)),
    },
    Computation {
        name: "mred-equation",
        how: "20 + 6 + (2 - 4) - 38 x 1",
        unit: "bytes",
        printed: Printed::Is(-4.0, 0.0),
        exact: || 20.0 + 6.0 + (2.0 - 4.0) - 38.0 * (2.0 - 1.0),
    },
    Computation {
        name: "mred-header",
        how: "20 + (6 + 4 x 2) - 38 x 1",
        unit: "bytes",
        printed: Printed::Is(-4.0, 0.0),
        exact: cost_of_two,
    },
    Computation {
        name: "mred-delay",
        how: "20 x 3000 bytes x 8 / 1.5 Mbit/s",
        unit: "s",
        printed: Printed::Is(0.28, 0.005),
        exact: || 20.0 * 3000.0 * 8.0 / 1.5e6,
    },
    // The automatic weight is 1 - exp(-1 / packets per second) [Floyd2001 s4]. ns-2 takes
    // packets of `mean_pktsize_`, 500 bytes by default, whatever is sent [Ns2].
    Computation {
        name: "mred-weight",
        how: "1 - exp(-500 x 8 / 1.5 Mbit/s)",
        unit: "",
        printed: Printed::Is(0.0027, 0.000_05),
        exact: || 1.0 - f64::exp(-500.0 * 8.0 / 1.5e6),
    },
    Computation {
        name: "mred-thresholds",
        how: "15 / 5 packets",
        unit: "times",
        printed: Printed::Is(3.0, 0.0),
        exact: || 15.0 / 5.0,
    },
    Computation {
        name: "mred-drop",
        how: "(8.50 - 8.24) / 8.50",
        unit: "%",
        printed: Printed::Is(26.0, 0.5),
        exact: || 100.0 * (8.50 - 8.24) / 8.50,
    },
    Computation {
        name: "mred-throughput",
        how: "91.7 / 90.20 - 1",
        unit: "%",
        printed: Printed::Is(1.56, 0.005),
        exact: || 100.0 * (91.7 / 90.20 - 1.0),
    },
    Computation {
        name: "mred-scenarios",
        how: "scenarios with printed results",
        unit: "",
        printed: Printed::Is(4.0, 0.0),
        exact: || super::count([8.24, 8.50], f64::is_finite),
    },
];
