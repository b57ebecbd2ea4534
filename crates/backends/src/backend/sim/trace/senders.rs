//! Records the state of watched connections' senders over time.

use std::path::{Path, PathBuf};

use anyhow::Result;
use files::Folder;
use plan::Setting;
use plan::setting::{Sends, Traffic};
use results::table::{Column, Values, write_table_in};
use tcp::{Counts, State};
use units::{Span, Time};

use super::{FOLDER, column, file_name, whole};
use crate::recording::ArtifactDir;

/// The senders of a simulation.
pub(super) struct Senders {
    /// The names of groups of watched senders, one file each.
    groups: Vec<String>,
    /// By flow number of the scenario; `None`: not watched.
    flows: Vec<Option<Sender>>,
}

/// A watched sender.
struct Sender {
    name: String,
    group: usize,
    interval: Span,
    next: Time,
    samples: Vec<Sample>,
}

/// The state of a sender.
struct Sample {
    at: Time,
    state: State,
    counts: Counts,
}

impl Senders {
    /// The watched senders of `setting`; `None` if there are none.
    pub(super) fn of(setting: &Setting) -> Option<Self> {
        let Traffic::Flows(flows) = &setting.traffic else {
            return None;
        };
        let mut senders = Self {
            groups: Vec::new(),
            flows: Vec::new(),
        };
        for flow in &flows.flows {
            let interval = match &flow.sends {
                Sends::Bytes { watch, .. } => *watch,
                Sends::Datagrams { .. } | Sends::Messages { .. } => None,
            };
            let group = senders.groups.len();
            if interval.is_some() {
                senders.groups.push(flow.name.clone());
            }
            senders.flows.extend(flow.names().map(|name| {
                Some(Sender {
                    name,
                    group,
                    interval: interval?,
                    next: Time::ZERO,
                    samples: Vec::new(),
                })
            }));
        }
        (!senders.groups.is_empty()).then_some(senders)
    }

    /// The memory of a sample.
    pub(super) const SAMPLE: usize = size_of::<Sample>();

    /// Whether the sender of `flow` is watched, and `at` begins an interval.
    pub(super) fn wants(&self, at: Time, flow: usize) -> bool {
        let sender = self.flows.get(flow).and_then(Option::as_ref);
        sender.is_some_and(|sender| at >= sender.next)
    }

    /// Records the first action of a sender in an interval.
    pub(super) fn acted(&mut self, at: Time, flow: usize, state: State, counts: Counts) {
        let Some(Some(sender)) = self.flows.get_mut(flow) else {
            return;
        };
        let passed = at.as_picos() / sender.interval.as_picos().max(1);
        sender.next = Time::ZERO + sender.interval * (passed + 1);
        sender.samples.push(Sample { at, state, counts });
    }

    /// Writes the records; returns the files, relative to the results folder.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(super) fn finish(
        self,
        folder: &Folder,
        artifacts: ArtifactDir<'_>,
    ) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for (number, group) in self.groups.iter().enumerate() {
            let senders = self.flows.iter().flatten();
            let senders: Vec<&Sender> = senders.filter(|sender| sender.group == number).collect();
            let name = file_name(artifacts, group, "tcp.parquet");
            write_table_in(folder, &name, &columns(&senders))?;
            files.push(Path::new(FOLDER).join(name));
        }
        Ok(files)
    }
}

/// A row for each sample, in the order of senders and of time.
fn columns(senders: &[&Sender]) -> Vec<Column> {
    let rows = || {
        let each = |sender: &&Sender| sender.samples.len();
        let names = senders
            .iter()
            .flat_map(move |sender| std::iter::repeat_n(sender.name.clone(), each(sender)));
        names.zip(senders.iter().flat_map(|sender| &sender.samples))
    };
    let integers = |of: fn(&Sample) -> Option<u64>| {
        Values::Integer(rows().map(|row| whole(of(row.1)?)).collect())
    };
    let reals =
        |of: fn(&Sample) -> Option<f64>| Values::Real(rows().map(|row| of(row.1)).collect());
    vec![
        column(
            "flow",
            Values::Text(rows().map(|row| Some(row.0)).collect()),
        ),
        column("at_ps", integers(|look| Some(look.at.as_picos()))),
        column("window", reals(|look| Some(look.state.window))),
        column("threshold", reals(|look| look.state.threshold)),
        column(
            "round_trip_ps",
            integers(|look| look.state.round_trip.map(Span::as_picos)),
        ),
        column(
            "timeout_ps",
            integers(|look| Some(look.state.timeout.as_picos())),
        ),
        column("flight", reals(|look| Some(look.state.flight))),
        column(
            "acknowledged",
            integers(|look| Some(look.state.acknowledged)),
        ),
        column(
            "retransmissions",
            integers(|look| Some(look.counts.retransmissions)),
        ),
        column("timeouts", integers(|look| Some(look.counts.timeouts))),
    ]
}
