//! Faults at random times of a run that changes its hosts: the hosts are as before soon
//! after each, no finished trial is lost, and the run is resumed.
//!
//! `JUMBOLAB_FAULTS` is the number of faults, `JUMBOLAB_FAULT_SEED` their seed.

use std::fmt;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus, Stdio};

use os::{clock, kernel_clock};
use results::folder::Folder;
use units::{Seed, Span, Time};

use crate::bed::{Bed, Between, State, signal, until};
use crate::run::{HOSTS, said};

/// A fault of each kind.
const FAULTS: u64 = 5;

/// The time in which hosts are as before: 10 s on an idle machine. Where compilers share the
/// machine it was 16 s, so the limit only tells late from never.
const SOON: Span = Span::from_secs(60);

/// Trials of the run.
const TRIALS: usize = 8;

/// The folder of the results, on the small disk.
const RESULTS: &str = "small/r";

/// MTU and offloads of both interfaces are changed.
const EXPERIMENT: &str = "\
format = 1
name = \"faulty\"
[network]
ip = 4
[host]
offloads = \"off\"
[traffic]
size = \"500kB\"
warmup = \"100kB\"
cpu_bytes = \"1MB\"
[sweep]
\"network.mtu\" = [1500, 4000]
[trials]
repeat = 4
retry_limit = \"none\"
[compare]
factor = \"network.mtu\"
baseline = 1500
";

/// Something that happens in the middle of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The network between the controller and one host, or both, is cut.
    Network,
    /// An agent is killed.
    Agent,
    /// The program is killed.
    Controller,
    /// A host loses its power, and boots later.
    Host,
    /// The disk of the results is full.
    Disk,
}

const KINDS: [Fault; 5] = [
    Fault::Network,
    Fault::Agent,
    Fault::Controller,
    Fault::Host,
    Fault::Disk,
];

/// A fault and what became of the run.
struct Row {
    number: u64,
    fault: Fault,
    /// The hosts concerned.
    hosts: Vec<&'static str>,
    after: Span,
    status: ExitStatus,
    /// The time until both hosts were as before.
    restored: Span,
    /// Whole lines of the journal after the end.
    kept: usize,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = match (self.status.code(), self.status.signal()) {
            (Some(code), _) => format!("code {code}"),
            (None, signal) => format!("signal {}", signal.unwrap_or_default()),
        };
        write!(
            f,
            "| {} | {:?} {} | {:.2} s | {end} | {:.2} s | {} of {TRIALS} |",
            self.number,
            self.fault,
            self.hosts.join(" "),
            self.after.as_secs_f64(),
            self.restored.as_secs_f64(),
            self.kept,
        )
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the table is for who asks for faults")]
fn hosts_are_as_before_and_runs_are_resumed_after_faults_at_random_instants() {
    let number = |name: &str, default| match std::env::var(name) {
        Ok(text) => text.parse().expect("a number"),
        Err(_) => default,
    };
    let seed = Seed::new(number("JUMBOLAB_FAULT_SEED", 1));
    let mut bed = Bed::new(Between::Switch(9_000));
    fs::write(bed.path("f.toml"), EXPERIMENT).unwrap();
    let before = states(&bed);
    // The length of a run is the range of the times.
    let begun = clock::monotonic();
    let output = command(&bed, &[]).output().unwrap();
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "{}",
        said(&output)
    );
    let length = since(begun);
    until(|| states(&bed) == before);
    println!("a run takes {:.1} s", length.as_secs_f64());
    println!("| fault | kind | after | end | as before after | trials kept |");
    println!("|---|---|---|---|---|---|");
    let mut rows = Vec::new();
    for number in 0..number("JUMBOLAB_FAULTS", FAULTS) {
        let seed = seed.derive(&format!("fault/{number}"));
        let row = suffer(&mut bed, number, seed, length, &before);
        println!("{row}");
        rows.push(row);
    }
    let late: Vec<String> = rows
        .iter()
        .filter(|row| row.restored > SOON)
        .map(Row::to_string)
        .collect();
    assert!(late.is_empty(), "{late:#?}");
}

