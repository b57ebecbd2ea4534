//! Sending of frames through AF_XDP: many frames per system call, which the kernel finds
//! in memory that it shares with the program [LinuxUapi if_xdp.h].
//!
//! The kernel copies each frame into a buffer of its own (copy mode), so that every
//! driver will do, and no program has to be attached to the interface. It does so within
//! the call that asks for it: what a call has taken cannot be overtaken by what other
//! sockets send later.

use std::io;
use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use super::mapped::Mapped;
use super::{option, socket};

/// Bytes of a piece of the shared memory: the largest frame. The kernel takes 2048 and
/// the size of a page.
pub const LARGEST: usize = 2_048;

/// Frames that the shared memory holds. A process without CAP_IPC_LOCK may lock 8 MiB on
/// most systems, for all its sockets.
const FRAMES: usize = PLACES as usize;

/// Frames that the kernel takes per call, where it lets a program choose; otherwise they
/// are 32.
const PER_CALL: u32 = 256;

/// Bytes of the kernel's copies of frames that an interface has not sent.
const SEND_BUFFER: libc::c_int = 1 << 20;

/// The option of that name, which the crate `libc` does not know yet.
const XDP_MAX_TX_SKB_BUDGET: libc::c_int = 9;

/// The frames that the kernel took out of a ring.
#[derive(Clone, Copy, Debug, Default)]
pub struct Taken {
    /// Those that the interface accepted.
    pub sent: u64,
    /// Those that it did not.
    pub rejected: u64,
}

/// A socket that sends frames on one interface.
pub struct XdpSocket {
    socket: OwnedFd,
    memory: Mapped,
    /// Frames to be sent.
    sending: Ring<libc::xdp_desc>,
    /// Addresses of frames that were sent.
    sent: Ring<u64>,
    /// Numbers of free pieces of the memory, and whether each is free.
    free: Vec<usize>,
    is_free: [bool; FRAMES],
}

impl XdpSocket {
    /// Opens a socket on the first queue of the interface with this index.
    ///
    /// # Errors
    /// If the kernel has no AF_XDP, or somebody else uses it on this queue, or the
    /// memory cannot be locked.
    pub fn open(interface: u32) -> io::Result<Self> {
        let socket = socket::open(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_NONBLOCK, 0)?;
        let fd = socket.as_fd();
        let length = NonZeroUsize::new(LARGEST * FRAMES).expect("there are frames");
        let memory = Mapped::zeros(length)?;
        let register = libc::xdp_umem_reg {
            addr: memory.place(0, 0).as_ptr() as u64,
            len: length.get() as u64,
            chunk_size: number(LARGEST)?,
            headroom: 0,
            flags: 0,
            tx_metadata_len: 0,
        };
        set(fd, libc::XDP_UMEM_REG, &register)?;
        // The kernel wants a ring for arrivals, too, which stays empty.
        for (ring, size) in [
            (libc::XDP_UMEM_FILL_RING, 1),
            (libc::XDP_UMEM_COMPLETION_RING, FRAMES),
            (libc::XDP_TX_RING, FRAMES),
        ] {
            set(fd, ring, &number(size)?)?;
        }
        // Room for what an interface has not sent; the kernel may grant less.
        option::set(fd, libc::SOL_SOCKET, libc::SO_SNDBUF, SEND_BUFFER)?;
        // Older kernels do not know it.
        let _ = set(fd, XDP_MAX_TX_SKB_BUDGET, &PER_CALL);
        let offsets = offsets(fd)?;
        let sending = Ring::open(fd, offsets.tx, libc::XDP_PGOFF_TX_RING)?;
        let place = libc::XDP_UMEM_PGOFF_COMPLETION_RING;
        let sent = Ring::open(fd, offsets.cr, place.try_into().map_err(io::Error::other)?)?;
        bind(fd, interface)?;
        Ok(Self {
            socket,
            memory,
            sending,
            sent,
            free: (0..FRAMES).collect(),
            is_free: [true; FRAMES],
        })
    }

