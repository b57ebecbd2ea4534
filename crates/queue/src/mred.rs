//! MRED and DDF: RED that takes single packets out of bundles [Mulahuwaish].

mod frames;
mod keys;
mod settings;
mod share;

use units::{Bytes, Rate, Seed, Span, Time};

use crate::law::{self, AverageBacklog, Profile, Rounding, Verdict};
use crate::rng::Rng;
use crate::{AverageQueue, Backlog, BadSpec, Discipline, Drops, Limit, Packet, Reason, Unit};
use frames::{DropAction, Frames, meet, packets};
pub(crate) use keys::MredKeys;
pub use settings::{Bounds, Candidates, Interpretation, MredSettings, MredTrigger, Share, SizeOf};
use share::{Shares, weight};

/// A FIFO queue with MRED at admission: MRED chooses how many packets of which
/// frames to drop, and DDF drops them from the front of each frame. An arrival
/// that finds no room makes it in the same way: packets are dropped until it
/// fits, a whole frame if the limit is in frames.
#[derive(Debug)]
pub struct Mred<P> {
    settings: MredSettings,
    law: law::Red,
    average: AverageBacklog,
    rng: Rng,
    frames: Frames<P>,
}

impl<P: Packet> Mred<P> {
    /// An empty queue in front of a link of `rate`.
    ///
    /// # Errors
    /// Where a parameter is out of its range.
    pub fn new(settings: &MredSettings, rate: Rate, seed: Seed) -> Result<Self, BadSpec> {
        settings.check()?;
        Ok(Self {
            law: settings.red().law(rate),
            average: AverageBacklog::new(settings.weight),
            rng: Rng::new(seed),
            frames: Frames::new(settings.selection),
            settings: MredSettings {
                limit: settings.capacity(),
                ..settings.clone()
            },
        })
    }

    /// The law's decision at the arrival of `arrival`.
    fn judge(&mut self, arrival: &P) -> Judgement {
        match self.settings.interpretation {
            Interpretation::Inner => {
                let (count, reason) = self.count_inner(arrival);
                Judgement::Count(count, self.met(reason))
            }
            Interpretation::Letter(bounds) => match self.is_congested(arrival) {
                None => Judgement::Pass,
                Some(reason) => Judgement::Shares(self.shares(bounds, arrival), self.met(reason)),
            },
        }
    }

    /// Does it to the frames that wait; returns how many packets of the arrival
    /// are met, and how.
    fn execute(
        &mut self,
        now: Time,
        judgement: Judgement,
        arrival: &P,
        drops: &mut Drops<P>,
    ) -> Option<(u32, DropAction)> {
        let arriving = self.settings.candidates == Candidates::Arriving;
        match judgement {
            Judgement::Pass => None,
            Judgement::Count(count, met) if arriving => Some((count, met)),
            Judgement::Count(count, met) => Some((self.meet_waiting(now, count, met, drops), met)),
            Judgement::Shares(shares, met) if arriving => {
                let (portion, packets) = self.portion(shares, arrival);
                let most = arrival.live().saturating_sub(1);
                Some((self.draw(portion, packets).min(most), met))
            }
            Judgement::Shares(shares, met) => {
                self.take_shares(now, shares, met, drops);
                None
            }
        }
    }

    /// The shares of the frames that wait and of `arrival`.
    fn shares(&self, bounds: Bounds, arrival: &P) -> Shares {
        let MredSettings { share, size, .. } = self.settings;
        let frames = self.frames.iter().chain([arrival]);
        let weights = frames.map(|frame| weight(share, size, frame));
        Shares::new(share, bounds, &self.law, weights)
    }

    /// The share of `frame`, and of how many packets.
    fn portion(&self, shares: Shares, frame: &P) -> (f64, u32) {
        let MredSettings { share, size, .. } = self.settings;
        let portion = shares.of(weight(share, size, frame));
        (portion, packets(frame, size))
    }

    /// How many packets of `arrival` the law meets, and why.
    fn count_inner(&mut self, arrival: &P) -> (u32, Reason) {
        let all = packets(arrival, self.settings.size);
        if self.settings.rounding != Rounding::Each {
            let share = self.law.probability();
            let reason = if share < 1.0 {
                Reason::Early
            } else {
                Reason::Forced
            };
            return (self.draw(share, all), reason);
        }
        let size = match (arrival.advertised().packets, self.settings.size) {
            (1, _) => arrival.view().size,
            (_, SizeOf::Header) => arrival.advertised().average,
            (_, SizeOf::Live) => {
                let live = u64::from(arrival.live().max(1));
                Bytes::new(arrival.view().size.get() / live)
            }
        };
        let mut met = 0;
        let mut reason = Reason::Early;
        for _ in 0..all {
            match self.ask(size) {
                Verdict::Pass => continue,
                Verdict::Early => {}
                Verdict::Forced => reason = Reason::Forced,
            }
            met += 1;
        }
        (met, reason)
    }

