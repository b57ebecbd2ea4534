//! The path to the hosts inside: a TUN interface, or packet sockets on interfaces.

use std::net::IpAddr;

use super::arrivals::Arrivals;
use super::configuration::{InsidePath, PURPOSE};
use super::delivery::{Delivery, Host};
use super::outlet::Outlet;
use super::through_kernel::ThroughKernel;
use os::error::Result;
use os::netlink::Route;
use os::offload::Cutter;
use os::pacing::Source;
use os::port::{Port, Rejected};
use os::sys::packet::HEADER;
use os::tun::Tun;
use units::{IpMtu, IpVersion, Time};
use wire::ip_packet::IpPacket;
use wire::probe::{Fragment, Fragments};
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
    /// Fragments in place of packets that are larger than the link to their host takes; each
    /// such packet counts as rejected.
    pub fragments: u64,
    /// Packets that the kernel did not take, because an interface was down, or their
    /// destination is on no inside interface; and those that are larger than the link to
    /// their host takes.
    pub rejected: u64,
    /// Packets that wait in a ring, because an interface is down or has no room.
    pub waiting: u64,
}

/// Bytes of a header with a Jumbo Payload option [RFC2675 s2].
const OPTION: u64 = 8;

/// The MTU at which the kernel forwards super-packets whose pieces have `mtu` bytes: it
/// counts the Jumbo Payload option of those above 64 KiB, which no piece has.
fn with_option(mtu: IpMtu) -> IpMtu {
    IpMtu::new(u64::from(mtu.get()) + OPTION, IpVersion::V6).unwrap_or(mtu)
}

impl InsideCounts {
    /// Counts a packet that was sent, or was not.
    pub(super) const fn add(&mut self, is_sent: bool) {
        match is_sent {
            true => self.sent += 1,
            false => self.rejected += 1,
        }
    }
}

/// The path to the inside.
pub(super) enum Inside {
    Tun(Box<TunPath>),
    Packet(Box<Ports>),
}

/// A TUN interface, and the way of errors, which the kernel would not take from it.
pub(super) struct TunPath {
    tun: Tun,
    through_kernel: ThroughKernel,
    /// Errors that were sent or rejected.
    errors: InsideCounts,
}

/// Packet sockets on interfaces.
pub(super) struct Ports {
    ports: Vec<InsidePort>,
    tun: Tun,
    cutter: Cutter,
    delivery: Delivery,
    counts: InsideCounts,
    /// Whether what waits is counted as rejected.
    is_abandoned: bool,
}

impl Ports {
    /// Packets that wait because an interface had no room for them.
    fn waiting(&self) -> u64 {
        match self.is_abandoned {
            true => 0,
            false => self
                .ports
                .iter()
                .map(|inside| inside.outlet.waiting())
                .sum(),
        }
    }
}

/// An interface with its packet socket, and the way of frames to it.
struct InsidePort {
    port: Port,
    outlet: Outlet,
}

impl Inside {
    /// Opens the path. Returns its shortcomings, too, each as a line.
    ///
    /// # Errors
    /// If the kernel rejects.
    pub(super) fn open(path: &InsidePath) -> Result<(Self, Vec<String>)> {
        let (interfaces, name, mtu, sending) = match path {
            InsidePath::Tun { name, mtu } => {
                let path = TunPath {
                    tun: Tun::create(name, with_option(*mtu))?,
                    through_kernel: ThroughKernel::open()?,
                    errors: InsideCounts::default(),
                };
                return Ok((Self::Tun(Box::new(path)), Vec::new()));
            }
            InsidePath::Packet {
                interfaces,
                name,
                mtu,
                sending,
            } => (interfaces, name, *mtu, *sending),
        };
        let route = Route::open()?;
        let (mut ports, mut indices, mut problems) = (Vec::new(), Vec::new(), Vec::new());
        for name in interfaces {
            let (index, mtu) = (route.index(name)?, route.mtu(name)?);
            let own = route.ethernet_address(name)?;
            let (outlet, missing) = Outlet::open(name, index, mtu, own, sending)?;
            problems.extend(missing.map(|reason| {
                format!("frames to {name} go through a packet socket, not AF_XDP: {reason}")
            }));
            let port = Port::open(name, PURPOSE)?;
            ports.push(InsidePort { port, outlet });
            indices.push(index);
        }
        let ports = Ports {
            ports,
            tun: Tun::create(name, mtu)?,
            cutter: Cutter::default(),
            delivery: Delivery::open(indices)?,
            counts: InsideCounts::default(),
            is_abandoned: false,
        };
        Ok((Self::Packet(Box::new(ports)), problems))
    }

