//! The compared simulators.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::program::{Result, Run, run};
use crate::scenario::Scenario;

/// Simulated seconds of a run that is nearly all set-up: long enough for the
/// first data to arrive, because Jumbolab fails a trial without any. The
/// packets that it carries are subtracted as well.
const SETUP: f64 = 0.05;
/// ns-3 simulates this fraction (1/n) of the time.
const NS3_PART: f64 = 20.0;

/// A simulator with the paths of its program and files.
pub(crate) struct Simulator {
    kind: Kind,
    program: PathBuf,
    /// Arguments before those of the scenario.
    first: Vec<String>,
    folder: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Jumbolab,
    Ns2,
    Ns3,
}

/// The outcome of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// Packets that arrived at the bottleneck, forward direction.
    pub(crate) arrived: f64,
    /// Dropped packets among them.
    pub(crate) dropped: f64,
    /// The utilisation of the bottleneck.
    pub(crate) busy: f64,
    /// Packets that the bottleneck carried after the set-up, and the CPU
    /// seconds for them.
    carried: f64,
    seconds: f64,
    /// Peak memory per flow in bytes, beyond that of a network with one flow.
    pub(crate) memory: f64,
}

/// The cost of a run among many, and what happens at the bottleneck.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sweep {
    /// CPU seconds of a run.
    pub(crate) seconds: f64,
    /// The share of packets that is dropped, and the utilisation.
    pub(crate) dropped: f64,
    pub(crate) busy: f64,
}

impl Outcome {
    /// Packets carried by the bottleneck per CPU second, forward direction.
    pub(crate) fn rate(&self) -> f64 {
        self.carried / self.seconds
    }
}

