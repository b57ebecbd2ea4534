//! The program on a host of a mesh, and its protocol: one JSON object per line, a request
//! and its reply.

use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::thread;

use crate::driver::stamp::{RunningReflector, StampReflector};
use crate::driver::{Investigated, Outgoing, Task, investigate};
use crate::machine::stamp::Limits;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// The worker's role.
pub const ROLE: &str = "prober";

/// A request to a host.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request {
    /// Open a reflector at an address, and say through which interface packets leave
    /// toward another one.
    Open {
        address: IpAddr,
        toward: Option<IpAddr>,
    },
    /// Investigate a path.
    Probe(Box<Task>),
}

/// A reply of a host.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    /// The reflector's port, and the interface.
    Opened {
        port: u16,
        outgoing: Option<Outgoing>,
    },
    /// The result.
    Probed(Box<Investigated>),
    /// The request failed: one line of text.
    Failed(String),
}

/// The main loop of the worker, until its input ends or the controller is silent. An
/// investigation then ends with the process.
///
/// # Errors
/// A request cannot be read.
pub fn serve() -> Result<()> {
    let mut reflector = None;
    for line in os::lease::requests(|| ())? {
        match serde_json::from_str(&line).context("reading a request")? {
            Request::Open { address, toward } => match open(address, toward) {
                Ok((running, reply)) => {
                    reflector = Some(running);
                    answer(&reply)?;
                }
                Err(error) => answer(&Reply::Failed(refused(&error, address)))?,
            },
            Request::Probe(task) => {
                let probe = move || {
                    let reply = match investigate(&task, |_| {}) {
                        Ok(found) => Reply::Probed(Box::new(found)),
                        Err(error) => Reply::Failed(error.to_string()),
                    };
                    // Without a reader, the input has ended, too.
                    let _ = answer(&reply);
                };
                if let Err(error) = thread::Builder::new().spawn(probe) {
                    answer(&Reply::Failed(format!("starting a thread: {error}")))?;
                }
            }
        }
    }
    drop(reflector);
    Ok(())
}

fn answer(reply: &Reply) -> Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{}", serde_json::to_string(reply)?)?;
    Ok(output.flush()?)
}

/// The reason for which no reflector was opened.
fn refused(error: &os::Error, address: IpAddr) -> String {
    match error.source.kind() {
        io::ErrorKind::AddrNotAvailable => {
            format!("it does not have the address {address}; write address= with one of its own")
        }
        _ => error.to_string(),
    }
}

fn open(address: IpAddr, toward: Option<IpAddr>) -> os::Result<(RunningReflector, Reply)> {
    let reflector = StampReflector::open(&[SocketAddr::new(address, 0)], Limits::default())?;
    let port = reflector.addresses().first().map_or(0, SocketAddr::port);
    let toward = toward.map(|to| Outgoing::toward((to, 0).into(), None, Some(address)));
    let outgoing = toward.transpose()?;
    let running = RunningReflector::start(reflector)?;
    Ok((running, Reply::Opened { port, outgoing }))
}
