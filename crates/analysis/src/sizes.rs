//! Message times by size over the trials of a run: curves, their steps, and
//! whether the steps are at the ends of frames, pages or buffers.

mod claims;

use std::collections::BTreeMap;

use plan::setting::{LARGEST_MESSAGE, Network, Sizes, Traffic};
use plan::{Factors, Plan, Setting, Trial, evidence};
use units::{Bytes, IpMtu, Transport};

use crate::digits;
use crate::statistics::steps::{self, Jump, LEAST_SIDE, MOST_SIDE};
use crate::statistics::{Mean, mean};
pub use claims::{StepResult, judged};

/// The minimum error of times, in microseconds: the journal has nanoseconds,
/// and both ends of a wait may round.
const GRAIN: f64 = 2e-3;

/// The minimum error of the logarithm of a variance.
const GRAIN_OF_VARIANCE: f64 = 1e-3;

/// The number of other clocks by which sizes are timed: that of the process, and clocks with
/// steps of 1, 10 and 55 ms.
pub const CLOCKS: usize = 4;

/// The times of cells that differ only in their sizes.
pub struct Curve<'a> {
    /// The common factors of its cells.
    pub factors: Factors,
    /// The setting of one of them.
    pub setting: &'a Setting,
    /// By size, in ascending order.
    pub points: Vec<Point>,
    /// The steps, if the sizes are close enough to reveal them.
    pub shape: Option<Shape>,
}

/// The trials' values for one size in microseconds, one value per trial.
#[derive(Clone, Debug, Default)]
pub struct Point {
    /// Bytes of a message.
    pub size: u32,
    /// The cell that it was measured in.
    pub cell: usize,
    /// Mean message times.
    pub times: Vec<f64>,
    /// Standard deviations within a trial.
    pub deviations: Vec<f64>,
    /// The shortest message times, which other load on the machine cannot have
    /// lengthened much.
    pub shortest: Vec<f64>,
    /// Times of all bytes.
    pub wholes: Vec<f64>,
    /// Means by each of the [`CLOCKS`].
    pub clocks: [Vec<f64>; CLOCKS],
}

/// The shape of a curve.
pub struct Shape {
    /// Every jump, and those that are steps.
    pub jumps: Vec<Jump>,
    /// The steps in the mean, in microseconds.
    pub steps: Vec<Jump>,
    /// The jumps of the shortest times of all trials.
    pub jumps_of_shortest: Vec<Jump>,
    /// The steps among them, in microseconds.
    pub of_shortest: Vec<Jump>,
    /// The steps in the logarithm of the variance within a trial.
    pub of_variance: Vec<Jump>,
    /// Whether steps are at the ends of frames, pages and buffers.
    pub families: Vec<Family>,
}

/// Sizes at which a step is expected for one reason.
pub struct Family {
    /// The reason.
    pub what: String,
    /// The number of these sizes that could be examined.
    pub places: usize,
    /// The mean height of the curve's jumps at these sizes.
    pub height: Option<Mean>,
    /// The mean height of the jumps of the shortest times.
    pub of_shortest: Option<Mean>,
    /// The number of these sizes with a step.
    pub marked: usize,
    /// The expected number with a step if steps were at random sizes.
    pub by_chance: f64,
    /// The probability of at least that number by chance.
    pub p: f64,
}

/// The curves of a run, in the order of its cells.
pub fn curves<'a>(plan: &'a Plan, trials: &[Trial]) -> Vec<Curve<'a>> {
    let mut curves: Vec<(Setting, Curve<'a>)> = Vec::new();
    for (number, cell) in plan.cells.iter().enumerate() {
        let Ok(setting) = &cell.setting else { continue };
        let Some(alike) = without_sizes(setting) else {
            continue;
        };
        let known = curves.iter_mut().find(|(other, _)| *other == alike);
        let curve = match known {
            Some((_, curve)) => {
                let common = |(name, level): &(String, _)| cell.factors.level(name) == Some(level);
                curve.factors.0.retain(common);
                curve
            }
            None => {
                let curve = Curve {
                    factors: cell.factors.clone(),
                    setting,
                    points: Vec::new(),
                    shape: None,
                };
                curves.push((alike, curve));
                &mut curves.last_mut().expect("it was just put there").1
            }
        };
        let of_cell = trials.iter().filter(|trial| *trial.factors == cell.factors);
        curve.points.extend(points(number, of_cell));
    }
    let mut curves: Vec<Curve<'a>> = curves.into_iter().map(|(_, curve)| curve).collect();
    for curve in &mut curves {
        curve.points.sort_by_key(|point| point.size);
    }
    curves.retain(|curve| !curve.points.is_empty());
    for curve in &mut curves {
        curve.shape = curve.shaped();
    }
    curves
}

