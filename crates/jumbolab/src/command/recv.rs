//! `jumbolab recv`: receives traffic of any sender.

mod reflector;
mod remote_logs;
mod take_logs;

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, anyhow, ensure};
use os::clock::Epoch;
use os::interrupt;
use secret::Secret;
use traffic::driver::packet_log::{LogOwner, LogSpace, PacketLog, Supervision, Zero};
use traffic::driver::sessions::{Event, Receiver, Records, SendingRate, Serving, Session};
use traffic::machine::control::Limits;
use units::{IpVersion, Span};

use super::flow_text::{self, Printer, Results, secret};
use super::log_thread::LogThread;
use super::{iperf3, jumbogram};
use crate::args::Recv;
use crate::exit::{Ending, done};
use crate::output;
use reflector::{RunningReflector, StampReflector};
use remote_logs::RemoteLogs;

/// Number of attempts to find a port that is free over TCP and UDP.
const MOST_PORTS: u32 = 20;

/// The most names that are tried for a log.
const MOST_NAMES: u32 = 100;

pub(crate) fn run(args: &Recv) -> Result<Ending> {
    if args.jumbogram {
        interrupt::listen()?;
        return jumbogram::receive(args).map(done);
    }
    if args.iperf3 {
        return iperf3::server(args);
    }
    if let Some(folder) = &args.take_logs {
        return take_logs::run(args, folder).map(done);
    }
    let results = Results::of(args.json, args.json_stream);
    let every = results.interval(args.interval.as_deref())?;
    // Read before signals are taken: a pipe may never have a writer.
    let secret = args.secret_file.as_deref().map(secret).transpose()?;
    interrupt::listen()?;
    let destination = match (&args.log_to, &secret) {
        (Some(to), Some(secret)) => Some(remote_logs::destination(to, secret)?),
        _ => None,
    };
    if let Some(folder) = &args.packet_log_dir {
        files::create_folder(folder)
            .with_context(|| format!("--packet-log-dir {}", folder.display()))?;
    }
    let log = LogThread::start()?;
    let logs = Logs {
        folder: args.packet_log_dir.clone(),
        space: log_space(args)?,
        open: Arc::default(),
        unsent: destination.as_ref().map(|_| Arc::default()),
        failed: Arc::default(),
        log_thread: log.clone(),
    };
    let (receiver, reflector) = open_both(args, || open(args, secret.as_ref(), &logs, every))?;
    let mut printer = match every {
        Some(_) => Some(Printer::start(results.of_receiver())?),
        None => None,
    };
    for address in receiver.addresses() {
        log.info(format!(
            "listening on {} port {}",
            address.ip(),
            address.port()
        ));
    }
    let reflector = reflector.map(|opened| start(opened, &log)).transpose()?;
    let remote = destination.map(|to| RemoteLogs::start(to, logs.clone()));
    let remote = remote.transpose()?;
    let mut failed = None;
    let ended = receiver.run(|event| {
        if let Err(error) = report(event, results, printer.as_mut(), &log) {
            failed.get_or_insert(error);
        }
        logs.end(PacketLog::is_over);
    });
    logs.end(|_| true);
    let sent = remote.is_none_or(RemoteLogs::end);
    let logged = sent && !logs.failed.load(Ordering::Relaxed);
    if let Some(line) = reflector.flatten().and_then(reflector::end) {
        log.info(line);
    }
    log.end();
    let printed = printer.map_or(Ok(false), Printer::end);
    ended?;
    match (failed.or_else(|| printed.err()), logged) {
        (Some(error), _) => Err(error),
        (None, true) => Ok(Ending::Sound),
        (None, false) => Ok(Ending::Unsound),
    }
}

/// The space for packet logs that `--max-packet-log-size` allows.
fn log_space(args: &Recv) -> Result<Arc<LogSpace>> {
    let text = &args.max_packet_log_size;
    let size = text.parse();
    let size = size.map_err(|why| anyhow!("--max-packet-log-size {text}: {why}"))?;
    Ok(LogSpace::new(size))
}

/// The logs of sessions; each ends with its session.
#[derive(Clone)]
struct Logs {
    folder: Option<PathBuf>,
    space: Arc<LogSpace>,
    open: Arc<Mutex<Vec<(PathBuf, PacketLog)>>>,
    /// The files of complete logs, if they are to be sent to another host.
    unsent: Option<Arc<Mutex<VecDeque<PathBuf>>>>,
    /// Whether a log ended early.
    failed: Arc<AtomicBool>,
    log_thread: LogThread,
}

const NO_PANIC: &str = "nobody panics with the list of logs in hand";

