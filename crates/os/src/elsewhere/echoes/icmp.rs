//! Echo requests by the service of Windows for them, which every user may call
//! [IcmpSendEcho2].
#![expect(unsafe_code, reason = "no crate wraps these calls")]

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::ptr::null;

use windows_sys::Win32::Foundation::{
    CloseHandle, ERROR_IO_PENDING, HANDLE, INVALID_HANDLE_VALUE, WAIT_OBJECT_0,
};
use windows_sys::Win32::NetworkManagement::IpHelper::{
    ICMP_ECHO_REPLY, IP_DEST_HOST_UNREACHABLE, IP_DEST_NET_UNREACHABLE, IP_DEST_PORT_UNREACHABLE,
    IP_DEST_PROT_UNREACHABLE, IP_FLAG_DF, IP_OPTION_INFORMATION, IP_PACKET_TOO_BIG, IP_SUCCESS,
    IP_TTL_EXPIRED_TRANSIT, IcmpCloseHandle, IcmpCreateFile, IcmpParseReplies, IcmpSendEcho2,
};
use windows_sys::Win32::System::Threading::{CreateEventW, WaitForSingleObject};

use super::{EchoAnswer, EchoKind, EchoRequest};
use crate::error::{Error, OperationContext, Result};

/// The longest wait for an answer, in milliseconds.
const LONGEST: u32 = 3_000;

/// The hop limit of Windows, unless somebody changed it.
const HOP_LIMIT: u8 = 128;

/// Bytes behind the data of a reply: an ICMP error, and the state of the call.
const BEHIND: usize = 8 + 64;

/// Echo requests to addresses of IPv4.
#[derive(Debug)]
pub struct Echoes {
    service: HANDLE,
    waiting: Vec<Waiting>,
}

/// A request, and the memory that the system reads and writes until its event is set.
#[derive(Debug)]
struct Waiting {
    number: u64,
    event: HANDLE,
    request: Vec<u8>,
    /// Of 64-bit numbers, which the reply is aligned to.
    reply: Vec<u64>,
}

impl Echoes {
    /// Opens the service.
    ///
    /// # Errors
    /// The address is one of IPv6, or the system's.
    pub fn open(to: IpAddr) -> Result<Self> {
        let doing = || "opening the service of echo requests";
        if to.is_ipv6() {
            return Err(Error::new(doing(), "the program has none of IPv6 here"));
        }
        // SAFETY: the call has no arguments.
        let service = unsafe { IcmpCreateFile() };
        if service == INVALID_HANDLE_VALUE {
            return Err(io::Error::last_os_error()).during(doing);
        }
        Ok(Self {
            service,
            waiting: Vec::new(),
        })
    }

    /// Sends a request. One that the system rejects at once is lost.
    ///
    /// # Errors
    /// There is no memory for an event.
    pub fn send(&mut self, request: EchoRequest) -> Result<()> {
        let IpAddr::V4(to) = request.to else {
            return Ok(());
        };
        let Ok(length) = u16::try_from(request.length) else {
            return Ok(());
        };
        // SAFETY: without attributes and without a name.
        let event = unsafe { CreateEventW(null(), 1, 0, null()) };
        if event.is_null() {
            return Err(io::Error::last_os_error()).during(|| "waiting for echo replies");
        }
        let room = size_of::<ICMP_ECHO_REPLY>() + request.length + BEHIND;
        let mut data = vec![0; request.length];
        for (place, byte) in data.iter_mut().zip(request.number.to_be_bytes()) {
            *place = byte;
        }
        let mut waiting = Waiting {
            number: request.number,
            event,
            request: data,
            reply: vec![0; room.div_ceil(size_of::<u64>())],
        };
        let options = IP_OPTION_INFORMATION {
            Ttl: request.hop_limit.unwrap_or(HOP_LIMIT),
            Tos: 0,
            Flags: u8::try_from(IP_FLAG_DF).unwrap_or(0),
            OptionsSize: 0,
            OptionsData: std::ptr::null_mut(),
        };
        // SAFETY: the data and the room for the reply have these lengths. `self.waiting` keeps
        // them until the event says that the system is done; the options are read at once.
        let done = unsafe {
            IcmpSendEcho2(
                self.service,
                event,
                None,
                null(),
                u32::from_ne_bytes(to.octets()),
                waiting.request.as_ptr().cast(),
                length,
                &raw const options,
                waiting.reply.as_mut_ptr().cast(),
                u32::try_from(room).unwrap_or(u32::MAX),
                LONGEST,
            )
        };
        let error = io::Error::last_os_error().raw_os_error();
        let is_pending =
            error.and_then(|number| u32::try_from(number).ok()) == Some(ERROR_IO_PENDING);
        if done == 0 && !is_pending {
            waiting.close();
            return Ok(());
        }
        self.waiting.push(waiting);
        Ok(())
    }

    /// The answers since the last call.
    pub fn arrived(&mut self) -> Vec<EchoAnswer> {
        let mut answers = Vec::new();
        for waiting in self.waiting.extract_if(.., |waiting| waiting.is_done()) {
            answers.extend(waiting.answer());
            waiting.close();
        }
        answers
    }

    /// Whether answers are waited for.
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }
}

impl Waiting {
    fn is_done(&self) -> bool {
        // SAFETY: the event is open.
        unsafe { WaitForSingleObject(self.event, 0) == WAIT_OBJECT_0 }
    }

    /// The answer that the system has written, if there is one.
    fn answer(&self) -> Option<EchoAnswer> {
        let room = size_of_val(&self.reply[..]);
        let mut bytes = self.reply.clone();
        // SAFETY: the reply is complete, and the room has this length.
        let replies = unsafe {
            IcmpParseReplies(
                bytes.as_mut_ptr().cast(),
                u32::try_from(room).unwrap_or(u32::MAX),
            )
        };
        // SAFETY: the room begins with a reply, is aligned to it, and any bits are one.
        let reply: ICMP_ECHO_REPLY = unsafe { bytes.as_ptr().cast::<ICMP_ECHO_REPLY>().read() };
        if replies == 0 && reply.Status == IP_SUCCESS {
            return None;
        }
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
            number: self.number,
            from: Ipv4Addr::from(reply.Address.to_ne_bytes()).into(),
            kind,
        })
    }

    fn close(self) {
        // SAFETY: the event is open, and nobody uses it any more.
        unsafe { CloseHandle(self.event) };
    }
}

impl Drop for Echoes {
    fn drop(&mut self) {
        for waiting in self.waiting.drain(..) {
            // The system may still write to its memory, which is left to it.
            match waiting.is_done() {
                true => waiting.close(),
                false => std::mem::forget(waiting),
            }
        }
        // SAFETY: the service is open.
        unsafe { IcmpCloseHandle(self.service) };
    }
}
