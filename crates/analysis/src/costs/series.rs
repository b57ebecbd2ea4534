//! The trials of a run that differ in segments and sizes only.

use plan::setting::{MtuMethod, Traffic};
use plan::{Factors, Plan, Setting, Trial, evidence};
use units::{Bytes, IpMtu, Rate, Transport};

use super::{Observation, QUANTITIES, Quantity};

/// Trials of bulk transfers over TCP that differ in segments and sizes only.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// The factors that tell it from other series of its run.
    pub factors: Factors,
    /// The rate of the slowest link, if links have rates.
    pub rate: Option<Rate>,
    /// Whether segments travel in bundles of the hosts' offloads; mixed if only some
    /// trials do.
    pub offloads: Offloads,
    /// The trials.
    pub points: Vec<Point>,
    /// How many of them have a throughput that other work on the machine disturbed.
    pub disturbed: usize,
}

/// Offloads of segmentation and reception during the trials of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Offloads {
    /// Off, or not known.
    #[default]
    Off,
    /// Off in some trials and on in others.
    Mixed,
    On,
}

/// One trial.
#[derive(Clone, Debug)]
pub struct Point {
    /// The largest packet on the path, if it has one segment.
    pub mtu: u64,
    /// Bytes of payload in a packet.
    pub segment: f64,
    /// Segments of TCP in a packet.
    pub segments: u32,
    /// The values, each with the bytes over which it was measured.
    pub values: Vec<(Quantity, f64, f64)>,
}

impl Series {
    /// The values of a quantity in the trials at these MTUs, as costs.
    pub fn observations(&self, quantity: Quantity, at: impl Fn(u64) -> bool) -> Vec<Observation> {
        let points = self.points.iter().filter(|point| at(point.mtu));
        let values = points.flat_map(|point| point.values.iter().map(move |value| (point, value)));
        let own = values.filter(|(_, (other, _, _))| *other == quantity);
        own.map(|(point, (_, value, size))| Observation {
            segment: point.segment,
            several: point.segments > 1,
            size: *size,
            seconds: quantity.seconds(*value),
        })
        .collect()
    }

    /// The values of a quantity in the trials at an MTU, with packets of one segment.
    pub fn values(&self, quantity: Quantity, mtu: u64) -> Vec<f64> {
        let single = |point: &&Point| point.mtu == mtu && point.segments <= 1;
        let points = self.points.iter().filter(single);
        let values = points.flat_map(|point| &point.values);
        let own = values.filter(|(other, _, _)| *other == quantity);
        own.map(|(_, value, _)| *value).collect()
    }

    /// The payload of a segment at another MTU, with the headers of these trials; `None`
    /// if they do not fit.
    pub fn segment(&self, mtu: u64) -> Option<f64> {
        let first = self.points.first()?;
        let headers = first.mtu as f64 - first.segment / f64::from(first.segments.max(1));
        let segment = mtu as f64 - headers;
        (segment >= 1.0).then_some(segment)
    }

    /// Whether another series was measured with the same settings, by its factors.
    pub fn is_like(&self, other: &Self) -> bool {
        let same = |(name, level): &(String, plan::Level)| {
            let own = self.factors.level(name);
            own.is_none_or(|own| own.is_same(level))
        };
        self.rate == other.rate && other.factors.0.iter().all(same)
    }
}

