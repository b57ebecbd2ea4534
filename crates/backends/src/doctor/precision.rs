//! Checks of the clock's readings and of waits, which are the same on every system.

use os::precision::{Reading, TimingError, Wait};
use units::Span;

use super::check::{Check, Group, PROCESSES, short};

/// A slower reading disturbs the measured times. Common hardware takes a tenth
/// of this; clock sources other than the CPU's own take more.
const SLOW_READING: Span = Span::from_nanos(500);

/// Larger steps hide the delays of single packets, which take 12 us on a
/// gigabit link.
const COARSE_STEP: Span = Span::from_micros(1);

/// The 99th percentile of timing error above which an emulated link or paced
/// traffic is affected.
const LATE_PACE: Span = Span::from_micros(100);

/// The cost and the resolution of a reading; `declared` is the resolution that the system
/// states, if it does.
pub(super) fn read(Reading { cost, step }: Reading, declared: Option<Span>) -> Check {
    let stated = declared.map(|span| format!(", {} declared", short(span)));
    let finding = format!(
        "takes {}, resolution {} observed{}",
        short(cost),
        short(step),
        stated.unwrap_or_default()
    );
    let check = Check::ok(Group::Clock, "reading", finding)
        .value("reading_s", cost.as_secs_f64())
        .value("step_s", step.as_secs_f64());
    match declared {
        Some(span) => check.value("resolution_s", span.as_secs_f64()),
        None => check,
    }
}

/// Whether readings are cheap and fine enough for the delays of single packets.
pub(super) fn is_fine(Reading { cost, step }: Reading, declared: Option<Span>) -> bool {
    let is_fine = |step: Span| step <= COARSE_STEP;
    cost <= SLOW_READING && is_fine(step) && declared.is_none_or(is_fine)
}

/// The timing error of a way of waiting, or the reason why it could not be tested.
pub(super) fn wait(kind: Wait, late: Result<&TimingError, &String>) -> Check {
    let name = match kind {
        Wait::Sleep => "sleep",
        Wait::Timer => "timer",
        Wait::Pacer => "sleep and spin",
    };
    let late = match late {
        Ok(late) => late,
        Err(problem) => {
            return Check::ok(Group::Pacing, name, format!("not tested: {problem}")).noted();
        }
    };
    let check = Check::ok(
        Group::Pacing,
        name,
        format!(
            "timing error at 1000/s: {:>6} median, {:>6} p99, {:>6} maximum",
            short(late.median),
            short(late.p99),
            short(late.max)
        ),
    )
    .value("timing_error_p50_s", late.median.as_secs_f64())
    .value("timing_error_p99_s", late.p99.as_secs_f64())
    .value("timing_error_max_s", late.max.as_secs_f64());
    if kind == Wait::Pacer && late.p99 > LATE_PACE {
        return check.noted_with(
            PROCESSES,
            "and stop the busy processes; on an idle machine the cause is the hypervisor or power saving. Paced packets leave late",
        );
    }
    check
}
