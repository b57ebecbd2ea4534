//! Figures of [Supriyanto2017].

use model::packets;
use units::{Bytes, Framing, IpMtu, IpVersion, Transport};

use super::{Computation, Printed, ROUNDING, changes, count, largest, smallest};

/// Message sizes in bytes [Supriyanto2017 Table 2].
const SIZES: [f64; 7] = [
    1500.0, 3000.0, 6000.0, 12_000.0, 24_000.0, 48_000.0, 65_000.0,
];
/// Latency in ms at MTU 1500 and 4000 [Supriyanto2017 Table 2].
const LATENCY: [[f64; 7]; 2] = [
    [2.3, 2.66, 5.315, 7.4, 5.8, 6.06, 8.345],
    [1.21, 1.27, 2.20, 3.05, 2.885, 2.555, 4.225],
];
/// Jitter in ms [Supriyanto2017 Table 2].
const JITTER: [[f64; 7]; 2] = [
    [0.15, 0.15, 0.17, 0.245, 0.405, 0.645, 0.48],
    [0.145, 0.155, 0.21, 0.29, 0.47, 0.645, 0.56],
];
/// Throughput in Mbit/s [Supriyanto2017 Table 2].
const THROUGHPUT: [[f64; 7]; 2] = [
    [5.22, 9.02, 9.03, 12.97, 33.10, 63.37, 62.31],
    [10.00, 18.89, 21.82, 31.47, 66.55, 150.29, 123.07],
];

/// Decreases of latency in per cent as printed [Supriyanto2017 Table 3].
const DECREASES: [f64; 7] = [48.0, 52.0, 59.0, 59.0, 50.0, 58.0, 49.0];
/// Increases of throughput in per cent as printed [Supriyanto2017 Table 4].
const INCREASES: [f64; 7] = [92.0, 109.0, 142.0, 143.0, 101.0, 137.0, 98.0];

/// Bytes per millisecond are this many Mbit/s.
const MBIT_PER_MS: f64 = 8.0 / 1000.0;

/// The mean of a row.
fn mean(row: [f64; 7]) -> f64 {
    row.into_iter().sum::<f64>() / 7.0
}

/// Packets of an IPv6 message over TCP.
#[expect(clippy::cast_precision_loss, reason = "a message has few packets")]
fn frames(bytes: u64, mtu: u64) -> f64 {
    IpMtu::new(mtu, IpVersion::V6).map_or(0.0, |mtu| {
        packets(Bytes::new(bytes), mtu, IpVersion::V6, Transport::Tcp).len() as f64
    })
}

/// The largest distance of printed percentages from those that rows of Table 2 give.
fn distance(printed: [f64; 7], exact: [f64; 7]) -> f64 {
    let apart = std::array::from_fn::<f64, 7, _>(|at| (printed[at] - exact[at].abs()).abs());
    largest(apart)
}

/// The probability that at least as many of the rows that differ are on one side, if either
/// side is as likely: two-sided sign test.
fn sign_test(from: [f64; 7], to: [f64; 7]) -> f64 {
    let apart: [f64; 7] = std::array::from_fn(|at| to[at] - from[at]);
    let (higher, lower) = (
        count(apart, |apart| apart > ROUNDING),
        count(apart, |apart| apart < -ROUNDING),
    );
    let rows = higher + lower;
    // The binomial coefficients of `rows` over 0, 1, 2 and so on.
    let (mut ways, mut as_far, mut taken) = (1.0, 0.0, 0.0);
    while taken <= higher.min(lower) {
        as_far += ways;
        ways *= (rows - taken) / (taken + 1.0);
        taken += 1.0;
    }
    (2.0 * as_far / 2f64.powf(rows)).min(1.0)
}

/// The MTUs of 2 at which the largest value of a row is that of 48 000 bytes.
fn highest_at_48000(table: [[f64; 7]; 2]) -> f64 {
    count(table.map(|row| row[5] - largest(row)), |apart| {
        apart > -ROUNDING
    })
}

/// Bytes of headers, options, framing and gap of a jumbogram over UDP on Ethernet
/// [RFC2675 s2].
const JUMBOGRAM_HEADERS: f64 = 40.0 + 8.0 + 8.0 + 38.0;

/// The payload with the most goodput where bits are wrong: n(n + h) = h/(-8 ln(1 - b))
/// makes n/(n + h) (1 - b)^(8(n + h)) largest, whatever the rate.
fn best_payload(bit_error_rate: f64) -> f64 {
    let half = JUMBOGRAM_HEADERS / 2.0;
    let per_byte = -8.0 * (-bit_error_rate).ln_1p();
    (half * half + JUMBOGRAM_HEADERS / per_byte).sqrt() - half
}

