//! The facts that the checks of systems other than Linux are derived from.

use std::path::Path;
use std::process;

use os::machine::Machine;
use os::nic::{self, Nic};
use os::precision::{self, Reading, TimingError, Wait};
use os::{clock, console, cpu_time, kernel_clock, privileged};
use units::{Bytes, IpVersion, Span};

use super::known_answer;
use super::loopback::{self, Exchange};

/// The observation time of the idle machine.
const WATCH: Span = Span::from_millis(400);

/// The pace of the pacing test: 500 times at 1000 per second.
const INTERVAL: Span = Span::from_millis(1);
const WAITS: u64 = 500;

/// A result, or the reason why there is none.
type Tried<T> = Result<T, String>;

/// All facts that the judgement uses.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Whether the user is root or an administrator.
    pub privileged: bool,
    pub machine: Machine,
    /// The mean number of busy processors while this process was idle.
    pub busy: Tried<f64>,
    /// The unit in which processor time counts.
    pub tick: Span,
    pub reading: Reading,
    /// The steps of the wall clock during the observation, in nanoseconds.
    pub wall_step_nanos: i64,
    /// The length of the observation.
    pub watched: Span,
    pub pacing: (Wait, Tried<TimingError>),
    /// The time of a request in milliseconds: simulated, and by the closed form.
    pub simulated: Tried<[f64; 2]>,
    pub datagrams: [(IpVersion, Tried<Exchange>); 2],
    /// Goodput in bit/s.
    pub streams: [(IpVersion, Tried<f64>); 2],
    /// Whether packets can be sent that no router fragments.
    pub whole: [(IpVersion, Tried<()>); 2],
    pub largest_message: Tried<Bytes>,
    /// The receive buffer that a UDP receiver gets.
    pub buffer: Tried<Bytes>,
    /// The round trips of echo requests.
    pub echoes: [(IpVersion, Tried<Span>); 2],
    pub nics: Tried<Vec<Nic>>,
    /// Whether a file can be created in the current folder.
    pub folder: Tried<()>,
    /// `None`: there is no console.
    pub console_is_utf8: Option<bool>,
}

impl Facts {
    /// Collects the facts of this machine, for some seconds; `watch` is called
    /// at each step.
    ///
    /// # Errors
    /// None.
    pub fn here(mut watch: impl FnMut(&str)) -> anyhow::Result<Self> {
        let (begun, wall_before) = (clock::monotonic(), kernel_clock::wall_offset_nanos());
        watch("processor load");
        let busy = busy().map_err(|error| error.to_string());
        watch("the clock");
        let reading = precision::reading();
        let late = precision::measure(Wait::Pacer, INTERVAL, WAITS);
        watch("loopback");
        let datagrams = by_version(loopback::exchange);
        let streams = by_version(loopback::stream);
        let (largest_message, buffer) = (loopback::largest_message(), loopback::buffer());
        let echoes = by_version(echo);
        watch("the simulator");
        let simulated = known_answer::times();
        Ok(Self {
            privileged: privileged(),
            machine: Machine::here(),
            busy,
            tick: cpu_time::tick(),
            reading,
            pacing: (Wait::Pacer, late.map_err(|error| error.to_string())),
            simulated: in_words(simulated),
            datagrams,
            streams,
            whole: by_version(loopback::leaves_whole),
            largest_message: in_words(largest_message),
            buffer: in_words(buffer),
            echoes,
            nics: nic::all().map_err(|error| error.to_string()),
            folder: write_here().map_err(|error| error.to_string()),
            console_is_utf8: console::is_utf8(),
            wall_step_nanos: kernel_clock::wall_offset_nanos().saturating_sub(wall_before),
            watched: clock::monotonic().since(begun).unwrap_or_default(),
        })
    }
}

/// The error in one line with its causes.
fn in_words<T>(result: anyhow::Result<T>) -> Tried<T> {
    result.map_err(|error| format!("{error:#}"))
}

fn by_version<T>(tried: impl Fn(IpVersion) -> anyhow::Result<T>) -> [(IpVersion, Tried<T>); 2] {
    [IpVersion::V4, IpVersion::V6].map(|ip| (ip, in_words(tried(ip))))
}

fn busy() -> os::Result<f64> {
    let before = cpu_time::Machine::sample()?;
    clock::sleep(WATCH);
    let used = cpu_time::Machine::sample()?.since(&before);
    Ok(used.busy.as_secs_f64() / used.elapsed.as_secs_f64())
}

/// Creates a file in the current folder, and removes it.
fn write_here() -> std::io::Result<()> {
    let name = format!("jumbolab-doctor-{}", process::id());
    let path = Path::new(&name);
    drop(files::create_new(path)?);
    files::remove(path)
}

/// Sends an echo request over loopback, and waits for its answer.
#[cfg(not(target_os = "linux"))]
fn echo(ip: IpVersion) -> anyhow::Result<Span> {
    use anyhow::bail;
    use os::echoes::{EchoKind, EchoRequest, Echoes};

    /// Longer than the system waits for an answer.
    const PATIENCE: Span = Span::from_secs(5);
    const LOOK: Span = Span::from_millis(1);

    let to = loopback::address(ip);
    let mut echoes = Echoes::open(to)?;
    let begun = clock::monotonic();
    echoes.send(EchoRequest {
        number: 1,
        to,
        length: 1_000,
        hop_limit: None,
    })?;
    loop {
        let answers = echoes.arrived();
        let took = clock::monotonic().since(begun).unwrap_or_default();
        match answers.first() {
            Some(answer) if matches!(answer.kind, EchoKind::Reply { .. }) => return Ok(took),
            Some(answer) => bail!("the answer was {:?}", answer.kind),
            None if took > PATIENCE || !echoes.is_waiting() => bail!("no answer"),
            None => clock::sleep(LOOK),
        }
    }
}

/// Tests on Linux have facts of another kind.
#[cfg(target_os = "linux")]
fn echo(_: IpVersion) -> anyhow::Result<Span> {
    anyhow::bail!("these are the echo requests of other systems")
}
