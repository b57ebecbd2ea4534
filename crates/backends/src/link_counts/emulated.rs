//! The counters of emulated links.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::vec::IntoIter;

use emulator::{Head, Observation};
use plan::evidence::{self, LinkSeries};
use plan::setting as spec;
use units::{Span, Time};

use super::{AggregatorMetrics, Attributed, Losses, Series, Window};
use crate::measurements::Measurements;

/// The counters of an emulated link, from its first end to its second.
pub(crate) struct EmulatedCounts<'a> {
    windows: Vec<Window>,
    series: Option<Series>,
    losses: Option<EmulatedLosses<'a>>,
}

/// The losses of flows in front of an emulated link.
struct EmulatedLosses<'a> {
    losses: Losses,
    flow_of: &'a dyn Fn(Head) -> Option<Attributed>,
    /// The timeouts of senders that are to come, each with its time and the number of
    /// its flow.
    timeouts: Peekable<IntoIter<(Span, usize)>>,
    /// The timeouts of each flow so far.
    counts: BTreeMap<usize, u64>,
    /// The packets of no flow that came.
    of_no_flow: u64,
}

impl<'a> EmulatedCounts<'a> {
    /// The counters that `link` asks for, in a trial of length `duration` of a network that
    /// `aggregates` packets or could.
    pub(crate) fn of(link: &spec::Link, duration: Span, aggregates: bool) -> Self {
        let window = |window| {
            let more = aggregates.then(|| AggregatorMetrics::new(link, duration));
            Window::new(window, more)
        };
        let interval = link.counted.series;
        Self {
            windows: link.counted.windows.iter().map(window).collect(),
            series: interval.map(|interval| Series::new(interval, duration)),
            losses: None,
        }
    }

    /// Attributes what `losses` asks for to `flows`. `flow_of` knows the flow of a packet;
    /// `timeouts` are those of all senders, with the numbers of their flows.
    pub(crate) fn attribute(
        &mut self,
        losses: spec::Losses,
        flows: &[spec::Flow],
        flow_of: &'a dyn Fn(Head) -> Option<Attributed>,
        mut timeouts: Vec<(Span, usize)>,
    ) {
        timeouts.sort_unstable();
        self.losses = Some(EmulatedLosses {
            losses: Losses::new(losses, flows),
            flow_of,
            timeouts: timeouts.into_iter().peekable(),
            counts: BTreeMap::new(),
            of_no_flow: 0,
        });
    }

    /// Counts an event of a trial that began at `begin`.
    pub(crate) fn take(&mut self, begin: Time, observation: Observation) {
        let picos = |at: Time| at.since(begin).unwrap_or_default().as_picos();
        match observation {
            Observation::Arrived(at, live, average, heads) => {
                let at = picos(at);
                if let Some(losses) = &mut self.losses {
                    heads.into_iter().for_each(|head| losses.came(at, head));
                }
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
            Observation::Dropped(at, live, heads) => {
                let at = picos(at);
                if let Some(losses) = &mut self.losses {
                    heads.into_iter().for_each(|head| losses.dropped(at, head));
                }
                self.windows(|window| window.dropped(at, live));
                self.series(|series| {
                    series.gone(at);
                    series.dropped(at);
                });
            }
            Observation::InnerDropped(at, live, heads) => {
                let at = picos(at);
                if let Some(losses) = &mut self.losses {
                    heads.into_iter().for_each(|head| losses.dropped(at, head));
                }
                self.windows(|window| window.inner_dropped(at, live));
            }
        }
    }

    /// Adds the metrics of the windows to `measurements`; returns the time series.
    pub(crate) fn put(self, measurements: &mut Measurements) -> Option<LinkSeries> {
        self.windows.iter().for_each(|one| one.put(measurements));
        if let Some(losses) = self.losses {
            losses.losses.put(measurements);
            measurements.note(evidence::LOSSES_OF_NO_FLOW, losses.of_no_flow);
        }
        self.series.map(Series::finish)
    }

    fn windows(&mut self, each: impl FnMut(&mut Window)) {
        self.windows.iter_mut().for_each(each);
    }

    fn series(&mut self, each: impl FnOnce(&mut Series)) {
        self.series.as_mut().map(each);
    }
}

impl EmulatedLosses<'_> {
    fn came(&mut self, at: u64, head: Option<Head>) {
        self.pass(at);
        match head.and_then(self.flow_of) {
            Some(packet) => self.losses.came(at, packet),
            None => self.of_no_flow += 1,
        }
    }

    fn dropped(&mut self, at: u64, head: Option<Head>) {
        self.pass(at);
        if let Some(packet) = head.and_then(self.flow_of) {
            self.losses.dropped(at, packet);
        }
    }

    /// Counts the timeouts up to a time.
    fn pass(&mut self, at: u64) {
        while let Some((_, flow)) = self.timeouts.next_if(|(then, _)| then.as_picos() <= at) {
            let count = self.counts.entry(flow).or_default();
            *count += 1;
            self.losses.acted(flow, *count);
        }
    }
}

