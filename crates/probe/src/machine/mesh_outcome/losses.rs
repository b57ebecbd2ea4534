//! The paths of a mesh that lose large packets more often than small ones.
//!
//! Few packets show a loss of ten percent on some paths of a host and miss it on others. A
//! path without a finding is therefore clean only if its counts are unlike those of the lossy
//! paths of its sender and of its receiver.

use std::collections::BTreeMap;

use units::Bytes;

use super::MeshOutcome;
use crate::machine::loss_by_size::SizeCounts;
use crate::machine::{Direction, Limit, Mesh, MeshEntry, PathReport};

/// The ratio of likelihoods at which paths are taken for clean [Wald1945].
const SURE: f64 = 300.0;

/// The large packets between two hosts, in either direction, and whether one direction is
/// found to lose them.
#[derive(Clone, Copy, Debug)]
struct Way {
    from: usize,
    to: usize,
    is_lossy: bool,
    large: SizeCounts,
}

/// An end of a path.
type End = fn(&Way) -> usize;

/// The lossy paths as those that deliver nothing, the clean ones as those that deliver all;
/// nothing is known about the others.
pub(super) fn losses(outcome: &MeshOutcome) -> Mesh {
    let ways = ways(outcome);
    let mut mesh = Mesh::new(outcome.asked, outcome.hosts.len());
    for way in &ways {
        let carried = match way.is_lossy {
            true => Bytes::ZERO,
            false if is_clean(way, &ways) => outcome.asked,
            false => continue,
        };
        let limit = Limit::Asked;
        mesh.set(way.from, way.to, MeshEntry { carried, limit });
    }
    mesh
}

fn ways(outcome: &MeshOutcome) -> Vec<Way> {
    let reports = outcome.paths.iter().filter_map(|path| {
        let report = path.result.as_ref().ok()?;
        (!report.losses.is_empty()).then_some(((path.from, path.to), report))
    });
    let reports: BTreeMap<(usize, usize), &PathReport> = reports.collect();
    let ways = outcome.pairs().filter_map(|(from, to)| {
        let own = reports.get(&(from, to)).copied();
        let other = reports.get(&(to, from)).copied();
        let large = [own, other].into_iter().flatten().map(large);
        Some(Way {
            from,
            to,
            is_lossy: is_lossy([(own, Direction::Forward), (other, Direction::Reverse)]),
            large: large.reduce(SizeCounts::and)?,
        })
    });
    ways.collect()
}

fn large(report: &PathReport) -> SizeCounts {
    let largest = report.losses.last();
    largest.map_or_else(SizeCounts::default, |one| SizeCounts {
        size: u32::try_from(one.size.get()).unwrap_or(u32::MAX),
        sent: one.loss.sent,
        lost: one.loss.lost,
    })
}

/// Whether a direction loses large packets by the reports of both hosts, of which each calls
/// it by its own name. A finding without a direction counts if no other one tells it.
fn is_lossy(reports: [(Option<&PathReport>, Direction); 2]) -> bool {
    let told = reports.into_iter().filter_map(|(report, way)| {
        let (direction, _) = report?.loss_by_size()?;
        Some(direction.map(|direction| direction == way))
    });
    let told: Vec<Option<bool>> = told.collect();
    let is_told = told.iter().any(Option::is_some);
    told.contains(&Some(true)) || !is_told && !told.is_empty()
}

/// Whether a path without a finding is unlike the lossy ones of its sender and its receiver.
fn is_clean(way: &Way, ways: &[Way]) -> bool {
    let ends: [End; 2] = [|way| way.from, |way| way.to];
    ends.into_iter().all(|end| is_clean_at(end, way, ways))
}

/// The same at one end. All paths that are more likely clean are judged together: each for
/// itself may have too few packets.
fn is_clean_at(end: End, way: &Way, ways: &[Way]) -> bool {
    let host = end(way);
    let of_host = || ways.iter().filter(|other| end(other) == host);
    let others = ways.iter().filter(|way| way.from != host && way.to != host);
    let sum = |ways: &mut dyn Iterator<Item = &Way>| {
        let counts = ways.map(|way| way.large);
        counts.reduce(SizeCounts::and).filter(|sum| sum.sent > 0)
    };
    let lossy = sum(&mut of_host().filter(|way| way.is_lossy));
    let others = sum(&mut others.filter(|way| !way.is_lossy));
    let Some((lossy, others)) = lossy.zip(others) else {
        return true;
    };
    let evidence = |way: &Way| {
        let of = |rate| way.large.log_likelihood(rate);
        of(others.rate()) - of(lossy.rate())
    };
    let clean = of_host().filter(|way| !way.is_lossy).map(evidence);
    let clean: f64 = clean.filter(|evidence| *evidence > 0.0).sum();
    evidence(way) > 0.0 && clean >= libm::log(SURE)
}
