//! The share of a link's rate that headers and framing leave.

use units::{Bytes, Framing, IpMtu, IpVersion, Rate, Span, Transport};

/// A fragment's payload is a multiple of this, but for the last
/// [RFC8200 s4.5] [RFC791 s3.2].
const FRAGMENT_UNIT: u64 = 8;

/// The largest value of a 16-bit length field.
const LARGEST_LENGTH: Bytes = Bytes::new(65_535);

/// The fragment header: 8 bytes [RFC8200 s4.5]; IPv4 has the fields in its
/// own header [RFC791 s3.1].
const fn fragment_header(ip: IpVersion) -> Bytes {
    match ip {
        IpVersion::V4 => Bytes::ZERO,
        IpVersion::V6 => Bytes::new(8),
    }
}

/// Bytes for the application in a packet that fills the MTU, or `None` if the
/// headers leave no room.
pub fn payload_per_packet(mtu: IpMtu, ip: IpVersion, transport: Transport) -> Option<Bytes> {
    mtu.bytes()
        .checked_sub(ip.header() + transport.header())
        .filter(|payload| *payload > Bytes::ZERO)
}

/// Packets that `size` bytes fill, the last one perhaps in part. A payload of
/// zero, which [`payload_per_packet`] never gives, is taken for one.
pub fn frames(size: Bytes, payload_per_packet: Bytes) -> u64 {
    size.get().div_ceil(payload_per_packet.get().max(1))
}

/// The goodput of full packets, in bits per second: the rate,
/// times payload, divided by what the packet takes of the wire.
pub fn goodput_limit(
    rate: Rate,
    mtu: IpMtu,
    ip: IpVersion,
    transport: Transport,
    framing: Framing,
) -> Option<f64> {
    let payload = payload_per_packet(mtu, ip, transport)?;
    Some(share(rate, payload, framing.wire_size(mtu.bytes())))
}

/// The goodput of UDP messages of this size, one after the other, to the
/// application, in bits per second. A message above the MTU is fragmented by
/// its sender. `None` for a message that no UDP datagram holds.
pub fn datagram_goodput_limit(
    rate: Rate,
    message: Bytes,
    mtu: IpMtu,
    ip: IpVersion,
    framing: Framing,
) -> Option<f64> {
    (message <= largest_message(ip))
        .then(|| share(rate, message, message_wire_size(message, mtu, ip, framing)))
}

/// The largest UDP message: 65,507 bytes on IPv4, whose length field counts
/// its own header [RFC791 s3.1], 65,527 on IPv6, whose does not [RFC8200 s3].
pub fn largest_message(ip: IpVersion) -> Bytes {
    let packet = match ip {
        IpVersion::V4 => LARGEST_LENGTH - ip.header(),
        IpVersion::V6 => LARGEST_LENGTH,
    };
    packet - Transport::Udp.header()
}

/// Packets in which a UDP message travels: one if it fits the MTU, otherwise
/// as few fragments as the standards allow [RFC8200 s4.5] [RFC791 s3.2].
///
/// The last fragment may fill the MTU to the byte. Linux rounds it down to
/// eight bytes too on IPv6, and then sends one fragment more for the few
/// sizes that need those bytes.
pub fn fragments(message: Bytes, mtu: IpMtu, ip: IpVersion) -> u64 {
    Fragmentation::of(message, mtu, ip).map_or(1, |parts| parts.full + 1)
}

/// Bytes of wire that a UDP message takes, all its fragments together.
pub fn message_wire_size(message: Bytes, mtu: IpMtu, ip: IpVersion, framing: Framing) -> Bytes {
    let datagram = message + Transport::Udp.header();
    match Fragmentation::of(message, mtu, ip) {
        None => framing.wire_size(ip.header() + datagram),
        Some(parts) => {
            let headers = ip.header() + fragment_header(ip);
            framing.wire_size(headers + parts.each) * parts.full
                + framing.wire_size(headers + parts.last)
        }
    }
}

/// Bytes of the IP packets that carry a message, in their order: the segments
/// of TCP, all but the last full, or a datagram, in fragments where it must be.
/// None where the headers leave no room.
pub fn packets(message: Bytes, mtu: IpMtu, ip: IpVersion, transport: Transport) -> Vec<Bytes> {
    let (headers, each, all) = match transport {
        Transport::Tcp => {
            let Some(payload) = payload_per_packet(mtu, ip, transport) else {
                return Vec::new();
            };
            (ip.header() + transport.header(), payload, message)
        }
        Transport::Udp => {
            let datagram = message + transport.header();
            match Fragmentation::of(message, mtu, ip) {
                None => return vec![ip.header() + datagram],
                Some(parts) => (ip.header() + fragment_header(ip), parts.each, datagram),
            }
        }
    };
    let mut left = all;
    let mut packets = Vec::new();
    // The last fragment may hold some bytes more than the others.
    while headers + left > mtu.bytes() {
        packets.push(headers + each);
        left = left - each;
    }
    packets.push(headers + left);
    packets
}

/// How long a packet of `packet` bytes of IP keeps the wire busy.
pub fn serialisation(rate: Rate, packet: Bytes, framing: Framing) -> Span {
    rate.serialise(framing.wire_size(packet))
}

/// The fragments of a datagram: the number of full ones, and one for the rest.
struct Fragmentation {
    full: u64,
    each: Bytes,
    last: Bytes,
}

impl Fragmentation {
    /// The cut of a UDP message, or `None` if it fits one packet.
    fn of(message: Bytes, mtu: IpMtu, ip: IpVersion) -> Option<Self> {
        let datagram = message + Transport::Udp.header();
        if ip.header() + datagram <= mtu.bytes() {
            return None;
        }
        // The smallest MTU, 68 bytes, leaves room even for both headers of IPv6.
        let room = mtu.bytes() - (ip.header() + fragment_header(ip));
        let each = Bytes::new((room.get() / FRAGMENT_UNIT * FRAGMENT_UNIT).max(FRAGMENT_UNIT));
        let full = (datagram - room).get().div_ceil(each.get());
        Some(Self {
            full,
            each,
            last: datagram - each * full,
        })
    }
}

/// The part of `rate` that `payload` is of `wire`.
fn share(rate: Rate, payload: Bytes, wire: Bytes) -> f64 {
    rate.bits_per_second() as f64 * (payload.get() as f64 / wire.get() as f64)
}

#[cfg(test)]
mod tests;