#[cfg(test)]
mod tests {
    use plan::synthetic;
    use queue::AverageQueue;

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
        let average = |frames| {
            Some(AverageQueue {
                frames,
                bytes: 100.0 * frames,
                of_max: frames / 5.0,
            })
        };
        for observation in [
            // Three packets wait from 0 to 500 ms, are one less then, and take 250 ms.
            Observation::Arrived(at(0), 3, average(1.0), vec![]),
            Observation::InnerDropped(at(400), 1, vec![]),
            Observation::Sent([at(0), at(500), at(750)], 2),
            Observation::Arrived(at(600), 1, average(2.0), vec![]),
            Observation::Dropped(at(600), 1, vec![]),
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
            ("average_bytes_all", 150.0),
            ("max_th_percent_all", 30.0),
            ("queue_delay_all", 500.0),
        ] {
            assert!(
                (measurements.metrics[metric] - value).abs() < 1e-9,
                "{metric}"
            );
        }
        assert_eq!(
            (series.arrivals.as_deref(), series.drops.as_deref()),
            (Some("1 1"), Some("0 1"))
        );
    }

    #[test]
    fn drops_of_an_emulated_link_are_those_of_the_flows_of_its_packets() {
        let mut link = synthetic::setting(1_500, false).network.links[0].clone();
        link.counted.losses = Some(spec::Losses {
            from: Span::ZERO,
            to: Span::from_secs(1),
            epoch: Span::from_millis(100),
        });
        let flow_of = |head: Head| {
            let [_, port] = head.ports;
            let flow = usize::from(port.checked_sub(7)?);
            let data = head
                .segment
                .map(|(first, count)| (first.into(), count.into()));
            Some(Attributed { flow, data })
        };
        let timeouts = vec![(Span::from_millis(300), 0)];
        let mut counts = EmulatedCounts::of(&link, Span::from_secs(1), false);
        counts.attribute(link.counted.losses.unwrap(), &[], &flow_of, timeouts);
        let begin = Time::ZERO + Span::from_secs(9);
        let at = |millis: u64| begin + Span::from_millis(millis);
        let segment = |port, sequence| {
            vec![Some(Head {
                ports: [1, port],
                segment: Some((sequence, 100)),
            })]
        };
        for observation in [
            Observation::Arrived(at(10), 1, None, segment(7, 0)),
            Observation::Dropped(at(10), 1, segment(7, 0)),
            Observation::Arrived(at(20), 1, None, segment(8, 0)),
            Observation::Dropped(at(20), 1, segment(8, 0)),
            Observation::Arrived(at(30), 1, None, segment(3, 0)),
            Observation::Arrived(at(40), 1, None, vec![None]),
            Observation::Arrived(at(120), 1, None, segment(8, 0)),
            // After a timeout: no notice.
            Observation::Arrived(at(310), 1, None, segment(7, 0)),
        ] {
            counts.take(begin, observation);
        }
        let mut measurements = Measurements::default();
        assert!(counts.put(&mut measurements).is_none());
        assert!((measurements.metrics["notice"] - 100.0).abs() < 1e-9);
        assert!((measurements.metrics["synchronisation"] - 100.0).abs() < 1e-9);
        assert_eq!(measurements.evidence["losses"]["noticed"], 1);
        assert_eq!(measurements.evidence["losses_of_no_flow"], 2);
    }

    #[test]
    fn drops_out_of_a_bundle_and_with_it_are_those_of_the_flows_inside() {
        let mut link = synthetic::setting(1_500, false).network.links[0].clone();
        link.counted.losses = Some(spec::Losses {
            from: Span::ZERO,
            to: Span::from_secs(1),
            epoch: Span::from_millis(100),
        });
        let text = "format = 1\nname = \"x\"\n[traffic]\nkind = \"flows\"\nduration = \"1s\"\n\
             [flows.one]\nmessage = 100\ngap = \"1ms\"\n[flows.two]\nmessage = 100\ngap = \"1ms\"\n\
             [sweep]\n\"network.mtu\" = [1500]\n";
        let experiment = experiment::Experiment::parse(text, "x.toml").unwrap();
        let plan = crate::backend::plan(experiment, plan::Backend::Sim).unwrap();
        let setting = plan.cells[0].setting.as_ref().unwrap();
        let spec::Traffic::Flows(spec::Flows { flows, .. }) = &setting.traffic else {
            panic!("flows are flows");
        };
        let flow_of = |head: Head| {
            let [_, port] = head.ports;
            let flow = usize::from(port.checked_sub(7)?);
            (flow < 2).then_some(Attributed { flow, data: None })
        };
        let mut counts = EmulatedCounts::of(&link, Span::from_secs(1), true);
        counts.attribute(link.counted.losses.unwrap(), flows, &flow_of, vec![]);
        let begin = Time::ZERO + Span::from_secs(9);
        let at = |millis: u64| begin + Span::from_millis(millis);
        let to = |port| {
            Some(Head {
                ports: [1, port],
                segment: None,
            })
        };
        for observation in [
            Observation::Arrived(at(10), 4, None, vec![to(7), to(8), to(8), None]),
            Observation::InnerDropped(at(20), 1, vec![to(8)]),
            Observation::Dropped(at(30), 3, vec![to(7), to(8), None]),
            Observation::Arrived(at(40), 1, None, vec![to(7)]),
        ] {
            counts.take(begin, observation);
        }
        let mut measurements = Measurements::default();
        assert!(counts.put(&mut measurements).is_none());
        let losses = &measurements.evidence["losses"];
        assert_eq!(losses["flows"]["one"], serde_json::json!([2, 1]));
        assert_eq!(losses["flows"]["two"], serde_json::json!([2, 2]));
        assert_eq!(measurements.evidence["losses_of_no_flow"], 1);
    }
}
