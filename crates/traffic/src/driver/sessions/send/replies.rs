//! Reception of echoes while messages are sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use meter::MessageStream;
use units::{Span, Time};
use wire::message::{Echo, HEADER_LEN, Message};

use super::{Log, is_passing};
use crate::driver::sessions::Record;
use crate::driver::sessions::counters::SentCounters;
use crate::driver::sessions::records::LogSink;
use crate::driver::sessions::round_trips::RoundTripRecorder;
use crate::driver::sessions::unanswered::Answers;
use crate::driver::timeline::Timeline;
use os::deadline::{Deadline, Permit};
use os::error::{Error, OperationContext, Result};
use os::socket::{Inbox, MsgFlags, Socket, receive_stamped, stamp_arrivals};
use os::{clock, interrupt, kernel_clock};

/// The time without echoes, after the last departure, after which missing echoes are
/// lost.
const QUIET: Span = Span::from_secs(1);

/// The time after the last departure after which missing echoes are lost in any case,
/// even if the other end sends single bytes slowly.
const LATEST: Span = Span::from_secs(60);

/// Bytes per read of a stream.
const READ: usize = 1 << 18;

/// The echoes of one flow.
pub(super) struct Replies {
    flow: u16,
    timeline: Timeline,
    log_sink: LogSink,
    answers: Answers,
    expected: Arc<Expected>,
    round_trips: RoundTripRecorder,
    latest: Time,
    /// The time at which the number of echoes became known, and the end of the wait
    /// for them.
    began: Option<(Time, Deadline)>,
}

/// The number of echoes to expect, once known.
pub(super) struct Expected(AtomicU64);

impl Expected {
    pub(super) fn expect(&self, echoes: u64) {
        self.0.store(echoes.min(u64::MAX - 1), Ordering::Relaxed);
    }
}

impl Replies {
    /// No echoes yet; their records go to the log of `log_sink`.
    pub(super) fn new(
        flow: u16,
        start: Time,
        log_sink: &LogSink,
        answers: Answers,
        counters: &Arc<SentCounters>,
    ) -> Self {
        Self {
            flow,
            timeline: Timeline::new(kernel_clock::nanos_of(start)),
            log_sink: log_sink.another(),
            answers,
            expected: Arc::new(Expected(AtomicU64::new(u64::MAX))),
            round_trips: RoundTripRecorder::new(counters),
            latest: start,
            began: None,
        }
    }

    pub(super) fn signal(&self) -> Arc<Expected> {
        Arc::clone(&self.expected)
    }

    /// Records the results.
    pub(super) fn settle(mut self, log: &mut Log) {
        self.log_sink.flush();
        log.round_trips = self.round_trips;
    }

    /// Permits one read; `None` once all echoes are back, or the wait for them is over.
    /// The sending of the flow has limits of its own, and the wait begins after it.
    pub(super) fn permit(&mut self) -> Option<Permit> {
        let expected = self.expected.0.load(Ordering::Relaxed);
        if expected == u64::MAX {
            return Deadline::fixed(QUIET).permit().ok();
        }
        let now = clock::monotonic();
        let wait = if interrupt::asked() { QUIET } else { LATEST };
        let (began, deadline) = self
            .began
            .get_or_insert_with(|| (now, Deadline::fixed(wait)));
        // The silence counts from the last message, not from the last echo.
        let latest = self.latest.max(*began);
        let is_over = self.round_trips.returned() >= expected || now > latest + QUIET;
        deadline.permit().ok().filter(|_| !is_over)
    }

    /// Records a message of its own that arrived at `read`.
    pub(super) fn arrived(&mut self, message: &Message, stamp: Option<u64>, read: Time) {
        self.latest = read;
        self.take(message, stamp, read);
    }

    /// Records what an honest receiver sent, which marks its echoes.
    fn take(&mut self, message: &Message, stamp: Option<u64>, read: Time) {
        match message.echo {
            Echo::Reply => self.record(message, stamp, read),
            Echo::Unwanted | Echo::Wanted => self.round_trips.unexpected += 1,
        }
    }

    /// The number of echoes, those of the warm-up included.
    pub(super) fn returned(&self) -> u64 {
        self.round_trips.returned()
    }

    /// Records an echo.
    pub(super) fn record(&mut self, message: &Message, stamp: Option<u64>, read: Time) {
        if !self.answers.was_asked(message) {
            self.round_trips.unexpected += 1;
            return;
        }
        let stamped = stamp.and_then(|stamp| self.timeline.nanos_of_stamp(stamp, read));
        self.round_trips.unstamped += u64::from(stamped.is_none());
        let received = stamped.unwrap_or_else(|| self.timeline.nanos(read));
        let sent = message.sent.as_nanos();
        self.answers.answered(message);
        self.round_trips.record(message, received);
        self.log_sink.keep(Record {
            flow: self.flow,
            size: message.length,
            sequence: message.sequence,
            sent,
            untimed: false,
            received: Some(received),
            stamped: stamped.is_some(),
            read: None,
        });
    }
}

/// Receives echoes of datagrams until all are back, or none has arrived for long
/// enough.
pub(super) fn collect_datagrams(socket: &Socket, mut replies: Replies) -> Result<Replies> {
    stamp_arrivals(socket)?;
    let mut inbox = Inbox::of_datagrams(HEADER_LEN);
    while let Some(permit) = replies.permit() {
        match inbox.take(socket, false, permit) {
            Ok(_) => {
                let read = clock::monotonic();
                replies.latest = read;
                for (place, taken) in inbox.taken().iter().enumerate() {
                    if let Ok(message) = Message::parse(inbox.bytes(place)) {
                        replies.take(&message, taken.stamp, read);
                    }
                }
            }
            // The error is of a message that was sent, not of this call.
            Err(error) if is_passing(error) => {}
            Err(error) => return Err(error).during(|| "collecting echoes"),
        }
    }
    Ok(replies)
}

/// Receives echoes of a stream, until its end.
pub(super) fn collect_stream(socket: &Socket, mut replies: Replies) -> Result<Replies> {
    stamp_arrivals(socket)?;
    let mut room = vec![0; READ];
    let mut messages = MessageStream::new();
    while let Some(permit) = replies.permit() {
        let taken = match receive_stamped(socket, &mut room, MsgFlags::empty(), permit) {
            Ok(taken) => taken,
            Err(error) if is_passing(error) => continue,
            Err(error) => return Err(error).during(|| "collecting echoes"),
        };
        if taken.length == 0 {
            break;
        }
        let read = clock::monotonic();
        replies.latest = read;
        messages
            .receive(&room[..taken.length], |message| {
                replies.take(&message, taken.stamp, read);
            })
            .map_err(|error| Error::new("reading an echo", error.to_string()))?;
    }
    Ok(replies)
}
