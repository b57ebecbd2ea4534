//! JSON lines of times by message size: one object per curve.

use std::collections::BTreeMap;

use analysis::sizes::{Curve, median};
use analysis::statistics::steps::Jump;
use document::json_line;
use plan::Level;
use serde::Serialize;

/// In seconds.
const MICROSECOND: f64 = 1e-6;

/// One curve, with the field order of the format.
#[derive(Serialize)]
struct Line<'a> {
    kind: &'static str,
    /// By the name of the factor.
    factors: BTreeMap<&'a str, &'a Level>,
    flat_from_bytes: Option<u32>,
    size_bytes: Vec<u32>,
    time_s: Vec<Option<f64>>,
    steps: Option<Vec<Step>>,
    /// Of the logarithm of the variance.
    steps_of_variance: Option<Vec<Step>>,
}

/// A step between two sizes.
#[derive(Serialize)]
struct Step {
    between_bytes: [f64; 2],
    height: f64,
    standard_error: f64,
}

/// One object per curve, without line ends.
pub(super) fn lines(curves: &[Curve<'_>]) -> Vec<String> {
    curves.iter().map(|curve| json_line(&line(curve))).collect()
}

fn line<'a>(curve: &'a Curve<'_>) -> Line<'a> {
    let shape = curve.shape.as_ref();
    let (factors, points) = (curve.factors.0.iter(), curve.points.iter());
    Line {
        kind: "curve",
        factors: factors
            .map(|(name, level)| (name.as_str(), level))
            .collect(),
        flat_from_bytes: curve.flat_from(),
        size_bytes: points.clone().map(|point| point.size).collect(),
        time_s: points
            .map(|point| median(&point.times).map(|time| time * MICROSECOND))
            .collect(),
        steps: shape.map(|shape| steps(&shape.steps, MICROSECOND)),
        steps_of_variance: shape.map(|shape| steps(&shape.of_variance, 1.0)),
    }
}

/// Jumps with their heights in units of `scale`.
fn steps(jumps: &[Jump], scale: f64) -> Vec<Step> {
    let step = |jump: &Jump| Step {
        between_bytes: jump.between,
        height: jump.height * scale,
        standard_error: jump.error * scale,
    };
    jumps.iter().map(step).collect()
}