impl Curve<'_> {
    /// The usual distance between points, in bytes.
    fn spacing(&self) -> u32 {
        let sizes = self.points.windows(2);
        let mut apart: Vec<u32> = sizes.map(|pair| pair[1].size - pair[0].size).collect();
        apart.sort_unstable();
        apart.get(apart.len() / 2).copied().unwrap_or(0).max(1)
    }

    /// The number of points to use on either side of a gap, so that they stay
    /// within one frame; `None` if sizes are too far apart to distinguish
    /// frames.
    fn side(&self) -> Option<usize> {
        let ends = frame_ends(self.setting, self.last());
        let frame = ends.windows(2).map(|pair| pair[1] - pair[0]).min();
        let frame = frame.unwrap_or_else(|| self.last());
        // Frames within reach of both sides, or of one side if that is too
        // little.
        let apart = usize::try_from(frame / self.spacing()).unwrap_or(0);
        let side = (apart / 2).max(LEAST_SIDE).min(apart.saturating_sub(1));
        let side = side.min(MOST_SIDE);
        (side >= LEAST_SIDE).then_some(side)
    }

    fn shaped(&self) -> Option<Shape> {
        let side = self.side()?;
        let mut shape = Shape {
            jumps: Vec::new(),
            steps: Vec::new(),
            jumps_of_shortest: Vec::new(),
            of_shortest: Vec::new(),
            of_variance: Vec::new(),
            families: Vec::new(),
        };
        // Bands of sizes come from different trials: a difference between them
        // is not a step.
        for band in self.points.chunk_by(|one, next| one.cell == next.cell) {
            let times = band.iter().map(|point| {
                let time = median(&point.times)?;
                Some([f64::from(point.size), time])
            });
            let times: Vec<[f64; 2]> = times.flatten().collect();
            let jumps = steps::jumps(&times, side, GRAIN);
            shape.steps.extend(steps::steps(&jumps, side));
            shape.jumps.extend(jumps);
            let shortest = band.iter().filter_map(|point| {
                let times = point.shortest.iter().copied();
                Some([f64::from(point.size), times.reduce(f64::min)?])
            });
            let shortest: Vec<[f64; 2]> = shortest.collect();
            let jumps = steps::jumps(&shortest, side, GRAIN);
            shape.of_shortest.extend(steps::steps(&jumps, side));
            shape.jumps_of_shortest.extend(jumps);
            let variances = band.iter().map(|point| {
                let deviation = median(&point.deviations).filter(|&one| one > 0.0)?;
                Some([f64::from(point.size), 2.0 * digits::ln(deviation)])
            });
            let variances: Vec<[f64; 2]> = variances.flatten().collect();
            let jumps = steps::jumps(&variances, side, GRAIN_OF_VARIANCE);
            shape.of_variance.extend(steps::steps(&jumps, side));
        }
        shape.families = self.families(&shape);
        Some(shape)
    }

    /// The size from which on a megabyte takes at most 5 % longer than at the
    /// largest size.
    pub fn flat_from(&self) -> Option<u32> {
        let wholes = self.points.iter().map(|point| {
            let whole = median(&point.wholes)?;
            Some((point.size, whole))
        });
        let wholes: Vec<(u32, f64)> = wholes.flatten().collect();
        let (_, last) = wholes.last()?;
        let mut flat = wholes.iter().rev();
        let flat = flat.by_ref().take_while(|(_, whole)| *whole <= 1.05 * last);
        flat.last().map(|(size, _)| *size)
    }

    fn last(&self) -> u32 {
        self.points.last().map_or(0, |point| point.size)
    }

    fn families(&self, shape: &Shape) -> Vec<Family> {
        let ends = frame_ends(self.setting, self.last());
        let every = |of: u32| (1..=self.last() / of).map(move |number| number * of);
        let odd = ends.iter().step_by(2).copied().collect();
        let even = ends.iter().skip(1).step_by(2).copied().collect();
        let each = match ends.as_slice() {
            [first, second, ..] => format!("{first} + {} k", second - first),
            [first] => first.to_string(),
            [] => "none".to_owned(),
        };
        let kinds: [(String, Vec<u32>); 4] = [
            (format!("1, 3, 5... full frames ({each} bytes)"), odd),
            (format!("2, 4, 6... full frames ({each} bytes)"), even),
            ("pages of 4096 bytes".to_owned(), every(4_096).collect()),
            (
                "pages or buffers of 32768 bytes".to_owned(),
                every(32_768).collect(),
            ),
        ];
        let family = |(what, places): (String, Vec<u32>)| family(shape, what, &places);
        kinds.into_iter().filter_map(family).collect()
    }
}

impl Point {
    /// The mean over trials with its interval.
    pub fn time(&self) -> Option<Mean> {
        mean(&self.times)
    }
}

/// The sizes up to `last` of messages that fill their frames: one byte more
/// needs one frame more.
fn frame_ends(setting: &Setting, last: u32) -> Vec<u32> {
    let Some(request_response) = setting.traffic.request_response() else {
        return Vec::new();
    };
    let Network { ip, .. } = setting.network;
    let Some(mtu) = setting.network.path_mtu() else {
        return Vec::new();
    };
    let frames = |size: u32| frames(request_response.protocol, Bytes::new(size.into()), mtu, ip);
    let mut ends = Vec::new();
    let mut before = frames(1);
    for size in 2..=last {
        let needed = frames(size);
        if needed > before {
            ends.push(size - 1);
        }
        before = needed;
    }
    ends
}

