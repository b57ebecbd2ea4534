//! Tests the requirements of test networks in a worker, so that the calling process
//! stays outside of the sandbox.

pub(crate) mod emulated;

use std::io::Write;

use crate::testbed::{Addresses, Forwarder, Link, Medium, Path, Tcp, Testbed};
use anyhow::{Context, Result, bail};
use os::capture::Capture;
use os::clock::{self, Epoch};
use os::socket::{keep_stamping, try_congestion_control};
use os::worker::Command;
use os::{Rejection, Sandbox, Worker};
use serde::{Deserialize, Serialize};
use traffic::driver::transfer::{Echo, Received, Transfer};
use units::{Bytes, IpMtu, IpVersion, Rate, Span, Transport};

use crate::agent::{Agents, Failure};
pub(crate) use emulated::FilledLinks;
pub use emulated::{Encapsulation, Trial};

/// The role of the worker, as [`Command::local`] takes it.
pub(crate) const ROLE: &str = "doctor";

/// Congestion controls to look for.
pub(super) const CONGESTION_CONTROLS: [&str; 3] = ["reno", "cubic", "bbr"];

/// Queueing disciplines that other tools use; this program needs none of them.
pub(super) const QUEUES: [&str; 7] = ["netem", "fq", "fq_codel", "codel", "pie", "red", "htb"];

/// The timeout of the worker. It takes a second, six if no link can be filled,
/// and several times as much on a busy machine.
const TIMEOUT: Span = Span::from_secs(60);

/// The rate of the tested link: 1 Gbit/s.
const GIGABIT: u64 = 1_000_000_000;

/// The outcome of the test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Attempt {
    /// This machine forbids the namespaces.
    Rejected {
        /// The reason of the rejection.
        reason: String,
        /// The command that allows namespaces.
        command: String,
        /// Alternative remedies.
        advice: String,
    },
    /// The sandbox was entered, with these findings.
    Inside(Inside),
    /// The worker failed: one line of text.
    Lost(String),
}

/// The findings inside the sandbox.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inside {
    /// The tested abilities, in order; without veth, the remaining ones are
    /// absent.
    pub steps: Vec<Step>,
    /// Congestion controls out of reno, cubic and bbr that can be selected.
    pub congestion_controls: Vec<String>,
    /// Queueing disciplines of interest that the kernel supports.
    pub queues: Vec<String>,
    /// Goodput of the transfer, in Mbit/s.
    pub goodput_mbit: Option<f64>,
    /// The receive buffer granted to a UDP socket as the kernel counts it:
    /// twice the usable size, in bytes [socket(7)].
    pub udp_buffer: Option<u64>,
    /// Results of emulated links by MTU; empty without packet sockets.
    pub emulated: Vec<Encapsulation>,
}

/// One tested ability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    pub ability: Ability,
    /// The reason of a failure, if it failed.
    pub problem: Option<String>,
}

/// An ability of the kernel that test networks may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ability {
    /// A veth pair between two namespaces.
    Veth,
    /// A token bucket in front of an interface.
    TokenBucket,
    /// A bridge as a switch.
    Bridge,
    /// IPv6 addresses and routes.
    Ipv6,
    /// Segmentation offloads that can be switched off.
    Offloads,
    /// A socket that captures every frame.
    PacketSocket,
    /// A transfer over TCP through a shaped link.
    Transfer,
}

/// Starts the worker and reads its findings.
pub(super) fn attempt() -> Attempt {
    let ask = || -> Result<Attempt> {
        let mut worker = Worker::spawn(Command::local(None, ROLE))?;
        match worker.receive_line(clock::monotonic() + TIMEOUT)? {
            Some(line) => serde_json::from_str(&line).context("reading the reply of the worker"),
            None => bail!("the worker did not reply within {TIMEOUT}"),
        }
    };
    ask().unwrap_or_else(|error| Attempt::Lost(format!("{error:#}")))
}

/// The worker's main function: tests everything and reports in one line.
///
/// # Errors
/// The parent cannot be written to.
pub(crate) fn serve(mut replies: impl Write) -> Result<()> {
    let attempt = match Sandbox::enter() {
        Ok(_sandbox) => Attempt::Inside(Inside::look()),
        Err(error) => {
            let rejection = Rejection::of(&error);
            Attempt::Rejected {
                reason: rejection.reason.to_owned(),
                command: rejection.command.to_owned(),
                advice: rejection.advice.to_owned(),
            }
        }
    };
    writeln!(replies, "{}", serde_json::to_string(&attempt)?)?;
    Ok(replies.flush()?)
}

