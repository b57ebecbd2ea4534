//! Figures against a peer and against physics, on an otherwise idle machine:
//! iperf3 from Debian in the same namespaces, the link's limit, and what a
//! comparison of equals may find.
//!
//! A program of its own and not a set of `#[test]`s: the sandbox wants a
//! single-threaded process, and nothing else may run meanwhile.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own"
)]

mod ditg;
mod emulated;
mod sawtooth;
mod worlds;

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, anyhow, ensure};
use lab::certificate::Flag;
use lab::compare::{Difference, Shift, between, compare};
use lab::experiment::{Experiment, Setting};
use lab::netns::{Failure, Netns};
use lab::plan::{Plan, World};
use lab::trial::{Figures, Trial};
use lab::worker;
use live::clock::Epoch;
use units::Seed;

/// Of all chance on emulated links, so that a run repeats.
const LUCK: Seed = Seed::new(1);

fn main() -> ExitCode {
    let result = match worker::role() {
        Some(role) => worker::run(&role),
        None => checks(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn checks() -> Result<()> {
    let mut netns = Netns::enter()?;
    let mut failed = 0;
    let checks = [
        (
            "goodput_agrees_with_iperf3_in_the_same_namespaces",
            iperf3 as fn(&mut Netns) -> Result<()>,
        ),
        (
            "iperf3_as_trials_agrees_with_the_limit_of_the_link",
            iperf3_as_trials,
        ),
        ("long_transfers_reach_the_limit_and_never_pass_it", limits),
        (
            "equals_differ_in_few_comparisons_and_three_percent_is_found",
            equals,
        ),
        (
            "two_percent_between_two_runs_is_found_and_halves_of_one_run_agree",
            runs,
        ),
        ("a_busy_loop_on_one_processor_is_noticed", disturbance),
        (
            "single_messages_over_emulated_links_take_what_physics_asks",
            emulated::delays,
        ),
        (
            "tcp_over_emulated_links_carries_what_frames_leave_of_the_rate",
            emulated::goodput,
        ),
        ("emulated_links_lose_as_often_as_asked", emulated::loss),
        (
            "switches_that_cut_through_store_nothing_and_hosts_all",
            emulated::cut_through,
        ),
        (
            "tcp_finds_its_way_through_a_narrow_wire_that_answers_and_not_through_a_silent_one",
            emulated::narrow,
        ),
        (
            "a_datagram_behind_poisson_traffic_waits_as_theory_says",
            emulated::cross_traffic,
        ),
        (
            "whole_echoes_take_what_physics_asks_and_no_less",
            emulated::echoes,
        ),
        (
            "a_reno_flow_uses_what_its_buffer_lets_it",
            sawtooth::sawtooth,
        ),
        (
            "d_itg_sends_as_little_of_what_is_asked_as_we_do_with_its_habits",
            ditg::rate,
        ),
        (
            "the_kernels_tcp_and_the_simulators_come_to_the_same",
            worlds::agree,
        ),
    ];
    // As with libtest, words choose checks by a part of their name.
    let words: Vec<String> = std::env::args().skip(1).collect();
    let chosen = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word));
    let checks: Vec<_> = checks
        .into_iter()
        .filter(|(name, _)| chosen(name))
        .collect();
    ensure!(!checks.is_empty(), "no check has {words:?} in its name");
    let count = checks.len();
    for (name, check) in checks {
        match check(&mut netns) {
            Ok(()) => println!("test {name} ... ok"),
            Err(error) => {
                failed += 1;
                println!("test {name} ... FAILED: {error:#}");
            }
        }
    }
    println!("test result: {} passed; {failed} failed", count - failed);
    ensure!(failed == 0, "{failed} checks failed");
    Ok(())
}

fn plan(settings: &[&str]) -> Result<Plan> {
    let mut experiment = Experiment::load("os-comparison")?;
    for setting in ["scenario=LU-LU", "offloads=off", "link=kernel"]
        .iter()
        .chain(settings)
    {
        experiment.set(setting)?;
    }
    experiment.plan(World::Netns)
}

fn only_setting(settings: &[&str]) -> Result<Setting> {
    let plan = plan(settings)?;
    let cell = plan
        .cells
        .into_iter()
        .next()
        .context("the plan has no cell")?;
    cell.setting.map_err(anyhow::Error::msg)
}

/// One trial; what chance does is the same each time.
fn figures(netns: &mut Netns, setting: &Setting) -> Result<Figures> {
    figures_of(netns, setting, LUCK)
}

/// One trial with luck of its own.
fn figures_of(netns: &mut Netns, setting: &Setting, luck: Seed) -> Result<Figures> {
    netns
        .measure(setting, luck, Epoch::now())
        .map_err(|failure| match failure {
            Failure::Transfer(reason) => anyhow!(reason),
            Failure::Lost(error) => error,
        })
}

/// Goodput of one trial in Mbit/s, and its limit where the link has one.
fn goodput(netns: &mut Netns, setting: &Setting) -> Result<(f64, f64)> {
    let figures = figures(netns, setting)?;
    let limit = figures
        .evidence
        .get("limit_mbit")
        .and_then(|limit| limit.as_f64())
        .unwrap_or(f64::INFINITY);
    Ok((figures.metrics["throughput"], limit))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// At 200 Mbit/s within 3 % of iperf3, three rounds in turn for each MTU.
fn iperf3(netns: &mut Netns) -> Result<()> {
    println!(
        "{:>6} {:>14} {:>14} {:>7}",
        "MTU", "jumbolab", "iperf3", "ratio"
    );
    for mtu in ["mtu=1500", "mtu=9000"] {
        let setting = only_setting(&[mtu, "rate=200mbit", "size=30MB", "cpu_size=0"])?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            ours.push(goodput(netns, &setting)?.0);
            theirs.push(iperf3_once(netns, &setting)?);
        }
        let (ours, theirs) = (mean(&ours), mean(&theirs));
        println!(
            "{:>6} {ours:>14.2} {theirs:>14.2} {:>7.4}",
            &mtu[4..],
            ours / theirs
        );
        ensure!(
            (ours / theirs - 1.0).abs() <= 0.03,
            "{mtu}: {ours:.2} against iperf3's {theirs:.2} Mbit/s"
        );
    }
    Ok(())
}

/// One run of iperf3 in the same namespaces, in Mbit/s at the receiver.
fn iperf3_once(netns: &mut Netns, setting: &Setting) -> Result<f64> {
    // `timeout` ends what a peer does not end itself.
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

/// The user's way to the same: iperf3 as the traffic of an experiment.
fn iperf3_as_trials(netns: &mut Netns) -> Result<()> {
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
    let plan = Experiment::parse(EXPERIMENT, "iperf3.toml")?.plan(World::Netns)?;
    for cell in &plan.cells {
        let setting = cell.setting.as_ref().map_err(|why| anyhow!(why.clone()))?;
        for _ in 0..3 {
            let (goodput, limit) = goodput(netns, setting)?;
            let ratio = goodput / limit;
            println!("{}: {goodput:.2} of {limit:.2} Mbit/s", cell.factors);
            ensure!(
                (0.97..=1.002).contains(&ratio),
                "{}: {ratio:.4} of the limit",
                cell.factors
            );
        }
    }
    Ok(())
}

/// Long transfers at odd settings: 0.97 to 1.002 of what the link carries.
fn limits(netns: &mut Netns) -> Result<()> {
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

/// Forty comparisons of MTU 1500 with itself, and a link that is 3 % faster.
fn equals(netns: &mut Netns) -> Result<()> {
    let same = format!("mtu={}", ["1500"; 41].join(","));
    let common = [
        "rate=200mbit",
        "size=1MB",
        "preroll=300kB",
        "cpu_size=0",
        "repeat=8",
    ];
    let settings: Vec<&str> = [same.as_str()].into_iter().chain(common).collect();
    let (found, all) = differences(netns, &plan(&settings)?)?;
    println!("equals: a difference of goodput in {found} of {all} comparisons");
    ensure!(
        all == 40 && found <= 2,
        "{found} of {all} comparisons of equals differ"
    );
    let faster = [
        "rate=200mbit,206mbit",
        "mtu=1500",
        "compare.factor=rate",
        "size=4MB",
        "preroll=2MB",
        "cpu_size=0",
        "repeat=8",
    ];
    let (found, all) = differences(netns, &plan(&faster)?)?;
    println!("a link 3 % faster: a difference in {found} of {all} comparisons");
    ensure!(
        (found, all) == (1, 1),
        "a link that is 3 % faster is not told from another"
    );
    Ok(())
}

/// A run at 200 Mbit/s against one at 196, and its own halves.
fn runs(netns: &mut Netns) -> Result<()> {
    let at = |rate: &str, repeat: &str| {
        let rate = format!("rate={rate}");
        // Long enough for a loss in slow start to be over when counting begins.
        let settings = [
            "mtu=1500,9000",
            "size=4MB",
            "preroll=2MB",
            "cpu_size=0",
            "traffic.echo=off",
        ];
        plan(&[&settings[..], &[rate.as_str(), repeat]].concat())
    };
    let (fast, slow) = (at("200mbit", "repeat=16")?, at("196mbit", "repeat=8")?);
    let (of_fast, of_slow) = (trials(netns, &fast)?, trials(netns, &slow)?);
    let found = |shifts: &[Shift]| {
        let found = |shift: &&Shift| shift.after.difference == Some(Difference::Found);
        (shifts.iter().filter(found).count(), shifts.len())
    };
    let shifts = between((&fast, &of_fast), (&slow, &of_slow));
    for shift in &shifts {
        let change = shift.after.change.context("the two are compared")?;
        println!("{}: {:?}", shift.after.factors, change.ci95);
        let interval = change.ci95.context("eight trials have an interval")?;
        ensure!(
            interval.low < -1.0 && interval.high > -3.0,
            "2 % slower reads as {interval:?}"
        );
    }
    let (changed, all) = found(&shifts);
    ensure!(all == 2 && changed > 0, "a rate 2 % lower was not found");
    let (first, second): (Vec<Trial>, Vec<Trial>) =
        of_fast.into_iter().partition(|trial| trial.repeat <= 8);
    let halves = between((&fast, &first), (&fast, &second));
    // By chance one in twenty such comparisons differs, but not by a per cent.
    let large = |shift: &&Shift| {
        let percent = shift.after.change.and_then(|change| change.percent);
        shift.after.difference == Some(Difference::Found)
            && percent.is_none_or(|percent| percent.abs() > 1.0)
    };
    ensure!(
        halves.iter().filter(large).count() == 0,
        "two halves of one run differ: {halves:?}"
    );
    Ok(())
}

/// Four trials beside a busy loop, and four without one.
fn disturbance(netns: &mut Netns) -> Result<()> {
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

/// How many comparisons of goodput find a difference, and how many there are.
fn differences(netns: &mut Netns, plan: &Plan) -> Result<(usize, usize)> {
    let trials = trials(netns, plan)?;
    let comparisons = compare(plan, &trials);
    let of_goodput = comparisons
        .iter()
        .filter(|comparison| comparison.metric.name == "throughput");
    let changes: Vec<_> = of_goodput
        .filter(|comparison| comparison.change.is_some())
        .collect();
    let found = changes
        .iter()
        .filter(|change| change.difference == Some(Difference::Found))
        .count();
    Ok((found, changes.len()))
}

/// Every cell of `plan` in turn, as often as it asks: goodput alone.
fn trials(netns: &mut Netns, plan: &Plan) -> Result<Vec<Trial>> {
    let mut trials = Vec::new();
    for repeat in 1..=plan.repeat {
        for cell in &plan.cells {
            let setting = cell
                .setting
                .as_ref()
                .map_err(|reason| anyhow::anyhow!(reason.clone()))?;
            let throughput = goodput(netns, setting)?.0;
            trials.push(Trial {
                id: format!("{}-{repeat}", cell.factors),
                factors: cell.factors.clone(),
                repeat,
                start: None,
                seconds: 0.0,
                failure: None,
                flags: Vec::new(),
                metrics: [("throughput".to_owned(), throughput)].into(),
                evidence: Default::default(),
            });
        }
    }
    Ok(trials)
}
