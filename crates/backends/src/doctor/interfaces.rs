//! Checks of the physical interfaces.

use os::nic::{Nic, states_offloads};
use serde_json::Value;
use units::Span;

use super::check::{Check, Group, short};

const GROUP: Group = Group::Interfaces;

/// The usual MTU of jumbo frames.
const JUMBO: u32 = 9000;

/// Whether this system states the stamps and the interrupts of interfaces.
const STATES_INTERRUPTS: bool = cfg!(target_os = "linux");

/// Checks of the interfaces, or the reason why they could not be listed; `management` carries
/// the ssh connection to this process.
pub(super) fn judge(nics: Result<&[Nic], &String>, management: Option<&str>) -> Vec<Check> {
    match nics {
        Ok([]) => {
            vec![Check::ok(GROUP, "none", "no physical interface")]
        }
        Ok(nics) => nics.iter().map(|one| nic(one, management)).collect(),
        Err(problem) => {
            vec![Check::ok(GROUP, "none", format!("cannot list interfaces: {problem}")).noted()]
        }
    }
}

fn nic(nic: &Nic, management: Option<&str>) -> Check {
    let mut words = Vec::new();
    words.extend(nic.driver.clone());
    words.extend(
        nic.firmware
            .as_ref()
            .map(|version| format!("firmware {version}")),
    );
    words.extend((!nic.up).then(|| "down".to_owned()));
    words.extend(nic.speed.map(|speed| speed.to_string()));
    words.push(match nic.largest_mtu {
        Some(largest) => format!("MTU {}, maximum {largest}", nic.mtu),
        None => format!("MTU {}", nic.mtu),
    });
    words.extend((nic.full_duplex == Some(false)).then(|| "half duplex".to_owned()));
    words.extend(nic.rings.map(|rings| {
        format!(
            "rings rx {}/{} tx {}/{}",
            rings.receive, rings.receive_limit, rings.send, rings.send_limit
        )
    }));
    words.extend(nic.coalescing.map(|aggregates| {
        let adaptive = if aggregates.adaptive {
            ", adaptive"
        } else {
            ""
        };
        match aggregates.receive_delay {
            Span::ZERO => format!("interrupts undelayed{adaptive}"),
            delay => format!("interrupts within {}{adaptive}", short(delay)),
        }
    }));
    words.extend(match nic.offloads.as_slice() {
        [] => states_offloads().then(|| "no offloads".to_owned()),
        on => Some(format!("offloads {}", families(on).join(" "))),
    });
    words.extend(match nic.interrupt_processors.as_slice() {
        [] => None,
        lists => Some(format!("interrupts on CPU {}", lists.join(" "))),
    });
    words.extend(
        nic.receive_stamps
            .then(|| "hardware receive stamps".to_owned()),
    );
    words.extend(nic.ptp_clock.map(|number| format!("PTP clock {number}")));
    let damaged = nic.counters.received.errors + nic.counters.sent.errors;
    words.extend((damaged > 0).then(|| format!("{damaged} errors so far: look at its cable")));
    if management == Some(nic.name.as_str()) {
        words.push("carries this ssh connection".to_owned());
    }
    let check = values(Check::ok(GROUP, nic.name.clone(), words.join(", ")), nic);
    match nic.largest_mtu {
        Some(largest) if largest < JUMBO => Check {
            finding: format!(
                "{}; the driver does not support jumbo frames",
                check.finding
            ),
            ..check
        }
        .noted(),
        _ => check,
    }
}

fn values(check: Check, nic: &Nic) -> Check {
    let known = [
        ("mtu", Some(Value::from(nic.mtu))),
        ("max_mtu", nic.largest_mtu.map(Value::from)),
        ("up", Some(nic.up.into())),
        ("driver", nic.driver.clone().map(Value::from)),
        (
            "speed_bps",
            nic.speed.map(|speed| speed.bits_per_second().into()),
        ),
        ("receive_ring", nic.rings.map(|rings| rings.receive.into())),
        (
            "receive_ring_limit",
            nic.rings.map(|rings| rings.receive_limit.into()),
        ),
        ("send_ring", nic.rings.map(|rings| rings.send.into())),
        (
            "send_ring_limit",
            nic.rings.map(|rings| rings.send_limit.into()),
        ),
        (
            "coalescing_s",
            nic.coalescing
                .map(|aggregates| aggregates.receive_delay.as_secs_f64().into()),
        ),
        (
            "coalescing_frames",
            nic.coalescing
                .map(|aggregates| aggregates.receive_frames.into()),
        ),
        (
            "coalescing_adaptive",
            nic.coalescing.map(|aggregates| aggregates.adaptive.into()),
        ),
        (
            "offloads_on",
            states_offloads().then(|| nic.offloads.clone().into()),
        ),
        ("firmware", nic.firmware.clone().map(Value::from)),
        ("full_duplex", nic.full_duplex.map(Value::from)),
        (
            "receive_stamps",
            STATES_INTERRUPTS.then(|| nic.receive_stamps.into()),
        ),
        ("ptp_clock", nic.ptp_clock.map(Value::from)),
        (
            "interrupt_cpus",
            STATES_INTERRUPTS.then(|| nic.interrupt_processors.clone().into()),
        ),
        (
            "received_packets",
            Some(nic.counters.received.packets.into()),
        ),
        (
            "received_dropped",
            Some(nic.counters.received.dropped.into()),
        ),
        ("received_errors", Some(nic.counters.received.errors.into())),
        (
            "received_pauses",
            nic.counters.received.pauses.map(Value::from),
        ),
        ("sent_packets", Some(nic.counters.sent.packets.into())),
        ("sent_dropped", Some(nic.counters.sent.dropped.into())),
        ("sent_errors", Some(nic.counters.sent.errors.into())),
        ("sent_pauses", nic.counters.sent.pauses.map(Value::from)),
    ];
    known
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .fold(check, |check, (name, value)| check.value(name, value))
}

/// The common names of the offloads (TSO, GSO, ..), without duplicates.
fn families(offloads: &[String]) -> Vec<&'static str> {
    let mut families: Vec<&str> = offloads
        .iter()
        .map(|name| match name.as_str() {
            "tx-generic-segmentation" => "GSO",
            "rx-gro" => "GRO",
            "rx-gro-hw" => "GRO-HW",
            "rx-lro" => "LRO",
            name if name.starts_with("tx-tcp") => "TSO",
            name if name.contains("udp") && !name.contains("tnl") => "USO",
            _ => "others",
        })
        .collect();
    families.sort_unstable();
    families.dedup();
    families
}
