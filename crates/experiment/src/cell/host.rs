//! Reads `[host]`.

use anyhow::Result;
use units::{Bytes, Span};

use crate::quantity::{name, size_or, span, switch, word};
use crate::reader::{Found, Meaning, Reader};
use crate::tree::{Table, Value};
use plan::Setting;
use plan::World;
use plan::setting::{Costs, Host, Scenario, System};

use super::tcp::{control, usual_control};

pub(super) fn read(reader: &mut Reader<'_>, tree: &Table, world: World) -> Result<Host> {
    let congestion = match world.profile().simulates_packets {
        true => usual_control(tree),
        false => "cubic",
    };
    Ok(Host {
        scenario: reader.read("host.scenario", "LU-LU", scenario)?.value,
        offloads: reader.read("host.offloads", "off", switch)?.value,
        // TCP_CA_NAME_MAX is 16, its end included.
        congestion: reader.read("host.congestion", congestion, name(15))?.value,
        costs: costs(reader, world)?,
    })
}

/// Why `world` has no such hosts, if it has none.
pub(super) fn not_here(setting: &Setting, world: World) -> Option<&'static str> {
    let host = &setting.host;
    let windows = [host.scenario.sender, host.scenario.receiver].contains(&System::Windows);
    match world.profile().simulates_packets {
        false => windows.then_some("not measured here: needs a Windows host"),
        true if windows => Some("not simulated: hosts have costs, no operating system"),
        true if host.offloads => Some("not simulated: hosts have no offloads"),
        true => (setting.traffic.has_connections() && control(&host.congestion).is_none())
            .then_some("not simulated: TCP's control is reno or cubic there"),
    }
}

/// What packets cost the hosts. The keys are not written out where they are
/// not written: plans without them keep the names of their folders.
fn costs(reader: &mut Reader<'_>, world: World) -> Result<Costs> {
    let mut time = |key: &str| -> Result<Span> {
        let found = reader.optional(&format!("host.{key}"), span)?;
        simulated(found, world, Span::ZERO, "0s")
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
        receive_buffer: simulated::<Option<Bytes>>(buffer, world, None, "\"none\"")?,
    })
}

/// A value that only the simulator can honour, unless it is as in every world.
fn simulated<T: PartialEq>(
    found: Option<Found<T>>,
    world: World,
    free: T,
    right: &str,
) -> Result<T> {
    match found {
        None => Ok(free),
        Some(found) if !world.profile().simulates_packets && found.value != free => Err(found
            .refuse(format!(
                "only simulated hosts cost what is written: --on sim, or write {right}"
            ))),
        Some(found) => Ok(found.value),
    }
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
