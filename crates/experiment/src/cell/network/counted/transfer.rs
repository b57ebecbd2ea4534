//! Reads windows of links that are open while a transfer is counted.

use anyhow::Result;
use keyfile::quantity::word;
use keyfile::{Node, Table, rejection};
use plan::Backend;
use plan::setting::{LinkKind, Network, Transfer};
use units::Transport;

use super::{called, of_one_wire};
use crate::reader::Reader;

/// Whether the outcomes of a transfer's packets are known for each link.
pub(super) fn is_followed(network: &Network, transfer: &Transfer, backend: Backend) -> bool {
    let seen = backend.profile().paces_every_link || network.link == LinkKind::Emulated;
    seen && transfer.protocol == Transport::Tcp
}

/// Reads the window of each link, if it has one.
pub(super) fn read(reader: &mut Reader<'_>, tree: &Table, network: &mut Network) -> Result<()> {
    let mut taken: Vec<String> = Vec::new();
    for position in 0..network.links.len() {
        let link = network.links[position].name.clone();
        let path = format!("links.{link}.series.interval");
        if let Some(Node { value, origin }) = reader.find(&path)? {
            let why = "only traffic of kind = \"flows\" has time series; remove it";
            return Err(rejection(origin, &path, value, why));
        }
        for (name, path, Node { value, origin }) in called(tree, &link, &taken)? {
            if network.links[position].counted.transfer.is_some() {
                let why = "a transfer has one part that is counted; remove the second window";
                return Err(rejection(origin, &path, value, why));
            }
            reader.optional(&path, word(&[("all", ())]))?;
            of_one_wire(reader, network, position)?;
            taken.push(name.to_owned());
            network.links[position].counted.transfer = Some(name.to_owned());
        }
    }
    Ok(())
}
