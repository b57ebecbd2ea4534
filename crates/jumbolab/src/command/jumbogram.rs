//! `jumbolab send --jumbogram` and `recv --jumbogram`.

mod text;

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use anyhow::{Result, anyhow, bail, ensure};
use os::{clock, interrupt};
use traffic::driver::jumbogram::{
    Between, Carrying, HeaderSource as Live, JumboPath, LARGEST, LEAST, Listener, Measured,
    Measuring, carry, measure, send as send_to, super_packets,
};
use units::{Bytes, Span, Time};

use crate::args::{Method, PORT, Recv, Send, Topology};
use crate::exit::{Ending, done};
use crate::output;

/// Bytes of the headers before a payload, including the option of a jumbogram
/// [RFC2675 s2].
const HEADERS: u32 = 48;
const OPTION: u32 = 8;
/// The largest payload without the option [RFC2675 s4].
const LARGEST_ORDINARY: u32 = 65_527;
/// The minimum MTU of IPv6 [RFC8200 s5], and the MTU of most links.
const LEAST_MTU: u32 = 1_280;
const USUAL_MTU: u32 = 1_500;

/// The interval at which a receiver checks for a stop request.
const LOOK: Span = Span::from_millis(100);

/// Sends jumbograms.
pub(crate) fn send(args: &Send) -> Result<Ending> {
    let size = size(args.keys.message.as_deref().unwrap_or_default())?;
    let topology = args.jumbo.topology.unwrap_or(Topology::Loopback);
    let by = args.jumbo.method.unwrap_or(Method::Packet);
    interrupt::listen()?;
    if args.host.is_some() {
        return to_host(size, args).map(done);
    }
    ensure!(
        args.keys.gap.is_none() && args.port == PORT,
        "--gap and --port: they need HOST; leave them out, or add HOST"
    );
    let length = args.keys.duration.as_deref().map(span).transpose()?;
    if by == Method::Tcp && topology != Topology::Loopback {
        bail!("--method tcp: works over loopback only; leave --topology out");
    }
    if by == Method::Tcp && args.jumbo.capture.is_some() {
        bail!("--capture: captures datagrams only; leave it out with --method tcp");
    }
    let between = match topology {
        Topology::Loopback => Between::Loopback,
        Topology::Namespaces => Between::Namespaces,
        Topology::Router => Between::Router,
    };
    let mtu = match by {
        Method::Tcp => USUAL_MTU,
        Method::Packet | Method::Socket => packet(size).max(LEAST_MTU),
    };
    let jumbo_path = JumboPath::build(between, mtu)?;
    let measured: Measured = match (length, by) {
        (None, Method::Packet) => {
            let count = count(args, 1)?;
            let carried = carry(
                &jumbo_path,
                Carrying {
                    size,
                    count,
                    capture: args.jumbo.capture.as_deref(),
                },
            )?;
            output::print(&text::carried(&carried, size, topology, args.json))?;
            let whole = carried.arrived.iter().filter(|one| one.whole == Some(true));
            let whole = whole.count() as u64;
            if whole != carried.sent {
                output::report_error(&anyhow!(
                    "only {whole} of {} messages arrived complete and unchanged; run it again",
                    carried.sent
                ));
                return Ok(Ending::Unsound);
            }
            return Ok(Ending::Sound);
        }
        (None, _) => {
            bail!("--method: selects the method of a measurement; add for instance --duration 1s")
        }
        (Some(_), _) if args.keys.packets.is_some() => {
            bail!("--packets and --duration: they exclude each other; leave one out")
        }
        (Some(length), Method::Tcp) => super_packets(&jumbo_path, size, length)?,
        (Some(length), Method::Packet | Method::Socket) => {
            let who = match by {
                Method::Socket => Live::Socket,
                Method::Packet | Method::Tcp => Live::Packet,
            };
            let wanted = Measuring {
                by: who,
                size,
                length,
                capture: args.jumbo.capture.as_deref(),
            };
            measure(&jumbo_path, wanted)?
        }
    };
    output::print(&text::measured(&measured, size, topology, by, args.json))?;
    Ok(
        match measured.messages > 0 && measured.lost < measured.messages {
            true => Ending::Sound,
            false => Ending::Unsound,
        },
    )
}

