//! A TUN interface: the kernel routes packets to it, and routes what is written to it.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

use nix::net::if_::if_nametoindex;
use units::IpMtu;

use crate::error::{Error, OperationContext, Result};
use crate::netlink::Route;
use crate::offload::{Cutter, Joiner, LARGEST_SUPER};
use crate::pacing::Source;
use crate::sys::packet::{BATCH, HEADER};
use crate::sys::tun;

/// Bytes of the largest super-packet behind its virtio header.
const LARGEST: usize = HEADER + LARGEST_SUPER as usize;

/// Packets that may wait to be read; the kernel drops those beyond, and nobody counts them
/// here. The default of 500 is the traffic of a millisecond.
const QUEUE: u32 = 8_192;

/// Counters of a TUN interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TunCounts {
    /// Packets read, super-packets counted as their pieces.
    pub received: u64,
    /// Packets whose virtio header contradicts them; they were dropped.
    pub malformed: u64,
    /// Packets written.
    pub sent: u64,
    /// Packets that the kernel did not take; they were dropped.
    pub rejected: u64,
}

/// A TUN interface, which exists as long as this value.
pub struct Tun {
    name: String,
    file: File,
    bytes: Vec<u8>,
    cutter: Cutter,
    /// The packets that are sent next; none, unless `is_waiting`.
    joiner: Joiner,
    is_waiting: bool,
    counts: TunCounts,
}

impl Tun {
    /// Creates the interface `name` with `mtu` and sets it up.
    ///
    /// # Errors
    /// If the kernel rejects: it needs CAP_NET_ADMIN and `/dev/net/tun`, and a name that
    /// no interface has.
    pub fn create(name: &str, mtu: IpMtu) -> Result<Self> {
        let operation = || format!("making the TUN interface {name}");
        let file = tun::create(name).during(operation).map_err(|error| {
            let remedy = match error.source.kind() {
                ErrorKind::NotFound => "there is no /dev/net/tun; type: modprobe tun",
                ErrorKind::PermissionDenied => "it needs CAP_NET_ADMIN; run it as root",
                ErrorKind::ResourceBusy => "the name is in use; choose another one",
                _ if error.source.raw_os_error() == Some(libc::ENOTTY) => {
                    "/dev/net/tun is another device; remove it and type: modprobe tun"
                }
                _ => return error,
            };
            Error::new(operation(), remedy)
        })?;
        let route = Route::open()?;
        route.set_mtu(name, mtu.get())?;
        route.set_queue_length(name, QUEUE)?;
        route.set_up(name)?;
        Ok(Self {
            name: name.to_owned(),
            file,
            bytes: vec![0; LARGEST],
            cutter: Cutter::default(),
            joiner: Joiner::default(),
            is_waiting: false,
            counts: TunCounts::default(),
        })
    }

    /// The interface's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The counters so far.
    pub const fn counts(&self) -> TunCounts {
        self.counts
    }

    /// Receives the packets that wait, at most one batch, whole and with their checksums.
    /// Returns whether there may be more.
    ///
    /// # Errors
    /// If the interface is gone.
    pub fn receive(&mut self, mut take: impl FnMut(&[u8])) -> Result<bool> {
        for _ in 0..BATCH {
            let length = match self.file.read(&mut self.bytes) {
                Ok(length) => length,
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => return Ok(false),
                    ErrorKind::Interrupted => continue,
                    _ => return Err(error).during(|| format!("reading from {}", self.name)),
                },
            };
            match self.cutter.pass(&self.bytes[..length], 0, &mut take) {
                Ok(count) => self.counts.received += count,
                Err(_) => self.counts.malformed += 1,
            }
        }
        Ok(true)
    }

    /// Sends a packet at the next [`Tun::flush`], or before. Segments of TCP that follow each
    /// other are handed to the kernel as a super-packet.
    ///
    /// # Errors
    /// If the interface is gone; a packet that the kernel does not take is counted.
    pub fn send(&mut self, packet: &[u8]) -> Result<()> {
        if self.is_waiting && self.joiner.join(&[], packet) {
            return Ok(());
        }
        self.flush()?;
        self.joiner.begin(&[], packet);
        self.is_waiting = true;
        Ok(())
    }

    /// Sends what waits.
    ///
    /// # Errors
    /// As [`Tun::send`].
    pub fn flush(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.is_waiting) {
            return Ok(());
        }
        self.joiner.finish();
        match self.write()? {
            true => self.counts.sent += self.joiner.count(),
            false => self.counts.rejected += self.joiner.count(),
        }
        Ok(())
    }

    /// Writes what was joined. Returns whether the kernel took it.
    fn write(&mut self) -> Result<bool> {
        loop {
            return match self.file.write(self.joiner.bytes()) {
                Ok(_) => Ok(true),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.raw_os_error() == Some(libc::EBADFD) => {
                    Err(error).during(|| format!("writing to {}", self.name))
                }
                // The interface is down, or the packet is none.
                Err(_) => Ok(false),
            };
        }
    }
}

/// The descriptor to wait for.
impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Source for Tun {
    /// An error means that the interface was removed.
    fn clear_error(&self) -> Result<()> {
        let operation = || format!("forwarding on {}", self.name);
        if_nametoindex(self.name.as_str())
            .map(drop)
            .map_err(|_| Error::new(operation(), "the interface is gone"))
    }
}
