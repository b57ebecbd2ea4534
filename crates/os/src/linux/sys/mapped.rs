//! Memory that is mapped, and unmapped with its owner.

use std::io;
use std::num::NonZeroUsize;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;

use nix::sys::mman::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};

/// A mapping for reading and writing.
pub(crate) struct Mapped {
    memory: NonNull<u8>,
    length: NonZeroUsize,
}

impl Mapped {
    /// The first `length` bytes behind `offset` of what `socket` shares with the kernel.
    pub(crate) fn shared(
        socket: BorrowedFd<'_>,
        length: NonZeroUsize,
        offset: libc::off_t,
    ) -> io::Result<Self> {
        let flags = MapFlags::MAP_SHARED | MapFlags::MAP_POPULATE;
        // SAFETY: a new mapping at a place of the kernel's choice.
        let memory = unsafe { mmap(None, length, Self::ACCESS, flags, socket, offset)? };
        Ok(Self {
            memory: memory.cast(),
            length,
        })
    }

    /// New memory of zeros, at the start of a page.
    pub(crate) fn zeros(length: NonZeroUsize) -> io::Result<Self> {
        let flags = MapFlags::MAP_PRIVATE | MapFlags::MAP_POPULATE;
        // SAFETY: as above.
        let memory = unsafe { mmap_anonymous(None, length, Self::ACCESS, flags)? };
        Ok(Self {
            memory: memory.cast(),
            length,
        })
    }

    const ACCESS: ProtFlags = ProtFlags::PROT_READ.union(ProtFlags::PROT_WRITE);

    /// Its bytes.
    pub(crate) const fn len(&self) -> usize {
        self.length.get()
    }

    /// The byte at `offset`, which is inside, with at least `room` bytes from there on.
    ///
    /// # Panics
    /// If it is not.
    pub(crate) fn place(&self, offset: usize, room: usize) -> NonNull<u8> {
        let end = offset.checked_add(room);
        assert!(end.is_some_and(|end| end <= self.len()), "it is inside");
        // SAFETY: inside the mapping, as checked above.
        unsafe { self.memory.add(offset) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and its owner keeps no reference into
        // it. A failure would mean that it is unmapped already.
        let _ = unsafe { munmap(self.memory.cast(), self.length.get()) };
    }
}
