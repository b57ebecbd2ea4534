//! A trial of the user's programs: a server in the receiver, a client in the
//! sender, and the client's report.

use std::process::ExitStatus;

use os::clock;
use os::cpu_time::{self, MachineUse};
use os::tool::MOST_OUTPUT;
use plan::command_line::{CommandLine, joined};
use plan::metric::{self, is_never_negative};
use plan::setting::{Command, Reading};
use plan::{LARGEST_FIGURE, Setting, evidence};
use serde_json::Value;
use units::{Bytes, Span, Time};

use super::checks::flags_of_command;
use super::disturbance::{Before, Disturbance, StallMetering};
use super::passes::{per_gigabyte, ratio};
use super::program_files::ProgramFiles;
use super::{End, Pair, Program, Programs};
use crate::agent::Failure;
use crate::interrupted;
use crate::measurements::Measurements;
use crate::recording::ArtifactDir;

/// The time limit for a server to listen. A program that does not listen on TCP
/// or UDP counts as ready then.
const READY_TIMEOUT: Span = Span::from_millis(2_000);

/// The duration of one poll of a program.
const SOON: Span = Span::from_millis(5);
const WHILE: Span = Span::from_millis(100);

/// The observations of a trial of the user's programs.
pub(super) struct CommandObservation {
    /// Goodput in Mbit/s, if the program reports it.
    pub(super) throughput: Option<f64>,
    /// The steps of the wall clock meanwhile, in nanoseconds.
    pub(super) clock_step: i64,
}

/// Runs one trial of the user's programs; their files go to `artifacts`.
pub(super) fn command(
    pair: &mut Pair<'_>,
    setting: &Setting,
    command: &Command,
    artifacts: Option<ArtifactDir<'_>>,
) -> Result<Measurements, Failure> {
    let stall_metering = match command.bytes {
        Some(_) => StallMetering::Off,
        None => StallMetering::On,
    };
    let watch = Before::look(pair, stall_metering)?;
    let Pair {
        path,
        meters,
        programs,
        ..
    } = pair;
    let files = match artifacts.filter(|_| command.needs_folder()) {
        Some(artifacts) => Some(ProgramFiles::begin(artifacts)?),
        None => None,
    };
    programs.set_congestion_control(&setting.host.congestion)?;
    let lines = command.receiver.iter();
    let folder = files.as_ref().map(ProgramFiles::path);
    let filled = |line: &CommandLine| {
        let line = line.sized(command.size).with_folder(folder);
        line.filled(&path.addresses)
    };
    let serving: Vec<String> = lines.flat_map(filled).collect();
    let mut server = match serving.is_empty() {
        true => None,
        false => Some(serve(programs.as_ref(), &serving)?),
    };
    let measuring = filled(&command.sender);
    let before = meters.machine()?;
    let report = measure(
        programs.as_ref(),
        &measuring,
        command.timeout,
        server.as_deref_mut(),
    )?;
    let after = meters.machine()?;
    drop(server);
    let machine = after.since(&before);
    // The CPU time of the user's programs is not known.
    let disturbance = Disturbance {
        ours: None,
        ..watch.disturbance(pair)?
    };
    disturbance.valid()?;
    let path = &pair.path;

    let mut measurements = Measurements::default();
    for (metric, reading) in &command.read {
        let value = number_in(&report, reading)?;
        if value < 0.0 && is_never_negative(metric.name) {
            return Err(Failure::Transfer(format!(
                "sender: its JSON has {value} at {}, and {} is never negative",
                reading.pointer, metric.name
            )));
        }
        measurements.put(metric, Some(value));
    }
    let bytes = command.bytes.as_ref();
    let bytes = bytes
        .map(|reading| bytes_in(&report, reading))
        .transpose()?;
    if let Some(bytes) = bytes {
        measurements.take_processors(bytes, &machine);
    }
    measurements.take_host_use(&disturbance.hosts, bytes);
    let seen = CommandObservation {
        throughput: measurements.value(&metric::THROUGHPUT),
        clock_step: disturbance.clock_step,
    };
    measurements.flags = flags_of_command(setting, &seen, path);
    measurements.take_disturbance(setting, &disturbance);
    measurements.judge(&disturbance);
    measurements.note(evidence::COMMAND_SENDER, joined(&measuring));
    if !serving.is_empty() {
        measurements.note(evidence::COMMAND_RECEIVER, joined(&serving));
    }
    if let Some(files) = &files {
        measurements.note(evidence::FILES, files.files()?);
    }
    // Any other exit code is a failed trial.
    measurements.note(evidence::EXIT_CODE, 0);
    measurements.note(
        evidence::CONGESTION_DEFAULT,
        setting.host.congestion.clone(),
    );
    let all = machine.elapsed * machine.processors;
    measurements.note(evidence::CPU_SECONDS, machine.busy.as_secs_f64());
    measurements.note(evidence::CPU_WINDOW_SECONDS, machine.elapsed.as_secs_f64());
    measurements.note(evidence::CPU_BUSY_PERCENT, 100.0 * ratio(machine.busy, all));
    Ok(measurements)
}

/// Starts the server in the receiver and waits until it listens.
fn serve<'a>(
    programs: &'a dyn Programs,
    words: &[String],
) -> Result<Box<dyn Program + 'a>, Failure> {
    let before = programs.listeners()?;
    let mut server = { programs.start(End::Receiver, words) }.map_err(not_started("receiver"))?;
    let listens = || Ok(programs.listeners()? > before);
    match until_ready(server.as_mut(), listens)? {
        Some(status) if !status.success() => Err(Failure::Transfer(ended(
            "receiver",
            status,
            server.as_ref(),
        ))),
        _ => Ok(server),
    }
}

