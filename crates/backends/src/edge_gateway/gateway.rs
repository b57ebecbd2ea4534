//! The gateway in a build that has one.

use std::net::IpAddr;

use anyhow::{Context, Result, bail};
pub(crate) use gateway::driver::Gateway;
use gateway::driver::{Configuration, InsidePath, Processor, TableSource};
use gateway::machine::{Aggregation, Encapsulation, Output, Peer, Settings};
use link::edge::Prefix;
use units::{IpMtu, IpVersion};
use wire::protocol::ip::Addresses;

use super::EdgeGateway;

/// The source port of bundles in UDP.
const PORT: u16 = 50_253;

/// Opens the gateway of `edge` in the network namespace of this process.
pub(super) fn open(edge: EdgeGateway) -> Result<Gateway> {
    Ok(Gateway::open(configuration(edge)?, None)?)
}

fn configuration(edge: EdgeGateway) -> Result<Configuration> {
    let is_v6 = edge.peers.iter().flatten().any(IpAddr::is_ipv6);
    let ip = if is_v6 { IpVersion::V6 } else { IpVersion::V4 };
    let mtu = IpMtu::new(edge.mtu.get(), ip).context("domain.mtu")?;
    let in_udp = edge.in_udp;
    let peer = |[own, other]: &[IpAddr; 2]| {
        let addresses = match (*own, *other) {
            (IpAddr::V4(own), IpAddr::V4(other)) => Addresses::V4([own, other]),
            (IpAddr::V6(own), IpAddr::V6(other)) => Addresses::V6([own, other]),
            _ => bail!("the ends of a domain have addresses of one version"),
        };
        Ok(Peer {
            encapsulation: match in_udp {
                true => Encapsulation::Udp {
                    addresses,
                    port: PORT,
                },
                false => Encapsulation::Ip { addresses },
            },
            mtu,
            dscp: None,
            sealing: None,
        })
    };
    let row = |&(network, length, next_as, egress): &(IpAddr, u8, u32, usize)| Prefix {
        network,
        length,
        next_as,
        egress,
    };
    let peers = edge.peers.iter().map(peer).collect::<Result<_>>()?;
    let mut settings = Settings::new(peers);
    settings.aggregate = Aggregation {
        trigger: edge.trigger,
        tick: edge.tick,
        share: edge.share,
    };
    settings.shaping = edge.shaping;
    // The kernel lowers the hop limit of what it routes to a TUN interface.
    settings.counts_hops = false;
    settings.output = Output::Payloads;
    Ok(Configuration {
        inside: InsidePath::Tun {
            name: "jumbo0".to_owned(),
            mtu,
        },
        installs_routes: true,
        core: None,
        names: edge
            .peers
            .iter()
            .map(|[_, other]| other.to_string())
            .collect(),
        label_next_hops: vec![None; edge.peers.len()],
        settings,
        table: TableSource {
            rows: edge.prefixes.iter().map(row).collect(),
            ..TableSource::default()
        },
        processor: Processor::default(),
    })
}
