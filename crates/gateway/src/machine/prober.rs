//! The search for the largest packet that passes to a peer, by probes that the peer
//! answers [RFC8899].

use units::{Bytes, IpMtu, IpVersion, Seed, Span, Time};
use wire::bundle::{PathMessage, PathProbe};

use link::Answers;
use link::pmtu::{self, Discovery, ProbeTimer, State, TooBig, TooBigUse};

/// The time until a peer that answers nothing is probed again.
const AGAIN: Span = Span::from_secs(1);

/// Searches for larger sizes begin so many periods after each other.
const RAISE: u64 = 10;

/// The shortest time between two messages that bundles are missed, and between two probes
/// because of such messages: a forged one causes at most one probe a second.
const MISSED: Span = Span::from_secs(1);

/// The bounds of the time after which a probe counts as lost. The standard waits for a
/// second at least, as probes of a transport share the outcome of its data
/// [RFC8899 s5.1.1]; a gateway answers at once, and until then bundles may be lost.
const TIMER: ProbeTimer = ProbeTimer::FromRoundTrips {
    least: Span::from_millis(100),
    most: Span::from_secs(1),
};

/// The exchange of probes between this gateway and a peer about the path between them.
pub(super) struct Path {
    search: Option<Search>,
    /// A probe of the peer that is to be answered.
    asked: Option<PathProbe>,
    /// The limit of answers.
    answers: Answers,
    /// Whether the peer probes: it then is told of bundles that are missed.
    is_probed: bool,
    /// When the peer is told that bundles are missed.
    missed: Option<Time>,
    /// The earliest time of the next message of that kind, here and there.
    next_missed: Time,
    next_doubt: Time,
}

/// The search for the largest packet.
struct Search {
    discovery: Discovery,
    /// When a search begins anew after the peer answered nothing.
    again: Option<Time>,
}

impl Path {
    /// Without probes, unless there is a `period`: so often the size is confirmed. Sizes
    /// from `least` to `most` are searched for; `seed` must be secret.
    pub(super) fn new(period: Option<Span>, [least, most]: [Bytes; 2], seed: Seed) -> Self {
        let settings = period.and_then(|period| settings(period, least, most));
        let search = settings.map(|settings| Search {
            discovery: Discovery::new(settings, seed),
            again: None,
        });
        Self {
            search,
            asked: None,
            answers: Answers::default(),
            is_probed: false,
            missed: None,
            next_missed: Time::ZERO,
            next_doubt: Time::ZERO,
        }
    }

    /// Takes a message of the peer. Returns whether it is heeded: answers are limited.
    pub(super) fn heard(&mut self, now: Time, message: PathMessage) -> bool {
        match message {
            PathMessage::Probe(probe) => {
                self.is_probed = true;
                let granted = self.answers.take(now);
                if granted {
                    self.asked = Some(probe);
                }
                granted
            }
            PathMessage::Answer(probe) => {
                if let Some(search) = &mut self.search {
                    search.discovery.acknowledged(probe.id, now);
                }
                true
            }
            PathMessage::Missed => self.doubt(now),
        }
    }

    /// Has the size confirmed at once. Returns whether it was not too soon.
    pub(super) fn doubt(&mut self, now: Time) -> bool {
        let doubts = self.next_doubt <= now;
        if doubts {
            self.next_doubt = now + MISSED;
            if let Some(search) = &mut self.search {
                search.discovery.doubt(now);
            }
        }
        doubts
    }

    /// Whether probes search for the largest packet.
    pub(super) const fn is_searched(&self) -> bool {
        self.search.is_some()
    }

    /// Notes that bundles of the peer are missed.
    pub(super) fn miss(&mut self, now: Time) {
        if self.is_probed {
            self.missed.get_or_insert_with(|| now.max(self.next_missed));
        }
    }

    /// The message that is due by `now`. Packets larger than `told` are known not to
    /// leave.
    pub(super) fn poll(&mut self, now: Time, told: Bytes) -> Option<PathMessage> {
        if let Some(probe) = self.asked.take() {
            return Some(PathMessage::Answer(probe));
        }
        if self.missed.is_some_and(|at| at <= now) {
            self.missed = None;
            self.next_missed = now + MISSED;
            return Some(PathMessage::Missed);
        }
        let probe = self.search.as_mut()?.poll(now, told)?;
        Some(PathMessage::Probe(probe))
    }

    /// When a message is due.
    pub(super) fn next_timeout(&self) -> Option<Time> {
        let asked = self.asked.map(|_| Time::ZERO);
        let probe = self.search.as_ref().and_then(Search::next_timeout);
        [asked, self.missed, probe].into_iter().flatten().min()
    }

    /// The largest packet that passes where packets up to `told` may leave, and `least` is
    /// always used.
    pub(super) fn mtu(&self, told: Bytes, least: Bytes) -> Bytes {
        let Some(search) = &self.search else {
            return told;
        };
        let found = search.discovery.path_mtu();
        found.map_or(least, |found| found.bytes().max(least).min(told))
    }

    /// The path may carry more than before.
    pub(super) fn may_have_grown(&mut self, now: Time) {
        if let Some(search) = &mut self.search {
            search.discovery.raise(now);
        }
    }
}

impl Search {
    fn poll(&mut self, now: Time, told: Bytes) -> Option<PathProbe> {
        if self.discovery.state() == State::Disabled {
            if self.again.is_some_and(|at| now < at) {
                return None;
            }
            self.discovery.connected(now);
        }
        self.again = None;
        while let Some(probe) = self.discovery.poll_probe(now) {
            if probe.size <= told {
                let size = u32::try_from(probe.size.get()).ok()?;
                return Some(PathProbe { size, id: probe.id });
            }
            let said = self.discovery.too_big(TooBig {
                id: probe.id,
                quoted: probe.size,
                announced: told,
            });
            if let TooBigUse::Ignored(_) = said {
                // It counts as lost when its time is over.
                break;
            }
        }
        if self.discovery.state() == State::Disabled {
            self.again = Some(now + AGAIN);
        }
        None
    }

    fn next_timeout(&self) -> Option<Time> {
        match self.discovery.state() {
            State::Disabled => Some(self.again.unwrap_or(Time::ZERO)),
            _ => self.discovery.poll_timeout(),
        }
    }
}

fn settings(period: Span, least: Bytes, most: Bytes) -> Option<pmtu::Settings> {
    let [least, most] = [least, most].map(|size| IpMtu::new(size.get(), IpVersion::V4).ok());
    let (least, most) = (least?, most?);
    let standard = pmtu::Settings::new(IpVersion::V4, IpMtu::LARGEST.into()).ok()?;
    Some(pmtu::Settings {
        minimum: least,
        base: least,
        up_to: most,
        probe_timer: TIMER,
        raise_after: period * RAISE,
        confirm_after: Some(period),
        verifies_announced: true,
        ..standard
    })
}
