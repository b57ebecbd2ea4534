//! The path to the hosts inside: a TUN interface, or packet sockets on interfaces.

use std::net::IpAddr;

use super::delivery::Delivery;
use super::{InsidePath, PURPOSE};
use crate::error::Result;
use crate::netlink::Route;
use crate::offload::Cutter;
use crate::pacing::Source;
use crate::port::{Port, Refused};
use crate::sys::packet::HEADER;
use crate::tun::Tun;
use units::Time;
use wire::protocol::ethernet::{self, ether_type};

/// Counters of the path to the inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InsideCounts {
    /// Packets that were received, super-packets counted as their pieces.
    pub received: u64,
    /// Packets whose virtio header contradicts them.
    pub malformed: u64,
    /// Frames that the kernel dropped because the gateway was too slow.
    pub overrun: u64,
    /// Packets sent.
    pub sent: u64,
    /// Packets that the kernel did not take, because an interface was down, or their
    /// destination is on no inside interface.
    pub refused: u64,
}

/// The path to the inside.
pub(super) enum Inside {
    Tun(Box<Tun>),
    Packet(Box<Ports>),
}

/// Packet sockets on interfaces.
pub(super) struct Ports {
    ports: Vec<InsidePort>,
    tun: Tun,
    cutter: Cutter,
    delivery: Delivery,
    counts: InsideCounts,
}

/// An interface with its packet socket.
struct InsidePort {
    port: Port,
    own: [u8; 6],
}

impl Inside {
    /// Opens the path.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub(super) fn open(path: &InsidePath) -> Result<Self> {
        match path {
            InsidePath::Tun { name, mtu } => Ok(Self::Tun(Box::new(Tun::create(name, *mtu)?))),
            InsidePath::Packet {
                interfaces,
                name,
                mtu,
            } => {
                let route = Route::open()?;
                let open = |name: &String| -> Result<InsidePort> {
                    Ok(InsidePort {
                        port: Port::open(name, PURPOSE)?,
                        own: route.ethernet_address(name)?,
                    })
                };
                let ports = interfaces.iter().map(open).collect::<Result<Vec<_>>>()?;
                let indices = interfaces.iter().map(|name| route.index(name));
                let indices = indices.collect::<Result<Vec<_>>>()?;
                let own = ports.iter().map(|port| port.own).collect();
                Ok(Self::Packet(Box::new(Ports {
                    ports,
                    tun: Tun::create(name, *mtu)?,
                    cutter: Cutter::new(),
                    delivery: Delivery::open(indices, own)?,
                    counts: InsideCounts::default(),
                })))
            }
        }
    }

    /// The file descriptors to poll.
    pub(super) fn sources(&self) -> Vec<&dyn Source> {
        match self {
            Self::Tun(tun) => vec![tun.as_ref()],
            Self::Packet(ports) => {
                let inside = ports.ports.iter();
                let inside = inside.map(|inside| &inside.port as &dyn Source);
                inside
                    .chain(std::iter::once(&ports.tun as &dyn Source))
                    .collect()
            }
        }
    }

    /// Receives a batch of IP packets. Returns whether there may be more.
    ///
    /// # Errors
    /// If an interface is gone.
    pub(super) fn receive(&mut self, mut take: impl FnMut(&[u8])) -> Result<bool> {
        let ports = match self {
            Self::Tun(tun) => return tun.receive(take),
            Self::Packet(ports) => ports,
        };
        let Ports {
            ports,
            tun,
            cutter,
            counts,
            ..
        } = ports.as_mut();
        let mut more = tun.receive(&mut take)?;
        for InsidePort { port, own } in ports {
            more |= port.receive_raw(|octets| {
                let frame = octets.get(HEADER..).unwrap_or_default();
                let Ok(header) = ethernet::Fields::parse(frame) else {
                    return;
                };
                // What is for others on the segment, or for groups, is none of ours.
                let is_ip = matches!(header.kind, ether_type::IPV4 | ether_type::IPV6);
                if !is_ip || header.addresses[0] != *own {
                    return;
                }
                match cutter.pass(octets, ethernet::HEADER_LEN, &mut take) {
                    Ok(count) => counts.received += count,
                    Err(_) => counts.malformed += 1,
                }
            });
        }
        Ok(more)
    }

    /// Sends an IP packet; packet sockets keep it until [`Inside::flush`].
    ///
    /// # Errors
    /// If an interface is gone.
    pub(super) fn send(&mut self, now: Time, packet: &[u8]) -> Result<()> {
        match self {
            Self::Tun(tun) => tun.send(packet),
            Self::Packet(ports) => {
                let Ports {
                    ports,
                    delivery,
                    counts,
                    ..
                } = ports.as_mut();
                if let Some(full) = delivery.add(now, packet, counts)? {
                    delivery.flush(full, &mut ports[full].port, counts)?;
                }
                Ok(())
            }
        }
    }

    /// Sends what is kept.
    ///
    /// # Errors
    /// If an interface is gone.
    pub(super) fn flush(&mut self) -> Result<()> {
        if let Self::Packet(ports) = self {
            let Ports {
                ports,
                delivery,
                counts,
                ..
            } = ports.as_mut();
            for (number, inside) in ports.iter_mut().enumerate() {
                delivery.flush(number, &mut inside.port, counts)?;
            }
        }
        Ok(())
    }

    /// The counters so far.
    ///
    /// # Errors
    /// If an interface is gone.
    pub(super) fn counts(&mut self) -> Result<InsideCounts> {
        match self {
            Self::Tun(tun) => {
                let counts = tun.counts();
                Ok(InsideCounts {
                    received: counts.received,
                    malformed: counts.malformed,
                    overrun: 0,
                    sent: counts.sent,
                    refused: counts.refused,
                })
            }
            Self::Packet(ports) => {
                let mut counts = ports.counts;
                counts.received += ports.tun.counts().received;
                counts.malformed += ports.tun.counts().malformed;
                for InsidePort { port, .. } in &mut ports.ports {
                    port.check_there()?;
                    port.count_overrun()?;
                    let Refused { overrun, .. } = port.refused();
                    counts.overrun += overrun;
                }
                Ok(counts)
            }
        }
    }

    /// Forgets which way hosts are reached, because routes or neighbours may have changed.
    pub(super) fn forget_ways(&mut self) {
        if let Self::Packet(ports) = self {
            ports.delivery.forget();
        }
    }
}

/// The addresses of the interfaces inside, one of each version of IP: the sources of
/// errors to hosts.
///
/// # Errors
/// If the kernel does not list them.
pub(super) fn own_addresses(interfaces: &[String]) -> Result<[Option<IpAddr>; 2]> {
    let route = Route::open()?;
    let mut found = [None, None];
    for name in interfaces {
        for address in route.addresses(route.index(name)?)? {
            let place = usize::from(address.is_ipv6());
            let is_link_local =
                matches!(address, IpAddr::V6(address) if address.is_unicast_link_local());
            if !is_link_local {
                found[place].get_or_insert(address);
            }
        }
    }
    Ok(found)
}