impl Logs {
    /// Opens the log of a session, named after its start time, number and sender. Another
    /// receiver with the same folder may have taken the name: then a number follows.
    fn open(&self, session: &Session) -> Result<Option<Records>> {
        let Some(folder) = &self.folder else {
            return Ok(None);
        };
        let peer = session.peer.ip().to_string().replace(':', "_");
        let seconds = Epoch::now().unix_nanos() / 1_000_000_000;
        let name = format!("{seconds}-{}-{peer}", session.number);
        let zero = Zero {
            sender: session.epoch,
            here: session.offset.to_other(session.epoch),
        };
        let create = |path: &Path| {
            let log_thread = self.log_thread.clone();
            let supervision = Supervision {
                space: Arc::clone(&self.space),
                failed: Box::new(move |error| {
                    log_thread.info(format!("{error:#}; the flows are served on without a log"));
                }),
            };
            PacketLog::create_supervised(path, LogOwner::Receiver, zero, supervision)
        };
        let mut path = folder.join(format!("{name}.jlog"));
        let mut created = create(&path);
        for number in 2..=MOST_NAMES {
            if !created.as_ref().is_err_and(exists) {
                break;
            }
            path = folder.join(format!("{name}-{number}.jlog"));
            created = create(&path);
        }
        let (log, records) = created?;
        self.open.lock().expect(NO_PANIC).push((path, log));
        Ok(Some(records))
    }

    /// Closes some logs, because a receiver may serve any number of sessions.
    /// The errors of those that are not complete were said before.
    fn end(&self, is_over: fn(&PacketLog) -> bool) {
        let mut logs = self.open.lock().expect(NO_PANIC);
        for (path, log) in logs.extract_if(.., |(_, log)| is_over(log)) {
            match (log.end(), &self.unsent) {
                (Ok(()), Some(unsent)) => unsent.lock().expect(NO_PANIC).push_back(path),
                (Ok(()), None) => {}
                (Err(_), _) => self.failed.store(true, Ordering::Relaxed),
            }
        }
    }

    /// The file of the next complete log that is to be sent.
    fn next_unsent(&self) -> Option<PathBuf> {
        let unsent = self.unsent.as_ref()?;
        unsent.lock().expect(NO_PANIC).pop_front()
    }

    /// Whether sessions write logs: their flows may be under way.
    fn are_written(&self) -> bool {
        !self.open.lock().expect(NO_PANIC).is_empty()
    }
}

/// Whether the file of a log exists already.
fn exists(error: &anyhow::Error) -> bool {
    let cause = error.downcast_ref::<std::io::Error>();
    cause.is_some_and(|cause| cause.kind() == ErrorKind::AlreadyExists)
}

/// Reports an event: sessions on stderr, results on stdout.
fn report(
    event: Event,
    results: Results,
    printer: Option<&mut Printer>,
    log: &LogThread,
) -> Result<()> {
    match event {
        Event::Opened {
            session,
            peer,
            flow,
            port,
            reverse,
        } => {
            let what = flow_text::describe(Some(flow.transport), flow.meter);
            let name = flow.name.as_str();
            let way = if reverse { "from" } else { "to" };
            log.info(format!(
                "{}: session {session}, flow {name}, {what}, {way} port {port}",
                peer.ip()
            ));
        }
        Event::Interval { session, interval } => {
            if let Some(printer) = printer {
                printer.interval(Some(session), interval);
            }
        }
        Event::Rejected { peer, why } => log.rejected(peer.ip(), &why),
        Event::Ended(served) => {
            if let Some(fault) = &served.fault {
                log.info(format!("{}: {fault}", served.session.peer.ip()));
            }
            if let Some(printer) = printer {
                printer.flush();
            }
            output::print(&flow_text::served(&served, results))?;
        }
    }
    Ok(())
}

fn open(
    args: &Recv,
    secret: Option<&Secret>,
    logs: &Logs,
    interval: Option<Span>,
) -> Result<Receiver> {
    at_addresses(args, |listen| {
        let serving = Serving {
            interval,
            ..serving(args, listen, secret, logs)?
        };
        Ok(Receiver::open(serving)?)
    })
}

