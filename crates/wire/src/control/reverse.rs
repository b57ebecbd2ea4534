//! Requests of flows that the receiver sends, and its results of them.

use super::{Fields, Flow, Room, require};
use crate::{Error, Field};

/// The most octets of the name of a congestion control [LinuxUapi tcp.h].
pub const LONGEST_CONGESTION: usize = 16;

/// A flow that the receiver sends to the end that asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reverse {
    /// The flow. Its cookie is shown by the end that asks, to the port that the
    /// receiver opens for it.
    pub flow: Flow,
    /// Its traffic.
    pub traffic: Traffic,
}

/// The traffic of a flow that the other end sends. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Seed of the random numbers.
    pub seed: u64,
    /// Start of the flow after [`super::Control::Begin`].
    pub delay: u64,
    /// Duration; 0: until its messages are sent.
    pub length: u64,
    /// The most messages; 0: any number.
    pub packets: u64,
    /// The most octets of them; 0: any number.
    pub octets: u64,
    /// Gaps between messages, in picoseconds.
    pub gaps: Law,
    /// Sizes of messages, in octets.
    pub sizes: Law,
    /// Whether gaps are kept; otherwise messages leave as fast as possible.
    pub paced: bool,
    /// Whether Nagle's algorithm is active (TCP).
    pub nagle: bool,
    /// Time to live, or hop limit; 0: the kernel's default.
    pub ttl: u8,
    /// Number of the mode of path MTU discovery, below [`Traffic::PATH_MTU_MODES`].
    pub path_mtu: u8,
    /// Messages per call (UDP).
    pub segmentation: u16,
    /// The send buffer to set, in octets; 0: the kernel's default.
    pub send_buffer: u32,
    /// Congestion control (TCP), padded with zeros; all zeros: the kernel's default.
    pub congestion: [u8; LONGEST_CONGESTION],
}

/// A distribution with two parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Law {
    /// Number of the family.
    pub family: u8,
    /// The bits of both parameters, each an IEEE 754 double.
    pub parameters: [u64; 2],
}

/// The counters of such a flow's sender. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentReport {
    /// Number of the flow in the session.
    pub flow: u16,
    /// Messages that the schedule offered.
    pub offered: u64,
    /// Messages handed to the kernel.
    pub messages: u64,
    /// Octets of those messages.
    pub octets: u64,
    /// Messages of a size that the protocol cannot carry.
    pub refused: u64,
    /// Messages that the kernel did not accept.
    pub unsent: u64,
    /// Those of them that were too large for the path.
    pub too_large: u64,
    /// Time from the first departure to the last.
    pub lasted: u64,
    /// Messages with a known lateness.
    pub timed: u64,
    /// Median of the lateness.
    pub median: u64,
    /// 99th percentile of the lateness.
    pub p99: u64,
    /// Maximum of the lateness.
    pub most: u64,
    /// The send buffer, in octets of kernel memory.
    pub send_buffer: u64,
    /// Segments sent (TCP).
    pub segments: u64,
    /// Segments retransmitted (TCP).
    pub retransmitted: u64,
    /// Octets of the largest segment (TCP); 0 for datagrams.
    pub segment_size: u64,
    /// Smoothed round-trip time (TCP).
    pub round_trip: u64,
    /// Path MTU in octets, by the latest notice; 0: none.
    pub path_mtu: u64,
    /// Why a stream ended early (TCP); 0: it did not, 1: the receiver accepted next to
    /// nothing, 2: it had not accepted the last message long after the end, others: segments
    /// of this many octets were not delivered.
    pub stall: u64,
    /// The router that stated it, an IPv4 address as an IPv4-mapped one
    /// [RFC4291 s2.5.5.2]; zeros: the sending host.
    pub router: [u8; 16],
    /// Congestion control in force (TCP), padded with zeros.
    pub congestion: [u8; LONGEST_CONGESTION],
}

mod flag {
    pub(super) const PACED: u8 = 1;
    pub(super) const NAGLE: u8 = 1 << 1;
}

impl Law {
    /// The number of families.
    pub const FAMILIES: u8 = 9;

    fn read(fields: &mut Fields<'_>) -> Result<Self, Error> {
        let family = fields.u8()?;
        require(family < Self::FAMILIES, Field::Type)?;
        Ok(Self {
            family,
            parameters: [fields.u64()?, fields.u64()?],
        })
    }

    fn write(&self, fields: &mut Room<'_>) {
        let [first, second] = self.parameters;
        fields.put(&[self.family]).u64(first).u64(second);
    }
}