/// Lets a run suffer a fault, and resumes it.
fn suffer(bed: &mut Bed, number: u64, seed: Seed, length: Span, before: &[State]) -> Row {
    bed.on_small_disk(&["rm", "-rf", "small/r"]);
    let draw = |name: &str, below: u64| seed.derive(name).get() % below;
    let fault = KINDS[usize::try_from(number).unwrap() % KINDS.len()];
    let hosts = match draw("hosts", 3) {
        2 if fault == Fault::Network => vec!["a", "b"],
        one => vec![["a", "b"][usize::try_from(one).unwrap() % 2]],
    };
    // Before the first tenth no host has an agent, and after the last nothing is changed.
    let tenths = Span::from_nanos(length.as_nanos() / 10);
    let after = tenths + Span::from_nanos(draw("after", tenths.as_nanos() * 8));
    let begun = clock::monotonic();
    let mut child = command(bed, &[]).spawn().unwrap();
    kernel_clock::sleep_until(begun + after);
    let finished = journal(bed);
    let struck = clock::monotonic();
    cause(bed, fault, &hosts, seed, &mut child);
    let output = child.wait_with_output().unwrap();
    let live = |name: &&&str| fault != Fault::Host || **name != hosts[0];
    let all = ["a", "b"].iter().zip(before);
    until(|| {
        all.clone()
            .filter(|(name, _)| live(name))
            .all(|(name, before)| bed.state(name) == *before)
    });
    let restored = since(struck);
    let kept = journal(bed);
    assert!(
        kept.starts_with(&finished),
        "{number}: a finished trial is lost"
    );
    mend(bed, fault, &hosts);
    if output.status.code() == Some(2) {
        let told = said(&output);
        let errors = told.lines().filter(|line| line.starts_with("error: "));
        assert_eq!(errors.count(), 1, "{number}: {told}");
    }
    // Without a folder there is nothing to resume.
    let exists = bed.on_small_disk(&["test", "-e", "small/r/plan.toml"]);
    let resume: &[&str] = if exists { &["--resume"] } else { &[] };
    let resumed = command(bed, resume).output().unwrap();
    assert!(
        matches!(resumed.status.code(), Some(0 | 1)),
        "{number}: {}",
        said(&resumed)
    );
    let all = journal(bed);
    assert!(all.starts_with(&kept), "{number}: resumed");
    assert!(bed.on_small_disk(&["cp", "-r", "small/r", &format!("r{number}")]));
    let (_, _, trials) = Folder::read(&bed.path(&format!("r{number}"))).unwrap();
    assert_eq!(trials.len(), TRIALS, "{number}");
    until(|| states(bed) == before);
    Row {
        number,
        fault,
        hosts: match fault {
            Fault::Controller | Fault::Disk => Vec::new(),
            _ => hosts,
        },
        after,
        status: output.status,
        restored,
        kept: kept.len(),
    }
}

fn cause(bed: &mut Bed, fault: Fault, hosts: &[&'static str], seed: Seed, child: &mut Child) {
    match fault {
        Fault::Network => hosts.iter().for_each(|host| bed.cut(host)),
        Fault::Agent => {
            // A busy machine may not have started one yet, and a quick one has ended it.
            until(|| !bed.agents(hosts[0]).is_empty() || child.try_wait().unwrap().is_some());
            let agents = bed.agents(hosts[0]);
            let one = seed.derive("agent").get() % agents.len().max(1) as u64;
            signal(
                "-9",
                agents
                    .get(usize::try_from(one).unwrap())
                    .copied()
                    .as_slice(),
            );
        }
        Fault::Controller => child.kill().unwrap(),
        Fault::Host => bed.power_off(hosts[0]),
        Fault::Disk => {
            // It ends when the disk is full.
            bed.on_small_disk(&["dd", "if=/dev/zero", "of=small/filler", "bs=512"]);
        }
    }
}

fn mend(bed: &mut Bed, fault: Fault, hosts: &[&'static str]) {
    match fault {
        Fault::Network => hosts.iter().for_each(|host| bed.mend(host)),
        Fault::Disk => assert!(bed.on_small_disk(&["rm", "small/filler"])),
        Fault::Host => bed.boot(hosts[0]),
        Fault::Agent | Fault::Controller => {}
    }
}

/// The run at the controller, whose results are on the small disk.
fn command(bed: &Bed, more: &[&str]) -> std::process::Command {
    let words = [&["run", "f.toml"][..], &HOSTS, &["-o", RESULTS], more].concat();
    let mut command = bed.command(&words);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// The states of both hosts.
fn states(bed: &Bed) -> Vec<State> {
    vec![bed.state("a"), bed.state("b")]
}

/// The whole lines of the journal.
fn journal(bed: &Bed) -> Vec<String> {
    let path = bed.small_disk().join("r/trials.jsonl");
    let text = fs::read_to_string(path).unwrap_or_default();
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole.lines().map(str::to_owned).collect()
}

fn since(begun: Time) -> Span {
    clock::monotonic().since(begun).unwrap()
}
