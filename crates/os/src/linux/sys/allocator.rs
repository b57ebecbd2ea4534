//! Memory from the system, whose end is an error in words.

use std::alloc::{GlobalAlloc, Layout};

#[cfg(target_env = "musl")]
use dlmalloc::GlobalDlmalloc as Memory;
#[cfg(not(target_env = "musl"))]
use std::alloc::System as Memory;

/// The exit code of a command that could not do its work.
const COULD_NOT: libc::c_int = 2;

/// The allocator of the program: that of the system, or one of its own with musl, which maps
/// and unmaps memory for every other queue of a simulation. Where no memory is left, it ends the
/// process with a line on standard error, because the library would abort it.
#[derive(Debug)]
pub struct Allocator;

// SAFETY: `Memory` allocates; a failed call does not return.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the rules of `alloc`.
        checked(unsafe { Memory.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the rules of `alloc_zeroed`.
        checked(unsafe { Memory.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the rules of `realloc`.
        checked(unsafe { Memory.realloc(memory, layout, size) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the rules of `dealloc`.
        unsafe { Memory.dealloc(memory, layout) }
    }
}

/// The address of what was allocated.
fn checked(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        out_of_memory();
    }
    memory
}

/// Ends the process. Nothing here allocates.
#[cold]
fn out_of_memory() -> ! {
    const LINE: &[u8] = b"error: memory: the system has no more memory, or the limit of ulimit -v is reached; free some, or ask for less at once\n";
    // SAFETY: the line lives forever, and `_exit` does not return.
    unsafe {
        libc::write(libc::STDERR_FILENO, LINE.as_ptr().cast(), LINE.len());
        libc::_exit(COULD_NOT)
    }
}
