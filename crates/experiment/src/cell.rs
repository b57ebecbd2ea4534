//! Reads one cell: the keys of `[network]`, `[nodes]`, `[links]`, `[domain]`,
//! `[host]`, `[tcp]`, `[traffic]` and `[flows]`, resolved into a [`Setting`].

mod command;
mod domain;
mod flows;
mod host;
mod latency_breakdown;
mod message;
mod network;
mod probe;
mod request_response;
mod tcp;
mod traffic;
mod unused;

use std::collections::BTreeSet;

use anyhow::Result;
use keyfile::{Origin, Table, Value};
use plan::{Backend, Setting, SideEffect};

use super::check::{Check, place as rejected};
use super::distribution_files::DistributionFiles;
use super::reader::Reader;
pub(super) use network::{AUTO, MOST_DEVICES};
pub use network::{LARGEST_BUFFER, auto_burst};
pub(super) use traffic::NO_LIMIT;
pub use traffic::{LARGEST_SOCKET_BUFFER, LEAST_MESSAGE, MESSAGE_HEADER};
pub(super) use unused::UnusedKey;

/// A cell after reading.
pub(super) struct Resolved {
    /// The setting, or the reason why this backend cannot measure it.
    pub(super) setting: Result<Setting, String>,
    /// Its keys in reading order with defaults, in canonical form.
    pub(super) keys: Vec<(String, Value)>,
    /// All keys that a cell may have.
    pub(super) asked: BTreeSet<String>,
    /// Written keys without effect in this cell.
    pub(super) unused: Vec<UnusedKey>,
    /// What it does outside of the run.
    pub(super) side_effects: BTreeSet<SideEffect>,
}

/// Reads the cell in `tree`; `place` is the start of its file, and `files` has
/// the files of values that other cells read.
pub(super) fn read(
    tree: &Table,
    place: &Origin,
    backend: Backend,
    check: Check,
    files: &DistributionFiles,
) -> Result<Resolved> {
    let mut reader = Reader::new(tree, "", place.clone()).in_backend(backend);
    reader.files = files.clone();
    let (mut network, mtus, unused) = network::read(&mut reader, tree, backend)?;
    network.domain = domain::read(&mut reader, tree, &network)?;
    let host = host::read(&mut reader, tree, &network, backend)?;
    let traffic = traffic::read(&mut reader, tree, &network, &host, &mtus, backend)?;
    network::known_links(tree, &network)?;
    network::read_counted(&mut reader, tree, &mut network, &traffic, backend)?;
    network.isolate_trials = network::read_fresh(&mut reader, &traffic, backend)?;
    let outcome = reader.finish()?;
    let setting = Setting {
        network,
        host,
        traffic,
    };
    let connects = setting.traffic.has_connections();
    let matters = |(path, _): &&(String, &str)| connects || path != "host.congestion";
    let unmeasured = outcome.unmeasured.iter().find(matters);
    let setting = match unmeasured.map(|(_, why)| *why) {
        Some(reason) => Err(reason.to_owned()),
        None => {
            check(&setting).map_err(|rejection| rejected(tree, place, rejection))?;
            Ok(setting)
        }
    };
    Ok(Resolved {
        setting,
        keys: outcome.resolved,
        asked: outcome.asked,
        unused,
        side_effects: outcome.side_effects.into_iter().collect(),
    })
}
