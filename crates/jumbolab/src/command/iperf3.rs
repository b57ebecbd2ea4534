//! `jumbolab send --iperf3` and `jumbolab recv --iperf3`: tests with iperf3 at the other end.

mod results;

use anyhow::{Result, anyhow};
use os::interrupt;
use traffic::driver::iperf3::{Event, Outcome, Plan, Server, Serving, run};
use traffic::flows;
use traffic::machine::iperf3::{Direction, Request};
use units::Transport;

use super::flow_text::{Printer, Results, SharedPrinter};
use super::log_thread::LogThread;
use super::{recv, send};
use crate::args::{Recv, Send};
use crate::exit::Ending;
use crate::output;

/// Runs a test with an iperf3 server.
pub(super) fn client(args: &Send) -> Result<Ending> {
    let form = Results::of(args.json, args.json_stream);
    let every = form.interval(args.interval.as_deref())?;
    let direction = match (args.reverse, args.bidir) {
        (true, _) => Direction::Reverse,
        (_, true) => Direction::Both,
        _ => Direction::Forward,
    };
    let to = send::resolve(args)?;
    let (request, socket) = flows::iperf3(&args.keys.typed(), args.flows, direction, to.ip())?;
    interrupt::listen()?;
    let ways = [
        direction != Direction::Reverse,
        direction != Direction::Forward,
    ];
    let table = form.of_iperf3(Some(request.transport), ways);
    let printer = SharedPrinter::start(table, every)?;
    let outcome = run(Plan {
        to,
        request,
        socket,
        intervals: printer.intervals(every),
    });
    let printed = printer.end();
    let outcome = outcome?;
    let mut lines = results::of(&outcome, None, form);
    if printed? && form == Results::Words {
        lines.insert(0, '\n');
    }
    output::print(&lines)?;
    if let Some(fault) = &outcome.fault {
        let fault = anyhow!("{fault}; the results cover the traffic sent before that");
        output::report_error(&fault);
    }
    Ok(ending(&outcome))
}

/// How a test ends: its results are not sound if it failed, or nothing arrived of a flow.
fn ending(outcome: &Outcome) -> Ending {
    let is_empty = |flow: &traffic::driver::iperf3::FlowOutcome| {
        let received = flow.received.is_none_or(|count| count.bytes.get() == 0);
        let sent = flow.sent.is_none_or(|count| count.bytes.get() > 0);
        received && sent
    };
    if outcome.fault.is_some() || outcome.flows.iter().any(is_empty) {
        Ending::Unsound
    } else if interrupt::asked() {
        Ending::Stopped
    } else {
        Ending::Sound
    }
}

/// Serves clients of iperf3.
pub(super) fn server(args: &Recv) -> Result<Ending> {
    let form = Results::of(args.json, args.json_stream);
    let every = form.interval(args.interval.as_deref())?;
    let (longest, rate) = (recv::longest(args)?, recv::sending_rate(args)?);
    interrupt::listen()?;
    let server = recv::at_addresses(args, |listen| {
        Ok(Server::open(Serving {
            listen,
            open: args.open,
            longest,
            rate,
            once: args.once,
            interval: every,
        })?)
    })?;
    let log = LogThread::start()?;
    for address in server.addresses() {
        let (ip, port) = (address.ip(), address.port());
        log.info(format!(
            "listening on {ip} port {port} for clients of iperf3"
        ));
    }
    let mut printer = match every {
        Some(_) => Some(Printer::start(form.of_iperf3(None, [true, true]))?),
        None => None,
    };
    let mut failed = None;
    let ended = server.run(|event| {
        if let Err(error) = report(event, form, printer.as_mut(), &log) {
            failed.get_or_insert(error);
        }
    });
    log.end();
    let printed = printer.map_or(Ok(false), Printer::end);
    ended?;
    failed.map_or(Ok(()), Err)?;
    printed?;
    Ok(Ending::Sound)
}

/// Reports an event: tests on stderr, results on stdout.
fn report(
    event: Event,
    form: Results,
    printer: Option<&mut Printer>,
    log: &LogThread,
) -> Result<()> {
    match event {
        Event::Began {
            session,
            peer,
            request,
        } => {
            let ip = peer.ip();
            log.info(format!(
                "{ip}: test {session} of iperf3, {}",
                words(&request)
            ));
        }
        Event::Interval { session, interval } => {
            if let Some(printer) = printer {
                printer.interval(Some(session), interval);
            }
        }
        Event::Rejected { peer, why } => log.rejected(peer.ip(), &why),
        Event::Ended { session, outcome } => {
            if let Some(fault) = &outcome.fault {
                log.info(format!("{}: {fault}", outcome.peer.ip()));
            }
            if let Some(printer) = printer {
                printer.flush();
            }
            output::print(&results::of(&outcome, Some(session), form))?;
        }
    }
    Ok(())
}

/// A test in words.
fn words(request: &Request) -> String {
    let transport = match request.transport {
        Transport::Tcp => "TCP",
        Transport::Udp => "UDP",
    };
    let way = match request.direction {
        Direction::Forward => "from it",
        Direction::Reverse => "to it",
        Direction::Both => "in both directions",
    };
    let flows = match request.streams {
        1 => "one flow".to_owned(),
        count => format!("{count} flows"),
    };
    format!("{transport}, {flows} {way}")
}
