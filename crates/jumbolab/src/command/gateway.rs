//! `jumbolab gateway`: packets of the hosts inside travel in bundles to other gateways.

mod init;
mod keygen;
mod keys;
mod log;
mod metrics;
mod reporter;

use std::fmt::Write as _;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::thread::{Builder, JoinHandle};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use gateway::configuration::{Simple, read_file, read_options, template};
use gateway::driver::{Configuration, Gateway, forwards_twice, problems};
use gateway::recording::RecordingFile;
use os::metrics::Endpoint;
use os::{clock, interrupt, signals};
use units::{Span, Time};

use crate::args;
use crate::exit::Ending;
use crate::output;
use log::Log;
use reporter::{Facts, Reporter};

/// The interval of reports, and of looks for signals.
const TICK: Span = Span::from_secs(1);

/// The interval of looks whether a configuration has been read.
const SOON: Span = Span::from_millis(20);

pub(crate) fn run(args: &args::Gateway) -> Result<Ending> {
    if let Some(preparation) = &args.preparation {
        match preparation {
            args::Preparation::Keygen(args) => keygen::run(args)?,
            args::Preparation::Init(args) => init::run(args)?,
        }
        return Ok(Ending::Sound);
    }
    if args.template {
        output::print(&template())?;
        return Ok(Ending::Sound);
    }
    let length = args.duration.as_deref().map(duration).transpose()?;
    let mut read = read(args)?;
    let outputs = Outputs {
        metrics: read.metrics,
        log: args.log.clone().or_else(|| read.log.take()),
    };
    if let Some(log) = &outputs.log {
        output::spare_inputs("--log", log, &args.config)?;
    }
    read.check_peers()?;
    if let Some(problem) = forwards_twice(&read.configuration.inside) {
        bail!("{problem}");
    }
    if args.check {
        return check(&read.configuration);
    }
    // Packets may be dropped for these reasons until somebody acts.
    let found = problems(&read.configuration)?;
    let log = Log::open(outputs.log.as_deref())?;
    let metrics = outputs.metrics.map(Endpoint::open).transpose()?;
    signals::listen_as_daemon()?;
    let recording = args.record.as_deref().map(RecordingFile::create);
    let (mut recording, recorder) = recording.transpose()?.unzip();
    let mut gateway = Gateway::open(read.configuration, recorder).map_err(privileges)?;
    let reporter = Reporter::start(log, metrics)?;
    reporter.event("started", facts(&gateway));
    for problem in found {
        reporter.event("problem", vec![("text", problem.into())]);
    }
    let forwarding = Forwarding {
        args,
        outputs,
        length,
    };
    let outcome = forwarding.forward(&mut gateway, &reporter, &mut recording);
    let last = match &outcome {
        Ok(()) => {
            let last = gateway.end()?;
            if let Some(file) = recording.take() {
                ended(file, &reporter);
            }
            Some(last)
        }
        Err(_) => None,
    };
    // The reporter may have ended first, and then returns the reason.
    reporter.end(last)?;
    outcome?;
    Ok(Ending::Sound)
}

/// Prints what keeps a gateway with a right configuration from working in this host.
fn check(configuration: &Configuration) -> Result<Ending> {
    let problems = problems(configuration)?;
    let mut text = String::from("the configuration is right\n");
    for problem in &problems {
        let _ = writeln!(text, "problem: {problem}");
    }
    output::print(&text)?;
    Ok(match problems.is_empty() {
        true => Ending::Sound,
        false => Ending::Unsound,
    })
}

