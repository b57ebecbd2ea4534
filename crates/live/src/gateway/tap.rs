//! A TAP interface toward the inside: the gateway is a router on the Ethernet segment
//! behind it.

use std::net::IpAddr;

use units::{IpMtu, IpVersion, Time};
use wire::ip_packet::addresses;
use wire::protocol::ethernet;

use super::InsideCounts;
use super::neighbours::{Due, Meaning, Neighbours};
use crate::clock;
use crate::error::Result;
use crate::netlink::Route;
use crate::sys::packet::HEADER;
use crate::tun::Tun;

/// A TAP interface with the neighbours behind it.
pub(super) struct Tap {
    tun: Tun,
    mtu: IpMtu,
    addresses: Vec<IpAddr>,
    neighbours: Neighbours,
    counts: InsideCounts,
}

impl Tap {
    /// Creates the interface, as a port of `bridge` if there is one.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub(super) fn create(
        name: &str,
        mtu: IpMtu,
        bridge: Option<&str>,
        addresses: &[IpAddr],
    ) -> Result<Self> {
        let tun = Tun::create_tap(name, mtu)?;
        if let Some(bridge) = bridge {
            Route::open()?.join_bridge(name, bridge)?;
        }
        Ok(Self {
            tun,
            mtu,
            addresses: addresses.to_vec(),
            neighbours: Neighbours::new(addresses.to_vec(), clock::monotonic()),
            counts: InsideCounts::default(),
        })
    }

    pub(super) const fn tun(&self) -> &Tun {
        &self.tun
    }

    /// The MTU of the segment.
    pub(super) const fn mtu(&self) -> IpMtu {
        self.mtu
    }

    /// The gateway's address of the version of `host`.
    pub(super) fn address_toward(&self, host: IpAddr) -> Option<IpAddr> {
        let mut addresses = self.addresses.iter();
        let of_version = |own: &&IpAddr| own.is_ipv6() == host.is_ipv6();
        addresses.find(of_version).copied()
    }

    /// Counts a packet that is larger than the MTU, with its fragments.
    pub(super) const fn count_too_big(&mut self, fragments: u64) {
        self.counts.refused += 1;
        self.counts.fragments += fragments;
    }

    /// Receives the packets that wait, at most one batch. Returns whether there may be
    /// more.
    ///
    /// # Errors
    /// If the interface is gone.
    pub(super) fn receive(&mut self, now: Time, mut take: impl FnMut(&[u8])) -> Result<bool> {
        let neighbours = &mut self.neighbours;
        let more = self.tun.receive_frames(|cutter, octets| {
            let frame = octets.get(HEADER..).unwrap_or_default();
            match neighbours.receive(now, frame) {
                Meaning::Packet => cutter.pass(octets, ethernet::HEADER_LEN, &mut take),
                Meaning::Neighbour | Meaning::Other => Ok(0),
            }
        })?;
        self.send_due()?;
        Ok(more)
    }

    /// Sends a packet, or keeps it until its host is found.
    ///
    /// # Errors
    /// If the interface is gone.
    pub(super) fn send(&mut self, now: Time, packet: &[u8]) -> Result<()> {
        let Ok(addresses) = addresses(packet) else {
            self.counts.refused += 1;
            return Ok(());
        };
        let [_, to] = addresses.ends();
        match self.neighbours.find(now, to, packet) {
            Some(link) => {
                self.send_packet(link, packet)?;
                self.send_due()
            }
            None => self.send_due(),
        }
    }

    /// When questions or the ends of waits are due.
    pub(super) const fn next_timeout(&self) -> Option<Time> {
        self.neighbours.next_timeout()
    }

    /// Sends the questions that are due, and drops packets whose hosts did not answer.
    ///
    /// # Errors
    /// If the interface is gone.
    pub(super) fn handle_timeout(&mut self, now: Time) -> Result<()> {
        self.neighbours.handle_timeout(now);
        self.send_due()
    }

    fn send_packet(&mut self, to: [u8; 6], packet: &[u8]) -> Result<()> {
        let version = match packet.first() {
            Some(first) if first >> 4 == 6 => IpVersion::V6,
            _ => IpVersion::V4,
        };
        let header = ethernet::Fields {
            addresses: [to, self.neighbours.own()],
            kind: ethernet::ip_type(version),
        };
        let mut link = [0; ethernet::HEADER_LEN];
        // The room is that of the header.
        let _ = header.emit(&mut link);
        match self.tun.write(&link, packet)? {
            true => self.counts.sent += 1,
            false => self.counts.refused += 1,
        }
        Ok(())
    }

    fn send_due(&mut self) -> Result<()> {
        self.counts.refused += self.neighbours.take_dropped();
        for due in self.neighbours.take_due() {
            match due {
                Due::Frame(frame) => drop(self.tun.write(&[], &frame)?),
                Due::Packet(to, packet) => self.send_packet(to, &packet)?,
            }
        }
        Ok(())
    }

    /// Counts packets whose hosts were not found as refused: the gateway ends.
    pub(super) fn abandon(&mut self) {
        self.neighbours.abandon();
        self.counts.refused += self.neighbours.take_dropped();
    }

    /// The counters so far.
    pub(super) fn counts(&self) -> InsideCounts {
        let of_tun = self.tun.counts();
        InsideCounts {
            received: of_tun.received,
            malformed: of_tun.malformed,
            waiting: self.neighbours.waiting(),
            ..self.counts
        }
    }
}
