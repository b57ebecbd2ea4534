//! Checks of traffic over loopback.

use os::socket::UDP_RECEIVE_BUFFER;
use units::{IpVersion, Span};

use super::super::check::{Check, Group, MEGABIT, short};
use super::facts::Facts;
use super::loopback::{Exchange, LARGEST};

const GROUP: Group = Group::Loopback;

/// The command that shows whether this system has loopback.
const TRY: &str = "ping 127.0.0.1";

pub(super) fn judge(facts: &Facts) -> Vec<Check> {
    let datagrams = facts.datagrams.iter();
    let mut checks: Vec<Check> = datagrams
        .map(|(ip, tried)| udp(*ip, tried.as_ref()))
        .collect();
    let streams = facts.streams.iter();
    checks.extend(streams.map(|(ip, tried)| tcp(*ip, tried.as_ref())));
    let sockets = facts.whole.iter();
    checks.extend(sockets.map(|(ip, tried)| whole(*ip, tried.as_ref())));
    checks.extend([largest_message(facts), buffer(facts)]);
    let echoes = facts.echoes.iter();
    checks.extend(echoes.map(|(ip, tried)| echo(*ip, tried.as_ref())));
    checks
}

/// A check that failed: without IPv4 most commands do not work, without IPv6 those that name
/// an address of it.
fn failed(check: Check, ip: IpVersion) -> Check {
    match ip {
        IpVersion::V4 => check.missing(TRY, "to see whether the system answers itself"),
        IpVersion::V6 => check.noted(),
    }
}

fn udp(ip: IpVersion, tried: Result<&Exchange, &String>) -> Check {
    let check = |finding: String| {
        let check = Check::ok(GROUP, format!("UDP over {ip}"), finding);
        check.used_by("`send`, `recv`")
    };
    let exchange = match tried {
        Ok(exchange) => exchange,
        Err(problem) => return failed(check(problem.clone()), ip),
    };
    let [median, p99] = exchange.delay;
    let finding = format!(
        "{} of {} datagrams arrived; the program sees them {} after the send (p99 {}), and delays between hosts include this",
        exchange.arrived,
        exchange.sent,
        short(median),
        short(p99)
    );
    let check = check(finding)
        .value("sent", exchange.sent)
        .value("arrived", exchange.arrived)
        .value(
            "stamped",
            exchange.arrived.saturating_sub(exchange.unstamped),
        )
        .value("delay_p50_s", median.as_secs_f64())
        .value("delay_p99_s", p99.as_secs_f64());
    match exchange.arrived == exchange.sent {
        true => check,
        false => failed(check, ip),
    }
}

fn tcp(ip: IpVersion, tried: Result<&f64, &String>) -> Check {
    let check = |finding: String| {
        let check = Check::ok(GROUP, format!("TCP over {ip}"), finding);
        check.used_by("`send --protocol tcp`, `recv`, `agent`")
    };
    match tried {
        Ok(goodput) => {
            check(format!("{:.0} Mbit/s", goodput / MEGABIT as f64)).value("goodput_bps", *goodput)
        }
        Err(problem) => failed(check(problem.clone()), ip),
    }
}

fn whole(ip: IpVersion, tried: Result<&(), &String>) -> Check {
    let check = |finding: &str| {
        let check = Check::ok(GROUP, format!("DF over {ip}"), finding);
        check.used_by("`probe`, `send --pmtudisc do`")
    };
    match (tried, ip) {
        (Ok(()), _) => check("UDP sockets send packets that no router may fragment"),
        (Err(problem), IpVersion::V4) => {
            check(problem).missing("jumbolab probe 127.0.0.1", "to see what depends on it")
        }
        (Err(problem), IpVersion::V6) => check(problem).noted(),
    }
}

fn largest_message(facts: &Facts) -> Check {
    let check = |finding: String| {
        let check = Check::ok(GROUP, "largest message", finding);
        check.used_by("`send --message`, `probe --max-mtu`")
    };
    let size = match &facts.largest_message {
        Ok(size) => size.get(),
        Err(problem) => return failed(check(problem.clone()), IpVersion::V4),
    };
    let arrives = format!("UDP messages of {size} B arrive");
    let (why, is_largest) = match size {
        LARGEST => ("no larger ones fit IPv4's packets", true),
        _ => ("the system rejects larger ones", false),
    };
    let check = check(format!("{arrives}; {why}")).value("largest_message_bytes", size);
    match is_largest {
        true => check,
        false => raised(facts, check, "net.inet.udp.maxdgram=65507"),
    }
}

fn buffer(facts: &Facts) -> Check {
    let check = |finding: String| Check::ok(GROUP, "UDP buffer", finding).used_by("`recv`");
    let size = match &facts.buffer {
        Ok(size) => size.get(),
        Err(problem) => return failed(check(problem.clone()), IpVersion::V4),
    };
    let asked = UDP_RECEIVE_BUFFER.get();
    let value = |check: Check| check.value("udp_receive_buffer_bytes", size);
    match size >= asked {
        true => value(check(format!(
            "a receiver gets the {asked} B that it requests"
        ))),
        false => raised(
            facts,
            value(check(format!(
                "a receiver gets {size} B of the {asked} B that it requests, and may lose datagrams at full rate"
            ))),
            "kern.ipc.maxsockbuf=33554432",
        ),
    }
}

/// A note with the setting that raises a limit; Windows has no such setting.
fn raised(facts: &Facts, check: Check, setting: &str) -> Check {
    let sudo = if facts.privileged { "" } else { "sudo " };
    match cfg!(windows) {
        true => check.noted(),
        false => check.noted_with(
            format!("{sudo}sysctl {setting}"),
            "until the system starts again",
        ),
    }
}

fn echo(ip: IpVersion, tried: Result<&Span, &String>) -> Check {
    let check = |finding: String| {
        let check = Check::ok(GROUP, format!("echo requests over {ip}"), finding);
        check.used_by("routers of the path in `probe`")
    };
    match tried {
        Ok(took) => check(format!("answered after {}", short(*took)))
            .value("round_trip_s", took.as_secs_f64()),
        Err(problem) => check(problem.clone()).noted(),
    }
}
