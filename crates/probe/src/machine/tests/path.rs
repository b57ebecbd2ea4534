//! A path for investigations: routers in a row, links that break packets by rules, loss.

use core::net::{IpAddr, Ipv4Addr};
use std::collections::{BTreeMap, BTreeSet};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use units::{Bytes, Seed, Span, Time};

use crate::machine::{
    Answer, AnswerKind, Investigation, PathReport, Probe, ReplySize, Settings, Target,
};
use link::{Direction, Protocol};

/// The size of messages, of TCP's answers, and of small answers of a reflector.
const SMALL: u64 = 64;

/// The far end's address.
pub(super) const FAR_END: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

/// The address of the router of this number, from 1.
pub(super) fn router(number: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, number, 1))
}

/// Which packets a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    All,
    Of(Protocol),
    /// Of TCP and UDP, the flows whose number has this remainder by three.
    Flows(u16),
}

/// The message about a packet that is too big.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Told {
    Silent,
    Announces(u64),
    /// The right size, so many times in a row and one in a second from then on.
    Limited(u32),
}

/// A link that does not carry packets above a size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Narrow {
    /// Number of the link: that behind the router of this number, 0 is the first.
    pub(super) link: u8,
    pub(super) mtu: u64,
    /// Still larger packets than this pass.
    pub(super) up_to: u64,
    /// `None`: both.
    pub(super) direction: Option<Direction>,
    pub(super) which: Which,
    pub(super) told: Told,
    /// When it begins and ends, in milliseconds.
    pub(super) during: (u64, u64),
}

impl Narrow {
    /// A link that drops larger packets without a word.
    pub(super) const fn silent(link: u8, mtu: u64) -> Self {
        Self {
            link,
            mtu,
            up_to: u64::MAX,
            direction: None,
            which: Which::All,
            told: Told::Silent,
            during: (0, u64::MAX),
        }
    }

    /// A link whose router says so.
    pub(super) const fn told(link: u8, mtu: u64) -> Self {
        Self {
            told: Told::Announces(mtu),
            ..Self::silent(link, mtu)
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) routers: u8,
    /// Routers that do not answer.
    pub(super) silent: BTreeSet<u8>,
    pub(super) narrow: Vec<Narrow>,
    pub(super) answers: Vec<Protocol>,
    pub(super) reflects: bool,
    pub(super) drops_fragments: bool,
    pub(super) mss: Option<u16>,
    /// The loss of each direction.
    pub(super) loss: f64,
    pub(super) one_way: Span,
}

impl Path {
    pub(super) fn clean() -> Self {
        Self {
            routers: 3,
            silent: BTreeSet::new(),
            narrow: Vec::new(),
            answers: vec![Protocol::Icmp, Protocol::Udp, Protocol::Tcp],
            reflects: false,
            drops_fragments: false,
            mss: None,
            loss: 0.0,
            one_way: Span::from_millis(10),
        }
    }

    pub(super) fn with(narrow: Narrow) -> Self {
        Self {
            narrow: vec![narrow],
            ..Self::clean()
        }
    }

    pub(super) fn losing(self, loss: f64) -> Self {
        Self { loss, ..self }
    }
}

/// The rejection of a packet: the router in front of the link, and its message.
struct Stopped {
    router: u8,
    announced: Option<u64>,
}

/// A path at work.
pub(super) struct Backend {
    path: Path,
    rng: ChaCha8Rng,
    /// The error messages that each system may still send, and the time of that count.
    errors: BTreeMap<u8, (f64, Time)>,
    rejections: BTreeMap<u8, (f64, Time)>,
}

impl Backend {
    pub(super) fn new(path: &Path, seed: u64) -> Self {
        Self {
            path: path.clone(),
            rng: ChaCha8Rng::seed_from_u64(seed),
            errors: BTreeMap::new(),
            rejections: BTreeMap::new(),
        }
    }

    fn is_lost(&mut self) -> bool {
        self.rng.random_bool(self.path.loss)
    }

    /// The rule that stops a packet on a link.
    fn rule(
        &self,
        link: u8,
        size: u64,
        probe: &Probe,
        direction: Direction,
        now: Time,
    ) -> Option<Narrow> {
        let at = now.as_picos() / 1_000_000_000;
        let rules = self.path.narrow.iter().copied();
        rules.into_iter().find(|rule| {
            let is_direction = rule.direction.is_none_or(|only| only == direction);
            let is_which = match rule.which {
                Which::All => true,
                Which::Of(protocol) => probe.protocol == protocol,
                Which::Flows(rest) => probe.protocol != Protocol::Icmp && probe.flow % 3 == rest,
            };
            let is_now = rule.during.0 <= at && at < rule.during.1;
            let is_size = rule.mtu < size && size <= rule.up_to;
            rule.link == link && is_size && is_direction && is_which && is_now
        })
    }

    /// Takes a packet to the system of this number: routers from 1, then the far end.
    fn there(&mut self, to: u8, probe: &Probe, now: Time) -> Result<(), Option<Stopped>> {
        let size = probe.fragment_size.unwrap_or(probe.size).get();
        for link in 0..to {
            if probe.fragment_size.is_some() && self.path.drops_fragments && link == 1 {
                return Err(None);
            }
            if let Some(rule) = self.rule(link, size, probe, Direction::Forward, now) {
                let announced = match rule.told {
                    Told::Silent => None,
                    Told::Announces(size) => Some(size),
                    Told::Limited(burst) => {
                        spend(&mut self.rejections, link, burst, now).then_some(rule.mtu)
                    }
                };
                let router = link;
                return Err(Some(Stopped { router, announced }));
            }
        }
        Ok(())
    }

