//! Reads the configuration of the local host: interfaces, routes, cached path MTUs, rules of
//! nftables that lower the MSS of TCP.

use std::net::IpAddr;

use os::error::Result;
use os::netlink::{self, ClampedTraffic, Listed, Route, TableRoute};
use os::path_mtu::PathMtuSettings;
use units::{Bytes, IpVersion};

use super::Outgoing;
use crate::machine::{
    LocalFinding, LocalHost, LocalInterface, LocalMssClamp, LocalRoute, LocalSettings,
    LowerInterface, Syns,
};

/// The whole configuration of this host, or of the container in which the program runs.
///
/// # Errors
/// The kernel does not list its interfaces, routes or rules.
pub fn local_host() -> Result<LocalHost> {
    let kernel = Route::open()?;
    let all = kernel.interfaces()?;
    let others = all.iter().filter(|one| !one.loopback);
    let routes = kernel.table_routes(&all)?;
    Ok(LocalHost {
        interfaces: others.map(|one| interface(&kernel, one, &all)).collect(),
        routes: routes
            .into_iter()
            .map(|route| self::route(route, &all))
            .collect(),
        settings: settings(),
        mss_clamps: mss_clamps()?,
    })
}

/// The findings about what this host does with packets to an address. Probes may change
/// what the kernel caches, so that it is asked before they leave.
pub(super) fn findings_toward(
    to: IpAddr,
    outgoing: &Outgoing,
    ignores_cache: bool,
) -> Vec<LocalFinding> {
    match toward(to, outgoing) {
        Ok(mut host) => {
            host.routes
                .retain(|route| route.expires.is_none() || !ignores_cache);
            host.findings()
        }
        // The probes show all the same what the path supports.
        Err(_) => Vec::new(),
    }
}

fn toward(to: IpAddr, outgoing: &Outgoing) -> Result<LocalHost> {
    let kernel = Route::open()?;
    let all = kernel.interfaces()?;
    if outgoing.loopback {
        return Ok(LocalHost::default());
    }
    // The interface itself, the ports of a bridge or bond, and the end of a veth pair.
    let concerns = |one: &&Listed| {
        let is_own = one.index == outgoing.index;
        is_own || one.controller == Some(outgoing.index) || one.peer == Some(outgoing.index)
    };
    let interfaces = all.iter().filter(concerns);
    let mut interfaces: Vec<LocalInterface> = interfaces
        .map(|one| interface(&kernel, one, &all))
        .collect();
    if to.is_ipv4() {
        // Its MTU of IPv6 does not matter.
        for one in &mut interfaces {
            one.ipv6_mtu = one.ipv6_mtu.map(|mtu| mtu.max(one.mtu));
        }
    }
    let through = Some(outgoing.index);
    let matching = kernel.matching(to, through, &all)?;
    let mut routes: Vec<LocalRoute> = Vec::new();
    routes.extend(matching.map(|found| route(found, &all)));
    let chosen = kernel.choose(to, through, None)?;
    routes.extend(chosen.expires.map(|expires| LocalRoute {
        network: to,
        length: if to.is_ipv4() { 32 } else { 128 },
        router: chosen.gateway,
        interfaces: vec![outgoing.interface.clone()],
        mtu: chosen.mtu.map(size),
        is_locked: false,
        is_advertised: false,
        expires: Some(expires),
        without_mtu: None,
    }));
    Ok(LocalHost {
        interfaces,
        routes,
        settings: settings(),
        mss_clamps: clamps_toward(to, outgoing).unwrap_or_default(),
    })
}

fn interface(kernel: &Route, one: &Listed, all: &[Listed]) -> LocalInterface {
    let name = |index: u32| all.iter().find(|other| other.index == index);
    let name = |index: Option<u32>| Some(name(index?)?.name.clone());
    let below = kernel.below(one, all);
    LocalInterface {
        name: one.name.clone(),
        link_type: one.kind.clone(),
        mtu: size(one.mtu),
        ipv6_mtu: one.ipv6_mtu.map(size),
        is_up: one.up,
        below: below.map(|below| LowerInterface {
            name: below.interface,
            mtu: size(below.mtu),
            fits: size(below.fits),
        }),
        controller: name(one.controller),
        peer: name(one.peer),
    }
}

fn route(route: TableRoute, all: &[Listed]) -> LocalRoute {
    let name = |index: &u32| all.iter().find(|one| one.index == *index);
    let interfaces = route.interfaces.iter().filter_map(name);
    LocalRoute {
        network: route.network,
        length: route.length,
        router: route.router,
        interfaces: interfaces.map(|one| one.name.clone()).collect(),
        mtu: route.mtu.map(size),
        is_locked: route.is_locked,
        is_advertised: route.is_advertised,
        expires: route.expires,
        without_mtu: route.words.map(|words| words.change(None)),
    }
}

fn mss_clamps() -> Result<Option<Vec<LocalMssClamp>>> {
    let clamps = netlink::mss_clamps()?;
    Ok(clamps.map(|clamps| clamps.into_iter().map(mss_clamp).collect()))
}

/// The rules that may concern connections of this host to an address.
fn clamps_toward(to: IpAddr, outgoing: &Outgoing) -> Result<Option<Vec<LocalMssClamp>>> {
    let version = match to {
        IpAddr::V4(_) => IpVersion::V4,
        IpAddr::V6(_) => IpVersion::V6,
    };
    let mut clamps = mss_clamps()?;
    if let Some(clamps) = &mut clamps {
        clamps.retain(|clamp| {
            let interface = clamp.interface.as_ref();
            clamp.syns != Syns::Forwarded
                && clamp.version.is_none_or(|of| of == version)
                && interface.is_none_or(|name| *name == outgoing.interface)
        });
        for clamp in clamps {
            clamp.version = Some(version);
        }
    }
    Ok(clamps)
}

fn mss_clamp(clamp: netlink::MssClamp) -> LocalMssClamp {
    LocalMssClamp {
        deletion: clamp.deletion(),
        table: format!("{} {}", clamp.family, clamp.table),
        chain: clamp.chain,
        rule: clamp.place,
        syns: match clamp.traffic {
            ClampedTraffic::Arriving => Syns::Arriving,
            ClampedTraffic::Forwarded => Syns::Forwarded,
            ClampedTraffic::Leaving => Syns::Leaving,
        },
        mss: size(clamp.mss.into()),
        version: clamp.version,
        interface: clamp.interface,
        is_conditional: clamp.is_conditional,
    }
}

fn settings() -> LocalSettings {
    let PathMtuSettings {
        tcp_mtu_probing,
        tcp_base_mss,
        ip_no_pmtu_disc,
    } = PathMtuSettings::here();
    LocalSettings {
        tcp_mtu_probing,
        tcp_base_mss,
        ip_no_pmtu_disc,
    }
}

fn size(bytes: u32) -> Bytes {
    Bytes::new(bytes.into())
}
