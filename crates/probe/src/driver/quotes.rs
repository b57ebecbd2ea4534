//! The headers with which probes arrived at routers, as ICMP errors quote them. The error
//! queue of a socket leaves them out [ip(7)]; a raw socket, which needs CAP_NET_RAW, has them.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;

use crate::machine::{AnswerKind, QuotedHeader};
use wire::icmp_error::{self, Cause};
use wire::probe::{Content, Quote, QuotedTransport, Received};
use wire::stamp;

use super::probe_socket::Reading;
use super::receive::Queue;
use super::socket::Ends;
use os::error::Result;
use os::socket::{self, Kind, Options};

/// The most messages that are read at a time.
const MOST: usize = 64;

/// A raw socket that receives the errors about ended hop limits of IPv4, whose routers may
/// divide packets.
pub(super) struct Quotes {
    socket: OwnedFd,
    far_end: IpAddr,
}

impl Quotes {
    /// Opens the socket; `None` for IPv6, and without the permission.
    pub(super) fn open(ends: &Ends) -> Option<Self> {
        let SocketAddr::V4(to) = ends.to else {
            return None;
        };
        let far_end = IpAddr::V4(*to.ip());
        let options = Options {
            path_errors: false,
            ..ends.options()
        };
        let socket = socket::open(Kind::Raw(libc::IPPROTO_ICMP), far_end, &options).ok()?;
        socket::receive_icmp_only(&socket, icmp_error::TIME_EXCEEDED_V4).ok()?;
        Some(Self { socket, far_end })
    }

    /// Adds the quoted headers to the answers that were read. The kernel hands a message to
    /// raw sockets before it reports the error to the socket of the probe.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn add_to(&self, reading: &mut Reading<'_>) -> Result<()> {
        for _ in 0..MOST {
            let Ok(permit) = reading.deadline.permit() else {
                break;
            };
            let (room, mapping) = (&mut *reading.room, reading.mapping);
            let Some(message) = room.read(&self.socket, Queue::Replies, mapping, permit)? else {
                break;
            };
            let Some((id, header)) = self.quoted(message.bytes) else {
                continue;
            };
            for (_, answer) in reading.arrived.iter_mut().filter(|(_, one)| one.id == id) {
                if let AnswerKind::HopLimitExceeded { quoted } = &mut answer.kind {
                    *quoted = Some(header);
                }
            }
        }
        Ok(())
    }

    /// The identifier of the probe that a message quotes, and its header.
    fn quoted(&self, bytes: &[u8]) -> Option<(u64, QuotedHeader)> {
        let received = Received::parse(bytes).ok()?;
        let Content::Error {
            cause: Cause::HopLimitExceeded,
            quote,
        } = received.content
        else {
            return None;
        };
        let is_ours = quote.packet.addresses.ends()[1] == self.far_end;
        let id = id_of(&quote).filter(|_| is_ours)?;
        Some((id, QuotedHeader::of(&quote.packet)))
    }
}

/// The identifier of a quoted probe: that of a test packet stands behind other fields.
fn id_of(quote: &Quote<'_>) -> Option<u64> {
    match quote.transport? {
        QuotedTransport::Udp { .. } => stamp::Probe::id_of(quote.data).or(quote.id),
        QuotedTransport::Echo(_) => quote.id,
        QuotedTransport::Tcp { .. } => None,
    }
}
