//! Reads the common settings of flows between kernels.

use anyhow::Result;
use keyfile::quantity::{switch, word};
use plan::setting::{Generator, Sockets};
use plan::{Backend, Hosts};

use super::super::traffic::socket_buffer;
use crate::reader::Reader;

/// The socket settings of all flows; `None` for simulated ones.
pub(super) fn read(reader: &mut Reader<'_>, backend: Backend) -> Result<Option<Sockets>> {
    match backend.profile().hosts {
        Hosts::Kernels => {}
        Hosts::Simulated => {
            reader.reject_unsupported("traffic")?;
            return Ok(None);
        }
    }
    let instruments = word(&[
        ("polling", Generator::Own),
        ("sleeping", Generator::Sleeping),
        ("ditg", Generator::Ditg),
    ]);
    let generator = reader.read("traffic.generator", instruments)?.value;
    let nagle = match generator {
        Generator::Own | Generator::Sleeping => "off",
        Generator::Ditg => "on",
    };
    Ok(Some(Sockets {
        send_buffer: socket_buffer(reader, "traffic.send_buffer")?,
        receive_buffer: socket_buffer(reader, "traffic.receive_buffer")?,
        nagle: reader.read_or("traffic.nagle", nagle, switch)?.value,
        generator,
        log: reader.read("traffic.log", switch)?.value,
    }))
}