/// The configuration of the file or of the options.
fn read(args: &args::Gateway) -> Result<gateway::configuration::Gateway> {
    if let Some(path) = &args.config {
        return read_file(path);
    }
    ensure!(
        args.peer.is_some(),
        "name a configuration with --config FILE, or one peer with --peer, --local and --prefix; --template prints a configuration"
    );
    let one = |value: &Option<String>| value.iter().cloned().collect::<Vec<_>>();
    let all = [
        ("peers", "address", "peer", one(&args.peer)),
        ("peers", "local", "local", one(&args.local)),
        ("peers", "prefixes", "prefix", args.prefix.clone()),
        ("peers", "mtu", "mtu", one(&args.mtu)),
        ("peers", "public_key", "public-key", one(&args.public_key)),
        (
            "peers",
            "preshared_key_file",
            "preshared-key-file",
            one(&args.preshared_key_file),
        ),
        (
            "core",
            "private_key_file",
            "private-key-file",
            one(&args.private_key_file),
        ),
        ("inside", "datapath", "datapath", one(&args.datapath)),
        (
            "inside",
            "interfaces",
            "inside-interface",
            args.inside_interface.clone(),
        ),
        (
            "inside",
            "addresses",
            "inside-address",
            args.inside_address.clone(),
        ),
        ("core", "interface", "interface", one(&args.interface)),
        (
            "core",
            "encapsulation",
            "encapsulation",
            one(&args.encapsulation),
        ),
        ("aggregation", "max_wait", "max-wait", one(&args.max_wait)),
        (
            "operation",
            "metrics_listen",
            "metrics-listen",
            one(&args.metrics_listen),
        ),
    ];
    let values = all.into_iter().filter(|(.., values)| !values.is_empty());
    read_options(&Simple {
        values: values.collect(),
    })
}

fn duration(text: &str) -> Result<Span> {
    let span: Span = text
        .parse()
        .map_err(|bad: units::BadText| anyhow!("--duration {text}: {bad}"))?;
    ensure!(
        span > Span::ZERO,
        "--duration {text}: write a time above 0, for instance 30s"
    );
    Ok(span)
}

/// Adds the command to type if the kernel denies access.
fn privileges(error: os::Error) -> anyhow::Error {
    match error.source.kind() {
        ErrorKind::PermissionDenied => anyhow!(
            "{error}: a gateway needs CAP_NET_ADMIN and CAP_NET_RAW; type `sudo jumbolab gateway ...`"
        ),
        _ => error.into(),
    }
}

/// The facts of a start or of a new configuration.
fn facts(gateway: &Gateway) -> Facts {
    let inside = gateway.inside_paths().into_iter();
    let inside = inside.map(|(interface, path)| (interface, path.into()));
    vec![
        ("inside", serde_json::Value::Object(inside.collect())),
        ("peers", gateway.names().into()),
        ("keyed", gateway.keyed().into()),
        ("prefixes", gateway.prefixes().into()),
    ]
}

/// Where a gateway reports from its start to its end.
#[derive(Debug, PartialEq, Eq)]
struct Outputs {
    metrics: Option<SocketAddr>,
    log: Option<PathBuf>,
}

impl Outputs {
    /// Rejects a configuration with other ones, but a log of the options is in force
    /// whatever it says.
    fn reject_others(
        &self,
        read: &gateway::configuration::Gateway,
        log: Option<&Path>,
    ) -> Result<()> {
        let again = "has changed; start the gateway again";
        ensure!(
            self.metrics == read.metrics,
            "operation.metrics_listen {again}"
        );
        let log = log.or(read.log.as_deref());
        ensure!(self.log.as_deref() == log, "operation.log {again}");
        Ok(())
    }
}

/// The arguments and the length of a gateway's run.
struct Forwarding<'a> {
    args: &'a args::Gateway,
    outputs: Outputs,
    length: Option<Span>,
}

impl Forwarding<'_> {
    /// Forwards until a signal or the end of the time, or until nobody reports any more.
    fn forward(
        &self,
        gateway: &mut Gateway,
        reporter: &Reporter,
        recording: &mut Option<RecordingFile>,
    ) -> Result<()> {
        let begun = clock::monotonic();
        let end = self
            .length
            .map_or(Time::from_picos(u64::MAX), |length| begun + length);
        let mut tick = begun;
        let mut prefixes = gateway.prefixes();
        let mut reading: Option<Reading> = None;
        loop {
            let soon = reading.as_ref().map(|_| clock::monotonic() + SOON);
            gateway.run_until(soon.unwrap_or(tick).min(tick).min(end))?;
            let now = clock::monotonic();
            if signals::reload_asked() {
                match &mut reading {
                    Some(reading) => reading.again = true,
                    None => reading = self.read_again(reporter),
                }
            }
            if let Some(read) = reading.take_if(|reading| reading.thread.is_finished()) {
                let again = read.again;
                if let Err(error) = self.adopt(read, gateway) {
                    not_reloaded(reporter, &error);
                }
                if again {
                    reading = self.read_again(reporter);
                }
            }
            match gateway.reloaded() {
                Some(Ok(())) => {
                    reporter.event("reloaded", facts(gateway));
                }
                Some(Err(error)) => not_reloaded(reporter, &error.into()),
                None => {}
            }
            if interrupt::asked() || now >= end {
                return Ok(());
            }
            if let Some(file) = recording.take_if(|file| file.has_ended()) {
                ended(file, reporter);
            }
            // A change of the table is told at once.
            if now >= tick || gateway.prefixes() != prefixes {
                prefixes = gateway.prefixes();
                tick = (tick + TICK).max(now);
                if !reporter.report(gateway.report()?) {
                    return Ok(());
                }
            }
        }
    }
}