    /// Whether an answer of this size comes back from the system of this number.
    fn comes_back(&mut self, from: u8, size: u64, probe: &Probe, now: Time) -> bool {
        let stops = (0..from).any(|link| {
            self.rule(link, size, probe, Direction::Reverse, now)
                .is_some()
        });
        !stops && !self.is_lost()
    }

    /// The answer to a probe, and when it arrives.
    pub(super) fn carry(&mut self, probe: &Probe, now: Time) -> Option<(Time, Answer)> {
        let far_end = self.path.routers + 1;
        let addressee = match probe.to {
            Target::FarEnd => far_end,
            Target::Router(address) => (1..far_end).find(|&number| router(number) == address)?,
        };
        let end = probe.hop_limit.map_or(addressee, |hop| hop.min(addressee));
        if self.is_lost() {
            return None;
        }
        let (from, size, kind) = match self.there(end, probe, now) {
            Err(None) => return None,
            Err(Some(Stopped { router, announced })) => {
                let kind = AnswerKind::TooBig {
                    announced: Bytes::new(announced?),
                    quoted: probe.size,
                };
                (router, SMALL, kind)
            }
            Ok(()) if end < addressee => {
                let is_answered =
                    !self.path.silent.contains(&end) && spend(&mut self.errors, end, 6, now);
                is_answered.then_some((
                    end,
                    SMALL,
                    AnswerKind::HopLimitExceeded { quoted: None },
                ))?
            }
            Ok(()) => self.reply(probe, end, now)?,
        };
        if !self.comes_back(from, size, probe, now) {
            return None;
        }
        let share = u64::from(from.max(1));
        let trip = Span::from_picos(self.path.one_way.as_picos() * 2 * share / u64::from(far_end));
        let from = match from == far_end {
            true => FAR_END,
            false => router(from),
        };
        let id = probe.id;
        Some((now + trip, Answer { id, from, kind }))
    }

    /// The answer of the addressee.
    fn reply(&mut self, probe: &Probe, end: u8, now: Time) -> Option<(u8, u64, AnswerKind)> {
        let is_router = end <= self.path.routers;
        let answers = match is_router {
            true => !self.path.silent.contains(&end) && probe.protocol == Protocol::Icmp,
            false => self.path.answers.contains(&probe.protocol),
        };
        if !answers {
            return None;
        }
        let is_unreachable = probe.protocol == Protocol::Udp && !self.path.reflects;
        if is_unreachable && !spend(&mut self.errors, end, 6, now) {
            return None;
        }
        let is_large = match probe.protocol {
            Protocol::Icmp => true,
            Protocol::Udp => self.path.reflects && probe.reply == ReplySize::Same,
            Protocol::Tcp => false,
        };
        let size = match is_large {
            true => probe.size.get(),
            false => SMALL,
        };
        let kind = AnswerKind::Reply {
            size: Bytes::new(size),
            fragment_size: None,
            mss: self.path.mss.filter(|_| probe.protocol == Protocol::Tcp),
            is_unreachable,
            reflected: None,
        };
        Some((end, size, kind))
    }
}

/// Takes one message from an allowance that grows by one in a second.
fn spend(all: &mut BTreeMap<u8, (f64, Time)>, of: u8, burst: u32, now: Time) -> bool {
    let (left, since) = all.entry(of).or_insert_with(|| (f64::from(burst), now));
    let passed = now.since(*since).unwrap_or(Span::ZERO).as_secs_f64();
    *left = (*left + passed).min(f64::from(burst));
    *since = now;
    let is_left = *left >= 1.0;
    *left -= f64::from(u8::from(is_left));
    is_left
}

/// The settings of an investigation that asks for 9000 bytes.
pub(super) fn settings() -> Settings {
    Settings::new(FAR_END, Bytes::new(9000))
}

/// The report of an investigation over a path.
pub(super) fn investigate(path: &Path, settings: Settings, seed: u64) -> PathReport {
    let mut backend = Backend::new(path, seed);
    let mut answer = |probe: &Probe, now: Time| -> Vec<(Time, Answer)> {
        backend.carry(probe, now).into_iter().collect()
    };
    drive(settings, seed, &mut answer)
}

/// A function that answers probes: the answers, and the times of their arrival.
pub(super) type Answerer<'a> = dyn FnMut(&Probe, Time) -> Vec<(Time, Answer)> + 'a;

/// Runs an investigation against anything that answers probes.
pub(super) fn drive(settings: Settings, seed: u64, answer: &mut Answerer<'_>) -> PathReport {
    let mut investigation = Investigation::new(settings, Seed::new(seed)).unwrap();
    let mut under_way: BTreeMap<(Time, usize), Answer> = BTreeMap::new();
    let (mut now, mut count) = (Time::ZERO, 0);
    for _ in 0..1_000_000 {
        if let Some(probe) = investigation.poll_probe(now) {
            for (at, answer) in answer(&probe, now) {
                under_way.insert((at, count), answer);
                count += 1;
            }
            continue;
        }
        if investigation.is_done() {
            return investigation.report();
        }
        let wake = investigation.poll_timeout().unwrap();
        match under_way.first_key_value() {
            Some((&(at, _), _)) if at <= wake => {
                let ((at, _), answer) = under_way.pop_first().unwrap();
                now = now.max(at);
                investigation.answered(now, &answer);
            }
            _ => {
                assert!(wake > now || investigation.poll_timeout().is_some());
                now = now.max(wake);
            }
        }
    }
    panic!("not done: {:?}", investigation.progress());
}
