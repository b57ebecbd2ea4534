//! Compares sizes and gaps of the presets and of the distributions with those of the real D-ITG,
//! by the two-sample test of Kolmogorov and Smirnov.
//!
//! D-ITG's are those of its sender's logs: the times at which it sent, which include its late
//! wakeups. Ours are the drawn ones, because a test of loopback shows that what is drawn leaves
//! and arrives (`cli/traffic/delivered.rs`).

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use backends::backend::netns::Netns;
use keyfile::Section;
use os::clock;
use traffic::flows::flow;
use units::{Seed, Span, Time};

/// How long each flow of D-ITG lasts, in milliseconds.
const LENGTH: &str = "90000";

/// The values that are drawn of ours.
const DRAWN: usize = 20_000;

/// The level of each comparison: one in ten thousand fails by chance.
const LEVEL: f64 = 1e-4;

/// The difference between distributions with which late wakeups of D-ITG are put up with, in
/// gaps.
const NOISE: f64 = 0.05;

/// D-ITG sends no fewer bytes, or a few less.
const LEAST: f64 = 20.0;

/// Flows of D-ITG with these options, and of ours.
struct Pair {
    theirs: &'static str,
    ours: &'static [(&'static str, &'static str)],
    /// How many flows of D-ITG are taken together.
    flows: usize,
    /// The grid to which gaps are rounded, in milliseconds: narrower ones are those of the
    /// machine.
    grid: f64,
    /// Bytes that D-ITG sends and that its log does not count.
    hidden: f64,
    /// The distribution of rates, in messages per second, of which gaps are the inverse.
    rates: Option<&'static str>,
}

const PAIR: Pair = Pair {
    theirs: "",
    ours: &[],
    flows: 1,
    grid: 0.1,
    hidden: 0.0,
    rates: None,
};

/// A call, without and with D-ITG's voice activity detection, which makes packets smaller.
macro_rules! call {
    ($codec:literal, $name:literal, $vad:literal, $crtp_vad:literal) => {
        [
            Pair {
                theirs: concat!("-T UDP VoIP -x ", $codec, " -h RTP"),
                ours: &[("preset", concat!("voip-", $name))],
                grid: 5.0,
                ..PAIR
            },
            Pair {
                theirs: concat!("-T UDP VoIP -x ", $codec, " -h CRTP"),
                ours: &[("preset", concat!("voip-", $name, "-crtp"))],
                grid: 5.0,
                ..PAIR
            },
            Pair {
                theirs: concat!("-T UDP VoIP -x ", $codec, " -h RTP -VAD"),
                ours: &[("preset", concat!("voip-", $name)), ("message", $vad)],
                grid: 5.0,
                ..PAIR
            },
            Pair {
                theirs: concat!("-T UDP VoIP -x ", $codec, " -h CRTP -VAD"),
                ours: &[
                    ("preset", concat!("voip-", $name, "-crtp")),
                    ("message", $crtp_vad),
                ],
                grid: 5.0,
                ..PAIR
            },
        ]
    };
}

