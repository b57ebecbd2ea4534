//! The phases of an investigation, in order; each is a function that asks questions.

mod across;
mod back;
mod below_ipv6;
mod border;
mod branches;
mod fragments;
mod ladder;
mod locate;
mod reach;
mod recheck;
mod rejections;
mod route;

use super::asker::{Asker, Outcome};
use super::kind::Kind;
use super::search::Found;
use super::{Direction, Protocol, ReplySize, Settings};
use ladder::Above;

pub(super) use across::Carried;
pub(super) use branches::Branches;
pub(super) use ladder::LostRange;
pub(super) use locate::Boundary;
pub(super) use reach::Reachability;
pub(super) use rejections::Rejections;
pub(super) use route::Route;

/// Everything that is known at one time.
#[derive(Debug)]
pub(super) struct KnownPath {
    pub(super) reach: Reachability,
    pub(super) route: Route,
    /// The largest size to probe: the one asked for, if the local interface sends it.
    pub(super) up_to: u32,
    /// The kind of the first search: by the protocol that tells most.
    pub(super) main: Option<Kind>,
    /// Its result.
    pub(super) found: Option<Found>,
    /// The same with answers as large as the probes, if those of the first are small.
    pub(super) back: Option<Found>,
    /// Sizes that are lost although larger ones pass, the smallest first.
    pub(super) ranges: Vec<LostRange>,
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
        main: reach.main.map(|protocol| main_kind(ask, protocol, up_to)),
        reach,
        route,
        up_to,
        found: None,
        back: None,
        ranges: Vec::new(),
        carried: Vec::new(),
        hole: None,
        rejecter: None,
        narrow: Vec::new(),
        branches: None,
        fragments: Outcome::Open,
        rejections: None,
        changed: false,
    };
    let Some(main) = walked.main else {
        return walked;
    };
    reach::count_loss(ask, &walked.reach);
    walked.fragments = fragments::walk(ask, &walked.reach);
    walked.found = below_ipv6::search(ask, main);
    let Some(mut found) = walked.found else {
        return walked;
    };
    if recheck::is_doubted(ask, found) {
        match recheck::still_passes(ask, main, found) {
            Outcome::Passes | Outcome::Unclear => {}
            Outcome::Open => return walked,
            Outcome::Rejected | Outcome::Vanishes => {
                walked.changed = true;
                return walked;
            }
        }
    }
    match ladder::above(ask, main, found, up_to) {
        Above::Same => {}
        Above::Larger(larger) => {
            found = larger;
            walked.found = Some(found);
        }
        Above::Changed => {
            walked.changed = true;
            return walked;
        }
    }
    let mut both_ways = Some(found.mtu);
    if main.reply == ReplySize::Small {
        let back = main.with_size(found.mtu).with_reply(ReplySize::Same);
        walked.back = below_ipv6::search(ask, back);
        both_ways = walked.back.map(|back| back.mtu);
    }
    if let Some(largest) = both_ways {
        walked.ranges = ladder::ranges(ask, &walked.reach, main, largest, &walked.route);
    }
    if fragments::end_search(ask, found) {
        // Other protocols do not show whether their packets arrive in fragments.
        fragments::ask_for_large_replies(ask, main, up_to);
    } else {
        walked.carried = across::walk(ask, &walked.reach, main, found, up_to);
        walked.rejections = rejections::walk(ask, main, found);
    }
    walked.hole = hole(ask, main, found, &walked);
    walked.rejecter = rejecter(ask, main, found, &walked.route);
    walked.narrow = narrow(ask, found, &walked);
    walked.branches = branches::walk(ask, &walked, found);
    // The last look is at the end of everything else.
    if !ask.is_open() {
        walked.changed = recheck::walk(ask, main, found);
    }
    walked
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
