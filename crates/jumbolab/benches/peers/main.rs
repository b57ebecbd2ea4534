//! Jumbolab's `send` and `recv` beside D-ITG, iperf3, nuttcp and sockperf, in
//! the same network namespaces, on the same processors, in turn.
//!
//!     cargo bench -p jumbolab --bench peers -- 7 rate decode
//!
//! WORK is one of those that are printed as headings: rate, departures, rtt,
//! tcp, decode, or a part of such a name. Needs root, two processors and the programs, which it installs
//! where there is apt; what is missing is left out. Figures mean something on
//! an idle machine only: the load is printed with them.
//!
//! Seven rounds take about two minutes for rate, six for departures, one for
//! each of rtt and tcp, and three for decode.
//!
//! The two hosts are namespaces joined by a veth pair without offloads. The
//! sender runs on processor 0 and the receiver on processor 1, unless the work
//! says that they share one. Where programs report differently, the kernel's
//! counters in both namespaces are asked instead of them. docs/traffic.md says
//! what is in the table.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own"
)]

mod bed;
mod counters;
#[path = "../shared/figures.rs"]
mod figures;
mod install;
mod outcome;
mod program;
mod table;
mod witness;
mod work;

use std::process::ExitCode;

use bed::Bed;
use program::Program;
use work::{WORKS, Work};

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Rounds, in each of which every program runs once.
const ROUNDS: usize = 7;

fn main() -> ExitCode {
    let result = match role() {
        Some(role) if role == witness::ROLE => witness::run(),
        Some(_) => {
            live::worker::anchor();
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

/// What this process is to be, if it is a worker.
fn role() -> Option<String> {
    let mut words = std::env::args().skip(1);
    (words.next()? == live::worker::ARGUMENT).then(|| words.next().unwrap_or_default())
}

fn compare() -> Result<()> {
    // Cargo adds options of its own.
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let rounds = words.iter().find_map(|word| word.parse().ok());
    let rounds = rounds.unwrap_or(ROUNDS).max(1);
    let names: Vec<&String> = words
        .iter()
        .filter(|word| word.parse::<usize>().is_err())
        .collect();
    let asked =
        |work: &Work| names.is_empty() || names.iter().any(|name| work.name.contains(*name));
    if let Some(name) = names
        .iter()
        .find(|name| !WORKS.iter().any(|work| work.name.contains(**name)))
    {
        return Err(format!("there is no work `{name}`; there are: {}", work::names()).into());
    }
    let here = install::programs();
    println!("{}", table::machine());
    let folder = tempfile::tempdir()?;
    let _sandbox = live::Sandbox::enter()?;
    for work in WORKS.iter().filter(|work| asked(work)) {
        let bed = Bed::build(work, folder.path())?;
        let runners: Vec<Program> = work
            .programs()
            .into_iter()
            .filter(|program| here.contains(program))
            .collect();
        for program in &runners {
            // Its runs fail then, and others' do not.
            if let Err(error) = bed.prepare(*program, work) {
                eprintln!("{}, {program}: {error}", work.name);
            }
        }
        let mut runs = vec![Vec::new(); runners.len()];
        for round in 0..rounds {
            // Every other round the other way round: none always follows the same.
            let mut turn: Vec<usize> = (0..runners.len()).collect();
            if round % 2 == 1 {
                turn.reverse();
            }
            for place in turn {
                let run = bed.run(runners[place], work);
                if let Err(error) = &run {
                    eprintln!("{}, {}: {error}", work.name, runners[place]);
                }
                runs[place].push(run.ok());
            }
        }
        table::print(work, &runners, &runs);
    }
    Ok(())
}
