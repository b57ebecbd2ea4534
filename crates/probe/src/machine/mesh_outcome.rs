//! The results of the investigations of a mesh.

mod losses;

use std::collections::BTreeMap;
use std::net::IpAddr;

use units::Bytes;

use super::{Mesh, MeshEntry, MeshState, PathReport, PathState, Verdict};

/// A mesh that was investigated.
#[derive(Clone, Debug)]
pub struct MeshOutcome {
    /// The size that each path should carry.
    pub asked: Bytes,
    /// The hosts, in the order of the file.
    pub hosts: Vec<MeshHost>,
    /// The paths that were investigated, in that order, by sender.
    pub paths: Vec<MeshPath>,
    /// Whether the user stopped it before all were.
    pub is_stopped: bool,
}

#[derive(Clone, Debug)]
pub struct MeshHost {
    /// Its name in the file.
    pub name: String,
    /// The address that is probed.
    pub address: IpAddr,
    /// Whether it probes.
    pub probes: bool,
    /// The interface through which it probes, and its MTU.
    pub interface: Option<(String, Bytes)>,
    /// The reason for which it dropped out.
    pub lost: Option<String>,
}

#[derive(Clone, Debug)]
pub struct MeshPath {
    /// The number of the host that probed.
    pub from: usize,
    /// The number of the host that was probed.
    pub to: usize,
    /// The result, or the reason for which there is none: one line.
    pub result: Result<PathReport, String>,
}

impl MeshOutcome {
    /// The results by sender and receiver.
    pub fn mesh(&self) -> Mesh {
        let mut mesh = Mesh::new(self.asked, self.hosts.len());
        for path in &self.paths {
            if let Ok(report) = &path.result {
                mesh.note(path.from, path.to, report);
            }
        }
        mesh
    }

    /// The paths that lose large packets more often than small ones, as those that carry
    /// nothing. Of paths that may or may not do so, nothing is known.
    pub fn losses(&self) -> Mesh {
        losses::losses(self)
    }

    /// The judgement on the size asked for: clean if every path between the hosts was
    /// seen to carry it in both directions.
    pub fn verdict(&self) -> Verdict {
        let mesh = self.mesh();
        let is_below = |entry: MeshEntry| entry.carried < self.asked;
        let mut reports = self
            .paths
            .iter()
            .filter_map(|path| path.result.as_ref().ok());
        let mut entries = self.pairs().map(|(from, to)| mesh.entry(from, to));
        if reports.any(|report| report.verdict == Verdict::Problem)
            || entries.clone().flatten().any(is_below)
        {
            Verdict::Problem
        } else if entries.all(|entry| entry.is_some()) && !self.hosts.is_empty() {
            Verdict::Clean
        } else {
            Verdict::Unclear
        }
    }

    /// The reason for which no path could be investigated, if no host was ready to.
    pub fn failure(&self) -> Option<&str> {
        let mut reasons = self.hosts.iter().filter_map(|host| host.lost.as_deref());
        let is_none_ready = self.hosts.iter().all(|host| host.interface.is_none());
        is_none_ready.then(|| {
            reasons
                .next()
                .unwrap_or("no two have addresses of one version")
        })
    }

    /// The results that are compared with those of another time.
    pub fn state(&self) -> MeshState {
        let mesh = self.mesh();
        let name = |host: usize| self.name(host).to_owned();
        let verdicts = self.paths.iter().filter_map(|path| {
            let report = path.result.as_ref().ok()?;
            Some(((path.from, path.to), report.verdict))
        });
        let verdicts: BTreeMap<(usize, usize), Verdict> = verdicts.collect();
        let paths = self.pairs().map(|(from, to)| {
            let state = PathState {
                passed: mesh.entry(from, to).map(|entry| entry.carried),
                verdict: verdicts.get(&(from, to)).copied(),
            };
            ((name(from), name(to)), state)
        });
        MeshState {
            asked: self.asked,
            paths: paths.collect(),
        }
    }

    /// All pairs of a sender and a receiver.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + Clone + use<> {
        let hosts = self.hosts.len();
        let all = (0..hosts).flat_map(move |from| (0..hosts).map(move |to| (from, to)));
        all.filter(|(from, to)| from != to)
    }

    /// The name of a host.
    pub fn name(&self, host: usize) -> &str {
        &self.hosts[host].name
    }
}
