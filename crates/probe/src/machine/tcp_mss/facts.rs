//! What the connections of a test have shown, and which ones to open next.

mod arrived;
mod whole;

use units::{Bytes, Span};

use super::bracket::{Bracket, split};
use super::connection::{Connection, Outcome};
use super::plan::{Plan, Role};
use super::{Observation, SMALL_MSS, State, TcpSettings, number};

/// The most sizes that one round of fetches tries at the same time. Fewer take longer, and need
/// fewer connections.
const PARALLEL: usize = 3;

/// The segments of a ladder: as many as a connection sends at first [RFC6928 s2].
const RUNGS: usize = 10;

/// The most ladders, of which each leaves a tenth of the unknown sizes; and those of one segment,
/// of which each leaves half.
const MOST_LADDERS: u32 = 6;
const MOST_SINGLE: u32 = 13;

/// The requests on one connection that make a small answer larger.
const REQUESTS: u32 = 8;

/// The connections that a limit needs to be believed: that one connection stops is chance.
const CONFIRMED: u32 = 2;

/// Connections without any answer after which a server is left alone, and resets.
const MOST_SILENT: u32 = 3;
const MOST_RESETS: u32 = 2;

/// The server's answer in small segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// Its bytes, as far as they were waited for.
    pub(super) received: u64,
    /// The time from the request to the last byte.
    pub(super) took: Span,
    /// The requests that it answers.
    requests: u32,
}

/// Everything known.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    pub(super) settings: TcpSettings,
    pub(super) forward: Bracket,
    pub(super) reverse: Bracket,
    /// Whether a connection was established, and whether the port rejected one.
    pub(super) connected: bool,
    pub(super) rejected: bool,
    /// The far end's MSS, no larger than the local one.
    pub(super) mss: Option<u16>,
    /// The path MTU that the kernel knows.
    pub(super) known_mtu: Option<u32>,
    /// The largest packet that this end's MSS lets the far end send.
    pub(super) accepts: Option<u32>,
    /// The bytes that arrived of the answer in large segments.
    pub(super) large_answer: Option<u64>,
    pub(super) round_trip: Option<Span>,
    pub(super) segments: u64,
    pub(super) sent: Bytes,
    /// Whether the test ended before its time.
    pub(super) is_cut: bool,
    /// Whether the system states what was acknowledged.
    pub(super) states_sending: bool,
    /// The bytes of TCP's options that the system may have added without stating them.
    pub(super) unstated_options: u32,
    /// Whether an answer in segments larger than what was asked for did not arrive.
    pub(super) hangs_above: bool,
    /// Whether the far end says something before it is asked.
    speaks_first: bool,
    answer: Option<Answer>,
    tried_small: bool,
    /// The headers of packets with data.
    headers: u32,
    /// The largest packet that a ladder can send.
    top: Option<u32>,
    ladders: u32,
    resets: u32,
    silent: u32,
    /// Whether the server serves several connections at the same time.
    is_concurrent: Option<bool>,
    /// Sizes that hung in the present round.
    hung: Vec<u32>,
    /// Whether the answer of the control of the present round arrived.
    control_answered: Option<bool>,
}

impl Facts {
    pub(super) fn new(settings: TcpSettings) -> Self {
        Self {
            settings,
            forward: Bracket::default(),
            reverse: Bracket::default(),
            connected: false,
            rejected: false,
            mss: None,
            known_mtu: None,
            accepts: None,
            large_answer: None,
            round_trip: None,
            segments: 0,
            sent: Bytes::ZERO,
            is_cut: false,
            states_sending: true,
            unstated_options: 0,
            hangs_above: false,
            speaks_first: false,
            answer: None,
            tried_small: false,
            headers: settings.headers(),
            top: None,
            ladders: 0,
            resets: 0,
            silent: 0,
            is_concurrent: None,
            hung: Vec::new(),
            control_answered: None,
        }
    }

    /// The server's answer in small segments.
    pub(super) const fn answer(&self) -> Option<Answer> {
        self.answer
    }

    /// The largest packets of which the test can speak.
    pub(super) fn goal(&self) -> u32 {
        let by_mss = self.mss.map_or(u32::MAX, |mss| self.settings.packet(mss));
        let asked = self.settings.asked.unwrap_or(self.settings.interface_mtu);
        number(asked).min(by_mss)
    }