fn pairs() -> Vec<Pair> {
    let law = |theirs, ours| Pair {
        theirs,
        ours,
        ..PAIR
    };
    let applications = [
        Pair {
            theirs: "-T TCP Telnet",
            ours: &[("preset", "telnet")],
            hidden: 20.0,
            ..PAIR
        },
        Pair {
            theirs: "-T UDP DNS",
            ours: &[("preset", "dns")],
            flows: 40,
            grid: 10.0,
            ..PAIR
        },
        Pair {
            theirs: "-T UDP Quake3",
            ours: &[("preset", "quake3")],
            grid: 1.0,
            ..PAIR
        },
        Pair {
            theirs: "-T UDP CSa",
            ours: &[("preset", "counter-strike-active")],
            grid: 5.0,
            ..PAIR
        },
        Pair {
            theirs: "-T UDP CSi",
            ours: &[("preset", "counter-strike-idle")],
            grid: 5.0,
            ..PAIR
        },
    ];
    let laws = [
        Pair {
            theirs: "-T UDP -C 100 -c 512",
            ours: &[("gap", "10ms"), ("message", "512")],
            grid: 5.0,
            ..PAIR
        },
        law(
            "-T UDP -U 50 200 -u 100 1000",
            &[("gap", "uniform:5ms,20ms"), ("message", "uniform:100,1000")],
        ),
        law(
            "-T UDP -E 100 -e 500",
            &[("gap", "exponential:10ms"), ("message", "exponential:500")],
        ),
        law(
            "-T UDP -N 10 2 -n 500 50",
            &[("gap", "normal:10ms,2ms"), ("message", "normal:500,50")],
        ),
        // It draws rates, where its manual lets one expect gaps.
        Pair {
            theirs: "-T UDP -O 100 -o 500",
            ours: &[("message", "poisson:500")],
            rates: Some("poisson:100"),
            ..PAIR
        },
        law(
            "-T UDP -V 3 6 -v 3 200",
            &[("gap", "pareto:3,6ms"), ("message", "pareto:3,200")],
        ),
        law(
            "-T UDP -Y 10 1 -y 500 20",
            &[("gap", "cauchy:10ms,1ms"), ("message", "cauchy:500,20")],
        ),
        law(
            "-T UDP -G 2 5 -g 2 250",
            &[("gap", "gamma:2,5ms"), ("message", "gamma:2,250")],
        ),
        // It takes the scale first, and its manual says the shape.
        law(
            "-T UDP -W 10 1.5 -w 500 1.5",
            &[("gap", "weibull:1.5,10ms"), ("message", "weibull:1.5,500")],
        ),
    ];
    let calls = [
        call!("G.711.1", "g711-1", "64", "54"),
        call!("G.711.2", "g711-2", "116", "106"),
        call!("G.729.2", "g729-2", "25", "20"),
        call!("G.729.3", "g729-3", "31", "21"),
        call!("G.723.1", "g723-1", "31", "21"),
    ];
    let calls = calls.into_iter().flatten();
    applications.into_iter().chain(laws).chain(calls).collect()
}

/// Sizes in bytes and gaps in milliseconds.
#[derive(Default)]
struct Sample {
    sizes: Vec<f64>,
    gaps: Vec<f64>,
}

pub(super) fn are_those_of_d_itg(_: &mut Netns) -> Result<()> {
    let folder = tempfile::tempdir()?;
    // Without it the namespace has no way to itself.
    let _ = Command::new("ip")
        .args(["link", "set", "lo", "up"])
        .status();
    let mut receiver = peer(folder.path(), "timeout -s INT 150 ITGRecv")?;
    let started = clock::monotonic();
    while os::listeners() == 0 {
        let waited = clock::monotonic().since(started);
        ensure!(
            waited < Some(Span::from_secs(30)),
            "ITGRecv does not listen"
        );
        clock::sleep(Span::from_millis(10));
    }
    let pairs = pairs();
    let mut senders: Vec<Vec<(String, Child)>> = Vec::new();
    let mut number = 0;
    for pair in &pairs {
        let mut of_pair = Vec::new();
        for _ in 0..pair.flows {
            number += 1;
            let (log, port) = (format!("{number}.log"), 10_000 + number);
            let line = format!(
                "timeout 140 ITGSend -a 127.0.0.1 -rp {port} -t {LENGTH} -s 0.{number} -l {log} {}",
                pair.theirs
            );
            of_pair.push((log, peer(folder.path(), &line)?));
        }
        senders.push(of_pair);
    }
    println!(
        "{:<36} {:>6} {:>8} {:>8} {:>7} {:>8} {:>8} {:>7} {:>7}",
        "D-ITG", "n", "bytes", "ours", "D", "gap ms", "ours", "D", "limit"
    );
    let mut late = None;
    let mut rows = Vec::new();
    for (pair, logs) in pairs.iter().zip(senders) {
        let mut theirs = Sample::default();
        for (log, mut sender) in logs {
            sender.wait()?;
            theirs.add(folder.path(), &log)?;
        }
        if pair.theirs.starts_with("-T UDP -C 100") {
            late = Some(median(&theirs.gaps) - 10.0);
        }
        rows.push((pair, theirs));
    }
    receiver.kill()?;
    receiver.wait()?;
    // What a wakeup of its takes too long.
    let late = late.context("no flow with constant gaps")?;
    let mut different = Vec::new();
    for (pair, mut theirs) in rows {
        theirs
            .sizes
            .iter_mut()
            .for_each(|size| *size = (*size + pair.hidden).max(LEAST));
        theirs
            .gaps
            .iter_mut()
            .for_each(|gap| *gap = f64::max(*gap - late, 0.0));
        let mut ours = drawn(pair)?;
        let limit = limit(theirs.sizes.len(), DRAWN);
        let means = [&theirs.sizes, &ours.sizes].map(|sizes| mean(sizes));
        let medians = [&theirs.gaps, &ours.gaps].map(|gaps| median(gaps));
        for sample in [&mut theirs, &mut ours] {
            let rounded = |gap: &mut f64| *gap = (*gap / pair.grid).round();
            sample.gaps.iter_mut().for_each(rounded);
        }
        let sizes = statistic(&mut theirs.sizes, &mut ours.sizes);
        let gaps = statistic(&mut theirs.gaps, &mut ours.gaps);
        println!(
            "{:<36} {:>6} {:>8.2} {:>8.2} {sizes:>7.4} {:>8.3} {:>8.3} {gaps:>7.4} {limit:>7.4}",
            pair.theirs,
            theirs.sizes.len(),
            means[0],
            means[1],
            medians[0],
            medians[1]
        );
        if sizes > limit || gaps > limit + NOISE {
            different.push(pair.theirs);
        }
    }
    println!("D-ITG woke up {late:.3} ms late in the median, which its gaps are less here");
    ensure!(different.is_empty(), "different: {different:?}");
    Ok(())
}

