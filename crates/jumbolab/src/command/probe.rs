//! `jumbolab probe`: which packets a path carries.

#[cfg_attr(not(target_os = "linux"), path = "probe/no_local.rs")]
mod local;
#[cfg_attr(not(target_os = "linux"), path = "probe/no_mesh.rs")]
mod mesh;
#[cfg(target_os = "linux")]
mod metrics;
mod progress;
mod server;
#[cfg_attr(not(target_os = "linux"), path = "probe/no_watch.rs")]
mod watch;

use std::net::{IpAddr, SocketAddr};

use anyhow::{Result, anyhow, ensure};
use link::Protocol;
use os::{far_host, interrupt};
use probe::driver::{Effort, Investigated, Task, investigate};
use probe::machine::Verdict;
use probe::text::{Probed, of_path, path_json};
use units::{Bytes, IpMtu, IpVersion};

use super::probabilities::share;
use crate::args::{PORT, Probe, ProbeProtocol};
use crate::exit::Ending;
use crate::output;
use progress::Progress;
use server::Server;
use watch::Watch;

/// The narrowest interval of loss: packets of a minute do not suffice for less.
const NARROWEST: f64 = 0.001;

pub(crate) fn run(args: &Probe) -> Result<Ending> {
    if args.local {
        return local::check(args);
    }
    let up_to = args.max_mtu.as_deref().map(size).transpose()?;
    let effort = effort(args)?;
    if let Some(file) = &args.mesh {
        return mesh::run(args, file, up_to, effort);
    }
    let server = Server::parse(args.host())?;
    if server.is_some() {
        Server::check(args)?;
    }
    let host = server
        .as_ref()
        .map_or_else(|| args.host(), |server| &server.host);
    let addresses = resolve(args, host)?;
    let mut watch = Watch::of(args)?;
    interrupt::listen()?;
    let mut verdicts = Vec::new();
    let mut rejected = Vec::new();
    for address in addresses {
        if interrupt::asked() {
            break;
        }
        let task = task(args, address, up_to, effort);
        let found = match &server {
            Some(server) => server.test(args, address, up_to),
            None => one(&task),
        };
        match found.and_then(|found| print(found, args)) {
            Ok(found) => {
                verdicts.push(found.report.verdict);
                if let Some(watch) = &mut watch {
                    watch.add(&task, found);
                }
            }
            // Another version of IP may do.
            Err(error) => rejected.push(error),
        }
    }
    match rejected.into_iter().next() {
        Some(error) if verdicts.is_empty() || args.family.version().is_some() => return Err(error),
        Some(error) => output::warn(&format!("{error:#}")),
        None => {}
    }
    let is_watched = watch.is_some();
    if let Some(watch) = watch {
        let again = |short: &Task| Task {
            ignores_cache: true,
            ..task(args, short.to, up_to, effort)
        };
        verdicts = watch.run(again)?;
    }
    let verdict = verdicts.into_iter().max();
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

/// Investigates one path.
fn one(task: &Task) -> Result<Investigated> {
    let mut progress = Progress::new();
    let found = investigate(task, |state| {
        progress.show(|| progress::words(task.to.ip(), state));
    });
    progress.end();
    Ok(found?)
}

/// Prints a result.
fn print(found: Investigated, args: &Probe) -> Result<Investigated> {
    let probed = Probed {
        host: args.host(),
        interface: &found.outgoing.interface,
        interface_mtu: found.outgoing.mtu,
        gateway: found.outgoing.gateway,
        report: &found.report,
    };
    match args.json {
        true => output::print_lines(path_json(&probed))?,
        false => output::print_report(&document::text(&of_path(&probed), output::width()))?,
    }
    Ok(found)
}

fn task(args: &Probe, to: SocketAddr, up_to: Option<Bytes>, effort: Effort) -> Task {
    Task {
        to,
        protocols: protocols(args),
        port: args.port,
        reflector: Some(args.port.unwrap_or(PORT)),
        up_to,
        interface: args.interface.clone(),
        address: args.source,
        capture: args.capture.clone(),
        is_short: false,
        ignores_cache: false,
        most_time: None,
        effort,
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

/// How much is sent.
fn effort(args: &Probe) -> Result<Effort> {
    let interval = |text: &String| {
        let share = share(text).map_err(|why| anyhow!("--loss-interval {text}: {why}"))?;
        ensure!(
            share >= NARROWEST,
            "--loss-interval {text}: write 0.1% or more, for instance 2%"
        );
        Ok(share)
    };
    Ok(Effort {
        loss_interval: args.loss_interval.as_ref().map(interval).transpose()?,
        is_thorough: args.thorough,
    })
}

/// The size that the path should carry.
fn size(text: &str) -> Result<Bytes> {
    let size: Bytes = text
        .parse()
        .map_err(|why| anyhow!("--max-mtu {text}: {why}"))?;
    let least = u64::from(IpVersion::V6.smallest_mtu());
    let range = least..=u64::from(IpMtu::LARGEST);
    ensure!(
        range.contains(&size.get()),
        "--max-mtu {text}: write {least} to {} bytes",
        IpMtu::LARGEST
    );
    Ok(size)
}

/// An address of `host` for each version of IP that was asked for.
///
/// # Errors
/// It has none, or no packet could be addressed to it.
fn resolve(args: &Probe, host: &str) -> Result<Vec<SocketAddr>> {
    let all = far_host::addresses(host, 0, ("--interface", args.interface.as_deref()))?;
    let first = |version: IpVersion| {
        let fits = |address: &&SocketAddr| version_of(address.ip()) == version;
        all.iter().find(fits).copied()
    };
    if let Some(version) = args.family.version() {
        let found = first(version);
        let missing = || anyhow!("{host}: has no {version} address; leave -4 and -6 out");
        return Ok(vec![found.ok_or_else(missing)?]);
    }
    let source = args.source.map(version_of);
    let both = [IpVersion::V4, IpVersion::V6].into_iter();
    let both = both.filter(|version| source.is_none_or(|source| source == *version));
    let found: Vec<SocketAddr> = both.filter_map(first).collect();
    ensure!(
        !found.is_empty(),
        "{host}: has no address of the version of IP that --source has; write another --source"
    );
    Ok(found)
}

fn version_of(address: IpAddr) -> IpVersion {
    match address {
        IpAddr::V4(_) => IpVersion::V4,
        IpAddr::V6(_) => IpVersion::V6,
    }
}
