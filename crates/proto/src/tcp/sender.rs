//! The end that sends.

use units::{Span, Time};

use super::ns2::Agent;
use super::segment::{Ack, Data};
use super::standard::Standard;
use super::{Profile, Settings};

/// The end that sends.
#[derive(Clone, Debug)]
pub struct Sender(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Standard(Box<Standard>),
    Ns2(Box<Agent>),
}

/// What a sender did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Counts {
    /// Segments with data that were sent the first time.
    pub segments: u64,
    /// Octets of payload in them.
    pub octets: u64,
    /// Segments that were sent again, the SYN included.
    pub retransmissions: u64,
    /// How often the retransmission timer expired with something outstanding.
    pub timeouts: u64,
    /// How often a fast recovery began.
    pub recoveries: u64,
    /// How often the window was reduced because of marks.
    pub marks: u64,
    /// How many round trips were measured, and how long they took together.
    pub round_trips: u64,
    /// See `round_trips`.
    pub round_trips_took: Span,
}

/// Where a sender stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// The congestion window, segments.
    pub window: f64,
    /// The slow-start threshold, segments; `None`: there is none yet.
    pub threshold: Option<f64>,
    /// The smoothed round trip.
    pub round_trip: Option<Span>,
    /// The time-out that would be set now.
    pub timeout: Span,
    /// What was sent and is not acknowledged, segments.
    pub flight: f64,
    /// The first number that is not acknowledged.
    pub acknowledged: u64,
}

impl Sender {
    /// A sender of so many octets of payload, or of as many as it can.
    pub fn new(settings: &Settings, octets: Option<u64>) -> Self {
        let octets = octets.unwrap_or(u64::MAX);
        Self(match settings.profile {
            Profile::Ns2 => {
                let segments = octets.div_ceil(settings.segment.max(1).into());
                Kind::Ns2(Box::new(Agent::new(settings, segments)))
            }
            Profile::Standard => Kind::Standard(Box::new(Standard::new(settings, octets))),
        })
    }

    /// Opens the connection.
    pub fn start(&mut self, now: Time) {
        match &mut self.0 {
            Kind::Standard(sender) => sender.start(now),
            Kind::Ns2(agent) => agent.start(now),
        }
    }

    /// Sends nothing new from now on; what is outstanding is still repaired.
    pub fn stop(&mut self) {
        match &mut self.0 {
            Kind::Standard(sender) => sender.stop(),
            Kind::Ns2(agent) => agent.stop(),
        }
    }

    /// Has so many numbers more to send: octets, or segments where those are
    /// counted.
    pub fn supply(&mut self, now: Time, numbers: u64) {
        match &mut self.0 {
            Kind::Standard(sender) => sender.supply(now, numbers),
            Kind::Ns2(agent) => agent.supply(now, numbers),
        }
    }

    /// Takes an acknowledgement.
    pub fn receive(&mut self, now: Time, ack: &Ack) {
        match &mut self.0 {
            Kind::Standard(sender) => sender.receive(now, ack),
            Kind::Ns2(agent) => agent.receive(now, ack),
        }
    }

    /// Does what is due by `now`.
    pub fn timeout(&mut self, now: Time) {
        match &mut self.0 {
            Kind::Standard(sender) => sender.timeout(now),
            Kind::Ns2(agent) => agent.timeout(now),
        }
    }

    /// Takes the word that no more than `payload` octets fit into a segment on
    /// this path.
    pub fn too_big(&mut self, now: Time, payload: u32) {
        match &mut self.0 {
            Kind::Standard(sender) => sender.shrink(now, payload),
            Kind::Ns2(agent) => agent.shrink(payload),
        }
    }

    /// Takes the word that `lost` was dropped on the way. Unless it is there by
    /// now, it is sent again at once, and until all that was sent so far is
    /// acknowledged, duplicates say nothing new. With `reduce` the window comes
    /// down as for a mark, once for what is in flight.
    pub fn notified(&mut self, now: Time, lost: &Data, reduce: bool) {
        match &mut self.0 {
            Kind::Standard(sender) => sender.notified(now, lost, reduce),
            Kind::Ns2(agent) => agent.notified(now, lost, reduce),
        }
    }

    /// The next segment to be sent, at the instant of what made it ready.
    pub fn poll_transmit(&mut self) -> Option<Data> {
        match &mut self.0 {
            Kind::Standard(sender) => sender.poll_transmit(),
            Kind::Ns2(agent) => agent.poll_transmit(),
        }
    }

    /// When something is due without an acknowledgement.
    pub fn next_timeout(&self) -> Option<Time> {
        match &self.0 {
            Kind::Standard(sender) => sender.next_timeout(),
            Kind::Ns2(agent) => agent.next_timeout(),
        }
    }

    /// What it did so far.
    pub fn counts(&self) -> Counts {
        match &self.0 {
            Kind::Standard(sender) => sender.counts(),
            Kind::Ns2(agent) => agent.counts(),
        }
    }

    /// Where it stands.
    pub fn state(&self) -> State {
        match &self.0 {
            Kind::Standard(sender) => sender.state(),
            Kind::Ns2(agent) => agent.state(),
        }
    }
}

impl Counts {
    pub(super) fn measure(&mut self, sent: Time, now: Time) {
        self.round_trips += 1;
        self.round_trips_took += now.since(sent).unwrap_or_default();
    }

    pub(super) fn count(&mut self, payload: u32, again: bool) {
        if again {
            self.retransmissions += 1;
        } else if payload > 0 {
            self.segments += 1;
            self.octets += u64::from(payload);
        }
    }
}

#[cfg(test)]
mod tests;
