//! The program on a host of a mesh, and the requests to it.

use std::io;
use std::net::{IpAddr, SocketAddr};

use anyhow::Result;
use os::request;

use crate::driver::stamp::{RunningReflector, StampReflector};
use crate::driver::{Investigated, Outgoing, Task, investigate};
use crate::machine::stamp::Limits;

/// The worker's role.
pub const ROLE: &str = "prober";

/// The reflector's port, and the interface through which packets leave.
pub(super) type Opened = (u16, Option<Outgoing>);

os::requests! {
    /// Reads a request to a host.
    pub(super) fn requests(reflector: Option<RunningReflector>);

    /// Open a reflector at an address, and say through which interface packets leave toward
    /// another one.
    Open(address: IpAddr, toward: Option<IpAddr>) -> Opened {
        let opened = open(address, toward).map_err(|error| rejected(&error, address));
        let (running, opened) = opened?;
        *reflector = Some(running);
        opened
    }
    /// Investigate a path.
    Probe(task: Task) -> Investigated { investigate(&task, |_| {})? }
}

/// The main loop of the worker, until its input ends or the controller is silent. An
/// investigation then ends with the process.
///
/// # Errors
/// A request cannot be read.
pub fn serve() -> Result<()> {
    let mut reflector = None;
    for line in os::lease::requests(|| ())? {
        request::answer(&line, requests, &mut reflector)?;
    }
    Ok(())
}

/// The reason for which no reflector was opened.
fn rejected(error: &os::Error, address: IpAddr) -> String {
    match error.source.kind() {
        io::ErrorKind::AddrNotAvailable => {
            format!("it does not have the address {address}; write address= with one of its own")
        }
        _ => error.to_string(),
    }
}

fn open(address: IpAddr, toward: Option<IpAddr>) -> os::Result<(RunningReflector, Opened)> {
    let reflector = StampReflector::open(&[SocketAddr::new(address, 0)], Limits::default())?;
    let port = reflector.addresses().first().map_or(0, SocketAddr::port);
    let toward = toward.map(|to| Outgoing::toward((to, 0).into(), None, Some(address)));
    let outgoing = toward.transpose()?;
    Ok((RunningReflector::start(reflector)?, (port, outgoing)))
}
