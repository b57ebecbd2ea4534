//! Judges the claimed steps of a study by curves.

use plan::setting::Network;
use plan::{Factors, OfStep, Plan, Sign, StepClaim};

use super::Curve;
use crate::claims::{Alternative, Alternatives, is_stated, together};
use crate::statistics::steps::Jump;
use crate::verdict::Verdict;

/// A claimed step with the findings of the curves.
pub struct StepResult<'a> {
    /// The assertion.
    pub claim: &'a StepClaim,
    /// Each curve of the claim: the common factors of its cells, the verdict
    /// and the finding.
    pub curves: Vec<(Factors, Verdict, String)>,
    /// Alternatives that exclude each other; none where all curves are needed.
    pub alternatives: Option<Alternatives>,
    /// The overall verdict.
    pub verdict: Verdict,
}

impl StepResult<'_> {
    /// Takes the verdicts away, as the run judges nothing.
    pub(crate) fn leave_unjudged(&mut self) {
        self.curves.clear();
        self.alternatives = None;
        self.verdict = Verdict::NotMeasured;
    }

    /// The number of curves that show the step as claimed.
    pub fn holds_in(&self) -> usize {
        let mut curves = self.curves.clone();
        curves.retain(|(_, verdict, _)| *verdict == Verdict::Reproduced);
        curves.len()
    }
}

/// All claimed steps of `plan` that `curves` can judge.
pub fn judged<'a>(plan: &'a Plan, curves: &[Curve<'_>]) -> Vec<StepResult<'a>> {
    let one = |claim: &'a StepClaim| {
        let about = curves.iter().filter(|curve| is_about(claim, curve));
        let curves = about.map(|curve| {
            let (verdict, why) = verdict(claim, curve);
            (curve.factors.clone(), verdict, why)
        });
        let curves: Vec<(Factors, Verdict, String)> = curves.collect();
        let named = &claim.alternatives.factors;
        let of = |levels: Factors| {
            let mut own = curves.clone();
            own.retain(|(factors, ..)| factors.only(named) == levels);
            let verdicts = || own.iter().map(|(_, verdict, _)| *verdict);
            let holding = verdicts().filter(|verdict| *verdict == Verdict::Reproduced);
            Alternative {
                is_stated: is_stated(&claim.alternatives, &levels),
                verdict: together(verdicts()),
                holds: holding.count(),
                settings: own.len(),
                average: None,
                levels,
            }
        };
        let alternatives = (!named.is_empty()).then(|| {
            let mut levels: Vec<Factors> = Vec::new();
            for (factors, ..) in &curves {
                let own = factors.only(named);
                if !levels.contains(&own) {
                    levels.push(own);
                }
            }
            Alternatives {
                each: levels.into_iter().map(of).collect(),
            }
        });
        let verdict = match &alternatives {
            None => together(curves.iter().map(|(_, verdict, _)| *verdict)),
            Some(all) => all.verdict(),
        };
        StepResult {
            claim,
            curves,
            alternatives,
            verdict,
        }
    };
    plan.steps.iter().map(one).collect()
}

fn is_about(claim: &StepClaim, curve: &Curve<'_>) -> bool {
    claim.cells.iter().all(|(name, levels)| {
        let level = curve.factors.level(name);
        level.is_some_and(|level| levels.contains(level))
    })
}

fn verdict(claim: &StepClaim, curve: &Curve<'_>) -> (Verdict, String) {
    let (at, reach) = (f64::from(claim.at), f64::from(claim.within));
    let Some(shape) = &curve.shape else {
        let step = curve.spacing();
        let why = format!("sizes are {step} bytes apart, too far to reveal it");
        return (Verdict::NotMeasured, why);
    };
    // If other load hides a step of the mean, the shortest times reveal it.
    let (steps, jumps, unit) = match claim.of {
        OfStep::Time => (
            [shape.steps.as_slice(), shape.of_shortest.as_slice()].concat(),
            &shape.jumps_of_shortest,
            "us",
        ),
        OfStep::Variance => (
            shape.of_variance.clone(),
            &shape.jumps,
            "in the logarithm of the variance",
        ),
    };
    let near = jumps
        .iter()
        .filter(|jump| jump.inner && jump.is_at(at, reach));
    // The approximate height that a jump would need to be significant there.
    let hidden = near.map(|jump| jump.error).fold(0.0, f64::max) * 4.0;
    if hidden == 0.0 {
        return (
            Verdict::NotMeasured,
            "no such sizes were measured, or too few beside them".to_owned(),
        );
    }
    // Without rates, what the curve shows elsewhere is what could be seen here.
    let seen = steps.iter().map(|step| step.height.abs());
    let least = least_step(&curve.setting.network).or_else(|| seen.reduce(f64::min));
    let steps: Vec<&Jump> = steps.iter().filter(|step| step.is_at(at, reach)).collect();
    let text = |step: &Jump| {
        let [from, to] = step.between;
        let (height, error) = (step.height, 2.0 * step.error);
        format!("between {from} and {to} bytes it changes by {height:+.3} ± {error:.3} {unit}")
    };
    let fits = |step: &&&Jump| match claim.sign {
        Sign::Up => step.height > 0.0,
        Sign::Down => step.height < 0.0,
        Sign::None => false,
    };
    match (claim.sign, steps.iter().find(fits), steps.first()) {
        (Sign::None, _, Some(step)) => (Verdict::NotReproduced, text(step)),
        (_, Some(step), _) => (Verdict::Reproduced, text(step)),
        (_, None, Some(step)) => (Verdict::NotReproduced, text(step)),
        (sign, None, None) => {
            let why = match claim.of {
                OfStep::Time => {
                    format!("there is no step; one of {hidden:.2} us would have been detected")
                }
                OfStep::Variance => "there is no step".to_owned(),
            };
            let verdict = match (claim.of, sign) {
                (OfStep::Time, _) if least.is_none_or(|least| hidden > least) => {
                    Verdict::Inconclusive
                }
                (_, Sign::None) => Verdict::Reproduced,
                (_, Sign::Up | Sign::Down) => Verdict::NotReproduced,
            };
            (verdict, why)
        }
    }
}

/// The time of one more frame's headers on the slowest link, in microseconds:
/// the smallest step of a whole frame. `None` if no link has a rate.
fn least_step(network: &Network) -> Option<f64> {
    let links = network.links.iter();
    let of_link = links.filter_map(|link| {
        let packet = link.mtu.bytes();
        let around = link.framing.wire_size(packet) - packet;
        let bytes = around + network.ip.header();
        Some(link.rate?.serialise(bytes).as_secs_f64() * 1e6)
    });
    of_link.reduce(f64::max)
}
