//! Echo requests by the service of Windows for them, which every user may call
//! [IcmpSendEcho2].
#![expect(unsafe_code, reason = "no crate wraps these calls")]

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::ptr::{null, null_mut};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Builder;

use windows_sys::Win32::Foundation::INVALID_HANDLE_VALUE;
use windows_sys::Win32::NetworkManagement::IpHelper::{
    ICMP_ECHO_REPLY, IP_DEST_HOST_UNREACHABLE, IP_DEST_NET_UNREACHABLE, IP_DEST_PORT_UNREACHABLE,
    IP_DEST_PROT_UNREACHABLE, IP_FLAG_DF, IP_OPTION_INFORMATION, IP_PACKET_TOO_BIG, IP_SUCCESS,
    IP_TTL_EXPIRED_TRANSIT, IcmpCloseHandle, IcmpCreateFile, IcmpSendEcho2,
};

use super::{EchoAnswer, EchoKind, EchoRequest};
use crate::error::{Error, OperationContext, Result};

/// The longest wait for an answer, in milliseconds.
const LONGEST: u32 = 3_000;

/// The hop limit of Windows, unless somebody changed it.
const HOP_LIMIT: u8 = 128;

/// Bytes behind the data of a reply: an ICMP error, and the state of the call.
const BEHIND: usize = 8 + 64;

/// Echo requests to addresses of IPv4. Each waits for its answer in a thread of its own: a call
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
    /// The address is one of IPv6, or the system's.
    pub fn open(to: IpAddr) -> Result<Self> {
        let doing = || "opening the service of echo requests";
        if to.is_ipv6() {
            return Err(Error::new(doing(), "the program has none of IPv6 here"));
        }
        Service::open().during(doing)?;
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
        let IpAddr::V4(to) = request.to else {
            return Ok(());
        };
        let end = self.end.clone();
        let thread = Builder::new().name("echo".to_owned()).spawn(move || {
            // The investigation may be over by now.
            let _ = end.send(answer(request, to));
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
    fn open() -> io::Result<Self> {
        // SAFETY: the call has no arguments.
        match unsafe { IcmpCreateFile() } {
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
fn answer(request: EchoRequest, to: Ipv4Addr) -> Option<EchoAnswer> {
    let service = Service::open().ok()?;
    let length = u16::try_from(request.length).ok()?;
    let mut data = vec![0_u8; request.length];
    for (place, byte) in data.iter_mut().zip(request.number.to_be_bytes()) {
        *place = byte;
    }
    let room = size_of::<ICMP_ECHO_REPLY>() + request.length + BEHIND;
    // Of 64-bit numbers, to which a reply is aligned.
    let mut reply = vec![0_u64; room.div_ceil(size_of::<u64>())];
    let options = IP_OPTION_INFORMATION {
        Ttl: request.hop_limit.unwrap_or(HOP_LIMIT),
        Tos: 0,
        Flags: u8::try_from(IP_FLAG_DF).unwrap_or(0),
        OptionsSize: 0,
        OptionsData: null_mut(),
    };
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
            length,
            &raw const options,
            reply.as_mut_ptr().cast(),
            u32::try_from(room).ok()?,
            LONGEST,
        )
    };
    if replies == 0 {
        return None;
    }
    // SAFETY: the room begins with a reply and is aligned to it.
    let reply: ICMP_ECHO_REPLY = unsafe { reply.as_ptr().cast::<ICMP_ECHO_REPLY>().read() };
    let kind = match reply.Status {
        IP_SUCCESS => EchoKind::Reply {
            length: reply.DataSize.into(),
        },
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
        from: Ipv4Addr::from(reply.Address.to_ne_bytes()).into(),
        kind,
    })
}
