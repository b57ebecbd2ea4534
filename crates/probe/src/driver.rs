//! Investigates a path: drives a [`crate::machine::Investigation`] with sockets.
//!
//! An ordinary user's sockets suffice for most of it: ICMP echoes (if the user's group
//! is in `net.ipv4.ping_group_range`), datagrams, and connections. The kernel keeps the
//! errors that routers and the far end report with the bytes that they quote. Raw
//! sockets, which need CAP_NET_RAW, add large SYNs and fragments of a chosen size.
//!
//! Other systems than Linux tell less. Their sockets are in the folder `elsewhere`.

#[cfg(target_os = "linux")]
mod capture;
#[cfg_attr(not(target_os = "linux"), path = "driver/elsewhere/connect.rs")]
mod connect;
mod datagram;
#[cfg(target_os = "linux")]
mod echo;
#[cfg_attr(not(target_os = "linux"), path = "driver/elsewhere/error.rs")]
mod error;
#[cfg(target_os = "linux")]
mod far_end;
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "fragments and quotes")
)]
mod format;
#[cfg(target_os = "linux")]
mod fragments;
#[cfg(any(test, not(target_os = "linux")))]
mod largest;
#[cfg_attr(not(target_os = "linux"), path = "driver/elsewhere/local.rs")]
mod local;
#[cfg(target_os = "linux")]
pub mod mesh;
#[cfg_attr(not(target_os = "linux"), path = "driver/elsewhere/outer.rs")]
mod outer;
mod outgoing;
#[cfg_attr(not(target_os = "linux"), path = "driver/elsewhere/probe_socket.rs")]
mod probe_socket;
#[cfg(target_os = "linux")]
mod quotes;
#[cfg(target_os = "linux")]
mod receive;
mod reflector;
#[cfg(target_os = "linux")]
mod segment;
mod sent;
#[cfg_attr(not(target_os = "linux"), path = "driver/elsewhere/socket.rs")]
mod socket;
#[cfg_attr(not(target_os = "linux"), path = "driver/elsewhere/sockets.rs")]
mod sockets;
pub mod stamp;
pub mod tcp_mss;
mod test_packet;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use crate::machine::{Investigation, PathReport, Progress, Reflector, Settings};
use link::Protocol;
use units::{Bytes, IpMtu, Seed, Span};

#[cfg(target_os = "linux")]
pub use far_end::{FarEnd, Services};
#[cfg(target_os = "linux")]
pub use local::local_host;
use os::clock;
use os::error::{Error, Result};
use os::random::random;
use os::socket::NO_ECHOES;
use outer::Tunnel;
pub use outgoing::Outgoing;
use sockets::Driver;

/// The time after the longest investigation in which its last answers are read.
const GRACE: Span = Span::from_secs(1);

/// The time between two calls that show the progress.
const SHOW: Span = Span::from_millis(100);

/// The investigation of a path.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Task {
    /// The far end. The port is not used.
    pub to: SocketAddr,
    /// The protocols to probe with.
    pub protocols: Vec<Protocol>,
    /// The port of datagrams and of TCP; `None`: 33434 and 443.
    pub port: Option<u16>,
    /// The port at which a STAMP reflector is looked for.
    pub reflector: Option<u16>,
    /// The size that the path should carry; `None`: the MTU of the local interface.
    pub up_to: Option<Bytes>,
    /// The interface to which the sockets are bound.
    pub interface: Option<String>,
    /// The source address; `None`: the kernel's choice.
    pub address: Option<IpAddr>,
    /// Whether only the sizes that pass are looked at, by one flow and without fragments.
    pub is_short: bool,
    /// Whether cached path MTUs are no finding: earlier probes of the path left them.
    pub ignores_cache: bool,
    /// A new file for the packets that are sent and received.
    pub capture: Option<PathBuf>,
    /// The longest that the investigation takes; `None`: the default of
    /// [`Settings`].
    pub most_time: Option<Span>,
    /// How much is sent.
    pub effort: Effort,
}

/// How much an investigation may send.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Effort {
    /// How wide the 95 % interval of the loss of large packets may be, from 0 to 1; `None`:
    /// the default of [`Settings`].
    pub loss_interval: Option<f64>,
    /// Whether as many packets may be sent as narrow intervals need.
    pub is_thorough: bool,
}

