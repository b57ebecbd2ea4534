//! Questions about the path, answered from the record of probes, or else by new probes.
//!
//! The phases of an investigation are functions that ask questions and go on from the
//! answers. They run from the beginning each time a probe may be sent: a question that is
//! answered costs no probe, and the first one that is open sends the next. The same
//! functions, without sending, give the results.

use units::{Seed, Span, Time};

use super::history::{Counts, History};
use super::kind::Kind;
use super::loss_by_size::{SizeCounts, chance_of_more};
use super::search::{Found, Search, Searches};
use super::{Protocol, Settings};

/// The time between two probes of a kind one of which was lost: losses are hardly
/// independent at once.
const APART: Span = Span::from_millis(20);

/// The time between attempts before any round-trip time is known.
const FIRST_APART: Span = Span::from_millis(250);

/// Probes of a kind that was lost, a little later.
const LATER: u32 = 4;

/// One of so many packets that show that a kind does not pass suggests it.
const OF_NEEDED: u32 = 3;

/// Packets of a control for each one that shows that a kind does not pass.
const CONTROLS: u32 = 2;

/// Probes of a kind that are under way at once.
const MOST_UNDER_WAY: u32 = 8;

/// The time for each byte of packets whose losses are counted: 4 Mbit/s cause no congestion on
/// usual paths.
const BYTE_OF_SERIES: Span = Span::from_micros(2);

/// The least time between such packets, and those under way at once: a driver remembers a few more.
const APART_IN_SERIES: Span = Span::from_millis(2);
const MOST_OF_SERIES: u32 = 48;

/// The answer to a question whether packets of a kind pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Not known yet.
    Open,
    /// One passed.
    Passes,
    /// They are too big, says a router.
    Rejected,
    /// They vanish, while others pass.
    Vanishes,
    /// They get no answer, nor do others.
    Unclear,
}

impl Outcome {
    /// Whether packets of the kind do not pass.
    pub(super) const fn fails(self) -> bool {
        matches!(self, Self::Rejected | Self::Vanishes)
    }
}

/// The next probe to send.
#[derive(Clone, Copy, Debug)]
pub(super) struct Next {
    pub(super) kind: Kind,
    pub(super) search: Option<(usize, u64)>,
}

/// Asks questions at one time.
pub(super) struct Asker<'a> {
    pub(super) settings: &'a Settings,
    pub(super) history: &'a History,
    pub(super) searches: &'a mut Searches,
    seed: Seed,
    /// `None`: results only, nothing is sent.
    now: Option<Time>,
    next: Option<Next>,
    wake: Option<Time>,
    is_open: bool,
}

impl<'a> Asker<'a> {
    pub(super) const fn new(
        settings: &'a Settings,
        history: &'a History,
        searches: &'a mut Searches,
        seed: Seed,
        now: Option<Time>,
    ) -> Self {
        Self {
            settings,
            history,
            searches,
            seed,
            now,
            next: None,
            wake: None,
            is_open: false,
        }
    }

    /// The probe to send, the time to ask again at, and whether a question is open.
    pub(super) const fn outcome(&self) -> (Option<Next>, Option<Time>, bool) {
        (self.next, self.wake, self.is_open)
    }

    /// A question is open whose packets others have sent.
    pub(super) const fn wait(&mut self) {
        self.is_open = true;
    }

    /// Whether a question is open.
    pub(super) const fn is_open(&self) -> bool {
        self.is_open
    }

    /// Whether packets of this kind get an answer at all.
    pub(super) fn answers(&mut self, kind: Kind) -> Outcome {
        let counts = self.history.counts(kind);
        if counts.answered > 0 {
            return Outcome::Passes;
        }
        let tried = counts.lost + counts.rejected;
        if tried >= self.history.attempts() {
            return match counts.rejected {
                0 => Outcome::Unclear,
                _ => Outcome::Rejected,
            };
        }
        let apart = match (self.history.round_trip(), counts.lost) {
            (None, _) => FIRST_APART,
            (Some(_), 0) => self.history.timeout(),
            (Some(_), _) => APART,
        };
        if tried + counts.under_way < self.history.attempts() {
            self.send_after(kind, counts.last_sent, apart);
        }
        self.is_open = true;
        Outcome::Open
    }