    /// The bytes of an answer after which no more are needed: two full segments, after as much
    /// again of what servers send in segments of their own.
    pub(super) fn enough(&self) -> u64 {
        4 * u64::from(self.goal())
    }

    /// Takes what the system states of a connection.
    pub(super) fn observe(
        &mut self,
        plan: &Plan,
        before: Option<&Observation>,
        seen: &Observation,
    ) {
        let since = |of: fn(&Observation) -> u64| of(seen).saturating_sub(before.map_or(0, of));
        self.segments = self.segments.saturating_add(since(|seen| seen.segments));
        self.sent += Bytes::new(since(|seen| seen.sent.get()));
        if seen.state != State::Open {
            return;
        }
        self.connected = true;
        self.states_sending = seen.sending.is_some();
        self.unstated_options = number(seen.unstated_options);
        self.headers = number(seen.headers);
        let round_trips = [self.round_trip, seen.round_trip];
        self.round_trip = round_trips.into_iter().flatten().min();
        self.knows_mtu(number(seen.known_mtu));
        if plan.mss().is_none() {
            self.accepts = Some(number(seen.accepts));
            // The MSS is hidden where the path MTU is smaller.
            let is_whole = seen.known_mtu >= self.settings.interface_mtu;
            let sends = seen
                .sends
                .filter(|&sends| is_whole || sends < seen.known_mtu);
            let mss = sends.map(|sends| self.settings.mss(number(sends)));
            self.mss = self.mss.or(mss);
        }
    }

    /// Takes how a connection ended.
    pub(super) fn take(&mut self, connection: &Connection, outcome: Outcome) {
        if outcome == Outcome::Silent {
            self.silent += 1;
        }
        match connection.plan {
            Plan::Ladder => self.climbed(connection, outcome),
            Plan::Whole => self.asked_whole(connection, outcome),
            Plan::Fetch {
                size,
                requests,
                role,
                ..
            } => self.fetched(connection, size, (requests, role), outcome),
        }
    }

    fn climbed(&mut self, connection: &Connection, outcome: Outcome) {
        self.ladders += 1;
        let latest = connection.latest;
        let Some(sends) = latest.and_then(|latest| latest.sends).map(number) else {
            return;
        };
        self.top = Some(sends.min(self.settings.asked.map_or(sends, number)));
        match outcome {
            Outcome::Climbed { rungs, lost } => {
                for &size in connection.rungs.iter().take(rungs) {
                    self.forward.passed(size.min(sends));
                }
                let is_single = connection.rungs.len() == 1;
                match (connection.rungs.get(rungs), lost) {
                    (Some(&size), Some(lost)) if rungs > 0 || is_single => {
                        self.forward.failed(size.min(sends), lost);
                    }
                    // The smallest segments are lost, too.
                    (Some(_), Some(_)) => self.silent += 1,
                    (Some(_), None) => self.resets += 1,
                    (None, _) => {}
                }
            }
            Outcome::Reset => self.resets += 1,
            Outcome::Silent | Outcome::Answered { .. } | Outcome::Hangs => {}
        }
    }

    fn fetched(
        &mut self,
        connection: &Connection,
        size: Option<u32>,
        (requests, role): (u32, Role),
        outcome: Outcome,
    ) {
        let latest = connection.latest;
        let received = latest.map_or(0, |latest| latest.received);
        let small = self.settings.packet(SMALL_MSS);
        let whole = self.headers + number(Bytes::new(received));
        let largest = self.largest_arrived(latest.as_ref()).min(whole);
        match (role, outcome) {
            (Role::Small, Outcome::Answered { took }) => {
                let is_larger = self.answer.is_none_or(|answer| answer.received < received);
                if is_larger {
                    self.answer = Some(Answer {
                        received,
                        took,
                        requests,
                    });
                }
                self.reverse.passed(small.min(whole));
            }
            (Role::Small, Outcome::Reset) => self.rejected |= !self.connected,
            (Role::Large, Outcome::Answered { .. }) => {
                self.large_answer = Some(received);
                self.reverse.passed(largest);
            }
            (Role::Large, Outcome::Hangs) => {
                self.large_answer = Some(received);
                self.large_hangs();
            }
            (Role::Search, Outcome::Answered { .. }) => {
                self.reverse
                    .passed(size.map_or(largest, |size| size.min(largest)));
            }
            (Role::Search, Outcome::Hangs) => self.hung.extend(size),
            (Role::Control, outcome) => {
                // The server answered it while those before it were still open.
                let is_answered = matches!(outcome, Outcome::Answered { .. });
                self.control_answered = Some(is_answered && self.hung.is_empty());
            }
            (Role::Large, Outcome::Reset) => self.large_answer = Some(0),
            (_, Outcome::Reset) => self.resets += 1,
            (_, Outcome::Silent | Outcome::Hangs | Outcome::Climbed { .. }) => {}
        }
        self.tried_small |= role == Role::Small;
        self.speaks_first |= connection.unasked > 0;
    }

