//! Echo requests by the service of Windows for them, which every user may call
//! [IcmpSendEcho2] [Icmp6SendEcho2].
#![expect(unsafe_code, reason = "no crate wraps these calls")]

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ptr::{null, null_mut};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Builder;

use windows_sys::Win32::Foundation::INVALID_HANDLE_VALUE;
use windows_sys::Win32::NetworkManagement::IpHelper::{
    ICMP_ECHO_REPLY, ICMPV6_ECHO_REPLY_LH, IP_DEST_HOST_UNREACHABLE, IP_DEST_NET_UNREACHABLE,
    IP_DEST_PORT_UNREACHABLE, IP_DEST_PROT_UNREACHABLE, IP_FLAG_DF, IP_OPTION_INFORMATION,
    IP_PACKET_TOO_BIG, IP_SUCCESS, IP_TTL_EXPIRED_TRANSIT, Icmp6CreateFile, Icmp6SendEcho2,
    IcmpCloseHandle, IcmpCreateFile, IcmpSendEcho2,
};
use windows_sys::Win32::Networking::WinSock::{AF_INET6, IN6_ADDR, IN6_ADDR_0, SOCKADDR_IN6};

use super::{EchoAnswer, EchoKind, EchoRequest};
use crate::error::{OperationContext, Result};

/// The longest wait for an answer, in milliseconds.
const LONGEST: u32 = 3_000;

/// The hop limit of Windows, unless somebody changed it.
const HOP_LIMIT: u8 = 128;

/// Bytes behind the data of a reply: an ICMP error, and the state of the call.
const BEHIND: usize = 8 + 64;

/// Echo requests. Each waits for its answer in a thread of its own: a call
/// that does not wait has the system write to memory of the program later.
#[derive(Debug)]
pub struct Echoes {
    ended: Receiver<Option<EchoAnswer>>,
    end: Sender<Option<EchoAnswer>>,
    waiting: usize,
}

impl Echoes {
    /// Looks whether the service is there.
    ///
    /// # Errors
    /// The system's.
    pub fn open(to: IpAddr) -> Result<Self> {
        Service::open(to).during(|| "opening the service of echo requests")?;
        let (end, ended) = channel();
        Ok(Self {
            ended,
            end,
            waiting: 0,
        })
    }

    /// Sends a request. One that the system rejects at once is lost.
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn send(&mut self, request: EchoRequest) -> Result<()> {
        let end = self.end.clone();
        let thread = Builder::new().name("echo".to_owned()).spawn(move || {
            // The investigation may be over by now.
            let _ = end.send(answer(request));
        });
        thread.during(|| "starting a thread for an echo request")?;
        self.waiting += 1;
        Ok(())
    }

    /// The answers since the last call.
    pub fn arrived(&mut self) -> Vec<EchoAnswer> {
        let ended: Vec<Option<EchoAnswer>> = self.ended.try_iter().collect();
        self.waiting = self.waiting.saturating_sub(ended.len());
        ended.into_iter().flatten().collect()
    }

    /// Whether answers are waited for.
    pub fn is_waiting(&self) -> bool {
        self.waiting > 0
    }
}

/// The service of Windows for echo requests.
struct Service(windows_sys::Win32::Foundation::HANDLE);

