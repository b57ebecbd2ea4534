//! Jumbolab's `send` and `recv` beside D-ITG, iperf3, nuttcp and sockperf, in
//! the same network namespaces, on the same processors, in turn.
//!
//!     cargo bench -p jumbolab --bench peers -- 7 rate decode
//!
//! The words are rounds and works, or parts of their names: rate, departures,
//! rtt, tcp, decode. Needs root, two processors and the programs, which it installs
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

#[path = "../shared/asked.rs"]
mod asked;
mod bed;
mod counters;
mod floor;
mod install;
mod observer;
mod outcome;
mod program;
#[path = "../shared/statistics.rs"]
mod statistics;
mod table;
mod work;

use std::process::ExitCode;

use asked::Asked;
use bed::Bed;
use program::Program;
use statistics::sorted;
use work::{Kind, WORKS};

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Rounds, in each of which every program runs once.
const ROUNDS: usize = 7;

fn main() -> ExitCode {
    let result = match live::worker::role() {
        Some(role) if role == observer::ROLE => observer::run(),
        Some(role) if role == floor::ROLE => floor::run(),
        Some(_) => {
            live::worker::init_process();
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
    let Asked { rounds, names } = Asked::read(ROUNDS, &WORKS.map(|work| work.name))?;
    let here = install::programs();
    println!("{}", table::machine());
    let folder = tempfile::tempdir()?;
    let _sandbox = live::Sandbox::enter()?;
    for work in WORKS.iter().filter(|work| names.contains(&work.name)) {
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
        let mut floors = Vec::new();
        for round in 0..rounds {
            if work.kind == Kind::Departures {
                floors.push(floor::watch(work)?);
            }
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
        table::print(work, &runners, &runs, &sorted(floors.into_iter()));
    }
    Ok(())
}
