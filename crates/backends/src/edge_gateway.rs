//! A gateway at the edge of a domain in a test network: a worker in the router's namespace.

#[cfg(feature = "gateway")]
#[path = "edge_gateway/gateway.rs"]
mod form;
#[cfg(not(feature = "gateway"))]
#[path = "edge_gateway/no_gateway.rs"]
mod form;

use std::cell::RefCell;
use std::io::{self, BufRead};
use std::net::IpAddr;
use std::os::fd::AsFd;

use crate::call::call;
use crate::testbed::Node;
use anyhow::{Context, Result};
use os::cpu_time::Process;
use os::request::{self, Reply};
use os::worker::Command;
use os::{Worker, clock, interrupt};
use queue::{Tick, Trigger};
use serde::{Deserialize, Serialize};
use units::{Bytes, Span};

#[cfg(test)]
pub(crate) use form::Gateway;

/// The worker's role.
pub(crate) const ROLE: &str = "edge-gateway";

/// The name of the worker in messages.
const NAME: &str = "gateway";

/// The time for a reply.
const TIMEOUT: Span = Span::from_secs(10);

/// The interval of looks for requests.
const LOOK: Span = Span::from_millis(100);

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
    pub(crate) fn requests(opened: Option<form::Gateway>);

    /// Forward as this says.
    Open(gateway: EdgeGateway) within TIMEOUT -> () {
        *opened = Some(form::open(gateway)?);
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
            return Ok(request::send_reply(&Reply::<()>::Err(error.to_string()))?);
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