/// Starts a program of D-ITG.
fn peer(folder: &Path, line: &str) -> Result<Child> {
    let mut words = line.split(' ');
    let program = words.next().context("an empty line")?;
    let mut command = Command::new(program);
    command
        .args(words)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().with_context(|| format!("starting {line}"))
}

impl Sample {
    /// Adds what a log of D-ITG's sender holds.
    fn add(&mut self, folder: &Path, log: &str) -> Result<()> {
        let rows = Command::new(env!("CARGO_BIN_EXE_jumbolab"))
            .args(["decode", log, "--packets", "--csv"])
            .current_dir(folder)
            .output()?;
        let text = String::from_utf8_lossy(&rows.stdout).into_owned();
        let mut before = None;
        for line in text.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let cell = |place: usize| -> Result<f64> {
                let cell = cells.get(place).context("a row of the table is short")?;
                cell.parse().with_context(|| format!("{log}: {line}"))
            };
            let (sent, size) = (cell(4)? / 1e6, cell(7)?);
            self.sizes.push(size);
            self.gaps.extend(before.map(|before| sent - before));
            before = Some(sent);
        }
        ensure!(
            before.is_some(),
            "D-ITG sent nothing to {log}; as root type: apt-get install d-itg"
        );
        Ok(())
    }
}

/// The sizes and gaps of this program.
fn drawn(pair: &Pair) -> Result<Sample> {
    let mut sample = sample_of(pair.ours)?;
    if let Some(rates) = pair.rates {
        let rates = sample_of(&[("message", rates)])?.sizes;
        sample.gaps = rates.iter().map(|rate| 1e3 / rate).collect();
    }
    sample
        .sizes
        .iter_mut()
        .for_each(|size| *size = size.max(LEAST));
    Ok(sample)
}

/// The messages of a flow with these keys.
fn sample_of(written: &[(&str, &str)]) -> Result<Sample> {
    let mut keys = Section::default();
    for (key, value) in written {
        keys.option(key, value);
    }
    keys.option("packets", &DRAWN.to_string());
    let flow = flow("flow", &keys, IpAddr::V4(Ipv4Addr::LOCALHOST), Seed::new(1))?;
    let mut sample = Sample::default();
    let mut before = Time::ZERO;
    for (at, size) in flow.schedule {
        let gap = at.since(before).unwrap_or_default();
        sample.sizes.push(size.get() as f64);
        sample.gaps.push(gap.as_secs_f64() * 1e3);
        before = at;
    }
    Ok(sample)
}

/// The largest difference of two distribution functions.
fn statistic(one: &mut [f64], other: &mut [f64]) -> f64 {
    one.sort_by(f64::total_cmp);
    other.sort_by(f64::total_cmp);
    let below = |values: &[f64], value: f64| {
        values.partition_point(|one| *one <= value) as f64 / values.len() as f64
    };
    let all = one.iter().chain(&*other);
    all.map(|value| (below(one, *value) - below(other, *value)).abs())
        .fold(0.0, f64::max)
}

/// The statistic that equal distributions exceed with a chance of [`LEVEL`] [Smirnov1948]; less
/// often if values are discrete.
fn limit(one: usize, other: usize) -> f64 {
    let [one, other] = [one, other].map(|count| count as f64);
    (-(LEVEL / 2.0).ln() / 2.0 * (one + other) / (one * other)).sqrt()
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
