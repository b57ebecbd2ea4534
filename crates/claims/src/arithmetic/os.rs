//! Figures of [Praptodiyono2019].

use model::{frames, payload_per_packet};
use units::{Bytes, IpMtu, IpVersion, Transport};

use super::{Computation, Printed, ROUNDING, changes, count, largest, smallest};

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
        how: "5 MB / 1428 bytes of payload; taken as about: within 10 %",
        unit: "frames",
        printed: Printed::Is(3333.0, 333.3),
        exact: || frames_of_5_mb(1500),
    },
    Computation {
        name: "2019-frames-4000",
        how: "5 MB / 3928 bytes of payload; taken as about: within 10 %",
        unit: "frames",
        printed: Printed::Is(1250.0, 125.0),
        exact: || frames_of_5_mb(4000),
    },
    Computation {
        name: "2019-frames-9000",
        how: "5 MB / 8928 bytes of payload; taken as about: within 10 %",
        unit: "frames",
        printed: Printed::Is(555.0, 55.5),
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
        name: "2019-throughput-linear",
        how: "WS-WS, the step of Figure 4 from MTU 4000 to 9000 against that from 1500 to 4000; taken as linear: within 25 %",
        unit: "times",
        printed: Printed::Is(1.0, 0.25),
        exact: || {
            let [low, middle, high] = THROUGHPUT.map(|row| row[3]);
            (high - middle) / (middle - low)
        },
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
        how: "the mean decrease at MTU 9000 of Linux senders (17.19, 6.97) less that of Linux receivers (22.57, 34.29)",
        unit: "points",
        printed: Printed::AtLeast(0.0),
        exact: || {
            let senders = f64::midpoint(CPU_SENDER[0], CPU_SENDER[1]);
            senders - f64::midpoint(CPU_RECEIVER[0], CPU_RECEIVER[2])
        },
    },
    Computation {
        name: "2019-cpu-most",
        how: "the largest decreases of Table 5 that are where the summary has them: sender LU-LU, receiver WS-LU",
        unit: "decreases",
        printed: Printed::Is(2.0, 0.0),
        exact: || {
            let at = [
                CPU_SENDER[0] - largest(CPU_SENDER),
                CPU_RECEIVER[2] - largest(CPU_RECEIVER),
            ];
            count(at, |apart| apart > -ROUNDING)
        },
    },
    Computation {
        name: "2019-rtt-linux-sender",
        how: "Linux senders of 2 whose decrease grows more from MTU 4000 to 9000 than with any Windows sender (19.3 and 41.3 points against 7.8 and 2.3)",
        unit: "senders",
        printed: Printed::Is(2.0, 0.0),
        exact: || {
            let (from, to) = (changes(RTT[0], RTT[1]), changes(RTT[0], RTT[2]));
            let further: [f64; 4] = std::array::from_fn(|at| from[at] - to[at]);
            let windows = further[2].max(further[3]);
            count([further[0] - windows, further[1] - windows], |more| {
                more > 0.0
            })
        },
    },
    Computation {
        name: "2019-jitter-trend",
        how: "the part of the decrease at MTU 9000 that MTU 4000 has: WS-WS over the least of the others",
        unit: "times",
        printed: Printed::AtMost(0.5),
        exact: || {
            let (some, all) = (changes(JITTER[0], JITTER[1]), changes(JITTER[0], JITTER[2]));
            let [first, second, third, windows]: [f64; 4] =
                std::array::from_fn(|at| some[at] / all[at]);
            windows / smallest([first, second, third])
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
