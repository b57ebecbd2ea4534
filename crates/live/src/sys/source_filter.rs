//! Programs of the kernel that look at the sources of packets for a socket (classic BPF)
//! [LinuxUapi filter.h].

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;

use libc::sock_filter;

use super::option::set_data;

/// Octets of a TCP header that are read, from its start [RFC9293 s3.1].
const FLAGS: u32 = 13;
const SYN: u32 = 0x02;
const SYN_RST_ACK: u32 = 0x16;

/// The verdicts of a socket's program: all octets, or none.
const ACCEPTED: u32 = u32::MAX;
const REFUSED: u32 = 0;

/// Offsets count from the IP header behind this one.
const IP_HEADER: u32 = libc::SKF_NET_OFF.cast_unsigned();

/// Limits who may begin a connection at a listening socket to `peer`; `None`: nobody may. The
/// kernel answers no SYN of others, and counts it among the packets that the socket dropped
/// ([`option::dropped`](super::option::dropped)).
pub(crate) fn limit_to(listener: BorrowedFd<'_>, peer: Option<SocketAddr>) -> io::Result<()> {
    attach(listener, libc::SO_ATTACH_FILTER, &mut of_listener(peer))
}

/// Removes that limit from a socket, which a connection has inherited from its listener.
pub(crate) fn lift(connection: BorrowedFd<'_>) -> io::Result<()> {
    super::option::set(connection, libc::SOL_SOCKET, libc::SO_DETACH_FILTER, 0)
}

/// Gives datagrams from `peers` to the first socket of a group that shares a port, and those
/// from others to the second. Some from others may come to the first: the ports of an
/// address are a range here, and options of IP are not skipped.
pub(crate) fn divide(group: BorrowedFd<'_>, peers: &[SocketAddr]) -> io::Result<()> {
    let mut program = of_group(peers);
    attach(group, libc::SO_ATTACH_REUSEPORT_CBPF, &mut program)
}

fn attach(
    socket: BorrowedFd<'_>,
    option: libc::c_int,
    program: &mut [sock_filter],
) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: u16::try_from(program.len()).map_err(io::Error::other)?,
        filter: program.as_mut_ptr(),
    };
    // The kernel copies the instructions during the call.
    set_data(socket, libc::SOL_SOCKET, option, &program)
}

/// Packets of a socket begin with the TCP header.
fn of_listener(peer: Option<SocketAddr>) -> Vec<sock_filter> {
    // What begins no connection is the kernel's to judge.
    let other = Check {
        mask: SYN_RST_ACK,
        ..Check::octet(FLAGS, Is::Not(SYN))
    };
    let own = peer.map(|peer| {
        let port = Check::port(0, Is::Equal(peer.port().into()));
        std::iter::once(port).chain(of_source(peer.ip())).collect()
    });
    let rules = std::iter::once(vec![other]).chain(own);
    program(rules.map(|rule| (rule, ACCEPTED)), REFUSED)
}

/// Packets of a group begin with the payload, so that the port is read behind the IP header.
/// The verdicts are places in the group.
fn of_group(peers: &[SocketAddr]) -> Vec<sock_filter> {
    let mut ranges = BTreeMap::new();
    for peer in peers {
        let port = u32::from(peer.port());
        let (first, last) = ranges.entry(peer.ip()).or_insert((port, port));
        (*first, *last) = (port.min(*first), port.max(*last));
    }
    let rules = ranges.into_iter().map(|(address, (first, last))| {
        let behind = match address {
            IpAddr::V4(_) => IP_HEADER + 20,
            IpAddr::V6(_) => IP_HEADER + 40,
        };
        let ports = [Is::AtLeast(first), Is::AtMost(last)];
        let ports = ports.map(|is| Check::port(behind, is));
        (of_source(address).chain(ports).collect(), 0)
    });
    program(rules, 1)
}

/// The checks of a packet's source address.
fn of_source(address: IpAddr) -> impl Iterator<Item = Check> {
    let (at, octets) = match address {
        IpAddr::V4(address) => (12, address.octets().to_vec()),
        IpAddr::V6(address) => (8, address.octets().to_vec()),
    };
    let (words, _) = octets.as_chunks::<4>();
    let words: Vec<u32> = words.iter().map(|word| u32::from_be_bytes(*word)).collect();
    let places = (IP_HEADER + at..).step_by(4);
    places
        .zip(words)
        .map(|(place, word)| Check::new(libc::BPF_W, place, Is::Equal(word)))
}

/// A check of a number in a packet.
struct Check {
    size: u32,
    place: u32,
    mask: u32,
    is: Is,
}

/// What the number is to be.
enum Is {
    Equal(u32),
    Not(u32),
    AtLeast(u32),
    AtMost(u32),
}

impl Check {
    const fn new(size: u32, place: u32, is: Is) -> Self {
        Self {
            size,
            place,
            mask: u32::MAX,
            is,
        }
    }

    const fn octet(place: u32, is: Is) -> Self {
        Self::new(libc::BPF_B, place, is)
    }

    const fn port(place: u32, is: Is) -> Self {
        Self::new(libc::BPF_H, place, is)
    }
}

/// The verdict of the first of `rules` all of whose checks hold, or else `otherwise`.
fn program(rules: impl Iterator<Item = (Vec<Check>, u32)>, otherwise: u32) -> Vec<sock_filter> {
    /// Load, mask and jump.
    const OF_CHECK: usize = 3;
    let mut program = Vec::new();
    for (checks, verdict) in rules {
        for (number, check) in checks.iter().enumerate() {
            // Behind the checks that are left, and the verdict.
            let left = OF_CHECK * (checks.len() - number - 1) + 1;
            let past = u8::try_from(left).unwrap_or(u8::MAX);
            let (jump, value, [holds, fails]) = match check.is {
                Is::Equal(value) => (libc::BPF_JEQ, value, [0, past]),
                Is::Not(value) => (libc::BPF_JEQ, value, [past, 0]),
                Is::AtLeast(value) => (libc::BPF_JGE, value, [0, past]),
                Is::AtMost(value) => (libc::BPF_JGT, value, [past, 0]),
            };
            program.extend([
                instruction(libc::BPF_LD | check.size | libc::BPF_ABS, check.place),
                instruction(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, check.mask),
                sock_filter {
                    jt: holds,
                    jf: fails,
                    ..instruction(libc::BPF_JMP | jump | libc::BPF_K, value)
                },
            ]);
        }
        program.push(instruction(libc::BPF_RET | libc::BPF_K, verdict));
    }
    program.push(instruction(libc::BPF_RET | libc::BPF_K, otherwise));
    program
}

/// Codes are below 256.
fn instruction(code: u32, constant: u32) -> sock_filter {
    sock_filter {
        code: u16::try_from(code).unwrap_or(u16::MAX),
        jt: 0,
        jf: 0,
        k: constant,
    }
}
