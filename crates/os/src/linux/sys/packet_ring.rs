//! The receive ring of a packet socket, from which frames are read without a system
//! call [LinuxUapi if_packet.h].

use std::io;
use std::mem::size_of;
use std::num::NonZeroUsize;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use wire::protocol::vlan;

use super::mapped::Mapped;
use super::packet::{HEADER, set};

/// Minimum size of a ring in bytes: the data of 67 ms at 1 Gbit/s.
const RING: usize = 8 << 20;
/// Minimum number of slots. Even if packets may be large, small ones may arrive, and a
/// datagram of 64 KiB makes 45 of them.
const FEWEST: usize = 256;
/// Sizes of the kernel's allocations, as powers of two. The smallest whose slots leave
/// at most an eighth unused is taken.
const BLOCKS: std::ops::RangeInclusive<u32> = 16..=20;
/// Maximum bytes of a slot in front of the frame: the slot's header, an address,
/// alignment, and the virtio header.
const BEFORE: usize = 128;

/// A ring of frames waiting to be read, oldest first.
pub(crate) struct PacketRing {
    mapped: Mapped,
    block: usize,
    slot: usize,
    per_block: usize,
    next: Place,
}

/// The place of a slot: a step to the next one needs no division.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    /// The offset of its block, and its own.
    block: usize,
    slot: usize,
    /// The slots before it in its block.
    before: usize,
}

impl Place {
    /// The place of the slot behind it, of `per_block` slots of `slot` bytes in each block
    /// of `block` bytes, in a ring of `length` bytes.
    fn step(&mut self, slot: usize, per_block: usize, block: usize, length: usize) {
        self.before += 1;
        self.slot += slot;
        if self.before == per_block {
            self.before = 0;
            self.block += block;
            if self.block == length {
                self.block = 0;
            }
            self.slot = self.block;
        }
    }
}

/// A frame in the ring.
pub(crate) struct Arrival<'a> {
    /// The virtio header, then the frame, truncated to the slot.
    pub(crate) bytes: &'a [u8],
    /// Bytes of the whole frame, without the header.
    pub(crate) length: usize,
    /// The VLAN tag that the kernel removed from the frame.
    pub(crate) tag: Option<[u8; 4]>,
    /// The kernel's receive timestamp, in nanoseconds since 1970 on the wall clock.
    pub(crate) unix_nanos: u64,
    /// Whether the timestamp was taken on arrival, not when the frame entered the ring.
    pub(crate) stamped: bool,
    /// Whether the whole frame waits in the socket, too.
    pub(crate) in_socket: bool,
}

impl PacketRing {
    /// Adds a ring to `socket` with room for frames of `largest` bytes. Larger frames
    /// are truncated, and can be received whole from the socket. The socket must have
    /// its other options already, and must not be bound yet.
    pub(crate) fn open(socket: BorrowedFd<'_>, largest: usize) -> io::Result<Self> {
        let slot = (BEFORE + largest).next_multiple_of(libc::TPACKET_ALIGNMENT);
        let block = block(slot);
        let per_block = block / slot;
        let blocks = (RING / block).max(FEWEST.div_ceil(per_block));
        let slots = blocks * per_block;
        let number = |number: usize| u32::try_from(number).map_err(io::Error::other);
        let version = libc::tpacket_versions::TPACKET_V2 as libc::c_int;
        set(socket, libc::PACKET_VERSION, &version)?;
        // A frame that does not fit is also queued in the socket.
        set(socket, libc::PACKET_COPY_THRESH, &1i32)?;
        let request = libc::tpacket_req {
            tp_block_size: number(block)?,
            tp_block_nr: number(blocks)?,
            tp_frame_size: number(slot)?,
            tp_frame_nr: number(slots)?,
        };
        set(socket, libc::PACKET_RX_RING, &request)?;
        let length = NonZeroUsize::new(block * blocks).expect("a ring has blocks");
        Ok(Self {
            mapped: Mapped::shared(socket, length, 0)?,
            block,
            slot,
            per_block,
            next: Place::default(),
        })
    }

    /// Whether a frame is waiting.
    pub(crate) fn has_frame(&self) -> bool {
        self.status().load(Ordering::Acquire) & libc::TP_STATUS_USER != 0
    }