fn frames(protocol: Transport, size: Bytes, mtu: IpMtu, ip: units::IpVersion) -> u64 {
    match protocol {
        Transport::Udp => model::fragments(size, mtu, ip),
        Transport::Tcp => model::payload_per_packet(mtu, ip, units::Transport::Tcp)
            .map_or(1, |payload| model::frames(size, payload)),
    }
}

fn family(shape: &Shape, what: String, places: &[u32]) -> Option<Family> {
    // The step is one byte further.
    let at = |jumps: &[Jump], place: &u32| {
        let place = f64::from(*place) + 1.0;
        let mut inner = jumps.iter().filter(|jump| jump.inner);
        inner.find(|jump| jump.is_at(place, 0.0)).copied()
    };
    let all = |jumps: &[Jump]| -> Vec<Jump> {
        places.iter().filter_map(|place| at(jumps, place)).collect()
    };
    let looked_at = all(&shape.jumps);
    if looked_at.is_empty() {
        return None;
    }
    // In the same gap or in one next to it.
    let is_marked = |jump: &&Jump| {
        shape
            .steps
            .iter()
            .any(|step| step.between[0] <= jump.between[1] && step.between[1] >= jump.between[0])
    };
    let marked = looked_at.iter().filter(is_marked).count();
    let share = (3 * shape.steps.len()) as f64 / (shape.jumps.len().max(1)) as f64;
    let height = |jumps: &[Jump]| {
        let heights: Vec<f64> = jumps.iter().map(|jump| jump.height).collect();
        mean(&heights)
    };
    let by_chance = share.min(1.0) * looked_at.len() as f64;
    Some(Family {
        what,
        places: looked_at.len(),
        height: height(&looked_at),
        of_shortest: height(&all(&shape.jumps_of_shortest)),
        marked,
        by_chance,
        p: steps::at_least(marked, looked_at.len(), share),
    })
}

/// The setting without its sizes; `None` if it has none.
fn without_sizes(setting: &Setting) -> Option<Setting> {
    let mut setting = setting.clone();
    match &mut setting.traffic {
        Traffic::RequestResponse(request_response) => {
            request_response.sizes = Sizes {
                from: 0,
                to: 0,
                step: 1,
                at: 0,
            };
            Some(setting)
        }
        Traffic::Transfer(_)
        | Traffic::Command(_)
        | Traffic::Flows(_)
        | Traffic::LatencyBreakdown(_)
        | Traffic::Probe(_) => None,
    }
}

/// The values of a cell's trials, by size.
fn points<'a>(cell: usize, trials: impl Iterator<Item = &'a Trial>) -> Vec<Point> {
    let mut points: BTreeMap<u32, Point> = BTreeMap::new();
    for trial in trials.filter(|trial| trial.failure.is_none()) {
        let Some(kept) = trial.evidence.get(evidence::SIZES) else {
            continue;
        };
        let numbers = |text: &String| -> Vec<f64> {
            text.split_whitespace()
                .filter_map(|word| word.parse().ok())
                .filter(|number: &f64| number.is_finite())
                .collect()
        };
        let sizes = numbers(&kept.size);
        let columns = [
            &kept.mean_us,
            &kept.deviation_us,
            &kept.least_us,
            &kept.whole_us,
        ]
        .map(numbers);
        let clocks = [
            &kept.processor_us,
            &kept.clock_1ms_us,
            &kept.clock_10ms_us,
            &kept.clock_55ms_us,
        ];
        let clocks = clocks.map(|clock| clock.as_ref().map(numbers).unwrap_or_default());
        let of_messages = 1.0..=LARGEST_MESSAGE.get() as f64;
        for (place, size) in sizes.iter().enumerate() {
            if !of_messages.contains(size) {
                continue;
            }
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "sizes of messages have 32 bits"
            )]
            let size = *size as u32;
            let point = points.entry(size).or_insert_with(|| Point {
                size,
                cell,
                ..Point::default()
            });
            let [times, deviations, shortest, wholes] = &columns;
            point.times.extend(times.get(place));
            point.deviations.extend(deviations.get(place));
            point.shortest.extend(shortest.get(place));
            point.wholes.extend(wholes.get(place));
            for (all, of_trial) in point.clocks.iter_mut().zip(&clocks) {
                all.extend(of_trial.get(place));
            }
        }
    }
    points.into_values().collect()
}

/// The median; of an even number, the mean of the middle two.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        count if count % 2 == 1 => Some(sorted[half]),
        _ => Some(f64::midpoint(sorted[half - 1], sorted[half])),
    }
}

#[cfg(test)]
mod tests;
