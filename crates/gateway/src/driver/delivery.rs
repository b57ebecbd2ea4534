//! Delivery to hosts on inside interfaces: the kernel's routes and neighbours say where
//! they are. A packet whose way is not known yet goes through the kernel, which looks for
//! the host; the following ones go directly.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use units::{IpVersion, Span, Time};
use wire::ip_packet::addresses;
use wire::protocol::ethernet;

use super::InsideCounts;
use super::through_kernel::ThroughKernel;
use os::error::Result;
use os::netlink::Route;

/// Places of the memory of ways.
const PLACES: usize = 1 << 12;

/// For how long a way is remembered; neighbours may change their interfaces.
const MEMORY: Span = Span::from_secs(5);

/// The time between two questions for the way to a host that the kernel looks for.
const AGAIN: Span = Span::from_millis(50);

/// The most questions to the kernel per [`AGAIN`]: unknown destinations must not take
/// the time of known ones. Packets beyond go through the kernel.
const MOST_QUESTIONS: u32 = 200;

pub(super) struct Delivery {
    route: Route,
    /// Indices of the interfaces.
    indices: Vec<u32>,
    through_kernel: ThroughKernel,
    ways: Vec<Option<(IpAddr, InsideRoute, Time)>>,
    /// Questions since a time.
    asked: (u32, Time),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InsideRoute {
    /// On the interface of this number, with this Ethernet address.
    Direct { number: usize, link: [u8; 6] },
    /// On an inside interface; the kernel looks for it.
    Unknown,
    /// On no inside interface.
    Astray,
}

/// A place for a packet on an inside interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Host {
    /// The number of the interface.
    pub(super) number: usize,
    /// The Ethernet address.
    pub(super) link: [u8; 6],
    /// The Ethernet type of the packet.
    pub(super) kind: u16,
}

impl Delivery {
    pub(super) fn open(indices: Vec<u32>) -> Result<Self> {
        Ok(Self {
            route: Route::open()?,
            indices,
            through_kernel: ThroughKernel::open()?,
            ways: vec![None; PLACES],
            asked: (0, Time::ZERO),
        })
    }

    /// The place of the host that `packet` is for; `None` if the packet went another way,
    /// or nowhere.
    pub(super) fn host(
        &mut self,
        now: Time,
        packet: &[u8],
        counts: &mut InsideCounts,
    ) -> Result<Option<Host>> {
        let Some(destination) = destination(packet) else {
            counts.rejected += 1;
            return Ok(None);
        };
        match self.way(now, destination)? {
            InsideRoute::Direct { number, link } => {
                let kind = match destination {
                    IpAddr::V4(_) => ethernet::ip_type(IpVersion::V4),
                    IpAddr::V6(_) => ethernet::ip_type(IpVersion::V6),
                };
                Ok(Some(Host { number, link, kind }))
            }
            InsideRoute::Unknown => {
                counts.add(self.through_kernel.send(packet));
                Ok(None)
            }
            InsideRoute::Astray => {
                counts.rejected += 1;
                Ok(None)
            }
        }
    }

    /// The socket for questions to the kernel.
    pub(super) const fn route(&self) -> &Route {
        &self.route
    }

    /// The kernel's output.
    pub(super) const fn through_kernel(&self) -> &ThroughKernel {
        &self.through_kernel
    }

    pub(super) fn forget(&mut self) {
        self.ways.fill(None);
    }

    fn way(&mut self, now: Time, destination: IpAddr) -> Result<InsideRoute> {
        let place = place(destination);
        if let Some((known, way, until)) = self.ways[place]
            && known == destination
            && now < until
        {
            return Ok(way);
        }
        if now.since(self.asked.1) > Some(AGAIN) {
            self.asked = (0, now);
        }
        self.asked.0 += 1;
        if self.asked.0 > MOST_QUESTIONS {
            return Ok(InsideRoute::Unknown);
        }
        let way = self.ask(destination)?;
        let memory = if way == InsideRoute::Unknown {
            AGAIN
        } else {
            MEMORY
        };
        self.ways[place] = Some((destination, way, now + memory));
        Ok(way)
    }

    /// Asks the kernel for the way to a host.
    fn ask(&self, destination: IpAddr) -> Result<InsideRoute> {
        // Without a route the host is nowhere.
        let Ok(chosen) = self.route.choose(destination, None, None) else {
            return Ok(InsideRoute::Astray);
        };
        let of_index = |index: &u32| *index == chosen.interface;
        let Some(number) = self.indices.iter().position(of_index) else {
            return Ok(InsideRoute::Astray);
        };
        let next_hop = chosen.gateway.unwrap_or(destination);
        let link = self.route.neighbour(chosen.interface, next_hop)?;
        Ok(
            link.map_or(InsideRoute::Unknown, |link| InsideRoute::Direct {
                number,
                link,
            }),
        )
    }
}

/// The destination of an IP packet.
fn destination(packet: &[u8]) -> Option<IpAddr> {
    let [_, destination] = addresses(packet).ok()?.ends();
    Some(destination)
}

/// The place of an address in the memory of ways.
fn place(address: IpAddr) -> usize {
    let number = match address {
        IpAddr::V4(address) => Ipv4Addr::to_bits(address).into(),
        IpAddr::V6(address) => Ipv6Addr::to_bits(address),
    };
    let folded = number ^ number >> 64;
    let low = u64::try_from(folded & u128::from(u64::MAX)).unwrap_or(0);
    // Fibonacci hashing [Knuth1998 s6.4].
    let hash = low.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - PLACES.ilog2());
    usize::try_from(hash).unwrap_or(0)
}
