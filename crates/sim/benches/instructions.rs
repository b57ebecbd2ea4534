//! Instructions of fixed runs, compared with the recorded ones.
//!
//!     cargo bench -p jumbolab-sim --bench instructions
//!     cargo bench -p jumbolab-sim --bench instructions -- record
//!     cargo bench -p jumbolab-sim --bench instructions -- run b 10
//!
//! The first counts with valgrind and fails where a run takes more or fewer
//! instructions than `instructions.txt` says, the second writes that file, and the third
//! runs one network for so many simulated seconds, for a profiler. Counts depend on the
//! compiler, the C library and its choice of functions for the processor, but not on
//! other load.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own"
)]

#[path = "shared/networks.rs"]
mod networks;

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};

use jumbolab_sim::Scenario;
use queue::{CodelSettings, Limit, RedSettings, Spec};
use units::{Bytes, Seed, Span};

use networks::{PACKETS, SIZE};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The fixed runs, and the simulated seconds of those that last for ever.
const RUNS: [(&str, f64); 7] = [
    ("one_queue", 0.0),
    ("patient_queue", 0.0),
    ("ten_routers", 0.0),
    ("closed_loop", 2.0),
    ("a", 1.0),
    ("b", 0.2),
    ("b9000", 0.3),
];
/// The allowed deviation, in percent. The same program deviates by less than 0.1 %
/// between runs; the rest is for other machines.
const TOLERANCE: f64 = 3.0;
/// The recorded counts: a name and a number per line.
const RECORD: &str = "benches/instructions.txt";

fn main() -> ExitCode {
    // Cargo adds options of its own.
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        [] => compare(),
        ["record"] => record(),
        ["run", name, seconds] => run(name, seconds),
        // The instructions that valgrind counts.
        ["once", name] => once(name),
        _ => Err(format!(
            "unknown: {}; there are: record, run NAME SECONDS",
            words.join(" ")
        )
        .into()),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The network of this name, for so many seconds.
fn network(name: &str, seconds: f64) -> Option<Scenario> {
    let limit = Limit::Packets(100);
    let tail = Spec::DropTail { limit };
    let red = Spec::Red(RedSettings::new(limit, Bytes::new(SIZE)));
    let codel = Spec::Codel(CodelSettings::new(limit, Bytes::new(SIZE)));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a few seconds"
    )]
    let lasts = Span::from_micros((seconds * 1e6).round() as u64);
    Some(match name {
        "one_queue" => networks::line(&red, 0, 1, PACKETS / 4),
        "patient_queue" => networks::line(&codel, 0, 1, PACKETS / 8),
        "ten_routers" => networks::line(&tail, 10, 1, PACKETS / 40),
        "closed_loop" => networks::closed_loop(&red, lasts),
        "dumbbell" => networks::dumbbell(100),
        "a" => networks::compared(100, 100, 1_500, lasts),
        "b" => networks::compared(1_000, 200, 1_500, lasts),
        "b9000" => networks::compared(1_000, 200, 9_000, lasts),
        "c" => networks::compared(10_000, 2_000, 1_500, lasts),
        "d" => networks::compared(10_000, 10_000, 1_500, lasts),
        _ => return None,
    })
}

/// Runs one network, and prints what its first link carried, and a digest of the
/// outcome: a change that is for speed alone leaves it.
fn run(name: &str, seconds: &str) -> Result<bool> {
    let scenario = network(name, seconds.parse()?).ok_or("no such network")?;
    let outcome = scenario.check()?.run();
    let [forth, _] = &outcome.links[0].directions;
    println!(
        "{name}: {} packets at the first link, busy {:.4}; {} events; digest {:016x}",
        forth.counters.arrived,
        forth.utilisation,
        outcome.events,
        Seed::new(0).derive(&format!("{outcome:?}")).get()
    );
    Ok(true)
}

/// Makes one of the fixed runs.
fn once(name: &str) -> Result<bool> {
    let fixed = RUNS.iter().find(|fixed| fixed.0 == name);
    let scenario = fixed.and_then(|(name, seconds)| network(name, *seconds));
    Ok(scenario.ok_or("no such run")?.check()?.run().events > 0)
}

/// The instructions of one run.
fn count(name: &str) -> Result<u64> {
    let output = Command::new("valgrind")
        .args([
            "--tool=cachegrind",
            "--cache-sim=no",
            "--cachegrind-out-file=/dev/null",
        ])
        .arg(std::env::current_exe()?)
        .args(["once", name])
        .output()
        .map_err(|error| format!("valgrind: {error}; type: apt-get install valgrind"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    // `==123== I   refs:      99,734,851`
    let line = text
        .lines()
        .find(|line| line.contains(" refs:") && line.contains("== I"));
    let number = line.and_then(|line| line.rsplit(' ').next());
    let number = number.filter(|_| output.status.success());
    let number = number.ok_or_else(|| format!("valgrind failed: {text}"))?;
    Ok(number.replace(',', "").parse()?)
}

fn record() -> Result<bool> {
    let mut text = String::new();
    for (name, _) in RUNS {
        writeln!(text, "{name} {}", count(name)?)?;
    }
    print!("{text}");
    std::fs::write(place(), text)?;
    Ok(true)
}

/// Whether all runs take as many instructions as recorded.
fn compare() -> Result<bool> {
    let text = std::fs::read_to_string(place())
        .map_err(|error| format!("{RECORD}: {error}; write it with -- record"))?;
    let mut sound = true;
    println!("| run | instructions | recorded | change |\n|---|---|---|---|");
    for (name, _) in RUNS {
        let recorded = text.lines().filter_map(|line| line.split_once(' '));
        let recorded = recorded
            .filter(|line| line.0 == name)
            .map(|line| line.1)
            .next();
        let recorded: u64 = recorded
            .ok_or_else(|| format!("{RECORD} has no {name}"))?
            .parse()?;
        let now = count(name)?;
        let change = 100.0 * (now as f64 / recorded as f64 - 1.0);
        let is_sound = change.abs() <= TOLERANCE;
        let verdict = if is_sound { "" } else { ", beyond 3 %" };
        println!("| {name} | {now} | {recorded} | {change:+.2} %{verdict} |");
        sound &= is_sound;
    }
    if !sound {
        eprintln!("if the change is meant, say why in the commit and record it: -- record");
    }
    Ok(sound)
}

fn place() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(RECORD)
}
