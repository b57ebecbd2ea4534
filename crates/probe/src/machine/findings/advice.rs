//! Advice on the settings to change.

use units::{Bytes, IpVersion};

use super::super::kind::bytes;
use super::super::local::smallest_of_ipv6;
use super::super::report::without_tag;
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
    let passes = |from: Bytes| from - Bytes::new(1);
    match *kind {
        FindingKind::FirstLink { from, first } => {
            let before = Some(first);
            let place = Place {
                behind: None,
                before,
                is_known: true,
            };
            let mut all = vec![(link(&place), asked)];
            all.extend(facts.smaller_link(passes(from)));
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
            all.extend(facts.smaller(device, passes(from)));
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
            all.extend(facts.smaller(Device::Own, small));
            all
        }
        FindingKind::OneProtocol {
            protocol, place, ..
        } => {
            vec![(link(&place.unwrap_or(path)), Remedy::PassProtocol(protocol))]
        }
        FindingKind::RejectsAll {
            router, announced, ..
        } => {
            vec![(Device::Router(router), Remedy::AcceptPackets(announced))]
        }
        FindingKind::BelowIpv6 { .. } => vec![(Device::Path, Remedy::Mtu(smallest_of_ipv6()))],
        FindingKind::LostRange {
            direction,
            from,
            to,
            protocol,
            place,
        } => {
            let link = link(&place.unwrap_or(path));
            let mut all = vec![(link, Remedy::PassSizes { from, to })];
            let device = match direction {
                Some(Direction::Reverse) => Device::FarEnd,
                Some(Direction::Forward) | None => Device::Own,
            };
            if protocol.is_none() {
                all.extend(facts.smaller(device, passes(from)));
            }
            all
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
        FindingKind::Interface { .. } => {
            vec![(Device::Own, Remedy::InterfaceMtu(facts.settings.asked))]
        }
        FindingKind::MssClamped { expected, .. } => {
            vec![(Device::Path, Remedy::UnclampMss(expected))]
        }
        FindingKind::ForwardFragments { mtu, .. } => {
            let mut all = vec![(Device::Path, asked)];
            all.extend(facts.smaller(Device::Own, mtu));
            all
        }
        // Any size has bit errors: `predict optimal` says which one pays.
        FindingKind::LossBySize {
            per_bit: Some(_), ..
        } => Vec::new(),
        FindingKind::LossBySize {
            direction, small, ..
        } => {
            let device = match direction {
                Some(Direction::Reverse) => Device::FarEnd,
                Some(Direction::Forward) | None => Device::Own,
            };
            facts.smaller(device, small.size)
        }
        FindingKind::FragmentsDropped => vec![(Device::Path, Remedy::PassFragments)],
        FindingKind::NoAnswer
        | FindingKind::AnswerRate { .. }
        | FindingKind::ClosedPort
        | FindingKind::KnownMtu { .. }
        | FindingKind::MssTooLarge { .. }
        | FindingKind::SmallMss { .. }
        | FindingKind::OuterFragments { .. }
        | FindingKind::MtuChanged { .. }
        | FindingKind::Tunnel(_)
        | FindingKind::Loss(_)
        | FindingKind::Local(_) => Vec::new(),
    }
}

impl Facts<'_> {
    /// A smaller MTU towards the other end of a path on which packets of `passed` arrive.
    /// Over IPv6 there is none below 1280 [RFC8200 s5].
    fn smaller(&self, device: Device, passed: Bytes) -> Vec<(Device, Remedy)> {
        let mtu = without_tag(passed, self.history.fragmented_reply().map(bytes));
        let is_rejected = self.settings.version() == IpVersion::V6 && mtu < smallest_of_ipv6();
        let of_tcp = (device, Remedy::Mss(self.mss(mtu)));
        match is_rejected {
            true => Vec::new(),
            false => vec![(device, Remedy::Mtu(mtu)), of_tcp],
        }
    }

    /// A smaller MTU of the local link; of the route if the interface would lose IPv6.
    fn smaller_link(&self, passed: Bytes) -> Vec<(Device, Remedy)> {
        let mut all = self.smaller(Device::Own, passed);
        for (_, remedy) in &mut all {
            if let Remedy::Mtu(mtu) = *remedy
                && (mtu >= smallest_of_ipv6() || !self.settings.interface_ipv6)
            {
                *remedy = Remedy::InterfaceMtu(mtu);
            }
        }
        all
    }
}

/// The link of a place, or some device if the place is not known.
const fn link(place: &Place) -> Device {
    match place.is_known {
        true => Device::Link(*place),
        false => Device::Path,
    }
}
