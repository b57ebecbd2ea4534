//! Checks which backends can run plans on this machine.

use super::attempt::{Ability, Attempt};
use super::check::{Check, Group, MEGABIT};
use super::facts::{Facts, as_root};

const GROUP: Group = Group::Backends;

pub(super) fn judge(facts: &Facts) -> Vec<Check> {
    vec![
        netns(facts),
        Check::ok(GROUP, "model", "ready; computes and sends nothing"),
        Check::ok(GROUP, "sim", "ready; needs no privileges"),
        hosts(facts),
    ]
}

fn netns(facts: &Facts) -> Check {
    let check = |finding: &str| Check::ok(GROUP, "netns", finding);
    let inside = match &facts.attempt {
        Attempt::Rejected {
            reason,
            command,
            advice,
        } => {
            return check(&format!("no namespaces: {reason}")).missing(command, advice);
        }
        Attempt::Lost(problem) => {
            return check(&format!("building a test network failed: {problem}")).missing(
                "jumbolab run jumbo-frames --repeat 1",
                "to see the failing step",
            );
        }
        Attempt::Inside(inside) => inside,
    };
    let failed = inside.steps.iter().find_map(|step| {
        let needed = matches!(
            step.ability,
            Ability::Veth | Ability::Transfer | Ability::PacketSocket
        );
        step.problem.as_deref().filter(|_| needed)
    });
    if let Some(problem) = failed {
        return check(problem).missing(
            "jumbolab run jumbo-frames --repeat 1",
            "once the items missing below are installed",
        );
    }
    let user = if facts.privileged {
        "as root, with receive packet steering (RPS), BPF and buffers beyond the limits"
    } else {
        "as an ordinary user, in a user namespace, without receive packet steering (RPS), BPF and buffers beyond the limits"
    };
    match inside.goodput_mbit {
        Some(goodput) => check(&format!(
            "ready {user}; a link of 1 Gbit/s sustained TCP at {goodput:.0} Mbit/s"
        ))
        .value("goodput_bps", goodput * MEGABIT as f64),
        None => check(&format!("ready {user}")),
    }
}

fn hosts(facts: &Facts) -> Check {
    let check = |finding: &str| Check::ok(GROUP, "hosts", finding);
    match facts.ssh {
        true => check("ready with machines that ssh reaches; `jumbolab doctor HOST` tries one"),
        false => check("needs ssh, which is not installed")
            .noted_with(as_root(facts, "apt-get install openssh-client"), ""),
    }
}
