//! Kernel links and the machine: the limit of a link, and the detection of
//! other load.

use std::process::Command;

use anyhow::{Context, Result, anyhow, bail, ensure};
use backends::backend::netns::{Failure, Netns};
use os::clock::Epoch;
use plan::{Flag, Setting, evidence};

use crate::others::Others;
use crate::undisturbed::until_undisturbed;
use crate::{ATTEMPTS, SEED, most, only_setting, share_of_limit};

/// The number of trials of a setting. Other load makes a transfer slower, never
/// faster.
const TRIALS: usize = 3;

/// Long transfers at unusual settings: the median of each reaches 0.97 of the
/// link's limit, because TCP leaves part of the link idle after a loss, and
/// none exceeds 1.002.
pub(crate) fn limits(netns: &mut Netns) -> Result<()> {
    for settings in [
        &[
            "rate=300mbit",
            "mtu=2345",
            "ip=4",
            "congestion=reno",
            "size=30MB",
            "cpu_bytes=0",
        ][..],
        &[
            "rate=77mbit",
            "mtu=6000",
            "shape=pair",
            "congestion=bbr",
            "size=15MB",
            "cpu_bytes=0",
        ],
        &[
            "rate=500mbit",
            "mtu=9000",
            "shape=switched",
            "size=40MB",
            "cpu_bytes=0",
        ],
        &[
            "rate=50mbit",
            "mtu=1500",
            "protocol=udp",
            "size=10MB",
            "cpu_bytes=0",
            "message=1400",
        ],
    ] {
        let setting = only_setting(settings)?;
        println!("{}:", settings[..4].join(" "));
        let reached = most(
            TRIALS,
            || Ok(share_of_limit(netns, &setting, None)? >= 0.97),
        );
        ensure!(
            reached.with_context(|| format!("{settings:?}"))?,
            "{settings:?}: the median of {TRIALS} trials is below 0.97 of the limit"
        );
    }
    Ok(())
}

/// Four trials with a busy loop, and four without.
pub(crate) fn disturbance(netns: &mut Netns) -> Result<()> {
    let setting = only_setting(&["mtu=9000", "rate=200mbit", "size=1MB", "cpu_bytes=5MB"])?;
    let mut busy = Command::new("sh");
    busy.args(["-c", "while :; do :; done"]);
    let mut busy = busy.spawn()?;
    let with: Result<Vec<_>> = (0..4).map(|_| Noticed::by(netns, &setting)).collect();
    busy.kill()?;
    busy.wait()?;
    let with = with?;
    println!("beside a busy loop: {with:.2?}");
    // A loop that has just started may not have a CPU at first.
    let noticed = |trial: &&Noticed| trial.flagged && trial.others > 0.5;
    let noticed = with.iter().filter(noticed).count();
    ensure!(
        noticed >= 3,
        "a busy loop was noticed in {noticed} of 4 trials"
    );
    let mut mistaken = 0;
    for _ in 0..4 {
        mistaken += usize::from(is_mistaken(netns, &setting)?);
    }
    ensure!(
        mistaken <= 1,
        "{mistaken} of 4 quiet trials are said to be disturbed"
    );
    Ok(())
}

/// Whether a trial on a quiet machine is said to be disturbed. An attempt is
/// discarded if it is, and processes that are not ours used the CPUs by the
/// kernel's accounts of all processes, which the program does not read.
fn is_mistaken(netns: &mut Netns, setting: &Setting) -> Result<bool> {
    until_undisturbed("a quiet trial", ATTEMPTS, || {
        let mut attempt = || -> Result<_> {
            let others = Others::now()?;
            let trial = Noticed::by(netns, setting)?;
            println!("without: {trial:.2?}");
            let mistaken = trial.flagged || trial.others > 0.3;
            let disturbed = if mistaken { others.disturbed()? } else { None };
            Ok((mistaken, disturbed))
        };
        match attempt() {
            Ok((_, Some(disturbed))) => Err(disturbed),
            Ok((mistaken, None)) => Ok(Ok(mistaken)),
            Err(error) => Ok(Err(error)),
        }
    })
    .map_err(|why| anyhow!(why))?
}

/// The load by others that a trial detected.
#[derive(Debug)]
struct Noticed {
    /// Whether the trial has the flag `disturbed`.
    flagged: bool,
    /// CPUs used by others.
    others: f64,
}

impl Noticed {
    fn by(netns: &mut Netns, setting: &Setting) -> Result<Self> {
        let measurements = match netns.measure(setting, SEED, Epoch::now()) {
            Ok(measurements) => measurements,
            Err(Failure::Disturbed(why) | Failure::Transfer(why)) => bail!(why),
            Err(Failure::Lost(error)) => return Err(error),
        };
        let others = measurements.evidence.get(evidence::OTHERS_PROCESSORS);
        Ok(Self {
            flagged: measurements.flags.contains(&Flag::Disturbed),
            others: others.context("no load of others")?,
        })
    }
}