    /// Passes the oldest frame to `read` and returns its slot to the kernel; `None` if
    /// no frame is waiting.
    pub(crate) fn take<T>(&mut self, read: impl FnOnce(&Arrival<'_>) -> T) -> Option<T> {
        let status = self.status().load(Ordering::Acquire);
        if status & libc::TP_STATUS_USER == 0 {
            return None;
        }
        let result = read(&self.arrival(status));
        self.status()
            .store(libc::TP_STATUS_KERNEL, Ordering::Release);
        let length = self.mapped.len();
        self.next
            .step(self.slot, self.per_block, self.block, length);
        Some(result)
    }

    fn arrival(&self, status: u32) -> Arrival<'_> {
        // SAFETY: the kernel wrote a header at the start of the slot before it passed
        // the slot to this process, and leaves it alone until the slot is returned.
        let header = unsafe { self.place().cast::<libc::tpacket2_hdr>().read() };
        let start = usize::from(header.tp_mac).saturating_sub(HEADER);
        let end = usize::from(header.tp_mac).saturating_add(header.tp_snaplen as usize);
        let inside = start >= size_of::<libc::tpacket2_hdr>() && end <= self.slot;
        let (start, length) = if inside { (start, end - start) } else { (0, 0) };
        // SAFETY: the range is inside the slot, as checked above; the slot belongs to
        // this process until `take` returns it, and lives as long as the mapping.
        let bytes = unsafe { std::slice::from_raw_parts(self.place().add(start).as_ptr(), length) };
        let has = |flag| status & flag != 0;
        let kind = match has(libc::TP_STATUS_VLAN_TPID_VALID) {
            true => header.tp_vlan_tpid,
            // The default if the kernel names none.
            false => vlan::CUSTOMER,
        };
        let tag = has(libc::TP_STATUS_VLAN_VALID).then(|| {
            let [a, b] = kind.to_be_bytes();
            let [c, d] = header.tp_vlan_tci.to_be_bytes();
            [a, b, c, d]
        });
        Arrival {
            bytes,
            length: header.tp_len as usize,
            tag,
            unix_nanos: u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec),
            stamped: has(libc::TP_STATUS_TS_SOFTWARE),
            in_socket: has(libc::TP_STATUS_COPY),
        }
    }

    /// The status word, which passes the slot between kernel and process.
    fn status(&self) -> &AtomicU32 {
        // SAFETY: the first field of the slot's header is this word; slots are
        // aligned to 16 bytes and live as long as the mapping. The kernel
        // writes it only in ways that an atomic allows.
        unsafe { AtomicU32::from_ptr(self.place().as_ptr().cast()) }
    }

    /// The start of the next slot.
    fn place(&self) -> NonNull<u8> {
        self.mapped.place(self.next.slot, self.slot)
    }
}

/// Bytes of a block for slots of `slot` bytes.
fn block(slot: usize) -> usize {
    BLOCKS
        .map(|power| 1 << power)
        .find(|&block| block >= slot && block % slot <= block / 8)
        .unwrap_or_else(|| slot.next_power_of_two())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_follow_each_other_through_all_blocks_and_begin_again() {
        for (slot, per_block, block, blocks) in [
            (1_648, 39, 1 << 16, 128),
            (16, 1, 16, 1),
            (48, 1, 64, 3),
            (16, 4, 64, 2),
        ] {
            let mut place = Place::default();
            for number in 0..3 * per_block * blocks {
                let number = number % (per_block * blocks);
                let expected = number / per_block * block + number % per_block * slot;
                assert_eq!(place.slot, expected, "{number} of {slot}");
                place.step(slot, per_block, block, block * blocks);
            }
            assert_eq!(place, Place::default());
        }
    }

    #[test]
    fn blocks_are_used_up_by_their_slots() {
        // Frames of MTU 1500, 9000 and 65 535, each with the bytes in front of it.
        assert_eq!(block(1_648), 1 << 16);
        assert_eq!(block(9_152), 1 << 16);
        assert_eq!(block(65_696), 1 << 19);
        for slot in (16..70_000).step_by(16) {
            let block = block(slot);
            assert!(block >= slot && block.is_power_of_two() && block <= 1 << 20);
        }
    }
}