    /// Whether packets of this kind pass. Before they count as vanished, packets of
    /// `control` show that answers of this kind are still given.
    pub(super) fn passes(&mut self, kind: Kind, control: Option<Kind>) -> Outcome {
        let counts = self.history.counts(kind);
        if counts.answered > 0 {
            return Outcome::Passes;
        }
        if counts.rejected > 0 {
            return Outcome::Rejected;
        }
        let needed = self.history.needed(self.settings.false_alarm);
        if counts.counted >= needed {
            return self.confirm_by(control, counts);
        }
        // Most of what was sent got lost while other packets did as well.
        if counts.lost >= needed * 4 {
            return Outcome::Unclear;
        }
        let at_once = match counts.lost {
            0 => 1,
            _ => (needed - counts.counted).min(MOST_UNDER_WAY),
        };
        if counts.under_way < at_once {
            self.send_after(kind, counts.last_sent, APART);
        }
        self.is_open = true;
        Outcome::Open
    }

    /// Whether packets of this kind, which others suggest to pass, do not pass, now and a
    /// little later: a congested queue loses many packets in a row.
    pub(super) fn fails_for_good(&mut self, kind: Kind, control: Option<Kind>) -> bool {
        match self.passes(kind, control) {
            Outcome::Rejected => true,
            Outcome::Vanishes => {
                let later = self.tries(kind.once_more(), LATER);
                matches!(later, Outcome::Unclear | Outcome::Rejected)
            }
            Outcome::Open | Outcome::Passes | Outcome::Unclear => false,
        }
    }

    /// Packets of these counts vanish if those of the control, sent later than the first of
    /// them, arrive.
    fn confirm_by(&mut self, control: Option<Kind>, lost: Counts) -> Outcome {
        let Some(control) = control else {
            return Outcome::Vanishes;
        };
        // Nothing else shows at which rate echoes are answered.
        let is_echo = control == Kind::small(Protocol::Icmp);
        if is_echo
            && self
                .history
                .beat()
                .is_some_and(|beat| beat.protocol != control.protocol)
        {
            return self.confirm_by_many(control.once_more(), lost.lost);
        }
        let since = lost.first_lost;
        let counts = self.history.counts(control);
        if counts.last_answered > since {
            return Outcome::Vanishes;
        }
        let is_late = counts.last_sent > since;
        if is_late && counts.under_way == 0 && counts.lost >= 2 * self.history.attempts() {
            return Outcome::Unclear;
        }
        if counts.under_way == 0 || !is_late {
            self.send_after(control, None, Span::ZERO);
        }
        self.is_open = true;
        Outcome::Open
    }

    /// Whether packets of this kind pass, by a few of those that [`Self::passes`] needs:
    /// enough to go on with, if the result is shown in full later. Those that get no answer
    /// are [`Outcome::Unclear`].
    pub(super) fn seems_to_pass(&mut self, kind: Kind) -> Outcome {
        let needed = self.history.needed(self.settings.false_alarm);
        self.tries(kind, needed.div_ceil(OF_NEEDED))
    }

    /// So many packets vanish if those of the control are not lost as often: their answers
    /// may be limited in rate.
    fn confirm_by_many(&mut self, control: Kind, lost: u32) -> Outcome {
        let number = CONTROLS * self.history.needed(self.settings.false_alarm);
        if !self.sends(control, number, APART) {
            return Outcome::Open;
        }
        let counts = self.history.counts(control);
        let control = SizeCounts {
            size: control.size,
            sent: counts.answered + counts.lost,
            lost: counts.lost,
        };
        let all = SizeCounts {
            sent: lost,
            lost,
            ..control
        };
        match chance_of_more(control, all) < self.settings.false_alarm {
            true => Outcome::Vanishes,
            false => Outcome::Unclear,
        }
    }

    /// Whether any of `attempts` packets of this kind gets an answer.
    pub(super) fn tries(&mut self, kind: Kind, attempts: u32) -> Outcome {
        let counts = self.history.counts(kind);
        if counts.answered > 0 {
            return Outcome::Passes;
        }
        if counts.rejected > 0 {
            return Outcome::Rejected;
        }
        if counts.lost >= attempts {
            return Outcome::Unclear;
        }
        let at_once = match counts.lost {
            0 => 1,
            lost => attempts - lost,
        };
        if counts.under_way < at_once {
            self.send_after(kind, counts.last_sent, APART);
        }
        self.is_open = true;
        Outcome::Open
    }

