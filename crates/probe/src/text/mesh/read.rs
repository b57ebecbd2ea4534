//! The lines of a mesh, read again.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use units::Bytes;

use crate::machine::{MeshState, PathState, Verdict};

/// A line of the output. Problems and comparisons follow from the others.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Line {
    Mesh {
        requested_bytes: Bytes,
        hosts: usize,
        paths: usize,
    },
    MeshHost {
        host: String,
    },
    MeshEntry {
        from: String,
        to: String,
        passed_bytes: Option<Bytes>,
    },
    MeshPath {
        from: String,
        to: String,
        verdict: Option<Verdict>,
    },
    MeshProblem {},
    MeshComparison {
        time: Option<String>,
    },
    MeshChange {},
}

/// What [`mesh_json`](super::mesh_json) wrote.
///
/// # Errors
/// It is something else, or not whole: the line, and what is wrong with it.
pub fn read_mesh(text: &str) -> Result<MeshState, (usize, String)> {
    const FOREIGN: &str = "this is no line of a mesh";
    let mut state = MeshState {
        asked: Bytes::ZERO,
        paths: BTreeMap::new(),
    };
    // The numbers of hosts and of investigated paths that the first line announces.
    let mut announced = None;
    let mut hosts = BTreeSet::new();
    let mut investigated = 0;
    let mut last = 1;
    for (number, line) in (1..).zip(text.lines()) {
        last = number;
        let foreign = || (number, FOREIGN.to_owned());
        let line = serde_json::from_str(line).map_err(|_| foreign())?;
        match (line, announced) {
            (
                Line::Mesh {
                    requested_bytes,
                    hosts,
                    paths,
                },
                None,
            ) => {
                state.asked = requested_bytes;
                announced = Some((hosts, paths));
            }
            (_, None) | (Line::Mesh { .. }, Some(_)) => return Err(foreign()),
            (Line::MeshHost { host }, _) => {
                hosts.insert(host);
            }
            (
                Line::MeshEntry {
                    from,
                    to,
                    passed_bytes: passed,
                },
                _,
            ) if from != to && hosts.contains(&from) && hosts.contains(&to) => {
                let verdict = None;
                state
                    .paths
                    .insert((from, to), PathState { passed, verdict });
            }
            (Line::MeshPath { from, to, verdict }, _) => {
                let path = state.paths.get_mut(&(from, to)).ok_or_else(foreign)?;
                path.verdict = verdict;
                investigated += 1;
            }
            (Line::MeshEntry { .. }, _) => return Err(foreign()),
            (Line::MeshComparison { time: Some(_) }, _) => {
                return Err((number, "a watch wrote it, and not a single mesh".to_owned()));
            }
            (Line::MeshProblem {} | Line::MeshComparison { .. } | Line::MeshChange {}, _) => {}
        }
    }
    let pairs = hosts.len() * hosts.len().saturating_sub(1);
    let is_whole = announced == Some((hosts.len(), investigated)) && state.paths.len() == pairs;
    match is_whole {
        true => Ok(state),
        false => Err((last, "lines are missing behind this one".to_owned())),
    }
}
