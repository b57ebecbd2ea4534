//! Reads one cell: the keys of `[network]`, `[links]`, `[host]` and
//! `[traffic]`, resolved into a [`Setting`].

mod command;
mod network;
mod traffic;

use std::collections::BTreeSet;

use anyhow::Result;

pub(super) use network::{CROSS_KEYS, LINK_KEYS, MOST_STAGES, RECORD_KEY};
pub use network::{LARGEST_BUFFER, auto_burst};
pub use traffic::{LARGEST_MESSAGE, LARGEST_SOCKET_BUFFER, LEAST_MESSAGE, MESSAGE_HEADER};

use super::quantity::{name, switch, word};
use super::reader::{Meaning, Reader};
use super::tree::{Origin, Table, Value};
use super::{Host, Scenario, Setting, System};
use crate::plan::World;

/// The tables whose keys make a cell and can be swept.
pub(super) const ROOTS: [&str; 4] = ["network", "links", "host", "traffic"];

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
    let World::Netns = world;
    let mut reader = Reader::new(tree, "", place.clone());
    let (network, mtus) = network::read(&mut reader)?;
    let host = host(&mut reader)?;
    let traffic = traffic::read(&mut reader, &network, &mtus)?;
    network::known_links(tree, &network)?;
    let outcome = reader.finish(&BTreeSet::new())?;
    let needs_windows = [host.scenario.sender, host.scenario.receiver].contains(&System::Windows);
    Ok(Resolved {
        setting: if needs_windows {
            Err("not measured here: needs a Windows host".into())
        } else {
            Ok(Setting {
                network,
                host,
                traffic,
            })
        },
        keys: outcome.resolved,
        asked: outcome.asked,
    })
}

fn host(reader: &mut Reader<'_>) -> Result<Host> {
    Ok(Host {
        scenario: reader.read("host.scenario", "LU-LU", scenario)?.value,
        offloads: reader.read("host.offloads", "off", switch)?.value,
        // TCP_CA_NAME_MAX is 16, its end included.
        congestion: reader.read("host.congestion", "cubic", name(15))?.value,
    })
}

fn scenario(value: &Value) -> Meaning<Scenario> {
    let (sender, receiver) = word(&[
        ("LU-LU", (System::Linux, System::Linux)),
        ("LU-WS", (System::Linux, System::Windows)),
        ("WS-LU", (System::Windows, System::Linux)),
        ("WS-WS", (System::Windows, System::Windows)),
    ])(value)?
    .0;
    Ok((Scenario { sender, receiver }, value.clone()))
}
