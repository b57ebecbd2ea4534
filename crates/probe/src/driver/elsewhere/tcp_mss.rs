//! The test of a server by its connections, which needs what Linux tells of them.

use std::env::consts::OS;
use std::net::{IpAddr, SocketAddr};

use crate::machine::tcp_mss::Service;
use units::Bytes;

use super::Investigated;
use os::error::{Error, Result};

/// A server to test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpTask {
    /// Its address and port.
    pub to: SocketAddr,
    /// What it is asked for: the protocol, the name of the host with a port that is not the
    /// usual one, and the page.
    pub service: Service,
    pub host: String,
    pub page: String,
    /// The size that the path should carry; `None`: the largest that connections have.
    pub up_to: Option<Bytes>,
    /// The interface to which the sockets are bound.
    pub interface: Option<String>,
    /// The source address; `None`: the system's choice.
    pub address: Option<IpAddr>,
}

/// Tests nothing.
///
/// # Errors
/// Always.
pub fn test_server(task: &TcpTask, _: impl FnMut(u32)) -> Result<Investigated> {
    let problem = format!("the test of a server needs Linux, and this program is for {OS}");
    Err(Error::new(task.to.to_string(), problem))
}
