//! Comparisons find real differences, and none between equal settings.

use analysis::compare::{Difference, Shift, compare, diff};
use anyhow::{Context, Result, ensure};
use backends::backend::netns::Netns;
use plan::Plan;
use plan::{OptionalVec, Trial};

use crate::{goodput, most, plan};

/// Forty comparisons of MTU 1500 with itself, and a link that is 3 % faster.
pub(crate) fn equals(netns: &mut Netns) -> Result<()> {
    let same = format!("mtu={}", ["1500"; 41].join(","));
    let common = [
        "rate=200mbit",
        "size=1MB",
        "warmup=300kB",
        "cpu_bytes=0",
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
        "warmup=2MB",
        "cpu_bytes=0",
        "repeat=8",
    ];
    let plan = plan(&faster)?;
    let told = most(RUNS, || {
        let (found, all) = differences(netns, &plan)?;
        println!("a link 3 % faster: a difference in {found} of {all} comparisons");
        Ok((found, all) == (1, 1))
    })?;
    ensure!(
        told,
        "most of {RUNS} runs do not tell a link that is 3 % faster from another"
    );
    Ok(())
}

/// The number of runs, most of which must find a difference; other load,
/// including the hypervisor's, may hide it in one.
const RUNS: usize = 3;

/// A run at 200 Mbit/s against one at 196, and its own halves.
pub(crate) fn runs(netns: &mut Netns) -> Result<()> {
    ensure!(
        most(RUNS, || two_percent(netns))?,
        "most of {RUNS} runs do not find a rate 2 % lower"
    );
    Ok(())
}

/// Whether the difference of two per cent was found.
fn two_percent(netns: &mut Netns) -> Result<bool> {
    let at = |rate: &str, repeat: &str| {
        let rate = format!("rate={rate}");
        // Long enough for a loss in slow start to be repaired before counting
        // begins.
        let settings = [
            "mtu=1500,9000",
            "size=4MB",
            "warmup=2MB",
            "cpu_bytes=0",
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
    let shifts = diff((&fast, &of_fast), (&slow, &of_slow));
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
    let (first, second): (Vec<Trial>, Vec<Trial>) =
        of_fast.into_iter().partition(|trial| trial.repeat <= 8);
    let halves = diff((&fast, &first), (&fast, &second));
    // One in twenty such comparisons differs by chance, but not by a per cent.
    let large = |shift: &&Shift| {
        let percent = shift.after.change.and_then(|change| change.percent);
        shift.after.difference == Some(Difference::Found)
            && percent.is_none_or(|percent| percent.abs() > 1.0)
    };
    ensure!(
        halves.iter().filter(large).count() == 0,
        "two halves of one run differ: {halves:?}"
    );
    Ok(all == 2 && changed > 0)
}

/// The number of goodput comparisons that find a difference, and their total.
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

/// Runs all cells of `plan` in turn, for goodput only.
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
                id: format!("{}-{repeat}", cell.factors).into(),
                factors: cell.factors.clone().into(),
                repeat,
                attempt: 1,
                start: None,
                seconds: 0.0,
                failure: None,
                flags: OptionalVec::default(),
                disturbed: OptionalVec::default(),
                metrics: [("throughput", throughput)].into_iter().collect(),
                evidence: Default::default(),
            });
        }
    }
    Ok(trials)
}
