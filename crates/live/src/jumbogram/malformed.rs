//! Malformed jumbograms, each with one fault, and the kernel's reactions.

mod change;
mod variants;

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, socket};
use units::Span;
use wire::jumbogram::Answer;
use wire::protocol::{icmp, icmpv6};

use super::carry::counters;
use super::end::{Listener, Raw, udp};
use super::jumbo_path::{Between, JumboPath};
use crate::error::{During, Error, Result};
use crate::processor::Pinned;
use variants::{LARGER, VARIANTS, Variant};

/// Counters of dropped packets, by reason.
const COUNTERS: [&str; 9] = [
    "Ip6InHdrErrors",
    "Ip6InTruncatedPkts",
    "Ip6InAddrErrors",
    "Ip6InUnknownProtos",
    "Ip6InDiscards",
    "Ip6ReasmFails",
    "Udp6NoPorts",
    "Udp6InErrors",
    "Udp6InCsumErrors",
];

/// The payload of the last datagram: once it has arrived, the kernel has reacted to all
/// packets before it.
const BARRIER: &[u8] = b"what comes last";
const TIMEOUT: Span = Span::from_secs(10);

/// The outcome of a variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Description of the fault.
    pub name: &'static str,
    /// The reaction that the standard demands.
    pub asked: Answer,
    /// The source of the demand: a key of docs/sources.md and a section.
    pub source: &'static str,
    /// The ICMPv6 error to its sender: type, code and pointer.
    pub error: Option<(u8, u8, u32)>,
    /// Counters that increased, and by how much.
    pub counters: Vec<(&'static str, u64)>,
    /// Octets of the datagram if it was delivered.
    pub delivered: Option<usize>,
}

impl Ended {
    /// Whether the kernel reacted as demanded.
    pub fn as_asked(&self) -> bool {
        let answered = match (self.asked, self.error) {
            (Answer::Discard, None) => !self.counters.is_empty(),
            (Answer::ParameterProblem { code, pointer }, Some(error)) => {
                error == (icmpv6::PARAMETER_PROBLEM, code, pointer)
            }
            _ => false,
        };
        answered && self.delivered.is_none()
    }
}

/// Sends every variant over loopback of a separate namespace.
///
/// # Errors
/// If the namespace cannot be built, or a valid packet does not arrive.
pub fn malformed() -> Result<Vec<Ended>> {
    let _pinned = Pinned::here()?;
    let jumbo_path = JumboPath::build(Between::Loopback, LARGER)?;
    let bench = Bench::open(&jumbo_path)?;
    let mut listener =
        jumbo_path.at_receiver(|| Listener::open(jumbo_path.addresses[1].into(), 0))?;
    VARIANTS
        .iter()
        .map(|variant| bench.attempt(variant, &mut listener))
        .collect()
}

/// The environment in which variants are tried.
struct Bench<'a> {
    jumbo_path: &'a JumboPath,
    raw: Raw,
    errors: OwnedFd,
}

impl<'a> Bench<'a> {
    fn open(jumbo_path: &'a JumboPath) -> Result<Self> {
        let open = || {
            let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
            let protocol = SockProtocol::IcmpV6;
            socket(AddressFamily::Inet6, SockType::Raw, flags, protocol)
                .during(|| "opening a socket for ICMPv6 errors")
        };
        Ok(Self {
            jumbo_path,
            raw: jumbo_path.at_sender(|| Raw::open(jumbo_path.addresses[1]))?,
            errors: jumbo_path.at_sender(open)?,
        })
    }

    fn attempt(&self, variant: &Variant, listener: &mut Listener) -> Result<Ended> {
        let operation = || format!("sending a jumbogram of which {}", variant.name);
        let port = listener.port()?;
        let (namespace, _) = self.jumbo_path.arrival();
        let before = counters(namespace)?;
        let octets = variant.octets(self.jumbo_path.addresses, port)?;
        self.raw.send(&octets).during(operation)?;
        let delivered = self.settle(listener)?;
        let after = counters(namespace)?;
        let risen = COUNTERS.iter().filter_map(|&name| {
            let of = |counters: &[(String, u64)]| {
                let found = counters.iter().find(|(own, _)| own == name);
                found.map_or(0, |(_, count)| *count)
            };
            let rise = of(&after).saturating_sub(of(&before));
            (rise > 0).then_some((name, rise))
        });
        Ok(Ended {
            name: variant.name,
            asked: variant.asked,
            source: variant.source,
            error: self.error()?,
            counters: risen.collect(),
            delivered,
        })
    }

    /// Waits until a valid packet has arrived behind another one, all sent from one
    /// processor. Returns the octets of another delivered datagram, if any.
    fn settle(&self, listener: &mut Listener) -> Result<Option<usize>> {
        let to = (self.jumbo_path.addresses[1], listener.port()?);
        let probe = self.jumbo_path.at_sender(|| {
            udp(self.jumbo_path.addresses[0].into(), 0).during(|| "opening a UDP socket")
        })?;
        let mut delivered = None;
        // The first one may overtake an ICMPv6 error, the second one does not.
        for _ in 0..2 {
            probe.send_to(BARRIER, to).during(|| "sending a datagram")?;
            loop {
                match listener.any(TIMEOUT)? {
                    None => {
                        return Err(Error::new(
                            "waiting for a datagram that is right",
                            "it did not arrive over loopback within 10 s",
                        ));
                    }
                    Some(octets) if octets == BARRIER => break,
                    Some(octets) => delivered = Some(octets.len()),
                }
            }
        }
        Ok(delivered)
    }

    /// The ICMPv6 error that has arrived.
    fn error(&self) -> Result<Option<(u8, u8, u32)>> {
        let mut found = None;
        let mut octets = [0; 64];
        loop {
            #[expect(clippy::disallowed_methods, reason = "the peer is this host's kernel")]
            match recv(self.errors.as_raw_fd(), &mut octets, MsgFlags::empty()) {
                Ok(length) => {
                    if let Ok(message) = icmp::Fields::parse(&octets[..length])
                        && icmpv6::is_error(message.kind)
                    {
                        let pointer = u32::from_be_bytes(message.rest);
                        found = Some((message.kind, message.code, pointer));
                    }
                }
                Err(Errno::EAGAIN) => return Ok(found),
                Err(error) => {
                    return Err(io::Error::from(error)).during(|| "reading ICMPv6 errors");
                }
            }
        }
    }
}