/// Receives jumbograms until a stop request.
pub(crate) fn receive(args: &Recv) -> Result<()> {
    let address = match (args.listen.as_slice(), args.open) {
        ([], false) => IpAddr::from(Ipv6Addr::LOCALHOST),
        ([], true) => IpAddr::from(Ipv6Addr::UNSPECIFIED),
        ([one], _) if one.is_ipv6() => *one,
        _ => bail!("--listen: jumbograms need IPv6; write one IPv6 address"),
    };
    let mut listener = Listener::open(address, args.port)?;
    output::info(&format!("listening on {address} port {}", listener.port()?));
    let mut damaged = Damaged::default();
    while !interrupt::asked() {
        let Some((arrived, from)) = listener.next(LOOK, true)? else {
            continue;
        };
        // Anybody can send datagrams that are no whole messages.
        let whole = arrived.whole == Some(true);
        if whole || damaged.is_printed(clock::monotonic()) {
            output::print(&text::arrived(&arrived, from, args.json))?;
        }
        if whole && args.once {
            break;
        }
    }
    if damaged.omitted > 0 {
        output::info(&format!("{} other damaged datagrams", damaged.omitted));
    }
    Ok(())
}

/// The shortest time between two lines about damaged datagrams.
const BETWEEN_DAMAGED: Span = Span::from_secs(1);

/// Limits the lines about damaged datagrams.
#[derive(Default)]
struct Damaged {
    /// The earliest time of the next line.
    next: Time,
    omitted: u64,
}

impl Damaged {
    /// Whether the datagram that arrived at `now` is printed; others are counted.
    fn is_printed(&mut self, now: Time) -> bool {
        let is_due = now >= self.next;
        if is_due {
            self.next = now + BETWEEN_DAMAGED;
        } else {
            self.omitted += 1;
        }
        is_due
    }
}

/// Sends to a listening host.
fn to_host(size: u32, args: &Send) -> Result<()> {
    let to = match super::send::resolve(args)? {
        SocketAddr::V6(to) => to,
        SocketAddr::V4(to) => bail!("{}: jumbograms need IPv6; write an IPv6 address", to.ip()),
    };
    ensure!(
        args.keys.duration.is_none(),
        "--duration: not available with HOST; write --packets, or leave HOST out to measure"
    );
    let gap = args
        .keys
        .gap
        .as_deref()
        .map_or(Ok(Span::from_millis(100)), span)?;
    let sent = send_to(to, size, count(args, 1)?, gap)?;
    output::print(&text::sent(&sent, size, to.into(), args.json))
}

/// Bytes of a packet with a payload of `size`.
const fn packet(size: u32) -> u32 {
    match size > LARGEST_ORDINARY {
        true => size + HEADERS + OPTION,
        false => size + HEADERS,
    }
}

fn size(text: &str) -> Result<u32> {
    let size: Bytes = text
        .parse()
        .map_err(|why| anyhow!("--message {text}: {why}"))?;
    u32::try_from(size.get())
        .ok()
        .filter(|size| (LEAST..=LARGEST).contains(size))
        .ok_or_else(|| {
            anyhow!(
                "--message {text}: Linux builds a packet in at most 4 MiB of contiguous memory; write {LEAST} to {LARGEST} bytes"
            )
        })
}

fn span(text: &str) -> Result<Span> {
    text.parse()
        .map_err(|why| anyhow!("{text}: {why}"))
        .and_then(|span: Span| match span {
            Span::ZERO => bail!("{text}: write a time above 0, for instance 1s"),
            span => Ok(span),
        })
}

fn count(args: &Send, otherwise: u64) -> Result<u64> {
    let Some(text) = &args.keys.packets else {
        return Ok(otherwise);
    };
    text.parse()
        .ok()
        .filter(|&count| count > 0)
        .ok_or_else(|| anyhow!("--packets {text}: write a number of at least 1"))
}
