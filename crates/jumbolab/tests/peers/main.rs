//! Compares results with peers and physical limits on an otherwise idle
//! machine: iperf3 from Debian in the same namespaces, the limit of the link,
//! and comparisons of equal settings.
//!
//! This is a program of its own instead of `#[test]`s: the sandbox needs a
//! single-threaded process, and nothing else may run meanwhile.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own"
)]

mod comparisons;
mod ditg;
mod emulated;
mod iperf3;
mod kernel;
mod others;
mod presets;
mod two_backends;
#[path = "../cli/undisturbed.rs"]
mod undisturbed;

use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, ensure};
use backends::backend::netns::{Failure, Netns};
use backends::measurements::Measurements;
use backends::worker;
use experiment::Experiment;
use os::clock::{self, Epoch};
use plan::{Backend, Plan, Setting, evidence};
use undisturbed::{Disturbed, until_undisturbed};
use units::{Seed, Span};

/// The seed of all emulated links, so that runs are repeatable.
const SEED: Seed = Seed::new(1);

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
            iperf3::beside as fn(&mut Netns) -> Result<()>,
        ),
        (
            "iperf3_as_trials_agrees_with_the_limit_of_the_link",
            iperf3::as_trials,
        ),
        (
            "long_transfers_reach_the_limit_and_never_pass_it",
            kernel::limits,
        ),
        (
            "equals_differ_in_few_comparisons_and_three_percent_is_found",
            comparisons::equals,
        ),
        (
            "two_percent_between_two_runs_is_found_and_halves_of_one_run_agree",
            comparisons::runs,
        ),
        (
            "a_busy_loop_on_one_processor_is_noticed",
            kernel::disturbance,
        ),
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
            "d_itg_sends_as_little_of_what_is_asked_as_we_do_with_its_habits",
            ditg::rate,
        ),
        (
            "presets_and_distributions_are_those_of_d_itg",
            presets::are_those_of_d_itg,
        ),
        (
            "the_kernels_tcp_and_the_simulators_come_to_the_same",
            two_backends::agree,
        ),
    ];
    // As with libtest, arguments select checks by parts of their names.
    let words: Vec<String> = std::env::args().skip(1).collect();
    let chosen = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word));
    let checks: Vec<_> = checks
        .into_iter()
        .filter(|(name, _)| chosen(name))
        .collect();
    ensure!(!checks.is_empty(), "no check has {words:?} in its name");
    let count = checks.len();
    for (name, check) in checks {
        let begun = clock::monotonic();
        let outcome = check(&mut netns);
        let taken = clock::monotonic().since(begun);
        let seconds = taken.map_or(0.0, Span::as_secs_f64);
        match outcome {
            Ok(()) => println!("test {name} ... ok ({seconds:.0} s)"),
            Err(error) => {
                failed += 1;
                println!("test {name} ... FAILED ({seconds:.0} s): {error:#}");
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
    backends::backend::plan(experiment, Backend::Netns)
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

/// The maximum number of attempts at a trial. Beside a load that takes a CPU for
/// half of the time, about every second attempt is disturbed.
const ATTEMPTS: usize = 20;

/// One trial, always with the same seed.
fn measurements(netns: &mut Netns, setting: &Setting) -> Result<Measurements> {
    judged(netns, setting, SEED, Ok)
}

/// A metric of one trial with the given seed.
fn metric(netns: &mut Netns, setting: &Setting, seed: Seed, name: &str) -> Result<f64> {
    judged(netns, setting, seed, |measurements| {
        let value = measurements.metrics.get(name);
        value.copied().with_context(|| format!("no {name}"))
    })
}

/// The result of `judge` for one trial with the given seed. An attempt is
/// discarded if `judge` rejects it and the program says that other work
/// disturbed the trial, which it decides by facts of the machine alone. The
/// first undisturbed attempt counts, whatever `judge` says.
fn judged<T>(
    netns: &mut Netns,
    setting: &Setting,
    seed: Seed,
    judge: impl Fn(Measurements) -> Result<T>,
) -> Result<T> {
    until_undisturbed("a trial", ATTEMPTS, || {
        match netns.measure(setting, seed, Epoch::now()) {
            Err(Failure::Disturbed(why)) => Err(Disturbed(why)),
            Err(Failure::Transfer(why)) => Ok(Err(anyhow!(why))),
            Err(Failure::Lost(error)) => Ok(Err(error)),
            Ok(measurements) => {
                let passes = measurements.disturbed.iter();
                let reasons: Vec<String> = passes.map(|pass| pass.reason.clone()).collect();
                match judge(measurements) {
                    Err(why) if !reasons.is_empty() => {
                        let reasons = reasons.join(", ");
                        Err(Disturbed(format!("{why:#}; meanwhile {reasons}")))
                    }
                    result => Ok(result),
                }
            }
        }
    })
    .map_err(|why| anyhow!(why))?
}

/// The goodput of one trial in Mbit/s, and its limit if the link has one.
fn goodput(netns: &mut Netns, setting: &Setting) -> Result<(f64, f64)> {
    judged(netns, setting, SEED, |measurements| {
        let throughput = measurements.metrics.get("throughput");
        let throughput = *throughput.context("no throughput")?;
        let limit = measurements.evidence.get(evidence::LIMIT_MBIT);
        Ok((throughput, limit.unwrap_or(f64::INFINITY)))
    })
}

/// The goodput of one trial as a share of `limit`, or of the limit of its link.
///
/// # Errors
/// It is above the limit.
fn share_of_limit(netns: &mut Netns, setting: &Setting, limit: Option<f64>) -> Result<f64> {
    judged(netns, setting, SEED, |measurements| {
        let throughput = measurements.metrics.get("throughput");
        let throughput = *throughput.context("no throughput")?;
        let known = || measurements.evidence.get(evidence::LIMIT_MBIT);
        let limit = limit.or_else(known).context("the link has no limit")?;
        let ratio = throughput / limit;
        println!("{throughput:>9.2} of {limit:>9.2} Mbit/s: {ratio:.4}");
        ensure!(ratio <= 1.002, "{ratio:.4} of the limit");
        Ok(ratio)
    })
}

/// Whether most of `rounds` rounds hold. A round that can no longer decide is not run.
fn most(rounds: usize, mut round: impl FnMut() -> Result<bool>) -> Result<bool> {
    let (mut held, mut failed) = (0, 0);
    while held <= rounds / 2 && failed <= rounds / 2 {
        if round()? {
            held += 1;
        } else {
            failed += 1;
        }
    }
    Ok(held > failed)
}

/// The median of an odd number of values. Up to half of the rounds may be
/// disturbed without moving it beyond the others' range, and it reveals a bias
/// of all rounds, which the best value would hide.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
