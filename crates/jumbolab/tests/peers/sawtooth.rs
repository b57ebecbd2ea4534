//! Compares one Reno flow of the kernel behind a drop-tail buffer, sized in
//! multiples of the bandwidth-delay product, with the closed form.

use anyhow::{Result, anyhow, ensure};
use experiment::Experiment;
use lab::world::netns::Netns;
use plan::World;

use crate::{SEED, median, metric};

/// The admissible relative difference of the median utilisation from the closed
/// form. The counted seconds contain two to four periods of the sawtooth, and
/// not a whole number: half a period with a small window too many lowers the
/// mean by up to 2 %. The rest covers programs that wake late.
const TOLERANCE: f64 = 0.05;

/// The number of rounds of each case. A flow that lost its CPU for long
/// restarts slowly, which may spoil one of them.
const ROUNDS: usize = 3;

/// The bandwidth-delay product in packets, including the two packets that the
/// closed form needs beside the buffer: one on the link, one behind it.
const PRODUCT: f64 = 101.0;
const BESIDES: f64 = 2.0;

/// Octets of a frame of MTU 1500, which is what a buffer counts, and of the
/// wire that it takes.
const FRAME: f64 = 1_518.0;
const WIRE: f64 = 1_538.0;
/// Octets of payload in it over IPv6 and TCP with timestamps.
const PAYLOAD: f64 = 1_428.0;

/// Buffers as shares of the product, the rate in Mbit/s, and the seconds that
/// are left out and counted. The link with the small buffer is slower: the
/// emulator shares its processors with the sender and may wake 4 ms late, and the
/// packets that it then sends at once must fit into the buffer. Two cases take
/// three minutes; the closed form has its other values in the unit tests.
const CASES: [(f64, f64, u32, u32); 2] = [(1.0, 20.0, 6, 20), (0.25, 10.0, 10, 32)];

pub(super) fn sawtooth(netns: &mut Netns) -> Result<()> {
    println!(
        "{:>6} {:>9} {:>9} {:>6}",
        "buffer", "measured", "expected", "ratio"
    );
    let mut wrong = Vec::new();
    for (share, megabits, omitted, counted) in CASES {
        let round_trip = PRODUCT * WIRE * 8.0 / megabits;
        let buffer = (share * PRODUCT + BESIDES) * FRAME;
        let experiment = format!(
            r#"
            format = 1
            name = "sawtooth"
            [network]
            link = "emulated"
            rate = "{megabits}mbit"
            delay = "{delay:.0}us"
            buffer = "{buffer:.0}B"
            [host]
            congestion = "reno"
            [traffic]
            kind = "command"
            receiver = "iperf3 -s -1"
            sender = "iperf3 -c {{receiver}} -t {counted} -O {omitted} -J"
            read = {{ throughput = "/end/sum_received/bits_per_second * 1e-6" }}
            timeout = "2min"
            [sweep]
            "network.mtu" = [1500]
            "#,
            delay = round_trip / 2.0
        );
        let plan = lab::world::plan(
            Experiment::parse(&experiment, "sawtooth.toml")?,
            World::Netns,
        )?;
        let setting = plan.cells[0].setting.as_ref();
        let setting = setting.map_err(|why| anyhow!(why.clone()))?;
        let expected = model::sawtooth_utilisation(share);
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            let throughput = metric(netns, setting, SEED, "throughput")?;
            let measured = throughput / (megabits * PAYLOAD / WIRE);
            let ratio = measured / expected;
            println!("{share:>6} {measured:>9.4} {expected:>9.4} {ratio:>6.3}");
            rounds.push(measured);
        }
        let why = format!("buffer {share}: {rounds:.4?}, not {expected:.4}");
        if (median(rounds) / expected - 1.0).abs() > TOLERANCE {
            wrong.push(why);
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("; "));
    Ok(())
}