impl Inside {
    /// Tests each ability with a minimal test network.
    fn look() -> Self {
        let mut inside = Self::default();
        let plain = path(IpVersion::V4);
        let veth = inside.step(Ability::Veth, || {
            let testbed = Testbed::build(&plain)?;
            Ok(testbed.sender().queues_known(&QUEUES)?)
        });
        let Some(queues) = veth else {
            return inside;
        };
        inside.queues = queues.into_iter().map(str::to_owned).collect();
        inside.congestion_controls = CONGESTION_CONTROLS
            .into_iter()
            .filter(|name| try_congestion_control(name).is_ok())
            .map(str::to_owned)
            .collect();
        let build = |path: &Path| -> Result<()> {
            Testbed::build(path)?;
            Ok(())
        };
        let shaped = inside.step(Ability::TokenBucket, || build(&at_a_gigabit(&plain)));
        inside.step(Ability::Bridge, || {
            build(&Path {
                middle: Forwarder::Switch,
                links: vec![plain.links[0].clone(); 2],
                ..plain.clone()
            })
        });
        let six = inside.step(Ability::Ipv6, || build(&path(IpVersion::V6)));
        inside.step(Ability::Offloads, || {
            build(&Path {
                offloads: false,
                ..plain.clone()
            })
        });
        let best = path(if six.is_some() {
            IpVersion::V6
        } else {
            IpVersion::V4
        });
        inside.carry(&match shaped {
            Some(()) => at_a_gigabit(&best),
            None => best.clone(),
        });
        if inside.udp_buffer.is_some() {
            inside.emulated = emulated::search(best.ip);
        }
        inside
    }

    /// Sends a little TCP and UDP traffic through a test network and inspects it.
    fn carry(&mut self, path: &Path) {
        let Some(testbed) = self.step(Ability::PacketSocket, || {
            let testbed = Testbed::build(path)?;
            let node = testbed.receiver();
            Capture::open(&node.namespace, &node.interfaces[0].name)?;
            Ok(testbed)
        }) else {
            return;
        };
        let received = self.step(Ability::Transfer, || {
            let _stamping = keep_stamping()?;
            let mut agents = Agents::of(&testbed)?;
            let mut carry = |protocol| carried(&mut agents, &transfer(&testbed, path, protocol));
            Ok((carry(Transport::Tcp)?, carry(Transport::Udp)?))
        });
        if let Some((tcp, udp)) = received {
            self.goodput_mbit = tcp.goodput.map(|goodput| goodput.bits_per_second / 1e6);
            self.udp_buffer = Some(udp.receive_buffer);
        }
    }

    /// Records the outcome of `work`.
    fn step<T>(&mut self, ability: Ability, work: impl FnOnce() -> Result<T>) -> Option<T> {
        let (done, problem) = match work() {
            Ok(done) => (Some(done), None),
            Err(error) => (None, Some(format!("{error:#}"))),
        };
        self.steps.push(Step { ability, problem });
        done
    }
}

/// Two hosts and an unshaped link that needs nothing but veth.
fn path(ip: IpVersion) -> Path {
    Path {
        graph: None,
        middle: Forwarder::Router,
        ip,
        addresses: Addresses::Static,
        offloads: true,
        segments_per_packet: None,
        tcp: Tcp::default(),
        links: vec![Link {
            mtu: IpMtu::new(9000, ip).expect("9000 is within the bounds of both protocols"),
            medium: medium(None),
        }],
    }
}

/// A kernel's link of this rate, or an unshaped one.
fn medium(rate: Option<Rate>) -> Medium {
    Medium::Kernel {
        rate,
        burst: Bytes::new(64_000),
        buffer: Bytes::new(1_000_000),
    }
}

/// The same path with token buckets of 1 Gbit/s.
fn at_a_gigabit(path: &Path) -> Path {
    let mut path = path.clone();
    for link in &mut path.links {
        link.medium = medium(Rate::from_bits_per_second(GIGABIT));
    }
    path
}

/// A transfer that takes some milliseconds.
fn transfer(testbed: &Testbed, path: &Path, protocol: Transport) -> Transfer {
    let (size, message) = match protocol {
        Transport::Tcp => (2_000_000, 64_000),
        Transport::Udp => (100_000, 1_000),
    };
    Transfer {
        protocol,
        address: testbed.destination(path),
        warmup: Bytes::new(size / 4),
        warmup_message: Bytes::new(message),
        size: Bytes::new(size),
        message: Bytes::new(message),
        pace: path.links[0].medium.rate(),
        paced: false,
        delays: false,
        echo: Echo::Off,
        // Every kernel has it.
        congestion: "reno".to_owned(),
        largest_segment: None,
        processor: None,
        send_buffer: None,
        receive_buffer: None,
        nagle: false,
        epoch: Epoch::now(),
        timeout: Span::from_secs(1),
        quiet: Span::from_millis(100),
    }
}

fn carried(agents: &mut Agents, transfer: &Transfer) -> Result<Received> {
    match agents.transfer(transfer) {
        Ok((_, received)) => Ok(received),
        Err(Failure::Transfer(reason) | Failure::Disturbed(reason)) => bail!(reason),
        Err(Failure::Lost(error)) => Err(error),
    }
}
