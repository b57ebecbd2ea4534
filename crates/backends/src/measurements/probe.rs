//! The score of an investigation of a path: its report compared with the settings.

mod truth;

use plan::setting::Probe;
use plan::{Setting, evidence, metric};
use probe::machine::{DirectionResult, FindingKind, Limit, PathReport, Place, Verdict};
use serde_json::json;
use serde_json::value::to_raw_value;
use units::Bytes;

use super::Measurements;
use truth::{Fault, GroundTruth};

/// The payload of a fragment is a multiple of eight bytes [RFC791 s3.2] [RFC8200 s4.5].
/// The largest fragment is smaller than the MTU by up to seven bytes.
const FRAGMENT_UNIT: u64 = 8;

impl Measurements {
    /// The score of `report`, what it took, and what it says as evidence.
    pub(crate) fn put_probe(&mut self, setting: &Setting, probe: &Probe, report: &PathReport) {
        let truth = GroundTruth::of(setting, probe);
        let percent = |right: bool| Some(if right { 100.0 } else { 0.0 });
        self.put(
            &metric::VERDICT_RIGHT,
            percent(verdict_right(&truth, report)),
        );
        self.put(&metric::MTU_RIGHT, percent(mtu_right(&truth, report)));
        self.put(&metric::HOP_RIGHT, percent(hop_right(&truth, report)));
        self.put(&metric::PROBES, Some(report.probes as f64));
        self.put(&metric::PROBE_BYTES, Some(report.bytes.get() as f64));
        self.put(&metric::PROBE_TIME, Some(report.took.as_millis_f64()));
        self.note(evidence::EXPECTED, json!(truth));
        self.note(evidence::REPORT, to_raw_value(report).ok());
    }
}

/// Whether the verdict and the weightiest finding are those of the settings.
fn verdict_right(truth: &GroundTruth, report: &PathReport) -> bool {
    let mut findings = report.findings.iter().map(|finding| &finding.kind);
    match truth.fault {
        None => report.verdict == Verdict::Clean,
        // What the path carries in the end tells whether that is enough.
        Some(fault @ (Fault::Shrinks | Fault::Grows)) => {
            let carries_asked = truth.forward.min(truth.reverse) >= report.asked;
            let verdict = match carries_asked {
                true => Verdict::Clean,
                false => Verdict::Problem,
            };
            report.verdict == verdict && findings.any(|found| fault.is(found))
        }
        Some(fault) => {
            let first = findings.find(|found| found.is_problem());
            report.verdict == Verdict::Problem && first.is_some_and(|found| fault.is(found))
        }
    }
}

/// Whether the sizes found for both directions are right. A direction that was not seen
/// is not counted as wrong.
fn mtu_right(truth: &GroundTruth, report: &PathReport) -> bool {
    let forward = report.forward.mtu;
    let forward_right = forward == Some(truth.forward);
    let DirectionResult { mtu, limit, .. } = report.reverse;
    let reverse_right = match (mtu, limit) {
        (None, _) => true,
        (Some(back), Limit::NotSeen) => back <= truth.reverse,
        (Some(back), Limit::Fragmented) => {
            back <= truth.reverse && truth.reverse - back < Bytes::new(FRAGMENT_UNIT)
        }
        (Some(back), _) => back == truth.reverse,
    };
    forward_right && reverse_right
}

/// Whether the fault was found at its link.
fn hop_right(truth: &GroundTruth, report: &PathReport) -> bool {
    let mut problems = report
        .findings
        .iter()
        .map(|finding| &finding.kind)
        .filter(|found| found.is_problem());
    let Some(fault) = truth.fault.filter(|fault| fault.has_place()) else {
        // No place to find, and none that may be named.
        return truth.fault.is_some() || problems.next().is_none();
    };
    let Some(found) = problems.find(|found| fault.is(found)) else {
        return false;
    };
    let number_of = |router| {
        let mut hops = report.hops.iter();
        let hop = hops.find(|hop| hop.address == Some(router))?;
        Some(usize::from(hop.number))
    };
    let behind = |place: &Place| {
        let hop = place.behind.map_or(0, |hop| usize::from(hop.number));
        place.is_known.then_some(hop)
    };
    let link = match found {
        FindingKind::FirstLink { .. } | FindingKind::Interface { .. } => Some(0),
        FindingKind::BlackHole { place, .. } => behind(place),
        FindingKind::ForwardFragments { cleared: place, .. }
        | FindingKind::Branches { place, .. }
        | FindingKind::OneProtocol { place, .. }
        | FindingKind::LostRange { place, .. } => place.as_ref().and_then(behind),
        FindingKind::Rejected { router, .. }
        | FindingKind::AnnouncedTooSmall { router, .. }
        | FindingKind::AnnouncedTooLarge { router, .. }
        | FindingKind::AnswersLimited { router, .. } => number_of(*router),
        _ => None,
    };
    link == Some(truth.link)
}