    /// The largest packet of an answer in large segments.
    fn goal_of_answer(&self) -> u32 {
        let whole = self.whole_answer();
        let accepts = self.accepts.unwrap_or(whole);
        let asked = self.settings.asked.map_or(accepts, number);
        asked.min(accepts).min(whole)
    }

    /// The packet that the whole answer would fill.
    fn whole_answer(&self) -> u32 {
        let received = self.answer.map_or(0, |answer| answer.received);
        self.headers + number(Bytes::new(received))
    }

    /// Takes the outcome of a round. If the server serves one connection at a time, the first
    /// one that hangs keeps the others from their answers, and the round says nothing.
    pub(super) fn round_ended(&mut self) {
        let hung = std::mem::take(&mut self.hung);
        let control_answered = self.control_answered.take();
        // Without one that hangs, any server answers the control.
        if control_answered.is_some() && !hung.is_empty() {
            self.is_concurrent = control_answered;
        }
        if control_answered == Some(false) {
            return;
        }
        for size in hung {
            self.reverse.failed(size, 1);
        }
    }

    /// The next connections, at most `left`; none if nothing is left to find out.
    pub(super) fn plans(&self, left: usize) -> Vec<Plan> {
        let is_over = left == 0 || self.silent >= MOST_SILENT;
        if !self.tried_small {
            return vec![self.small(1)];
        }
        if is_over || !self.connected {
            return Vec::new();
        }
        let (is_needed, climb) = match self.states_sending {
            true => (self.needs_ladder(), Plan::Ladder),
            false => (self.needs_whole(), Plan::Whole),
        };
        if is_needed {
            return vec![climb];
        }
        let Some(answer) = self.answer else {
            return Vec::new();
        };
        let whole = u64::from(self.headers).saturating_add(answer.received);
        let is_small = whole < u64::from(self.goal());
        // Several answers may come in a segment each: only their sizes show that one is large.
        let repeats = self.settings.repeats && self.settings.states_arrivals;
        if is_small && repeats && answer.requests == 1 && self.large_answer.is_none() {
            return vec![self.small(REQUESTS)];
        }
        let needs_again =
            !self.settings.chooses_mss && (1..CONFIRMED).contains(&self.reverse.failures());
        if self.large_answer.is_none() || needs_again {
            let size = self.settings.asked.map(number);
            return vec![self.fetch(size, answer.requests, Role::Large)];
        }
        if !self.settings.chooses_mss {
            return Vec::new();
        }
        self.search(answer, left)
    }

    /// Whether the server resets a connection before it has acknowledged a ladder. It still
    /// acknowledges one segment before its program can reject what it says.
    const fn is_impatient(&self) -> bool {
        self.resets > 0
    }

    fn needs_ladder(&self) -> bool {
        let most = match self.is_impatient() {
            true => MOST_SINGLE,
            false => MOST_LADDERS,
        };
        if self.ladders >= most || self.resets >= MOST_RESETS {
            return false;
        }
        match (self.forward.passes(), self.forward.fails()) {
            (Some(passes), Some(fails)) => {
                passes + 1 < fails || self.forward.failures() < CONFIRMED
            }
            (passes, None) => self.top.is_none() || passes < self.top,
            (None, Some(_)) => false,
        }
    }

