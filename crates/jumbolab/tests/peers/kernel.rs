//! Kernel links and the machine: the limit of a link, and the detection of
//! other load.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use lab::measurements::Measurements;
use lab::world::netns::Netns;
use live::clock::Epoch;
use plan::Flag;

use crate::{SEED, goodput, median, only_setting};

/// The number of trials of a setting. Other load makes a transfer slower, never
/// faster.
const TRIALS: usize = 5;

/// Long transfers at unusual settings: the median of each reaches 0.97 of the
/// link's limit, because TCP leaves part of the link idle after a loss, and
/// none exceeds 1.002.
pub(crate) fn limits(netns: &mut Netns) -> Result<()> {
    println!(
        "{:>52} {:>9} {:>9} {:>7}",
        "settings", "Mbit/s", "limit", "ratio"
    );
    for settings in [
        &[
            "rate=300mbit",
            "mtu=2345",
            "ip=4",
            "congestion=reno",
            "size=30MB",
            "cpu_size=0",
        ][..],
        &[
            "rate=77mbit",
            "mtu=6000",
            "shape=pair",
            "congestion=bbr",
            "size=15MB",
            "cpu_size=0",
        ],
        &[
            "rate=500mbit",
            "mtu=9000",
            "shape=switched",
            "size=40MB",
            "cpu_size=0",
        ],
        &[
            "rate=50mbit",
            "mtu=1500",
            "protocol=udp",
            "size=10MB",
            "cpu_size=0",
            "message=1400",
        ],
    ] {
        let setting = only_setting(settings)?;
        let mut ratios = Vec::new();
        for _ in 0..TRIALS {
            let (goodput, limit) = goodput(netns, &setting)?;
            let ratio = goodput / limit;
            println!(
                "{:>52} {goodput:>9.2} {limit:>9.2} {ratio:>7.4}",
                settings[..4].join(" ")
            );
            ensure!(ratio <= 1.002, "{settings:?}: {ratio:.4} of the limit");
            ratios.push(ratio);
        }
        let ratio = median(ratios);
        ensure!(
            ratio >= 0.97,
            "{settings:?}: the median of {TRIALS} trials is {ratio:.4} of the limit"
        );
    }
    Ok(())
}

/// Four trials with a busy loop, and four without.
pub(crate) fn disturbance(netns: &mut Netns) -> Result<()> {
    let setting = only_setting(&["mtu=9000", "rate=200mbit", "size=1MB", "cpu_size=5MB"])?;
    let mut trials = |loops: usize| -> Result<Vec<Noticed>> {
        let mut busy = Command::new("sh");
        busy.args(["-c", "while :; do :; done"]);
        let mut busy = (0..loops)
            .map(|_| busy.spawn())
            .collect::<Result<Vec<_>, _>>()?;
        let trials = (0..4).filter_map(|_| netns.measure(&setting, SEED, Epoch::now()).ok());
        let trials = trials
            .map(|measurements| Noticed::of(&measurements))
            .collect();
        for process in &mut busy {
            process.kill()?;
            process.wait()?;
        }
        trials
    };
    let (with, without) = (trials(1)?, trials(0)?);
    println!("beside a busy loop: {with:.2?}\nwithout: {without:.2?}");
    // A loop that has just started may not have a CPU at first.
    let noticed = |trial: &&Noticed| trial.flagged && trial.others > 0.5;
    let noticed = with.iter().filter(noticed).count();
    ensure!(
        with.len() == 4 && noticed >= 3,
        "a busy loop was noticed in {noticed} of {} trials",
        with.len()
    );
    let mistaken = |trial: &&Noticed| trial.others > 0.3 || trial.flagged && trial.stolen < 1.0;
    let mistaken = without.iter().filter(mistaken).count();
    ensure!(
        without.len() == 4 && mistaken <= 1,
        "{mistaken} of {} quiet trials are said to be disturbed, though the hypervisor took nothing",
        without.len()
    );
    Ok(())
}

/// The load by others that a trial detected.
#[derive(Debug)]
struct Noticed {
    /// Whether the trial has the flag `disturbed`.
    flagged: bool,
    /// CPUs used by others.
    others: f64,
    /// The hypervisor's share, in per cent.
    stolen: f64,
}

impl Noticed {
    fn of(measurements: &Measurements) -> Result<Self> {
        let evidence = |key: &str| {
            let value = measurements
                .evidence
                .get(key)
                .and_then(|value| value.as_f64());
            value.with_context(|| format!("no {key}"))
        };
        Ok(Self {
            flagged: measurements.flags.contains(&Flag::Disturbed),
            others: evidence("others_processors")?,
            stolen: evidence("steal_percent")?,
        })
    }
}
