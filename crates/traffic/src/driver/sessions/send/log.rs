//! The record of what a sender's end of a flow did.

use std::sync::Arc;

use meter::streaming_recorder::SHARES;
use meter::time_series::TimeSeries;
use os::error::Result;
use os::socket::{Errno, SmoothedRtt, Socket, TcpState, stated_tcp_state};
use os::{ProgramStamps, program_stamps};
use units::{Bytes, Span, Time};
use wire::message::Message;

use super::stall_timer::Stall;
use crate::driver::sessions::counters::{PathMtuNotice, SentCounters};
use crate::driver::sessions::delays::DelayDistribution;
use crate::driver::sessions::paced::Departures;
use crate::driver::sessions::round_trips::RoundTripRecorder;

/// The sender's results of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    /// Messages and bytes of the warm-up; all other fields exclude them.
    pub omitted: Omitted,
    /// Messages that the schedule offered until the flow ended.
    pub offered: u64,
    /// Messages handed to the kernel.
    pub messages: u64,
    /// Bytes of those messages.
    pub bytes: Bytes,
    /// Messages of a size that the protocol cannot carry, which were not sent.
    pub rejected: u64,
    /// Messages that the kernel did not accept: too large for the path, or without room
    /// in front of the interface.
    pub unsent: u64,
    /// Those of them that were too large for the path.
    pub too_large: u64,
    /// The latest notice of the path MTU.
    pub path_mtu: Option<PathMtuNotice>,
    /// Time from the first departure to the last.
    pub lasted: Span,
    /// Instant at which the first message was to be written, in nanoseconds since the
    /// start of the session, whether or not the kernel accepted it.
    pub first: Option<u64>,
    /// Timing error of messages that had a time.
    pub timing_error: Option<DelayDistribution>,
    /// Round-trip times.
    pub round_trips: Option<DelayDistribution>,
    /// Their quantiles [`SHARES`] in seconds.
    pub round_trip_quantiles: Option<[f64; SHARES.len()]>,
    /// Round trips by the arrivals of their echoes, since the start of the session; of
    /// streams without echoes TCP's smoothed round-trip time.
    pub round_trips_over_time: TimeSeries,
    /// Messages whose echo arrived, each counted once.
    pub echoes: u64,
    /// Further echoes of messages whose echo had arrived.
    pub copies: u64,
    /// Echoes without the kernel's timestamp although one was requested.
    pub unstamped: u64,
    /// The precision of the program's timestamps of echoes; `None` where the kernel has its own.
    pub stamps: Option<ProgramStamps>,
    /// Echoes of no message that was sent; an honest receiver has none.
    pub unexpected: u64,
    /// Departures of messages that the kernel timestamped.
    pub departures: Vec<Departed>,
    /// TCP's statistics at the end.
    pub tcp: Option<TcpState>,
    /// SO_SNDBUF as granted by the kernel.
    pub send_buffer: u64,
    /// Why a stream ended early, if it did.
    pub stall: Option<Stall>,
}

/// Messages and bytes that a flow sent in its warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Omitted {
    /// Messages handed to the kernel.
    pub messages: u64,
    /// Bytes of those messages.
    pub bytes: Bytes,
}

impl Sent {
    /// Messages and bytes handed to the kernel, those of the warm-up included.
    pub fn all(&self) -> (u64, Bytes) {
        let Omitted { messages, bytes } = self.omitted;
        (self.messages + messages, self.bytes + bytes)
    }

    /// Messages that were due and could not be sent in time: the sender fell behind.
    pub fn missed(&self) -> u64 {
        let tried = self.messages + self.rejected + self.unsent;
        self.offered.saturating_sub(tried)
    }
}

/// The departure of a message of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departed {
    /// Sequence number in the flow, from 0.
    pub sequence: u64,
    /// Instant at which the packet with its first bytes was passed to the interface,
    /// in nanoseconds since the start of the session.
    pub nanos: u64,
}

/// Records departures and echoes of messages.
pub(super) struct Log {
    /// The zero of the times in headers.
    pub(super) epoch: Time,
    counters: Arc<SentCounters>,
    omitted: Omitted,
    messages: u64,
    bytes: Bytes,
    unsent: u64,
    too_large: u64,
    /// TCP's state at the end of the warm-up.
    tcp_before: Option<TcpState>,
    first: Option<Time>,
    /// The time of the first message, sent or not.
    begun: Option<Time>,
    last: Time,
    pub(super) round_trips: RoundTripRecorder,
    pub(super) smoothed_rtt: SmoothedRtt,
    pub(super) departures: Vec<Departed>,
    pub(super) stall: Option<Stall>,
}

