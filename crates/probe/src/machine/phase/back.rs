//! The hop behind which large answers vanish, by large echo requests to each router.

use super::super::asker::{Asker, Outcome};
use super::super::kind::{Kind, SMALL};
use super::Route;
use super::locate::{Boundary, Step, between};

/// Sends echo requests of `size` bytes to the routers that answer small ones.
pub(in crate::machine) fn walk(ask: &mut Asker<'_>, size: u32, route: &Route) -> Boundary {
    if !ask.settings.can_echo {
        return Boundary::default();
    }
    let mut steps = Vec::new();
    let mut is_open = false;
    for &hop in &route.routers {
        let Some(seen) = ask.history.hops().get(&hop) else {
            continue;
        };
        let small = Kind::router(seen.address, SMALL);
        let large = small.with_size(size);
        match ask.answers(small) {
            Outcome::Passes => steps.push(Step { hop, large, small }),
            Outcome::Open => is_open = true,
            Outcome::Rejected | Outcome::Vanishes | Outcome::Unclear => {}
        }
    }
    if is_open {
        return Boundary {
            is_open,
            ..Boundary::default()
        };
    }
    let mut boundary = between(ask, &steps);
    boundary.is_known |= route.far_end == Some(1);
    boundary
}