    /// The interfaces inside, each with the path of packets to it: `tun`, `packet` or
    /// `xdp`.
    pub(super) fn paths(&self) -> Vec<(String, &'static str)> {
        match self {
            Self::Tun(path) => vec![(path.tun.name().to_owned(), "tun")],
            Self::Packet(ports) => {
                let ports = ports.ports.iter();
                ports.map(|inside| inside.outlet.path()).collect()
            }
        }
    }

    /// The file descriptors to poll.
    pub(super) fn sources(&self) -> Vec<&dyn Source> {
        match self {
            Self::Tun(path) => vec![&path.tun],
            Self::Packet(ports) => {
                let inside = ports.ports.iter();
                let inside = inside.map(|inside| &inside.port as &dyn Source);
                inside
                    .chain(std::iter::once(&ports.tun as &dyn Source))
                    .collect()
            }
        }
    }

    /// Whether the kernel says when packets came; those of several interfaces are not in
    /// the order of their stamps.
    pub(super) fn stamps(&self) -> bool {
        match self {
            Self::Tun(_) => false,
            Self::Packet(ports) => ports.ports.len() == 1,
        }
    }

    /// Receives a batch of IP packets, each with the time at which it came by
    /// `arrivals`. Returns whether there may be more.
    ///
    /// # Errors
    /// If an interface is gone.
    pub(super) fn receive(
        &mut self,
        arrivals: &mut Arrivals,
        mut take: impl FnMut(Time, &[u8]),
    ) -> Result<bool> {
        let ports = match self {
            Self::Tun(path) => {
                let at = arrivals.unstamped();
                return path.tun.receive(|packet| take(at, packet));
            }
            Self::Packet(ports) => ports,
        };
        let Ports {
            ports,
            tun,
            cutter,
            counts,
            ..
        } = ports.as_mut();
        let mut more = false;
        for InsidePort { port, outlet } in ports {
            let own = outlet.own();
            more |= port.receive_raw(|stamp, bytes| {
                let frame = bytes.get(HEADER..).unwrap_or_default();
                let Ok(header) = ethernet::Fields::parse(frame) else {
                    return;
                };
                // What is for others on the segment, or for groups, is none of ours.
                let is_ip = matches!(header.kind, ether_type::IPV4 | ether_type::IPV6);
                if !is_ip || header.addresses[0] != own {
                    return;
                }
                let at = arrivals.instant(stamp);
                let each = |packet: &[u8]| take(at, packet);
                match cutter.pass(bytes, ethernet::HEADER_LEN, each) {
                    Ok(count) => counts.received += count,
                    Err(_) => counts.malformed += 1,
                }
            });
        }
        // Only a packet moves the present: stamps of the next batch may be before it.
        more |= tun.receive(|packet| take(arrivals.unstamped(), packet))?;
        Ok(more)
    }

    /// Sends an IP packet, at the latest at the next [`Inside::flush`]. A packet that is
    /// larger than the link to its host takes is fragmented if it may be; otherwise it is
    /// rejected, and the MTU of the link returned. With a TUN interface that is for the kernel.
    ///
    /// # Errors
    /// If an interface is gone.
    pub(super) fn send(&mut self, now: Time, packet: &[u8]) -> Result<Option<u32>> {
        match self {
            Self::Tun(path) => path.tun.send(packet)?,
            Self::Packet(ports) => {
                let Ports {
                    ports,
                    delivery,
                    counts,
                    ..
                } = ports.as_mut();
                let Some(Host { number, link, kind }) = delivery.host(now, packet, counts)? else {
                    return Ok(None);
                };
                let InsidePort { port, outlet } = &mut ports[number];
                let mtu = outlet.mtu();
                if packet.len() <= place(mtu) {
                    outlet.push(port, (link, kind), packet, counts)?;
                    return Ok(None);
                }
                counts.rejected += 1;
                let Some(fragments) = fragments(packet, mtu) else {
                    return Ok(Some(mtu));
                };
                counts.fragments += fragments.len() as u64;
                for fragment in fragments {
                    outlet.push(port, (link, kind), &fragment, counts)?;
                }
            }
        }
        Ok(None)
    }

