//! Single messages, each verified by its hash.

use std::fs;
use std::path::Path;

use units::Span;

use super::capture::Capture;
use super::end::{FROM, Listener, Raw, rejected};
use super::jumbo_path::JumboPath;
use super::message::{Arrived, Message};
use os::error::{OperationContext, Result};
use os::interrupt;
use os::namespace::Namespace;

/// The longest delay of a message.
const TIMEOUT: Span = Span::from_secs(2);

/// The result of carrying messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Bytes of each packet, headers included.
    pub packet: u64,
    /// Whether the packets were jumbograms.
    pub jumbogram: bool,
    /// Messages sent.
    pub sent: u64,
    /// Packets that the receiver's interface counted meanwhile; two per message if the
    /// interface also counts it on the way out.
    pub packets: u64,
    /// Packets that the router forwarded, if there is one.
    pub forwarded: Option<u64>,
    /// Messages that arrived.
    pub arrived: Vec<Arrived>,
}

/// The messages to carry.
#[derive(Clone, Copy, Debug)]
pub struct Carrying<'a> {
    /// Bytes of each message.
    pub size: u32,
    /// Number of messages.
    pub count: u64,
    /// The file for a capture of them.
    pub capture: Option<&'a Path>,
}

/// Carries messages along `jumbo_path`, one at a time.
///
/// # Errors
/// If the kernel rejects one, or the capture cannot be written.
pub fn carry(jumbo_path: &JumboPath, wanted: Carrying<'_>) -> Result<Carried> {
    let Carrying {
        size,
        count,
        capture,
    } = wanted;
    let [from, to] = jumbo_path.addresses;
    let mut listener = jumbo_path.at_receiver(|| Listener::open(to.into(), 0))?;
    let raw = jumbo_path.at_sender(|| Raw::open(to))?;
    let mut message = Message::new(jumbo_path.addresses, [FROM, listener.port()?], size);
    let mut capture = capture
        .map(|path| Capture::begin(jumbo_path, path))
        .transpose()?;
    let before = Counted::by(jumbo_path)?;
    let (mut sent, mut arrived) = (0, Vec::new());
    while sent < count && !interrupt::asked() {
        raw.send(message.stamped(sent)?)
            .map_err(|error| rejected(size, error))?;
        sent += 1;
        arrived.extend(
            listener
                .next(TIMEOUT, true)?
                .filter(|(_, sender)| sender.ip() == from)
                .map(|(arrived, _)| arrived),
        );
        if let Some(capture) = &mut capture {
            capture.drain()?;
        }
    }
    let after = Counted::by(jumbo_path)?;
    Ok(Carried {
        packet: message.packet_len(),
        jumbogram: message.is_jumbogram(),
        sent,
        packets: after.packets - before.packets,
        forwarded: after
            .forwarded
            .zip(before.forwarded)
            .map(|(after, before)| after - before),
        arrived,
    })
}

/// Counters of the kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    /// Unicast packets that the receiver's IPv6 accepted; each fragment counts.
    pub(super) packets: u64,
    forwarded: Option<u64>,
}

impl Counted {
    pub(super) fn by(jumbo_path: &JumboPath) -> Result<Self> {
        let (namespace, _) = jumbo_path.arrival();
        let arrived = counters(namespace)?;
        let forwarded = jumbo_path.router().map(|router| {
            let counters = counters(router)?;
            Ok(count(&counters, "Ip6OutForwDatagrams"))
        });
        // Multicast packets are the kernel's own.
        let groups = count(&arrived, "Ip6InMcastPkts");
        Ok(Self {
            packets: count(&arrived, "Ip6InReceives").saturating_sub(groups),
            forwarded: forwarded.transpose()?,
        })
    }
}

/// One of `counters`.
fn count(counters: &[(String, u64)], name: &str) -> u64 {
    let found = counters.iter().find(|(own, _)| own == name);
    found.map_or(0, |(_, count)| *count)
}

/// The counters of IPv6 in a namespace, in the kernel's order.
fn counters(namespace: &Namespace) -> Result<Vec<(String, u64)>> {
    let text = namespace.within(|| {
        fs::read_to_string("/proc/thread-self/net/snmp6").during(|| "reading the counters of IPv6")
    })?;
    let counters = text.lines().filter_map(|line| {
        let (name, count) = line.split_once(char::is_whitespace)?;
        Some((name.to_owned(), count.trim().parse().ok()?))
    });
    Ok(counters.collect())
}