    /// Puts a frame of `length` bytes, which `write` fills, behind those that wait for
    /// [`XdpSocket::send`]. Returns whether there was room for it.
    pub fn push(&mut self, length: usize, write: impl FnOnce(&mut [u8])) -> bool {
        if length > LARGEST || self.sending.is_full() {
            return false;
        }
        // Another processor returns pieces; a look at each frame would be a miss of the
        // cache for each.
        if self.free.is_empty() {
            self.reclaim();
        }
        let Some(piece) = self.free.pop() else {
            return false;
        };
        self.is_free[piece] = false;
        let place = self.memory.place(piece * LARGEST, LARGEST);
        // SAFETY: the piece is inside the memory, and was free: the kernel, which only
        // reads pieces, has returned it, and no other reference to it exists.
        write(unsafe { std::slice::from_raw_parts_mut(place.as_ptr(), length) });
        self.sending.put(libc::xdp_desc {
            addr: (piece * LARGEST) as u64,
            len: u32::try_from(length).unwrap_or(0),
            options: 0,
        });
        true
    }

    /// Sends the frames that wait. Those for which there is no room at the moment go on
    /// waiting.
    ///
    /// # Errors
    /// If the interface is gone.
    pub fn send(&mut self) -> io::Result<Taken> {
        let mut rejected = 0;
        self.sending.publish();
        let first = self.sending.waiting();
        let mut waiting = first;
        while waiting > 0 {
            let code = self.call();
            let before = waiting;
            waiting = self.sending.waiting();
            match code {
                // The interface rejected one; the kernel goes on behind it.
                libc::EBUSY => rejected += 1,
                libc::ENXIO | libc::ENODEV => return Err(io::Error::from_raw_os_error(code)),
                _ if waiting < before => {}
                // It is down, or its buffers are full.
                _ => break,
            }
        }
        let gone = u64::from(first - waiting);
        Ok(Taken {
            sent: gone.saturating_sub(rejected),
            rejected,
        })
    }

    /// How many frames wait.
    pub fn waiting(&self) -> u64 {
        self.sending.waiting().into()
    }

    /// Lets the kernel send. Returns its error, or zero.
    fn call(&self) -> libc::c_int {
        // SAFETY: the call takes no data, and no address.
        let result = unsafe {
            libc::sendto(
                self.socket.as_raw_fd(),
                std::ptr::null(),
                0,
                libc::MSG_DONTWAIT,
                std::ptr::null(),
                0,
            )
        };
        match result < 0 {
            true => io::Error::last_os_error().raw_os_error().unwrap_or(0),
            false => 0,
        }
    }

    /// Takes the pieces back whose frames the kernel has sent.
    fn reclaim(&mut self) {
        while let Some(address) = self.sent.take() {
            release(address, &mut self.free, &mut self.is_free);
        }
    }
}

/// Makes the piece at `address` free, if it is one and is not free yet.
fn release(address: u64, free: &mut Vec<usize>, is_free: &mut [bool; FRAMES]) {
    let piece = usize::try_from(address).map_or(FRAMES, |address| address / LARGEST);
    if let Some(is_free) = is_free.get_mut(piece)
        && !*is_free
    {
        *is_free = true;
        free.push(piece);
    }
}

/// One of the rings through which kernel and program hand each other entries: one of the
/// two puts them at `producer`, the other takes them at `consumer`. Both numbers only
/// grow, modulo 2^32.
struct Ring<T> {
    mapped: Mapped,
    producer: usize,
    consumer: usize,
    entries: usize,
    /// This side's number; the other side may not know it yet.
    own: u32,
    kind: PhantomData<T>,
}

/// Entries of each ring: a power of two.
const PLACES: u32 = 512;

impl<T: Copy> Ring<T> {
    /// Maps the ring of `socket` whose parts are at these `offsets`.
    fn open(
        socket: BorrowedFd<'_>,
        offsets: libc::xdp_ring_offset,
        page: libc::off_t,
    ) -> io::Result<Self> {
        let offset = |number: u64| usize::try_from(number).map_err(io::Error::other);
        let entries = offset(offsets.desc)?;
        let length = NonZeroUsize::new(entries + FRAMES * size_of::<T>());
        Ok(Self {
            mapped: Mapped::shared(socket, length.expect("there are frames"), page)?,
            producer: offset(offsets.producer)?,
            consumer: offset(offsets.consumer)?,
            entries,
            own: 0,
            kind: PhantomData,
        })
    }