    /// The address from which a sender behind the core is told of the link to `host`.
    pub(super) fn address_toward(&self, host: IpAddr) -> Option<IpAddr> {
        match self {
            Self::Tun(_) => None,
            Self::Packet(ports) => ports.delivery.through_kernel().source(host),
        }
    }

    /// Looks at the MTUs of the interfaces again.
    pub(super) fn look(&mut self) {
        if let Self::Packet(ports) = self {
            let Ports {
                ports, delivery, ..
            } = ports.as_mut();
            for InsidePort { outlet, .. } in ports {
                outlet.look(delivery.route());
            }
        }
    }

    /// Sends an ICMP error of the gateway.
    pub(super) fn send_error(&mut self, error: &[u8]) {
        match self {
            Self::Tun(path) => path.errors.add(path.through_kernel.send_error(error)),
            Self::Packet(ports) => {
                let is_sent = ports.delivery.through_kernel().send_error(error);
                ports.counts.add(is_sent);
            }
        }
    }

    /// Sends what is kept.
    ///
    /// # Errors
    /// If an interface is gone.
    pub(super) fn flush(&mut self) -> Result<()> {
        match self {
            Self::Tun(path) => path.tun.flush(),
            Self::Packet(ports) => {
                let Ports { ports, counts, .. } = ports.as_mut();
                ports
                    .iter_mut()
                    .try_for_each(|InsidePort { port, outlet }| outlet.flush(port, counts))
            }
        }
    }

    /// Whether packets wait because an interface had no room for them.
    pub(super) fn has_waiting(&self) -> bool {
        match self {
            Self::Tun(_) => false,
            Self::Packet(ports) => ports.waiting() > 0,
        }
    }

    /// Counts packets for which an interface has no room as rejected: the gateway ends.
    pub(super) fn abandon(&mut self) {
        if let Self::Packet(ports) = self {
            ports.counts.rejected += ports.waiting();
            ports.is_abandoned = true;
        }
    }

    /// The counters so far.
    ///
    /// # Errors
    /// If an interface is gone.
    pub(super) fn counts(&mut self) -> Result<InsideCounts> {
        match self {
            Self::Tun(path) => {
                let counts = path.tun.counts();
                Ok(InsideCounts {
                    received: counts.received,
                    malformed: counts.malformed,
                    overrun: 0,
                    fragments: 0,
                    sent: counts.sent + path.errors.sent,
                    rejected: counts.rejected + path.errors.rejected,
                    waiting: 0,
                })
            }
            Self::Packet(ports) => {
                let mut counts = ports.counts;
                counts.waiting = ports.waiting();
                counts.received += ports.tun.counts().received;
                counts.malformed += ports.tun.counts().malformed;
                for InsidePort { port, .. } in &mut ports.ports {
                    port.check_there()?;
                    port.count_overrun()?;
                    let Rejected { overrun, .. } = port.rejected();
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

/// The fragments of a packet for a link that takes `mtu` bytes [RFC791 s3.2]; `None` if it
/// must not be fragmented.
fn fragments(packet: &[u8], mtu: u32) -> Option<Vec<Vec<u8>>> {
    let is_fixed = IpPacket::parse_whole(packet).ok()?.dont_fragment;
    let fragments = (!is_fixed).then(|| Fragments::of(packet, place(mtu), 0).ok())??;
    let emitted = |fragment: Fragment<'_>| {
        let mut bytes = vec![0; fragment.buffer_len()];
        fragment.emit(&mut bytes).ok().map(|()| bytes)
    };
    fragments.map(emitted).collect()
}

/// A number of bytes as that of a slice.
fn place(bytes: u32) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