impl Forwarding<'_> {
    /// Starts to read the configuration again.
    fn read_again(&self, reporter: &Reporter) -> Option<Reading> {
        let started = Reading::start(self.args.config.as_deref());
        started.map_err(|error| not_reloaded(reporter, &error)).ok()
    }

    /// Hands the configuration that was read to the gateway.
    fn adopt(&self, reading: Reading, gateway: &mut Gateway) -> Result<()> {
        let read = reading.thread.join();
        let read = read.unwrap_or_else(|_| Err(anyhow!("the reading thread panicked")))?;
        self.outputs
            .reject_others(&read, self.args.log.as_deref())?;
        Ok(gateway.reload(read.configuration)?)
    }
}

/// Says why a recording ended early.
fn ended(file: RecordingFile, reporter: &Reporter) {
    if let Err(error) = file.end() {
        let text = output::one_line(&format!("{error:#}"));
        reporter.event("not_recorded", vec![("text", text.into())]);
    }
}

/// A configuration that a thread reads, as a large one takes its time.
struct Reading {
    thread: JoinHandle<Result<gateway::configuration::Gateway>>,
    /// Whether another signal came meanwhile.
    again: bool,
}

impl Reading {
    fn start(config: Option<&Path>) -> Result<Self> {
        let path = config.context("SIGHUP: there is no file to read again; the options stay")?;
        let path = path.to_owned();
        let thread = Builder::new().name("configuration".into());
        let thread = thread.spawn(move || {
            let read = read_file(&path)?;
            read.check_peers()?;
            Ok(read)
        });
        Ok(Self {
            thread: thread.context("starting a thread that reads the configuration")?,
            again: false,
        })
    }
}

/// Logs that the old configuration stays.
fn not_reloaded(reporter: &Reporter, error: &anyhow::Error) {
    let text = output::one_line(&format!("{error:#}"));
    reporter.event("not_reloaded", vec![("text", text.into())]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_outputs_need_a_new_start() {
        let folder = tempfile::tempdir().unwrap();
        let read = |operation: &str| {
            let peer = "[peers.b]\naddress = \"192.0.2.2\"\nlocal = \"192.0.2.1\"\n";
            let path = folder.path().join("g.toml");
            std::fs::write(&path, format!("[operation]\n{operation}\n{peer}")).unwrap();
            read_file(&path).unwrap()
        };
        let metrics = "metrics_listen = \"127.0.0.1:9790\"";
        let outputs = |log: &str| Outputs {
            metrics: read(metrics).metrics,
            log: Some(log.into()),
        };
        let rejected = |operation: &str, option: Option<&str>| {
            let outcome = outputs("g.log").reject_others(&read(operation), option.map(Path::new));
            outcome.map_err(|error| error.to_string()).err()
        };
        let same = format!("{metrics}\nlog = \"g.log\"");
        assert_eq!(rejected(&same, None), None);
        for other in ["", "metrics_listen = \"127.0.0.1:9791\""] {
            let text = rejected(&format!("{other}\nlog = \"g.log\""), None).unwrap();
            assert!(
                text.starts_with("operation.metrics_listen has changed"),
                "{text}"
            );
        }
        for other in ["", "log = \"stderr\"", "log = \"h.log\""] {
            let other = format!("{metrics}\n{other}");
            let text = rejected(&other, None).unwrap();
            assert!(text.starts_with("operation.log has changed"), "{text}");
            assert_eq!(rejected(&other, Some("g.log")), None, "{other}");
        }
    }
}
