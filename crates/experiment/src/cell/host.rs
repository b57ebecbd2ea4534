//! Reads `[host]`.

use anyhow::Result;
use keyfile::quantity::{line, name, number, size_or, span, switch, word};
use keyfile::{Parsed, Table, Value};
use plan::setting::{Coalescing, Costs, Host, Network, NicSetting, Scenario, System};
use plan::{Backend, Hosts};
use units::Span;

use super::tcp::{of_kernel, usual_control};
use crate::reader::Reader;

/// The hosts of `network`. The settings of a kernel's TCP are read last.
pub(super) fn read(
    reader: &mut Reader<'_>,
    tree: &Table,
    network: &Network,
    backend: Backend,
) -> Result<Host> {
    let scenario = reader.optional("host.scenario", scenario)?;
    let scenario = scenario.map(|found| found.value);
    let costs = costs(reader)?;
    if let Some(why) = no_fit(scenario, &costs, backend) {
        reader.unmeasured.push(("host.scenario".into(), why));
    }
    Ok(Host {
        scenario,
        offloads: reader.read("host.offloads", switch)?.value,
        // TCP_CA_NAME_MAX is 16, including the terminator.
        congestion: reader
            .read_or("host.congestion", usual_control(tree), name(15))?
            .value,
        nic: nic(reader)?,
        segments_per_packet: few(reader, "host.segments_per_packet", 1, MOST_SEGMENTS)?,
        processor: few(reader, "host.processor", 0, MOST_PROCESSORS - 1)?,
        costs,
        tcp: of_kernel(reader, network, backend)?,
    })
}

/// Why described hosts do not stand for these systems: costs that an experiment assumes are
/// those of no system, and Windows is known here by the figures of a study alone.
fn no_fit(scenario: Option<Scenario>, costs: &Costs, backend: Backend) -> Option<&'static str> {
    let Scenario { sender, receiver } = scenario?;
    let profile = backend.profile();
    let is_windows = [sender, receiver].contains(&System::Windows);
    match profile.hosts {
        Hosts::Simulated if is_windows && costs.fitted_to.is_none() => {}
        Hosts::Simulated | Hosts::Kernels => return None,
    }
    Some(match profile.predicts {
        true => "not predicted: no costs of hosts are fitted to these systems",
        false => "not simulated: no costs of hosts are fitted to these systems",
    })
}

/// The most frames that a key can name, and the longest delay in microseconds: fields of 32
/// bits hold them.
const MOST: u32 = 1_000_000;

/// The most segments of one packet: the kernel's limit on packets is 64 KiB.
const MOST_SEGMENTS: u32 = 64;

/// The processors that a set of the C library can name (`CPU_SETSIZE`).
const MOST_PROCESSORS: u32 = 1024;

/// A number or `any`. plan.toml has the key only if the experiment writes it.
fn few(reader: &mut Reader<'_>, key: &str, least: u32, most: u32) -> Result<Option<u32>> {
    let parse = |value: &Value| -> Parsed<Option<u32>> {
        if matches!(value, Value::Text(text) if text == "any") {
            return Ok((None, value.clone()));
        }
        let (found, canonical) =
            number(least.into(), most.into())(value).map_err(|why| format!("{why}, or \"any\""))?;
        Ok((u32::try_from(found).ok(), canonical))
    };
    let found = reader.optional(key, parse)?;
    Ok(found.and_then(|found| found.value))
}

/// The settings of network cards. plan.toml has these keys only if the experiment writes them.
fn nic(reader: &mut Reader<'_>) -> Result<NicSetting> {
    let mut frames = |key: &str, least: i64| -> Result<Option<u32>> {
        let found = reader.optional(&format!("host.{key}"), number(least, MOST.into()))?;
        Ok(found.and_then(|found| u32::try_from(found.value).ok()))
    };
    let (receive_ring, send_ring) = (frames("receive_ring", 1)?, frames("send_ring", 1)?);
    let coalescing_frames = frames("coalescing_frames", 0)?;
    let delay = reader.optional("host.coalescing", coalescing)?;
    if let (Some(delay), Some(frames)) = (&delay, coalescing_frames)
        && delay.value == Coalescing::Adaptive
    {
        return Err(delay.reject(format!(
            "the driver adapts the frames, too; write a time, or remove host.coalescing_frames = {frames}"
        )));
    }
    Ok(NicSetting {
        receive_ring,
        send_ring,
        coalescing: delay.map(|found| found.value),
        coalescing_frames,
    })
}

fn coalescing(value: &Value) -> Parsed<Coalescing> {
    const EXAMPLE: &str =
        "write \"adaptive\", or whole microseconds up to a second, for instance \"50us\"";
    if matches!(value, Value::Text(text) if text == "adaptive") {
        return Ok((Coalescing::Adaptive, value.clone()));
    }
    let (delay, canonical) = span(value).map_err(|_| EXAMPLE.to_owned())?;
    let micros = delay.as_nanos() / 1_000;
    match Span::from_micros(micros) == delay && micros <= MOST.into() {
        true => Ok((Coalescing::Within(delay), canonical)),
        false => Err(EXAMPLE.to_owned()),
    }
}

/// The processing times of hosts for packets. plan.toml has these keys only if
/// the experiment writes them.
fn costs(reader: &mut Reader<'_>) -> Result<Costs> {
    let mut time = |key: &str| -> Result<Span> {
        let found = reader.optional(&format!("host.{key}"), span)?;
        Ok(found.map_or(Span::ZERO, |found| found.value))
    };
    let (send_per_packet, send_per_byte) = (time("send_per_packet")?, time("send_per_byte")?);
    let receive_per_packet = time("receive_per_packet")?;
    let receive_per_byte = time("receive_per_byte")?;
    let fitted_to = reader.optional("host.fitted_to", line)?;
    let buffer = reader.optional("host.receive_buffer", size_or("none"))?;
    Ok(Costs {
        send_per_packet,
        send_per_byte,
        receive_per_packet,
        receive_per_byte,
        fitted_to: fitted_to.map(|found| found.value),
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
