//! Figures of [Praptodiyono2019].

use model::{frames, goodput_limit, payload_per_packet};
use units::{Bytes, Framing, IpMtu, IpVersion, Rate, Transport};

use super::{Computation, Printed, changes, count, largest, smallest};

/// Columns: LU-LU, LU-WS, WS-LU, WS-WS; rows: MTU 1500, 4000, 9000.
type Table = [[f64; 4]; 3];

/// Round-trip times in ms [Praptodiyono2019 Table 2].
const RTT: Table = [
    [10.18, 14.95, 9.61, 6.30],
    [9.63, 12.99, 5.45, 3.18],
    [7.66, 6.83, 4.70, 3.04],
];
/// Jitter in ms [Praptodiyono2019 Table 3].
const JITTER: Table = [
    [1.58, 1.63, 1.51, 1.67],
    [1.29, 1.42, 1.17, 1.60],
    [1.26, 1.38, 1.13, 1.44],
];
/// Throughput in Mbit/s [Praptodiyono2019 Table 4].
const THROUGHPUT: Table = [
    [750.94, 767.61, 718.60, 662.37],
    [895.53, 894.50, 899.73, 767.29],
    [938.88, 937.86, 934.94, 884.96],
];
/// Decrease of CPU time at MTU 9000 in per cent [Praptodiyono2019 Table 5].
const CPU_SENDER: [f64; 4] = [17.19, 6.97, 6.04, 0.00];
/// The same of the receiver.
const CPU_RECEIVER: [f64; 4] = [22.57, 0.00, 34.29, 28.57];

/// Frames that 5 MB take over TCP and IPv6.
#[expect(clippy::cast_precision_loss, reason = "5 MB are a few thousand frames")]
fn frames_of_5_mb(mtu: u64) -> f64 {
    let mtu = IpMtu::new(mtu, IpVersion::V6).ok();
    let payload = mtu.and_then(|mtu| payload_per_packet(mtu, IpVersion::V6, Transport::Tcp));
    payload.map_or(0.0, |payload| frames(Bytes::new(5_000_000), payload) as f64)
}

/// The share of a link that is left to goodput over TCP, IPv6 and Ethernet.
fn share(mtu: u64) -> f64 {
    let rate = Rate::from_bits_per_second(1_000_000_000);
    let goodput = IpMtu::new(mtu, IpVersion::V6).ok().zip(rate);
    let goodput = goodput.and_then(|(mtu, rate)| {
        goodput_limit(rate, mtu, IpVersion::V6, Transport::Tcp, Framing::Ethernet)
    });
    goodput.unwrap_or(f64::NAN)
}

/// The rows of a table that satisfy a condition.
fn rows(table: Table, condition: fn([f64; 4]) -> bool) -> f64 {
    count(table.map(|row| f64::from(u8::from(condition(row)))), |is| {
        is > 0.0
    })
}

/// The scenarios in which a value falls from each MTU to the next.
fn falling(table: Table) -> f64 {
    let rises: [f64; 4] = std::array::from_fn(|at| {
        f64::max(table[1][at] - table[0][at], table[2][at] - table[1][at])
    });
    count(rises, |rise| rise < 0.0)
}

