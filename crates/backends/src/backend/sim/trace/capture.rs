//! Writes a capture of a simulated link with synthetic headers.

mod bundles;
mod connection;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;

use anyhow::{Context, Result};
use files::Folder;
use plan::setting::Network;
use sim::{Opened, Scenario, Seen, Traffic};
use units::{IpVersion, Time};
use wire::datagram::Datagram;
use wire::pcapng::{Block, LinkType};
use wire::protocol::ethernet::HEADER_LEN;
use wire::protocol::ip::Addresses;

use super::short;
use bundles::Outer;
use connection::Connection;

/// The first port of the dynamic range [RFC6335 s6].
const FIRST_PORT: u16 = 49_152;
/// An upper bound for the headers of a packet in bytes: the longest are 114.
const MOST_HEADERS: usize = 128;
/// The number of ports in the dynamic range.
const PORTS: usize = 16_384;

/// The file of a capture.
pub(super) struct Capture {
    path: PathBuf,
    file: BufWriter<File>,
    /// The first write error.
    failed: Option<io::Error>,
    ends: [usize; 2],
    ethernet: bool,
    flows: Vec<Flow>,
    /// The outer header of bundles, if there are any.
    outer: Option<Outer>,
    bytes: Vec<u8>,
}

/// The header fields of a flow's packets.
struct Flow {
    addresses: Addresses,
    ports: [u16; 2],
    service: u8,
    dont_fragment: bool,
    /// The observed state of a TCP connection.
    connection: Option<Connection>,
}

impl Capture {
    /// Creates the capture `name` in `folder`: of link number `link` of
    /// `scenario`, which was built from `network`. A capture that an aborted
    /// trial left is replaced.
    pub(super) fn create(
        (folder, name): (&Folder, &str),
        network: &Network,
        scenario: &Scenario,
        link: usize,
    ) -> Result<Self> {
        let path = folder.path().join(name);
        let place = || path.display().to_string();
        if folder.holds(name) {
            folder.remove(name).with_context(place)?;
        }
        let file = folder.create_new(name).with_context(place)?;
        let wire = &scenario.links[link];
        let ethernet = wire.directions[0].ethernet;
        let mut capture = Self {
            path,
            file: BufWriter::new(file),
            failed: None,
            ends: wire.ends,
            ethernet,
            flows: scenario.flows.iter().enumerate().map(flow).collect(),
            outer: Outer::of(network),
            bytes: Vec::new(),
        };
        capture.put(Block::Section);
        let kind = match ethernet {
            true => LinkType::Ethernet,
            false => LinkType::RawIp,
        };
        for [from, to] in [wire.ends, [wire.ends[1], wire.ends[0]]] {
            let name = |node: usize| scenario.nodes[node].name.as_str();
            let name = format!("{} > {}", name(from), name(to));
            capture.put(Block::Interface {
                kind,
                name: &name,
                most: 0,
            });
        }
        Ok(capture)
    }

    /// Records a packet whose transmission starts at `at`. Notifications of
    /// routers are omitted, since they have no transport. Bundles use
    /// [`Capture::take_bundle`].
    pub(super) fn take(&mut self, at: Time, direction: usize, packet: Seen) {
        if packet.is_bundle {
            return;
        }
        let ethernet = self.ethernet.then(|| self.macs(direction));
        let mut room = [0; MOST_HEADERS];
        if let Some((length, whole)) = self.headers(at, packet, ethernet, &mut room)
            && let Some(headers) = room.get(..length)
        {
            self.put(Block::Packet {
                interface: u32::from(direction > 0),
                nanos: at.as_nanos(),
                bytes: headers,
                length: u32::try_from(whole).unwrap_or(u32::MAX),
            });
        }
    }

    /// Records a bundle with all its bytes, which a reader needs to find the
    /// second packet.
    pub(super) fn take_bundle(&mut self, at: Time, direction: usize, bundle: &Opened) {
        let Some(outer) = self.outer else { return };
        let inside = bundle.inside.iter().map(|inside| {
            let mut bytes = vec![0; usize::from(short(inside.size))];
            let mut room = [0; MOST_HEADERS];
            let headers = inside
                .packet
                .and_then(|packet| self.headers(at, packet, None, &mut room));
            for (byte, header) in bytes
                .iter_mut()
                .zip(headers.and(Some(room)).iter().flatten())
            {
                *byte = *header;
            }
            bytes
        });
        let packets: Vec<Vec<u8>> = inside.collect();
        let Some(frame) = outer.frame(bundle, &packets, self.macs(direction)) else {
            return;
        };
        let begin = if self.ethernet { 0 } else { HEADER_LEN };
        let bytes = frame.get(begin..).unwrap_or_default();
        self.put(Block::Packet {
            interface: u32::from(direction > 0),
            nanos: at.as_nanos(),
            bytes,
            length: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
        });
    }

