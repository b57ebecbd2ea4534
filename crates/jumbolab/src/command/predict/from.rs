//! `jumbolab predict --from`.

use std::path::Path;

use analysis::costs::{Asked, Series, Spread, predict, series_of};
use anyhow::{Context as _, Result, anyhow, bail, ensure};
use model::Stack;
use report::{CostPredictions, PredictedSeries, Prediction};
use units::{Bytes, Rate};

use super::options::{MOST_VALUES, quantity};
use super::table;
use crate::args::Predict;
use crate::command::probabilities::share;
use crate::command::report::ReadRun;

/// The MTUs of a curve, at most.
const POINTS: u64 = 80;

/// The largest MTU of a curve unless a larger one is asked for: the largest that common
/// switches take.
const COMMON: u64 = 9216;

/// The MTUs that the options ask for, predicted from the trials in `from`.
///
/// # Errors
/// One line with the option or the file, the value, and what would be right.
pub(super) fn prediction(from: &Path, args: &Predict) -> Result<Prediction> {
    let text = &args.packets.stack.headers;
    let stack: Stack = text.parse().with_context(|| format!("--headers {text}"))?;
    let asked = asked(args)?;
    let all = read(from, &stack)?;
    let checks: Vec<Vec<Series>> = args
        .validate
        .iter()
        .map(|path| read(path, &stack))
        .collect::<Result<_>>()?;
    let mut found = Vec::new();
    let mut rejected = Vec::new();
    for series in &all {
        for (run, path) in checks.iter().zip(&args.validate) {
            ensure!(
                run.iter().any(|other| series.is_like(other)),
                "--validate {}: has no trials with the settings of {}",
                path.display(),
                from.display()
            );
        }
        let others = checks.iter().flatten();
        let like: Vec<Series> = others.filter(|run| series.is_like(run)).cloned().collect();
        let place = || match series.factors.0.is_empty() {
            true => from.display().to_string(),
            false => format!("{}: {}", from.display(), series.factors),
        };
        match predict(series, &like, &asked) {
            Ok(predicted) => {
                for mtu in &asked.mtus {
                    let known = predicted.figures.iter().any(|figure| figure.mtu == *mtu);
                    ensure!(
                        known,
                        "--mtu {mtu}: this leaves no room for payload behind the headers; write a larger one"
                    );
                }
                let curve = Asked {
                    mtus: curve(series, &asked.mtus),
                    ..asked.clone()
                };
                let curve = predict(series, &[], &curve).map(|curve| curve.figures);
                found.push(PredictedSeries {
                    factors: series.factors.clone(),
                    curve: curve.unwrap_or_default(),
                    predicted,
                });
            }
            Err(why) => rejected.push(format!("--from {}: {why}", place())),
        }
    }
    if found.is_empty() {
        let first = rejected.into_iter().next();
        bail!(first.unwrap_or_else(|| format!(
            "--from {}: has no finished bulk transfers over TCP (traffic.kind = \"transfer\"); jumbolab run host-costs makes some",
            from.display()
        )));
    }
    let source = from.display().to_string();
    Ok(report::of_costs(&CostPredictions {
        source: &source,
        trials: asked.trials,
        series: &found,
        rejected: &rejected,
    }))
}

fn asked(args: &Predict) -> Result<Asked> {
    ensure!(
        args.packets.mtu.len() <= MOST_VALUES,
        "--mtu: at most {MOST_VALUES} values; write fewer"
    );
    let mtus = args.packets.mtu.iter().map(|text| {
        let mtu: Bytes = quantity("--mtu", text)?;
        ensure!(
            mtu > Bytes::ZERO && mtu.get() <= 65_535,
            "--mtu {text}: write bytes of a packet, 1 to 65535"
        );
        Ok(mtu.get())
    });
    let mut mtus: Vec<u64> = mtus.collect::<Result<_>>()?;
    mtus.sort_unstable();
    mtus.dedup();
    let most = args.fit_max_mtu.as_deref();
    let most = most.map(|text| quantity::<Bytes>("--fit-max-mtu", text).map(Bytes::get));
    let rate = args.rate.as_deref();
    let rate = rate.map(|text| quantity::<Rate>("--rate", text));
    let spread = match args.spread.as_deref() {
        None => Spread::Measured,
        Some(text) => {
            let known = share(text)
                .ok()
                .filter(|share| *share > 0.0 && *share < 1.0);
            Spread::Stated(known.ok_or_else(|| {
                anyhow!("--spread {text}: write the standard deviation of a figure in per cent, for instance 2%")
            })?)
        }
    };
    Ok(Asked {
        mtus,
        fitted_up_to: most.transpose()?,
        waits_for: rate.transpose()?.map(|rate| rate.bits_per_second() as f64),
        spread,
        trials: args.trials,
        size: None,
    })
}

/// The series of a results folder or of a table.
fn read(path: &Path, stack: &Stack) -> Result<Vec<Series>> {
    if path.extension().is_some_and(|own| own == "csv") {
        return table::read(path, stack);
    }
    ensure!(
        path.is_dir(),
        "--from {}: this is neither a results folder nor a table; name a folder, or a file that ends in .csv",
        path.display()
    );
    let run = ReadRun::read(path)?;
    Ok(series_of(run.plan(), run.trials()))
}

/// The MTUs of a curve, from the smallest in the trials on.
fn curve(series: &Series, mtus: &[u64]) -> Vec<u64> {
    let least = series
        .points
        .iter()
        .map(|point| point.mtu)
        .min()
        .unwrap_or(1);
    let most = mtus.iter().copied().max().unwrap_or(COMMON).max(COMMON);
    let step = most.saturating_sub(least).div_ceil(POINTS).max(1);
    let steps = most.saturating_sub(least).div_ceil(step);
    (0..=steps)
        .map(|place| (least + place * step).min(most))
        .collect()
}
