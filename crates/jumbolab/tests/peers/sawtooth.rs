//! Compares one Reno flow of the kernel behind a drop-tail buffer, sized in
//! multiples of the bandwidth-delay product, with the closed form.

use anyhow::{Result, anyhow, ensure};
use experiment::Experiment;
use lab::world::netns::Netns;
use plan::World;

use crate::{SEED, metric, most};

/// The admissible relative difference of the utilisation from the closed form. The counted seconds contain two to four periods of the sawtooth, and
/// not a whole number: half a period with a small window too many lowers the
/// mean by up to 2 %. The rest covers programs that wake late.
const TOLERANCE: f64 = 0.05;

/// The number of rounds, most of which must be within it. A flow that lost its CPU
/// for long restarts slowly, which may spoil one of them.
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

/// The buffer as a share of the product, the rate in Mbit/s, and the seconds that
/// are left out and counted. The emulator shares its processors with the sender
/// and may wake 4 ms late, and the packets that it then sends at once must fit into
/// the buffer: hence the slow link. A buffer of the whole product, which keeps
/// the link busy, is among those that `worlds::agree` compares, and the closed form
/// has its other values in the unit tests.
const SHARE: f64 = 0.25;
const MEGABITS: f64 = 10.0;
const OMITTED: u32 = 10;
const COUNTED: u32 = 32;

pub(super) fn sawtooth(netns: &mut Netns) -> Result<()> {
    let round_trip = PRODUCT * WIRE * 8.0 / MEGABITS;
    let buffer = (SHARE * PRODUCT + BESIDES) * FRAME;
    let experiment = format!(
        r#"
        format = 1
        name = "sawtooth"
        [network]
        link = "emulated"
        rate = "{MEGABITS}mbit"
        delay = "{delay:.0}us"
        buffer = "{buffer:.0}B"
        [host]
        congestion = "reno"
        [traffic]
        kind = "command"
        receiver = "iperf3 -s -1"
        sender = "iperf3 -c {{receiver}} -t {COUNTED} -O {OMITTED} -J"
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
    let expected = model::sawtooth_utilisation(SHARE);
    println!("{:>9} {:>9} {:>6}", "measured", "expected", "ratio");
    let within = most(ROUNDS, || {
        let throughput = metric(netns, setting, SEED, "throughput")?;
        let measured = throughput / (MEGABITS * PAYLOAD / WIRE);
        let ratio = measured / expected;
        println!("{measured:>9.4} {expected:>9.4} {ratio:>6.3}");
        Ok((ratio - 1.0).abs() <= TOLERANCE)
    })?;
    ensure!(
        within,
        "most of {ROUNDS} rounds are more than {TOLERANCE} from {expected:.4}"
    );
    Ok(())
}
