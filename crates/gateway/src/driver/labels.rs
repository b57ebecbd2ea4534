//! Frames with MPLS labels toward the core [RFC3032].

use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};

use wire::protocol::ethernet::{self, ether_type};

use super::configuration::PURPOSE;
use super::core_sockets::Sent;
use os::error::Result;
use os::netlink::Route;
use os::pacing::Source;
use os::port::Port;
use os::sys::packet::HEADER;

/// An interface that carries frames with labels, and the next hop of each peer.
pub(super) struct Labels {
    port: Port,
    route: Route,
    /// The interface's index and Ethernet address.
    index: u32,
    own: [u8; 6],
    next_hops: Vec<NextHop>,
    /// The frame that is sent, behind its virtio header; kept for its allocation.
    frame: Vec<u8>,
    overrun: u64,
}

#[derive(Clone, Copy, Debug)]
struct NextHop {
    address: Option<IpAddr>,
    /// Its Ethernet address, once it is known.
    link: Option<[u8; 6]>,
}

impl Labels {
    /// Opens `interface`, behind which the next hops are, one for each peer.
    pub(super) fn open(interface: &str, next_hops: &[Option<IpAddr>]) -> Result<Self> {
        let route = Route::open()?;
        let next_hops = next_hops.iter().map(|&address| NextHop {
            address,
            link: None,
        });
        let mut labels = Self {
            port: Port::open(interface, PURPOSE)?,
            index: route.index(interface)?,
            own: route.ethernet_address(interface)?,
            route,
            next_hops: next_hops.collect(),
            frame: Vec::new(),
            overrun: 0,
        };
        labels.renew()?;
        Ok(labels)
    }

    /// Looks up the Ethernet addresses of the next hops, and asks the kernel to find those
    /// that it does not know.
    pub(super) fn renew(&mut self) -> Result<()> {
        self.port.check_there()?;
        let known = self.route.neighbours(self.index)?;
        for next_hop in &mut self.next_hops {
            let Some(address) = next_hop.address else {
                continue;
            };
            let found = known.iter().find(|(neighbour, _)| *neighbour == address);
            match found {
                Some((_, link)) => next_hop.link = Some(*link),
                // It may be asked for while the interface is down.
                None => drop(self.route.look_for(self.index, address)),
            }
        }
        Ok(())
    }

    /// Receives a batch; `take` gets the labels and what is behind them. Returns whether
    /// there may be more.
    pub(super) fn receive(&mut self, mut take: impl FnMut(&[u8])) -> bool {
        let own = self.own;
        self.port.receive_raw(|_, bytes| {
            let frame = bytes.get(HEADER..).unwrap_or_default();
            let header = ethernet::Fields::parse(frame);
            if header
                .is_ok_and(|header| header.kind == ether_type::MPLS && header.addresses[0] == own)
            {
                take(frame.get(ethernet::HEADER_LEN..).unwrap_or_default());
            }
        })
    }

    /// Sends a label stack and what is behind it to the next hop of `peer`.
    pub(super) fn send(&mut self, peer: usize, bytes: &[u8]) -> Result<Sent> {
        let Some(link) = self.next_hops.get(peer).and_then(|next_hop| next_hop.link) else {
            return Ok(Sent::No);
        };
        self.frame.clear();
        self.frame.resize(HEADER, 0);
        self.frame.extend_from_slice(&link);
        self.frame.extend_from_slice(&self.own);
        self.frame
            .extend_from_slice(&ether_type::MPLS.to_be_bytes());
        self.frame.extend_from_slice(bytes);
        let before = self.port.rejected().unsent;
        let frame = self.frame.as_slice();
        self.port
            .send_pieces(&[frame], |frame| [frame, &[]], |_| {})?;
        Ok(match self.port.rejected().unsent == before {
            true => Sent::Yes,
            false => Sent::No,
        })
    }

    /// Frames that the kernel dropped for lack of room so far.
    pub(super) fn overrun(&mut self) -> Result<u64> {
        self.port.count_overrun()?;
        self.overrun = self.port.rejected().overrun;
        Ok(self.overrun)
    }
}

impl AsFd for Labels {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.port.as_fd()
    }
}

impl Source for Labels {
    fn clear_error(&self) -> Result<()> {
        self.port.clear_error()
    }
}
