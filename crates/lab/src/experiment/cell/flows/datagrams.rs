//! Reads what a flow of datagrams sends, and how often.

use anyhow::Result;
use units::Bytes;

use crate::experiment::quantity::{number, size_or, switch};
use crate::experiment::reader::Reader;
use crate::experiment::{Network, Sends};

use super::laws;

/// Its keys, below a flow's, that no other flow has.
pub(super) const KEYS: [&str; 12] = [
    "message",
    "message_law",
    "message_seen",
    "load",
    "rate",
    "gap",
    "gap_law",
    "gap_seen",
    "on",
    "off",
    "packets",
    "dont_fragment",
];

/// What `flow` sends through `network`.
pub(super) fn read(reader: &mut Reader<'_>, flow: &str, network: &Network) -> Result<Sends> {
    let key = |key: &str| format!("flows.{flow}.{key}");
    let laws = laws::read(reader, flow, network)?;
    let packets = reader.optional(&key("packets"), number(1, i64::MAX))?;
    let octets = reader.optional(&key("octets"), size_or("none"))?;
    if let Some(none) = (octets.as_ref()).filter(|size| size.value == Some(Bytes::ZERO)) {
        return Err(none.refuse("a flow of nothing; leave it out"));
    }
    Ok(Sends::Datagrams {
        gaps: laws.gaps,
        payloads: laws.payloads,
        bursts: laws.bursts,
        packets: packets.map(|packets| packets.value.unsigned_abs()),
        octets: octets.and_then(|octets| octets.value),
        dont_fragment: reader.read(&key("dont_fragment"), "off", switch)?.value,
    })
}
