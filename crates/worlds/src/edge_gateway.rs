//! A gateway at the edge of a domain in a test bed: a worker in the router's namespace,
//! controlled by lines of JSON.

use std::cell::RefCell;
use std::io::{self, BufRead, Write};
use std::net::IpAddr;
use std::os::fd::AsFd;

use crate::testbed::Node;
use anyhow::{Context, Result, bail};
use gateway::driver::{Configuration, Gateway, InsidePath, Processor, TableSource};
use gateway::machine::{Carriage, Gathering, Output, Peer, Settings};
use link::edge::Prefix;
use os::cpu_time::Process;
use os::worker::Command;
use os::{Worker, clock, interrupt};
use queue::{Tick, Trigger};
use serde::{Deserialize, Serialize};
use units::{Bytes, IpMtu, IpVersion, Span};
use wire::protocol::ip::Addresses;

/// The worker's role.
pub(crate) const ROLE: &str = "edge-gateway";

/// The timeout of replies.
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
    pub(crate) fn start(&mut self, node: &Node, gateway: &EdgeGateway) -> Result<()> {
        let mut worker = Worker::spawn(Command::local(Some(&node.namespace), ROLE))?;
        worker.send_line(&serde_json::to_string(gateway)?)?;
        let asked = asked(&mut worker);
        asked.with_context(|| format!("starting the gateway of {}", node.name))?;
        self.workers.get_mut().push(worker);
        Ok(())
    }

    /// The processor time of all gateways.
    pub(crate) fn used(&self) -> Result<Span> {
        let mut used = Span::ZERO;
        for worker in self.workers.borrow_mut().iter_mut() {
            worker.send_line("")?;
            used += asked(worker).context("metering a gateway")?.cpu;
        }
        Ok(used)
    }
}

/// The reply of a gateway: its processor time, or why it failed.
fn asked(worker: &mut Worker) -> Result<Process> {
    let line = worker.receive_line(clock::monotonic() + TIMEOUT)?;
    let line = line.context("the gateway does not answer")?;
    let answer: Result<Process, String> = serde_json::from_str(&line)?;
    answer.map_err(anyhow::Error::msg)
}

/// Forwards as the first line of stdin says, and tells the processor time for each further
/// one, until stdin ends.
pub(crate) fn serve() -> Result<()> {
    let (mut lines, mut out) = (io::stdin().lock(), io::stdout().lock());
    let mut answer = |answer: &Result<Process, String>| -> Result<()> {
        writeln!(out, "{}", serde_json::to_string(answer)?)?;
        Ok(out.flush()?)
    };
    let mut line = String::new();
    lines.read_line(&mut line)?;
    let order: EdgeGateway = serde_json::from_str(&line).context("reading the configuration")?;
    let mut gateway = match order
        .configuration()
        .and_then(|all| Ok(Gateway::open(all, None)?))
    {
        Ok(gateway) => gateway,
        Err(error) => return answer(&Err(format!("{error:#}"))),
    };
    answer(&Ok(Process::sample()?))?;
    while !interrupt::asked() {
        if let Err(error) = gateway.run_until(clock::monotonic() + LOOK) {
            return answer(&Err(error.to_string()));
        }
        if !os::socket::is_readable(io::stdin().as_fd())? {
            continue;
        }
        line.clear();
        if lines.read_line(&mut line)? == 0 {
            break;
        }
        answer(&Ok(Process::sample()?))?;
    }
    Ok(())
}
