//! `jumbolab send`: sends traffic from options or a file.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::rc::Rc;

use anyhow::{Result, anyhow, bail, ensure};
use keyfile::Section;
use os::{far_host, interrupt};
use traffic::driver::packet_log::{LogOwner, PacketLog, Zero};
use traffic::driver::sessions::{Flow, FlowOutcome, Intervals, Meter, Outcome, Plan, run as send};
use traffic::flows::{flow, read_file, reversed};
use units::{IpVersion, Seed};

use super::flow_text::{self, Host, Printer, Results, secret};
use super::{iperf3, jumbogram};
use crate::args::Send;
use crate::exit::Ending;
use crate::output;

pub(crate) fn run(args: &Send) -> Result<Ending> {
    if args.jumbo.jumbogram {
        return jumbogram::send(args);
    }
    if args.iperf3 {
        return iperf3::client(args);
    }
    let results = Results::of(args.json, args.json_stream);
    let every = results.interval(args.interval.as_deref())?;
    let to = resolve(args)?;
    let flows = flows(args, to)?;
    let secret = args.secret_file.as_deref().map(secret).transpose()?;
    ensure!(
        args.packet_log.is_none() || !(args.reverse || args.bidir),
        "--packet-log: a packet log has the messages that this end sends; leave it out with --reverse and --bidir"
    );
    interrupt::listen()?;
    let described = flows.clone();
    let (log, opened) = (args.packet_log.clone(), Rc::new(RefCell::new(None)));
    let (meter, slot) = (flows[0].meter, Rc::clone(&opened));
    ensure!(
        log.is_none() || flows.iter().all(|flow| flow.meter == meter),
        "--packet-log: all flows of a packet log must have the same meter; send the others separately"
    );
    let keep = move |epoch| {
        let Some(path) = &log else {
            return Ok(None);
        };
        let zero = Zero {
            sender: epoch,
            here: epoch,
        };
        let (log, records) = PacketLog::create(path, LogOwner::Sender(meter), zero)
            .map_err(|error| format!("{error:#}"))?;
        slot.replace(Some(log));
        Ok(Some(records))
    };
    let printer = match every {
        Some(_) => Some(Printer::start(results.of_sender(&flows, to))?),
        None => None,
    };
    let printer = Rc::new(RefCell::new(printer));
    let shared = Rc::clone(&printer);
    let intervals = every.map(|every| Intervals {
        every,
        tell: Box::new(move |interval| {
            if let Some(printer) = shared.borrow_mut().as_mut() {
                printer.interval(None, interval);
            }
        }),
    });
    let plan = Plan {
        to,
        flows,
        secret,
        keep: Box::new(keep),
        intervals,
    };
    let host = Host::look(to, args.keys.interface());
    let outcome = send(plan)?;
    let printed = printer.take().map_or(Ok(false), Printer::end);
    // The measurement is valid even if the disk is full.
    let logged = opened.take().map_or(Ok(()), PacketLog::end);
    let mut lines = flow_text::sent(&described, &outcome, results, &host);
    if printed? && results == Results::Words {
        lines.insert(0, '\n');
    }
    output::print(&lines)?;
    logged?;
    if let Some(fault) = &outcome.fault {
        let fault = anyhow!("{fault}; the results cover the traffic sent before that");
        let any = outcome.flows.iter().filter_map(|flow| flow.sent.as_ref());
        ensure!(any.into_iter().any(|sent| sent.messages > 0), fault);
        output::report_error(&fault);
    }
    Ok(ending(&described, &outcome))
}

/// How `send` ends: its results are not sound if the session or a flow failed,
/// and if none of the messages that a flow had to send arrived.
fn ending(flows: &[Flow], outcome: &Outcome) -> Ending {
    let lost = |(flow, result): (&Flow, &FlowOutcome)| {
        result.sent.as_ref().is_some_and(|sent| {
            let arrived = match flow.meter {
                Meter::OneWay => result.report.as_ref().map_or(0, |report| report.messages),
                Meter::RoundTrip => sent.echoes,
            };
            sent.messages + sent.rejected + sent.unsent > 0 && arrived == 0
        })
    };
    let failed = outcome.flows.iter().any(|flow| flow.fault.is_some());
    if outcome.fault.is_some() || failed || flows.iter().zip(&outcome.flows).any(lost) {
        Ending::Unsound
    } else if interrupt::asked() {
        Ending::Stopped
    } else {
        Ending::Sound
    }
}

/// The receiver's control address.
///
/// # Errors
/// The host has no address of the requested version.
pub(super) fn resolve(args: &Send) -> Result<SocketAddr> {
    let host = args.host.as_deref().unwrap_or_default();
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

fn flows(args: &Send, to: SocketAddr) -> Result<Vec<Flow>> {
    let typed = args.keys.typed();
    let named: Vec<(String, Section)> = match &args.flow_file {
        Some(file) => read_file(file, &typed)?,
        None if args.flows == 1 => vec![("flow".to_owned(), typed)],
        None => (1..=args.flows)
            .map(|number| (format!("flow-{number}"), typed.clone()))
            .collect(),
    };
    ensure!(
        !named.is_empty(),
        "--flows {}: write a number of at least 1",
        args.flows
    );
    let mut flows = Vec::new();
    for (name, keys) in named {
        let (at, seed) = (to.ip(), Seed::new(args.seed));
        if !args.reverse {
            flows.push(flow(&name, &keys, at, seed)?);
        }
        if args.bidir {
            flows.push(reversed(&format!("{name}-reverse"), &keys, at, seed)?);
        }
        if args.reverse {
            flows.push(reversed(&name, &keys, at, seed)?);
        }
    }
    let mut names = BTreeSet::new();
    if let Some(twice) = flows.iter().find(|flow| !names.insert(flow.name.as_str())) {
        bail!(
            "flow {}: with --bidir the reverse of another flow has this name; write another one",
            twice.name.as_str()
        );
    }
    let echoes = flows.iter().filter(|flow| flow.transport.is_none()).count();
    if echoes > 0 && echoes < flows.len() {
        bail!(
            "echo flows cannot run together with flows that need a receiver; send them separately"
        );
    }
    if echoes > 0 && args.secret_file.is_some() {
        bail!(
            "--secret-file: echo requests are answered by the kernel and use no secret; leave it out"
        );
    }
    Ok(flows)
}
