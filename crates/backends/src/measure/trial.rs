//! One trial of any kind of traffic.

use os::clock::Epoch;
use plan::Setting;
use plan::setting::Traffic;
use units::Seed;

use super::command::command;
use super::flows::flows;
use super::latency_breakdown::latency_breakdown;
use super::network::network;
use super::pair::Pair;
use super::probe::probe;
use super::request_response::request_response;
use super::transfers::transfers;
use crate::agent::Failure;
use crate::measurements::Measurements;
use crate::recording::ArtifactDir;

/// Sends the traffic of `setting` between `pairs`: one pair, or two if bulk
/// data and single messages use different paths (bulk first). Randomness
/// derives from `seed`, and times count from `epoch`. Files of the trial go
/// to `artifacts`.
///
/// # Errors
/// [`Failure`] states whether the next trial can run.
pub(crate) fn trial(
    pairs: &mut [Pair<'_>],
    setting: &Setting,
    seed: Seed,
    epoch: Epoch,
    artifacts: Option<ArtifactDir<'_>>,
) -> Result<Measurements, Failure> {
    let first = &mut pairs[0];
    let mut measurements = match &setting.traffic {
        Traffic::Transfer(transfer) => transfers(pairs, setting, transfer, epoch),
        Traffic::Command(wanted) => command(first, setting, wanted, artifacts),
        Traffic::Flows(wanted) if setting.network.graph.is_some() => {
            network(first, setting, wanted, seed)
        }
        Traffic::Flows(wanted) => flows(first, setting, wanted, seed, artifacts),
        Traffic::LatencyBreakdown(trips) => latency_breakdown(first, setting, trips, epoch),
        Traffic::RequestResponse(wanted) => request_response(first, setting, wanted, seed),
        Traffic::Probe(wanted) => probe(first, setting, wanted, seed),
    }?;
    measurements.judge_hosts();
    measurements.take_setting(setting, &pairs[0].path);
    Ok(measurements)
}
