//! The facts of this machine and of its interfaces.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use os::cpu_time;
use os::energy::Energy;
use os::kernel_clock::{self, Synchronisation};
use os::machine::Machine;
use os::nic::Nic;
use os::precision::{self, Wait};
use plan::HostFacts;
use serde_json::{Value, json};
use units::Span;

/// The pace of the pacing test: 50 times at 1000 per second take 50 ms.
const INTERVAL: Span = Span::from_millis(1);
const WAITS: u64 = 50;

/// The facts of this machine.
///
/// # Errors
/// The program cannot read the clock or a meter.
pub(crate) fn of_machine() -> Result<HostFacts> {
    let machine = Machine::here();
    let (before, own_before) = (cpu_time::Machine::sample()?, cpu_time::Process::sample()?);
    let pacing = precision::measure(Wait::Pacer, INTERVAL, WAITS).context("testing the pacing")?;
    let used = cpu_time::Machine::sample()?.since(&before);
    let own = cpu_time::Process::sample()?.cpu - own_before.cpu;
    let others = (used.busy.as_secs_f64() - own.as_secs_f64()).max(0.0);
    let elapsed = used.elapsed.as_secs_f64();
    let all = (used.elapsed * used.processors).as_secs_f64();
    let extra = [
        ("virtual_machine", json!(machine.virtual_machine)),
        ("governor", json!(machine.governor)),
        ("congestion_controls", json!(machine.congestion_controls)),
        ("load", json!(machine.load)),
        ("clock_source", json!(kernel_clock::source())),
        (
            "clock_resolution_ns",
            json!(kernel_clock::resolution()?.as_nanos()),
        ),
        ("others_before", json!(others / elapsed)),
        (
            "steal_percent_before",
            json!(used.steal.map(|steal| 100.0 * steal.as_secs_f64() / all)),
        ),
        ("pacing_late_us_median", micros(pacing.median)),
        ("pacing_late_us_p99", micros(pacing.p99)),
        (
            "timestamps",
            json!("kernel software receive stamps (SO_TIMESTAMPING)"),
        ),
    ];
    Ok(HostFacts {
        kernel: machine.kernel,
        cpu_model: machine.cpu_model,
        cpus: u32::try_from(machine.processors).unwrap_or(u32::MAX),
        root: os::privileged(),
        machine: extra
            .into_iter()
            .chain(
                machine
                    .socket_memory
                    .map(|(name, value)| (name, json!(value))),
            )
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.to_owned(), value))
            .collect::<BTreeMap<_, _>>(),
    })
}

/// The facts of this machine, which a user has named. They include the state of its clock
/// and of its energy counters, because the meters of other backends use neither.
///
/// # Errors
/// As [`of_machine`].
pub(crate) fn of_named_host() -> Result<HostFacts> {
    let mut facts = of_machine()?;
    let synchronisation = match Synchronisation::read() {
        Ok(state) => kept(state),
        Err(error) => error.to_string(),
    };
    let energy = match Energy::sample() {
        Ok(energy) => format!("metered, {} processor packages", energy.packages()),
        Err(absence) => format!("not metered: {absence}"),
    };
    let more = [
        ("clock_synchronisation", synchronisation),
        ("energy", energy),
    ];
    let more = more.map(|(name, text)| (name.to_owned(), Value::from(text)));
    facts.machine.extend(more);
    Ok(facts)
}

/// How a time service keeps the clock, in words.
fn kept(state: Synchronisation) -> String {
    let error = |name: &str, span: Option<Span>| {
        span.map_or_else(String::new, |span| {
            format!(", {name} error {:.3} ms", span.as_millis_f64())
        })
    };
    match state.synchronised {
        true => format!(
            "a time service keeps the clock{}{}",
            error("estimated", state.estimated_error),
            error("largest", state.maximum_error)
        ),
        false => "no time service keeps the clock".to_owned(),
    }
}