/// Bytes of wire of an IPv6 message over TCP.
fn wire(bytes: u64, mtu: u64) -> f64 {
    IpMtu::new(mtu, IpVersion::V6).map_or(f64::NAN, |mtu| {
        let packets = packets(Bytes::new(bytes), mtu, IpVersion::V6, Transport::Tcp);
        let sizes = packets
            .into_iter()
            .map(|packet| Framing::Ethernet.wire_size(packet));
        sizes.sum::<Bytes>().get() as f64
    })
}

/// The cells whose throughput is 8 times the size over the latency, to 1 %.
fn restated() -> f64 {
    let of = |row: usize| {
        let apart: [f64; 7] = std::array::from_fn(|at| {
            SIZES[at] * MBIT_PER_MS / LATENCY[row][at] / THROUGHPUT[row][at] - 1.0
        });
        count(apart, |apart| apart.abs() < 0.01)
    };
    of(0) + of(1)
}

pub(super) const ALL: &[Computation] = &[
    Computation {
        name: "2017-addresses",
        how: "2^32",
        unit: "million addresses",
        printed: Printed::Is(4.3, 0.05),
        exact: || 2f64.powi(32) / 1e6,
    },
    Computation {
        name: "2017-jumbogram-mtu",
        how: "65 535 + 40",
        unit: "bytes",
        printed: Printed::Is(65_575.0, 0.0),
        exact: || 65_535.0 + 40.0,
    },
    Computation {
        name: "2017-jumbogram-size",
        how: "the largest size tested; a jumbogram has more than 65 535 bytes",
        unit: "bytes",
        printed: Printed::AtLeast(65_536.0),
        exact: || largest(SIZES),
    },
    Computation {
        name: "2017-png",
        how: "4000 bytes over TCP and IPv6 at MTU 1500",
        unit: "packets",
        printed: Printed::Is(3.0, 0.0),
        exact: || frames(4000, 1500),
    },
    Computation {
        name: "2017-frames-6000",
        how: "6000 bytes over TCP and IPv6 at MTU 1500",
        unit: "frames",
        printed: Printed::Is(4.0, 0.0),
        exact: || frames(6000, 1500),
    },
    Computation {
        name: "2017-frames-6000-jumbo",
        how: "6000 bytes over TCP and IPv6 at MTU 4000",
        unit: "frames",
        printed: Printed::Is(2.0, 0.0),
        exact: || frames(6000, 4000),
    },
    Computation {
        name: "2017-one-frame",
        how: "1500 bytes over TCP and IPv6 at MTU 1500",
        unit: "frames",
        printed: Printed::Is(1.0, 0.0),
        exact: || frames(1500, 1500),
    },
    Computation {
        name: "2017-load",
        how: "100 000/s x 1500 bytes x 8, on a link of 1 Gbit/s",
        unit: "Gbit/s",
        printed: Printed::AtMost(1.0),
        exact: || 1e5 * smallest(SIZES) * 8.0 / 1e9,
    },
    Computation {
        name: "2017-latency",
        how: "the largest decrease in Table 2, at 6000 bytes",
        unit: "%",
        printed: Printed::Is(59.0, 0.5),
        exact: || -smallest(changes(LATENCY[0], LATENCY[1])),
    },
    Computation {
        name: "2017-table-3",
        how: "the largest distance of the seven percentages of Table 3 from those of Table 2: 48 against 1 - 1.21 / 2.3",
        unit: "points",
        printed: Printed::AtMost(0.5),
        exact: || distance(DECREASES, changes(LATENCY[0], LATENCY[1])),
    },
    Computation {
        name: "2017-table-4",
        how: "the largest distance of the seven percentages of Table 4 from those of Table 2",
        unit: "points",
        printed: Printed::AtMost(0.5),
        exact: || distance(INCREASES, changes(THROUGHPUT[0], THROUGHPUT[1])),
    },
    Computation {
        name: "2017-restated",
        how: "cells of 14 in which throughput is 8 x size / latency, to 1 %",
        unit: "cells",
        printed: Printed::Is(14.0, 0.0),
        exact: restated,
    },
    Computation {
        name: "2017-mean",
        how: "the mean of the seven increases in Table 2",
        unit: "%",
        printed: Printed::Is(117.0, 0.5),
        exact: || mean(changes(THROUGHPUT[0], THROUGHPUT[1])),
    },
    Computation {
        name: "2017-up-to",
        how: "the largest increase in Table 2, at 12 000 bytes",
        unit: "%",
        printed: Printed::Is(117.0, 0.5),
        exact: || largest(changes(THROUGHPUT[0], THROUGHPUT[1])),
    },
    Computation {
        name: "2017-comparable",
        how: "10.00 / 5.22 - 1 at 1500 bytes; taken as comparable: within 10 %",
        unit: "%",
        printed: Printed::AtMost(10.0),
        exact: || 100.0 * (THROUGHPUT[1][0] / THROUGHPUT[0][0] - 1.0),
    },
    Computation {
        name: "2017-rising",
        how: "the change from 48 000 to 65 000 bytes at MTU 4000",
        unit: "%",
        printed: Printed::AtLeast(0.0),
        exact: || 100.0 * (THROUGHPUT[1][6] / THROUGHPUT[1][5] - 1.0),
    },
    Computation {
        name: "2017-jitter-rows",
        how: "sign test: of seven rows of Table 2 jitter is higher at MTU 4000 in five, lower in one; a difference is found below 0.05",
        unit: "probability",
        printed: Printed::AtLeast(0.05),
        exact: || sign_test(JITTER[0], JITTER[1]),
    },
    Computation {
        name: "2017-jitter-48000",
        how: "MTUs of 2 with the highest jitter at 48 000 bytes",
        unit: "MTUs",
        printed: Printed::Is(2.0, 0.0),
        exact: || highest_at_48000(JITTER),
    },
    Computation {
        name: "2017-jitter-1ms",
        how: "the largest jitter at MTU 4000",
        unit: "ms",
        printed: Printed::AtMost(1.0),
        exact: || largest(JITTER[1]),
    },
    Computation {
        name: "2017-jitter-apart",
        how: "0.56 - 0.48 at 65 000 bytes, the largest difference",
        unit: "ms",
        printed: Printed::Is(0.08, 0.0005),
        exact: || {
            largest(std::array::from_fn::<f64, 7, _>(|at| {
                JITTER[1][at] - JITTER[0][at]
            }))
        },
    },
    Computation {
        name: "2017-jitter-size",
        how: "0.645 / 0.145 ms: jitter of large against small packets at MTU 4000",
        unit: "times",
        printed: Printed::Is(1.0, 0.1),
        exact: || largest(JITTER[1]) / smallest(JITTER[1]),
    },
    Computation {
        name: "2017-one-frame-packet",
        how: "1500 bytes of an IPv6 packet / an MTU of 1500",
        unit: "frames",
        printed: Printed::Is(1.0, 0.0),
        exact: || (smallest(SIZES) / 1500.0).ceil(),
    },
    Computation {
        name: "2017-delay-message",
        how: "8.345 / 2.3 ms: latency of 65 000 against 1500 bytes at MTU 1500",
        unit: "times",
        printed: Printed::AtMost(1.0),
        exact: || LATENCY[0][6] / LATENCY[0][0],
    },
    Computation {
        name: "2017-delay-byte",
        how: "(8.345 / 65 000) / (2.3 / 1500): latency per byte of 65 000 against 1500 bytes at MTU 1500",
        unit: "times",
        printed: Printed::AtMost(1.0),
        exact: || LATENCY[0][6] / SIZES[6] / (LATENCY[0][0] / SIZES[0]),
    },
    Computation {
        name: "2017-throughput-size",
        how: "62.31 / 5.22 Mbit/s: throughput of 65 000 against 1500 bytes at MTU 1500",
        unit: "times",
        printed: Printed::AtLeast(1.0),
        exact: || THROUGHPUT[0][6] / THROUGHPUT[0][0],
    },
    Computation {
        name: "2017-transmission",
        how: "bytes of wire of 6000 bytes over TCP in 5 frames against 2; taken as the same: within 10 %",
        unit: "%",
        printed: Printed::AtMost(10.0),
        exact: || 100.0 * (wire(6000, 1500) / wire(6000, 4000) - 1.0),
    },
    Computation {
        name: "2017-fewer-frames",
        how: "frames of 65 000 bytes over TCP at MTU 4000 against 1500",
        unit: "times",
        printed: Printed::AtMost(1.0),
        exact: || frames(65_000, 4000) / frames(65_000, 1500),
    },
    Computation {
        name: "2017-4gib",
        how: "2^32 - 1, the largest jumbo payload length; 4 GiB are 2^32",
        unit: "bytes",
        printed: Printed::Is(4_294_967_296.0, 1.0),
        exact: || f64::from(u32::MAX),
    },
    Computation {
        name: "2017-largest-link",
        how: "the largest MTU that interfaces of Linux between hosts take; a jumbogram needs more than 65 575",
        unit: "bytes",
        printed: Printed::AtMost(65_575.0),
        exact: || f64::from(IpMtu::LARGEST),
    },
    Computation {
        name: "2017-ber-jumbogram",
        how: "the payload with the most goodput at 1e-10, 94 bytes of headers and framing; a jumbogram has more than 65 535",
        unit: "bytes",
        printed: Printed::AtLeast(65_536.0),
        exact: || best_payload(1e-10),
    },
    Computation {
        name: "2017-ber-size",
        how: "the payload with the most goodput at 1e-9 against 1e-8",
        unit: "times",
        printed: Printed::AtLeast(1.0),
        exact: || best_payload(1e-9) / best_payload(1e-8),
    },
];
