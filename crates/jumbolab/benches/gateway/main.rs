//! Compares `jumbolab gateway` with kernel forwarding and other tunnels, in turn in the
//! same network namespaces:
//!
//!     cargo bench -p jumbolab --bench gateway -- 5 plain xdp sealed first packet tun copy
//!
//! The arguments are the number of rounds, and systems or parts of their names: plain,
//! xdp, sealed, first, packet, tun, copy, wireguard, simplemux. It needs root, iproute2 and two CPUs. The
//! environment variables `WIREGUARD_GO` and `SIMPLEMUX` name the programs of these
//! names; without them these rows are left out. A round of one system takes nine
//! seconds.
//!
//! Hosts and gateways are namespaces in a row: a host, a gateway, a router, a gateway, a
//! host. The generator and the receiving host use CPU 0; each load says which CPU each
//! gateway has.
//! docs/guides/gateway.md describes the tables.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own"
)]

#[path = "../shared/asked.rs"]
mod asked;
#[path = "../shared/bed.rs"]
mod bed;
mod copy;
mod generate;
mod load;
#[path = "../shared/machine.rs"]
mod machine;
mod measure;
mod sink;
#[path = "../shared/spread.rs"]
mod spread;
#[path = "../shared/statistics.rs"]
mod statistics;
mod system;
mod table;
#[path = "../shared/turn.rs"]
mod turn;

use std::process::ExitCode;

use asked::Asked;
use load::Load;
use measure::Outcome;
use system::{SYSTEMS, System};
use turn::turn;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Rounds, in each of which every system runs once.
const ROUNDS: usize = 5;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let result = match words[..] {
        ["role:measure", loads] => measure::run(loads),
        ["role:generate", load, to] => generate::run(load, to),
        ["role:sink"] => sink::run(),
        ["role:copy", interface, here, there] => copy::run(interface, here, there),
        _ => compare(),
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
    let Asked { rounds, names } = Asked::read(ROUNDS, &SYSTEMS.map(System::name))?;
    let systems: Vec<System> = SYSTEMS
        .into_iter()
        .filter(|system| names.contains(&system.name()))
        .filter(|system| match system.missing() {
            Some(variable) => {
                println!("left out: {} ({variable} names no program)", system.name());
                false
            }
            None => true,
        })
        .collect();
    println!("{}", machine::machine());
    let mut runs = vec![Vec::new(); systems.len()];
    for round in 0..rounds {
        for place in turn(round, systems.len()) {
            let mut outcomes = Vec::new();
            for (busy, loads) in [(false, Load::LOADED), (true, Load::IDLE)] {
                match run(systems[place], busy, loads) {
                    Ok(more) => outcomes.extend(more),
                    Err(error) => eprintln!("{}: {error}", systems[place].name()),
                }
            }
            runs[place].push(outcomes);
        }
    }
    table::print(&systems, &runs);
    Ok(())
}

/// Runs a system once, under all `loads`, in namespaces of its own.
fn run(system: System, busy: bool, loads: &str) -> Result<Vec<Outcome>> {
    let scripts = [
        include_str!("bed.sh"),
        &system.script(busy),
        "measure \"$LOADS\"\n",
    ];
    let printed = bed::run(&scripts, &[("LOADS", loads.to_owned())])?;
    printed.lines().map(Outcome::parse).collect()
}