/// The facts of an interface of a machine that a user has named.
pub(crate) fn of_interface(nic: &Nic) -> BTreeMap<String, Value> {
    let duplex = nic.full_duplex.map(|full| match full {
        true => "full duplex",
        false => "half duplex",
    });
    let speed = nic.speed.map(|speed| speed.to_string());
    let link: Vec<&str> = speed.as_deref().into_iter().chain(duplex).collect();
    let rings = nic.rings.map(|rings| {
        format!(
            "receive {} of {}, send {} of {}",
            rings.receive, rings.receive_limit, rings.send, rings.send_limit
        )
    });
    let coalescing = nic.coalescing.map(|coalescing| {
        let adaptive = match coalescing.adaptive {
            true => ", adaptive",
            false => "",
        };
        format!(
            "interrupts within {:.0} us or after {} frames{adaptive}",
            coalescing.receive_delay.as_secs_f64() * 1e6,
            coalescing.receive_frames
        )
    });
    // Only software stamps are read, also where the device has others.
    let stamps = nic
        .receive_stamps
        .then_some("by software; those of the device are not used");
    let words = |list: &[String]| (!list.is_empty()).then(|| list.join(", "));
    let facts = [
        ("driver", nic.driver.clone()),
        ("firmware", nic.firmware.clone()),
        ("link", (!link.is_empty()).then(|| link.join(", "))),
        ("mtu", Some(nic.mtu.to_string())),
        (
            "offloads",
            Some(words(&nic.offloads).unwrap_or_else(|| "none".to_owned())),
        ),
        ("rings", rings),
        ("coalescing", coalescing),
        ("interrupts_on_processors", words(&nic.interrupt_processors)),
        ("receive_stamps", stamps.map(str::to_owned)),
        (
            "ptp_clock",
            nic.ptp_clock.map(|number| format!("/dev/ptp{number}")),
        ),
    ];
    let known = facts
        .into_iter()
        .filter_map(|(name, text)| Some((name.to_owned(), text?.into())));
    known.collect()
}

/// Microseconds to one decimal.
fn micros(span: Span) -> Value {
    json!((span.as_secs_f64() * 1e7).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use os::nic::{Coalescing, Rings};
    use units::Rate;

    use super::*;

    #[test]
    fn an_interface_is_described_as_far_as_its_driver_says() {
        let virtual_one = Nic {
            mtu: 9_000,
            ..Nic::default()
        };
        let facts = of_interface(&virtual_one);
        let names: Vec<&str> = facts.keys().map(String::as_str).collect();
        assert_eq!(names, ["mtu", "offloads"]);
        assert_eq!(facts["offloads"], "none");
        let whole = Nic {
            driver: Some("mlx5_core".into()),
            firmware: Some("28.39".into()),
            full_duplex: Some(true),
            interrupt_processors: vec!["0-1".into(), "4".into()],
            receive_stamps: true,
            ptp_clock: Some(0),
            speed: Rate::from_bits_per_second(25_000_000_000),
            rings: Some(Rings {
                receive: 1_024,
                receive_limit: 8_192,
                send: 512,
                send_limit: 8_192,
            }),
            coalescing: Some(Coalescing {
                receive_delay: Span::from_micros(8),
                receive_frames: 128,
                adaptive: true,
            }),
            offloads: vec!["rx-gro".into()],
            ..virtual_one
        };
        let facts = of_interface(&whole);
        let fact = |name: &str| facts[name].as_str().unwrap().to_owned();
        assert_eq!(fact("link"), "25gbit, full duplex");
        assert_eq!(fact("rings"), "receive 1024 of 8192, send 512 of 8192");
        assert_eq!(
            fact("coalescing"),
            "interrupts within 8 us or after 128 frames, adaptive"
        );
        assert_eq!(fact("interrupts_on_processors"), "0-1, 4");
        assert!(fact("receive_stamps").starts_with("by software"));
        assert_eq!((fact("ptp_clock").as_str(), facts.len()), ("/dev/ptp0", 10));
    }

    #[test]
    fn the_state_of_a_clock_is_told_with_its_error() {
        let state = Synchronisation {
            synchronised: true,
            estimated_error: None,
            maximum_error: Some(Span::from_micros(12_300)),
        };
        let told = "a time service keeps the clock, largest error 12.300 ms";
        assert_eq!(kept(state), told);
        let state = Synchronisation {
            synchronised: false,
            ..state
        };
        assert_eq!(kept(state), "no time service keeps the clock");
    }
}
