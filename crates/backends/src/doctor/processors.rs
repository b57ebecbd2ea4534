//! Checks of the CPUs and their load by other processes.

use super::check::{BUSY, Check, Group, PROCESSES};
use super::facts::Facts;

const GROUP: Group = Group::Processors;

/// The CPU use from which a process is named.
const NAMED: f64 = 0.05;

/// Stolen time that affects a trial, in per cent.
const STEAL: f64 = 1.0;

pub(super) fn judge(facts: &Facts) -> Vec<Check> {
    let mut checks = vec![count(facts), idle(facts)];
    if facts.machine.virtual_machine || facts.load.steal_percent > 0.0 {
        checks.push(steal(facts));
    }
    checks.push(frequency(facts));
    checks.extend(energy(facts));
    checks
}

fn count(facts: &Facts) -> Check {
    let machine = &facts.machine;
    let place = if machine.virtual_machine {
        ", a virtual machine"
    } else {
        ""
    };
    let model = match machine.cpu_model.as_str() {
        "" => "unnamed processor",
        model => model,
    };
    let check = Check::ok(
        GROUP,
        "count",
        format!("{} x {model}{place}", machine.processors),
    )
    .value("cpus", machine.processors);
    if machine.processors > 1 {
        return check;
    }
    Check {
        finding: format!("{}: sender and receiver share one processor", check.finding),
        ..check
    }
    .missing(
        "taskset -cp 0-1 $$",
        "if the machine has more processors than this shell may use; otherwise add a second one",
    )
}

fn idle(facts: &Facts) -> Check {
    let load = &facts.load;
    let processors = facts.machine.processors;
    let names: Vec<String> = load
        .busiest
        .iter()
        .filter(|(_, used)| *used >= NAMED)
        .map(|(name, used)| format!("{name} {used:.1}"))
        .collect();
    if load.busy <= BUSY {
        let finding = format!(
            "{:.2} of {processors} processors busy, load average {:.2}",
            load.busy, facts.machine.load
        );
        return Check::ok(GROUP, "idle", finding).value("busy_cpus", load.busy);
    }
    let by = if names.is_empty() {
        String::new()
    } else {
        format!(": {}", names.join(", "))
    };
    let finding = format!(
        "machine not idle: {:.1} of {processors} processors busy{by}",
        load.busy
    );
    Check::ok(GROUP, "idle", finding)
        .value("busy_cpus", load.busy)
        .noted_with(
            PROCESSES,
            "and stop the busy processes; otherwise trials may get the flag `disturbed`",
        )
}

fn steal(facts: &Facts) -> Check {
    let percent = facts.load.steal_percent;
    let finding = format!("the hypervisor took {percent:.1} % of the processor time (steal)");
    let check = Check::ok(GROUP, "steal", finding).value("steal_percent", percent);
    if percent <= STEAL {
        return check;
    }
    check.noted_with(
        "vmstat 1",
        "to wait for low steal time (column st); otherwise trials may get the flag `disturbed`",
    )
}

/// Absent where it cannot be read: most virtual machines have no counters, and only root
/// may read them.
fn energy(facts: &Facts) -> Option<Check> {
    let watts = facts.load.watts?;
    let finding = format!("the processors take {watts:.1} W, by their own counters");
    Some(Check::ok(GROUP, "energy", finding).value("watts", watts))
}

fn frequency(facts: &Facts) -> Check {
    match facts.machine.governor.as_deref() {
        None => Check::ok(
            GROUP,
            "frequency",
            "the kernel reports no frequency governor",
        ),
        Some("performance") => Check::ok(GROUP, "frequency", "governor performance"),
        Some(policy) => Check::ok(
            GROUP,
            "frequency",
            format!("governor {policy}: frequency follows the load, and so do processing times"),
        )
        .noted_with(
            "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
            "",
        ),
    }
}