impl Traffic {
    /// The number of modes of path MTU discovery.
    pub const PATH_MTU_MODES: u8 = 5;
}

impl Reverse {
    pub(super) fn read(fields: &mut Fields<'_>) -> Result<Self, Error> {
        let flow = Flow::read(fields)?;
        let [seed, delay, length, packets, octets] = [
            fields.u64()?,
            fields.u64()?,
            fields.u64()?,
            fields.u64()?,
            fields.u64()?,
        ];
        let (gaps, sizes) = (Law::read(fields)?, Law::read(fields)?);
        let flags = fields.u8()?;
        require(flags & !(flag::PACED | flag::NAGLE) == 0, Field::Flags)?;
        let ttl = fields.u8()?;
        let path_mtu = fields.u8()?;
        require(path_mtu < Traffic::PATH_MTU_MODES, Field::Code)?;
        let (segmentation, send_buffer) = (fields.u16()?, fields.u32()?);
        Ok(Self {
            flow,
            traffic: Traffic {
                seed,
                delay,
                length,
                packets,
                octets,
                gaps,
                sizes,
                paced: flags & flag::PACED != 0,
                nagle: flags & flag::NAGLE != 0,
                ttl,
                path_mtu,
                segmentation,
                send_buffer,
                congestion: congestion(fields)?,
            },
        })
    }

    pub(super) fn write(&self, fields: &mut Room<'_>) {
        let Self { flow, traffic } = self;
        flow.write(fields);
        for number in [
            traffic.seed,
            traffic.delay,
            traffic.length,
            traffic.packets,
            traffic.octets,
        ] {
            fields.u64(number);
        }
        traffic.gaps.write(fields);
        traffic.sizes.write(fields);
        let paced = if traffic.paced { flag::PACED } else { 0 };
        let nagle = if traffic.nagle { flag::NAGLE } else { 0 };
        fields.put(&[paced | nagle, traffic.ttl, traffic.path_mtu]);
        fields.u16(traffic.segmentation);
        fields.put(&traffic.send_buffer.to_be_bytes());
        fields.put(&traffic.congestion);
    }
}

impl SentReport {
    pub(super) fn read(fields: &mut Fields<'_>) -> Result<Self, Error> {
        let mut report = Self {
            flow: fields.u16()?,
            ..Self::default()
        };
        for number in report.numbers() {
            *number = fields.u64()?;
        }
        report.router = fields.array()?;
        report.congestion = congestion(fields)?;
        Ok(report)
    }

    pub(super) fn write(&self, fields: &mut Room<'_>) {
        fields.u16(self.flow);
        let mut report = *self;
        for number in report.numbers() {
            fields.u64(*number);
        }
        fields.put(&self.router).put(&self.congestion);
    }

    /// The numbers behind the flow's, in wire order.
    fn numbers(&mut self) -> [&mut u64; 18] {
        [
            &mut self.offered,
            &mut self.messages,
            &mut self.octets,
            &mut self.refused,
            &mut self.unsent,
            &mut self.too_large,
            &mut self.lasted,
            &mut self.timed,
            &mut self.median,
            &mut self.p99,
            &mut self.most,
            &mut self.send_buffer,
            &mut self.segments,
            &mut self.retransmitted,
            &mut self.segment_size,
            &mut self.round_trip,
            &mut self.path_mtu,
            &mut self.stall,
        ]
    }
}

/// The text of a congestion control's name, or of none.
pub fn congestion_name(octets: &[u8; LONGEST_CONGESTION]) -> &str {
    let length = octets.iter().position(|octet| *octet == 0);
    let name = &octets[..length.unwrap_or(LONGEST_CONGESTION)];
    core::str::from_utf8(name).unwrap_or_default()
}

/// A congestion control's name: letters, digits, dashes and underscores.
fn congestion(fields: &mut Fields<'_>) -> Result<[u8; LONGEST_CONGESTION], Error> {
    let octets: [u8; LONGEST_CONGESTION] = fields.array()?;
    let length = octets.iter().position(|octet| *octet == 0);
    let (name, rest) = octets.split_at(length.unwrap_or(LONGEST_CONGESTION));
    let fine = |octet: &u8| octet.is_ascii_alphanumeric() || b"_-".contains(octet);
    let holds = name.iter().all(fine) && rest.iter().all(|&octet| octet == 0);
    require(holds, Field::Name)?;
    Ok(octets)
}
