//! The works that are compared.

use crate::program::Program;

/// A task that several programs perform.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) name: &'static str,
    /// A description with the unit of the compared value.
    pub(crate) heading: &'static str,
    pub(crate) kind: Kind,
    /// The MTU of both hosts.
    pub(crate) mtu: u32,
    /// The CPUs of sender and receiver.
    pub(crate) processors: [u8; 2],
    /// The duration in seconds.
    pub(crate) seconds: u32,
    pub(crate) goal: Goal,
}

/// The kind of measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One flow of datagrams of [`SIZE`] bytes, as fast as possible.
    Rate,
    /// [`PACE`] datagrams per second.
    Departures,
    /// One round trip at a time; programs sleep until the message arrives, or
    /// poll without sleeping.
    RoundTrip { tcp: bool, busy: bool },
    /// A stream as fast as possible, with CUBIC.
    Goodput,
    /// The receiver's log of [`RECORDS`] datagrams with random sizes and
    /// exponential gaps.
    Decode,
}

/// The goal for Jumbolab.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    /// At least this multiple of the best of the others.
    AtLeast(f64),
    /// At most this multiple of the best of the others.
    AtMost(f64),
    /// At most this value, whatever the others reach.
    Within(f64),
}

/// Bytes of payload of a datagram.
pub(crate) const SIZE: usize = 64;

/// The number of datagrams in the decoded log, and their mean gap in
/// microseconds.
pub(crate) const RECORDS: u32 = 3_000_000;
pub(crate) const MEAN_GAP: u32 = 15;

/// Departures per second.
pub(crate) const PACE: u32 = 10_000;

pub(crate) const WORKS: [Work; 10] = [
    Work {
        name: "rate",
        heading: "64 B UDP, one flow as fast as it goes, received/s",
        kind: Kind::Rate,
        mtu: 1500,
        processors: [0, 1],
        seconds: 3,
        goal: Goal::AtLeast(0.95),
    },
    Work {
        name: "departures",
        heading: "64 B UDP, 10 000/s: 99th percentile of timing error on arrival, us",
        kind: Kind::Departures,
        mtu: 1500,
        processors: [0, 1],
        seconds: 10,
        goal: Goal::Within(10.0),
    },
    round_trip(
        "rtt-same-core",
        "both on one processor",
        [0, 0],
        false,
        false,
    ),
    round_trip("rtt-cross-core", "a processor each", [0, 1], false, false),
    round_trip(
        "rtt-busy",
        "a processor each, never sleeping",
        [0, 1],
        false,
        true,
    ),
    round_trip("rtt-tcp", "over TCP, a processor each", [0, 1], true, false),
    goodput("tcp-1500", "TCP at MTU 1500, one flow, Mbit/s", 1500),
    goodput("tcp-4000", "TCP at MTU 4000, one flow, Mbit/s", 4000),
    goodput("tcp-9000", "TCP at MTU 9000, one flow, Mbit/s", 9000),
    Work {
        name: "decode",
        heading: "decoding a packet log, records per processor second",
        kind: Kind::Decode,
        mtu: 1500,
        processors: [0, 1],
        seconds: 60,
        goal: Goal::AtLeast(13.0),
    },
];

const fn round_trip(
    name: &'static str,
    how: &'static str,
    processors: [u8; 2],
    tcp: bool,
    busy: bool,
) -> Work {
    Work {
        name,
        heading: how,
        kind: Kind::RoundTrip { tcp, busy },
        mtu: 1500,
        processors,
        seconds: 2,
        goal: Goal::AtMost(1.05),
    }
}

const fn goodput(name: &'static str, heading: &'static str, mtu: u32) -> Work {
    Work {
        name,
        heading,
        kind: Kind::Goodput,
        mtu,
        processors: [0, 1],
        seconds: 3,
        goal: Goal::AtLeast(0.98),
    }
}

impl Work {
    /// The programs that perform the work, Jumbolab first.
    pub(crate) fn programs(&self) -> Vec<Program> {
        use Program::{Ditg, Iperf3, Jumbolab, Nuttcp, Sockperf};
        match self.kind {
            Kind::Rate => vec![Jumbolab, Iperf3, Nuttcp, Ditg, Sockperf],
            Kind::Departures => vec![Jumbolab, Nuttcp, Iperf3, Ditg],
            Kind::RoundTrip { .. } => vec![Jumbolab, Sockperf],
            Kind::Goodput => vec![Jumbolab, Iperf3],
            Kind::Decode => vec![Jumbolab, Ditg],
        }
    }

    /// The heading of its table.
    pub(crate) fn title(&self) -> String {
        match self.kind {
            Kind::RoundTrip { .. } => {
                format!(
                    "64 B there and back, {}, median round trip, us",
                    self.heading
                )
            }
            _ => self.heading.to_owned(),
        }
    }
}
