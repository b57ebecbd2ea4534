//! The phases of an investigation, in order; each is a function that asks questions.

mod across;
mod back;
mod below_ipv6;
mod border;
mod branches;
mod fragments;
mod ladder;
mod limit;
mod locate;
mod losses;
mod reach;
mod recheck;
mod rejections;
mod route;

use super::asker::{Asker, Outcome};
use super::history::AnswerLimit;
use super::kind::Kind;
use super::search::Found;
use super::{Direction, Protocol, ReplySize, Settings};
use ladder::Above;

pub(super) use across::Carried;
pub(super) use branches::Branches;
pub(super) use ladder::LostRange;
pub(super) use locate::Boundary;
pub(super) use losses::Losses;
pub(super) use reach::Reachability;
pub(super) use rejections::Rejections;
pub(super) use route::Route;

/// Lost probes of the whole size after which more are sent before the search goes on: at
/// most so many, which are one of so many bytes of a round.
const DOUBTS: u32 = 2;
const MOST: u32 = 16;
const SHARE: u64 = 8;

/// Everything that is known at one time.
#[derive(Debug)]
pub(super) struct KnownPath {
    pub(super) reach: Reachability,
    pub(super) route: Route,
    /// The largest size to probe: the one asked for, if the local interface sends it.
    pub(super) up_to: u32,
    /// The limit of the rate of answers.
    pub(super) limit: Option<AnswerLimit>,
    /// The kind of the first search: by the protocol that tells most.
    pub(super) main: Option<Kind>,
    /// Its result.
    pub(super) found: Option<Found>,
    /// The same with answers as large as the probes, if those of the first are small.
    pub(super) back: Option<Found>,
    /// Sizes that are lost although larger ones pass, the smallest first.
    pub(super) ranges: Vec<LostRange>,
    /// Packets of which some pass, although the search found that they do not.
    pub(super) partial: Option<Kind>,
    /// The loss by size.
    pub(super) losses: Option<Losses>,
    /// The results of the other protocols.
    pub(super) carried: Vec<Carried>,
    /// Where packets of the first search vanish.
    pub(super) hole: Option<Hole>,
    /// The place of the router that rejects packets, if its address is none of the route.
    pub(super) rejecter: Option<Boundary>,
    /// Where packets of protocols that carry less vanish.
    pub(super) narrow: Vec<(Protocol, Boundary)>,
    pub(super) branches: Option<Branches>,
    pub(super) fragments: Outcome,
    pub(super) rejections: Option<Rejections>,
    /// Whether all questions about sizes are answered: what is left counts losses, and looks
    /// whether the path has changed.
    pub(super) is_surveyed: bool,
    /// Whether the path has changed since the searches.
    pub(super) changed: bool,
}

/// Where packets vanish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hole {
    /// `None`: the probes do not tell.
    pub(super) direction: Option<Direction>,
    pub(super) boundary: Boundary,
}

/// Whether there is a protocol to probe with.
pub(super) fn can_probe(settings: &Settings) -> bool {
    !reach::preferred(settings).is_empty()
}

/// Goes through all phases as far as answers reach.
pub(super) fn walk(ask: &mut Asker<'_>) -> KnownPath {
    let reach = reach::walk(ask);
    let route = route::walk(ask, reach.route);
    let up_to = up_to(ask);
    let mut walked = KnownPath {
        limit: None,
        main: None,
        reach,
        route,
        up_to,
        found: None,
        back: None,
        ranges: Vec::new(),
        partial: None,
        losses: None,
        carried: Vec::new(),
        hole: None,
        rejecter: None,
        narrow: Vec::new(),
        branches: None,
        fragments: Outcome::Open,
        rejections: None,
        is_surveyed: false,
        changed: false,
    };
    let Some(protocol) = walked.reach.main else {
        return walked;
    };
    let Some(limit) = limit::walk(ask, &walked.reach, protocol) else {
        return walked;
    };
    walked.limit = limit;
    if walked.limit != ask.history.limit() {
        // With a limit that is new, another protocol may be the first.
        return walked;
    }
    let main = main_kind(ask, protocol, up_to);
    walked.main = Some(main);
    reach::count_loss(ask, &walked.reach);
    walked.fragments = fragments::walk(ask, &walked.reach);
    if let Some(found) = walked.sizes(ask, main) {
        walked.rest(ask, main, found);
    }
    walked
}

