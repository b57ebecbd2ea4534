//! Calls of macOS and FreeBSD.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd as _;

use socket2::{Domain, Socket, Type};
#[cfg(target_os = "freebsd")]
use units::Bytes;
use units::Span;

#[cfg(target_os = "freebsd")]
use crate::portable::socket_parts::SegmentState;

/// Processor time of this process in user mode and in the kernel [getrusage(2)].
pub(crate) fn process_times() -> io::Result<[Span; 2]> {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: it fills the structure, which is valid with zeros, too.
    let usage = unsafe {
        succeeded(libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()))?;
        usage.assume_init()
    };
    Ok([usage.ru_utime, usage.ru_stime].map(|time| {
        let micros = i128::from(time.tv_sec) * 1_000_000 + i128::from(time.tv_usec);
        Span::from_micros(u64::try_from(micros).unwrap_or(0))
    }))
}

/// The clock of `Instant`, which counts while the machine sleeps on FreeBSD alone.
#[cfg(target_os = "macos")]
const CLOCK: libc::clockid_t = libc::CLOCK_UPTIME_RAW;
#[cfg(target_os = "freebsd")]
const CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC;

/// The resolution of the monotonic clock [clock_getres(2)].
pub(crate) fn clock_resolution() -> io::Result<Span> {
    let mut step = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: it fills the structure, which is valid with zeros, too.
    let step = unsafe {
        succeeded(libc::clock_getres(CLOCK, step.as_mut_ptr()))?;
        step.assume_init()
    };
    Ok(Span::from_nanos(u64::try_from(step.tv_nsec).unwrap_or(0)))
}

/// The ticks in a second of the processors' account.
pub(crate) fn ticks_per_second() -> u64 {
    // SAFETY: it takes a number.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    u64::try_from(ticks).unwrap_or(0).max(1)
}

/// The offloads by which an interface takes or returns more than its MTU at once, by the names
/// that `ifconfig` prints, and the bits of the system for them [FreeBsdIfCap] [XnuIfCap].
#[cfg(target_os = "freebsd")]
const OFFLOADS: [(&str, libc::c_int); 3] = [
    ("TSO4", libc::IFCAP_TSO4),
    ("TSO6", libc::IFCAP_TSO6),
    ("LRO", libc::IFCAP_LRO),
];
#[cfg(target_os = "macos")]
const OFFLOADS: [(&str, libc::c_int); 3] = [("TSO4", 0x20), ("TSO6", 0x40), ("LRO", 0x80)];

/// The number of the request for what an interface can do and does.
#[cfg(target_os = "freebsd")]
const GET_CAPABILITIES: libc::c_ulong = request(31);
#[cfg(target_os = "macos")]
const GET_CAPABILITIES: libc::c_ulong = request(91);

/// The number of a request about an interface that reads and writes a structure.
const fn request(number: libc::c_ulong) -> libc::c_ulong {
    0xc000_0000
        | (size_of::<libc::ifreq>() as libc::c_ulong) << 16
        | (b'i' as libc::c_ulong) << 8
        | number
}

/// The offloads of an interface that are on.
pub(crate) fn offloads(interface: &str) -> io::Result<Vec<String>> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
    let mut asked = MaybeUninit::<libc::ifreq>::zeroed();
    // SAFETY: the structure is valid with zeros; the name is copied with at least one zero
    // behind it; the request fills the two numbers of capabilities.
    let on = unsafe {
        let asked = asked.assume_init_mut();
        let room = asked.ifr_name.len() - 1;
        for (place, byte) in asked.ifr_name[..room].iter_mut().zip(interface.bytes()) {
            *place = byte.cast_signed();
        }
        succeeded(libc::ioctl(
            socket.as_raw_fd(),
            GET_CAPABILITIES,
            std::ptr::from_mut(asked),
        ))?;
        asked.ifr_ifru.ifru_cap[1]
    };
    let on = OFFLOADS.iter().filter(|(_, bit)| on & bit != 0);
    Ok(on.map(|(name, _)| (*name).to_owned()).collect())
}

/// The congestion control of connections that choose none [FreeBsdCc].
#[cfg(target_os = "freebsd")]
pub(crate) fn congestion_control() -> io::Result<String> {
    let mut name = [0_u8; 64];
    let mut size = size_of_val(&name);
    // SAFETY: the name of the value ends with a zero, and the room has `size` bytes.
    succeeded(unsafe {
        libc::sysctlbyname(
            c"net.inet.tcp.cc.algorithm".as_ptr(),
            name.as_mut_ptr().cast(),
            &raw mut size,
            std::ptr::null(),
            0,
        )
    })?;
    let length = name.iter().position(|byte| *byte == 0);
    Ok(String::from_utf8_lossy(&name[..length.unwrap_or(name.len())]).into_owned())
}

