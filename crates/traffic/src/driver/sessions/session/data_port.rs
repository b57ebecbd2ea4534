//! The ports and addresses of the data of a session's flows.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use wire::control::{Flow, Reason};

use super::ControlSession;
use crate::driver::sessions::Records;
use crate::driver::sessions::receive::{Clocks, Signal, Waiting};
use os::error::Result;

/// The first port that needs no privilege: a receiver that runs as root opens none below,
/// unless its user allows it.
const FIRST_UNPRIVILEGED: u16 = 1024;

impl ControlSession<'_> {
    /// Opens a port for a flow: the one that its sender asks for, the first free one of
    /// those that this end may use, or one that the kernel chooses.
    pub(super) fn wait_for(
        &mut self,
        flow: Flow,
        clocks: Clocks,
        signal: &Arc<Signal>,
        records: Option<Records>,
    ) -> Result<Waiting> {
        let allowed = match &self.serving.data_ports {
            Some(ports) => ports.clone(),
            None if flow.port == 0 => 0..=0,
            None => FIRST_UNPRIVILEGED..=u16::MAX,
        };
        let ports = match flow.port {
            0 => allowed,
            port if allowed.contains(&port) => port..=port,
            port => {
                let why = format!("it asked for data port {port}, which is not allowed");
                return Err(self.rejection(Reason::Port, &why));
            }
        };
        let Some(here) = self.data_address(&flow) else {
            let why = "it asked for an address that this end does not listen on";
            return Err(self.rejection(Reason::Address, why));
        };
        let waiting = Waiting::open(
            flow,
            (here, &ports),
            self.peer_of(&flow),
            clocks,
            Arc::clone(signal),
            self.server.deadline(),
            records,
        );
        waiting.map_err(|error| {
            let reason = match error.source.kind() {
                ErrorKind::AddrInUse => Reason::Port,
                ErrorKind::Unsupported => Reason::Protocol,
                _ => Reason::Kernel,
            };
            self.rejection(reason, &error.to_string())
        })
    }

    /// The address of a flow's data: that of the control connection, or another one that
    /// this end listens on; `None` if it does not.
    pub(super) fn data_address(&self, flow: &Flow) -> Option<SocketAddr> {
        let at = match Ipv6Addr::from(flow.at) {
            Ipv6Addr::UNSPECIFIED => return Some(self.session.here),
            at => at.to_canonical(),
        };
        let mut listening = self.serving.listen.iter().map(SocketAddr::ip);
        let is_allowed = listening.any(|address| {
            address == at || address.is_unspecified() && address.is_ipv4() == at.is_ipv4()
        });
        is_allowed.then(|| SocketAddr::new(at, 0))
    }

    /// The sender's address of a flow's data; the unspecified one of its version of IP where
    /// it is unknown.
    pub(super) fn peer_of(&self, flow: &Flow) -> IpAddr {
        let at = Ipv6Addr::from(flow.at);
        match at.to_canonical() {
            _ if at.is_unspecified() => self.session.peer.ip(),
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        }
    }
}
