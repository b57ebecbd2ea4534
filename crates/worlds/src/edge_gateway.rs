//! A gateway at the edge of a domain in a test bed: a worker in the router's namespace.

use std::cell::RefCell;
use std::io::{self, BufRead};
use std::net::IpAddr;
use std::os::fd::AsFd;

use crate::call::call;
use crate::testbed::Node;
use anyhow::{Context, Result, bail};
use gateway::driver::{Configuration, Gateway, InsidePath, Processor, TableSource};
use gateway::machine::{Carriage, Gathering, Output, Peer, Settings};
use link::edge::Prefix;
use os::cpu_time::Process;
use os::request::{self, Reply};
use os::worker::Command;
use os::{Worker, clock, interrupt};
use queue::{Tick, Trigger};
use serde::{Deserialize, Serialize};
use units::{Bytes, IpMtu, IpVersion, Span};
use wire::protocol::ip::Addresses;

/// The worker's role.
pub(crate) const ROLE: &str = "edge-gateway";

/// The name of the worker in messages.
const NAME: &str = "gateway";

/// The time for a reply.
const TIMEOUT: Span = Span::from_secs(10);

/// The interval of looks for requests.
const LOOK: Span = Span::from_millis(100);

/// The source port of bundles in UDP.
const PORT: u16 = 50_253;

/// A gateway to start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct EdgeGateway {
    /// The router's name.
    pub(crate) node: String,
    /// The other edges: this router's address toward each, and that one's own.
    pub(crate) peers: Vec<[IpAddr; 2]>,
    /// The prefixes behind them: first address, length, next autonomous system, peer.
    pub(crate) prefixes: Vec<(IpAddr, u8, u32, usize)>,
    /// The largest packet in the domain.
    pub(crate) mtu: Bytes,
    /// When a bundle goes.
    pub(crate) trigger: Trigger,
    /// The unit of waiting times.
    pub(crate) tick: Tick,
    /// The share of sent frames that may be bundles.
    pub(crate) share: f64,
    /// Whether bundles travel in UDP instead of IP.
    pub(crate) in_udp: bool,
    /// Whether packets leave a bundle with the gaps of their arrival.
    pub(crate) shaping: bool,
}

impl EdgeGateway {
    fn configuration(self) -> Result<Configuration> {
        let is_v6 = self.peers.iter().flatten().any(IpAddr::is_ipv6);
        let ip = if is_v6 { IpVersion::V6 } else { IpVersion::V4 };
        let mtu = IpMtu::new(self.mtu.get(), ip).context("domain.mtu")?;
        let in_udp = self.in_udp;
        let peer = |[own, other]: &[IpAddr; 2]| {
            let addresses = match (*own, *other) {
                (IpAddr::V4(own), IpAddr::V4(other)) => Addresses::V4([own, other]),
                (IpAddr::V6(own), IpAddr::V6(other)) => Addresses::V6([own, other]),
                _ => bail!("the ends of a domain have addresses of one version"),
            };
            Ok(Peer {
                carriage: match in_udp {
                    true => Carriage::Udp {
                        addresses,
                        port: PORT,
                    },
                    false => Carriage::Ip { addresses },
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
        let peers = self.peers.iter().map(peer).collect::<Result<_>>()?;
        let mut settings = Settings::new(peers);
        settings.gather = Some(Gathering {
            trigger: self.trigger,
            tick: self.tick,
            share: self.share,
        });
        settings.shaping = self.shaping;
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
            names: self
                .peers
                .iter()
                .map(|[_, other]| other.to_string())
                .collect(),
            label_next_hops: vec![None; self.peers.len()],
            settings,
            table: TableSource {
                rows: self.prefixes.iter().map(row).collect(),
                ..TableSource::default()
            },
            processor: Processor::default(),
        })
    }
}

/// Running gateways; dropping them ends the processes.
#[derive(Default)]
pub(crate) struct EdgeGateways {
    workers: RefCell<Vec<Worker>>,
}

impl EdgeGateways {
    /// Starts `gateway` in `node`; returns once it forwards.
    pub(crate) fn start(&mut self, node: &Node, gateway: EdgeGateway) -> Result<()> {
        let mut worker = Worker::spawn(Command::local(Some(&node.namespace), ROLE))?;
        let started = call(&mut worker, NAME, &Open(gateway));
        started.with_context(|| format!("starting the gateway of {}", node.name))?;
        self.workers.get_mut().push(worker);
        Ok(())
    }

    /// The processor time of all gateways.
    pub(crate) fn used(&self) -> Result<Span> {
        let mut used = Span::ZERO;
        for worker in self.workers.borrow_mut().iter_mut() {
            let sample = call(worker, NAME, &Sample());
            used += sample.context("metering a gateway")?.cpu;
        }
        Ok(used)
    }
}

os::requests! {
    /// Reads a request to a gateway.
    pub(crate) fn requests(opened: Option<Gateway>);

    /// Forward as this says.
    Open(gateway: EdgeGateway) within TIMEOUT -> () {
        *opened = Some(Gateway::open(gateway.configuration()?, None)?);
    }
    /// Report the processor time.
    Sample() within TIMEOUT -> Process { Process::sample()? }
}

/// Forwards as the first line of stdin says, until stdin ends.
pub(crate) fn serve() -> Result<()> {
    let mut lines = io::stdin().lock();
    let (mut opened, mut line) = (None, String::new());
    lines.read_line(&mut line)?;
    request::answer(&line, requests, &mut opened)?;
    while let Some(gateway) = &mut opened
        && !interrupt::asked()
    {
        if let Err(error) = gateway.run_until(clock::monotonic() + LOOK) {
            // The next request hears it.
            return Ok(request::say(&Reply::<()>::Err(error.to_string()))?);
        }
        if !os::socket::is_readable(io::stdin().as_fd())? {
            continue;
        }
        line.clear();
        if lines.read_line(&mut line)? == 0 {
            break;
        }
        request::answer(&line, requests, &mut opened)?;
    }
    Ok(())
}
