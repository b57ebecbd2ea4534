//! The sizes that decide for one protocol, probed by the others.

use super::super::Protocol;
use super::super::asker::{Asker, Outcome};
use super::super::kind::Kind;
use super::super::search::Found;
use super::{Reachability, below_ipv6};

/// The sizes that a protocol carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::machine) struct Carried {
    pub(in crate::machine) protocol: Protocol,
    /// The largest size that is known to pass.
    pub(in crate::machine) largest: Option<u32>,
    /// The smallest size that is known not to pass, and whether a router said so.
    pub(in crate::machine) fails: Option<(u32, bool)>,
}

/// Probes by each protocol but the first the size that passed and the one that did not,
/// and searches where it differs.
pub(in crate::machine) fn walk(
    ask: &mut Asker<'_>,
    reach: &Reachability,
    main: Kind,
    found: Found,
    up_to: u32,
) -> Vec<Carried> {
    let others = reach.answers.iter().filter(|&&one| one != main.protocol);
    others
        .map(|&protocol| match found.fails {
            None => at_most(ask, protocol, found.mtu, None),
            Some((fails, rejected)) => match passes(ask, protocol, fails) {
                Outcome::Passes => at_least(ask, protocol, fails, up_to),
                one if one.fails() => at_most(ask, protocol, found.mtu, Some((fails, rejected))),
                _ => at_most(ask, protocol, found.mtu, None),
            },
        })
        .collect()
}

fn passes(ask: &mut Asker<'_>, protocol: Protocol, size: u32) -> Outcome {
    let control = Kind::small(protocol);
    ask.passes(Kind::far_end(protocol, size), Some(control))
}

/// The largest packets of a protocol that is known to carry `size`.
fn at_least(ask: &mut Asker<'_>, protocol: Protocol, size: u32, up_to: u32) -> Carried {
    let largest = match passes(ask, protocol, up_to) {
        Outcome::Passes => Some(up_to),
        Outcome::Open => None,
        Outcome::Unclear => Some(size),
        Outcome::Rejected | Outcome::Vanishes => {
            return searched(ask, protocol, up_to, Some(size), None);
        }
    };
    Carried {
        protocol,
        largest,
        fails: None,
    }
}

/// The largest packets of a protocol up to a size; `fails` is a size that fails above it.
fn at_most(
    ask: &mut Asker<'_>,
    protocol: Protocol,
    size: u32,
    fails: Option<(u32, bool)>,
) -> Carried {
    let mut carried = Carried {
        protocol,
        largest: None,
        fails,
    };
    match passes(ask, protocol, size) {
        Outcome::Passes => carried.largest = Some(size),
        Outcome::Open | Outcome::Unclear => {}
        one => {
            let kind = Kind::far_end(protocol, size);
            if !ask.fails_for_good(kind, Some(Kind::small(protocol))) {
                let passed = ask.history.counts(kind.once_more()).answered > 0;
                carried.largest = passed.then_some(size);
                return carried;
            }
            let fails = Some((size, one == Outcome::Rejected));
            return searched(ask, protocol, size - 1, None, fails);
        }
    }
    carried
}

/// The result of a search up to a size, if it has ended.
fn searched(
    ask: &mut Asker<'_>,
    protocol: Protocol,
    up_to: u32,
    passed: Option<u32>,
    fails: Option<(u32, bool)>,
) -> Carried {
    let kind = Kind::far_end(protocol, up_to);
    // The errors that answer UDP quote up to 1280 bytes over IPv6 [RFC4443 s2.4], and are lost
    // where these do not pass.
    let is_quoted = protocol == Protocol::Udp && !ask.settings.reflector.is_there();
    let found = match is_quoted {
        true => ask.search(kind),
        false => below_ipv6::search(ask, kind),
    };
    let passed = passed.filter(|_| ask.has_ended(kind));
    Carried {
        protocol,
        largest: found.map(|found| found.mtu).max(passed),
        fails: found.and_then(|found| found.fails).or(fails),
    }
}
