//! Checks of the clock, the kernel's stamps and the pacing.

use units::Span;

use super::check::{Check, Group, PROCESSES, WALL_STEP_NANOS, short};
use super::facts::Facts;
use super::precision::{is_fine, read, wait};

const CLOCK: Group = Group::Clock;

/// On loopback a stamp is taken during the send; later stamps are not.
const LATE_STAMP: Span = Span::from_micros(100);

pub(super) fn judge(facts: &Facts) -> Vec<Check> {
    let mut checks = vec![source(facts), reading(facts), wall(facts)];
    checks.extend(synchronisation(facts));
    checks.push(stamps(facts));
    checks.extend(
        facts
            .waits
            .iter()
            .map(|(kind, late)| wait(*kind, late.as_ref())),
    );
    checks
}

fn source(facts: &Facts) -> Check {
    match facts.clock.source.as_str() {
        "" => Check::ok(CLOCK, "source", "the kernel does not name it"),
        source => Check::ok(CLOCK, "source", source),
    }
}

fn reading(facts: &Facts) -> Check {
    let clock = &facts.clock;
    let check = read(clock.reading, Some(clock.resolution));
    if is_fine(clock.reading, Some(clock.resolution)) {
        return check;
    }
    let better = clock
        .available
        .iter()
        .find(|name| name.as_str() == "tsc" && **name != clock.source);
    match better {
        Some(name) => check.noted_with(
            format!("echo {name} | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource"),
            "",
        ),
        None => check.noted_with(
            "sudo dmesg | grep -i -e clocksource -e tsc",
            "to see why no better clock source is used",
        ),
    }
}

fn wall(facts: &Facts) -> Check {
    let moved = facts.clock.wall_step_nanos.unsigned_abs();
    let watched = facts.clock.watched.as_secs_f64();
    let check = |finding: String| {
        Check::ok(CLOCK, "wall clock", finding)
            .value("wall_step_s", Span::from_nanos(moved).as_secs_f64())
    };
    if moved <= WALL_STEP_NANOS {
        return check(format!("not stepped within {watched:.1} s"));
    }
    check(format!(
        "stepped by {} within {watched:.1} s: trials would get the flag `clock-stepped`",
        short(Span::from_nanos(moved))
    ))
    .noted_with(
        "timedatectl set-ntp false",
        "during measurements; then look for other programs that set the clock",
    )
}

/// The trials between two machines compare their clocks themselves, so a clock without
/// a time service is no fault.
fn synchronisation(facts: &Facts) -> Option<Check> {
    let state = facts.clock.synchronisation?;
    let bound = |name: &str, span: Option<Span>| {
        span.map_or_else(String::new, |span| format!(", {name} {}", short(span)))
    };
    let finding = match state.synchronised {
        true => format!(
            "synchronised by a time service{}{}",
            bound("error estimated at", state.estimated_error),
            bound("at most", state.maximum_error)
        ),
        false => "not synchronised by a time service".to_owned(),
    };
    let mut check =
        Check::ok(CLOCK, "synchronisation", finding).value("synchronised", state.synchronised);
    for (name, span) in [
        ("estimated_error_s", state.estimated_error),
        ("max_error_s", state.maximum_error),
    ] {
        if let Some(span) = span {
            check = check.value(name, span.as_secs_f64());
        }
    }
    Some(check)
}

fn stamps(facts: &Facts) -> Check {
    let check = |finding: String| Check::ok(CLOCK, "stamps", finding);
    let stamps = match &facts.stamps {
        Ok(stamps) => stamps,
        Err(problem) => {
            return check(format!("loopback test failed: {problem}"))
                .noted_with("sudo ip link set lo up", "");
        }
    };
    let counted = format!(
        "{} of {} datagrams have a receive timestamp of the kernel",
        stamps.stamped, stamps.sent
    );
    let check = check(match stamps.delay {
        Some(delay) => format!("{counted}, {} after the send", short(delay)),
        None => counted,
    })
    .value("stamped", stamps.stamped)
    .value("sent", stamps.sent);
    let check = match stamps.delay {
        Some(delay) => check.value("stamp_delay_s", delay.as_secs_f64()),
        None => check,
    };
    if stamps.stamped < stamps.sent {
        return check.missing(
            "uname -r",
            "and use a kernel with SO_TIMESTAMPING; without timestamps, arrival times are too late",
        );
    }
    if stamps.delay.is_some_and(|delay| delay > LATE_STAMP) {
        return check.noted_with(PROCESSES, "to see which processes delay the kernel");
    }
    check
}