pub(super) const ALL: &[Computation] = &[
    Computation {
        name: "2019-frames-1500",
        how: "5 MB / 1428 octets of payload",
        unit: "frames",
        printed: Printed::Is(3333.0, 0.5),
        exact: || frames_of_5_mb(1500),
    },
    Computation {
        name: "2019-frames-4000",
        how: "5 MB / 3928 octets of payload",
        unit: "frames",
        printed: Printed::Is(1250.0, 0.5),
        exact: || frames_of_5_mb(4000),
    },
    Computation {
        name: "2019-frames-9000",
        how: "5 MB / 8928 octets of payload",
        unit: "frames",
        printed: Printed::Is(555.0, 0.5),
        exact: || frames_of_5_mb(9000),
    },
    Computation {
        name: "2019-rtt-least",
        how: "the smallest decrease at MTU 4000, LU-LU",
        unit: "%",
        printed: Printed::Is(5.41, 0.105),
        exact: || -largest(changes(RTT[0], RTT[1])),
    },
    Computation {
        name: "2019-rtt-most",
        how: "the largest decrease at MTU 9000, LU-WS",
        unit: "%",
        printed: Printed::Is(54.36, 0.055),
        exact: || -smallest(changes(RTT[0], RTT[2])),
    },
    Computation {
        name: "2019-rtt-text",
        how: "1 - 6.83 / 14.95, LU-WS",
        unit: "%",
        printed: Printed::Is(51.72, 0.055),
        exact: || 100.0 * (1.0 - RTT[2][1] / RTT[0][1]),
    },
    Computation {
        name: "2019-rtt-order",
        how: "scenarios of 4 in which the time falls from MTU 1500 to 4000 and to 9000",
        unit: "scenarios",
        printed: Printed::Is(4.0, 0.0),
        exact: || falling(RTT),
    },
    Computation {
        name: "2019-rtt-lowest",
        how: "MTUs of 3 at which WS-WS has the lowest time",
        unit: "MTUs",
        printed: Printed::Is(3.0, 0.0),
        exact: || rows(RTT, |row| row[3] <= smallest(row)),
    },
    Computation {
        name: "2019-rtt-transfer",
        how: "5 MB x 8 / 938.88 Mbit/s, the least time of LU-LU at MTU 9000; printed as 7.66 ms",
        unit: "ms",
        printed: Printed::AtMost(7.66),
        exact: || 5.0 * 8.0 / THROUGHPUT[2][0] * 1e3,
    },
    Computation {
        name: "2019-jitter-2",
        how: "the largest of twelve",
        unit: "ms",
        printed: Printed::AtMost(2.0),
        exact: || largest(JITTER.map(largest)),
    },
    Computation {
        name: "2019-jitter-most",
        how: "the largest decrease at MTU 9000, WS-LU",
        unit: "%",
        printed: Printed::Is(25.02, 0.66),
        exact: || -smallest(changes(JITTER[0], JITTER[2])),
    },
    Computation {
        name: "2019-throughput-gain",
        how: "884.96 / 662.37 - 1, WS-WS",
        unit: "%",
        printed: Printed::Is(33.6, 0.05),
        exact: || largest(changes(THROUGHPUT[0], THROUGHPUT[2])),
    },
    Computation {
        name: "2019-throughput-header",
        how: "(8928 / 9038) / (1428 / 1538) - 1: the gain that headers explain, against the least one printed",
        unit: "%",
        printed: Printed::AtLeast(22.18),
        exact: || 100.0 * (share(9000) / share(1500) - 1.0),
    },
    Computation {
        name: "2019-linux-highest",
        how: "MTUs of 3 at which LU-LU has the highest throughput",
        unit: "MTUs",
        printed: Printed::Is(3.0, 0.0),
        exact: || rows(THROUGHPUT, |row| row[0] >= largest(row)),
    },
    Computation {
        name: "2019-windows-lowest",
        how: "MTUs of 3 at which WS-WS has the lowest throughput",
        unit: "MTUs",
        printed: Printed::Is(3.0, 0.0),
        exact: || rows(THROUGHPUT, |row| row[3] <= smallest(row)),
    },
    Computation {
        name: "2019-cpu-sender",
        how: "scenarios of 4 in which the sender's decrease is the larger one at MTU 9000",
        unit: "scenarios",
        printed: Printed::AtLeast(2.0),
        exact: || {
            let more: [f64; 4] = std::array::from_fn(|at| CPU_SENDER[at] - CPU_RECEIVER[at]);
            count(more, |more| more > 0.0)
        },
    },
    Computation {
        name: "2019-jitter-order",
        how: "scenarios of 4 in which jitter falls from MTU 1500 to 4000 and to 9000",
        unit: "scenarios",
        printed: Printed::Is(4.0, 0.0),
        exact: || falling(JITTER),
    },
    Computation {
        name: "2019-next-header",
        how: "bits of the next header field; 16 has the payload length field",
        unit: "bits",
        printed: Printed::Is(16.0, 0.0),
        exact: || 8.0,
    },
];
