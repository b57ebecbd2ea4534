//! The checks of systems other than Linux: what commands of the program use there, tried in the
//! process itself, and what is absent.

mod absent;
mod facts;
mod known_answer;
mod loopback;
mod network;
#[cfg(test)]
mod tests;

use std::env::consts;

use units::Span;

pub use facts::Facts;

use super::check::{BUSY, Check, Group, PROCESSES, WALL_STEP_NANOS, short};
use super::{interfaces, precision};

/// The longest relative difference between the simulator and the closed form: the last digits
/// of a double.
const SAME: f64 = 1e-9;

/// Derives all checks from the facts, in the order of the groups.
pub fn judge(facts: &Facts) -> Vec<Check> {
    let mut checks = vec![simulated(facts), count(facts), idle(facts)];
    checks.extend([reading(facts), wall(facts)]);
    let pacing = precision::wait(facts.pacing.0, facts.pacing.1.as_ref());
    checks.push(pacing.used_by("`send`"));
    checks.extend(network::judge(facts));
    let nics = facts.nics.as_deref();
    checks.extend(interfaces::judge(nics, None));
    checks.extend([folder(facts), console(facts)]);
    checks.extend(absent::checks());
    checks
}

fn simulated(facts: &Facts) -> Check {
    const COMMANDS: &str = "`run`, `sensitivity`";
    let check = |finding: String| Check::ok(Group::Backends, "sim and model", finding);
    let again = "jumbolab run jumbo-frames --on sim --set case=rpc";
    let [simulated, known] = match &facts.simulated {
        Ok(times) => *times,
        Err(problem) => {
            let check = check(format!("simulating failed: {problem}")).used_by(COMMANDS);
            return check.missing(again, "to see the error");
        }
    };
    let finding = format!(
        "a request of 20 kB takes {simulated} ms in the simulator and {known} ms by the closed form"
    );
    let check = check(finding)
        .used_by(COMMANDS)
        .value("message_time_s", simulated / 1e3);
    match (simulated - known).abs() <= known * SAME {
        true => check,
        false => check.missing(again, "and send its results with the report: they differ"),
    }
}

fn count(facts: &Facts) -> Check {
    let model = match facts.machine.cpu_model.as_str() {
        "" => "unnamed processor",
        model => model,
    };
    let processors = facts.machine.processors;
    let finding = format!("{processors} x {model}, program for {}", consts::ARCH);
    let check = Check::ok(Group::Processors, "count", finding).value("cpus", processors);
    match processors {
        ..=1 => Check {
            finding: format!("{}: sender and receiver share one", check.finding),
            ..check
        }
        .noted(),
        _ => check,
    }
}

fn idle(facts: &Facts) -> Check {
    const COMMANDS: &str = "`run --on hosts`, `send`, `recv`";
    let check = |finding: String| Check::ok(Group::Processors, "idle", finding);
    let busy = match &facts.busy {
        Ok(busy) => *busy,
        Err(problem) => {
            let check = check(format!("processor time cannot be read: {problem}"));
            return check
                .used_by(COMMANDS)
                .missing(PROCESSES, "to see whether others can");
        }
    };
    let finding = format!(
        "{busy:.2} of {} processors busy; their time counts in steps of {}",
        facts.machine.processors,
        short(facts.tick)
    );
    let check = check(finding).used_by(COMMANDS).value("busy_cpus", busy);
    match busy <= BUSY {
        true => check,
        false => check.noted_with(
            PROCESSES,
            "and stop the busy processes; otherwise results depend on them",
        ),
    }
}

fn reading(facts: &Facts) -> Check {
    let check = precision::read(facts.reading, None);
    let check = check.used_by("times of `send`, `recv` and `probe`");
    match precision::is_fine(facts.reading, None) {
        true => check,
        false => check.noted(),
    }
}

fn wall(facts: &Facts) -> Check {
    let moved = facts.wall_step_nanos.unsigned_abs();
    let watched = facts.watched.as_secs_f64();
    let check = |finding: String| {
        let check = Check::ok(Group::Clock, "wall clock", finding);
        let check = check.value("wall_step_s", Span::from_nanos(moved).as_secs_f64());
        check.used_by("delays of `send` and `recv`")
    };
    match moved <= WALL_STEP_NANOS {
        true => check(format!("not stepped within {watched:.1} s")),
        false => check(format!(
            "stepped by {} within {watched:.1} s; stop the program that sets it during measurements",
            short(Span::from_nanos(moved))
        ))
        .noted(),
    }
}

fn folder(facts: &Facts) -> Check {
    let check = |finding: &str| {
        let check = Check::ok(Group::Output, "folder", finding);
        check.used_by("`run`, packet logs")
    };
    match &facts.folder {
        Ok(()) => check("files can be created in the current folder"),
        Err(problem) => check(&format!(
            "no file can be created in the current folder: {problem}"
        ))
        .missing("cd FOLDER", "to a folder in which you may write"),
    }
}

fn console(facts: &Facts) -> Check {
    let check = |finding: &str| {
        let check = Check::ok(Group::Output, "console", finding);
        check.used_by("tables and plots in text")
    };
    match facts.console_is_utf8 {
        Some(true) => check("takes UTF-8"),
        None => check("none: output goes to a file or a program, in UTF-8"),
        Some(false) => check("its character set is not UTF-8: some characters may be wrong")
            .noted_with(UTF8, "before the program, in the same window"),
    }
}

/// The command that makes a console take UTF-8.
const UTF8: &str = match cfg!(windows) {
    true => "chcp 65001",
    false => "export LC_ALL=en_US.UTF-8",
};
