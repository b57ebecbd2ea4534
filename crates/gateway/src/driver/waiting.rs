//! Waiting between two rounds of a gateway: until something comes or is due, or for a
//! while in which nothing needs an answer.

use queue::Trigger;
use units::{Span, Time};

use super::{Gateway, LOOK};
use os::error::Result;
use os::pacing::{Round, Scheduling, Source, Stop};

/// The time between two rounds in which nothing needs an answer at once: packets from
/// inside while others wait for company anyway, and timers. A wake-up costs as much as
/// the work on several packets.
pub(super) const GRAIN: Span = Span::from_micros(50);

/// The longest time without a look at packets from inside that aggregate: the smallest ring
/// of an interface holds what comes meanwhile at a million packets a second.
const REST: Span = Span::from_micros(250);

/// The arrivals of a round.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundArrivals {
    /// Whether there may be more.
    pub(super) more: bool,
    /// Whether packets came from inside.
    pub(super) from_inside: bool,
    /// Whether anything came from the core.
    pub(super) from_core: bool,
}

impl Gateway {
    /// Waits for the next round. Returns whether the loop is to stop.
    pub(super) fn wait(&mut self, stop: Stop<'_>, now: Time, came: RoundArrivals) -> Result<bool> {
        let next = self.core.next_timeout(now);
        let is_link_busy = self.configuration.settings.uplink.is_some();
        let rest = match came.from_inside && !came.more {
            true => self.rest(is_link_busy),
            false => None,
        };
        if came.from_inside || came.from_core {
            self.came = now;
        }
        let spins = rest.is_none() && now < self.came + self.configuration.processor.spin;
        let round = Round {
            now,
            more: came.more || spins,
            // The uplink alone is served on time.
            next: next.map(|next| match is_link_busy {
                true => next,
                false => next.max(now + GRAIN),
            }),
            longest: Some(match rest {
                Some(rest) => rest,
                None if self.inside.has_waiting() => GRAIN,
                None => LOOK,
            }),
        };
        let inside = match rest {
            Some(_) => Vec::new(),
            None => self.inside.sources(),
        };
        let sources: Vec<&dyn Source> = inside.into_iter().chain(self.sockets.sources()).collect();
        self.poller.wait(sources, stop, round)
    }

    /// The time for which packets from inside need no look, because they would wait for
    /// company anyway; `None` if the next one may have to go at once.
    fn rest(&self, is_link_busy: bool) -> Option<Span> {
        let settings = &self.configuration.settings;
        let aggregate = settings.aggregate;
        match aggregate.trigger {
            // What comes meanwhile is stamped, and due only after its wait.
            Trigger::Timer(wait)
                if !is_link_busy && aggregate.share >= 1.0 && self.inside.stamps() =>
            {
                Some(REST.min(wait))
            }
            _ if self.core.waiting().outward > 0 => Some(GRAIN),
            _ => None,
        }
    }

    /// Runs before others, or as they do, as the configuration has it.
    pub(super) fn take_turn(&mut self) {
        if self.configuration.processor.is_first {
            self.poller.run_first();
        } else {
            self.poller.run_as_others();
        }
    }

    /// Says when it could not run before others.
    pub(super) fn note_turn(&mut self) {
        if !self.configuration.processor.is_first {
            return;
        }
        let problem = match self.poller.scheduling() {
            Scheduling::RealTime => return,
            Scheduling::Ordinary => "the kernel allows no real-time priority (CAP_SYS_NICE)",
            Scheduling::RealTimeInPart => {
                "the gateway ran without real-time priority for a time, because it left others no time on its processor"
            }
        };
        self.problems.push(problem.to_owned());
    }
}
