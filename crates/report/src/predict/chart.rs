//! Curves as an SVG file that stands alone.

use maud::{Markup, PreEscaped, html};

/// Curves over one pair of axes.
pub(super) struct Chart {
    pub(super) title: String,
    /// The quantities of the axes, with units.
    pub(super) horizontal: String,
    pub(super) vertical: String,
    pub(super) curves: Vec<Curve>,
}

/// A line with its name in the legend.
pub(super) struct Curve {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
}

/// The picture in pixels, and the room beside the axes.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 48.0;

/// The height of a line of the legend.
const LINE: f64 = 16.0;

/// Ticks on an axis, about.
const TICKS: f64 = 6.0;

/// The ratio of the largest to the smallest value from which the vertical axis is
/// logarithmic.
const WIDE: f64 = 100.0;

/// Colours that people with colour blindness tell apart [Okabe2008].
const COLOURS: [&str; 7] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000",
];

/// An axis: where values are between 0 and 1, and its ticks.
struct Axis {
    low: f64,
    high: f64,
    is_logarithmic: bool,
}

impl Axis {
    /// The axis of these values; `is_wide`: logarithmic where they span decades.
    fn of(values: impl Iterator<Item = f64> + Clone, is_wide: bool) -> Self {
        let finite = values.filter(|value| value.is_finite());
        let low = finite.clone().fold(f64::INFINITY, f64::min);
        let high = finite.fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = match low < high {
            true => (low, high),
            false if low.is_finite() => (low - 1.0, low + 1.0),
            false => (0.0, 1.0),
        };
        Self {
            low,
            high,
            is_logarithmic: is_wide && low > 0.0 && high / low > WIDE,
        }
    }

    /// The place of a value, from 0 to 1.
    fn place(&self, value: f64) -> f64 {
        let of = |value: f64| match self.is_logarithmic {
            true => value.log10(),
            false => value,
        };
        (of(value) - of(self.low)) / (of(self.high) - of(self.low))
    }

    /// Values with a tick: powers of ten, or multiples of 1, 2 or 5 of one.
    fn ticks(&self) -> Vec<f64> {
        if self.is_logarithmic {
            let powers = (-18..=18).map(|power| 10_f64.powi(power));
            return powers
                .filter(|value| (self.low..=self.high).contains(value))
                .collect();
        }
        let rough = (self.high - self.low) / TICKS;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|digit| digit * power);
        let step = step.fold(f64::INFINITY, |best, step| match step >= rough {
            true => best.min(step),
            false => best,
        });
        let first = (self.low / step).ceil();
        let ticks = (0..20_u8).map(|place| (first + f64::from(place)) * step);
        ticks
            .take_while(|value| *value <= self.high + step * 1e-9)
            .collect()
    }
}

impl Chart {
    /// The picture.
    pub(super) fn svg(&self) -> String {
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let across = Axis::of(points().map(|(x, _)| *x), false);
        let up = Axis::of(points().map(|(_, y)| *y), true);
        let x = |value: f64| LEFT + across.place(value) * (WIDTH - LEFT - RIGHT);
        let y = |value: f64| HEIGHT - BOTTOM - up.place(value) * (HEIGHT - TOP - BOTTOM);
        let line = |curve: &Curve| {
            let point = |(a, b): &(f64, f64)| format!("{:.1},{:.1}", x(*a), y(*b));
            curve.points.iter().map(point).collect::<Vec<_>>().join(" ")
        };
        let picture: Markup = html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (WIDTH) " " (HEIGHT) }
                width=(WIDTH) height=(HEIGHT) role="img" aria-label=(self.title)
                font-family="sans-serif" font-size="12" {
                rect width=(WIDTH) height=(HEIGHT) fill="white" {}
                text x=(LEFT) y="20" font-size="14" { (self.title) }
                @for tick in across.ticks() {
                    line x1=(pixels(x(tick))) x2=(pixels(x(tick))) y1=(TOP) y2=(HEIGHT - BOTTOM) stroke="#ddd" {}
                    text x=(pixels(x(tick))) y=(HEIGHT - BOTTOM + LINE) text-anchor="middle" { (number(tick)) }
                }
                @for tick in up.ticks() {
                    line x1=(LEFT) x2=(WIDTH - RIGHT) y1=(pixels(y(tick))) y2=(pixels(y(tick))) stroke="#ddd" {}
                    text x=(LEFT - 6.0) y=(pixels(y(tick) + 4.0)) text-anchor="end" { (number(tick)) }
                }
                text x=(WIDTH / 2.0) y=(HEIGHT - 10.0) text-anchor="middle" { (self.horizontal) }
                text transform={ "translate(14 " (HEIGHT / 2.0) ") rotate(-90)" } text-anchor="middle" { (self.vertical) }
                @for (place, curve) in self.curves.iter().enumerate() {
                    polyline points=(line(curve)) fill="none" stroke=(COLOURS[place % COLOURS.len()]) stroke-width="2" {}
                }
                @for (place, curve) in self.curves.iter().enumerate() {
                    text x=(WIDTH - RIGHT - 8.0) y=(legend(place)) text-anchor="end" fill=(COLOURS[place % COLOURS.len()]) { (curve.name) }
                }
            }
        };
        let declaration = PreEscaped("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        html! { (declaration) (picture) "\n" }.into_string()
    }
}

/// The height of a line of the legend, from the bottom up.
fn legend(place: usize) -> String {
    pixels(HEIGHT - BOTTOM - 8.0 - LINE * place as f64)
}

fn pixels(place: f64) -> String {
    format!("{place:.1}")
}

/// A tick without needless digits.
fn number(value: f64) -> String {
    let rounded = (value * 1e6).round() / 1e6;
    match value.abs() {
        0.0 => "0".to_owned(),
        size if !(1e-4..1e7).contains(&size) => format!("{value:e}"),
        _ => rounded.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: Vec<(f64, f64)>) -> String {
        let curves = vec![Curve {
            name: "a < b".to_owned(),
            points,
        }];
        let chart = Chart {
            title: "T & U".to_owned(),
            horizontal: "x".to_owned(),
            vertical: "y".to_owned(),
            curves,
        };
        chart.svg()
    }

    #[test]
    fn curves_are_between_the_axes_and_text_is_escaped() {
        let picture = chart(vec![(0.0, 10.0), (50.0, 20.0), (100.0, 30.0)]);
        assert!(picture.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns="));
        assert!(
            picture.contains("points=\"72.0,372.0 388.0,206.0 704.0,40.0\""),
            "{picture}"
        );
        assert!(picture.contains("T &amp; U") && picture.contains("a &lt; b"));
        for tick in [">20</text>", ">100</text>", ">15</text>"] {
            assert!(picture.contains(tick), "{tick}: {picture}");
        }
    }

    #[test]
    fn decades_have_a_logarithmic_axis_and_no_points_an_empty_one() {
        let picture = chart(vec![(1.0, 1.0), (2.0, 100.0), (3.0, 10_000.0)]);
        assert!(
            picture.contains("points=\"72.0,372.0 388.0,206.0 704.0,40.0\""),
            "{picture}"
        );
        for points in [vec![], vec![(1.0, 1.0)], vec![(f64::NAN, f64::INFINITY)]] {
            assert!(chart(points).contains("</svg>"));
        }
    }
}
