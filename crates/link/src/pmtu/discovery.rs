//! The state machine [RFC8899 s5.2].

mod messages;

use std::collections::VecDeque;

use units::{Bytes, IpMtu, IpVersion, Seed, Span, Time};

use super::loss::LossTest;
use super::search::{Search, Step};
use super::size_dependence::{Pairs, Verification};
use super::timer::RoundTrip;
use super::{Limit, Probe, Settings, State, Tried};

/// The number of probes that are remembered, so that late answers are understood.
const REMEMBERED: usize = 64;

/// The shortest time between an answer and the next probe in pairs and verifications: they
/// need many probes, and receivers may limit their answers.
const PAUSE: Span = Span::from_millis(10);

/// The discovery of the largest packet that a path carries in one direction.
#[derive(Clone, Debug)]
pub struct Discovery {
    settings: Settings,
    seed: Seed,
    state: State,
    /// The largest size that was acknowledged (PLPMTU).
    confirmed: Option<u32>,
    search: Search,
    test: LossTest,
    trip: RoundTrip,
    /// Probes of the found size beside those of the base size, after losses.
    pairs: Pairs,
    /// The verification of sizes, once a size was found to be lossy.
    verification: Option<Verification>,
    /// Probes lost in a row of a size that the path should carry (PROBE_COUNT).
    in_a_row: u32,
    /// When the probe under way counts as lost.
    deadline: Option<Time>,
    /// When the next probe may be sent.
    not_before: Time,
    /// When the found size is raised, and confirmed.
    raise_at: Option<Time>,
    confirm_at: Option<Time>,
    sent: VecDeque<Sent>,
    probes: u64,
    bytes: u64,
    /// Messages that announced less than was confirmed.
    refuted: u32,
    /// A size that a router announced, for the next search.
    announced: Option<u32>,
    /// Whether a router said that the base does not pass.
    base_rejected: bool,
}

/// A probe that was sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    id: u64,
    size: u32,
    at: Time,
    outcome: PacketOutcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PacketOutcome {
    UnderWay,
    Lost,
    Acknowledged,
    Rejected,
}

impl Discovery {
    /// A discovery without connectivity. Identifiers of probes derive from `seed`, which
    /// has to be secret and new for each discovery.
    pub fn new(settings: Settings, seed: Seed) -> Self {
        Self {
            search: Search::new(0, 0),
            test: LossTest::new(settings.false_alarm, settings.ordinary_loss),
            trip: RoundTrip::new(settings.probe_timer),
            pairs: Pairs::default(),
            verification: None,
            settings,
            seed,
            state: State::Disabled,
            confirmed: None,
            in_a_row: 0,
            deadline: None,
            not_before: Time::ZERO,
            raise_at: None,
            confirm_at: None,
            sent: VecDeque::with_capacity(REMEMBERED),
            probes: 0,
            bytes: 0,
            refuted: 0,
            announced: None,
            base_rejected: false,
        }
    }

    /// The far end is there: probing begins [RFC8899 s5.2].
    pub fn connected(&mut self, _now: Time) {
        if self.state == State::Disabled {
            self.verification = None;
            self.begin_base();
        }
    }

    /// Data of the found size was lost, or may have been: the size is confirmed at once.
    ///
    /// Loss of data decides nothing. Probes tell ordinary loss from a black hole
    /// [RFC8899 s4.3] and from loss that depends on the size, so that a driver may call this
    /// for any loss. Once a second is enough.
    pub fn doubt(&mut self, now: Time) {
        if self.state == State::SearchComplete {
            self.confirm_at = Some(now);
        }
    }

    /// The path may carry more than before: larger sizes are searched for at once.
    pub fn raise(&mut self, now: Time) {
        if self.state == State::SearchComplete {
            self.raise_at = Some(now);
        }
    }

    /// Other packets show this loss, whatever their size: it takes the place of
    /// [`Settings::ordinary_loss`].
    pub const fn assume_loss(&mut self, share: f64) {
        self.settings.ordinary_loss = share;
        self.test.assume(share);
    }

    /// The state of the machine.
    pub const fn state(&self) -> State {
        self.state
    }

    /// The largest size that was acknowledged and is not doubted since; `None` if there
    /// is none.
    pub fn path_mtu(&self) -> Option<IpMtu> {
        self.confirmed.and_then(mtu)
    }

    /// Why the search ended; `None` before.
    pub fn limit(&self) -> Option<Limit> {
        if self.state != State::SearchComplete {
            return None;
        }
        match self.search.excluded() {
            None => Some(Limit::Asked),
            Some((size, false)) if self.verification.is_some() => mtu(size).map(Limit::Lossy),
            Some((size, true)) => mtu(size).map(Limit::Rejected),
            Some((size, false)) => mtu(size).map(Limit::Vanish),
        }
    }

    /// The outcomes of the probes of the present search, by size.
    pub fn tried(&self) -> impl Iterator<Item = (Bytes, Tried)> {
        let tried = self.search.tried();
        tried.map(|(size, tried)| (Bytes::new(u64::from(size)), tried))
    }

