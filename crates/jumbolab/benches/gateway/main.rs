//! Compares `jumbolab gateway` with kernel forwarding and other tunnels, in turn in the
//! same network namespaces:
//!
//!     cargo bench -p jumbolab --bench gateway -- 5 plain xdp first packet tun copy
//!
//! The arguments are the number of rounds, and systems or parts of their names: plain,
//! xdp, first, packet, tun, copy, wireguard, simplemux. It needs root, iproute2 and two CPUs. The
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
mod copy;
mod generate;
mod load;
#[path = "../shared/machine.rs"]
mod machine;
mod measure;
mod sink;
#[path = "../shared/statistics.rs"]
mod statistics;
mod system;
mod table;

use std::process::{Command, ExitCode, Stdio};

use asked::Asked;
use load::Load;
use measure::Outcome;
use system::{SYSTEMS, System};

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
        // Every other round is in reverse order, so that no system always follows the
        // same one.
        let mut turn: Vec<usize> = (0..systems.len()).collect();
        if round % 2 == 1 {
            turn.reverse();
        }
        for place in turn {
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
    let folder = tempfile::tempdir()?;
    let bed = include_str!("../../tests/gateway/bed.sh");
    let script = [
        bed,
        include_str!("bed.sh"),
        &system.script(busy),
        "measure \"$LOADS\"\n",
    ]
    .concat();
    let rootless = if os::privileged() { "" } else { "Ur" };
    let output = Command::new("unshare")
        .args([&format!("-{rootless}nmp"), "--kill-child", "--fork"])
        .args(["--mount-proc", "timeout", "60", "sh", "-c", &script])
        .current_dir(folder.path())
        .env("JUMBOLAB", env!("CARGO_BIN_EXE_jumbolab"))
        .env("BENCH", std::env::current_exe()?)
        .env("LOADS", loads)
        .stdin(Stdio::null())
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(Outcome::parse)
        .collect()
}