impl Simulator {
    /// Jumbolab first, then the other installed simulators.
    pub(crate) fn all(folder: &Path) -> Result<Vec<Self>> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/simulators");
        let folder = folder.to_owned();
        let mut all = vec![Self {
            kind: Kind::Jumbolab,
            program: env!("CARGO_BIN_EXE_jumbolab").into(),
            first: Vec::new(),
            folder: folder.clone(),
        }];
        if Command::new("ns").arg("/dev/null").output().is_ok() {
            all.push(Self {
                kind: Kind::Ns2,
                program: "ns".into(),
                first: vec![here.join("dumbbell.tcl").display().to_string()],
                folder: folder.clone(),
            });
        } else {
            println!("ns-2 is not here: install ns2");
        }
        let program = folder.join("ns3-dumbbell");
        let modules = [
            "core",
            "network",
            "internet",
            "point-to-point",
            "applications",
            "traffic-control",
        ];
        let built = Command::new("g++")
            .args(["-O2", "-std=c++17", "-o"])
            .arg(&program)
            .arg(here.join("dumbbell.cc"))
            .args(modules.map(|module| format!("-lns3-{module}")))
            .status();
        if built.is_ok_and(|status| status.success()) {
            all.push(Self {
                kind: Kind::Ns3,
                program,
                first: Vec::new(),
                folder,
            });
        } else {
            println!("ns-3 is not here: install g++ and libns3-dev");
        }
        Ok(all)
    }

    pub(crate) fn is_ours(&self) -> bool {
        self.kind == Kind::Jumbolab
    }

    /// The part of a scenario that this simulator runs.
    pub(crate) fn share_of(&self, scenario: Scenario) -> Scenario {
        match self.kind {
            Kind::Ns3 => scenario.lasting(scenario.seconds / NS3_PART),
            Kind::Jumbolab | Kind::Ns2 => scenario,
        }
    }

    /// Runs `scenario`, its set-up alone (subtracted) and a single flow (whose
    /// memory is subtracted).
    pub(crate) fn run(&self, scenario: &Scenario) -> Result<Outcome> {
        let (setup, [early, ..]) = self.once(&scenario.lasting(SETUP))?;
        let (single, _) = self.once(&scenario.lasting(SETUP).of_one_flow())?;
        let (run, [arrived, dropped, busy]) = self.once(scenario)?;
        Ok(Outcome {
            arrived,
            dropped,
            busy,
            carried: arrived - dropped - early,
            seconds: run.seconds - setup.seconds,
            memory: (run.memory - single.memory) / f64::from(scenario.flows),
        })
    }

    /// The cost of a run where Jumbolab makes `runs` in one process, each with a seed of
    /// its own, and reports them; the others start once for each run.
    pub(crate) fn sweep(&self, scenario: &Scenario, runs: u32) -> Result<Sweep> {
        let (run, trials) = match self.is_ours() {
            true => self.trials(scenario, runs)?,
            false => {
                let (run, counts) = self.once(scenario)?;
                (run, vec![counts])
            }
        };
        let number: f64 = trials.iter().map(|_| 1.0).sum();
        let sum = |of: fn(&[f64; 3]) -> f64| trials.iter().map(of).sum::<f64>();
        Ok(Sweep {
            seconds: run.seconds / number,
            dropped: sum(|counts| counts[1]) / sum(|counts| counts[0]),
            busy: sum(|counts| counts[2]) / number,
        })
    }

    /// One run; returns the packets that arrived at the bottleneck, its drops,
    /// and its utilisation.
    fn once(&self, scenario: &Scenario) -> Result<(Run, [f64; 3])> {
        if self.is_ours() {
            let (run, trials) = self.trials(scenario, 1)?;
            return Ok((run, *trials.first().ok_or("no trial")?));
        }
        let words = [self.first.clone(), scenario.words()].concat();
        let run = run(&self.program, &words, &self.folder)?;
        let words: Vec<&str> = run.output.split_whitespace().collect();
        let ["arrived", arrived, "dropped", dropped, "bytes", bytes] = words[..] else {
            return Err(format!("{self} printed {}", run.output).into());
        };
        let bytes: f64 = bytes.parse()?;
        let busy = bytes * 8.0 / (scenario.megabits() * 1e6 * scenario.seconds);
        let counts = [arrived.parse()?, dropped.parse()?, busy];
        Ok((run, counts))
    }

    /// So many runs of Jumbolab in one process, and the same for each.
    fn trials(&self, scenario: &Scenario, runs: u32) -> Result<(Run, Vec<[f64; 3]>)> {
        let file = self.folder.join("speed.toml");
        fs::write(&file, scenario.experiment(runs))?;
        let results = tempfile::tempdir_in(&self.folder)?;
        let words = format!(
            "run {} --on sim --threads 1 -o {}",
            file.display(),
            results.path().display()
        );
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let run = run(&self.program, &words, &self.folder)?;
        let journal = journal(results.path())?;
        let trials = journal.lines().map(counts).collect::<Result<_>>()?;
        Ok((run, trials))
    }
}

/// The packets that arrived at the bottleneck in a trial, its drops, and its utilisation.
fn counts(line: &str) -> Result<[f64; 3]> {
    let trial: Value = serde_json::from_str(line)?;
    let evidence = &trial["evidence"];
    let number = |at: &str| evidence.pointer(at).and_then(Value::as_f64).unwrap_or(0.0);
    let packets = evidence["packets"].as_array().ok_or("no packets")?;
    let sent: f64 = packets.iter().filter_map(Value::as_f64).sum();
    // Access links drop nothing: all sent packets arrive at the bottleneck.
    Ok([sent, number("/dropped/0/0"), number("/utilisation/0/0")])
}

impl fmt::Display for Simulator {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self.kind {
            Kind::Jumbolab => "Jumbolab",
            Kind::Ns2 => "ns-2.35",
            Kind::Ns3 => "ns-3",
        })
    }
}

/// The journal of the only run below `folder`.
fn journal(folder: &Path) -> Result<String> {
    let places = [folder.join("trials.jsonl")].into_iter().chain(
        fs::read_dir(folder)?
            .flatten()
            .map(|entry| entry.path().join("trials.jsonl")),
    );
    let place = places.into_iter().find(|place| place.exists());
    Ok(fs::read_to_string(place.ok_or("no journal")?)?)
}