impl KnownPath {
    /// The largest size, lost ranges and losses by size, one after the other: the later ones
    /// depend on the earlier ones. `None` ends the walk: while one is open, if the path has
    /// changed, and where large packets are lost too often for other questions.
    fn sizes(&mut self, ask: &mut Asker<'_>, main: Kind) -> Option<Found> {
        self.found = largest(ask, main);
        let mut found = self.found?;
        self.look_for_partial_loss(ask, main, found)?;
        if !fragments::end_search(ask, found) {
            found = fragments::largest_whole(ask, main, found, &self.route)?;
            self.found = Some(found);
        }
        match ladder::above(ask, main, found, self.up_to)? {
            Above::Same => {}
            Above::Larger(larger) => {
                found = larger;
                self.found = Some(found);
            }
            Above::Changed => return self.change(),
        }
        if main.reply == ReplySize::Small {
            self.back = largest(ask, main.with_size(found.mtu).with_reply(ReplySize::Same));
            match self.back {
                Some(back) => {
                    let kind = main.with_reply(ReplySize::Same);
                    self.look_for_partial_loss(ask, kind, back)?;
                }
                None if ask.is_open() => return None,
                None => {}
            }
        }
        let both_ways = self.back.map_or(found.mtu, |back| back.mtu);
        // If no large reply passes, ranges cannot be told from that.
        if self.back.is_some() || main.reply == ReplySize::Same {
            self.ranges = ladder::ranges(ask, &self.reach, main, both_ways, &self.route)?;
        }
        // A lost range explains losses, and leaves few bytes to count them.
        if self.ranges.is_empty() && losses::can_count(ask, main, both_ways) {
            self.losses = losses::first_looks(ask, main, both_ways);
            let first = self.losses.as_ref()?;
            if first.has_changed {
                return self.change();
            }
            if first.is_uneven {
                self.count_uneven(ask, main, found, both_ways);
                return None;
            }
        }
        if recheck::is_doubted(ask, found) {
            match recheck::still_passes(ask, main, found) {
                Outcome::Passes | Outcome::Unclear => {}
                Outcome::Open => return None,
                Outcome::Rejected | Outcome::Vanishes => return self.change(),
            }
        }
        Some(found)
    }

    /// The questions that depend on the sizes alone. They are open at the same time.
    fn rest(&mut self, ask: &mut Asker<'_>, main: Kind, found: Found) {
        if self.is_sought_first(ask, main, found) {
            return;
        }
        if fragments::end_search(ask, found) {
            // Other protocols do not show whether their packets arrive in fragments.
            fragments::ask_for_large_replies(ask, main, self.up_to);
        } else {
            self.carried = across::walk(ask, &self.reach, main, found, self.up_to);
            self.rejections = rejections::walk(ask, main, found);
        }
        self.hole = hole(ask, main, found, self);
        self.rejecter = rejecter(ask, main, found, &self.route);
        self.narrow = narrow(ask, found, self);
        // To the far end, packets of all sizes pass: other flows and another look show nothing.
        let is_quoted = fragments::are_quoted(ask, found);
        if !is_quoted {
            self.branches = branches::walk(ask, self, found);
        }
        self.is_surveyed = !ask.is_open();
        if !self.is_surveyed {
            return;
        }
        if let Some(first) = &self.losses {
            let both_ways = self.back.map_or(found.mtu, |back| back.mtu);
            let Some(losses) = losses::further_looks(ask, main, both_ways, first) else {
                return;
            };
            self.losses = Some(losses);
        }
        // The last look is at the end of everything else.
        let uneven = self.losses.as_ref().filter(|losses| losses.is_uneven);
        self.changed = match uneven {
            Some(losses) => losses.has_changed,
            None => {
                let fails = found.fails.filter(|_| !is_quoted);
                recheck::walk(ask, main, Found { fails, ..found })
            }
        };
    }

    /// Whether the place of a hole is open that comes before other questions: where packets
    /// are lost, each costs many probes, and the place is worth most.
    fn is_sought_first(&self, ask: &mut Asker<'_>, main: Kind, found: Found) -> bool {
        let has_losses = ask.history.loss().is_some_and(|loss| loss.lost > 0);
        let fails = found.fails.filter(|&(_, rejected)| !rejected && has_losses);
        fails
            .is_some_and(|(fails, _)| locate::walk(ask, main.with_size(fails), &self.route).is_open)
    }

    /// Where a few more packets of the size that did not pass do, packets of that size are
    /// lost often, and not always.
    fn look_for_partial_loss(
        &mut self,
        ask: &mut Asker<'_>,
        main: Kind,
        found: Found,
    ) -> Option<()> {
        let Some((fails, false)) = found.fails else {
            return Some(());
        };
        match losses::pass_at_times(ask, main.with_size(fails)) {
            Outcome::Open => None,
            Outcome::Passes => {
                self.partial = Some(main.with_size(fails));
                self.change()
            }
            Outcome::Rejected | Outcome::Vanishes | Outcome::Unclear => Some(()),
        }
    }

    /// Counts losses that depend on the size: where large packets are often lost, single
    /// losses decide no more questions.
    fn count_uneven(&mut self, ask: &mut Asker<'_>, main: Kind, found: Found, both_ways: u32) {
        let first = self.losses.as_ref();
        let further = first.and_then(|first| losses::further_looks(ask, main, both_ways, first));
        self.changed = further.as_ref().is_some_and(|losses| losses.has_changed);
        if further.is_some() {
            self.losses = further;
        }
        self.hole = hole(ask, main, found, self);
        self.rejecter = rejecter(ask, main, found, &self.route);
    }

