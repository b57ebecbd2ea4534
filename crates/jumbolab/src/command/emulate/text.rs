//! Output about an emulated link: tables, JSON, warnings.

use std::fmt::Write;

use emulator::DirectionReport;
use link::PacketOutcome;
use serde_json::{Value, json};
use units::Span;

use super::reporter::Tick;

/// A warning that an interface delivered super-packets that the link could not cut.
pub(super) fn super_packets(name: &str, count: u64) -> String {
    format!(
        "warning: the link dropped {count} super-packets from {name} that it cannot cut, because they are inside a tunnel or no TCP or UDP; type: ethtool -K {name} gro off lro off gso off tso off tx-udp-segmentation off; with a veth pair, also at the other end"
    )
}

/// A table of both directions since `before`.
pub(super) fn table(ends: &[String; 2], tick: &Tick, before: Option<&Tick>) -> Vec<String> {
    let since = match before {
        Some(before) => tick.report.clone().since(&before.report),
        None => tick.report.clone(),
    };
    let earlier = before.map_or_else(Span::default, |before| before.elapsed);
    let seconds = (tick.elapsed - earlier).as_secs_f64().max(1e-9);
    let width = 3 + ends[0].len() + ends[1].len();
    let mut lines = vec![format!(
        "{:width$} {:>9} {:>9} {:>12} {:>8} {:>8} {:>8} {:>8}",
        time(tick.elapsed),
        "frames/s",
        "Mbit/s",
        "queued B",
        "dropped",
        "lost",
        "too big",
        "rejected"
    )];
    for (number, direction) in since.links[0].iter().enumerate() {
        let of = |outcome| direction.counters.of(outcome);
        lines.push(format!(
            "{:width$} {:>9.0} {:>9.3} {:>12} {:>8} {:>8} {:>8} {:>8}",
            name(ends, number),
            per_second(out(direction), seconds),
            per_second(direction.counters.bytes * 8, seconds) / 1e6,
            direction.backlog.bytes.get(),
            of(PacketOutcome::Dropped),
            of(PacketOutcome::Lost) + of(PacketOutcome::Damaged),
            of(PacketOutcome::TooBig),
            rejected(direction),
        ));
    }
    lines.push(late(&tick.report.late));
    lines
}

/// A table of both directions over the whole run.
pub(super) fn summary(ends: &[String; 2], tick: &Tick, whole: [Span; 3]) -> String {
    let directions = &tick.report.links[0];
    let seconds = tick.elapsed.as_secs_f64().max(1e-9);
    let [there, back] = [name(ends, 0), name(ends, 1)];
    let width = there.len().max(12);
    let mut text = format!("{:22} {there:>width$} {back:>width$}\n", time(tick.elapsed));
    let mut row = |name: &str, of: &dyn Fn(&DirectionReport) -> String| {
        let [there, back] = [of(&directions[0]), of(&directions[1])];
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:22} {there:>width$} {back:>width$}");
    };
    let count = |outcome: PacketOutcome| {
        move |direction: &DirectionReport| direction.counters.of(outcome).to_string()
    };
    row("frames arrived", &|direction| {
        direction.counters.arrived.to_string()
    });
    row("frames forwarded", &|direction| out(direction).to_string());
    row("Mbit/s forwarded", &|direction| {
        format!(
            "{:.3}",
            per_second(direction.counters.bytes * 8, seconds) / 1e6
        )
    });
    row("dropped in the queue", &count(PacketOutcome::Dropped));
    row("dropped out of bundles", &|direction| {
        direction.counters.inner_dropped.to_string()
    });
    row("lost", &count(PacketOutcome::Lost));
    row("lost to bit errors", &count(PacketOutcome::Damaged));
    row("too big", &count(PacketOutcome::TooBig));
    row("too big, answered", &|direction| {
        direction.counters.answered.to_string()
    });
    row("forwarded twice", &count(PacketOutcome::Duplicated));
    row("still queued", &|direction| {
        direction.backlog.packets.to_string()
    });
    row("rejected: not to be cut", &|direction| {
        direction.rejected.super_packets.to_string()
    });
    row("rejected: too late", &|direction| {
        direction.rejected.overrun.to_string()
    });
    row("unstamped", &|direction| {
        direction.rejected.unstamped.to_string()
    });
    // An interface counts unsent frames with those that it could not accept.
    let [there, back] = [1, 0].map(|end: usize| directions[end].rejected.unsent);
    let _ = writeln!(
        text,
        "{:22} {there:>width$} {back:>width$}",
        "not sent by the end"
    );
    let _ = writeln!(text, "{}", late(&whole));
    text
}

/// One JSON object: counts since the start, timing error since the previous object.
pub(super) fn json(ends: &[String; 2], tick: &Tick) -> Value {
    let directions = &tick.report.links[0];
    let direction = |number: usize| {
        let direction = &directions[number];
        let of = |outcome| direction.counters.of(outcome);
        json!({
            "from": ends[number],
            "to": ends[1 - number],
            "arrived": direction.counters.arrived,
            "delivered": of(PacketOutcome::Delivered),
            "duplicated": of(PacketOutcome::Duplicated),
            "dropped": of(PacketOutcome::Dropped),
            "inner_dropped": direction.counters.inner_dropped,
            "lost": of(PacketOutcome::Lost),
            "damaged": of(PacketOutcome::Damaged),
            "too_big": of(PacketOutcome::TooBig),
            "answered": direction.counters.answered,
            "bytes": direction.counters.bytes,
            "waiting_frames": direction.backlog.packets,
            "waiting_bytes": direction.backlog.bytes.get(),
            "super_packets": direction.rejected.super_packets,
            "overrun": direction.rejected.overrun,
            "unstamped": direction.rejected.unstamped,
            // An interface counts unsent frames with those that it could not
            // accept.
            "unsent": directions[1 - number].rejected.unsent,
        })
    };
    let late = tick.whole.unwrap_or(tick.report.late);
    let [median, p99, max] = late.map(Span::as_secs_f64);
    json!({
        "kind": "emulation",
        "elapsed_s": tick.elapsed.as_secs_f64(),
        "final": tick.whole.is_some(),
        "directions": [direction(0), direction(1)],
        "departures": tick.report.departures,
        "timing_error_p50_s": median,
        "timing_error_p99_s": p99,
        "timing_error_max_s": max,
        "scheduling": tick.report.scheduling.name().replace('-', "_"),
    })
}

fn name(ends: &[String; 2], direction: usize) -> String {
    format!("{} > {}", ends[direction], ends[1 - direction])
}

/// Delivered frames, including duplicates.
fn out(direction: &DirectionReport) -> u64 {
    direction.counters.of(PacketOutcome::Delivered)
        + 2 * direction.counters.of(PacketOutcome::Duplicated)
}

fn rejected(direction: &DirectionReport) -> u64 {
    direction.rejected.super_packets + direction.rejected.overrun
}

fn per_second(count: u64, seconds: f64) -> f64 {
    count as f64 / seconds
}

fn late(late: &[Span; 3]) -> String {
    let [median, p99, max] = late.map(micros);
    format!("timing error: {median:.1} us median, {p99:.1} us p99, {max:.1} us maximum")
}

fn micros(span: Span) -> f64 {
    span.as_secs_f64() * 1e6
}

fn time(elapsed: Span) -> String {
    format!("{:.0} s", elapsed.as_secs_f64())
}
