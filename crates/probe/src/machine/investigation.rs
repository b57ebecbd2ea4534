//! The loop around the phases.

use units::{Bytes, Seed, Span, Time};

use super::asker::{Asker, Next};
use super::history::{History, Response};
use super::kind::{Kind, Purpose, bytes};
use super::phase::{self, KnownPath};
use super::search::{self, Searches};
use super::{Answer, BadSettings, PathReport, Probe, Settings, findings};
use link::pmtu::TooBig;

/// The time between small probes that stand beside others.
const BEAT: Span = Span::from_millis(10);

/// How often everything begins anew because the path has changed.
const MOST_ROUNDS: u32 = 3;

/// The investigation of a path.
///
/// The driver
///
/// 1. sends the probes of [`Self::poll_probe`] until there is none,
/// 2. passes on answers by [`Self::answered`],
/// 3. comes back at the time of [`Self::poll_timeout`] and after each answer,
/// 4. takes the [`Self::report`] when [`Self::is_done`].
///
/// The times that it passes never decrease.
#[derive(Debug)]
pub struct Investigation {
    settings: Settings,
    seed: Seed,
    history: History,
    searches: Searches,
    began: Option<Time>,
    last: Time,
    /// Before this time no probe is sent.
    free_at: Time,
    beat_is_due: bool,
    wake: Option<Time>,
    /// The largest size of earlier rounds.
    earlier: Vec<u32>,
    progress: Progress,
    report: Option<PathReport>,
}

/// How far an investigation is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The present stage.
    pub phase: Phase,
    /// The largest size known to pass.
    pub confirmed: Option<Bytes>,
    /// Packets sent.
    pub probes: u64,
}

/// The stage of an investigation. Stages overlap; this is the first open one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Whether the far end answers.
    #[default]
    Reachability,
    /// The largest size that passes.
    Search,
    /// Where larger packets vanish, what else carries them, and the rest.
    Locate,
    Done,
}

impl Investigation {
    /// An investigation that has sent nothing. Identifiers of probes derive from `seed`,
    /// which has to be secret and new for each investigation.
    ///
    /// # Errors
    /// The size asked for is none of the protocol, or there is nothing to probe with.
    pub fn new(settings: Settings, seed: Seed) -> Result<Self, BadSettings> {
        let asked = u32::try_from(settings.asked.get()).unwrap_or(u32::MAX);
        search::discovery(asked, &settings, settings.most_timeout)?;
        if !phase::can_probe(&settings) {
            return Err(BadSettings::NoProtocol);
        }
        Ok(Self {
            history: History::new(&settings, seed.derive("probes")),
            searches: Searches::default(),
            settings,
            seed: seed.derive("searches"),
            began: None,
            last: Time::ZERO,
            free_at: Time::ZERO,
            beat_is_due: false,
            wake: Some(Time::ZERO),
            earlier: Vec::new(),
            progress: Progress::default(),
            report: None,
        })
    }

    /// The next probe to send now, if there is one.
    pub fn poll_probe(&mut self, now: Time) -> Option<Probe> {
        // The questions cost time: they are asked when their answers may be others.
        if self.wake.is_none_or(|wake| now < wake) {
            return None;
        }
        self.last = self.last.max(now);
        let began = *self.began.get_or_insert(now);
        self.history.expire(now);
        let end = began + self.settings.most_time;
        if now >= end || self.history.probes() >= u64::from(self.settings.most_probes) {
            let walked = self.walk(None).0;
            self.finish(&walked, true);
            return None;
        }
        if now < self.free_at {
            self.wake = Some(self.free_at);
            return None;
        }
        if let Some(beat) = self.history.beat().filter(|_| self.beat_is_due) {
            return Some(self.send(beat, None, now));
        }
        let (mut walked, mut next, mut wake, mut is_open) = self.walk(Some(now));
        if self.finds_limit(&walked, now) {
            (walked, next, wake, is_open) = self.walk(Some(now));
        }
        self.note(&walked);
        if let Some(Next { kind, search }) = next {
            if self.history.bytes() + bytes(kind.size) > self.settings.most_bytes {
                self.finish(&walked, true);
                return None;
            }
            return Some(self.send(kind, search, now));
        }
        if !is_open {
            return self.round_ended(&walked, now);
        }
        let wake = [wake, self.history.next_deadline()].into_iter().flatten();
        self.wake = wake.chain([end]).min();
        None
    }

    /// When [`Self::poll_probe`] has something to do, unless an answer comes before;
    /// `None` when the investigation is done.
    pub const fn poll_timeout(&self) -> Option<Time> {
        self.wake
    }

