//! Compares Jumbolab's `send` and `recv` with D-ITG, iperf3, nuttcp and
//! sockperf, in turn in the same network namespaces and on the same CPUs.
//!
//!     cargo bench -p jumbolab --bench peers -- 7 rate decode
//!
//! The arguments are the number of rounds and works, or parts of their names:
//! rate, departures, rtt, tcp, decode. Needs root, two CPUs and the programs,
//! which it installs if apt is available; missing ones are skipped. The results
//! are meaningful on an idle machine only, so the load is printed with them.
//!
//! Seven rounds take about two minutes for rate, six for departures, one for
//! each of rtt and tcp, and three for decode.
//!
//! The two hosts are namespaces joined by a veth pair without offloads. The
//! sender runs on CPU 0 and the receiver on CPU 1, unless the work makes them
//! share one. Where programs report differently, the kernel's counters of both
//! namespaces replace their reports. docs/guides/traffic.md describes the table.
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
#[path = "../shared/machine.rs"]
mod machine;
mod observer;
mod outcome;
#[path = "../shared/processor.rs"]
mod processor;
mod program;
#[path = "../shared/statistics.rs"]
mod statistics;
mod table;
#[path = "../shared/turn.rs"]
mod turn;
mod work;

use std::process::ExitCode;

use asked::Asked;
use bed::Bed;
use program::Program;
use statistics::sorted;
use turn::turn;
use work::{Kind, WORKS};

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Rounds, in each of which every program runs once.
const ROUNDS: usize = 7;

fn main() -> ExitCode {
    let result = match os::worker::role() {
        Some(role) if role == observer::ROLE => observer::run(),
        Some(role) if role == floor::ROLE => floor::run(),
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
    let Asked { rounds, names } = Asked::read(ROUNDS, &WORKS.map(|work| work.name))?;
    let here = install::programs();
    println!("{}", machine::machine());
    let folder = tempfile::tempdir()?;
    let _sandbox = os::Sandbox::enter()?;
    for work in WORKS.iter().filter(|work| names.contains(&work.name)) {
        let bed = Bed::build(work, folder.path())?;
        let runners: Vec<Program> = work
            .programs()
            .into_iter()
            .filter(|program| here.contains(program))
            .collect();
        for program in &runners {
            // Only the runs of this program fail then.
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
            for place in turn(round, runners.len()) {
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
