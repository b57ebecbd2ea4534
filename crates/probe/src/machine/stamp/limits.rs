//! The limits of a reflector.

use units::Span;

use super::PacketRate;

/// How much a reflector does for senders that it does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The packets that it answers in all.
    pub overall: PacketRate,
    /// The packets of all sources to which the way of a reply is not known yet: replies to them
    /// wait in the kernel for a neighbour that may not exist.
    pub unresolved: PacketRate,
    /// The packets of one source: an IPv4 address, or the /64 prefix of an IPv6 address.
    pub source: PacketRate,
    /// The most sources to which a limit applies at the same time; further ones get no
    /// reply.
    pub sources: usize,
    /// The most sessions whose sequence numbers are kept. Packets of further ones are
    /// answered without state: with the sender's number [RFC8762 s4.3].
    pub sessions: usize,
    /// The most of them from one address.
    pub sessions_per_address: usize,
    /// The time after which an idle session gives way to another one.
    pub idle: Span,
}

impl Default for Limits {
    /// Ten thousand packets per second, a thousand from one source, a hundred from sources that
    /// may not exist, and less than 200 kB of memory.
    fn default() -> Self {
        Self {
            overall: PacketRate {
                burst: 10_000,
                every: Span::from_micros(100),
            },
            unresolved: PacketRate {
                burst: 100,
                every: Span::from_millis(10),
            },
            source: PacketRate {
                burst: 2_000,
                every: Span::from_millis(1),
            },
            sources: 1_024,
            sessions: 1_024,
            sessions_per_address: 64,
            idle: Span::from_secs(30),
        }
    }
}
