//! Sizes that are advised: of an interface only where it is the link's own, and never such
//! that it loses IPv6.

use super::*;

/// The remedies for this host.
fn own(report: &PathReport) -> Vec<&Remedy> {
    let advice = report.advice.iter();
    let own = advice.filter(|advice| advice.device == Device::Own);
    own.map(|advice| &advice.remedy).collect()
}

#[test]
fn an_interface_is_made_smaller_for_its_own_link_unless_it_loses_ipv6() {
    for (size, interface_ipv6, is_interface) in [
        (1500, true, true),
        (1280, true, true),
        (1279, true, false),
        (1124, true, false),
        (1124, false, true),
    ] {
        let settings = Settings {
            interface_ipv6,
            ..settings()
        };
        let report = investigate(&Path::with(Narrow::silent(0, size)), settings, 1);
        let mtu = Bytes::new(size);
        let expected = match is_interface {
            true => Remedy::InterfaceMtu(mtu),
            false => Remedy::Mtu(mtu),
        };
        let mss = Remedy::Mss(u16::try_from(size - 40).unwrap());
        assert_eq!(own(&report), [&expected, &mss], "{size} {interface_ipv6}");
    }
}

#[test]
fn a_link_further_on_changes_the_route_and_not_the_interface() {
    for size in [1500, 1400, 1124] {
        let report = report(&Path::with(Narrow::silent(2, size)));
        let mtu = Bytes::new(size);
        assert_eq!(own(&report)[0], &Remedy::Mtu(mtu));
        assert_eq!(report.advised_mtu(), Some(mtu));
    }
}

#[test]
fn a_link_that_takes_a_vlan_tag_is_given_its_mtu() {
    for link in [0, 2] {
        let report = report(&Path::with(Narrow::silent(link, 1504)));
        assert_eq!(report.forward.mtu, mtu(1504));
        assert_eq!(report.advised_mtu(), mtu(1500));
        let expected = match link {
            0 => Remedy::InterfaceMtu(Bytes::new(1500)),
            _ => Remedy::Mtu(Bytes::new(1500)),
        };
        assert_eq!(own(&report), [&expected, &Remedy::Mss(1460)]);
    }
    // A router that says so means it.
    let told = report(&Path::with(Narrow::told(2, 1504)));
    assert_eq!(told.advised_mtu(), mtu(1504));
    assert_eq!(report(&Path::clean()).advised_mtu(), None);
}
