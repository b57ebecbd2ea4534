//! Counters of a link over windows of a trial and over time, for simulated and emulated
//! links.

mod series;
mod window;

use live::emulator::Observation;
use plan::setting as spec;
use serde_json::Value;
use units::{Span, Time};

use crate::measurements::Measurements;
pub(crate) use series::Series;
pub(crate) use window::{GatherMetrics, Window};

/// The counters of an emulated link, from its first end to its second.
pub(crate) struct EmulatedCounts {
    windows: Vec<Window>,
    series: Option<Series>,
}

impl EmulatedCounts {
    /// The counters that `link` asks for, in a trial of length `duration` of a network that
    /// `gathers` packets or could.
    pub(crate) fn of(link: &spec::Link, duration: Span, gathers: bool) -> Self {
        let window = |window| {
            let more = gathers.then(|| GatherMetrics::new(link, duration));
            Window::new(window, more)
        };
        let interval = link.counted.series;
        Self {
            windows: link.counted.windows.iter().map(window).collect(),
            series: interval.map(|interval| Series::new(interval, duration)),
        }
    }

    /// Counts an event of a trial that began at `begin`.
    pub(crate) fn take(&mut self, begin: Time, observation: Observation) {
        let picos = |at: Time| at.since(begin).unwrap_or_default().as_picos();
        match observation {
            Observation::Arrived(at, live, average) => {
                let at = picos(at);
                self.windows(|window| window.came(at, live, average));
                self.series(|series| series.queued(at, average));
            }
            Observation::Sent([arrived, begins, ends], live) => {
                let busy = ends.since(begins).unwrap_or_default().as_picos();
                let waited = begins.since(arrived).unwrap_or_default().as_picos();
                let at = picos(begins);
                self.windows(|window| window.began(at, live, busy, waited));
                self.series(|series| series.gone(at));
            }
            Observation::Dropped(at, live) => {
                let at = picos(at);
                self.windows(|window| window.dropped(at, live));
                self.series(|series| {
                    series.gone(at);
                    series.dropped(at);
                });
            }
            Observation::InnerDropped(at, live) => {
                let at = picos(at);
                self.windows(|window| window.inner_dropped(at, live));
            }
        }
    }

    /// Adds the metrics of the windows to `measurements`; returns the time series.
    pub(crate) fn put(self, measurements: &mut Measurements) -> Option<Value> {
        self.windows.iter().for_each(|one| one.put(measurements));
        self.series.map(Series::finish)
    }

    fn windows(&mut self, each: impl FnMut(&mut Window)) {
        self.windows.iter_mut().for_each(each);
    }

    fn series(&mut self, each: impl FnOnce(&mut Series)) {
        self.series.as_mut().map(each);
    }
}

#[cfg(test)]
mod tests {
    use plan::synthetic;

    use super::*;

    #[test]
    fn observations_of_a_queue_become_the_figures_of_its_windows() {
        let mut link = synthetic::setting(1_500, false).network.links[0].clone();
        link.counted.windows = vec![spec::Window {
            name: "all".to_owned(),
            from: Span::ZERO,
            to: Span::from_secs(1),
        }];
        link.counted.series = Some(Span::from_millis(500));
        let mut counts = EmulatedCounts::of(&link, Span::from_secs(1), true);
        let begin = Time::ZERO + Span::from_secs(9);
        let at = |millis: u64| begin + Span::from_millis(millis);
        for observation in [
            // Three packets wait from 0 to 500 ms, are one less then, and take 250 ms.
            Observation::Arrived(at(0), 3, Some(1.0)),
            Observation::InnerDropped(at(400), 1),
            Observation::Sent([at(0), at(500), at(750)], 2),
            Observation::Arrived(at(600), 1, Some(2.0)),
            Observation::Dropped(at(600), 1),
        ] {
            counts.take(begin, observation);
        }
        let mut measurements = Measurements::default();
        let series = counts.put(&mut measurements).unwrap();
        for (metric, value) in [
            ("drop_percent_all", 50.0),
            ("inner_drop_percent_all", 50.0),
            ("packets_per_frame_all", 2.0),
            ("utilisation_percent_all", 25.0),
            ("mean_queue_all", 0.5),
            ("average_queue_all", 1.5),
            ("queue_delay_all", 500.0),
        ] {
            assert!(
                (measurements.metrics[metric] - value).abs() < 1e-9,
                "{metric}"
            );
        }
        assert_eq!(
            (&series["arrivals"], &series["drops"]),
            (&"1 1".into(), &"0 1".into())
        );
    }
}
