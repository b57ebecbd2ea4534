//! Synthesises the headers of a connection's segments.

use sim::{Seen, Segment};
use tcp::{Ack, Data, MOST_BLOCKS, Profile, Settings};
use units::Time;
use wire::protocol::ip::Addresses;
use wire::protocol::tcp::flag;
use wire::segment;

use super::super::short;

/// ECN bits in the traffic class: capable, and marked [RFC3168 s5].
const CAPABLE: u8 = 0b10;
const MARKED: u8 = 0b11;

/// The observed state of a connection on this link.
pub(super) struct Connection {
    profile: Profile,
    timestamps: bool,
    window: u16,
    /// Bytes of one unit of the segment numbers.
    grain: u32,
    /// Whether the SYN was answered on this link.
    answered: bool,
    /// The last clock values of both ends: sender, receiver.
    clocks: [u32; 2],
}

impl Connection {
    /// A connection without observed segments.
    pub(super) fn new(settings: &Settings) -> Self {
        let window = u64::from(settings.window) * u64::from(settings.segment);
        Self {
            profile: settings.profile,
            timestamps: settings.options > 0,
            window: u16::try_from(window).unwrap_or(u16::MAX),
            grain: settings.segment,
            answered: false,
            clocks: [0; 2],
        }
    }

    /// Writes the headers of `packet`, sent at `at` in a frame like `ethernet`,
    /// to `room`; `flow` has addresses, ports and the traffic class from sender
    /// to receiver. Returns the lengths of headers and packet.
    pub(super) fn emit(
        &mut self,
        at: Time,
        packet: Seen,
        ethernet: Option<[[u8; 6]; 2]>,
        (addresses, ports, service): (Addresses, [u16; 2], u8),
        room: &mut [u8],
    ) -> Option<(usize, usize)> {
        let millis = lower(at.as_nanos() / 1_000_000);
        let plain = segment::Segment {
            ethernet,
            addresses,
            ports,
            service,
            identification: lower(packet.sequence),
            sequence: 0,
            acknowledgement: 0,
            flags: 0,
            window: self.window,
            timestamps: None,
            blocks: &[],
            header: 0,
            payload: 0,
        };
        let mut blocks = [[0; 2]; MOST_BLOCKS];
        let headers = match packet.segment? {
            Segment::Data(data) => self.of_data(millis, &data, plain),
            Segment::Ack(ack) => {
                let mut count = 0;
                for (place, range) in blocks.iter_mut().zip(ack.ranges()) {
                    *place = [range.from, range.to].map(|number| self.byte(number));
                    count += 1;
                }
                let back = segment::Segment {
                    addresses: reversed(addresses),
                    ports: [ports[1], ports[0]],
                    blocks: blocks.get(..count)?,
                    ..plain
                };
                self.of_ack(millis, &ack, back)
            }
        };
        let room = room.get_mut(..headers.header_len())?;
        headers.emit(room).ok()?;
        Some((headers.header_len(), headers.packet_len()))
    }

    fn of_data<'a>(
        &mut self,
        millis: u32,
        data: &Data,
        plain: segment::Segment<'a>,
    ) -> segment::Segment<'a> {
        self.clocks[0] = millis;
        if data.payload > 0 {
            self.grain = data.payload;
        }
        let opens = data.sequence == 0;
        let reduced = if data.reduced { flag::CWR } else { 0 };
        segment::Segment {
            sequence: self.byte(data.sequence),
            acknowledgement: u32::from(!opens),
            flags: reduced | if opens { flag::SYN } else { flag::ACK },
            service: plain.service
                | match (data.capable, data.marked) {
                    (_, true) => MARKED,
                    (true, false) => CAPABLE,
                    (false, false) => 0,
                },
            timestamps: self.timestamps.then_some([millis, self.clocks[1]]),
            header: short_of(data.header),
            payload: short_of(data.payload),
            ..plain
        }
    }

    fn of_ack<'a>(
        &mut self,
        millis: u32,
        ack: &Ack,
        plain: segment::Segment<'a>,
    ) -> segment::Segment<'a> {
        self.clocks[1] = millis;
        // The first acknowledgement answers the SYN; the numbers of this end
        // begin there, too.
        let opens = ack.next == 1 && !std::mem::replace(&mut self.answered, true);
        let marked = if ack.echo { flag::ECE } else { 0 };
        segment::Segment {
            sequence: u32::from(!opens),
            acknowledgement: self.byte(ack.next),
            flags: flag::ACK | marked | if opens { flag::SYN } else { 0 },
            timestamps: self.timestamps.then_some([millis, self.clocks[0]]),
            header: short_of(ack.header),
            ..plain
        }
    }

    /// The sequence number, in bytes modulo 2^32, of `number` [RFC9293 s3.4].
    fn byte(&self, number: u64) -> u32 {
        let byte = match self.profile {
            Profile::Standard => number,
            Profile::Ns2 => match number.checked_sub(1) {
                None => 0,
                Some(before) => 1 + before.wrapping_mul(self.grain.into()),
            },
        };
        lower(byte)
    }
}

/// The addresses in the opposite direction.
const fn reversed(addresses: Addresses) -> Addresses {
    match addresses {
        Addresses::V4([one, other]) => Addresses::V4([other, one]),
        Addresses::V6([one, other]) => Addresses::V6([other, one]),
    }
}

/// The lower 32 bits.
fn lower(number: u64) -> u32 {
    let [.., a, b, c, d] = number.to_be_bytes();
    u32::from_be_bytes([a, b, c, d])
}

fn short_of(bytes: u32) -> u16 {
    short(units::Bytes::new(bytes.into()))
}
