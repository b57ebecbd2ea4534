//! Compares the real D-ITG with flows that imitate it, in the same namespaces.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, ensure};
use backends::backend::netns::Netns;
use experiment::Experiment;
use plan::Backend;
use plan::Setting;

use crate::{SEED, judged, mean};

/// The requested messages per second, as in the 2017 study [Supriyanto2017 s3].
const ASKED: f64 = 100_000.0;

/// The number of rounds of each, in turn.
const ROUNDS: usize = 3;

/// The maximum number of attempts of a sender to reach its receiver.
const MOST_TRIES: usize = 200;

/// The result of one of them: messages per second, and the mean delay in
/// milliseconds.
struct RateAndDelay {
    rate: f64,
    delay: f64,
}

/// Neither reaches 100 000 messages per second of 1500 bytes, and both agree
/// within a factor of two, since the length of a sleep depends on the load of
/// the machine in those seconds.
pub(super) fn rate(netns: &mut Netns) -> Result<()> {
    println!(
        "{:>10} {:>12} {:>12} {:>12}",
        "", "D-ITG", "as D-ITG", "polling"
    );
    let [as_ditg, polling] = ["ditg", "polling"].map(setting);
    let (as_ditg, polling) = (as_ditg?, polling?);
    let mut came: [Vec<RateAndDelay>; 3] = Default::default();
    for _ in 0..ROUNDS {
        came[0].push(theirs(netns, &polling)?);
        came[1].push(ours(netns, &as_ditg)?);
        came[2].push(ours(netns, &polling)?);
    }
    let of = |what: fn(&RateAndDelay) -> f64| {
        came.each_ref()
            .map(|rounds| mean(&rounds.iter().map(what).collect::<Vec<_>>()))
    };
    let ([theirs, like, polling], delays) = (of(|came| came.rate), of(|came| came.delay));
    println!(
        "{:>10} {theirs:>12.0} {like:>12.0} {polling:>12.0}",
        "messages/s"
    );
    let [first, second, third] = delays;
    println!(
        "{:>10} {first:>12.3} {second:>12.3} {third:>12.3}",
        "delay, ms"
    );
    ensure!(
        theirs < 0.5 * ASKED,
        "D-ITG sends {theirs:.0} messages a second of {ASKED}: it holds its rate here"
    );
    let ratio = like / theirs;
    ensure!(
        (0.5..2.0).contains(&ratio),
        "as D-ITG {like:.0} messages a second, D-ITG {theirs:.0}"
    );
    Ok(())
}

fn setting(generator: &str) -> Result<Setting> {
    let mut experiment = Experiment::load("jumbogram-ditg")?;
    let generator = format!("generator={generator}");
    for set in [
        &generator,
        "size=1500",
        "mtu=1500",
        "send_buffer=auto",
        "duration=2s",
    ] {
        experiment.set(set)?;
    }
    let plan = backends::backend::plan(experiment, Backend::Netns)?;
    let cell = plan.cells.into_iter().next();
    let cell = cell.context("the plan has no cell")?;
    cell.setting.map_err(|why| anyhow!(why))
}

fn ours(netns: &mut Netns, setting: &Setting) -> Result<RateAndDelay> {
    judged(netns, setting, SEED, |measurements| {
        let metric = |name: &'static str| measurements.metrics.get(name).copied().context(name);
        Ok(RateAndDelay {
            rate: metric("sent_rate")? * 1e6 / 8.0 / 1500.0,
            delay: metric("latency_ditg")?,
        })
    })
}

fn theirs(netns: &mut Netns, setting: &Setting) -> Result<RateAndDelay> {
    let folder = tempfile::tempdir()?;
    let log = folder.path().join("received.log");
    // It serves until it is interrupted.
    let words = ["-s", "INT", "5", "ITGRecv", "-l", "received.log"];
    let mut receiver = peer(folder.path(), &words);
    let address = netns.place(setting, "receiver", &mut receiver)?;
    let mut receiver = receiver.spawn().context("starting ITGRecv")?;
    let address = address.to_string();
    let words = [
        "20", "ITGSend", "-a", &address, "-T", "TCP", "-C", "100000", "-c", "1500", "-t", "2000",
    ];
    // It fails at once if the receiver does not listen yet.
    for _ in 0..MOST_TRIES {
        let mut sender = peer(folder.path(), &words);
        netns.place(setting, "sender", &mut sender)?;
        if sender.status()?.success() {
            break;
        }
    }
    receiver.wait()?;
    let decoded = Command::new("ITGDec").arg(&log).output();
    let decoded = decoded.context("starting ITGDec; as root type: apt-get install d-itg")?;
    let text = String::from_utf8_lossy(&decoded.stdout).into_owned();
    let number = |label: &str| -> Result<f64> {
        let line = text.lines().find(|line| line.starts_with(label));
        let line = line.with_context(|| format!("ITGDec says nothing of {label}"))?;
        let word = line.split('=').nth(1);
        let word = word.and_then(|rest| rest.split_whitespace().next());
        Ok(word.context("no figure")?.parse()?)
    };
    Ok(RateAndDelay {
        rate: number("Average packet rate")?,
        delay: number("Average delay")? * 1e3,
    })
}

/// A peer that `timeout` ends if it does not end by itself; the first words are
/// for `timeout`.
fn peer(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new("timeout");
    command
        .args(words)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}
