//! JSON lines of times by message size: one object per curve.

use std::collections::BTreeMap;

use analysis::sizes::{Curve, median};
use analysis::statistics::steps::Jump;
use plan::Level;
use serde::Serialize;

use super::line::json_line;

/// One curve, with the field order of the format.
#[derive(Serialize)]
struct Line<'a> {
    /// By the name of the factor.
    curve: BTreeMap<&'a str, &'a Level>,
    flat_from: Option<u32>,
    /// Null, so that readers who select lines by metric skip this one.
    metric: Option<&'a str>,
    size: Vec<u32>,
    steps: Option<Vec<Step>>,
    steps_of_variance: Option<Vec<Step>>,
    time_us: Vec<Option<f64>>,
}

#[derive(Serialize)]
struct Step {
    between: [f64; 2],
    error: f64,
    height: f64,
}

/// One object per curve, without line ends.
pub(super) fn lines(curves: &[Curve<'_>]) -> Vec<String> {
    curves.iter().map(|curve| json_line(&line(curve))).collect()
}

fn line<'a>(curve: &'a Curve<'_>) -> Line<'a> {
    let steps = |jumps: &[Jump]| -> Vec<Step> {
        let step = |jump: &Jump| Step {
            between: jump.between,
            error: jump.error,
            height: jump.height,
        };
        jumps.iter().map(step).collect()
    };
    let shape = curve.shape.as_ref();
    let (factors, points) = (curve.factors.0.iter(), curve.points.iter());
    Line {
        curve: factors
            .map(|(name, level)| (name.as_str(), level))
            .collect(),
        flat_from: curve.flat_from(),
        metric: None,
        size: points.clone().map(|point| point.size).collect(),
        steps: shape.map(|shape| steps(&shape.steps)),
        steps_of_variance: shape.map(|shape| steps(&shape.of_variance)),
        time_us: points.map(|point| median(&point.times)).collect(),
    }
}
