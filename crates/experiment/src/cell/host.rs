//! Reads `[host]`.

use anyhow::Result;
use plan::setting::{Costs, Host, Scenario, System};
use units::Span;

use super::tcp::usual_control;
use crate::quantity::{name, size_or, span, switch, word};
use crate::reader::{Parsed, Reader};
use crate::tree::{Table, Value};

pub(super) fn read(reader: &mut Reader<'_>, tree: &Table) -> Result<Host> {
    Ok(Host {
        scenario: reader.read("host.scenario", scenario)?.value,
        offloads: reader.read("host.offloads", switch)?.value,
        // TCP_CA_NAME_MAX is 16, including the terminator.
        congestion: reader
            .read_or("host.congestion", usual_control(tree), name(15))?
            .value,
        costs: costs(reader)?,
    })
}

/// The processing times of hosts for packets. plan.toml has these keys only if
/// the experiment writes them.
fn costs(reader: &mut Reader<'_>) -> Result<Costs> {
    let mut time = |key: &str| -> Result<Span> {
        let found = reader.optional(&format!("host.{key}"), span)?;
        Ok(found.map_or(Span::ZERO, |found| found.value))
    };
    let (send_per_packet, send_per_octet) = (time("send_per_packet")?, time("send_per_octet")?);
    let receive_per_packet = time("receive_per_packet")?;
    let receive_per_octet = time("receive_per_octet")?;
    let buffer = reader.optional("host.receive_buffer", size_or("none"))?;
    Ok(Costs {
        send_per_packet,
        send_per_octet,
        receive_per_packet,
        receive_per_octet,
        receive_buffer: buffer.and_then(|found| found.value),
    })
}

fn scenario(value: &Value) -> Parsed<Scenario> {
    let (sender, receiver) = word(&[
        ("LU-LU", (System::Linux, System::Linux)),
        ("LU-WS", (System::Linux, System::Windows)),
        ("WS-LU", (System::Windows, System::Linux)),
        ("WS-WS", (System::Windows, System::Windows)),
    ])(value)?
    .0;
    Ok((Scenario { sender, receiver }, value.clone()))
}