    /// The destination and source addresses of a frame.
    fn macs(&self, direction: usize) -> [[u8; 6]; 2] {
        [self.ends[1 - direction], self.ends[direction]].map(|node| {
            let [_, _, _, _, c, d, e, f] = (node as u64 + 1).to_be_bytes();
            // An address of no manufacturer [IEEE802.3 s3.2.3].
            [2, 0, c, d, e, f]
        })
    }

    /// Writes the headers of a packet to `room`. Returns the lengths of headers
    /// and packet; `None` for notifications.
    fn headers(
        &mut self,
        at: Time,
        packet: Seen,
        ethernet: Option<[[u8; 6]; 2]>,
        room: &mut [u8],
    ) -> Option<(usize, usize)> {
        if packet.answer {
            return None;
        }
        let flow = self.flows.get_mut(packet.flow)?;
        match &mut flow.connection {
            Some(connection) => {
                let around = (flow.addresses, flow.ports, flow.service);
                connection.emit(at, packet, ethernet, around, room)
            }
            None => flow.emit(packet, ethernet, room),
        }
    }

    /// Writes buffered data.
    pub(super) fn finish(mut self) -> Result<()> {
        let written = match self.failed.take() {
            Some(failed) => Err(failed),
            None => self.file.flush(),
        };
        written.with_context(|| self.path.display().to_string())
    }

    fn put(&mut self, block: Block<'_>) {
        if self.failed.is_some() {
            return;
        }
        self.bytes.resize(block.buffer_len(), 0);
        // The block reported this size.
        if block.emit(&mut self.bytes).is_ok() {
            self.failed = self.file.write_all(&self.bytes).err();
        }
    }
}

impl Flow {
    /// Writes the headers of a datagram or fragment to `room`. Returns the
    /// lengths of headers and packet.
    fn emit(
        &self,
        packet: Seen,
        ethernet: Option<[[u8; 6]; 2]>,
        room: &mut [u8],
    ) -> Option<(usize, usize)> {
        let [.., a, b, c, d] = packet.sequence.to_be_bytes();
        let datagram = Datagram {
            ethernet,
            addresses: self.addresses,
            ports: self.ports,
            service: self.service,
            identification: u32::from_be_bytes([a, b, c, d]),
            whole: short(packet.whole),
            offset: short(packet.offset),
            length: short(packet.length),
            dont_fragment: self.dont_fragment,
        };
        let room = room.get_mut(..datagram.header_len())?;
        datagram.emit(room).ok()?;
        Some((datagram.header_len(), datagram.packet_len()))
    }
}

fn flow((number, flow): (usize, &sim::Flow)) -> Flow {
    let offset = u16::try_from(number % PORTS).unwrap_or(0);
    let (class, dont_fragment) = match &flow.traffic {
        Traffic::Datagrams(datagrams) => (
            datagrams.class,
            datagrams.dont_fragment || datagrams.discovers,
        ),
        // Routers do not fragment segments.
        Traffic::Tcp(tcp) => (tcp.class, true),
    };
    Flow {
        addresses: addresses(flow.ip, [flow.from, flow.to]),
        ports: [FIRST_PORT + offset; 2],
        // The class selectors [RFC2474 s4.2.2].
        service: class.min(7) << 5,
        dont_fragment,
        connection: match &flow.traffic {
            Traffic::Datagrams(_) => None,
            Traffic::Tcp(tcp) => Some(Connection::new(&tcp.settings)),
        },
    }
}

/// Addresses for tests of networks [RFC2544 sC.2.2] or for documentation
/// [RFC3849], with the node's number, from 1, in their last bytes.
fn addresses(ip: IpVersion, ends: [usize; 2]) -> Addresses {
    let number = |node: usize| (node as u64 + 1).to_be_bytes();
    match ip {
        IpVersion::V4 => Addresses::V4(ends.map(|node| {
            let [.., b, c, d] = number(node);
            Ipv4Addr::new(198, 18 + (b & 1), c, d)
        })),
        IpVersion::V6 => Addresses::V6(ends.map(|node| {
            let [.., a, b, c, d] = number(node).map(u16::from);
            Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, a << 8 | b, c << 8 | d)
        })),
    }
}
