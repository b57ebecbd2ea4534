//! `--set on.sim.host=fit:DIR`: costs of hosts fitted to the trials of another run.

use std::path::Path;

use analysis::costs::{CannotFit, CostFit, Offloads, Series, Spread, THROUGHPUT, fit, series_of};
use anyhow::{Context, Result, bail, ensure};

use crate::command::report::ReadRun;
use crate::output;

/// The text in front of the folder.
const FIT: &str = "fit:";

/// The tables that may be fitted: of all backends whose hosts have costs, and of one.
const TABLES: [&str; 3] = ["host", "on.sim.host", "on.model.host"];

/// The arguments of `--set` for which `assignment` stands: itself, or the costs that a
/// run gives hosts.
///
/// # Errors
/// One line with the argument: the folder has no trials, or none that tell costs.
pub(super) fn assignments(assignment: &str) -> Result<Vec<String>> {
    let fitted = assignment.split_once('=').and_then(|(key, value)| {
        let folder = value.trim().strip_prefix(FIT)?;
        Some((key.trim(), folder))
    });
    let Some((table, folder)) = fitted else {
        return Ok(vec![assignment.to_owned()]);
    };
    let of = || format!("--set {assignment}");
    ensure!(
        TABLES.contains(&table),
        "{}: {FIT} gives the costs of a host; write {}",
        of(),
        TABLES.join(", ")
    );
    let run = ReadRun::read(Path::new(folder)).with_context(of)?;
    let costs = Costs::of(&series_of(run.plan(), run.trials())).with_context(of)?;
    output::info(&format!(
        "{table}: {} a packet and {} a byte, fitted to {} trials of {folder}",
        costs.per_packet, costs.per_byte, costs.trials
    ));
    Ok(vec![
        format!("{table}.send_per_packet={}", costs.per_packet),
        format!("{table}.send_per_byte={}", costs.per_byte),
    ])
}

/// The processing times of a host that sends, in words of an experiment.
struct Costs {
    per_packet: String,
    per_byte: String,
    trials: usize,
}

impl Costs {
    /// The costs that the goodput of one series tells.
    fn of(all: &[Series]) -> Result<Self> {
        let apart: Vec<&Series> = all
            .iter()
            .filter(|series| series.offloads == Offloads::Off)
            .collect();
        let series = match apart.as_slice() {
            [] if all.is_empty() => bail!("no bulk transfer over TCP finished there"),
            [] => bail!(
                "segments travel there in the bundles of offloads, whose costs are not those of packets; use a run with offloads off"
            ),
            [one] => *one,
            several => bail!(
                "{} series of trials have costs of their own ({}); run one of them alone",
                several.len(),
                several
                    .iter()
                    .map(|one| one.factors.to_string())
                    .collect::<Vec<_>>()
                    .join("; ")
            ),
        };
        let found = fitted(series)?;
        // The fit is by bytes of payload, a host works on those of IP packets.
        let headers = series
            .points
            .first()
            .map_or(0.0, |point| point.mtu as f64 - point.segment);
        let per_packet = found.cost.per_packet - headers * found.cost.per_byte;
        ensure!(
            per_packet >= 0.0 && found.cost.per_byte >= 0.0,
            "the trials show no cost of packets beside that of bytes: {:.3} us a packet with its headers, {:.3} ns a byte; use a run with more sizes",
            found.cost.per_packet * 1e6,
            found.cost.per_byte * 1e9
        );
        let nanos = |seconds: f64| format!("{:.3}ns", seconds * 1e9);
        Ok(Self {
            per_packet: nanos(per_packet),
            per_byte: nanos(found.cost.per_byte),
            trials: found.trials,
        })
    }
}

/// The fit of the goodput of a series. Trials of one MTU tell the cost of a packet
/// beside a link that takes its time for each byte.
fn fitted(series: &Series) -> Result<CostFit> {
    let observations = series.observations(THROUGHPUT, |_| true);
    match (fit(&observations, None, Spread::Measured), series.rate) {
        (Err(CannotFit::OneSegment(_)), Some(rate)) => {
            let byte = 8.0 / rate.bits_per_second() as f64;
            Ok(fit(&observations, Some(byte), Spread::Measured)?)
        }
        (found, _) => Ok(found?),
    }
}
