//! Advice on the settings to change.

use super::super::{Advice, Device, Direction, Finding, FindingKind, Place, Remedy};
use super::Facts;

/// The advice of each finding, without repetition.
pub(super) fn advice(facts: &Facts<'_>, findings: &[Finding]) -> Vec<Advice> {
    let mut advice: Vec<Advice> = Vec::new();
    for finding in findings {
        for (device, remedy) in of(facts, &finding.kind) {
            let one = Advice { device, remedy };
            if !advice.contains(&one) {
                advice.push(one);
            }
        }
    }
    advice
}

fn of(facts: &Facts<'_>, kind: &FindingKind) -> Vec<(Device, Remedy)> {
    let asked = Remedy::Mtu(facts.settings.asked);
    let path = Place::default();
    let passes = |from: units::Bytes| from - units::Bytes::new(1);
    let smaller = |device, mtu| {
        vec![
            (device, Remedy::Mtu(mtu)),
            (device, Remedy::Mss(facts.mss(mtu))),
        ]
    };
    match *kind {
        FindingKind::FirstLink { from, first } => {
            let before = Some(first);
            let place = Place {
                behind: None,
                before,
                is_known: true,
            };
            let mut all = vec![(link(&place), asked)];
            all.extend(smaller(Device::Own, passes(from)));
            all
        }
        FindingKind::BlackHole {
            direction,
            from,
            place,
        } => {
            let mut all = vec![(link(&place), asked)];
            let router = place.behind.and_then(|hop| hop.address);
            let router = router.filter(|_| direction == Some(Direction::Forward));
            all.extend(router.map(|router| (Device::Router(router), Remedy::SendTooBig)));
            let device = match direction {
                Some(Direction::Reverse) => Device::FarEnd,
                Some(Direction::Forward) | None => Device::Own,
            };
            all.extend(smaller(device, passes(from)));
            all
        }
        FindingKind::Branches {
            small,
            large,
            place,
            ..
        } => {
            let place = place.unwrap_or(path);
            let mut all = vec![(link(&place), Remedy::Mtu(large))];
            all.extend(smaller(Device::Own, small));
            all
        }
        FindingKind::OneProtocol {
            protocol, place, ..
        } => {
            vec![(link(&place.unwrap_or(path)), Remedy::PassProtocol(protocol))]
        }
        FindingKind::Rejected { router, .. } => vec![(Device::Router(router), asked)],
        FindingKind::ReverseLimit { .. } => vec![(Device::Path, asked)],
        FindingKind::AnswersLimited { router, .. } => {
            vec![(Device::Router(router), Remedy::SendTooBig)]
        }
        FindingKind::AnnouncedTooSmall { router, passes, .. } => {
            vec![(Device::Router(router), Remedy::AnnounceMtu(passes))]
        }
        FindingKind::AnnouncedTooLarge {
            router, fails_from, ..
        } => {
            vec![(
                Device::Router(router),
                Remedy::AnnounceMtu(passes(fails_from)),
            )]
        }
        FindingKind::Interface { .. } => vec![(Device::Own, asked)],
        FindingKind::MssClamped { expected, .. } => {
            vec![(Device::Path, Remedy::UnclampMss(expected))]
        }
        FindingKind::FragmentsDropped => vec![(Device::Path, Remedy::PassFragments)],
        FindingKind::NoAnswer
        | FindingKind::OuterFragments { .. }
        | FindingKind::MtuChanged { .. }
        | FindingKind::Tunnel(_)
        | FindingKind::Loss(_)
        | FindingKind::Local(_) => Vec::new(),
    }
}

/// The link of a place, or some device if the place is not known.
const fn link(place: &Place) -> Device {
    match place.is_known {
        true => Device::Link(*place),
        false => Device::Path,
    }
}
