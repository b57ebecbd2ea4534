//! The receivers of `jumbolab send`, each with its flows.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use keyfile::Section;
use os::far_host;
use traffic::driver::sessions::Flow;
use traffic::flows::{flow, read_ditg_script, read_file, reversed};
use units::{IpVersion, Seed};

use crate::args::Send;

/// The keys of the ports of a flow.
const PORTS: [&str; 2] = ["source_port", "destination_port"];

/// A receiver, and the flows between it and this end.
pub(super) struct ToReceiver {
    /// Its control address.
    pub(super) to: SocketAddr,
    pub(super) flows: Vec<Flow>,
}

impl ToReceiver {
    /// The flows with the receiver's control address.
    pub(super) fn addressed(&self) -> impl Iterator<Item = (&Flow, SocketAddr)> {
        self.flows.iter().map(|flow| (flow, self.to))
    }
}

/// The receivers and flows of options and files, in the order of the first flow of each.
///
/// # Errors
/// One line with the option, or the line of a file, and what would be right.
pub(super) fn read(args: &Send) -> Result<Vec<ToReceiver>> {
    let named = named(args)?;
    ensure!(
        !named.is_empty(),
        "--flows {}: write a number of at least 1",
        args.flows
    );
    let mut all: Vec<ToReceiver> = Vec::new();
    for (name, keys) in named {
        for key in PORTS {
            if args.bidir && keys.has(key) {
                let why = "both directions would have this port; leave it out with --bidir";
                return Err(keys.reject(key, why));
            }
        }
        let data = receiver(args, &name, &keys)?;
        let to = match keys.text("control")? {
            Some(host) => address_of(args, &keys, "control", host)?,
            None => data,
        };
        let place = all.iter().position(|one| one.to == to);
        let place = place.unwrap_or_else(|| {
            all.push(ToReceiver {
                to,
                flows: Vec::new(),
            });
            all.len() - 1
        });
        let flows = &mut all[place].flows;
        let (at, seed) = (data.ip(), Seed::new(args.seed));
        let mut add = |mut flow: Flow| {
            flow.options.destination = (data.ip() != to.ip()).then_some(data);
            flows.push(flow);
        };
        if !args.reverse {
            add(flow(&name, &keys, at, seed)?);
        }
        if args.bidir {
            add(reversed(&format!("{name}-reverse"), &keys, at, seed)?);
        }
        if args.reverse {
            add(reversed(&name, &keys, at, seed)?);
        }
    }
    check(args, &all)?;
    Ok(all)
}

/// The keys of each flow, with its name.
fn named(args: &Send) -> Result<Vec<(String, Section)>> {
    let typed = args.keys.typed();
    match (&args.flow_file, &args.ditg_script) {
        (Some(file), _) => read_file(file, &typed),
        (None, Some(script)) => read_ditg_script(script, &typed),
        (None, None) if args.flows == 1 => Ok(vec![("flow".to_owned(), typed)]),
        (None, None) => (1..=args.flows)
            .map(|number| Ok((format!("flow-{number}"), nth(&typed, number)?)))
            .collect(),
    }
}

fn check(args: &Send, all: &[ToReceiver]) -> Result<()> {
    let flows = || all.iter().flat_map(|one| &one.flows);
    let mut names = BTreeSet::new();
    if let Some(twice) = flows().find(|flow| !names.insert(flow.name.as_str())) {
        bail!(
            "flow {}: with --bidir the reverse of another flow has this name; write another one",
            twice.name.as_str()
        );
    }
    let echoes = flows().filter(|flow| flow.transport.is_none()).count();
    if echoes > 0 && echoes < flows().count() {
        bail!(
            "echo flows cannot run together with flows that need a receiver; send them separately"
        );
    }
    if echoes > 0 && all.len() > 1 {
        bail!("echo flows have one host; send those to other hosts separately");
    }
    if echoes > 0 && args.secret_file.is_some() {
        bail!(
            "--secret-file: echo requests are answered by the kernel and use no secret; leave it out"
        );
    }
    Ok(())
}

/// The address of a flow's receiver: of its own key `host`, or of HOST.
fn receiver(args: &Send, name: &str, keys: &Section) -> Result<SocketAddr> {
    let Some(host) = keys.text("host")? else {
        let host = args.host.as_deref();
        let host = host.with_context(|| {
            format!(
                "flow {name} has no `host`; write it, or the host of all flows: jumbolab send HOST"
            )
        })?;
        return address(args, host);
    };
    address_of(args, keys, "host", host)
}

/// The address of the host that a key names.
fn address_of(args: &Send, keys: &Section, key: &str, host: &str) -> Result<SocketAddr> {
    address(args, host).map_err(|error| keys.reject(key, format!("{error:#}")))
}

/// The control address of HOST.
///
/// # Errors
/// The host has no address of the requested version.
pub(in super::super) fn resolve(args: &Send) -> Result<SocketAddr> {
    address(args, args.host.as_deref().unwrap_or_default())
}

fn address(args: &Send, host: &str) -> Result<SocketAddr> {
    let interface = ("--interface", args.keys.interface());
    let addresses = far_host::addresses(host, args.port, interface)?;
    let version = args.family.version();
    let fits = |address: &&SocketAddr| {
        version.is_none_or(|version| address.is_ipv4() == (version == IpVersion::V4))
    };
    let found = addresses.iter().find(fits).copied();
    found.ok_or_else(|| {
        let version = version.map_or_else(String::new, |version| version.to_string());
        anyhow!("{host}: has no {version} address; leave -4 and -6 out")
    })
}

/// The keys of the flow with this number, from 1, of several with the same options: the ports
/// that follow.
fn nth(typed: &Section, number: u16) -> Result<Section> {
    let mut keys = typed.clone();
    for key in PORTS {
        let last = u64::from(u16::MAX - (number - 1));
        if let Some(port) = typed.number(key, 1, last)? {
            keys.option(key, &(port + u64::from(number - 1)).to_string());
        }
    }
    Ok(keys)
}
