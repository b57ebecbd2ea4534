//! Reads `[tcp]` for hosts with a kernel's TCP.

use anyhow::Result;
use keyfile::quantity::{span, switch, word};
use keyfile::{Node, rejection};
use plan::setting::{KernelTcp, Network};
use plan::{Backend, Hosts};
use tcp::Recovery;
use units::Span;

use super::values::segments;
use super::{AGENTS, recovery_of_standard};
use crate::keys::KERNELS_TCP;
use crate::reader::Reader;

/// The greatest retransmission timeout of Linux [LinuxDoc ip-sysctl].
const MAX_RTO: Span = Span::from_secs(120);

/// Reads the settings of a kernel's TCP. Connections of a network that is no path have
/// windows besides. plan.toml has these keys only if the experiment writes them.
pub(in crate::cell) fn read(
    reader: &mut Reader<'_>,
    network: &Network,
    backend: Backend,
) -> Result<KernelTcp> {
    match backend.profile().hosts {
        Hosts::Kernels => {}
        Hosts::Simulated => return Ok(KernelTcp::default()),
    }
    if network.graph.is_none()
        && let Some(Node { value, origin }) = reader.find("tcp.window")?
    {
        return Err(rejection(origin, "tcp.window", value, KERNELS_TCP));
    }
    reader.optional("tcp.agent", word(AGENTS))?;
    let recovery = reader.optional("tcp.recovery", recovery_of_standard)?;
    let rack = reader.optional("tcp.rack", switch)?;
    let probe = reader.optional("tcp.tail_loss_probe", switch)?;
    let window = reader.optional("tcp.initial_window", segments)?;
    let words = word(&[("delayed", false), ("each", true)]);
    let each = reader.optional("tcp.acknowledge", words)?;
    let shortest = reader.optional("tcp.min_rto", span)?;
    if let Some(found) = &shortest {
        let millis = found.value.as_nanos() / 1_000_000;
        let is_whole = Span::from_millis(millis) == found.value;
        if !is_whole || millis == 0 || found.value > MAX_RTO {
            return Err(found.reject(
                "kernels take whole milliseconds up to their maximum RTO; write for instance \"200ms\", at most \"2min\"",
            ));
        }
    }
    Ok(KernelTcp {
        initial_window: window.map(|found| found.value),
        min_rto: shortest.map(|found| found.value),
        acknowledges_each: each.is_some_and(|found| found.value),
        sack: recovery.map(|found| found.value == Recovery::Sack),
        rack: rack.map(|found| found.value),
        tail_loss_probe: probe.map(|found| found.value),
    })
}
