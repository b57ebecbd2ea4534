//! Fragments that this host makes of packets outside of a tunnel.

use std::net::IpAddr;

use crate::machine::PathReport;
use units::{Bytes, IpVersion};

use super::Outgoing;
use os::fragments::Fragments;
use os::netlink::Route;

/// The tunnel through which probes leave, before they do.
pub(super) struct Tunnel {
    ip: IpVersion,
    /// The largest packet inside that leaves whole.
    fits: Bytes,
    before: Fragments,
}

impl Tunnel {
    /// The tunnel of this interface, if it is one to a known end, and if its packets may be
    /// too large for the interface below.
    pub(super) fn of(outgoing: &Outgoing) -> Option<Self> {
        let route = Route::open().ok()?;
        let all = route.interfaces().ok()?;
        let own = all.iter().find(|one| one.index == outgoing.index)?;
        let ip = match own.tunnel?.far_end {
            IpAddr::V4(_) => IpVersion::V4,
            IpAddr::V6(_) => IpVersion::V6,
        };
        let fits = Bytes::new(route.below(own, &all)?.fits.into());
        let before = Fragments::here(ip).ok()?;
        (fits < outgoing.mtu).then_some(Self { ip, fits, before })
    }

    /// Adds to the report that this host made fragments since then, if it did.
    pub(super) fn add_to(&self, report: &mut PathReport) {
        let Ok(now) = Fragments::here(self.ip) else {
            return;
        };
        let made = now.since(&self.before).made;
        if made > 0 {
            report.add_outer_fragments(made, self.fits);
        }
    }
}