/// Opens something that listens at the addresses that the user named, or else at those that
/// the host has of the usual ones.
pub(super) fn at_addresses<T>(
    args: &Recv,
    open: impl Fn(Vec<SocketAddr>) -> Result<T>,
) -> Result<T> {
    let loopback: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    let all: [IpAddr; 2] = [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
    let named = !args.listen.is_empty();
    let mut addresses = match (named, args.open) {
        (true, _) => args.listen.clone(),
        (false, true) => all.to_vec(),
        (false, false) => loopback.to_vec(),
    };
    if let Some(version) = args.family.version() {
        addresses.retain(|address| address.is_ipv4() == (version == IpVersion::V4));
        ensure!(
            !addresses.is_empty(),
            "--listen: names no {version} address; write one, or leave -4 and -6 out"
        );
    }
    let attempt = |addresses: &[IpAddr]| -> Result<T> {
        let listen = addresses.iter();
        open(
            listen
                .map(|address| SocketAddr::new(*address, args.port))
                .collect(),
        )
    };
    attempt(&addresses).or_else(|error| {
        // If another program listens on one of the addresses, it would receive
        // our traffic.
        if named || is_taken(&error) {
            return Err(error);
        }
        // A host may support only one version of IP; the user named neither.
        let one = |address| attempt(std::slice::from_ref(address)).ok();
        addresses.iter().find_map(one).ok_or(error)
    })
}

/// A receiver, and unless it is switched off, a reflector on its port. If the kernel
/// chooses the port, it chooses again if the reflector's is in use.
fn open_both(
    args: &Recv,
    open: impl Fn() -> Result<Receiver>,
) -> Result<(Receiver, Option<os::Result<StampReflector>>)> {
    let mut tries = if args.port == 0 { MOST_PORTS } else { 1 };
    loop {
        tries -= 1;
        let receiver = open()?;
        if args.no_reflector {
            return Ok((receiver, None));
        }
        let reflector = reflector::open(receiver.addresses());
        if reflector.is_ok() || tries == 0 {
            return Ok((receiver, Some(reflector)));
        }
    }
}

/// Starts a reflector and says where it listens, or why there is none: the receiver does
/// not need it.
fn start(opened: os::Result<StampReflector>, log: &LogThread) -> Result<Option<RunningReflector>> {
    match opened {
        Ok(opened) => {
            log.info(reflector::describe(&opened));
            let started = RunningReflector::start(opened)?;
            Ok(Some(started))
        }
        Err(error) => {
            log.info(format!("no STAMP reflector: {error}"));
            Ok(None)
        }
    }
}

/// Whether another program listens there.
fn is_taken(error: &anyhow::Error) -> bool {
    let live = error.downcast_ref::<os::Error>();
    live.is_some_and(|error| error.source.kind() == ErrorKind::AddrInUse)
}

/// The ports that `--data-ports` allows.
fn data_ports(text: &str) -> Result<RangeInclusive<u16>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let ports = first.parse().ok().zip(last.parse().ok());
    let ports = ports.filter(|(first, last)| 0 < *first && first <= last);
    let (first, last) = ports.with_context(|| {
        format!("--data-ports {text}: write a port, or the first and the last, such as 7771-7779")
    })?;
    Ok(first..=last)
}

/// The longest session that `--max-duration` allows.
pub(super) fn longest(args: &Recv) -> Result<Span> {
    let text = &args.max_duration;
    let longest: Span = text
        .parse()
        .map_err(|why| anyhow!("--max-duration {text}: {why}"))?;
    ensure!(
        longest > Span::ZERO,
        "--max-duration {text}: nobody could send; write for instance 1h"
    );
    Ok(longest)
}

/// The rate that `--max-payload-rate` allows to flows that the receiver sends.
pub(super) fn sending_rate(args: &Recv) -> Result<SendingRate> {
    match args.max_payload_rate.as_deref() {
        None => Ok(SendingRate::Any),
        Some("0") => Ok(SendingRate::None),
        Some(text) => text
            .parse()
            .map(SendingRate::Most)
            .map_err(|why| anyhow!("--max-payload-rate {text}: {why}")),
    }
}

fn serving(
    args: &Recv,
    listen: Vec<SocketAddr>,
    secret: Option<&Secret>,
    logs: &Logs,
) -> Result<Serving> {
    let longest = longest(args)?;
    ensure!(
        args.max_flows > 0 && args.max_sessions > 0,
        "--max-flows and --max-sessions: write a number of at least 1"
    );
    let logs = logs.clone();
    Ok(Serving {
        rate: sending_rate(args)?,
        listen,
        secret: secret.cloned(),
        open: args.open,
        limits: Limits {
            flows: args.max_flows,
            longest,
            ..Limits::default()
        },
        sessions: args.max_sessions.into(),
        polling: args.max_busy_poll.into(),
        data_ports: args.data_ports.as_deref().map(data_ports).transpose()?,
        once: args.once,
        interval: None,
        keep: Box::new(move |session| logs.open(session).map_err(|error| format!("{error:#}"))),
    })
}
