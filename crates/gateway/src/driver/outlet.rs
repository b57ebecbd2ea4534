//! Frames toward one interface inside: through a ring of AF_XDP, which costs less for each
//! frame, or else through the packet socket.

use units::Span;
use wire::protocol::ethernet;

use super::InsideCounts;
use super::configuration::Sending;
use os::clock;
use os::error::{Error, OperationContext, Result};
use os::netlink::Route;
use os::offload::Joiner;
use os::port::Port;
use os::sys::packet::BATCH;
use os::sys::xdp_socket::{LARGEST, XdpSocket};

/// The time in which a queue that another process had may become free.
const TIMEOUT: Span = Span::from_secs(1);

/// Frames that a call sends through a ring at most: half of what it holds.
const TOGETHER: usize = 256;

/// The way of frames to one interface.
pub(super) struct Outlet {
    /// The interface's name, and its Ethernet address.
    name: String,
    own: [u8; 6],
    /// The interface's MTU.
    mtu: u32,
    ring: Option<Ring>,
    /// Frames that wait for the packet socket; the first `count` of them.
    frames: Vec<Joiner>,
    count: usize,
}

struct Ring {
    socket: XdpSocket,
    /// Bytes of the largest frame that it takes.
    largest: usize,
    /// Frames since the latest call.
    count: usize,
}

impl Outlet {
    /// The way to the interface `name` with this index, MTU and Ethernet address. Returns
    /// the reason, too, if `sending` would have had a ring and there is none.
    ///
    /// # Errors
    /// If `sending` demands a ring and there is none.
    pub(super) fn open(
        name: &str,
        index: u32,
        mtu: u32,
        own: [u8; 6],
        sending: Sending,
    ) -> Result<(Self, Option<String>)> {
        let opened = match sending {
            Sending::PacketSocket => None,
            Sending::Fastest | Sending::Ring => Some(opened(index)),
        };
        let largest = usize::try_from(mtu).unwrap_or(LARGEST);
        let largest = LARGEST.min(largest.saturating_add(ethernet::HEADER_LEN));
        let (ring, missing) = match opened {
            None => (None, None),
            Some(Ok(socket)) => {
                let count = 0;
                (
                    Some(Ring {
                        socket,
                        largest,
                        count,
                    }),
                    None,
                )
            }
            Some(Err(error)) if sending == Sending::Ring => {
                let operation = format!("opening a ring of AF_XDP on {name} (path = \"xdp\")");
                return Err(Error::new(operation, reason(&error)));
            }
            Some(Err(error)) => (None, Some(reason(&error))),
        };
        let outlet = Self {
            name: name.to_owned(),
            own,
            mtu,
            ring,
            frames: Vec::new(),
            count: 0,
        };
        Ok((outlet, missing))
    }

    /// The interface's Ethernet address.
    pub(super) const fn own(&self) -> [u8; 6] {
        self.own
    }

    /// The interface's MTU at the latest look.
    pub(super) const fn mtu(&self) -> u32 {
        self.mtu
    }

    /// Looks at the interface's MTU again.
    pub(super) fn look(&mut self, route: &Route) {
        // An interface that is gone is noticed elsewhere.
        self.mtu = route.mtu(&self.name).unwrap_or(self.mtu);
    }

    /// The interface's name, and the path of frames to it.
    pub(super) fn path(&self) -> (String, &'static str) {
        let path = match self.ring {
            Some(_) => "xdp",
            None => "packet",
        };
        (self.name.clone(), path)
    }

    /// Puts a packet for the Ethernet address `to` behind those that wait, which leave at
    /// the next [`Outlet::flush`], or before if they are many.
    ///
    /// # Errors
    /// If the interface is gone.
    pub(super) fn push(
        &mut self,
        port: &mut Port,
        (to, kind): ([u8; 6], u16),
        packet: &[u8],
        counts: &mut InsideCounts,
    ) -> Result<()> {
        let header = ethernet::Fields {
            addresses: [to, self.own],
            kind,
        };
        let length = ethernet::HEADER_LEN + packet.len();
        // Frames of both ways must not overtake each other.
        match &self.ring {
            Some(ring) if length <= ring.largest => {
                if self.count > 0 {
                    self.flush(port, counts)?;
                }
                self.push_to_ring(length, header, packet, counts)
            }
            Some(ring) if ring.socket.waiting() > 0 => {
                self.flush(port, counts)?;
                if self.waiting() > 0 {
                    counts.rejected += 1;
                    return Ok(());
                }
                self.push_frame(port, header, packet, counts)
            }
            _ => self.push_frame(port, header, packet, counts),
        }
    }

