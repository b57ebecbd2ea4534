//! The ring into which the kernel puts the frames of a packet socket, and from
//! which they are read without a system call [LinuxUapi if_packet.h].

use std::io;
use std::mem::size_of;
use std::num::NonZeroUsize;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use wire::protocol::vlan;

use super::packet::{HEADER, set};

/// Octets of memory of a ring at least: what comes in 67 ms at 1 Gbit/s.
const RING: usize = 8 << 20;
/// Frames that may wait at least. Where packets may be large, those that come may
/// be small all the same, and a datagram of 64 KiB is 45 of them.
const FEWEST: usize = 256;
/// Octets that the kernel allocates in one piece, as powers of two: the smallest
/// of which slots leave no more than an eighth unused.
const BLOCKS: std::ops::RangeInclusive<u32> = 16..=20;
/// Octets of a slot before the frame, at most: the header of the slot, an
/// address, alignment, and the header before the frame.
const BEFORE: usize = 128;

/// The frames that wait to be read, oldest first.
pub(crate) struct PacketRing {
    memory: NonNull<u8>,
    length: NonZeroUsize,
    block: usize,
    slot: usize,
    slots: usize,
    next: usize,
}

/// A frame in the ring.
pub(crate) struct Arrival<'a> {
    /// The virtio header, then the frame, as far as the slot had room.
    pub(crate) octets: &'a [u8],
    /// Octets of the whole frame, without the header.
    pub(crate) length: usize,
    /// The VLAN tag that the kernel took out of the frame.
    pub(crate) tag: Option<[u8; 4]>,
    /// When the kernel got it, in nanoseconds since 1970 on the wall clock.
    pub(crate) unix_nanos: u64,
    /// Whether that was taken when the frame came, not when it was put here.
    pub(crate) stamped: bool,
    /// Whether the whole frame waits in the socket too.
    pub(crate) in_socket: bool,
}

impl PacketRing {
    /// Gives `socket` a ring with room for frames of `largest` octets. What is
    /// larger is cut short, and can be received whole from the socket. The
    /// socket has its other options already, and is not bound yet.
    pub(crate) fn open(socket: BorrowedFd<'_>, largest: usize) -> io::Result<Self> {
        let slot = (BEFORE + largest).next_multiple_of(libc::TPACKET_ALIGNMENT);
        let block = block(slot);
        let per_block = block / slot;
        let blocks = (RING / block).max(FEWEST.div_ceil(per_block));
        let slots = blocks * per_block;
        let number = |number: usize| u32::try_from(number).map_err(io::Error::other);
        let version = libc::tpacket_versions::TPACKET_V2 as libc::c_int;
        set(socket, libc::PACKET_VERSION, &version)?;
        // Any frame that does not fit goes to the socket as well.
        set(socket, libc::PACKET_COPY_THRESH, &1i32)?;
        let request = libc::tpacket_req {
            tp_block_size: number(block)?,
            tp_block_nr: number(blocks)?,
            tp_frame_size: number(slot)?,
            tp_frame_nr: number(slots)?,
        };
        set(socket, libc::PACKET_RX_RING, &request)?;
        let length = NonZeroUsize::new(block * blocks).expect("a ring has blocks");
        // SAFETY: a new mapping at a place of the kernel's choice.
        let memory = unsafe {
            mmap(
                None,
                length,
                ProtFlags::PROT_READ | ProtFlags::PROT_WRITE,
                MapFlags::MAP_SHARED | MapFlags::MAP_POPULATE,
                socket,
                0,
            )?
        };
        Ok(Self {
            memory: memory.cast(),
            length,
            block,
            slot,
            slots,
            next: 0,
        })
    }

    /// Whether a frame waits.
    pub(crate) fn has_frame(&self) -> bool {
        self.status().load(Ordering::Acquire) & libc::TP_STATUS_USER != 0
    }

    /// Hands the oldest frame to `read` and gives its slot back to the kernel;
    /// `None` if no frame waits.
    pub(crate) fn take<T>(&mut self, read: impl FnOnce(&Arrival<'_>) -> T) -> Option<T> {
        let status = self.status().load(Ordering::Acquire);
        if status & libc::TP_STATUS_USER == 0 {
            return None;
        }
        let result = read(&self.arrival(status));
        self.status()
            .store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % self.slots;
        Some(result)
    }

    fn arrival(&self, status: u32) -> Arrival<'_> {
        // SAFETY: the kernel wrote a header at the start of the slot before it
        // gave the slot to us, and leaves it alone until it gets it back.
        let header = unsafe { self.place().cast::<libc::tpacket2_hdr>().read() };
        let start = usize::from(header.tp_mac).saturating_sub(HEADER);
        let end = usize::from(header.tp_mac).saturating_add(header.tp_snaplen as usize);
        let inside = start >= size_of::<libc::tpacket2_hdr>() && end <= self.slot;
        let (start, length) = if inside { (start, end - start) } else { (0, 0) };
        // SAFETY: the range is inside the slot, as was just checked; the slot
        // is ours until `take` gives it back, and lives as long as the mapping.
        let octets =
            unsafe { std::slice::from_raw_parts(self.place().add(start).as_ptr(), length) };
        let has = |flag| status & flag != 0;
        let kind = match has(libc::TP_STATUS_VLAN_TPID_VALID) {
            true => header.tp_vlan_tpid,
            // Where the kernel names none.
            false => vlan::CUSTOMER,
        };
        let tag = has(libc::TP_STATUS_VLAN_VALID).then(|| {
            let [a, b] = kind.to_be_bytes();
            let [c, d] = header.tp_vlan_tci.to_be_bytes();
            [a, b, c, d]
        });
        Arrival {
            octets,
            length: header.tp_len as usize,
            tag,
            unix_nanos: u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec),
            stamped: has(libc::TP_STATUS_TS_SOFTWARE),
            in_socket: has(libc::TP_STATUS_COPY),
        }
    }

    /// The word by which the slot changes hands.
    fn status(&self) -> &AtomicU32 {
        // SAFETY: the first field of the slot's header is this word; slots are
        // aligned to 16 octets and live as long as the mapping. The kernel
        // writes it only in ways that an atomic allows.
        unsafe { AtomicU32::from_ptr(self.place().as_ptr().cast()) }
    }

    /// The start of the next slot.
    fn place(&self) -> NonNull<u8> {
        let per_block = self.block / self.slot;
        let offset = self.next / per_block * self.block + self.next % per_block * self.slot;
        // SAFETY: `next` is below the number of slots, so that the offset is
        // inside the mapping.
        unsafe { self.memory.add(offset) }
    }
}

/// Octets of a block for slots of `slot` octets.
fn block(slot: usize) -> usize {
    BLOCKS
        .map(|power| 1 << power)
        .find(|&block| block >= slot && block % slot <= block / 8)
        .unwrap_or_else(|| slot.next_power_of_two())
}

impl Drop for PacketRing {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and no reference into it
        // outlives this value. That it fails would mean it is gone already.
        let _ = unsafe { munmap(self.memory.cast(), self.length.get()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_used_up_by_their_slots() {
        // Frames of MTU 1500, 9000 and 65 535, each with what is before it.
        assert_eq!(block(1_648), 1 << 16);
        assert_eq!(block(9_152), 1 << 16);
        assert_eq!(block(65_696), 1 << 19);
        for slot in (16..70_000).step_by(16) {
            let block = block(slot);
            assert!(block >= slot && block.is_power_of_two() && block <= 1 << 20);
        }
    }
}
