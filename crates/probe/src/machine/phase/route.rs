//! The routers of the path, by small probes with hop limits.

use super::super::Protocol;
use super::super::asker::{Asker, Outcome};
use super::super::kind::Kind;

/// Hops that are looked for at once, and behind the last one that answered.
const WINDOW: u8 = 8;

/// The same where the far end answers probes that reach it with messages that are limited
/// in rate.
const NARROW_WINDOW: u8 = 2;

/// The systems of the path that answer.
#[derive(Debug, Default)]
pub(in crate::machine) struct Route {
    /// Hop limits at which a router answered, in order.
    pub(in crate::machine) routers: Vec<u8>,
    /// The hop limit that reaches the far end.
    pub(in crate::machine) far_end: Option<u8>,
}

/// Sends a small probe for each hop, and more to those that do not answer.
pub(in crate::machine) fn walk(ask: &mut Asker<'_>, protocol: Option<Protocol>) -> Route {
    let mut route = Route::default();
    let Some(protocol) = protocol else {
        return route;
    };
    let is_limited = protocol == Protocol::Udp && !ask.settings.reflector.is_there();
    let window = if is_limited { NARROW_WINDOW } else { WINDOW };
    let mut last = 0;
    for number in 1..=ask.settings.most_hops {
        if number > last + window {
            break;
        }
        let kind = Kind::small(protocol).with_hop_limit(number);
        let is_answered = ask.history.hops().contains_key(&number);
        if !is_answered && ask.answers(kind) != Outcome::Passes {
            continue;
        }
        last = number;
        let seen = ask.history.hops().get(&number);
        if seen.is_some_and(|seen| seen.is_far_end) {
            route.far_end = Some(number);
            break;
        }
        route.routers.push(number);
    }
    route
}
