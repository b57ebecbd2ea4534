//! Reads one cell: the keys of `[network]`, `[nodes]`, `[links]`, `[host]`,
//! `[traffic]` and `[flows]`, resolved into a [`Setting`].

mod command;
mod flows;
mod host;
mod message;
mod network;
mod simulated;
mod traffic;

use std::collections::BTreeSet;

use anyhow::Result;

pub(super) use network::{
    CROSS_KEYS, LINK_KEYS, MOST_STAGES, RECORD_KEY, WATCH_KEYS, parameter_keys,
};
pub use network::{LARGEST_BUFFER, auto_burst};
pub use traffic::{LARGEST_MESSAGE, LARGEST_SOCKET_BUFFER, LEAST_MESSAGE, MESSAGE_HEADER};

use super::Setting;
use super::reader::Reader;
use super::tree::{Origin, Table, Value};
use crate::plan::World;

/// The tables whose keys make a cell and can be swept.
pub(super) const ROOTS: [&str; 6] = ["network", "nodes", "links", "host", "traffic", "flows"];

/// A cell that was read.
pub(super) struct Resolved {
    /// What to do, or why this world cannot measure it.
    pub(super) setting: Result<Setting, String>,
    /// Its keys in reading order, defaults filled in, in canonical writing.
    pub(super) keys: Vec<(String, Value)>,
    /// Every key that a cell may have.
    pub(super) asked: BTreeSet<String>,
}

/// Reads the cell in `tree`; `place` is where its file begins.
pub(super) fn read(tree: &Table, place: &Origin, world: World) -> Result<Resolved> {
    let mut reader = Reader::new(tree, "", place.clone());
    let (network, mtus) = network::read(&mut reader, tree, world)?;
    let host = host::read(&mut reader, world)?;
    let traffic = traffic::read(&mut reader, tree, &network, &mtus, world)?;
    network::known_links(tree, &network)?;
    let outcome = reader.finish(&BTreeSet::new())?;
    let setting = Setting {
        network,
        host,
        traffic,
    };
    let setting = match host::not_here(&setting.host, world) {
        Some(reason) => Err(reason.to_owned()),
        None => {
            if world == World::Sim {
                simulated::check(tree, place, &setting)?;
            }
            Ok(setting)
        }
    };
    Ok(Resolved {
        setting,
        keys: outcome.resolved,
        asked: outcome.asked,
    })
}