    /// Whether MRED to the letter does anything, and why: without room it always
    /// does, else where RED would drop the frame that arrives.
    fn is_congested(&mut self, arrival: &P) -> Option<Reason> {
        if self.settings.trigger == MredTrigger::NoRoom {
            return Some(Reason::Early);
        }
        match self.ask(arrival.view().size) {
            Verdict::Pass => None,
            Verdict::Early => Some(Reason::Early),
            Verdict::Forced => Some(Reason::Forced),
        }
    }

    /// RED's decision about one more packet, of `size`.
    fn ask(&mut self, size: Bytes) -> Verdict {
        let chance = || self.rng.draw();
        match self.settings.unit {
            Unit::Bytes => {
                let waiting = self.frames.backlog().bytes;
                self.law
                    .judge_bytes(waiting, size, self.settings.mean_size, chance)
            }
            Unit::Frames | Unit::Inner => self.law.judge(self.frames.backlog().packets, chance),
        }
    }

    fn draw(&mut self, share: f64, packets: u32) -> u32 {
        self.settings
            .rounding
            .count(share, packets, || self.rng.draw())
    }

    /// The action on packets that the law chooses for `reason`.
    fn met(&self, reason: Reason) -> DropAction {
        let mark = self.settings.mark && self.law.average() < self.settings.curve.max;
        DropAction { reason, mark }
    }

    /// Meets `count` packets of those that wait; returns how many are too many
    /// for that.
    fn meet_waiting(
        &mut self,
        now: Time,
        count: u32,
        met: DropAction,
        drops: &mut Drops<P>,
    ) -> u32 {
        let mut next = 0;
        for done in 0..count {
            let Some(place) = self.next(next) else {
                return count - done;
            };
            next = self.meet_at(now, place, 1, met, drops);
        }
        0
    }

    /// The frame that loses a packet next, where those before `from` have had
    /// their turn.
    fn next(&self, from: usize) -> Option<usize> {
        let all = self.frames.len();
        let has = |least: u32| move |place: &usize| self.frames.unmarked(*place) >= least;
        if self.settings.candidates == Candidates::Queue {
            // First those that have one to spare, round and round.
            let mut around = (from..all).chain(0..from.min(all));
            if let Some(place) = around.find(has(2)) {
                return Some(place);
            }
        }
        (0..all).find(has(1))
    }

    /// Takes its share of every frame that waits, or of the oldest; one packet
    /// stays in each.
    fn take_shares(&mut self, now: Time, shares: Shares, met: DropAction, drops: &mut Drops<P>) {
        for place in 0..self.judged() {
            let Some(frame) = self.frames.frame(place) else {
                return;
            };
            let (portion, packets) = self.portion(shares, frame);
            let drawn = self.draw(portion, packets);
            let most = self.frames.unmarked(place).saturating_sub(1);
            self.meet_at(now, place, drawn.min(most), met, drops);
        }
    }

    /// How many frames MRED judges at an arrival.
    fn judged(&self) -> usize {
        match self.settings.candidates {
            Candidates::Queue => self.frames.len(),
            Candidates::Head | Candidates::Arriving => self.frames.len().min(1),
        }
    }

    /// When DDF begins with what is marked at `now`, and how far apart its drops
    /// are; `None` where neither marking nor dropping takes time.
    fn schedule(&self, now: Time) -> Option<(Time, Span)> {
        let MredSettings {
            mark_time,
            drop_time,
            ..
        } = self.settings;
        mark_time.or(drop_time)?;
        let marking = mark_time.unwrap_or(Span::ZERO) * self.judged() as u64;
        Some((now + marking, drop_time.unwrap_or(Span::ZERO)))
    }

    /// Meets `count` packets of the frame at `place`, now or when they are due.
    /// Returns the place of the frame behind it.
    fn meet_at(
        &mut self,
        now: Time,
        place: usize,
        count: u32,
        met: DropAction,
        drops: &mut Drops<P>,
    ) -> usize {
        if let Some((begin, apart)) = self.schedule(now) {
            self.frames.mark(begin, place, count, met, apart);
            return place + 1;
        }
        self.meet_now(place, count, met, drops)
    }

    fn meet_now(
        &mut self,
        place: usize,
        count: u32,
        met: DropAction,
        drops: &mut Drops<P>,
    ) -> usize {
        let before = self.frames.len();
        self.frames.meet(place, count, met, drops);
        // Where a frame went whole, the one behind it has its place.
        place + usize::from(self.frames.len() == before)
    }

