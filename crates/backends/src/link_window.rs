//! Statistics of one direction of a link over a window of a trial.

use plan::metric::{self, Metric};
use serde::{Deserialize, Serialize};
use units::{Span, Time};

use crate::measurements::Measurements;

/// The arrivals at one direction of a link and the departures from its queue.
/// Packets are not distinguished, since only sums are needed.
#[derive(Debug, Default)]
pub(crate) struct LinkEvents {
    came: Vec<Time>,
    /// With the transmission time of each.
    began: Vec<(Time, Span)>,
    dropped: Vec<Time>,
}

/// Metrics of a window of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LinkWindow {
    drop_percent: f64,
    utilisation_percent: f64,
    mean_queue: f64,
}

impl LinkEvents {
    /// Records the arrival of a packet at the queue.
    pub(crate) fn on_arrival(&mut self, at: Time) {
        self.came.push(at);
    }

    /// Records the departure of a packet to the link, with its transmission
    /// time `busy`.
    pub(crate) fn begin(&mut self, at: Time, busy: Span) {
        self.began.push((at, busy));
    }

    /// Records a packet dropped by the queue.
    pub(crate) fn drop(&mut self, at: Time) {
        self.dropped.push(at);
    }

    /// The metrics from one time to another; `None` if no packet arrived
    /// between them.
    pub(crate) fn window(&self, from: Time, to: Time) -> Option<LinkWindow> {
        let length = to.since(from)?.as_secs_f64();
        let inside = |at: &Time| (from..to).contains(at);
        // An arrival adds the rest of the window to the waiting time; a
        // departure subtracts its rest.
        let rest = |at: &Time| to.since((*at).max(from)).unwrap_or_default().as_secs_f64();
        let came: f64 = self.came.iter().map(rest).sum();
        let went: f64 = self
            .began
            .iter()
            .map(|(at, _)| at)
            .chain(&self.dropped)
            .map(rest)
            .sum();
        let busy: f64 = self
            .began
            .iter()
            .filter_map(|(at, busy)| (*at + *busy).min(to).since((*at).max(from)))
            .map(Span::as_secs_f64)
            .sum();
        let count = |instants: &[Time]| instants.iter().filter(|at| inside(at)).count();
        let (came_inside, dropped) = (count(&self.came), count(&self.dropped));
        (came_inside > 0).then(|| LinkWindow {
            drop_percent: 100.0 * number(dropped) / number(came_inside),
            utilisation_percent: 100.0 * busy / length,
            mean_queue: (came - went) / length,
        })
    }
}

impl Measurements {
    /// Stores the metrics of the window called `window`.
    pub(crate) fn take_window(&mut self, name: &str, window: &LinkWindow) {
        let values: [(&Metric, f64); 3] = [
            (&metric::DROP_PERCENT, window.drop_percent),
            (&metric::UTILISATION_PERCENT, window.utilisation_percent),
            (&metric::MEAN_QUEUE, window.mean_queue),
        ];
        for (metric, value) in values {
            self.put(metric::of_window(metric, name), Some(value));
        }
    }
}

fn number(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_of_the_part_between_two_instants() {
        let at = |millis: u64| Time::ZERO + Span::from_millis(millis);
        let mut events = LinkEvents::default();
        // Waits from 0 to 400, of which 100 are before the window; dropped at
        // 500; still waiting at the end, since 900. Transmissions reach over both
        // ends of the window.
        for millis in [0, 0, 500, 900, 1_000, 2_000] {
            events.on_arrival(at(millis));
        }
        events.begin(at(0), Span::from_millis(150));
        events.begin(at(400), Span::from_millis(250));
        events.drop(at(500));
        events.begin(at(1_000), Span::from_millis(300));
        events.begin(at(3_000), Span::from_millis(250));
        let window = events.window(at(100), at(1_100)).unwrap();
        assert!((window.mean_queue - 0.5).abs() < 1e-9, "{window:?}");
        assert!(
            (window.utilisation_percent - 40.0).abs() < 1e-9,
            "{window:?}"
        );
        assert!(
            (window.drop_percent - 100.0 / 3.0).abs() < 1e-9,
            "{window:?}"
        );
        assert_eq!(events.window(at(2_500), at(2_600)), None);
    }
}
