//! Kernel links and the machine: the limit of a link, and other work on the
//! processors.

use std::process::Command;

use anyhow::{Result, ensure};
use lab::certificate::Flag;
use lab::netns::Netns;
use live::clock::Epoch;

use crate::{LUCK, goodput, only_setting};

/// Long transfers at odd settings: 0.97 to 1.002 of what the link carries.
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
        for _ in 0..3 {
            let (goodput, limit) = goodput(netns, &setting)?;
            let ratio = goodput / limit;
            println!(
                "{:>52} {goodput:>9.2} {limit:>9.2} {ratio:>7.4}",
                settings[..4].join(" ")
            );
            ensure!(
                (0.97..=1.002).contains(&ratio),
                "{settings:?}: {ratio:.4} of the limit"
            );
        }
    }
    Ok(())
}

/// Four trials beside a busy loop, and four without one.
pub(crate) fn disturbance(netns: &mut Netns) -> Result<()> {
    let setting = only_setting(&["mtu=9000", "rate=200mbit", "size=1MB", "cpu_size=5MB"])?;
    let mut flagged = |loops: usize| -> Result<usize> {
        let mut busy = Command::new("sh");
        busy.args(["-c", "while :; do :; done"]);
        let mut busy = (0..loops)
            .map(|_| busy.spawn())
            .collect::<Result<Vec<_>, _>>()?;
        let flagged = (0..4).filter_map(|_| netns.measure(&setting, LUCK, Epoch::now()).ok());
        let flagged = flagged.filter(|figures| figures.flags.contains(&Flag::Disturbed));
        let flagged = flagged.count();
        for process in &mut busy {
            process.kill()?;
            process.wait()?;
        }
        Ok(flagged)
    };
    let (with, without) = (flagged(1)?, flagged(0)?);
    println!("disturbed: {with} of 4 trials beside a busy loop, {without} of 4 without");
    ensure!(
        with == 4,
        "a busy loop was noticed in {with} of 4 trials only"
    );
    ensure!(
        without <= 1,
        "{without} of 4 quiet trials are said to be disturbed"
    );
    Ok(())
}