    /// Probes sent so far.
    pub const fn probes(&self) -> u64 {
        self.probes
    }

    /// Bytes of all probes sent so far.
    pub const fn bytes(&self) -> Bytes {
        Bytes::new(self.bytes)
    }

    /// When [`Self::poll_probe`] has something to do, unless an answer comes before;
    /// `None` if never.
    pub fn poll_timeout(&self) -> Option<Time> {
        if self.deadline.is_some() {
            return self.deadline;
        }
        match self.state {
            State::Disabled => None,
            State::SearchComplete if !self.is_doubted() => {
                let due = [self.raise_at, self.confirm_at].into_iter().flatten().min();
                due.map(|due| due.max(self.not_before))
            }
            _ => Some(self.not_before),
        }
    }

    /// The next probe to send now, if there is one. At most one is under way, so that
    /// probes are a round trip apart at least [RFC8899 s3].
    pub fn poll_probe(&mut self, now: Time) -> Option<Probe> {
        if self.deadline.is_some_and(|deadline| now < deadline) {
            return None;
        }
        if self.deadline.take().is_some() {
            self.expired();
        }
        if now < self.not_before {
            return None;
        }
        let size = self.next_size(now)?;
        let probe = Sent {
            id: self.seed.with(self.probes).get(),
            size,
            at: now,
            outcome: PacketOutcome::UnderWay,
        };
        self.probes += 1;
        self.bytes += u64::from(size);
        if self.sent.len() == REMEMBERED {
            self.sent.pop_front();
        }
        self.sent.push_back(probe);
        self.deadline = Some(now + self.trip.timeout());
        Some(Probe {
            id: probe.id,
            size: Bytes::new(u64::from(size)),
        })
    }

    /// The far end received the probe. Answers that are late, doubled or unknown do no
    /// harm [RFC8899 s3].
    pub fn acknowledged(&mut self, id: u64, now: Time) {
        let Some(sent) = self.sent.iter_mut().find(|sent| sent.id == id) else {
            return;
        };
        if sent.outcome == PacketOutcome::Acknowledged || self.state == State::Disabled {
            return;
        }
        let before = std::mem::replace(&mut sent.outcome, PacketOutcome::Acknowledged);
        let Sent { size, at, .. } = *sent;
        let in_time = before == PacketOutcome::UnderWay;
        if in_time {
            self.deadline = None;
        }
        if let Some(sample) = now.since(at) {
            self.trip.measured(sample);
        }
        if in_time && (self.pairs.is_open() || self.verification.is_some()) {
            self.not_before = now + PAUSE;
        }
        if !self.confirms(size, in_time) {
            return;
        }
        if Some(size) >= self.confirmed {
            self.in_a_row = 0;
        }
        self.test.arrived();
        let ordinary = self.search.acknowledged(size);
        self.test.lost(ordinary);
        match self.state {
            State::Disabled => {}
            State::Base if size >= self.base() => self.begin_search(size),
            State::Base => {}
            State::Error => self.begin_search(size),
            State::Searching | State::SearchComplete => {
                let grows = self.confirmed.is_none_or(|confirmed| size > confirmed);
                if grows {
                    self.test.spend(self.test.needed());
                }
                self.confirmed = self.confirmed.max(Some(size));
                if self.state == State::SearchComplete {
                    self.confirm_at = self.settings.confirm_after.map(|after| now + after);
                    // An answer that was late refutes the limit.
                    if grows && self.search.excluded().is_none() {
                        self.state = State::Searching;
                    }
                }
            }
        }
    }

    /// The probe under way got no answer in time.
    fn expired(&mut self) {
        let Some(sent) = self.sent.back_mut() else {
            return;
        };
        sent.outcome = PacketOutcome::Lost;
        let size = sent.size;
        let is_larger = self.search.lost(size);
        match self.state {
            State::Searching if is_larger => {
                self.verify(size, false);
                return;
            }
            State::SearchComplete if self.pairs.is_small_next() => {
                self.pairs.small(false);
                return;
            }
            State::Searching => self.controlled(false),
            State::SearchComplete if size > self.base() => self.pairs.large(size, false),
            _ => {}
        }
        self.in_a_row += 1;
        if matches!(self.state, State::Searching | State::SearchComplete) {
            self.test.lost(1);
        }
        if let Some(share) = self.pairs.dependent(self.settings.false_alarm) {
            self.verification = Some(Verification::new(share));
            self.pairs = Pairs::default();
            self.begin_base();
            return;
        }
        // Losses after an arrival are less sudden than those of a black hole.
        let times = 1 + u32::from(self.pairs.large_arrived());
        if self.in_a_row < times * self.test.interrupted() {
            return;
        }
        match self.state {
            State::Base if self.settings.base > self.settings.minimum => self.begin_error(false),
            // The smallest size does not pass either: there is no connectivity.
            State::Base | State::Error => {
                self.confirmed = None;
                self.stop();
            }
            State::Searching | State::SearchComplete => self.begin_base(),
            State::Disabled => {}
        }
    }

