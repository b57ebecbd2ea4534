//! The configuration of `jumbolab gateway`: a TOML file, or options for the simple case.

mod inside;
mod keys;
mod peers;
mod sections;

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use keyfile::{Origin, Section};
use units::{Bytes, Span};

use crate::driver::{
    Configuration, Follow, Host, InsidePath, NextAs, Processor, RouteFilter, TableSource,
};
use crate::machine::{Encapsulation, Identity, Output, Peer, Settings, SinglePacketMode};
use crate::written::{aggregation, mtu_of, uplink};
pub use keys::template;
use peers::{Peers, key_file};
use sections::Sections;

/// The number of the kernel's main routing table.
const MAIN: u32 = 254;

/// The interval of probes where bundles are sealed, unless another one is configured.
const SEALED_PROBE: Span = Span::from_secs(10);

/// The number of static routes, as the gateway enters them [LinuxUapi rtnetlink.h].
const STATIC: u8 = 4;

/// Numbers of those who enter routes [LinuxUapi rtnetlink.h].
const PROTOCOLS: [(&str, Option<u8>); 4] = [
    ("any", None),
    ("bird", Some(12)),
    ("kernel", Some(2)),
    ("static", Some(STATIC)),
];

/// A gateway with its operation.
#[derive(Clone, Debug)]
pub struct Gateway {
    /// The settings of the driver.
    pub configuration: Configuration,
    /// The address at which metrics are served.
    pub metrics: Option<SocketAddr>,
    /// The file of the log; `None`: stderr.
    pub log: Option<PathBuf>,
    /// Where each peer is written.
    peers: Vec<Section>,
}

impl Gateway {
    /// Rejects peers that no gateway in this host can have, before anything is changed.
    ///
    /// # Errors
    /// One line of text with file, line, key, value, and what would be right.
    pub fn check_peers(&self) -> Result<()> {
        let host = Host::look()?;
        let core = self.configuration.core.as_deref();
        let peers = self.configuration.settings.peers.iter();
        for (peer, section) in peers.zip(&self.peers) {
            if let Some((key, why)) = host.contradiction(peer, core) {
                return Err(section.reject(key, why));
            }
        }
        Ok(())
    }
}

