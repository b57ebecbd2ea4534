//! Reads the traffic of a flow of datagrams.

use anyhow::Result;
use keyfile::quantity::{number, size_or, switch};
use keyfile::{Node, rejection};
use meter::departures::Distribution;
use plan::setting::{Network, Sends};
use plan::{Backend, Hosts};
use units::Bytes;

use super::super::traffic::MESSAGE_HEADER;
use super::distributions;
use crate::reader::Reader;

/// The header of datagrams in a network that is no path.
const NUMBERED: Bytes = Bytes::new(wire::numbered::LEN as u64);

/// The traffic of `flow` through `network`.
pub(super) fn read(
    reader: &mut Reader<'_>,
    flow: &str,
    network: &Network,
    backend: Backend,
) -> Result<Sends> {
    let distributions = distributions::read(reader, flow, network)?;
    match backend.profile().hosts {
        Hosts::Kernels => {
            let header = match network.graph {
                Some(_) => NUMBERED,
                None => MESSAGE_HEADER,
            };
            hold_a_header(reader, flow, &distributions.payloads, header)?;
        }
        Hosts::Simulated => {}
    }
    let (packets, bytes) = limits(reader, flow)?;
    let key = format!("flows.{flow}.dont_fragment");
    Ok(Sends::Datagrams {
        gaps: distributions.gaps,
        payloads: distributions.payloads,
        bursts: distributions.bursts,
        packets,
        bytes,
        dont_fragment: reader.read(&key, switch)?.value,
    })
}

/// The traffic of `flow` over the kernels' TCP: as fast as possible if no
/// schedule is written. The receiver lets `window` segments be in flight.
pub(super) fn read_messages(
    reader: &mut Reader<'_>,
    flow: &str,
    network: &Network,
    window: Option<u32>,
) -> Result<Sends> {
    let distributions = distributions::read_unpaced(reader, flow, network)?;
    hold_a_header(reader, flow, &distributions.payloads, MESSAGE_HEADER)?;
    let (packets, bytes) = limits(reader, flow)?;
    Ok(Sends::Messages {
        gaps: distributions.gaps,
        payloads: distributions.payloads,
        bursts: distributions.bursts,
        packets,
        bytes,
        window,
    })
}

/// The numbers of messages and bytes after which it ends.
fn limits(reader: &mut Reader<'_>, flow: &str) -> Result<(Option<u64>, Option<Bytes>)> {
    let key = |key: &str| format!("flows.{flow}.{key}");
    let packets = reader.optional(&key("packets"), number(1, i64::MAX))?;
    let bytes = reader.optional(&key("bytes"), size_or("none"))?;
    if let Some(none) = (bytes.as_ref()).filter(|size| size.value == Some(Bytes::ZERO)) {
        return Err(none.reject("a flow of nothing; leave it out"));
    }
    Ok((
        packets.map(|packets| packets.value.unsigned_abs()),
        bytes.and_then(|bytes| bytes.value),
    ))
}

/// Messages between kernels start with a header of Jumbolab's. A distribution without a
/// minimum may sometimes draw a smaller size; such messages are not sent, but
/// counted.
fn hold_a_header(
    reader: &mut Reader<'_>,
    flow: &str,
    payloads: &Distribution,
    header: Bytes,
) -> Result<()> {
    let (least, largest) = payloads.range();
    let header = header.get();
    let room = Distribution::Constant(f64::from(u32::try_from(header).unwrap_or(u32::MAX)));
    if !largest.is_finite() || least >= room.mean() {
        return Ok(());
    }
    for key in ["message", "message_samples"] {
        let path = format!("flows.{flow}.{key}");
        if let Some(Node { value, origin }) = reader.find(&path)? {
            let why =
                format!("between kernels a message has at least the {header} bytes of our header");
            return Err(rejection(origin, &path, value, why));
        }
    }
    Ok(())
}
