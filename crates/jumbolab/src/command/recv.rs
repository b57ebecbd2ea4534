//! `jumbolab recv`: receives traffic of any sender.

mod log_thread;

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, anyhow, ensure};
use lab::packet_log::{LogOwner, PacketLog, Zero};
use live::clock::Epoch;
use live::interrupt;
use live::traffic::{Event, Receiver, Records, Serving, Session};
use proto::control::Limits;
use units::Span;

use super::jumbogram;
use super::traffic::{self, secret};
use crate::args::Recv;
use crate::output;
use log_thread::LogThread;

pub(crate) fn run(args: &Recv) -> Result<()> {
    interrupt::listen()?;
    if args.jumbogram {
        return jumbogram::receive(args);
    }
    if let Some(folder) = &args.log {
        files::create_folder(folder).with_context(|| format!("--log {}", folder.display()))?;
    }
    let logs = Logs::default();
    let receiver = open(args, &logs)?;
    let log = LogThread::start()?;
    for address in &receiver.addresses {
        log.say(format!(
            "listening on {} port {}",
            address.ip(),
            address.port()
        ));
    }
    let mut failed = None;
    let ended = receiver.run(|event| {
        if let Err(error) = report(&event, args.json, &log) {
            failed.get_or_insert(error);
        }
        for error in end_those_that_are_over(&logs) {
            log.say(format!("{error:#}"));
            failed.get_or_insert(error);
        }
    });
    log.end();
    ended?;
    for log in std::mem::take(&mut *logs.lock().expect(NO_PANIC)) {
        log.end()?;
    }
    failed.map_or(Ok(()), Err)
}

/// The logs of sessions; each ends with its session.
type Logs = Arc<Mutex<Vec<PacketLog>>>;

/// Closes ended logs, because a receiver may serve any number of sessions.
/// Returns their errors.
fn end_those_that_are_over(logs: &Logs) -> Vec<anyhow::Error> {
    let mut logs = logs.lock().expect(NO_PANIC);
    let over = logs.extract_if(.., |log| log.is_over());
    over.filter_map(|log| log.end().err()).collect()
}

const NO_PANIC: &str = "nobody panics with the list of logs in hand";

/// Opens the log of a session, named after its start time, number and sender.
fn log(folder: &Path, session: &Session, logs: &Logs) -> Result<Records> {
    let peer = session.peer.ip().to_string().replace(':', "_");
    let seconds = Epoch::now().unix_nanos() / 1_000_000_000;
    let name = format!("{seconds}-{}-{peer}.jlog", session.number);
    let zero = Zero {
        sender: session.epoch,
        here: session.offset.to_other(session.epoch),
    };
    let (log, records) = PacketLog::create(&folder.join(name), LogOwner::Receiver, zero)?;
    logs.lock().expect(NO_PANIC).push(log);
    Ok(records)
}

/// Reports an event: sessions on stderr, results on stdout.
fn report(event: &Event, json: bool, log: &LogThread) -> Result<()> {
    match event {
        Event::Opened {
            peer, flow, port, ..
        } => {
            let what = traffic::describe(Some(flow.transport), flow.meter);
            let name = flow.name.as_str();
            log.say(format!(
                "{}: flow {name}, {what}, to port {port}",
                peer.ip()
            ));
        }
        Event::Refused { peer, why } => log.refused(peer.ip(), why),
        Event::Ended(served) => {
            if let Some(fault) = &served.fault {
                log.say(format!("{}: {fault}", served.session.peer.ip()));
            }
            output::print(&traffic::served(served, json))?;
        }
    }
    Ok(())
}

fn open(args: &Recv, logs: &Logs) -> Result<Receiver> {
    let loopback: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    let all: [IpAddr; 2] = [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
    let named = !args.bind.is_empty();
    let addresses = match (named, args.open) {
        (true, _) => args.bind.clone(),
        (false, true) => all.to_vec(),
        (false, false) => loopback.to_vec(),
    };
    let attempt = |addresses: &[IpAddr]| -> Result<Receiver> {
        Ok(Receiver::open(serving(args, addresses, logs)?)?)
    };
    attempt(&addresses).or_else(|error| {
        // If another program listens on one of the addresses, it would receive
        // our traffic.
        if named || is_taken(&error) {
            return Err(error);
        }
        // A host may support only one version of IP; the user named neither.
        let (one, other) = addresses.split_at(1);
        attempt(one).or_else(|_| attempt(other)).map_err(|_| error)
    })
}

/// Whether another program listens there.
fn is_taken(error: &anyhow::Error) -> bool {
    let live = error.downcast_ref::<live::Error>();
    live.is_some_and(|error| error.source.kind() == ErrorKind::AddrInUse)
}

fn serving(args: &Recv, addresses: &[IpAddr], logs: &Logs) -> Result<Serving> {
    let text = &args.max_duration;
    let longest: Span = text
        .parse()
        .map_err(|why| anyhow!("--max-duration {text}: {why}"))?;
    ensure!(
        args.max_flows > 0 && args.max_sessions > 0,
        "--max-flows and --max-sessions: write a number of at least 1"
    );
    let (folder, logs) = (args.log.clone(), Arc::clone(logs));
    Ok(Serving {
        listen: addresses
            .iter()
            .map(|address| SocketAddr::new(*address, args.port))
            .collect(),
        secret: args.secret.as_deref().map(secret).transpose()?,
        open: args.open,
        limits: Limits {
            flows: args.max_flows,
            longest,
            ..Limits::default()
        },
        sessions: args.max_sessions.into(),
        polling: args.max_busy.into(),
        once: args.once,
        keep: Box::new(move |session| {
            let records = folder.as_deref().map(|folder| log(folder, session, &logs));
            records.transpose().map_err(|error| format!("{error:#}"))
        }),
    })
}