/// The output of the program in the sender, as JSON.
fn measure(
    programs: &dyn Programs,
    words: &[String],
    timeout: Span,
    mut server: Option<&mut (dyn Program + '_)>,
) -> Result<Value, Failure> {
    let failed = |reason: String| Err(Failure::Transfer(reason));
    let deadline = clock::monotonic() + timeout;
    let mut client = { programs.start(End::Sender, words) }.map_err(not_started("sender"))?;
    let status = loop {
        let left = left_until(deadline);
        if let Some(status) = attend(client.as_mut(), WHILE.min(left))? {
            break status;
        }
        if client.output().is_none() {
            return failed(format!("sender: more than {MOST_OUTPUT} bytes on stdout"));
        }
        if left == Span::ZERO {
            let said = said(client.as_ref());
            return failed(format!("sender: not finished within {timeout}{said}"));
        }
        if let Some(server) = &mut server {
            attend(&mut **server, Span::ZERO)?;
        }
    };
    if !status.success() {
        let mut reason = ended("sender", status, client.as_ref());
        if let Some(server) = server
            && let Some(status) = attend(server, SOON)?
            && !status.success()
        {
            reason = format!("{reason}; {}", ended("receiver", status, server));
        }
        return failed(reason);
    }
    let Some(output) = client.output() else {
        return failed(format!("sender: more than {MOST_OUTPUT} bytes on stdout"));
    };
    serde_json::from_slice(output).or_else(|error| {
        let said = said(client.as_ref());
        failed(format!("sender: its stdout is not JSON ({error}){said}"))
    })
}

impl Measurements {
    /// The CPU time of the whole machine per byte.
    fn take_processors(&mut self, bytes: Bytes, used: &MachineUse) {
        self.put(&metric::CPU_TOTAL, Some(per_gigabyte(used.busy, bytes)));
        self.put(
            &metric::CPU_SOFTIRQ,
            used.softirq.map(|span| per_gigabyte(span, bytes)),
        );
        self.note(evidence::CPU_BYTES, bytes.get());
        self.note(evidence::CPU_TICK_SECONDS, cpu_time::tick().as_secs_f64());
    }
}

/// The number in `report` at `reading` [RFC6901 s4].
fn number_in(report: &Value, reading: &Reading) -> Result<f64, Failure> {
    let pointer = &reading.pointer;
    let failed = |what: &str| {
        let complaint = complaint_in(report);
        Failure::Transfer(format!(
            "sender: its JSON has {what} at {pointer}{complaint}"
        ))
    };
    let value = report.pointer(pointer).ok_or_else(|| failed("nothing"))?;
    let number = value.as_f64().ok_or_else(|| failed("no number"))?;
    Some(number * reading.factor)
        .filter(|number| number.abs() <= LARGEST_FIGURE)
        .ok_or_else(|| failed("the number is too large"))
}

/// The number of bytes at `reading`, above 0.
fn bytes_in(report: &Value, reading: &Reading) -> Result<Bytes, Failure> {
    let number = number_in(report, reading)?.round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it lies within the bounds that are asked for"
    )]
    match (1.0..=1e18).contains(&number) {
        true => Ok(Bytes::new(number as u64)),
        false => Err(Failure::Transfer(format!(
            "sender: its JSON has no byte count at {}",
            reading.pointer
        ))),
    }
}

/// Serves `server` until it `listens`, exits or the timeout ends; returns its
/// exit status, if it exited.
///
/// # Errors
/// The server cannot be polled, or the user asked to stop.
pub(crate) fn until_ready(
    server: &mut dyn Program,
    listens: impl Fn() -> anyhow::Result<bool>,
) -> anyhow::Result<Option<ExitStatus>> {
    let deadline = clock::monotonic() + READY_TIMEOUT;
    loop {
        let status = attend(server, SOON)?;
        if status.is_some() || listens()? || left_until(deadline) == Span::ZERO {
            return Ok(status);
        }
    }
}

/// A description of how a program ended.
pub(crate) fn ended(node: &str, status: ExitStatus, tool: &dyn Program) -> String {
    format!("{node}: {status}{}", said(tool))
}

fn said(tool: &dyn Program) -> String {
    match tool.complaint() {
        line if !line.is_empty() => format!(": {line}"),
        // Some programs, such as iperf3 with -J, report errors in their JSON.
        _ => match tool.output().map(serde_json::from_slice) {
            Some(Ok(report)) => complaint_in(&report),
            _ => String::new(),
        },
    }
}

fn complaint_in(report: &Value) -> String {
    let error = report.get("error").and_then(Value::as_str);
    error.map_or_else(String::new, |error| format!(": {error}"))
}

fn attend(tool: &mut dyn Program, timeout: Span) -> anyhow::Result<Option<ExitStatus>> {
    let status = tool.attend(timeout)?;
    match os::interrupt::asked() {
        true => Err(interrupted()),
        false => Ok(status),
    }
}

/// A program that cannot be started will not start in the next trial, either.
fn not_started(node: &str) -> impl Fn(anyhow::Error) -> Failure {
    move |error| {
        Failure::Lost(anyhow::anyhow!(
            "{node}: {error:#}; install the program, or correct its name"
        ))
    }
}

fn left_until(deadline: Time) -> Span {
    deadline.since(clock::monotonic()).unwrap_or_default()
}
