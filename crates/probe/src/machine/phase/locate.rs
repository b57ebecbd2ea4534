//! The hop behind which large probes vanish, by probes with hop limits.

use super::super::asker::{Asker, Outcome};
use super::super::kind::{Kind, SMALL};
use super::super::{HopProbes, Protocol, ReplySize};
use super::Route;

/// A place between two systems of the path, by their hop limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::machine) struct Boundary {
    /// The last router that large probes reach.
    pub(in crate::machine) last: Option<u8>,
    /// The first behind it that only small ones reach. `None` if there is no such router.
    pub(in crate::machine) first: Option<u8>,
    /// Whether routers were there to ask.
    pub(in crate::machine) is_known: bool,
    /// Whether the answer is still open.
    pub(in crate::machine) is_open: bool,
}

/// Sends probes like `kind` to each router of the route, by their hop limits.
pub(in crate::machine) fn walk(ask: &mut Asker<'_>, kind: Kind, route: &Route) -> Boundary {
    let kind = match ask.settings.hop_probes {
        HopProbes::Echo => Kind {
            protocol: Protocol::Icmp,
            reply: ReplySize::Same,
            ..kind
        },
        HopProbes::Any | HopProbes::None => kind,
    };
    let routers = route.routers.iter().map(|&hop| Step {
        hop,
        large: kind.with_hop_limit(hop),
        small: kind.with_size(SMALL).with_hop_limit(hop),
    });
    let mut boundary = between(ask, &routers.collect::<Vec<_>>());
    boundary.is_known |= route.far_end == Some(1);
    boundary
}

/// A router, and the probes for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) hop: u8,
    pub(super) large: Kind,
    pub(super) small: Kind,
}

/// The place between the last router that large probes reach and the first that they do
/// not.
///
/// One probe for each router, all at once, finds the last that is reached. Only the next
/// ones are asked until they answer or losses decide.
pub(super) fn between(ask: &mut Asker<'_>, steps: &[Step]) -> Boundary {
    let mut boundary = Boundary {
        is_known: !steps.is_empty(),
        ..Boundary::default()
    };
    let first_round: Vec<Outcome> = steps.iter().map(|step| ask.tries(step.large, 1)).collect();
    if first_round.contains(&Outcome::Open) {
        boundary.is_open = true;
        return boundary;
    }
    let reached = first_round.iter().rposition(|one| *one == Outcome::Passes);
    boundary.last = reached.map(|index| steps[index].hop);
    for step in &steps[reached.map_or(0, |index| index + 1)..] {
        match ask.passes(step.large, Some(step.small)) {
            Outcome::Passes => boundary.last = Some(step.hop),
            Outcome::Rejected | Outcome::Vanishes => {
                boundary.first = Some(step.hop);
                break;
            }
            Outcome::Open => {
                boundary.is_open = true;
                break;
            }
            Outcome::Unclear => {}
        }
    }
    boundary
}