    /// One of the two numbers.
    fn shared(&self, offset: usize) -> &AtomicU32 {
        let place = self.mapped.place(offset, size_of::<u32>());
        // SAFETY: the kernel said that a number is there, aligned; it is inside the
        // mapping, which lives as long as this value. The kernel changes it only in ways
        // that an atomic allows.
        unsafe { AtomicU32::from_ptr(place.as_ptr().cast()) }
    }

    /// The place of an entry.
    fn entry(&self, number: u32) -> NonNull<T> {
        let place = (number % PLACES) as usize;
        let offset = self.entries + place * size_of::<T>();
        self.mapped.place(offset, size_of::<T>()).cast()
    }
}

/// The ring to which the program adds.
impl<T: Copy> Ring<T> {
    /// Entries that the kernel has not taken.
    fn waiting(&self) -> u32 {
        let taken = self.shared(self.consumer).load(Ordering::Acquire);
        self.own.wrapping_sub(taken)
    }

    fn is_full(&self) -> bool {
        self.waiting() >= PLACES
    }

    /// Adds an entry, for which there is room; the kernel sees it after
    /// [`Ring::publish`].
    fn put(&mut self, entry: T) {
        // SAFETY: the place is inside the mapping and aligned, and the kernel leaves it
        // alone until the number is published.
        unsafe { self.entry(self.own).write(entry) };
        self.own = self.own.wrapping_add(1);
    }

    fn publish(&self) {
        self.shared(self.producer)
            .store(self.own, Ordering::Release);
    }
}

/// The ring to which the kernel adds.
impl<T: Copy> Ring<T> {
    /// Takes the oldest entry.
    fn take(&mut self) -> Option<T> {
        let put = self.shared(self.producer).load(Ordering::Acquire);
        if put == self.own {
            return None;
        }
        // SAFETY: the place is inside the mapping and aligned; the kernel has filled it
        // and leaves it alone until the number is published. Entries are numbers.
        let entry = unsafe { self.entry(self.own).read() };
        self.own = self.own.wrapping_add(1);
        self.shared(self.consumer)
            .store(self.own, Ordering::Release);
        Some(entry)
    }
}

fn number(size: usize) -> io::Result<u32> {
    u32::try_from(size).map_err(io::Error::other)
}

/// Sets an option that is plain data, which the kernel reads as bytes.
fn set<T>(socket: BorrowedFd<'_>, option: libc::c_int, value: &T) -> io::Result<()> {
    option::set_data(socket, libc::SOL_XDP, option, value)
}

/// The offsets of the parts of the rings in their mappings.
fn offsets(socket: BorrowedFd<'_>) -> io::Result<libc::xdp_mmap_offsets> {
    // SAFETY: the offsets are numbers.
    unsafe { option::data(socket, libc::SOL_XDP, libc::XDP_MMAP_OFFSETS) }
}

/// Binds the socket to the first queue of an interface, in copy mode.
fn bind(socket: BorrowedFd<'_>, interface: u32) -> io::Result<()> {
    let address = libc::sockaddr_xdp {
        sxdp_family: libc::AF_XDP.try_into().map_err(io::Error::other)?,
        sxdp_flags: libc::XDP_COPY,
        sxdp_ifindex: interface,
        sxdp_queue_id: 0,
        sxdp_shared_umem_fd: 0,
    };
    let length = libc::socklen_t::try_from(size_of_val(&address)).map_err(io::Error::other)?;
    // SAFETY: the address is of this length and outlives the call, which only reads it.
    let result = unsafe {
        libc::bind(
            socket.as_raw_fd(),
            std::ptr::from_ref(&address).cast(),
            length,
        )
    };
    match result < 0 {
        true => Err(io::Error::last_os_error()),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_free_once_however_often_it_is_returned() {
        let (mut free, mut is_free) = (vec![7], [false; FRAMES]);
        is_free[7] = true;
        for address in [3, 3, 7, FRAMES].map(|piece| (piece * LARGEST) as u64) {
            release(address, &mut free, &mut is_free);
        }
        release(u64::MAX, &mut free, &mut is_free);
        assert_eq!(free, [7, 3]);
    }
}
