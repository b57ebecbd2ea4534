//! `jumbolab send`: sends traffic from options or a file.

mod receivers;

use std::io::ErrorKind;
use std::sync::{Arc, Mutex};
use std::thread;

use anyhow::{Context as _, Result, anyhow, ensure};
use os::interrupt;
use traffic::driver::packet_log::{LogOwner, PacketLog, Zero};
use traffic::driver::sessions::{
    CommonStart, Flow, FlowOutcome, Keep, Meter, Outcome, Plan, run as send,
};

use super::flow_text::{self, Host, Results, SharedPrinter, secret};
use super::{iperf3, jumbogram};
use crate::args::Send;
use crate::exit::Ending;
use crate::output;
use receivers::ToReceiver;
pub(super) use receivers::resolve;

const NO_PANIC: &str = "nobody panics with the log in hand";

pub(crate) fn run(args: &Send) -> Result<Ending> {
    if args.jumbo.jumbogram {
        return jumbogram::send(args);
    }
    if args.iperf3 {
        return iperf3::client(args);
    }
    let results = Results::of(args.json, args.json_stream);
    let every = results.interval(args.interval.as_deref())?;
    let all = receivers::read(args)?;
    let secret = args.secret_file.as_deref().map(secret).transpose()?;
    check_log(args, &all)?;
    interrupt::listen()?;
    let opened = Arc::new(Mutex::new(None));
    let flows = all.iter().flat_map(ToReceiver::addressed);
    let form = results.of_sender(&flows.collect::<Vec<_>>());
    let printer = SharedPrinter::start(form, every)?;
    let mut parts = CommonStart::of(all.len());
    let mut plans = Vec::new();
    for one in &all {
        plans.push(Plan {
            to: one.to,
            flows: one.flows.clone(),
            secret: secret.clone(),
            keep: keep(args, one.flows[0].meter, &opened),
            intervals: printer.intervals(every),
            common_start: parts.pop().filter(|_| all.len() > 1),
        });
    }
    let hosts: Vec<_> = { all.iter() }
        .map(|one| Host::look(one.to, args.keys.interface()))
        .collect();
    let outcomes = carry_out(plans)?;
    let printed = printer.end();
    // The measurement is valid even if the disk is full.
    let log = opened.lock().expect(NO_PANIC).take();
    let logged = log.map_or(Ok(()), PacketLog::end);
    let mut lines = String::new();
    for ((one, outcome), host) in all.iter().zip(&outcomes).zip(&hosts) {
        if all.len() > 1 && results == Results::Words {
            lines += &format!("to {} port {}\n", one.to.ip(), one.to.port());
        }
        lines += &flow_text::sent(&one.flows, outcome, results, host);
    }
    if printed? && results == Results::Words {
        lines.insert(0, '\n');
    }
    output::print(&lines)?;
    logged?;
    for outcome in &outcomes {
        report_fault(outcome)?;
    }
    let ends = all.iter().zip(&outcomes);
    let ends: Vec<_> = ends
        .map(|(one, outcome)| ending(&one.flows, outcome))
        .collect();
    let worst = [Ending::Unsound, Ending::Stopped];
    let worst = worst.into_iter().find(|end| ends.contains(end));
    Ok(worst.unwrap_or(Ending::Sound))
}

/// Rejects a packet log of what has none.
fn check_log(args: &Send, all: &[ToReceiver]) -> Result<()> {
    ensure!(
        args.packet_log.is_none() || !(args.reverse || args.bidir),
        "--packet-log: a packet log has the messages that this end sends; leave it out with --reverse and --bidir"
    );
    ensure!(
        args.packet_log.is_none() || all.len() == 1,
        "--packet-log: a packet log has the flows to one receiver; let the receivers write logs, with recv --packet-log-dir DIR"
    );
    let mut meters = all
        .iter()
        .flat_map(|one| one.flows.iter().map(|flow| flow.meter));
    let first = meters.next();
    ensure!(
        args.packet_log.is_none() || meters.all(|meter| Some(meter) == first),
        "--packet-log: all flows of a packet log must have the same meter; send the others separately"
    );
    Ok(())
}

/// Opens the log of `--packet-log`, if there is one, and puts it into `opened`.
fn keep(args: &Send, meter: Meter, opened: &Arc<Mutex<Option<PacketLog>>>) -> Keep {
    let (path, slot) = (args.packet_log.clone(), Arc::clone(opened));
    Box::new(move |epoch| {
        let Some(path) = &path else {
            return Ok(None);
        };
        let zero = Zero {
            sender: epoch,
            here: epoch,
        };
        let (log, records) = PacketLog::create(path, LogOwner::Sender(meter), zero)
            .map_err(|error| format!("{error:#}"))?;
        slot.lock().expect(NO_PANIC).replace(log);
        Ok(Some(records))
    })
}

/// Carries out the plans at the same time. If one cannot begin, none does, and its error
/// is returned.
fn carry_out(plans: Vec<Plan>) -> Result<Vec<Outcome>> {
    let running = plans.into_iter().map(|plan| {
        let name = format!("session {}", plan.to);
        let thread = thread::Builder::new().name(name);
        thread.spawn(|| send(plan)).context("starting a thread")
    });
    let running = running.collect::<Result<Vec<_>>>()?;
    let mut outcomes = Vec::new();
    let mut errors = Vec::new();
    for one in running {
        match one.join().map_err(|_| anyhow!("a session panicked"))? {
            Ok(outcome) => outcomes.push(outcome),
            Err(error) => errors.push(error),
        }
    }
    // Those of the others follow from it.
    errors.sort_by_key(|error| error.source.kind() == ErrorKind::ConnectionAborted);
    match errors.into_iter().next() {
        Some(error) => Err(error.into()),
        None => Ok(outcomes),
    }
}

/// Reports why a session ended early.
///
/// # Errors
/// Nothing was sent before.
fn report_fault(outcome: &Outcome) -> Result<()> {
    let Some(fault) = &outcome.fault else {
        return Ok(());
    };
    let fault = anyhow!("{fault}; the results cover the traffic sent before that");
    let any = outcome.flows.iter().filter_map(|flow| flow.sent.as_ref());
    ensure!(any.into_iter().any(|sent| sent.messages > 0), fault);
    output::report_error(&fault);
    Ok(())
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