    /// The round of fetches that divides the unknown sizes of the reverse path, the largest
    /// first: those that hang do not keep a control, the smallest and last one, from its answer
    /// unless the server serves one connection at a time.
    fn search(&self, answer: Answer, left: usize) -> Vec<Plan> {
        let (Some(passes), Some(fails)) = (self.reverse.passes(), self.reverse.fails()) else {
            return Vec::new();
        };
        let fetch = |size, role| self.fetch(Some(size), answer.requests, role);
        let needs_control = self.is_concurrent.is_none() && left > 1;
        let left = left - usize::from(needs_control);
        let most = match self.is_concurrent {
            Some(false) => 1,
            _ => left,
        };
        let mut sizes = self.limits_of_forward(passes, fails);
        if sizes.is_empty() {
            let at_once = parallel(fails - passes, left.saturating_sub(1));
            sizes = self.reverse.split(at_once.min(most));
        }
        // A server that is busy for a moment looks like a limit.
        if sizes.is_empty() && self.reverse.tries(fails).failures < CONFIRMED {
            sizes.push(fails);
        }
        if sizes.is_empty() {
            return Vec::new();
        }
        let search = sizes.into_iter().rev().take(most);
        let search = search.map(|size| fetch(size, Role::Search));
        let control = needs_control.then(|| fetch(passes, Role::Control));
        search.chain(control).collect()
    }

    /// The largest size that passes on the forward path and the smallest that does not, if nobody
    /// knows them of the reverse path: both directions often use the same links.
    fn limits_of_forward(&self, passes: u32, fails: u32) -> Vec<u32> {
        let limits = self.forward.limit().into_iter().chain(self.forward.fails());
        limits
            .filter(|size| (passes + 1..fails).contains(size))
            .collect()
    }

    fn small(&self, requests: u32) -> Plan {
        let size = self.settings.packet(SMALL_MSS);
        self.fetch(Some(size), requests, Role::Small)
    }

    fn fetch(&self, size: Option<u32>, requests: u32, role: Role) -> Plan {
        // Without a choice of the MSS, a small window makes small segments, and a larger one shows
        // nothing.
        let announced = size.filter(|_| self.settings.chooses_mss || role == Role::Small);
        Plan::Fetch {
            size,
            mss: announced.map(|size| self.settings.mss(size)),
            requests,
            role,
        }
    }

    /// The sizes of the segments of a ladder, ascending, for a connection in this state. The
    /// first one is small: it shows that the far end acknowledges data.
    pub(super) fn rungs(&self, seen: &Observation) -> Vec<u32> {
        let small = self.settings.packet(SMALL_MSS);
        let asked = self.settings.asked.map_or(u32::MAX, number);
        let top = seen.sends.map_or(asked, number).min(asked);
        let (passes, fails) = (self.forward.passes(), self.forward.fails());
        let passes = passes.unwrap_or(small);
        if self.is_impatient() {
            let between = self.forward.split(1);
            return match between.is_empty() {
                true => vec![fails.unwrap_or(top)],
                false => between,
            };
        }
        if top <= small {
            return vec![top];
        }
        let mut rungs = vec![small];
        match fails {
            None => {
                rungs.extend(split(passes, top, RUNGS - 2));
                rungs.push(top);
            }
            Some(fails) if passes + 1 < fails => rungs.extend(split(passes, fails, RUNGS - 1)),
            Some(fails) => rungs.push(fails),
        }
        rungs.dedup();
        // All of them fit into the window, and a program that reads nothing stops none.
        let data = |rungs: &[u32]| rungs.iter().map(|&size| u64::from(size)).sum::<u64>();
        let window = seen
            .sending
            .map_or(u64::MAX, |sending| sending.window.get());
        while rungs.len() > 2 && data(&rungs) > window {
            rungs.remove(rungs.len() / 2);
        }
        rungs
    }
}

/// The most sizes at the same time with which `left` fetches can divide `span` sizes until the
/// limit is exact: a round of n leaves a part of n + 1.
fn parallel(span: u32, left: usize) -> usize {
    let span = u64::from(span);
    let is_enough = |at_once: &usize| {
        let parts = u64::try_from(at_once + 1).unwrap_or(u64::MAX);
        let rounds = u32::try_from(left / at_once).unwrap_or(u32::MAX);
        parts.saturating_pow(rounds) >= span
    };
    (1..=PARALLEL).rev().find(is_enough).unwrap_or(1)
}