/// A connection as macOS states it: `struct tcp_connection_info`, whose fourteenth number is one
/// of bits [XnuTcp].
#[cfg(target_os = "macos")]
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ConnectionInfo {
    pub(crate) numbers: [u32; 14],
    pub(crate) counts: [u64; 7],
}

/// A connection as macOS states it.
#[cfg(target_os = "macos")]
pub(crate) fn connection_info(socket: &Socket) -> io::Result<ConnectionInfo> {
    tcp_option(socket, libc::TCP_CONNECTION_INFO)
}

/// The segments of a connection as FreeBSD states them [FreeBsdTcp].
#[cfg(target_os = "freebsd")]
pub(crate) fn segment_state(socket: &Socket) -> io::Result<SegmentState> {
    /// The flag of timestamps, which take their bytes from each segment.
    const TIMESTAMPS: u8 = 1;
    /// FIONWRITE: the bytes in the send buffer.
    const UNSENT: libc::c_ulong = 0x4004_6677;
    let info: libc::tcp_info = tcp_option(socket, libc::TCP_INFO)?;
    let segment: libc::c_int = tcp_option(socket, libc::TCP_MAXSEG)?;
    let mut waits: libc::c_int = 0;
    // SAFETY: the request writes a number.
    succeeded(unsafe { libc::ioctl(socket.as_raw_fd(), UNSENT, &raw mut waits) })?;
    let number = |number: libc::c_int| u64::try_from(number).unwrap_or(0);
    Ok(SegmentState {
        segment: Bytes::new(number(segment)),
        has_timestamps: info.tcpi_options & TIMESTAMPS != 0,
        round_trip: (info.tcpi_rtt > 0).then(|| Span::from_micros(info.tcpi_rtt.into())),
        window: Bytes::new(info.tcpi_snd_wnd.into()),
        unacknowledged: number(waits),
        sent_again: info.tcpi_snd_rexmitpack.into(),
    })
}

/// An option of TCP that is plain data.
fn tcp_option<T: Copy>(socket: &Socket, name: libc::c_int) -> io::Result<T> {
    let mut value = MaybeUninit::<T>::zeroed();
    let mut size = libc::socklen_t::try_from(size_of::<T>()).map_err(io::Error::other)?;
    // SAFETY: the room has `size` bytes, and the callers' types are valid with any bytes.
    unsafe {
        succeeded(libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            name,
            value.as_mut_ptr().cast(),
            &raw mut size,
        ))?;
        Ok(value.assume_init())
    }
}

/// Whether this process has the rights of root.
pub(crate) fn is_root() -> bool {
    // SAFETY: it takes nothing.
    unsafe { libc::geteuid() == 0 }
}

/// Ticks of all processors together: of programs, in the kernel, and idle [MachHostStatistics].
#[cfg(target_os = "macos")]
pub(crate) fn processor_ticks() -> io::Result<[u64; 3]> {
    let mut load = MaybeUninit::<libc::host_cpu_load_info>::zeroed();
    let mut count = libc::HOST_CPU_LOAD_INFO_COUNT;
    // SAFETY: the structure has as many numbers as `count` says.
    let load = unsafe {
        #[expect(
            deprecated,
            reason = "the crate that has it now has nothing else for us"
        )]
        let host = libc::mach_host_self();
        let info = load.as_mut_ptr().cast();
        let result = libc::host_statistics64(host, libc::HOST_CPU_LOAD_INFO, info, &raw mut count);
        if result != libc::KERN_SUCCESS {
            return Err(io::Error::other(format!("host_statistics64: {result}")));
        }
        load.assume_init()
    };
    let of = |state: libc::c_int| u64::from(load.cpu_ticks[usize::try_from(state).unwrap_or(0)]);
    Ok([
        of(libc::CPU_STATE_USER) + of(libc::CPU_STATE_NICE),
        of(libc::CPU_STATE_SYSTEM),
        of(libc::CPU_STATE_IDLE),
    ])
}

/// Ticks of all processors together: of programs, in the kernel with interrupts, and idle
/// [FreeBsdCpTime].
#[cfg(target_os = "freebsd")]
pub(crate) fn processor_ticks() -> io::Result<[u64; 3]> {
    // User, nice, system, interrupt, idle.
    let mut ticks: [libc::c_long; 5] = [0; 5];
    let mut size = size_of_val(&ticks);
    // SAFETY: the name ends with a zero, and the room has `size` bytes.
    succeeded(unsafe {
        libc::sysctlbyname(
            c"kern.cp_time".as_ptr(),
            ticks.as_mut_ptr().cast(),
            &raw mut size,
            std::ptr::null(),
            0,
        )
    })?;
    let [user, nice, system, interrupt, idle] =
        ticks.map(|ticks| u64::try_from(ticks).unwrap_or(0));
    Ok([user + nice, system + interrupt, idle])
}

fn succeeded(result: libc::c_int) -> io::Result<()> {
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