impl Service {
    fn open(to: IpAddr) -> io::Result<Self> {
        // SAFETY: the calls have no arguments.
        let handle = match to {
            IpAddr::V4(_) => unsafe { IcmpCreateFile() },
            IpAddr::V6(_) => unsafe { Icmp6CreateFile() },
        };
        match handle {
            INVALID_HANDLE_VALUE => Err(io::Error::last_os_error()),
            handle => Ok(Self(handle)),
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // SAFETY: the service is open.
        unsafe { IcmpCloseHandle(self.0) };
    }
}

/// Sends a request and waits for its answer; `None` if there is none.
fn answer(request: EchoRequest) -> Option<EchoAnswer> {
    let service = Service::open(request.to).ok()?;
    let mut data = vec![0_u8; request.length];
    for (place, byte) in data.iter_mut().zip(request.number.to_be_bytes()) {
        *place = byte;
    }
    // IPv6 has no such flag: no router divides its packets.
    let flags = if request.to.is_ipv4() { IP_FLAG_DF } else { 0 };
    let options = IP_OPTION_INFORMATION {
        Ttl: request.hop_limit.unwrap_or(HOP_LIMIT),
        Tos: 0,
        Flags: u8::try_from(flags).unwrap_or(0),
        OptionsSize: 0,
        OptionsData: null_mut(),
    };
    let (from, status, length) = match request.to {
        IpAddr::V4(to) => of_four(&service, to, &data, &options)?,
        IpAddr::V6(to) => of_six(&service, to, &data, &options)?,
    };
    let kind = match status {
        IP_SUCCESS => EchoKind::Reply { length },
        IP_TTL_EXPIRED_TRANSIT => EchoKind::HopLimitExceeded,
        IP_PACKET_TOO_BIG => EchoKind::TooBig,
        IP_DEST_NET_UNREACHABLE
        | IP_DEST_HOST_UNREACHABLE
        | IP_DEST_PROT_UNREACHABLE
        | IP_DEST_PORT_UNREACHABLE => EchoKind::Unreachable,
        // Without an answer in time, or a fault of this host.
        _ => return None,
    };
    Some(EchoAnswer {
        number: request.number,
        from,
        kind,
    })
}

/// The source of an answer, its status, and its bytes behind the header of ICMP.
type Reply = (IpAddr, u32, usize);

fn of_four(
    service: &Service,
    to: Ipv4Addr,
    data: &[u8],
    options: &IP_OPTION_INFORMATION,
) -> Option<Reply> {
    let (mut room, size) = room(size_of::<ICMP_ECHO_REPLY>(), data)?;
    // SAFETY: the data and the room for the reply have these lengths, and the call returns when
    // the system is done with them.
    let replies = unsafe {
        IcmpSendEcho2(
            service.0,
            null_mut(),
            None,
            null(),
            u32::from_ne_bytes(to.octets()),
            data.as_ptr().cast(),
            u16::try_from(data.len()).ok()?,
            options,
            room.as_mut_ptr().cast(),
            size,
            LONGEST,
        )
    };
    (replies > 0).then_some(())?;
    // SAFETY: the room begins with a reply and is aligned to it.
    let reply: ICMP_ECHO_REPLY = unsafe { room.as_ptr().cast::<ICMP_ECHO_REPLY>().read() };
    let from = Ipv4Addr::from(reply.Address.to_ne_bytes());
    Some((from.into(), reply.Status, reply.DataSize.into()))
}

/// A reply of IPv6 states no length: an answer repeats the data [RFC4443 s4.2].
fn of_six(
    service: &Service,
    to: Ipv6Addr,
    data: &[u8],
    options: &IP_OPTION_INFORMATION,
) -> Option<Reply> {
    let (mut room, size) = room(size_of::<ICMPV6_ECHO_REPLY_LH>(), data)?;
    let of = |address: Ipv6Addr| SOCKADDR_IN6 {
        sin6_family: AF_INET6,
        sin6_addr: IN6_ADDR {
            u: IN6_ADDR_0 {
                Byte: address.octets(),
            },
        },
        ..SOCKADDR_IN6::default()
    };
    // The system chooses the source.
    let (source, destination) = (of(Ipv6Addr::UNSPECIFIED), of(to));
    // SAFETY: as for IPv4; the addresses live as long as the call.
    let replies = unsafe {
        Icmp6SendEcho2(
            service.0,
            null_mut(),
            None,
            null(),
            &raw const source,
            &raw const destination,
            data.as_ptr().cast(),
            u16::try_from(data.len()).ok()?,
            options,
            room.as_mut_ptr().cast(),
            size,
            LONGEST,
        )
    };
    (replies > 0).then_some(())?;
    // SAFETY: the room begins with a reply and is aligned to it.
    let reply = unsafe { room.as_ptr().cast::<ICMPV6_ECHO_REPLY_LH>().read() };
    // The structure is packed, so its field is copied. Its words are in the order of the network.
    let words = reply.Address.sin6_addr;
    let mut bytes = [0; 16];
    for (pair, word) in bytes.chunks_exact_mut(2).zip(words) {
        pair.copy_from_slice(&word.to_ne_bytes());
    }
    Some((Ipv6Addr::from(bytes).into(), reply.Status, data.len()))
}

/// Room for a reply with a header of `header` bytes, of 64-bit numbers, to which a reply is
/// aligned; and its size in bytes.
fn room(header: usize, data: &[u8]) -> Option<(Vec<u64>, u32)> {
    let bytes = header + data.len() + BEHIND;
    let room = vec![0_u64; bytes.div_ceil(size_of::<u64>())];
    Some((room, u32::try_from(bytes).ok()?))
}
