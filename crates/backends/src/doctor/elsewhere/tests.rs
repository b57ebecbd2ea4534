//! Checks of other systems: those of synthetic facts, and the facts of this machine, where all
//! but the echo requests can be tried.

use os::machine::Machine;
use os::precision::{Reading, TimingError, Wait};
use units::{Bytes, IpVersion};

use super::super::{Status, remark_on};
use super::loopback::{Exchange, LARGEST};
use super::*;

/// Facts without complaints.
fn sound() -> Facts {
    let late = Span::from_micros(20);
    let both = [IpVersion::V4, IpVersion::V6];
    let exchange = Exchange {
        sent: 200,
        arrived: 200,
        unstamped: 200,
        delay: [Span::from_micros(30), Span::from_micros(90)],
    };
    Facts {
        privileged: false,
        machine: Machine {
            processors: 4,
            cpu_model: "Test CPU".into(),
            ..Machine::here()
        },
        busy: Ok(0.02),
        tick: Span::from_millis(10),
        reading: Reading {
            cost: Span::from_nanos(25),
            step: Span::from_nanos(100),
        },
        wall_step_nanos: -800,
        watched: Span::from_secs(1),
        pacing: (
            Wait::Pacer,
            Ok(TimingError {
                median: late,
                p99: late,
                max: late,
            }),
        ),
        simulated: Ok([0.324_32, 0.324_32]),
        datagrams: both.map(|ip| (ip, Ok(exchange))),
        streams: both.map(|ip| (ip, Ok(5e9))),
        whole: both.map(|ip| (ip, Ok(()))),
        largest_message: Ok(Bytes::new(LARGEST)),
        buffer: Ok(os::socket::UDP_RECEIVE_BUFFER),
        echoes: [IpVersion::V4, IpVersion::V6].map(|ip| (ip, Ok(Span::from_micros(500)))),
        nics: Ok(Vec::new()),
        folder: Ok(()),
        console_is_utf8: Some(true),
    }
}

#[track_caller]
fn check(name: &str, change: impl FnOnce(&mut Facts)) -> Check {
    let mut facts = sound();
    change(&mut facts);
    let checks = judge(&facts);
    for check in &checks {
        let is_typed = check.remedy.is_some();
        assert!(!check.finding.is_empty() && !check.finding.contains('\n'));
        match check.status {
            Status::Ok | Status::Absent => assert!(!is_typed, "{check:?}"),
            Status::Note => {}
            Status::Missing => assert!(is_typed, "{check:?}"),
        }
    }
    let mut found = checks.into_iter().filter(|check| check.name == name);
    let first = found.next();
    assert_eq!(found.next(), None, "two checks are called {name}");
    first.unwrap_or_else(|| panic!("no check is called {name}"))
}

#[test]
fn sound_facts_leave_nothing_but_what_is_absent() {
    for check in judge(&sound()) {
        let wanted = match check.group {
            Group::Absent => Status::Absent,
            _ => Status::Ok,
        };
        assert_eq!(check.status, wanted, "{check:?}");
    }
}

#[test]
fn every_fault_is_a_note_or_missing_with_what_to_type() {
    fn broken<T>() -> Result<T, String> {
        Err("it is broken".to_owned())
    }
    type Change = fn(&mut Facts);
    let faults: [(&str, Status, Change); 14] = [
        ("sim and model", Status::Missing, |facts| {
            facts.simulated = Ok([0.324_32, 0.324_33]);
        }),
        ("sim and model", Status::Missing, |facts| {
            facts.simulated = broken()
        }),
        ("count", Status::Note, |facts| facts.machine.processors = 1),
        ("idle", Status::Missing, |facts| facts.busy = broken()),
        ("idle", Status::Note, |facts| facts.busy = Ok(1.5)),
        ("reading", Status::Note, |facts| {
            facts.reading.step = Span::from_millis(15);
        }),
        ("wall clock", Status::Note, |facts| {
            facts.wall_step_nanos = 25_000_000
        }),
        ("UDP over IPv4", Status::Missing, |facts| {
            facts.datagrams[0].1 = broken()
        }),
        ("UDP over IPv6", Status::Note, |facts| {
            facts.datagrams[1].1 = broken()
        }),
        ("TCP over IPv4", Status::Missing, |facts| {
            facts.streams[0].1 = broken()
        }),
        ("DF over IPv4", Status::Missing, |facts| {
            facts.whole[0].1 = broken()
        }),
        ("largest message", Status::Note, |facts| {
            facts.largest_message = Ok(Bytes::new(9_216));
        }),
        ("folder", Status::Missing, |facts| facts.folder = broken()),
        ("console", Status::Note, |facts| {
            facts.console_is_utf8 = Some(false)
        }),
    ];
    for (name, status, change) in faults {
        assert_eq!(check(name, change).status, status, "{name}");
    }
    let lost = check("UDP over IPv4", |facts| {
        if let Ok(exchange) = &mut facts.datagrams[0].1 {
            exchange.arrived = 199;
        }
    });
    assert_eq!(lost.status, Status::Missing);
    assert!(lost.finding.starts_with("199 of 200 datagrams"), "{lost:?}");
    for (place, ip) in ["IPv4", "IPv6"].into_iter().enumerate() {
        let name = format!("echo requests over {ip}");
        let echo = check(&name, |facts| facts.echoes[place].1 = broken());
        assert_eq!(echo.status, Status::Note);
        assert_eq!(check(&name, |_| {}).status, Status::Ok);
    }
}

#[test]
fn what_only_linux_has_is_named_by_the_parts_that_lack_it() {
    let backends = check("backends", |_| {});
    assert_eq!(backends.finding, "Only on Linux: netns, hosts");
    let probe = check("probe", |_| {});
    let parts = "TCP segments of other sizes, fragments";
    assert!(probe.finding.ends_with(parts), "{probe:?}");
}

#[test]
fn this_machine_answers_itself_and_simulates_as_the_closed_form_says() {
    let facts = Facts::here(|_| {}).unwrap();
    let [simulated, known] = facts.simulated.clone().unwrap();
    assert!(
        (simulated - known).abs() <= known * SAME,
        "{simulated} {known}"
    );
    for (ip, tried) in &facts.datagrams {
        let exchange = tried.as_ref().unwrap();
        assert_eq!((exchange.sent, exchange.arrived), (200, 200), "{ip}");
        assert!(exchange.delay[0] <= exchange.delay[1], "{exchange:?}");
    }
    for (ip, tried) in &facts.streams {
        assert!(
            tried.as_ref().is_ok_and(|goodput| *goodput > 0.0),
            "{ip}: {tried:?}"
        );
    }
    assert!(facts.whole.iter().all(|(_, tried)| tried.is_ok()));
    assert_eq!(facts.largest_message, Ok(Bytes::new(LARGEST)));
    assert!(facts.buffer.as_ref().is_ok_and(|size| size.get() > 0));
    assert_eq!(facts.folder, Ok(()));
}

#[test]
fn a_system_that_nobody_has_reported_on_says_so_and_wine_is_no_windows() {
    assert_eq!(remark_on("Linux"), None);
    for (system, name) in [
        ("Windows_NT", "Windows"),
        ("Darwin", "macOS"),
        ("FreeBSD", "FreeBSD"),
    ] {
        let remark = remark_on(system).unwrap();
        assert!(
            remark.contains(&format!("nobody has reported on {name} yet")),
            "{remark}"
        );
        assert!(remark.contains("`jumbolab doctor --json`"), "{remark}");
    }
    let wine = remark_on("Windows (Wine)").unwrap();
    assert!(wine.starts_with("This is Wine, not Windows"), "{wine}");
}