/// The result of an investigation.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Investigated {
    /// The interface through which the probes left.
    pub outgoing: Outgoing,
    /// The result.
    pub report: PathReport,
}

/// Investigates a path, until everything is found out or the user stops the program;
/// then the report has what was found out so far. `show` gets the progress about ten
/// times a second.
///
/// # Errors
/// There is no route, or the user may not send any of the probes: one line with the
/// remedy. Or the kernel's.
pub fn investigate(task: &Task, show: impl FnMut(&Progress)) -> Result<Investigated> {
    Prober::open(task)?.run(show)
}

/// An investigation that has opened its sockets and looked for a reflector.
pub struct Prober {
    driver: Driver,
    investigation: Investigation,
    longest: Span,
    ignores_cache: bool,
}

impl Prober {
    /// Prepares an investigation. The only packets that leave ask for a reflector.
    ///
    /// # Errors
    /// As [`investigate`].
    pub fn open(task: &Task) -> Result<Self> {
        let seed = Seed::new(u64::from_ne_bytes(random()?));
        let mut driver = Driver::open(task, seed.derive("driver"))?;
        let reflector = match task.reflector {
            Some(port) if task.protocols.contains(&Protocol::Udp) => driver.find_reflector(port)?,
            _ => Reflector::None,
        };
        let settings = Settings {
            reflector,
            ..settings(task, &driver)
        };
        Ok(Self {
            longest: settings.most_time + GRACE,
            ignores_cache: task.ignores_cache,
            investigation: Investigation::new(settings, seed.derive("probes"))
                .map_err(|error| rejected(&error, task, &driver))?,
            driver,
        })
    }

    /// Investigates the path, as [`investigate`].
    ///
    /// # Errors
    /// The kernel's.
    pub fn run(self, mut show: impl FnMut(&Progress)) -> Result<Investigated> {
        let Self {
            mut driver,
            mut investigation,
            longest,
            ignores_cache,
        } = self;
        let tunnel = Tunnel::of(driver.outgoing());
        let local = local::findings_toward(driver.far_end(), driver.outgoing(), ignores_cache);
        driver.ends_after(longest);
        let mut show_at = clock::monotonic();
        loop {
            let now = clock::monotonic();
            while let Some(probe) = investigation.poll_probe(clock::monotonic()) {
                driver.send(&probe)?;
            }
            if now >= show_at {
                show(&investigation.progress());
                show_at = now + SHOW;
            }
            if investigation.is_done() || driver.is_over() {
                break;
            }
            driver.wait(investigation.poll_timeout())?;
            for (at, answer) in driver.arrived() {
                investigation.answered(at, &answer);
            }
        }
        let mut report = investigation.report();
        if let Some(tunnel) = tunnel {
            tunnel.add_to(&mut report);
        }
        report.add_local(local);
        Ok(Investigated {
            outgoing: driver.finish()?,
            report,
        })
    }
}

/// The settings of the investigation, as the available sockets allow them.
fn settings(task: &Task, driver: &Driver) -> Settings {
    let mtu = driver.outgoing().mtu;
    let largest = Bytes::new(IpMtu::LARGEST.into());
    let asked = task.up_to.unwrap_or_else(|| mtu.min(largest));
    let mut base = Settings::new(task.to.ip(), asked);
    if task.effort.is_thorough {
        base = base.thorough();
    }
    Settings {
        interface_mtu: Some(mtu),
        interface_ipv6: driver.outgoing().ipv6,
        protocols: task.protocols.clone(),
        can_echo: driver.can_echo(),
        tcp: driver.tcp(),
        can_fragment: driver.can_fragment() && !task.is_short,
        hop_probes: driver.hop_probes(),
        flows: if task.is_short { 1 } else { base.flows },
        most_time: task.most_time.unwrap_or(base.most_time),
        loss_interval: task.effort.loss_interval.unwrap_or(base.loss_interval),
        ..base
    }
}

/// The error for an investigation that cannot begin.
fn rejected(error: &crate::machine::BadSettings, task: &Task, driver: &Driver) -> Error {
    let problem = match task.protocols.as_slice() {
        [Protocol::Icmp] if !driver.can_echo() => NO_ECHOES.to_owned(),
        _ => error.to_string(),
    };
    Error::new(format!("probing {}", task.to.ip()), problem)
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
