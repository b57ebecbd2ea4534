//! One run of a system: each load with the counters of the kernels around it.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use os::clock;
use units::Span;

use crate::Result;
use crate::load::Load;
use crate::statistics::sorted;

/// The figures of a load.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) load: String,
    /// Seconds that the generator sent.
    pub(crate) seconds: f64,
    /// Datagrams sent, in the core, and at the far host.
    pub(crate) sent: f64,
    pub(crate) core: f64,
    pub(crate) delivered: f64,
    /// Processor seconds of the near and the far gateway's processes.
    pub(crate) near: f64,
    pub(crate) far: f64,
    /// Delays of probes, in microseconds.
    pub(crate) median: f64,
    pub(crate) p99: f64,
}

impl Outcome {
    /// Reads a line of [`run`].
    pub(crate) fn parse(line: &str) -> Result<Self> {
        let mut words = line.split_whitespace();
        let load = words.next().ok_or("a line without a load")?.to_owned();
        let numbers: Vec<f64> = words
            .map(str::parse)
            .collect::<std::result::Result<_, _>>()?;
        let [seconds, sent, core, delivered, near, far, median, p99] = numbers[..] else {
            return Err(format!("not a measurement: {line}").into());
        };
        Ok(Self {
            load,
            seconds,
            sent,
            core,
            delivered,
            near,
            far,
            median,
            p99,
        })
    }
}

/// Measures under each of the loads, by commas, and prints a line for each.
pub(crate) fn run(loads: &str) -> Result<()> {
    let gateways = std::env::var("GATEWAYS")?;
    let (near, far) = gateways.split_once(',').ok_or("no gateways")?;
    let to = std::env::var("TO")?;
    warm(&to)?;
    for load in loads.split(',') {
        let load = Load::of_name(load)?;
        for (gateway, processor) in [near, far].into_iter().zip(load.processors) {
            pin(gateway, processor)?;
        }
        let (mut sink, mut output) = sink()?;
        // The last datagrams of before may still be on their way.
        let before = Counters::at_rest(near, far)?;
        let begun = clock::monotonic();
        let sent = generate(load.name, &to)?;
        let took = clock::monotonic().since(begun).unwrap_or_default();
        let after = Counters::at_rest(near, far)?;
        let mut delays = String::new();
        output.read_to_string(&mut delays)?;
        sink.wait()?;
        let delays: Vec<f64> = delays
            .split_whitespace()
            .map(str::parse)
            .collect::<std::result::Result<_, _>>()?;
        let delays = sorted(delays.into_iter());
        let quantile = |of_thousand: usize| {
            let place = delays.len() * of_thousand / 1_000;
            delays.get(place).map_or(f64::NAN, |nanos| nanos / 1e3)
        };
        println!(
            "{} {} {sent} {} {} {} {} {} {}",
            load.name,
            took.as_nanos() as f64 / 1e9,
            after.core - before.core,
            after.delivered - before.delivered,
            after.near - before.near,
            after.far - before.far,
            quantile(500),
            quantile(990),
        );
    }
    Ok(())
}

/// Sends a little, until the far host receives it: neighbours and keys are there then.
fn warm(to: &str) -> Result<()> {
    let deadline = clock::monotonic() + Span::from_secs(5);
    let before = frames("b", "eth0")?;
    while frames("b", "eth0")? < before + 100.0 {
        if clock::monotonic() > deadline {
            return Err("nothing arrives at the far host".into());
        }
        generate(Load::WARM.name, to)?;
    }
    Ok(())
}

fn bench(node: &str, words: &[&str]) -> Result<Command> {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", node]);
    command.arg(std::env::var("BENCH")?).args(words);
    Ok(command)
}

fn generate(load: &str, to: &str) -> Result<f64> {
    let output = bench("a", &["role:generate", load, to])?
        .stderr(Stdio::inherit())
        .output()?;
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}

/// Binds all threads of these processes to a processor.
fn pin(processes: &str, processor: u8) -> Result<()> {
    for process in processes.split_whitespace() {
        let mut command = Command::new("taskset");
        command.args(["-acp", &processor.to_string(), process]);
        if !command.stdout(Stdio::null()).status()?.success() {
            return Err(format!("process {process} cannot be bound to a processor").into());
        }
    }
    Ok(())
}

/// Starts the sink, and returns when it listens.
fn sink() -> Result<(Child, BufReader<std::process::ChildStdout>)> {
    let mut child = bench("b", &["role:sink"])?.stdout(Stdio::piped()).spawn()?;
    let mut output = BufReader::new(child.stdout.take().ok_or("no output")?);
    let mut ready = String::new();
    output.read_line(&mut ready)?;
    Ok((child, output))
}

/// Counters of the kernels, and processor seconds of the gateways.
struct Counters {
    core: f64,
    delivered: f64,
    near: f64,
    far: f64,
}

impl Counters {
    /// Those after the last datagram: two readings, between which programs start and end
    /// for several milliseconds, show the same.
    fn at_rest(near: &str, far: &str) -> Result<Self> {
        let mut latest = Self::read(near, far)?;
        loop {
            let next = Self::read(near, far)?;
            if [next.core, next.delivered] == [latest.core, latest.delivered] {
                return Ok(next);
            }
            latest = next;
        }
    }

    fn read(near: &str, far: &str) -> Result<Self> {
        Ok(Self {
            core: frames("c", "west")?,
            delivered: frames("b", "eth0")?,
            near: processor(near)?,
            far: processor(far)?,
        })
    }
}

/// Frames that an interface received.
fn frames(node: &str, interface: &str) -> Result<f64> {
    let path = format!("/sys/class/net/{interface}/statistics/rx_packets");
    let output = Command::new("ip")
        .args(["netns", "exec", node, "cat", &path])
        .output()?;
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}

/// Processor seconds of all threads of these processes.
fn processor(processes: &str) -> Result<f64> {
    let mut nanos = 0.0;
    for process in processes.split_whitespace() {
        for thread in fs::read_dir(format!("/proc/{process}/task"))? {
            let text = fs::read_to_string(thread?.path().join("schedstat"))?;
            let first = text.split_whitespace().next().ok_or("no schedstat")?;
            nanos += first.parse::<f64>()?;
        }
    }
    Ok(nanos / 1e9)
}
