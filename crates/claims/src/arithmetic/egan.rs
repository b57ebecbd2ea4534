//! Figures of [Egan].

use model::largest_message;
use units::IpVersion;

use super::{Computation, Printed};

pub(super) const ALL: &[Computation] = &[
    Computation {
        name: "egan-ratio",
        how: "0.1782 / 0.0962 ms",
        unit: "",
        printed: Printed::Is(1.8524, 0.000_05),
        exact: || 0.1782 / 0.0962,
    },
    Computation {
        name: "egan-rate",
        how: "8 Mbit in 0.0962 ms, on a link of 1 Gbit/s",
        unit: "Gbit/s",
        printed: Printed::AtMost(1.0),
        exact: || 8e6 / 0.0962e-3 / 1e9,
    },
    Computation {
        name: "egan-echo",
        how: "2 x 11 000 octets x 8 / 1 Gbit/s; printed as 0.0962 ms",
        unit: "ms",
        printed: Printed::AtMost(0.0962),
        exact: || 2.0 * 11_000.0 * 8.0 / 1e9 * 1e3,
    },
    // Length fields of 16 bits limit a datagram [RFC791 s3.1] [RFC768].
    Computation {
        name: "egan-udp-limit",
        how: "2^16 - 1 - 20 - 8",
        unit: "octets",
        printed: Printed::Is(65_507.0, 0.0),
        exact: || largest_message(IpVersion::V4).get() as f64,
    },
    Computation {
        name: "egan-tcp-limit",
        how: "2^16 - 1 - 20 - 20",
        unit: "octets",
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
        unit: "octets",
        printed: Printed::AtMost(3700.0),
        exact: || 3643.0,
    },
];