/// The series of a run, in the order of its cells; empty without bulk transfers over TCP
/// that finished.
pub fn series_of(plan: &Plan, trials: &[Trial]) -> Vec<Series> {
    let mut found: Vec<(Setting, Vec<&Factors>, Series)> = Vec::new();
    for cell in &plan.cells {
        let Ok(setting) = &cell.setting else { continue };
        let Some(alike) = without_sizes(setting) else {
            continue;
        };
        let own = trials
            .iter()
            .filter(|trial| trial.failure.is_none() && *trial.factors == cell.factors);
        let own: Vec<&Trial> = own.collect();
        let points: Vec<Point> = own
            .iter()
            .filter_map(|trial| point(setting, trial))
            .collect();
        if points.is_empty() {
            continue;
        }
        let place = found.iter().position(|(other, _, _)| *other == alike);
        let place = place.unwrap_or_else(|| {
            let rates = setting.network.links.iter().filter_map(|link| link.rate);
            let series = Series {
                rate: rates.min(),
                ..Series::default()
            };
            found.push((alike, Vec::new(), series));
            found.len() - 1
        });
        let (_, factors, series) = &mut found[place];
        factors.push(&cell.factors);
        let first = series.points.is_empty();
        for (number, trial) in own.iter().enumerate() {
            let on = offloads(setting, trial);
            series.offloads = match first && number == 0 {
                true if on => Offloads::On,
                true => Offloads::Off,
                false if on == (series.offloads == Offloads::On) => series.offloads,
                false => Offloads::Mixed,
            };
        }
        let disturbed = own.iter().filter(|trial| {
            let rate = QUANTITIES[0].name;
            trial.metrics.contains_key(rate) && trial.is_disturbed_in(rate)
        });
        series.disturbed += disturbed.count();
        series.points.extend(points);
    }
    let all: Vec<&Factors> = found.iter().flat_map(|(_, all, _)| all.clone()).collect();
    let labels: Vec<Factors> = found.iter().map(|(_, own, _)| label(own, &all)).collect();
    let found = found.into_iter().zip(labels);
    found
        .map(|((_, _, series), factors)| Series { factors, ..series })
        .collect()
}

/// The factors whose level all cells of a series share, and not all of the run.
fn label(own: &[&Factors], all: &[&Factors]) -> Factors {
    let shared = |among: &[&Factors], name: &str, level: &plan::Level| {
        among
            .iter()
            .all(|factors| factors.level(name) == Some(level))
    };
    let Some(first) = own.first() else {
        return Factors::default();
    };
    let telling = |(name, level): &&(String, plan::Level)| {
        shared(own, name, level) && !shared(all, name, level)
    };
    Factors(first.0.iter().filter(telling).cloned().collect())
}

/// The setting of a bulk transfer over TCP with all sizes taken out, `None` of others.
fn without_sizes(setting: &Setting) -> Option<Setting> {
    let mut alike = setting.clone();
    let none = Bytes::ZERO;
    let any = IpMtu::new(1_500, setting.network.ip).ok()?;
    match &mut alike.traffic {
        Traffic::Transfer(transfer) if transfer.protocol == Transport::Tcp => {
            (transfer.size, transfer.cpu_bytes) = (none, none);
            (transfer.message, transfer.warmup) = (none, none);
        }
        _ => return None,
    }
    alike.network.mtu_method = MtuMethod::Interface;
    // Whether the kernel makes packets one by one is a setting of its own.
    alike.host.segments_per_packet = alike.host.segments_per_packet.map(|_| 1);
    for link in &mut alike.network.links {
        link.mtu = any;
        (link.burst, link.buffer) = (none, none);
    }
    Some(alike)
}

/// The segment and the values of a trial; `None` without a quantity.
fn point(setting: &Setting, trial: &Trial) -> Option<Point> {
    let network = &setting.network;
    let mtu = network.path_mtu()?;
    let computed = model::payload_per_packet(mtu, network.ip, Transport::Tcp);
    let segment = trial
        .number(evidence::SEGMENT_SIZE)
        .filter(|bytes| *bytes >= 1.0)
        .or_else(|| Some(computed?.get() as f64))?;
    let transfer = setting.traffic.transfer()?;
    let value = |quantity: Quantity| {
        let size = match quantity.is_rate() || !quantity.is_cost() {
            true => transfer.size,
            false => transfer.cpu_bytes,
        };
        Some((quantity, quantity.of(trial)?, size.get().max(1) as f64))
    };
    let values: Vec<_> = QUANTITIES.into_iter().filter_map(value).collect();
    let segments = setting.host.segments_per_packet.unwrap_or(1);
    (!values.is_empty()).then_some(Point {
        mtu: mtu.bytes().get(),
        segment: segment * f64::from(segments),
        segments,
        values,
    })
}

