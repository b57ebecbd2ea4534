//! Emulated links agree with physical limits.

use anyhow::{Context, Result, ensure};
use backends::backend::netns::Netns;
use os::clock::Epoch;
use plan::{Setting, evidence};
use units::Seed;

use crate::{SEED, judged, measurements, metric, most, only_setting, share_of_limit};

/// The number of trials of each setting, of which the earliest message counts:
/// other load makes messages later, never earlier.
const TRIALS: usize = 15;

/// The allowed timing error of the earliest message in a single frame and in
/// several, in microseconds. It covers the processing of hosts in an
/// unoptimised build, and the wake-up of CPUs. A frame that is serialised twice
/// exceeds it at the slower rates.
const LATEST: [f64; 2] = [300.0, 600.0];

fn setting(settings: &[String]) -> Result<Setting> {
    let common = ["link=emulated", "shape=pair", "ip=4", "cpu_bytes=0"];
    let all: Vec<&str> = common
        .into_iter()
        .chain(settings.iter().map(String::as_str))
        .collect();
    only_setting(&all)
}

/// A single datagram on an idle link takes its transmission and propagation
/// time, never less.
pub(crate) fn delays(netns: &mut Netns) -> Result<()> {
    println!(
        "{:>9} {:>6} {:>12} {:>11} {:>9}",
        "rate", "bytes", "physics ms", "earliest us", "median us"
    );
    for megabits in [10, 37, 100, 1000] {
        // Frames of 98, 1514 and 9014 bytes, with FCS, preamble and gap; and
        // a datagram in seven fragments, six of 9014 bytes and one of 6186.
        for (message, wire) in [(56, 122), (1472, 1538), (8972, 9038), (60_000, 60_414)] {
            let setting = setting(&[
                format!("rate={megabits}mbit"),
                format!("message={message}"),
                format!("size={message}"),
                "protocol=udp".into(),
                "mtu=9000".into(),
                "warmup=0".into(),
                "network.delay=1ms".into(),
            ])?;
            let physics = 1.0 + f64::from(wire) * 8.0 / (f64::from(megabits) * 1e3);
            let (earliest, median) = later(netns, &setting, physics)?;
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

/// The difference in microseconds between the delays of some trials and
/// `physics` (in milliseconds): the earliest, and the median.
fn later(netns: &mut Netns, setting: &Setting, physics: f64) -> Result<(f64, f64)> {
    let mut later = Vec::new();
    for _ in 0..TRIALS {
        let delay = metric(netns, setting, SEED, "delay")?;
        later.push((delay - physics) * 1e3);
    }
    later.sort_by(f64::total_cmp);
    Ok((later[0], later[TRIALS / 2]))
}

/// A datagram behind Poisson traffic of half the rate waits on average for half
/// the transmission time of such a frame (M/D/1) [Kleinrock1975 ch 5], and no
/// datagram arrives earlier than on an idle link. Each trial has a control with
/// the same arrivals of the shortest frames, behind which the wait is
/// 0.0008 of that time: both wake equally idle processors.
pub(crate) fn cross_traffic(netns: &mut Netns) -> Result<()> {
    const PAIRS: usize = 200;
    /// The bound on the waits that are hidden, in transmission times: while a
    /// processor takes 0.6 ms to wake, a frame that waits for less is no later.
    /// At 5 Mbit/s a frame takes 2.5 ms, and half of them do not wait.
    const HIDDEN: f64 = 0.12;
    // Frames of full size fill half of 5 Mbit/s; the shortest take 84 bytes
    // of the wire.
    const WIRE: f64 = 1_538.0;
    const SHORTEST: f64 = 84.0;
    let load = |bytes: f64| format!("{:.0}bit", 2.5e6 * bytes / WIRE);
    let [shortest, full] = [(46, SHORTEST), (1_500, WIRE)].map(|(size, bytes)| {
        setting(&[
            "rate=5mbit".into(),
            "mtu=1500".into(),
            "protocol=udp".into(),
            "message=56".into(),
            "size=56".into(),
            "warmup=0".into(),
            "traffic.echo=off".into(),
            "buffer=5MB".into(),
            format!("links.sender-receiver.cross.load={}", load(bytes)),
            format!("links.sender-receiver.cross.size={size}"),
        ])
    });
    let (shortest, full) = (shortest?, full?);
    let transmission = WIRE * 8.0 / 5e3;
    let physics = 122.0 * 8.0 / 5e3;
    let mut waits = Vec::new();
    for pair in 0..PAIRS {
        // Equal seeds would yield equal arrivals.
        let seed = Seed::new(pair as u64);
        let [control, delay] = [&shortest, &full]
            .map(|setting| -> Result<f64> { metric(netns, setting, seed, "delay") });
        let (control, delay) = (control?, delay?);
        ensure!(
            delay.min(control) > physics - 1e-3,
            "{delay} ms, behind shortest frames {control} ms: earlier than physics allows"
        );
        waits.push((delay - control) / transmission);
    }
    let count = PAIRS as f64;
    let mean = waits.iter().sum::<f64>() / count;
    let square = |wait: &f64| (wait - mean).powi(2);
    let error = (waits.iter().map(square).sum::<f64>() / (count - 1.0) / count).sqrt();
    println!(
        "behind half a load: {mean:.3} ± {:.3} transmission times, theory 0.5",
        2.576 * error
    );
    ensure!(
        (mean - 0.5).abs() < 2.576 * error + HIDDEN,
        "{mean:.3} transmission times are not half of one, standard error {error:.3}"
    );
    Ok(())
}

/// A megabyte of whole echoes of 65 kB, one at a time, takes the transmission
/// time of both directions including framing, and not less.
pub(crate) fn echoes(netns: &mut Netns) -> Result<()> {
    const ECHOES: f64 = 16.0;
    /// The hosts' share of an echo in an unoptimised build, in milliseconds:
    /// two ends that wake twice, slow start, and acknowledgements.
    const HOSTS: f64 = 2.0;
    for (protocol, mtu, headers) in [
        ("tcp", 1500, 52),
        ("tcp", 9000, 52),
        ("udp", 1500, 20),
        ("udp", 9000, 20),
    ] {
        let setting = setting(&[
            "rate=1gbit".into(),
            format!("mtu={mtu}"),
            format!("protocol={protocol}"),
            "message=65000".into(),
            "size=1040kB".into(),
            "warmup=0".into(),
            "traffic.echo=whole".into(),
        ])?;
        // Headers of IPv4 and TCP with timestamps; with UDP a header in the
        // first fragment, and fragments in steps of eight bytes.
        let payload = if protocol == "tcp" {
            mtu - headers
        } else {
            (mtu - headers) / 8 * 8
        };
        let bytes = if protocol == "tcp" { 65_000 } else { 65_008 };
        let packets = (bytes + payload - 1) / payload;
        let wire = bytes + packets * (headers + 38);
        let physics = ECHOES * 2.0 * f64::from(wire) * 8.0 / 1e6;
        let mut took = Vec::new();
        for _ in 0..TRIALS {
            let echo_time = metric(netns, &setting, SEED, "echo_time");
            took.push(echo_time.context("an echo was lost")?);
        }
        took.sort_by(f64::total_cmp);
        let (least, median) = (took[0], took[TRIALS / 2]);
        println!(
            "{protocol} MTU {mtu}: {least:.2} ms, median {median:.2} ms, physics {physics:.2} ms"
        );
        // The first write may be some microseconds later than the noted
        // time.
        ensure!(
            least > physics - 1e-3,
            "{least} ms is less than physics asks"
        );
        ensure!(
            least < physics + ECHOES * HOSTS,
            "{least} ms is far from physics"
        );
    }
    Ok(())
}

/// The number of transfers for each rate and MTU, of which the median counts.
const GOODPUTS: usize = 3;

/// TCP reaches the rate after framing, and not more. Other load makes it
/// slower, never faster: an empty queue for 10 ms, the emulator's maximum
/// timing error, is 1 % of a transfer of a second.
pub(crate) fn goodput(netns: &mut Netns) -> Result<()> {
    for (megabits, mtu) in [(20, 1500), (100, 1500), (100, 9000), (333, 9000)] {
        let setting = setting(&[
            format!("rate={megabits}mbit"),
            format!("mtu={mtu}"),
            "ip=6".into(),
            "size=10MB".into(),
        ])?;
        let limit = f64::from(megabits * (mtu - 72)) / f64::from(mtu + 38);
        let reached = most(GOODPUTS, || {
            Ok(share_of_limit(netns, &setting, Some(limit))? >= 0.98)
        })?;
        ensure!(reached, "the median is below 0.98 of the limit");
    }
    Ok(())
}

/// One hundredth of twenty thousand datagrams is lost at random. At this rate nearly
/// ten thousand frames a second pass, which two slow processors carry in time.
pub(crate) fn loss(netns: &mut Netns) -> Result<()> {
    let setting = setting(&[
        "rate=20mbit".into(),
        "mtu=1500".into(),
        "protocol=udp".into(),
        "message=200".into(),
        "size=4MB".into(),
        "buffer=1MB".into(),
        "warmup=0".into(),
        "network.loss=1%".into(),
    ])?;
    judged(netns, &setting, SEED, |measurements| {
        let percent = *measurements.metrics.get("loss").context("no loss")?;
        println!("loss of 1 %: {percent:.3} % of 20000");
        // The 99 % interval is 2.576 * sqrt(0.01 * 0.99 / 20000). A host that
        // has no CPU drops datagrams, too.
        ensure!((percent - 1.0).abs() < 0.182, "{percent} % were lost");
        Ok(())
    })
}

/// Through three switches at 10 Mbit/s a datagram takes its transmission time
/// once, and that of the header three times more.
pub(crate) fn cut_through(netns: &mut Netns) -> Result<()> {
    for message in [56, 8972] {
        let setting = setting(&[
            "shape=switched".into(),
            "network.devices=3".into(),
            "network.cut_through=on".into(),
            "rate=10mbit".into(),
            "mtu=9000".into(),
            "protocol=udp".into(),
            format!("message={message}"),
            format!("size={message}"),
            "warmup=0".into(),
        ])?;
        // With IPv4, UDP, Ethernet and FCS 46 bytes more, preamble and gap 20;
        // preamble and header alone are 22.
        let bytes = f64::from(message) + 46.0 + 20.0 + 3.0 * 22.0;
        let physics = bytes * 8.0 / 1e4;
        let (earliest, median) = later(netns, &setting, physics)?;
        println!("{message:>6} {physics:>9.4} ms: {earliest:.1} us later, median {median:.1}");
        ensure!(earliest > -1.0, "{:.1} us too early", -earliest);
        ensure!(
            earliest < 4.0 * LATEST[0],
            "{earliest:.1} us later than physics asks"
        );
    }
    Ok(())
}

/// Over a link of MTU 1400 between interfaces of 1500, TCP sends packets of
/// 1400 after a notification, and stalls without one.
pub(crate) fn narrow(netns: &mut Netns) -> Result<()> {
    for ip in [4, 6] {
        let through = |oversize: &str| {
            setting(&[
                format!("ip={ip}"),
                "shape=routed".into(),
                "rate=100mbit".into(),
                "mtu=1500".into(),
                "links.router-receiver.link_mtu=1400".into(),
                format!("links.router-receiver.oversize={oversize}"),
                "timeout=2s".into(),
                // A black hole must fail, but not because of a late emulator.
                "network.timing_error=1min".into(),
            ])
        };
        let answered = measurements(netns, &through("icmp_error")?)?;
        let largest = answered.evidence.get(evidence::LARGEST_PACKET_RECEIVED);
        let largest = largest.context("no packet was seen")?;
        println!("IPv{ip}: packets of {largest} arrived");
        ensure!(largest == 1400, "packets of {largest} arrived");
        let silent = netns.measure(&through("drop")?, SEED, Epoch::now());
        ensure!(silent.is_err(), "a silent wire was no black hole");
    }
    Ok(())
}
