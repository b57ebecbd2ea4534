//! Reads what flows between kernels have in common.

use anyhow::Result;

use crate::quantity::{switch, word};
use crate::reader::{Reader, refusal};
use crate::tree::Node;
use plan::World;
use plan::setting::{Instrument, Sockets};

use super::super::traffic::socket_buffer;

/// Its keys in `[traffic]`.
const KEYS: [&str; 5] = [
    "send_buffer",
    "receive_buffer",
    "nagle",
    "instrument",
    "log",
];

/// The sockets of all flows; simulated ones have none.
pub(super) fn read(reader: &mut Reader<'_>, world: World) -> Result<Option<Sockets>> {
    if world.profile().simulates_packets {
        for key in KEYS {
            let path = format!("traffic.{key}");
            if let Some(Node { value, origin }) = reader.find(&path)? {
                let why = "simulated flows have no sockets; remove it, or write it below [on.netns.traffic]";
                return Err(refusal(origin, &path, value, why));
            }
        }
        return Ok(None);
    }
    let instruments = word(&[
        ("own", Instrument::Own),
        ("sleeping", Instrument::Sleeping),
        ("ditg", Instrument::Ditg),
    ]);
    let instrument = reader.read("traffic.instrument", "own", instruments)?.value;
    let nagle = match instrument {
        Instrument::Own | Instrument::Sleeping => "off",
        Instrument::Ditg => "on",
    };
    Ok(Some(Sockets {
        send_buffer: socket_buffer(reader, "traffic.send_buffer", world.profile().has_kernel)?,
        receive_buffer: socket_buffer(
            reader,
            "traffic.receive_buffer",
            world.profile().has_kernel,
        )?,
        nagle: reader.read("traffic.nagle", nagle, switch)?.value,
        instrument,
        log: reader.read("traffic.log", "off", switch)?.value,
    }))
}