    /// An answer came. One that is late, doubled, forged, or unknown does no harm.
    pub fn answered(&mut self, now: Time, answer: &Answer) {
        if self.report.is_some() {
            return;
        }
        self.last = self.last.max(now);
        match self.history.answered(now, answer) {
            Some(Response::Arrived { search, id }) => {
                if let Some(search) = self.searches.get_mut(search) {
                    search.acknowledged(id, now);
                }
            }
            Some(Response::TooBig {
                search,
                id,
                quoted,
                announced,
            }) => {
                if let Some(search) = self.searches.get_mut(search) {
                    search.too_big(TooBig {
                        id,
                        quoted,
                        announced,
                    });
                }
            }
            None => {}
        }
        self.wake = Some(now.max(self.free_at));
    }

    /// How far it is.
    pub const fn progress(&self) -> Progress {
        self.progress
    }

    /// Whether there is nothing left to find out.
    pub const fn is_done(&self) -> bool {
        self.report.is_some()
    }

    /// The report: complete when the investigation is done, preliminary before.
    pub fn report(&mut self) -> PathReport {
        if self.report.is_none() {
            let walked = self.walk(None).0;
            self.finish(&walked, true);
        }
        self.report
            .clone()
            .unwrap_or_else(|| unreachable!("finished above"))
    }

    fn walk(&mut self, now: Option<Time>) -> (KnownPath, Option<Next>, Option<Time>, bool) {
        let mut ask = Asker::new(
            &self.settings,
            &self.history,
            &mut self.searches,
            self.seed,
            now,
        );
        let walked = phase::walk(&mut ask);
        let (next, wake, is_open) = ask.outcome();
        (walked, next, wake, is_open)
    }

    /// Whether a limit of answers is new, after which everything is asked again.
    fn finds_limit(&mut self, walked: &KnownPath, now: Time) -> bool {
        let new = walked.limit.filter(|_| self.history.limit().is_none());
        if let Some(limit) = new {
            self.history.limit_answers(limit, now);
        }
        new.is_some()
    }

    /// Fixes what does not change any more, and the progress.
    fn note(&mut self, walked: &KnownPath) {
        if let Some(beat) = walked.reach.beat {
            self.history.beat_with(beat);
        }
        if let Some(main) = walked.main {
            self.history.choose(main.protocol);
        }
        let phase = match (walked.main, walked.found) {
            (None, _) => Phase::Reachability,
            (Some(_), None) => Phase::Search,
            (Some(_), Some(_)) => Phase::Locate,
        };
        let round = self.history.round;
        let search = walked.main.and_then(|main| {
            let index = self.searches.position(round, main)?;
            self.searches.get(index)
        });
        self.progress = Progress {
            phase,
            confirmed: search.and_then(search::Search::confirmed).map(bytes),
            probes: self.history.probes(),
        };
    }

    fn send(&mut self, kind: Kind, search: Option<(usize, u64)>, now: Time) -> Probe {
        // Packets whose losses are counted are compared with small ones of their own.
        let needs_beat = !self.history.is_beat(kind) && kind.purpose != Purpose::Loss;
        let last = self.history.last_beat();
        self.beat_is_due = needs_beat && last.is_none_or(|last| last + BEAT <= now);
        let on_the_wire = self.settings.rate.serialise(bytes(kind.size));
        self.free_at = now + self.settings.spacing.max(on_the_wire);
        self.wake = Some(self.free_at);
        self.history.send(kind, search, now)
    }

    /// Everything is answered: that is the result, unless the path has changed.
    fn round_ended(&mut self, walked: &KnownPath, now: Time) -> Option<Probe> {
        if walked.changed && self.history.round + 1 < MOST_ROUNDS {
            self.earlier.extend(walked.found.map(|found| found.mtu));
            if let Some(kind) = walked.partial {
                self.history.expect_loss(kind);
            }
            self.history.begin_round();
            self.wake = Some(now);
        } else {
            self.finish(walked, false);
        }
        None
    }

    fn finish(&mut self, walked: &KnownPath, is_cut: bool) {
        let took = self.began.and_then(|began| self.last.since(began));
        let facts = findings::Facts {
            settings: &self.settings,
            history: &self.history,
            walked,
            earlier: &self.earlier,
            took: took.unwrap_or(Span::ZERO),
            is_cut: is_cut && !walked.is_surveyed,
        };
        self.report = Some(findings::report(&facts));
        self.progress.phase = Phase::Done;
        self.progress.probes = self.history.probes();
        self.wake = None;
    }
}
