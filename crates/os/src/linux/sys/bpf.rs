//! The kernel's packet programs (BPF), limited to redirecting packets from one
//! interface to another [LinuxUapi bpf.h].
//!
//! A program of four instructions needs no assembler, and a link of the kind `tcx`
//! needs no queueing discipline: it is removed with its descriptor.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Commands of bpf(2).
const PROG_LOAD: libc::c_long = 5;
const LINK_CREATE: libc::c_long = 28;
/// Programs that classify packets.
const SCHED_CLS: u32 = 3;

/// The point at which a program sees packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook {
    /// On arrival.
    Ingress = 46,
    /// On departure.
    Egress = 47,
}

/// The destination of every packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketOutcome {
    /// The input of another interface of the namespace.
    Into(u32),
    /// The input of the far end of a veth pair with one end here.
    IntoPeerOf(u32),
}

/// An instruction: opcode, registers, offset and constant.
#[repr(C)]
#[derive(Clone, Copy)]
struct Instruction {
    code: u8,
    registers: u8,
    offset: i16,
    constant: u32,
}

/// The fields of `attr` for PROG_LOAD that are used.
#[repr(C)]
struct Load {
    kind: u32,
    count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
}

/// The fields of `attr` for LINK_CREATE that are used.
#[repr(C)]
struct Create {
    program: u32,
    interface: u32,
    hook: u32,
    flags: u32,
    /// The program relative to which this one is ordered: none.
    relative: [u64; 4],
}

/// Sends every packet at `hook` of `interface` to its `outcome`, while the descriptor is
/// open.
pub fn attach(interface: u32, hook: Hook, outcome: PacketOutcome) -> io::Result<OwnedFd> {
    let instructions = program(outcome);
    let load = Load {
        kind: SCHED_CLS,
        count: u32::try_from(instructions.len()).map_err(io::Error::other)?,
        instructions: instructions.as_ptr() as u64,
        license: c"MIT".as_ptr() as u64,
        log_level: 0,
        log_size: 0,
        log: 0,
        kernel_version: 0,
        flags: 0,
    };
    // SAFETY: the instructions and the license outlive the call.
    let program = unsafe { call(PROG_LOAD, &load) }?;
    let create = Create {
        program: u32::try_from(program.as_raw_fd()).map_err(io::Error::other)?,
        interface,
        hook: hook as u32,
        flags: 0,
        relative: [0; 4],
    };
    // SAFETY: it holds numbers only.
    unsafe { call(LINK_CREATE, &create) }
}

/// `return redirect(interface, flags)`, or `redirect_peer`.
fn program(outcome: PacketOutcome) -> [Instruction; 4] {
    const SET: u8 = 0xb7;
    const CALL: u8 = 0x85;
    const EXIT: u8 = 0x95;
    const REDIRECT: u32 = 23;
    const REDIRECT_PEER: u32 = 155;
    const INGRESS: u32 = 1;
    let (interface, flags, function) = match outcome {
        PacketOutcome::Into(interface) => (interface, INGRESS, REDIRECT),
        PacketOutcome::IntoPeerOf(interface) => (interface, 0, REDIRECT_PEER),
    };
    let instruction = |code, registers, constant| Instruction {
        code,
        registers,
        offset: 0,
        constant,
    };
    [
        instruction(SET, 1, interface),
        instruction(SET, 2, flags),
        instruction(CALL, 0, function),
        instruction(EXIT, 0, 0),
    ]
}

/// Calls bpf(2).
///
/// # Safety
/// Addresses in `attributes` must be valid for the command.
unsafe fn call<T>(command: libc::c_long, attributes: &T) -> io::Result<OwnedFd> {
    // SAFETY: the kernel reads this many bytes of the attributes; the caller
    // guarantees that their addresses are valid.
    let result = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            command,
            std::ptr::from_ref(attributes),
            size_of::<T>(),
        )
    };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    let descriptor = i32::try_from(result).map_err(io::Error::other)?;
    // SAFETY: the kernel has just opened it for this process, closed on exec.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}
