//! Throughput of the emulator in frames per second and per second of processor time,
//! compared with a loop that copies frames from one packet socket to another.
//!
//!     cargo bench -p jumbolab-emulator --bench forwarding
//!
//! The link has no rate and no delay, so every frame leaves at once and the benchmark
//! measures the cost of carrying it. A third process sends as fast as it can. Frames
//! per second depend on the machine's other load; frames per second of processor time
//! hardly do. Both carriers run with ordinary priority: with real-time priority a
//! carrier wakes up for every frame and carries no batches.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own"
)]

mod copy;
mod network;

use std::io::{BufRead, stdin};
use std::process::ExitCode;

use jumbolab_emulator::{EmulatedLink, Emulator};
use link::{PacketOutcome, Settings};
use os::Worker;
use os::clock::monotonic;
use os::cpu_time::Process;
use os::worker::Command;
use queue::{Limit, Spec};
use units::{Bytes, Seed, Span};

use network::{Result, Station, add_pair, frame, remove};

/// The sending time, and the time for which carrying continues after it.
const SENDING: Span = Span::from_millis(1500);
const CARRYING: Span = Span::from_millis(2000);
/// Rounds per carrier. The benchmark prints the median, and the median of the ratios of
/// pairs.
const ROUNDS: usize = 5;
/// The carriers, by the worker's role.
const CARRIERS: [&str; 2] = ["copy", "emulator"];

fn main() -> ExitCode {
    let result = match os::worker::role().as_deref() {
        Some("copy") => carry(copy::run),
        Some("emulator") => carry(emulate),
        Some("flood") => flood(),
        Some(_) => {
            os::worker::init_process();
            Ok(())
        }
        None => compare(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn compare() -> Result<()> {
    let _sandbox = os::Sandbox::enter()?;
    println!("| frame | carried by | frames/s | Gbit/s | frames/core-second | Gbit/core-second |");
    println!("|---|---|---|---|---|---|");
    for (size, mtu) in [(64, 1500), (1514, 1500), (9014, 9000)] {
        for (near, far) in [("s0", "a0"), ("r0", "b0")] {
            add_pair(near, far, mtu)?;
        }
        // Alternating, so that both carriers meet the same other load.
        let mut rounds = [const { Vec::new() }; 2];
        for _ in 0..ROUNDS {
            for (carrier, rounds) in CARRIERS.iter().zip(&mut rounds) {
                rounds.push(round(carrier, size)?);
            }
        }
        let [copies, emulated] = &rounds;
        let mut ratios: Vec<f64> = copies
            .iter()
            .zip(emulated)
            .map(|(a, b)| b.1 / a.1)
            .collect();
        let gigabits = |frames: f64| frames * f64::from(size) * 8.0 / 1e9;
        for (carrier, rounds) in CARRIERS.iter().zip(&rounds) {
            let rate = median(&mut rounds.iter().map(|round| round.0).collect::<Vec<_>>());
            let per_core = median(&mut rounds.iter().map(|round| round.1).collect::<Vec<_>>());
            println!(
                "| {size} B | {carrier} | {rate:.0} | {:.2} | {per_core:.0} | {:.2} |",
                gigabits(rate),
                gigabits(per_core)
            );
        }
        println!(
            "| {size} B | emulator / copy | | | {:.2} | |",
            median(&mut ratios)
        );
        remove("s0")?;
        remove("r0")?;
    }
    Ok(())
}

fn median(numbers: &mut [f64]) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// Frames per second, and per second of processor time.
fn round(carrier: &str, size: u32) -> Result<(f64, f64)> {
    let mut carrier = Worker::spawn(Command::local(None, carrier))?;
    carrier.send_line("")?;
    hear(&mut carrier)?;
    let mut flood = Worker::spawn(Command::local(None, "flood"))?;
    flood.send_line(&size.to_string())?;
    hear(&mut flood)?;
    let said = hear(&mut carrier)?;
    let mut numbers = said.split(' ').map(str::parse::<f64>);
    let mut number = || numbers.next().ok_or("a number is missing");
    let (frames, seconds) = (number()??, number()??);
    Ok((frames / SENDING.as_secs_f64(), frames / seconds))
}

fn hear(worker: &mut Worker) -> Result<String> {
    let deadline = monotonic() + Span::from_secs(20);
    Ok(worker
        .receive_line(deadline)?
        .ok_or("a worker says nothing")?)
}

/// A carrier's process: reports readiness, carries frames, and reports their number and
/// its processor time.
fn carry(run: fn() -> Result<u64>) -> Result<()> {
    stdin().lock().read_line(&mut String::new())?;
    let before = Process::sample()?;
    let frames = run()?;
    let used = Process::sample()? - before;
    println!("{frames} {}", used.cpu.as_secs_f64());
    Ok(())
}

fn emulate() -> Result<u64> {
    let limit = Limit::Bytes(Bytes::new(1_000_000));
    let settings = Settings::perfect(None, Spec::DropTail { limit });
    let link = EmulatedLink {
        ends: ["a0".into(), "b0".into()],
        directions: [settings.clone(), settings],
        rules: Vec::new(),
    };
    let mut emulator = Emulator::open(&[link], Seed::new(1))?;
    println!("ready");
    emulator.run_until(monotonic() + CARRYING)?;
    let report = emulator.report()?;
    Ok(report.of(PacketOutcome::Delivered) - report.links[0][0].rejected.unsent)
}

fn flood() -> Result<()> {
    let mut size = String::new();
    stdin().lock().read_line(&mut size)?;
    let station = Station::open("s0")?;
    let frame = frame(size.trim().parse()?);
    let end = monotonic() + SENDING;
    while monotonic() < end {
        for _ in 0..64 {
            // Frames that do not fit the socket are not counted.
            let _ = station.send(&frame);
        }
    }
    println!("done");
    Ok(())
}
