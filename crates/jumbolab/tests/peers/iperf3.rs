//! Compares goodput with iperf3's, in the same namespaces and as the traffic of
//! an experiment.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, ensure};
use backends::backend::netns::Netns;
use experiment::Experiment;
use plan::Backend;
use plan::Setting;

use crate::{goodput, median, most, only_setting, share_of_limit};

/// The number of rounds, of which the median counts: other load, including the
/// hypervisor's, may slow one of them.
const ROUNDS: usize = 3;

/// The allowed relative difference of the median from that of iperf3. The
/// queue of 500 kB may be full or empty when counting begins and ends. It is 1
/// % of two seconds of iperf3 at 200 Mbit/s and 1.7 % of our 30 MB: together
/// less than this.
const TOLERANCE: f64 = 0.03;

/// At 200 Mbit/s within [`TOLERANCE`] of iperf3, in turn for each MTU.
pub(crate) fn beside(netns: &mut Netns) -> Result<()> {
    println!(
        "{:>6} {:>14} {:>14} {:>7}",
        "MTU", "jumbolab", "iperf3", "ratio"
    );
    for mtu in ["mtu=1500", "mtu=9000"] {
        let setting = only_setting(&[mtu, "rate=200mbit", "size=30MB", "cpu_bytes=0"])?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            ours.push(goodput(netns, &setting)?.0);
            theirs.push(once(netns, &setting)?);
        }
        let rounds = format!("{ours:.2?}, iperf3 {theirs:.2?}");
        let (ours, theirs) = (median(ours), median(theirs));
        let ratio = ours / theirs;
        println!("{:>6} {ours:>14.2} {theirs:>14.2} {ratio:>7.4}", &mtu[4..]);
        ensure!(
            (ratio - 1.0).abs() <= TOLERANCE,
            "{mtu}: {ratio:.4} of iperf3's goodput: {rounds}"
        );
    }
    Ok(())
}

/// One run of iperf3 in the same namespaces, in Mbit/s at the receiver.
fn once(netns: &mut Netns, setting: &Setting) -> Result<f64> {
    // `timeout` ends a peer that does not end by itself.
    let peer = || {
        let mut command = Command::new("timeout");
        command
            .args(["-k", "1", "20", "iperf3"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        command
    };
    let mut server = peer();
    server.args(["-s", "-1", "--forceflush"]);
    let address = netns.place(setting, "receiver", &mut server)?.to_string();
    let mut server = server
        .spawn()
        .context("starting iperf3; as root type: apt-get install iperf3")?;
    let mut said = BufReader::new(server.stdout.take().context("the server has no output")?);
    let mut line = String::new();
    while !line.contains("listening") {
        line.clear();
        ensure!(
            said.read_line(&mut line)? > 0,
            "iperf3's server does not listen"
        );
    }
    let mut client = peer();
    client.args([
        "-c",
        &address,
        "-t",
        "2",
        "-O",
        "1",
        "-C",
        &setting.host.congestion,
        "-J",
    ]);
    netns.place(setting, "sender", &mut client)?;
    let output = client.output()?;
    server.kill()?;
    server.wait()?;
    let report: serde_json::Value =
        serde_json::from_slice(&output.stdout).context("reading iperf3's report")?;
    let bits = &report["end"]["sum_received"]["bits_per_second"];
    Ok(bits
        .as_f64()
        .with_context(|| format!("iperf3 says: {}", report["error"]))?
        / 1e6)
}

/// The same comparison with iperf3 as the traffic of an experiment.
pub(crate) fn as_trials(netns: &mut Netns) -> Result<()> {
    const EXPERIMENT: &str = r#"
        format = 1
        name = "iperf3"
        network = { rate = "200mbit" }
        sweep = { "network.mtu" = [1500, 9000] }
        [traffic]
        kind = "command"
        receiver = "iperf3 -s -1"
        sender = "iperf3 -c {receiver} -t 2 -O 1 -J"
        read = { throughput = "/end/sum_received/bits_per_second * 1e-6" }
    "#;
    let plan = backends::backend::plan(
        Experiment::parse(EXPERIMENT, "iperf3.toml")?,
        Backend::Netns,
    )?;
    for cell in &plan.cells {
        let setting = cell.setting.as_ref().map_err(|why| anyhow!(why.clone()))?;
        let reached = most(ROUNDS, || {
            Ok(share_of_limit(netns, setting, None)? >= 1.0 - TOLERANCE)
        });
        ensure!(
            reached.with_context(|| cell.factors.to_string())?,
            "{}: the median of the trials is more than {TOLERANCE} below the limit",
            cell.factors
        );
    }
    Ok(())
}
