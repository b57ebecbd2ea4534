//! `jumbolab probe`: which packets a path carries.

mod mesh;
mod metrics;
mod progress;
mod watch;

use std::net::SocketAddr;

use anyhow::{Result, anyhow, ensure};
use link::Protocol;
use os::{far_host, interrupt};
use probe::driver::{Investigated, Task, investigate};
use probe::machine::Verdict;
use probe::text::{Probed, of_path, path_json};
use units::{Bytes, IpMtu, IpVersion};

use crate::args::{PORT, Probe, ProbeIp, ProbeProtocol};
use crate::exit::Ending;
use crate::output;
use progress::Progress;
use watch::Watch;

pub(crate) fn run(args: &Probe) -> Result<Ending> {
    let up_to = args.up_to.as_deref().map(size).transpose()?;
    if let Some(file) = &args.mesh {
        return mesh::run(args, file, up_to);
    }
    let addresses = resolve(args)?;
    let mut watch = Watch::of(args)?;
    interrupt::listen()?;
    let mut verdicts = Vec::new();
    let mut refused = Vec::new();
    for address in addresses {
        if interrupt::asked() {
            break;
        }
        let task = task(args, address, up_to);
        match one(&task, args) {
            Ok(found) => {
                verdicts.push(found.report.verdict);
                if let Some(watch) = &mut watch {
                    watch.add(&task, found);
                }
            }
            // Another version of IP may do.
            Err(error) => refused.push(error),
        }
    }
    match refused.into_iter().next() {
        Some(error) if verdicts.is_empty() || !args.ip.is_empty() => return Err(error),
        Some(error) => output::say(&output::one_line(&format!("{error:#}"))),
        None => {}
    }
    let is_watched = watch.is_some();
    if let Some(watch) = watch {
        verdicts = watch.run(|short| task(args, short.to, up_to))?;
    }
    let verdict = verdicts.into_iter().max_by_key(|verdict| weight(*verdict));
    Ok(match verdict {
        // A watch runs until it is stopped.
        _ if interrupt::asked() && !is_watched => Ending::Stopped,
        verdict => ending(verdict.unwrap_or(Verdict::Unclear)),
    })
}

/// The ending with a verdict.
const fn ending(verdict: Verdict) -> Ending {
    match verdict {
        Verdict::Clean => Ending::Sound,
        Verdict::Problem => Ending::Unsound,
        Verdict::Unclear => Ending::Undecided,
    }
}

/// Investigates one path and prints the result.
fn one(task: &Task, args: &Probe) -> Result<Investigated> {
    let mut progress = Progress::new();
    let found = investigate(task, |state| {
        progress.show(|| progress::words(task.to.ip(), state));
    });
    progress.end();
    let found = found?;
    let probed = Probed {
        host: args.host(),
        interface: &found.outgoing.interface,
        interface_mtu: found.outgoing.mtu,
        report: &found.report,
    };
    match args.json {
        true => output::print_lines(path_json(&probed))?,
        false => output::print_report(&document::text(&of_path(&probed), output::width()))?,
    }
    Ok(found)
}

/// A problem outweighs an unclear path, and that a clean one.
const fn weight(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Clean => 0,
        Verdict::Unclear => 1,
        Verdict::Problem => 2,
    }
}

fn task(args: &Probe, to: SocketAddr, up_to: Option<Bytes>) -> Task {
    Task {
        to,
        protocols: protocols(args),
        port: args.port,
        reflector: Some(args.port.unwrap_or(PORT)),
        up_to,
        interface: args.interface.clone(),
        address: args.address,
        capture: args.capture.clone(),
        is_short: false,
        most_time: None,
    }
}

fn protocols(args: &Probe) -> Vec<Protocol> {
    let protocols = args.protocol.iter().map(|protocol| match protocol {
        ProbeProtocol::Icmp => Protocol::Icmp,
        ProbeProtocol::Udp => Protocol::Udp,
        ProbeProtocol::Tcp => Protocol::Tcp,
    });
    protocols.collect()
}

/// The size that the path should carry.
fn size(text: &str) -> Result<Bytes> {
    let size: Bytes = text
        .parse()
        .map_err(|why| anyhow!("--up-to {text}: {why}"))?;
    let least = u64::from(IpVersion::V6.smallest_mtu());
    let range = least..=u64::from(IpMtu::LARGEST);
    ensure!(
        range.contains(&size.get()),
        "--up-to {text}: write {least} to {} bytes",
        IpMtu::LARGEST
    );
    Ok(size)
}

/// An address of the host for each version of IP that was asked for.
///
/// # Errors
/// It has none, or no packet could be addressed to it.
fn resolve(args: &Probe) -> Result<Vec<SocketAddr>> {
    let host = args.host();
    let all = far_host::addresses(host, 0, ("--interface", args.interface.as_deref()))?;
    let first = |four: bool| {
        all.iter()
            .find(|address| address.is_ipv4() == four)
            .copied()
    };
    let wanted = |ip: ProbeIp| first(ip == ProbeIp::V4);
    if args.ip.is_empty() {
        let source = args.address.map(|address| address.is_ipv4());
        let fits = |address: &SocketAddr| source.is_none_or(|four| four == address.is_ipv4());
        let both = [ProbeIp::V4, ProbeIp::V6].map(wanted).into_iter().flatten();
        let found: Vec<SocketAddr> = both.filter(fits).collect();
        ensure!(
            !found.is_empty(),
            "{host}: no address of the version of IP that --address has; write another --address"
        );
        return Ok(found);
    }
    args.ip
        .iter()
        .map(|ip| {
            let version = match ip {
                ProbeIp::V4 => "4",
                ProbeIp::V6 => "6",
            };
            wanted(*ip).ok_or_else(|| {
                anyhow!("--ip {version}: {host} has no IPv{version} address; leave --ip out")
            })
        })
        .collect()
}
