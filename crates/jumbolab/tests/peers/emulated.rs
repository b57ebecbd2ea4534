//! Emulated links against physics.

use anyhow::{Context, Result, ensure};
use lab::experiment::Setting;
use lab::netns::Netns;

use crate::{figures, only_setting};

/// Trials of each setting, of which the earliest message counts: whatever else
/// runs on the machine makes messages later, never earlier.
const TRIALS: usize = 15;

/// How much later than physics asks the earliest message in a single frame may
/// arrive, and the earliest in several: the hosts' own work in an unoptimised
/// build, and processors that have to wake. A frame that is serialised twice
/// is off by more at the slower rates. In microseconds.
const LATEST: [f64; 2] = [300.0, 600.0];

fn setting(settings: &[String]) -> Result<Setting> {
    let common = ["link=emulated", "shape=pair", "ip=4", "cpu_size=0"];
    let all: Vec<&str> = common
        .into_iter()
        .chain(settings.iter().map(String::as_str))
        .collect();
    only_setting(&all)
}

/// A single datagram on an idle link takes its bits over the rate, and the
/// distance; it is never earlier.
pub(crate) fn delays(netns: &mut Netns) -> Result<()> {
    println!(
        "{:>9} {:>6} {:>12} {:>11} {:>9}",
        "rate", "octets", "physics ms", "earliest us", "median us"
    );
    for megabits in [10, 37, 100, 1000] {
        // Frames of 98, 1514 and 9014 octets, with FCS, preamble and gap; and
        // a datagram in seven fragments, six of 9014 octets and one of 6186.
        for (message, wire) in [(56, 122), (1472, 1538), (8972, 9038), (60_000, 60_414)] {
            let setting = setting(&[
                format!("rate={megabits}mbit"),
                format!("message={message}"),
                format!("size={message}"),
                "protocol=udp".into(),
                "mtu=9000".into(),
                "preroll=0".into(),
                "network.delay=1ms".into(),
            ])?;
            let physics = 1.0 + f64::from(wire) * 8.0 / (f64::from(megabits) * 1e3);
            let mut later = Vec::new();
            for _ in 0..TRIALS {
                let figures = figures(netns, &setting)?;
                let delay = figures.metrics.get("delay").context("no delay")?;
                later.push((delay - physics) * 1e3);
            }
            later.sort_by(f64::total_cmp);
            let (earliest, median) = (later[0], later[TRIALS / 2]);
            println!(
                "{megabits:>4} Mb/s {message:>6} {physics:>12.4} {earliest:>11.1} {median:>9.1}"
            );
            ensure!(
                earliest > -1.0,
                "{:.1} us earlier than physics allows",
                -earliest
            );
            ensure!(
                earliest < LATEST[usize::from(message > 9_000)],
                "{earliest:.1} us later than physics asks"
            );
        }
    }
    Ok(())
}

/// TCP carries what the frames leave of the rate, and no more.
pub(crate) fn goodput(netns: &mut Netns) -> Result<()> {
    for (megabits, mtu) in [(20, 1500), (100, 1500), (100, 9000), (333, 9000)] {
        let setting = setting(&[
            format!("rate={megabits}mbit"),
            format!("mtu={mtu}"),
            "ip=6".into(),
            "size=10MB".into(),
        ])?;
        let figures = figures(netns, &setting)?;
        let goodput = figures.metrics["throughput"];
        let limit = f64::from(megabits * (mtu - 72)) / f64::from(mtu + 38);
        println!("{megabits:>4} Mb/s MTU {mtu}: {goodput:.2} of {limit:.2} Mbit/s");
        let ratio = goodput / limit;
        ensure!((0.99..=1.002).contains(&ratio), "{ratio:.4} of the limit");
    }
    Ok(())
}

/// Of twenty thousand datagrams a hundredth is lost, by chance.
pub(crate) fn loss(netns: &mut Netns) -> Result<()> {
    let setting = setting(&[
        "rate=100mbit".into(),
        "mtu=1500".into(),
        "protocol=udp".into(),
        "message=200".into(),
        "size=4MB".into(),
        "buffer=1MB".into(),
        "preroll=0".into(),
        "network.loss=1%".into(),
    ])?;
    let figures = figures(netns, &setting)?;
    let percent = figures.metrics["loss"];
    println!("loss of 1 %: {percent:.3} % of 20000");
    // The 99 % interval is 2.576 * sqrt(0.01 * 0.99 / 20000).
    ensure!((percent - 1.0).abs() < 0.182, "{percent} % were lost");
    Ok(())
}