    /// Sends packets of this kind up to this number in all; whether all have their outcome.
    pub(super) fn sends(&mut self, kind: Kind, number: u32, apart: Span) -> bool {
        let counts = self.history.counts(kind);
        if counts.sent < number {
            self.send_after(kind, counts.last_sent, apart);
        }
        let is_open = counts.sent < number || counts.under_way > 0;
        self.is_open |= is_open;
        !is_open
    }

    /// Sends packets of these kinds up to these numbers in all, in a random order; whether all
    /// have their outcome.
    pub(super) fn interleaves(&mut self, series: &[(Kind, u32)]) -> bool {
        let all = series
            .iter()
            .map(|&(kind, number)| (self.history.counts(kind), kind, number));
        let all: Vec<_> = all.collect();
        let sent = |(counts, kind, _): &(Counts, Kind, u32)| Some((counts.last_sent?, kind.size));
        let last = all.iter().filter_map(sent).max();
        let next = self.one_of(&all);
        let under_way = all.iter().map(|(counts, ..)| counts.under_way).sum::<u32>();
        if let Some(kind) = next.filter(|_| under_way < MOST_OF_SERIES) {
            let size = last.map_or(0, |(_, size)| size);
            let apart = (BYTE_OF_SERIES * u64::from(size)).max(APART_IN_SERIES);
            self.send_after(kind, last.map(|(at, _)| at), apart);
        }
        let is_pending = |&(kind, number): &(Kind, u32)| {
            let mut outcomes = self.history.series(kind, number as usize);
            outcomes.any(|outcome| outcome.is_none())
        };
        let is_open = next.is_some() || series.iter().any(is_pending);
        self.is_open |= is_open;
        !is_open
    }

    /// The kind of a random packet of those that are missing.
    fn one_of(&self, all: &[(Counts, Kind, u32)]) -> Option<Kind> {
        let missing =
            |(counts, _, number): &(Counts, Kind, u32)| number.saturating_sub(counts.sent);
        let sum = all.iter().map(missing).map(u64::from).sum::<u64>();
        let sent = all.iter().map(|(counts, ..)| u64::from(counts.sent)).sum();
        let drawn = self.seed.derive("order").with(sent).get();
        let mut place = drawn.checked_rem(sum)?;
        all.iter().find_map(|one| {
            let missing = u64::from(missing(one));
            let is_here = place < missing;
            place = place.saturating_sub(missing);
            is_here.then_some(one.1)
        })
    }

    /// The largest size up to that of `kind` that passes; `None` while the search runs, or
    /// if none passes.
    pub(super) fn search(&mut self, kind: Kind) -> Option<Found> {
        let round = self.history.round;
        if self.now.is_some() && self.searches.position(round, kind).is_none() {
            let (settings, timeout) = (self.settings, self.history.timeout());
            self.searches
                .begin(round, kind, settings, timeout, self.seed);
        }
        self.search_on(kind)
    }

    fn search_on(&mut self, kind: Kind) -> Option<Found> {
        let index = self.searches.position(self.history.round, kind)?;
        let search = self.searches.get_mut(index)?;
        if search.has_ended() {
            return search.found();
        }
        self.is_open = true;
        let now = self.now?;
        let ready = self.history.ready_at(kind, now);
        if ready > now {
            self.wake_at(ready);
        } else if self.next.is_none() {
            if let Some((kind, id)) = search.poll_probe(now, self.history.assumed_loss()) {
                self.next = Some(Next {
                    kind,
                    search: Some((index, id)),
                });
            } else if search.has_ended() {
                return search.found();
            } else if let Some(wake) = search.poll_timeout() {
                self.wake_at(wake.max(now));
            }
        }
        None
    }

    /// Whether the search of this kind has ended.
    pub(super) fn has_ended(&self, kind: Kind) -> bool {
        let position = self.searches.position(self.history.round, kind);
        let search = position.and_then(|index| self.searches.get(index));
        search.is_none_or(Search::has_ended)
    }

    /// Sends a packet of this kind if nothing else is to be sent, the last one was sent so
    /// long ago, and its answer would not be held back.
    pub(super) fn send_after(&mut self, kind: Kind, last: Option<Time>, apart: Span) {
        let Some(now) = self.now else {
            return;
        };
        let due = last.map_or(now, |last| last + apart);
        let at = due.max(self.history.ready_at(kind, now));
        if at > now {
            self.wake_at(at);
        } else if self.next.is_none() {
            self.next = Some(Next { kind, search: None });
        }
    }

    fn wake_at(&mut self, at: Time) {
        self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
    }
}
