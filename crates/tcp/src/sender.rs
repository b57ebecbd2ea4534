//! The sending end of a connection.

use units::{Span, Time};

use super::ns2::Agent;
use super::segment::{Ack, Data};
use super::standard::Standard;
use super::{Profile, Range, Settings};

/// The sending end of a connection.
#[derive(Clone, Debug)]
pub struct Sender(Kind);

/// Not in boxes: every acknowledgement would load one line of memory more.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a connection has one of them")]
enum Kind {
    Standard(Standard),
    Ns2(Agent),
}

/// Counters of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Counts {
    /// Data segments sent for the first time.
    pub segments: u64,
    /// Bytes of payload in them.
    pub bytes: u64,
    /// Retransmitted segments, the SYN included.
    pub retransmissions: u64,
    /// Expiries of the retransmission timer with data outstanding.
    pub timeouts: u64,
    /// Fast recoveries begun.
    pub recoveries: u64,
    /// Reductions of the window because of marks.
    pub marks: u64,
    /// Number of measured round trips.
    pub round_trips: u64,
    /// Sum of the measured round trips.
    pub round_trips_took: Span,
}

/// The state of a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// Congestion window in segments.
    pub window: f64,
    /// Slow-start threshold in segments; `None`: not set yet.
    pub threshold: Option<f64>,
    /// Smoothed round-trip time.
    pub round_trip: Option<Span>,
    /// The timeout that a timer set now would have.
    pub timeout: Span,
    /// Segments in flight.
    pub flight: f64,
    /// First number that is not acknowledged.
    pub acknowledged: u64,
}

impl Sender {
    /// A sender of `bytes` bytes of payload; `None`: without limit.
    pub fn new(settings: &Settings, bytes: Option<u64>) -> Self {
        let bytes = bytes.unwrap_or(u64::MAX);
        Self(match settings.profile {
            Profile::Ns2 => {
                let segments = bytes.div_ceil(settings.segment.max(1).into());
                Kind::Ns2(Agent::new(settings, segments))
            }
            Profile::Standard => Kind::Standard(Standard::new(settings, bytes)),
        })
    }

    /// Opens the connection.
    pub fn start(&mut self, now: Time) {
        match &mut self.0 {
            Kind::Standard(sender) => sender.start(now),
            Kind::Ns2(agent) => agent.start(now),
        }
    }

    /// Sends no new data from now on; outstanding data are still repaired.
    pub fn stop(&mut self) {
        match &mut self.0 {
            Kind::Standard(sender) => sender.stop(),
            Kind::Ns2(agent) => agent.stop(),
        }
    }

    /// Adds `numbers` to send: bytes, or segments if numbers count segments.
    pub fn supply(&mut self, now: Time, numbers: u64) {
        match &mut self.0 {
            Kind::Standard(sender) => sender.supply(now, numbers),
            Kind::Ns2(agent) => agent.supply(now, numbers),
        }
    }

    /// Takes an arriving acknowledgement.
    #[inline]
    pub fn receive(&mut self, now: Time, ack: &Ack) {
        match &mut self.0 {
            Kind::Standard(sender) => sender.receive(now, ack),
            Kind::Ns2(agent) => agent.receive(now, ack),
        }
    }

    /// Handles the timers that expired by `now`.
    pub fn timeout(&mut self, now: Time) {
        match &mut self.0 {
            Kind::Standard(sender) => sender.timeout(now),
            Kind::Ns2(agent) => agent.timeout(now),
        }
    }

    /// Limits segments to `payload` bytes, after a notification that larger ones do
    /// not fit the path.
    pub fn too_big(&mut self, now: Time, payload: u32) {
        match &mut self.0 {
            Kind::Standard(sender) => sender.shrink(now, payload),
            Kind::Ns2(agent) => agent.shrink(payload),
        }
    }

    /// Takes a notification that `lost` was dropped. Unless it is acknowledged by now,
    /// it is retransmitted at once, and duplicate acknowledgements are ignored until
    /// all data sent so far are acknowledged. With `reduce`, the window is reduced as
    /// for a mark, once per window in flight.
    pub fn notified(&mut self, now: Time, lost: Range, reduce: bool) {
        match &mut self.0 {
            Kind::Standard(sender) => sender.notified(now, lost, reduce),
            Kind::Ns2(agent) => agent.notified(now, lost, reduce),
        }
    }

    /// The next segment to send, at the time of the call that made it ready.
    #[inline]
    pub fn poll_transmit(&mut self) -> Option<Data> {
        match &mut self.0 {
            Kind::Standard(sender) => sender.poll_transmit(),
            Kind::Ns2(agent) => agent.poll_transmit(),
        }
    }

    /// Whether [`Sender::poll_transmit`] has another segment.
    #[inline]
    pub fn has_segments(&mut self) -> bool {
        match &mut self.0 {
            Kind::Standard(sender) => sender.has_segments(),
            Kind::Ns2(agent) => agent.has_segments(),
        }
    }

    /// The time of the next timer.
    #[inline]
    pub fn next_timeout(&self) -> Option<Time> {
        match &self.0 {
            Kind::Standard(sender) => sender.next_timeout(),
            Kind::Ns2(agent) => agent.next_timeout(),
        }
    }

    /// The counters so far.
    pub fn counts(&self) -> Counts {
        match &self.0 {
            Kind::Standard(sender) => sender.counts(),
            Kind::Ns2(agent) => agent.counts(),
        }
    }

    /// The current state.
    pub fn state(&self) -> State {
        match &self.0 {
            Kind::Standard(sender) => sender.state(),
            Kind::Ns2(agent) => agent.state(),
        }
    }
}

impl Counts {
    #[inline]
    pub(super) fn measure(&mut self, sent: Time, now: Time) {
        self.round_trips += 1;
        self.round_trips_took += now.since(sent).unwrap_or_default();
    }

    #[inline]
    pub(super) fn count(&mut self, payload: u32, again: bool) {
        if again {
            self.retransmissions += 1;
        } else if payload > 0 {
            self.segments += 1;
            self.bytes += u64::from(payload);
        }
    }
}

#[cfg(test)]
mod tests;
