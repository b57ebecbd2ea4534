//! JSON lines of times by message size: one object per curve.

use std::collections::BTreeMap;

use analysis::sizes::{Curve, median};
use analysis::statistics::steps::Jump;
use document::json_line;
use plan::Level;
use serde::Serialize;

/// One curve, with the field order of the format.
#[derive(Serialize)]
struct Line<'a> {
    /// By the name of the factor.
    curve: BTreeMap<&'a str, &'a Level>,
    flat_from: Option<u32>,
    /// Null, so that readers who select lines by metric skip this one.
    metric: Option<&'a str>,
    size: Vec<u32>,
    steps: Option<&'a [Jump]>,
    steps_of_variance: Option<&'a [Jump]>,
    time_us: Vec<Option<f64>>,
}

/// One object per curve, without line ends.
pub(super) fn lines(curves: &[Curve<'_>]) -> Vec<String> {
    curves.iter().map(|curve| json_line(&line(curve))).collect()
}

fn line<'a>(curve: &'a Curve<'_>) -> Line<'a> {
    let shape = curve.shape.as_ref();
    let (factors, points) = (curve.factors.0.iter(), curve.points.iter());
    Line {
        curve: factors
            .map(|(name, level)| (name.as_str(), level))
            .collect(),
        flat_from: curve.flat_from(),
        metric: None,
        size: points.clone().map(|point| point.size).collect(),
        steps: shape.map(|shape| &*shape.steps),
        steps_of_variance: shape.map(|shape| &*shape.of_variance),
        time_us: points.map(|point| median(&point.times)).collect(),
    }
}
