//! Investigations of a path.

use meter::departures::{Distribution, mean_gap};
use plan::Setting;
use plan::setting::{Cross, Gaps, Probe};
use probe::machine::{Investigation, Reflector, Settings};
use probe::virtual_path::{self, FarEnd, PathLink, ProbePath};
use units::Seed;

use super::seconds;
use crate::measurements::Measurements;

/// Runs one investigation; returns its score and the simulated time in seconds.
///
/// # Errors
/// The reason why it could not be run.
pub(super) fn run(
    setting: &Setting,
    probe: &Probe,
    seed: Seed,
) -> Result<(Measurements, f64), String> {
    let path = path(setting, probe, seed);
    let mut investigation = investigation(&path, probe, seed).map_err(|bad| bad.to_string())?;
    let end = path
        .run(&mut investigation)
        .map_err(|bad| bad.to_string())?;
    let report = investigation.report();
    let mut measurements = Measurements::default();
    measurements.put_probe(setting, probe, &report);
    Ok((measurements, seconds(end)))
}

/// Checks what [`run`] would reject.
///
/// # Errors
/// The reason in one line.
pub(super) fn check(setting: &Setting, probe: &Probe) -> Result<(), String> {
    let path = path(setting, probe, Seed::new(0));
    let rejected = investigation(&path, probe, Seed::new(0)).err();
    rejected.map_or(Ok(()), |bad| Err(bad.to_string()))
}

fn investigation(
    path: &ProbePath,
    probe: &Probe,
    seed: Seed,
) -> Result<Investigation, probe::machine::BadSettings> {
    let addresses = virtual_path::addresses(path.version, path.links.len());
    let far_end = addresses
        .last()
        .map_or_else(|| [0, 0, 0, 0].into(), |ends| ends[1]);
    let settings = Settings {
        interface_mtu: path.links.first().map(|link| link.mtu),
        protocols: probe.protocols.clone(),
        reflector: match probe.reflector {
            true => Reflector::ShortReplies,
            false => Reflector::None,
        },
        most_time: probe.timeout,
        ..Settings::new(far_end, probe.up_to)
    };
    Investigation::new(settings, seed.derive("investigation"))
}

/// The path of a setting.
fn path(setting: &Setting, probe: &Probe, seed: Seed) -> ProbePath {
    let network = &setting.network;
    let links = network.links.iter().map(|link| {
        let direction = network.emulated(link);
        PathLink {
            name: link.name.clone(),
            mtu: link.mtu.bytes(),
            directions: [direction.clone(), direction],
            rules: link.impairments.faults.clone(),
            cross: [0, 1].map(|direction| {
                let cross = link.cross.as_ref()?;
                let concerned = cross.heading.directions().contains(&direction);
                concerned.then(|| cross_traffic(link, cross))
            }),
        }
    });
    ProbePath {
        version: network.ip,
        links: links.collect(),
        far_end: FarEnd {
            listens: probe.listens,
            reflects: probe.reflector,
        },
        seed,
    }
}

fn cross_traffic(link: &plan::setting::Link, cross: &Cross) -> virtual_path::Cross {
    let mean = mean_gap(link.framing.wire_size(cross.packet), cross.rate);
    virtual_path::Cross {
        packet: cross.packet,
        gaps: match cross.gaps {
            Gaps::Exponential => Distribution::Exponential(mean),
            Gaps::Constant => Distribution::Constant(mean),
            Gaps::Uniform => Distribution::Uniform(0.0, 2.0 * mean),
        },
    }
}