/// Options of the simple case: one peer.
#[derive(Clone, Debug, Default)]
pub struct Simple {
    /// Values by table, key and option.
    pub values: Vec<(&'static str, &'static str, &'static str, Vec<String>)>,
}

/// Reads a configuration file.
///
/// # Errors
/// One line of text with file, line, key, value, and what would be right.
pub fn read_file(path: &Path) -> Result<Gateway> {
    built(&Sections::read_file(path)?)
}

/// Reads the private key in a file.
///
/// # Errors
/// One line of text with the file.
pub fn read_identity(path: &Path) -> Result<Identity> {
    let name = path.display().to_string();
    key_file(&name, "FILE", Identity::parse).with_context(|| name)
}

/// Reads options.
///
/// # Errors
/// One line of text with the option, its value, and what would be right.
pub fn read_options(options: &Simple) -> Result<Gateway> {
    let mut sections = Sections::default();
    let mut peer = Section::default();
    for (table, key, option, values) in &options.values {
        let section = match *table {
            "peers" => &mut peer,
            table => sections.of_option(table),
        };
        section.set(key, values, Origin::option(option, &values.join(" ")));
    }
    if peer.text("local")?.is_none() {
        let why = "add the address of this gateway that the peer knows: --local ADDRESS";
        return Err(peer.reject("address", why));
    }
    sections.peers.push(("peer".to_owned(), peer));
    built(&sections)
}

fn built(sections: &Sections) -> Result<Gateway> {
    let (inside, core) = (sections.table("inside"), sections.table("core"));
    let addresses = inside.all_parsed::<IpAddr>("addresses", "addresses, for instance 10.1.0.1")?;
    let (path, installs_routes) = inside::path(&inside)?;
    let interface = core.text("interface")?.map(str::to_owned);
    let is_tun = matches!(path, InsidePath::Tun { .. });
    let mut read = Peers::new(&core)?;
    for (number, (name, section)) in sections.peers.iter().enumerate() {
        read.add(number, name, section, &core)?;
    }
    read.reject_unused_key(&core)?;
    let follow = sections.table_if_there("follow");
    let follow = follow.map(|follow| follow_of(&follow, installs_routes));
    let can_loop = installs_routes && interface.is_none();
    if can_loop {
        read.reject_loops(sections)?;
    }
    let aggregate = sections.table("aggregation");
    let mut settings = Settings::new(read.peers);
    settings.aggregate = aggregation(&aggregate)?;
    settings.alone = aggregate.word(
        "alone",
        "bundled",
        &[
            ("bundled", SinglePacketMode::Bundled),
            ("plain", SinglePacketMode::Plain),
        ],
    )?;
    settings.shaping = aggregate.truth("shaping", true)?;
    // The kernel lowers the hop limit of what it routes to a TUN interface.
    settings.counts_hops = !is_tun;
    settings.output = Output::Payloads;
    let is_sealed = settings.peers.iter().any(|peer| peer.sealing.is_some());
    settings.probe = probe(&core, is_sealed)?;
    for address in addresses {
        settings.inside[usize::from(address.is_ipv6())] = Some(address);
    }
    let largest = settings.peers.iter().map(|peer| peer.mtu.bytes()).max();
    if let Some(section) = sections.table_if_there("uplink") {
        settings.uplink = Some(uplink(&section, largest.unwrap_or(Bytes::ZERO))?);
    }
    settings.check().map_err(|bad| {
        let names: Vec<String> = read
            .names
            .iter()
            .enumerate()
            .map(|(number, name)| format!("{number} = {name}"))
            .collect();
        anyhow!("{bad} (peers: {})", names.join(", "))
    })?;
    let labelled = |peer: &Peer| matches!(peer.encapsulation, Encapsulation::Label { .. });
    if interface.is_none() && settings.peers.iter().any(labelled) {
        return Err(core.reject(
            "encapsulation",
            "mpls needs the interface toward the core; write `interface`",
        ));
    }
    let operation = sections.table("operation");
    let processor = processor(&operation)?;
    let log = operation.text("log")?.filter(|log| *log != "stderr");
    let like = "an address of loopback with a port, for instance 127.0.0.1:9778";
    let metrics: Option<SocketAddr> = operation.parsed("metrics_listen", like)?;
    if metrics.is_some_and(|address| !address.ip().is_loopback()) {
        return Err(operation.reject("metrics_listen", format!("write {like}")));
    }
    Ok(Gateway {
        configuration: Configuration {
            inside: path,
            installs_routes,
            core: interface,
            names: read.names,
            label_next_hops: read.label_next_hops,
            settings,
            table: TableSource {
                rows: read.rows,
                follow: follow.transpose()?,
                next_hops: read.next_hops,
                leaves_out_loops: can_loop,
            },
            processor,
        },
        metrics,
        log: log.map(PathBuf::from),
        peers: sections
            .peers
            .iter()
            .map(|(_, peer)| peer.clone())
            .collect(),
    })
}

/// The interval of probes.
fn probe(core: &Section, is_sealed: bool) -> Result<Option<Span>> {
    match core.text("probe")? {
        None if is_sealed => return Ok(Some(SEALED_PROBE)),
        Some("off") if is_sealed => {
            let why = "where bundles are sealed, nothing but probes shows the path MTU, as anybody can forge reports of routers; leave it out, or write a time, for instance 10s";
            return Err(core.reject("probe", why));
        }
        None | Some("off") => return Ok(None),
        Some(_) => {}
    }
    let period: Option<Span> = core.quantity("probe")?;
    let range = Span::from_millis(100)..=Span::from_secs(3_600);
    match period.filter(|period| range.contains(period)) {
        Some(period) => Ok(Some(period)),
        None => Err(core.reject(
            "probe",
            "write off, or a time from 100ms to 3600s, for instance 10s",
        )),
    }
}

/// How the gateway uses its processor.
fn processor(operation: &Section) -> Result<Processor> {
    let spin = match operation.text("spin")? {
        None | Some("off") => Span::ZERO,
        Some(_) => operation.quantity("spin")?.unwrap_or(Span::ZERO),
    };
    if spin > Span::from_secs(1) {
        return Err(operation.reject("spin", "write off, or a time up to 1s, for instance 50us"));
    }
    let priorities = [("ordinary", false), ("real-time", true)];
    Ok(Processor {
        is_first: operation.word("priority", "ordinary", &priorities)?,
        spin,
    })
}

fn follow_of(follow: &Section, installs: bool) -> Result<Follow> {
    let table = follow
        .parsed("table", "the number of a routing table")?
        .unwrap_or(MAIN);
    let protocol = follow.text("protocol")?.unwrap_or("bird");
    let named = PROTOCOLS.iter().find(|(name, _)| *name == protocol);
    let protocol = match (named, protocol.parse()) {
        (Some((_, number)), _) => *number,
        (None, Ok(number)) => Some(number),
        (None, Err(_)) => {
            return Err(follow.reject(
                "protocol",
                "write bird, static, kernel, any, or a number from 0 to 255",
            ));
        }
    };
    if installs && table == MAIN && protocol.is_none_or(|protocol| protocol == STATIC) {
        return Err(follow.reject(
            "protocol",
            "the gateway's own routes to its TUN interface are static ones of table 254; name who enters the routes to follow, or another table, or write inside.routes = \"leave\"",
        ));
    }
    Ok(Follow {
        filter: RouteFilter { table, protocol },
        next_as: follow.word(
            "next_as",
            "realm",
            &[("realm", NextAs::Realm), ("metric", NextAs::Metric)],
        )?,
    })
}

#[cfg(test)]
mod tests;