    /// The path has changed: the walk begins anew.
    fn change<T>(&mut self) -> Option<T> {
        self.changed = true;
        None
    }
}

/// The largest size up to that of `kind` that passes; `None` while it is open.
///
/// If probes of the whole size are lost in a row, or large packets are known to be lost
/// often, a few more come before the search: it would end at any size.
fn largest(ask: &mut Asker<'_>, kind: Kind) -> Option<Found> {
    let counts = ask.history.counts(kind);
    if counts.answered > 0 {
        let (mtu, fails) = (kind.size, None);
        return Some(Found { mtu, fails });
    }
    let is_lossy = ask.history.loses_large();
    if (is_lossy || counts.lost >= DOUBTS) && counts.rejected == 0 {
        let fitting = ask.history.bytes_of_round(ask.settings) / SHARE / u64::from(kind.size);
        let attempts = match is_lossy {
            true => ask.history.needed(ask.settings.false_alarm),
            false => u32::try_from(fitting).unwrap_or(MOST).clamp(DOUBTS, MOST),
        };
        if ask.tries(kind, attempts) == Outcome::Open {
            return None;
        }
    }
    below_ipv6::search(ask, kind)
}

/// The largest size to probe.
fn up_to(ask: &Asker<'_>) -> u32 {
    let asked = u32::try_from(ask.settings.asked.get()).unwrap_or(u32::MAX);
    let interface = ask.settings.interface_mtu;
    let interface = interface.and_then(|mtu| u32::try_from(mtu.get()).ok());
    [interface, ask.history.local_mtu()]
        .into_iter()
        .flatten()
        .fold(asked, u32::min)
}

/// The packets of the first search.
fn main_kind(ask: &Asker<'_>, protocol: Protocol, up_to: u32) -> Kind {
    let reflected = protocol == Protocol::Udp && ask.settings.reflector.is_short();
    let reply = match reflected {
        true => ReplySize::Small,
        false => ReplySize::Same,
    };
    Kind::far_end(protocol, up_to).with_reply(reply)
}

/// Where packets vanish that are larger than the first search found to pass.
fn hole(ask: &mut Asker<'_>, main: Kind, found: Found, walked: &KnownPath) -> Option<Hole> {
    // A reflector tells the directions apart.
    if let Some((fails, false)) = walked.back.and_then(|back| back.fails) {
        let boundary = back::walk(ask, fails, &walked.route);
        let direction = Some(Direction::Reverse);
        return Some(Hole {
            direction,
            boundary,
        });
    }
    let (fails, _) = found.fails.filter(|&(_, rejected)| !rejected)?;
    let there = locate::walk(ask, main.with_size(fails), &walked.route);
    if there.first.is_some() || there.is_open || main.protocol != Protocol::Icmp {
        let direction = Some(Direction::Forward);
        return Some(Hole {
            direction,
            boundary: there,
        });
    }
    // Probes reach the last router at least: the answers may be what vanishes.
    let arrives = walked.carried.iter().any(|one| one.largest >= Some(fails));
    let boundary = back::walk(ask, fails, &walked.route);
    // All routers answer large echoes, and other protocols carry as much to the far end: it
    // is large echoes that are filtered there, as far as is known.
    if arrives && boundary.first.is_none() && !boundary.is_open {
        let direction = Some(Direction::Forward);
        return Some(Hole {
            direction,
            boundary: there,
        });
    }
    let is_reverse = arrives || boundary.first.is_some();
    let direction = is_reverse.then_some(Direction::Reverse);
    Some(Hole {
        direction,
        boundary,
    })
}

/// The place of the router that rejects packets, if it is not known by its address.
fn rejecter(ask: &mut Asker<'_>, main: Kind, found: Found, route: &Route) -> Option<Boundary> {
    let (fails, _) = found.fails.filter(|&(_, rejected)| rejected)?;
    if fragments::end_search(ask, found) {
        return None;
    }
    let is_on_route = |router| ask.history.hops().values().any(|hop| hop.address == router);
    let mut messages = ask.history.messages();
    let is_known = messages.any(|one| one.size == fails && is_on_route(one.router));
    (!is_known).then(|| locate::walk(ask, main.with_size(fails), route))
}

/// Where packets of protocols that carry less than the first one vanish.
fn narrow(ask: &mut Asker<'_>, found: Found, walked: &KnownPath) -> Vec<(Protocol, Boundary)> {
    let carried = walked.carried.iter();
    let less = carried.filter(|one| one.largest.is_some_and(|size| size < found.mtu));
    less.filter_map(|one| {
        let (fails, _) = one.fails?;
        let kind = Kind::far_end(one.protocol, fails);
        Some((one.protocol, locate::walk(ask, kind, &walked.route)))
    })
    .collect()
}
