//! The far end of an investigation: what answers probes there besides the kernel.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;

use crate::machine::stamp::Limits;

use super::sockets::TCP_PORT;
use crate::driver::stamp::{Outcome, RunningReflector, StampReflector};
use os::error::Result;
use os::socket::{Kind, Options, listen, open};

/// Connections that may wait; none is accepted.
const WAITING: i32 = 64;

/// The services that answer probes at an address, besides the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Services {
    pub address: IpAddr,
    /// Whether the TCP port is open that is probed unless a task names another one.
    pub listens: bool,
    /// The port of a STAMP reflector.
    pub reflector: Option<u16>,
}

/// The far end of an investigation.
pub struct FarEnd {
    _listener: Option<OwnedFd>,
    reflector: Option<RunningReflector>,
}

impl FarEnd {
    /// Opens the ports and answers from then on.
    ///
    /// # Errors
    /// The kernel rejects a port or a thread.
    pub fn open(services: Services) -> Result<Self> {
        let at = |port| SocketAddr::new(services.address, port);
        let listener = services.listens.then(|| listening(at(TCP_PORT)));
        let reflector = services.reflector.map(|port| {
            let reflector = StampReflector::open(&[at(port)], Limits::default())?;
            RunningReflector::start(reflector)
        });
        Ok(Self {
            _listener: listener.transpose()?,
            reflector: reflector.transpose()?,
        })
    }

    /// Ends it. Returns the counts of the reflector, if there was one.
    ///
    /// # Errors
    /// The reflector failed.
    pub fn close(self) -> Result<Option<Outcome>> {
        self.reflector.map(RunningReflector::end).transpose()
    }
}

/// A socket that listens; the kernel answers connection attempts.
fn listening(address: SocketAddr) -> Result<OwnedFd> {
    let options = Options {
        bind: Some(address),
        reuse_address: true,
        ..Options::default()
    };
    let socket = open(Kind::Stream, address.ip(), &options)?;
    listen(&socket, WAITING)?;
    Ok(socket)
}