    /// Lets the arrival wait, without those of its packets that are met.
    fn admit(
        &mut self,
        now: Time,
        mut arrival: P,
        met: Option<(u32, DropAction)>,
        drops: &mut Drops<P>,
    ) {
        // As many as live at most, whatever its header says.
        let met = met.map(|(count, met)| (count.min(arrival.live()), met));
        let later = self.schedule(now);
        if let Some((count, met)) = met
            && later.is_none()
            && !meet(&mut arrival, count, self.settings.selection, met, drops)
        {
            drops.push(arrival, met.reason);
            return;
        }
        let Some(arrival) = self.make_room(arrival, drops) else {
            return;
        };
        self.frames.push(arrival);
        if let Some((count, met)) = met
            && let Some((begin, apart)) = later
        {
            let last = self.frames.len() - 1;
            self.frames.mark(begin, last, count, met, apart);
        }
    }

    /// Whether the frame that arrives may wait beside the others.
    fn has_room(&self, arrival: &P) -> bool {
        let backlog = self.frames.backlog();
        match (self.settings.profile, self.settings.limit) {
            // An arrival may reach over the last byte [Ns2].
            (Profile::Ns2, Limit::Bytes(most)) => backlog.bytes < most,
            (_, limit) => limit.admits(backlog, arrival.view()),
        }
    }

    /// Meets packets until the arrival fits; returns what is left of it.
    fn make_room(&mut self, mut arrival: P, drops: &mut Drops<P>) -> Option<P> {
        let met = DropAction {
            reason: Reason::Full,
            mark: false,
        };
        let limit = self.settings.limit;
        if !limit.admits(Backlog::default(), arrival.view()) {
            self.law.full();
            drops.push(arrival, met.reason);
            return None;
        }
        let mut next = 0;
        while !self.has_room(&arrival) {
            self.law.full();
            // Where frames are what is limited, nothing less makes room.
            let whole = matches!(limit, Limit::Packets(_));
            if self.settings.candidates == Candidates::Arriving {
                if whole || !meet(&mut arrival, 1, self.settings.selection, met, drops) {
                    drops.push(arrival, met.reason);
                    return None;
                }
                continue;
            }
            // What is marked already goes before its time.
            if !whole && self.frames.hasten(drops) {
                continue;
            }
            let place = if whole { None } else { self.next(next) };
            if let Some(place) = place {
                next = self.meet_now(place, 1, met, drops);
            } else if let Some(oldest) = self.frames.take(0) {
                drops.push(oldest, met.reason);
            }
        }
        Some(arrival)
    }
}

/// The law's decision at an arrival.
#[derive(Clone, Copy, Debug)]
enum Judgement {
    /// Nothing.
    Pass,
    /// This many packets are chosen.
    Count(u32, DropAction),
    /// Such shares of frames are.
    Shares(Shares, DropAction),
}

impl<P: Packet> Discipline<P> for Mred<P> {
    fn enqueue(&mut self, now: Time, packet: P, drops: &mut Drops<P>) {
        self.frames.meet_due(now, drops);
        let rested = self.law.is_idle();
        let MredSettings { unit, size, .. } = self.settings;
        let kept = self.law.observe(now, self.frames.queue(unit, size));
        self.average.arrive(kept, self.frames.backlog());
        let room = self.has_room(&packet);
        let average = self.settings.trigger == MredTrigger::Average;
        let mut judgement = Judgement::Pass;
        if average || !room {
            judgement = self.judge(&packet);
        }
        if average && !room && self.settings.profile == Profile::Ns2 {
            // No room comes before what the law says [Ns2].
            judgement = Judgement::Pass;
        }
        let met = self.execute(now, judgement, &packet, drops);
        self.admit(now, packet, met, drops);
        if rested && self.frames.len() == 0 {
            // It was dropped, and the link rests on.
            self.law.rest(now);
        }
    }

    fn dequeue(&mut self, now: Time, drops: &mut Drops<P>) -> Option<P> {
        self.frames.meet_due(now, drops);
        let packet = self.frames.take(0);
        if packet.is_none() {
            self.law.rest(now);
        }
        packet
    }

    fn ready_at(&self) -> Option<Time> {
        (self.frames.len() > 0).then_some(Time::ZERO)
    }

    fn backlog(&self) -> Backlog {
        self.frames.backlog()
    }

    fn rest(&mut self, since: Time) {
        self.law.rest(since);
    }

    fn average(&self) -> Option<AverageQueue> {
        Some(self.average.of(&self.law))
    }
}

#[cfg(test)]
mod tests;
