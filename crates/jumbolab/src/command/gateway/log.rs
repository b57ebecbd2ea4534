//! The log of a gateway: one JSON object per line.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use gateway::driver::Report;
use gateway::machine::{Rejection, Rejections};
use os::clock::Epoch;
use serde_json::{Map, Value};

use super::keys::{Judgement, judge};
use crate::output;

/// Where log lines go.
pub(super) struct Log {
    file: Option<File>,
    /// The line that waits to be repeated, with the number of repetitions, so that what
    /// happens each second does not fill a disk.
    latest: Option<String>,
    /// The last complaint about the keys of each peer, by the peer's name, so that each is written once.
    complaints: BTreeMap<String, &'static str>,
}

impl Log {
    /// Opens `file` to append to it; `None`: stderr.
    pub(super) fn open(file: Option<&Path>) -> Result<Self> {
        let open = |path: &Path| {
            let file = files::append(path);
            file.with_context(|| format!("--log {}", path.display()))
        };
        Ok(Self {
            file: file.map(open).transpose()?,
            latest: None,
            complaints: BTreeMap::new(),
        })
    }

    /// Writes a line: the time, the event and its facts. A line that says the same as
    /// the one before is left out, unless it answers a signal.
    pub(super) fn event(&mut self, kind: &str, facts: &[(&str, Value)]) -> Result<()> {
        let mut object = Map::new();
        object.insert("kind".to_owned(), kind.into());
        for (name, value) in facts {
            object.insert((*name).to_owned(), value.clone());
        }
        let said = Value::Object(object.clone()).to_string();
        let answers = matches!(kind, "reloaded" | "not_reloaded");
        if !answers && self.latest.as_ref() == Some(&said) {
            return Ok(());
        }
        self.latest = Some(said);
        let mut line = Map::new();
        let nanos = Epoch::now().unix_nanos();
        line.insert(
            "unix_s".to_owned(),
            ((nanos / 1_000_000) as f64 / 1e3).into(),
        );
        line.append(&mut object);
        let line = Value::Object(line).to_string();
        match &mut self.file {
            Some(file) => writeln!(file, "{line}").context("writing the log"),
            None => {
                output::info(&line);
                Ok(())
            }
        }
    }

    /// Writes what changed between two reports and an operator should know.
    pub(super) fn changes(&mut self, before: &Report, after: &Report) -> Result<()> {
        if before.prefixes != after.prefixes {
            let facts = [
                ("prefixes_before", before.prefixes.into()),
                ("prefixes", after.prefixes.into()),
            ];
            self.event("table", &facts)?;
        }
        for (number, name) in after.names.iter().enumerate() {
            let (Some(peer), Some(earlier)) = (after.peers.get(number), before.peers.get(number))
            else {
                continue;
            };
            if peer.path_mtu != earlier.path_mtu {
                let facts = [
                    ("peer", Value::from(name.clone())),
                    ("mtu_before", earlier.path_mtu.into()),
                    ("mtu", peer.path_mtu.into()),
                ];
                self.event("path_mtu", &facts)?;
            }
            let errors = peer.path_errors.saturating_sub(earlier.path_errors);
            let unsent = peer.unsent_bundles.saturating_sub(earlier.unsent_bundles);
            if errors + unsent > 0 {
                let facts = [
                    ("peer", Value::from(name.clone())),
                    ("path_errors", errors.into()),
                    ("unsent_bundles", unsent.into()),
                ];
                self.event("not_delivered", &facts)?;
            }
        }
        self.keys(before, after)?;
        let rejected = |report: &Report| report.counts.total().inward.rejections;
        let reasons = reasons(&rejected(before), &rejected(after));
        if !reasons.is_empty() {
            self.event("rejected", &reasons)?;
        }
        Ok(())
    }

    /// Writes whether the keys of this gateway and of peers fit.
    fn keys(&mut self, before: &Report, after: &Report) -> Result<()> {
        let traffic = before.counts.peers.iter().zip(&after.counts.peers);
        let drivers = before.peers.iter().zip(&after.peers);
        let names = before.names.iter().zip(&after.names);
        for ((earlier, name), (counts, driver)) in names.zip(traffic.zip(drivers)) {
            if earlier != name {
                // The configuration was replaced.
                continue;
            }
            let has_key = driver.1.has_key;
            let keyed = has_key == Some(true) && driver.0.has_key == Some(false);
            let text = match judge(counts.0, counts.1, has_key) {
                _ if keyed => {
                    self.complaints.remove(name);
                    self.event("sealed", &[("peer", name.clone().into())])?;
                    continue;
                }
                Judgement::Unknown => continue,
                Judgement::Agreed => {
                    self.complaints.remove(name);
                    continue;
                }
                Judgement::Wrong(text) => text,
            };
            if self.complaints.insert(name.clone(), text) != Some(text) {
                let facts = [("peer", name.clone().into()), ("text", text.into())];
                self.event("keys", &facts)?;
            }
        }
        Ok(())
    }
}

/// The arrivals rejected between two counts, by reason.
fn reasons(before: &Rejections, after: &Rejections) -> Vec<(&'static str, Value)> {
    let more = Rejection::ALL.into_iter().map(|rejection| {
        let count = after.of(rejection).saturating_sub(before.of(rejection));
        (rejection.name(), count)
    });
    let more = more.filter(|(_, count)| *count > 0);
    more.map(|(name, count)| (name, count.into())).collect()
}

/// The sums of all counters.
pub(super) fn totals(report: &Report) -> Vec<(&'static str, Value)> {
    let total = report.counts.total();
    let reasons = reasons(&Rejections::default(), &total.inward.rejections);
    let reasons = Value::Object(
        reasons
            .into_iter()
            .map(|(name, count)| (name.to_owned(), count))
            .collect(),
    );
    let unsent: u64 = report.peers.iter().map(|peer| peer.unsent).sum();
    vec![
        ("received", total.outward.came.into()),
        ("pieces", total.outward.pieces.into()),
        ("bundles", total.outward.bundles.into()),
        ("bundled", total.outward.bundled.into()),
        ("alone", total.outward.alone.into()),
        ("dropped", total.outward.drops.total().into()),
        ("unsent", unsent.into()),
        ("arrived", total.inward.arrived.into()),
        ("inside_overrun", report.inside.overrun.into()),
        ("core_overrun", report.core_overrun.into()),
        ("lost_bundles", total.inward.lost_bundles.into()),
        ("unpacked", total.inward.unpacked.into()),
        ("joined", total.inward.joined.into()),
        ("released", total.inward.released.into()),
        ("errors", report.counts.errors.into()),
        ("inside_sent", report.inside.sent.into()),
        ("inside_fragments", report.inside.fragments.into()),
        ("inside_rejected", report.inside.rejected.into()),
        ("inward_dropped", total.inward.drops.total().into()),
        ("rejected", total.inward.rejections.total().into()),
        ("reasons", reasons),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_answer_to_a_signal_is_written_and_other_repetitions_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.log");
        let mut log = Log::open(Some(&path)).unwrap();
        let facts = [("prefixes", 3.into())];
        let events = ["problem", "reloaded", "not_reloaded"];
        for event in events {
            for _ in 0..3 {
                log.event(event, &facts).unwrap();
            }
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = events.map(|event| text.matches(&format!("\"{event}\"")).count());
        assert_eq!(lines, [1, 3, 3], "{text}");
    }
}