impl Log {
    pub(super) fn new(epoch: Time, counters: &Arc<SentCounters>) -> Self {
        Self {
            epoch,
            counters: Arc::clone(counters),
            omitted: Omitted::default(),
            messages: 0,
            bytes: Bytes::ZERO,
            unsent: 0,
            too_large: 0,
            tcp_before: None,
            first: None,
            begun: None,
            last: epoch,
            round_trips: RoundTripRecorder::new(counters),
            smoothed_rtt: SmoothedRtt::default(),
            departures: Vec::new(),
            stall: None,
        }
    }

    /// Converts a time to the time in headers.
    pub(super) fn since_epoch(&self, now: Time) -> Time {
        Time::ZERO + now.since(self.epoch).unwrap_or_default()
    }

    /// Records that a message was to be written at `now`.
    pub(super) fn begin(&mut self, now: Time) {
        self.begun.get_or_insert(now);
    }

    /// The messages that departed, those of the warm-up included.
    pub(super) fn all_messages(&self) -> u64 {
        self.messages + self.omitted.messages
    }

    /// Notes the state of `stream` if `message` is the first one after the warm-up.
    pub(super) fn begin_counting(&mut self, message: &Message, stream: &Socket) -> Result<()> {
        if self.omitted.messages > 0 && self.tcp_before.is_none() && !message.warmup {
            self.tcp_before = stated_tcp_state(stream)?;
        }
        Ok(())
    }

    /// TCP's state at the end, with the segments since the warm-up.
    pub(super) fn after_warmup(&self, tcp: TcpState) -> TcpState {
        let Some(before) = &self.tcp_before else {
            return tcp;
        };
        TcpState {
            segments: tcp.segments.saturating_sub(before.segments),
            retransmitted: tcp.retransmitted.saturating_sub(before.retransmitted),
            ..tcp
        }
    }

    /// Records a message that departed at `now`.
    pub(super) fn sent(&mut self, message: &Message, now: Time) {
        let size = Bytes::new(message.length.into());
        self.counters.sent(size);
        if message.warmup {
            self.omitted.messages += 1;
            self.omitted.bytes += size;
            return;
        }
        self.messages += 1;
        self.bytes += size;
        self.first.get_or_insert(now);
        self.last = now;
    }

    /// Records a message that the kernel did not accept because of `error`.
    pub(super) fn unsent(&mut self, message: &Message, error: Errno) {
        self.counters.unsent(1);
        let counted = u64::from(!message.warmup);
        self.unsent += counted;
        if error == Errno::EMSGSIZE {
            self.too_large += counted;
        }
    }

    /// The final results.
    pub(super) fn finish(
        self,
        departures: &Departures,
        tcp: Option<TcpState>,
        send_buffer: u64,
    ) -> Sent {
        let (offered, rejected, timing_error) = departures.totals();
        let lasted = self.lasted();
        let first = self.begun.or(self.first);
        let first = first.map(|first| self.since_epoch(first).as_nanos());
        let (distribution, quantiles) = (
            self.round_trips.distribution(),
            self.round_trips.quantiles(),
        );
        let [echoes, copies] = [self.round_trips.echoes(), self.round_trips.copies()];
        let (unstamped, unexpected) = (self.round_trips.unstamped, self.round_trips.unexpected);
        let mut round_trips_over_time = self.round_trips.over_time();
        round_trips_over_time.add(&self.smoothed_rtt.finish());
        Sent {
            omitted: self.omitted,
            offered,
            messages: self.messages,
            bytes: self.bytes,
            rejected,
            unsent: self.unsent,
            too_large: self.too_large,
            path_mtu: self.counters.path_mtu(),
            lasted,
            first,
            timing_error,
            round_trips: distribution,
            round_trip_quantiles: quantiles,
            echoes,
            copies,
            unstamped,
            // Measured when the session began.
            stamps: program_stamps().ok().flatten(),
            unexpected,
            round_trips_over_time,
            departures: self.departures,
            tcp,
            send_buffer,
            stall: self.stall,
        }
    }

    fn lasted(&self) -> Span {
        self.first
            .and_then(|first| self.last.since(first))
            .unwrap_or_default()
    }
}
