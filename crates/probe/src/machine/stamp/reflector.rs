//! The session-reflector [RFC8762 s4.3].

use std::net::SocketAddr;

use units::{Bytes, Time};
use wire::stamp::{ErrorEstimate, Observation, ReflectorPacket, SenderPacket, Timestamp, reflect};

use super::Limits;
use super::budget::{Bucket, Sources};
use super::sessions::Sessions;

/// A test packet as it arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// Its source.
    pub from: SocketAddr,
    /// When it arrived, in nanoseconds since 1970 UTC.
    pub unix_nanos: u64,
    /// Its TTL or hop limit.
    pub hop_limit: u8,
    /// The largest IP packet in which it arrived: a fragment, or the whole packet. `None` if
    /// that is not known.
    pub piece: Option<Bytes>,
    /// Whether the neighbour is known to which a reply goes: the source or a router. A host of
    /// the link can send with any address of the link, and most belong to nobody.
    pub is_resolved: bool,
    /// The UDP payload, whole.
    pub bytes: &'a [u8],
}

/// Why a packet gets no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// It is no test packet of a session-sender.
    Malformed,
    /// Its source, or all of them together, send too many.
    Limited,
    /// The neighbour is not known to which the reply would go, and replies to others wait.
    Unresolved,
    /// Its sender asks for no reply [RFC10052 s3].
    Unwanted,
}

/// Packets by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Counts {
    /// Packets with a reply.
    pub reflected: u64,
    /// Those of them that belong to no session in the table.
    pub without_state: u64,
    /// Packets rejected as [`Rejection::Malformed`].
    pub malformed: u64,
    /// Packets rejected as [`Rejection::Limited`].
    pub limited: u64,
    /// Packets rejected as [`Rejection::Unresolved`].
    pub unresolved: u64,
    /// Packets rejected as [`Rejection::Unwanted`].
    pub unwanted: u64,
}

/// A session-reflector.
#[derive(Debug)]
pub struct Reflector {
    limits: Limits,
    error: ErrorEstimate,
    overall: Bucket,
    unresolved: Bucket,
    pub(super) sources: Sources,
    pub(super) sessions: Sessions,
    counts: Counts,
}

impl Reflector {
    /// A reflector whose timestamps have this error.
    pub fn new(limits: Limits, error: ErrorEstimate) -> Self {
        Self {
            limits,
            error,
            overall: Bucket::FULL,
            unresolved: Bucket::FULL,
            sources: Sources::new(limits.source, limits.sources),
            sessions: Sessions::default(),
            counts: Counts::default(),
        }
    }

    /// Writes the reply to a packet to the beginning of `reply`, which has room for as
    /// many bytes as the packet has. Returns the length of the reply, which is not
    /// greater. `now` is the time of the rate limits; the wall clock shows `unix_nanos`.
    ///
    /// # Errors
    /// The reason if the packet gets no reply.
    pub fn reflect(
        &mut self,
        now: Time,
        unix_nanos: u64,
        arrival: &Arrival<'_>,
        reply: &mut [u8],
    ) -> Result<usize, Rejection> {
        let result = self.attempt(now, unix_nanos, arrival, reply);
        *match result {
            Ok(_) => &mut self.counts.reflected,
            Err(Rejection::Malformed) => &mut self.counts.malformed,
            Err(Rejection::Limited) => &mut self.counts.limited,
            Err(Rejection::Unresolved) => &mut self.counts.unresolved,
            Err(Rejection::Unwanted) => &mut self.counts.unwanted,
        } += 1;
        result
    }

    fn attempt(
        &mut self,
        now: Time,
        unix_nanos: u64,
        arrival: &Arrival<'_>,
        reply: &mut [u8],
    ) -> Result<usize, Rejection> {
        let request = SenderPacket::parse(arrival.bytes).map_err(|_| Rejection::Malformed)?;
        let from = arrival.from;
        if !arrival.is_resolved {
            if !self.unresolved.take(now, self.limits.unresolved) {
                return Err(Rejection::Unresolved);
            }
        } else if !self.sources.take(now, from.ip()) || !self.overall.take(now, self.limits.overall)
        {
            // The source first: one that exceeds its own rate takes nothing from others.
            return Err(Rejection::Limited);
        }
        // Sources that may not exist take no places.
        let own = match arrival.is_resolved {
            true => self.sessions.next(now, from, request.session, &self.limits),
            false => None,
        };
        let base = ReflectorPacket {
            sequence: own.unwrap_or(request.sequence),
            sent: Timestamp::ntp(unix_nanos),
            error: self.error,
            received: Timestamp::ntp(arrival.unix_nanos),
            request,
            hop_limit: arrival.hop_limit,
        };
        let observed = Observation {
            stateful: own.is_some(),
            piece: arrival.piece.and_then(|piece| piece.get().try_into().ok()),
        };
        let length = reflect(arrival.bytes, &base, observed, reply);
        let length = length.map_err(|_| Rejection::Malformed)?;
        let length = length.ok_or(Rejection::Unwanted)?;
        self.counts.without_state += u64::from(own.is_none());
        Ok(length)
    }

    /// Counts of the packets so far, by their outcome.
    pub const fn counts(&self) -> Counts {
        self.counts
    }
}