    fn push_to_ring(
        &mut self,
        length: usize,
        header: ethernet::Fields,
        packet: &[u8],
        counts: &mut InsideCounts,
    ) -> Result<()> {
        let Some(ring) = &mut self.ring else {
            return Ok(());
        };
        let write = |room: &mut [u8]| {
            let (link, rest) = room.split_at_mut(ethernet::HEADER_LEN);
            // The room is that of the header.
            let _ = header.emit(link);
            rest.copy_from_slice(packet);
        };
        if ring.socket.push(length, write) {
            ring.count += 1;
        } else {
            // The interface is down, or its buffers have been full for long.
            counts.rejected += 1;
        }
        match ring.count {
            TOGETHER => self.flush_ring(counts),
            _ => Ok(()),
        }
    }

    fn push_frame(
        &mut self,
        port: &mut Port,
        header: ethernet::Fields,
        packet: &[u8],
        counts: &mut InsideCounts,
    ) -> Result<()> {
        let mut link = [0; ethernet::HEADER_LEN];
        // The room is that of the header.
        let _ = header.emit(&mut link);
        let last = self.frames[..self.count].last_mut();
        if last.is_some_and(|last| last.join(&link, packet)) {
            return Ok(());
        }
        if self.frames.len() == self.count {
            self.frames.push(Joiner::default());
        }
        self.frames[self.count].begin(&link, packet);
        self.count += 1;
        match self.count {
            BATCH => self.flush_frames(port, counts),
            _ => Ok(()),
        }
    }

    /// How many frames wait because the interface had no room for them.
    pub(super) fn waiting(&self) -> u64 {
        self.ring.as_ref().map_or(0, |ring| ring.socket.waiting())
    }

    /// Sends what waits.
    ///
    /// # Errors
    /// If the interface is gone.
    pub(super) fn flush(&mut self, port: &mut Port, counts: &mut InsideCounts) -> Result<()> {
        self.flush_ring(counts)?;
        self.flush_frames(port, counts)
    }

    fn flush_ring(&mut self, counts: &mut InsideCounts) -> Result<()> {
        let Some(ring) = &mut self.ring else {
            return Ok(());
        };
        let taken = ring.socket.send();
        let taken = taken.during(|| format!("forwarding on {}", self.name))?;
        counts.rejected += taken.rejected;
        counts.sent += taken.sent;
        ring.count = 0;
        Ok(())
    }

    fn flush_frames(&mut self, port: &mut Port, counts: &mut InsideCounts) -> Result<()> {
        let all = &mut self.frames[..self.count];
        if all.is_empty() {
            return Ok(());
        }
        all.iter_mut().for_each(Joiner::finish);
        let packets: u64 = all.iter().map(Joiner::count).sum();
        let mut rejected = 0;
        let unsent = |frame: &Joiner| rejected += frame.count();
        port.send_pieces(all, |frame| [frame.bytes(), &[]], unsent)?;
        counts.rejected += rejected;
        counts.sent += packets - rejected;
        self.count = 0;
        Ok(())
    }
}

/// The socket of an interface. The kernel gives a queue back a moment after the end of the
/// process that had it.
fn opened(index: u32) -> std::io::Result<XdpSocket> {
    let deadline = clock::monotonic() + TIMEOUT;
    loop {
        match XdpSocket::open(index) {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                if clock::monotonic() > deadline {
                    return Err(error);
                }
                clock::sleep(Span::from_millis(10));
            }
            outcome => return outcome,
        }
    }
}

/// The reason for which there is no ring.
fn reason(error: &std::io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EAFNOSUPPORT) => {
            "the kernel has no AF_XDP (built without CONFIG_XDP_SOCKETS)".to_owned()
        }
        Some(libc::EBUSY) => "another program uses AF_XDP on its first queue".to_owned(),
        Some(libc::ENOBUFS) => {
            "1 MiB of memory cannot be locked; raise the limit (ulimit -l, LimitMEMLOCK)".to_owned()
        }
        _ => error.to_string(),
    }
}