    /// Whether the found size is probed again at once, as it was lost.
    const fn is_doubted(&self) -> bool {
        self.in_a_row > 0 || self.pairs.is_open()
    }

    fn next_size(&mut self, now: Time) -> Option<u32> {
        match self.state {
            State::Disabled => None,
            State::Base => Some(self.base()),
            State::Error => Some(self.settings.minimum.get()),
            State::Searching => self.next_of_search(now),
            State::SearchComplete => {
                if self.raise_at.is_some_and(|at| now >= at) {
                    self.begin_search(self.confirmed?);
                    return self.next_of_search(now);
                }
                if self.pairs.is_small_next() {
                    return Some(self.base());
                }
                let is_due = self.confirm_at.is_some_and(|at| now >= at);
                (is_due || self.is_doubted())
                    .then_some(self.confirmed)
                    .flatten()
            }
        }
    }

    fn next_of_search(&mut self, now: Time) -> Option<u32> {
        match self.step() {
            Step::Probe(size) => Some(size),
            Step::Control => self.confirmed,
            Step::Done => {
                if let Some(losses) = self.search.conclude() {
                    self.test.spend(losses);
                }
                self.state = State::SearchComplete;
                self.raise_at = Some(now + self.settings.raise_after);
                self.confirm_at = self.settings.confirm_after.map(|after| now + after);
                None
            }
        }
    }

    fn step(&self) -> Step {
        match self.verification {
            None => self.search.step(self.test.needed()),
            Some(verification) if verification.awaits_control() => Step::Control,
            Some(_) => self.search.candidate().map_or(Step::Done, Step::Probe),
        }
    }

    /// Notes an acknowledgement in pairs and verifications. Whether it confirms its size.
    fn confirms(&mut self, size: u32, in_time: bool) -> bool {
        if !in_time {
            // The timer was too short for one of both sizes: what it counted is void.
            self.pairs = Pairs::default();
            if self.verification.is_some() {
                return false;
            }
        }
        match self.state {
            State::SearchComplete if in_time && self.pairs.is_small_next() => {
                self.pairs.small(true);
            }
            State::SearchComplete if in_time && Some(size) == self.confirmed => {
                self.pairs.large(size, true);
                self.test.confirmed();
            }
            State::Searching if self.confirmed >= Some(size) => self.controlled(true),
            State::Searching => {
                let passes = self.verify(size, true);
                if !passes {
                    self.search.arrived(size);
                }
                return passes;
            }
            _ => {}
        }
        true
    }

    /// The outcome of a probe of a larger size than the confirmed one. Whether the size passes
    /// if the probe arrived.
    fn verify(&mut self, size: u32, arrived: bool) -> bool {
        let Some(verification) = &mut self.verification else {
            return true;
        };
        let passes = verification.tried(size, arrived, self.settings.false_alarm);
        if passes == Some(false) {
            self.search.lossy(size);
        }
        passes == Some(true)
    }

    /// The outcome of a probe of the confirmed size during a search.
    const fn controlled(&mut self, arrived: bool) {
        if let Some(verification) = &mut self.verification {
            verification.control(arrived);
        }
    }

    const fn base(&self) -> u32 {
        self.settings.base.get()
    }

    fn begin_base(&mut self) {
        self.stop();
        self.state = State::Base;
        self.test = LossTest::new(self.settings.false_alarm, self.settings.ordinary_loss);
        // What was confirmed is doubted. The base is used until it fails [RFC8899 s4.6.2].
        let base = self.base();
        self.confirmed = self.confirmed.map(|confirmed| confirmed.min(base));
    }

    fn begin_error(&mut self, base_rejected: bool) {
        self.stop();
        self.state = State::Error;
        self.confirmed = None;
        self.base_rejected = base_rejected;
    }

    /// The path carries `size`: larger ones are searched for.
    fn begin_search(&mut self, size: u32) {
        // An answer to a probe of the base may come after the message that rejects it.
        let is_below = self.state == State::Error && size < self.base();
        let base_failed = is_below.then(|| (self.base(), self.base_rejected));
        self.stop();
        self.state = State::Searching;
        self.confirmed = self.confirmed.max(Some(size));
        self.search = Search::new(size, self.settings.up_to.get())
            .with_announced(self.announced.take())
            .with_excluded(base_failed);
        self.test = LossTest::new(self.settings.false_alarm, self.settings.ordinary_loss);
        self.test.spend(self.test.interrupted());
        self.test.arrived();
        self.verification = self.verification.map(Verification::again);
    }

    fn stop(&mut self) {
        self.state = State::Disabled;
        self.in_a_row = 0;
        self.pairs = self.pairs.closed();
        (self.deadline, self.raise_at, self.confirm_at) = (None, None, None);
        self.search = Search::new(
            self.confirmed.unwrap_or_default(),
            self.settings.up_to.get(),
        );
    }
}

/// Sizes of probes lie between the minimum of IPv4 and the largest packet.
fn mtu(size: u32) -> Option<IpMtu> {
    IpMtu::new(u64::from(size), IpVersion::V4).ok()
}
