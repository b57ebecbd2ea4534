//! Combines two tracers of one simulation.

use link::QueueState;
use queue::Reason;
use sim::{Location, Loss, Opened, Seen, Tracer};
use tcp::{Counts, State};
use units::{Span, Time};

/// Forwards each event to two tracers.
pub(super) struct Tee<'a, A, B>(pub(super) &'a mut A, pub(super) &'a mut B);

impl<A: Tracer, B: Tracer> Tracer for Tee<'_, A, B> {
    fn wants(&self, link: (usize, usize)) -> bool {
        self.0.wants(link) || self.1.wants(link)
    }

    fn mark(&self, link: (usize, usize)) -> u64 {
        self.0.mark(link) | self.1.mark(link)
    }

    fn wants_deliveries(&self) -> bool {
        self.0.wants_deliveries() || self.1.wants_deliveries()
    }

    fn opens(&self, link: (usize, usize)) -> bool {
        self.0.opens(link) || self.1.opens(link)
    }

    fn opened(&mut self, begins: Time, link: (usize, usize), bundle: &Opened) {
        self.0.opened(begins, link, bundle);
        self.1.opened(begins, link, bundle);
    }

    fn queued(&mut self, at: Time, link: (usize, usize), packet: Seen, state: QueueState) {
        self.0.queued(at, link, packet, state);
        self.1.queued(at, link, packet, state);
    }

    fn queued_inside(&mut self, at: Time, link: (usize, usize), packet: Seen) {
        self.0.queued_inside(at, link, packet);
        self.1.queued_inside(at, link, packet);
    }

    fn sent(&mut self, begins: Time, ends: Time, link: (usize, usize), packet: Seen, waited: Span) {
        self.0.sent(begins, ends, link, packet, waited);
        self.1.sent(begins, ends, link, packet, waited);
    }

    fn lost(&mut self, at: Time, location: Location, packet: Seen, why: Loss) {
        self.0.lost(at, location, packet, why);
        self.1.lost(at, location, packet, why);
    }

    fn lost_inside(&mut self, at: Time, link: (usize, usize), packet: Seen) {
        self.0.lost_inside(at, link, packet);
        self.1.lost_inside(at, link, packet);
    }

    fn inner_dropped(&mut self, at: Time, link: (usize, usize), packet: Seen, why: Reason) {
        self.0.inner_dropped(at, link, packet, why);
        self.1.inner_dropped(at, link, packet, why);
    }

    fn delivered(&mut self, at: Time, node: usize, packet: Seen) {
        self.0.delivered(at, node, packet);
        self.1.delivered(at, node, packet);
    }

    fn acted(&mut self, at: Time, flow: usize, state: State, counts: Counts) {
        self.0.acted(at, flow, state, counts);
        self.1.acted(at, flow, state, counts);
    }
}
