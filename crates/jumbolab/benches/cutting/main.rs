//! Compares TCP downloads through gateways with other ways, in turn in the same namespaces:
//!
//!     cargo bench -p jumbolab --bench cutting -- 5 plain fragments gateway sealed wireguard
//!     cargo bench -p jumbolab --bench cutting -- 5 super
//!
//! The arguments are the number of rounds, and systems or parts of their names. It needs
//! iproute2, iperf3 and Python. A run of one system takes about four seconds.
//!
//! The first line is for a core of 1500 bytes and an MTU of 1500 or 9000 inside: gateways with
//! and without keys, no gateway, IP fragmentation of 9000, and `wireguard-go`. The link between
//! the gateways is `jumbolab emulate`, which drops 0, 0.1 and 1 % of the frames of each
//! direction. Hosts send without segmentation offload, so that each packet costs what it would
//! cost a router. The second line is for hosts with segmentation offload, up to 192 KiB, and a
//! core of 9000 bytes: gateways with packet sockets, TUN interfaces and keys, and kernels that
//! forward super-packets whole, or cut them in front of the core.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own"
)]

#[path = "../shared/asked.rs"]
mod asked;
#[path = "../shared/bed.rs"]
mod bed;
#[path = "../shared/machine.rs"]
mod machine;
#[path = "../shared/spread.rs"]
mod spread;
#[path = "../shared/statistics.rs"]
mod statistics;
mod system;
#[path = "../shared/turn.rs"]
mod turn;

use std::process::{Command, ExitCode, Stdio};

use asked::Asked;
use spread::spread;
use system::{Case, DOWNLOAD, SYSTEMS, System};
use turn::turn;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Rounds, in each of which every system runs once in each case.
const ROUNDS: usize = 5;

/// Seconds of a download.
const SECONDS: u32 = 2;

/// The result of a run.
#[derive(Clone, Copy)]
struct Outcome {
    /// Goodput in Mbit/s.
    goodput: f64,
    /// Processor time in milliseconds for each Mbit: of the machine, and of the processes of
    /// the gateways near the server and near the client.
    costs: [f64; 3],
}

fn main() -> ExitCode {
    match compare() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn compare() -> Result<()> {
    let Asked { rounds, names } = Asked::read(ROUNDS, &SYSTEMS.map(|system| system.name))?;
    println!("{}", machine::machine());
    let systems = SYSTEMS.iter().filter(|system| names.contains(&system.name));
    let systems = systems.filter(|system| match system.needs {
        Some(program) if !has(program) => {
            println!("left out: {} (there is no {program})", system.name);
            false
        }
        _ => true,
    });
    let cells = systems.flat_map(|system| system.cases().iter().map(move |case| (system, case)));
    let cells: Vec<(&System, &Case)> = cells.collect();
    let mut outcomes = vec![Vec::new(); cells.len()];
    for round in 0..rounds {
        for place in turn(round, cells.len()) {
            let (system, case) = cells[place];
            match run(system, case) {
                Ok(outcome) => outcomes[place].push(outcome),
                Err(error) => eprintln!("{}, {}: {error}", system.name, case.title()),
            }
        }
    }
    println!(
        "\n| system | case | goodput, Mbit/s | CPU ms per Mbit | near gateway | far gateway | runs |"
    );
    println!("|---|---|---|---|---|---|---|");
    for ((system, case), outcomes) in cells.iter().zip(&outcomes) {
        let goodput = spread(outcomes.iter().map(|outcome| outcome.goodput), 0);
        let costs = [0, 1, 2].map(|of| spread(outcomes.iter().map(|outcome| outcome.costs[of]), 3));
        println!(
            "| {} | {} | {goodput} | {} | {} |",
            system.name,
            case.title(),
            costs.join(" | "),
            outcomes.len()
        );
    }
    Ok(())
}

/// Whether a program can be started.
fn has(program: &str) -> bool {
    let version = Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    version.is_ok_and(|status| status.success())
}

/// A download in namespaces of its own.
fn run(system: &System, case: &Case) -> Result<Outcome> {
    let [link, script] = system.scripts();
    let mut variables = case.variables().to_vec();
    variables.push(("HOSTS", system.mtu.to_string()));
    variables.push(("SECONDS_EACH", SECONDS.to_string()));
    let printed = bed::run(&[link, script, DOWNLOAD], &variables)?;
    let words = printed
        .lines()
        .find_map(|line| line.strip_prefix("download "));
    let words = words.ok_or_else(|| format!("no result: {printed}"))?;
    let numbers: Vec<f64> = words
        .split(' ')
        .map(str::parse)
        .collect::<std::result::Result<_, _>>()?;
    let [bits, machine, near, far] = numbers[..] else {
        return Err(format!("no result: {printed}").into());
    };
    let goodput = bits / 1e6;
    Ok(Outcome {
        goodput,
        costs: [machine, near, far].map(|millis| millis / (goodput * f64::from(SECONDS))),
    })
}