/// Whether offloads were on, by what the interfaces said, or else by the setting. With a
/// number of segments for each packet they are no bundles of unknown size.
fn offloads(setting: &Setting, trial: &Trial) -> bool {
    if setting.host.segments_per_packet.is_some() {
        return false;
    }
    let seen = trial.evidence.get(evidence::OFFLOADS_ON);
    seen.map_or(setting.host.offloads, |on| !on.is_empty())
}

#[cfg(test)]
mod tests {
    use plan::synthetic::{self, full_factors, trial};
    use plan::{Backend, Cell};

    use super::*;
    use crate::costs::THROUGHPUT;

    /// The plan of these cells, each with a trial of 900 Mbit/s and more evidence.
    fn run(cells: &[(bool, i64)]) -> (Plan, Vec<Trial>) {
        let word = |on: &bool| if *on { "on" } else { "off" };
        let cells: Vec<Cell> = cells
            .iter()
            .map(|(on, mtu)| Cell {
                factors: full_factors("LU-LU", word(on), *mtu),
                setting: Ok(synthetic::setting(*mtu, *on)),
            })
            .collect();
        let trials = cells
            .iter()
            .map(|cell| {
                trial(
                    cell.factors.clone(),
                    1,
                    &[("throughput", 900.0), ("cpu_total", 3.0), ("delay", 1.0)],
                )
            })
            .collect();
        (synthetic::plan(cells, 1, Vec::new()), trials)
    }

    #[test]
    fn cells_that_differ_in_more_than_sizes_are_series_of_their_own() {
        let (plan, trials) = run(&[(false, 1500), (true, 1500), (false, 9000), (true, 9000)]);
        assert_eq!(plan.backend, Backend::Netns);
        let found = series_of(&plan, &trials);
        let labels: Vec<String> = found.iter().map(|one| one.factors.to_string()).collect();
        assert_eq!(labels, ["offloads=off", "offloads=on"]);
        assert_eq!(found[1].offloads, Offloads::On);
        let quantity = THROUGHPUT;
        let all = found[0].observations(quantity, |_| true);
        assert_eq!(
            (all.len(), all[0].segment, all[1].segment),
            (2, 1428.0, 8928.0)
        );
        assert_eq!(found[0].observations(quantity, |mtu| mtu < 2000).len(), 1);
        assert_eq!(found[0].values(quantity, 9000), [900.0]);
        assert_eq!(found[0].segment(4000), Some(3928.0));
        assert_eq!(found[0].segment(72), None);
        assert!(found[0].is_like(&found[0]) && !found[0].is_like(&found[1]));
    }

    #[test]
    fn the_segment_that_the_kernel_states_counts_and_failed_trials_do_not() {
        let (plan, mut trials) = run(&[(false, 1500), (false, 9000)]);
        trials[0].evidence.insert(evidence::SEGMENT_SIZE, 536);
        trials[1].failure = Some("timed out".into());
        let found = series_of(&plan, &trials);
        assert_eq!(found.len(), 1);
        let points = &found[0].points;
        assert_eq!((points.len(), points[0].segment), (1, 536.0));
    }

    #[test]
    fn offloads_that_were_on_in_part_of_the_trials_are_mixed() {
        let (plan, mut trials) = run(&[(false, 1500), (false, 4000), (false, 9000)]);
        for (trial, on) in trials.iter_mut().zip([false, true, false]) {
            let on = if on {
                vec!["tx-tcp-segmentation".to_owned()]
            } else {
                vec![]
            };
            trial.evidence.insert(evidence::OFFLOADS_ON, on);
        }
        trials[2].flags = vec!["disturbed".into()].into();
        let found = series_of(&plan, &trials);
        assert_eq!(
            (found[0].offloads, found[0].disturbed),
            (Offloads::Mixed, 1)
        );
        trials[1].evidence = plan::Evidence::default();
        assert_eq!(series_of(&plan, &trials)[0].offloads, Offloads::Off);
    }

    #[test]
    fn datagrams_are_no_bulk_transfer() {
        let (mut plan, trials) = run(&[(false, 1500)]);
        if let Ok(setting) = &mut plan.cells[0].setting
            && let Traffic::Transfer(transfer) = &mut setting.traffic
        {
            transfer.protocol = Transport::Udp;
        }
        assert!(series_of(&plan, &trials).is_empty());
    }
}
