//! A sound machine as the starting point of tests.

use os::kernel_clock::Synchronisation;
use os::machine::Machine;
use os::nic::Nic;
use os::precision::{Reading, TimingError, Wait};
use os::stamps::Stamps;
use units::Span;

use crate::doctor::{
    Ability, Attempt, Clock, Encapsulation, Facts, Inside, Load, Step, Trial, attempt,
};

/// A machine without complaints.
pub(super) fn sound() -> Facts {
    let late = |micros| {
        let span = Span::from_micros(micros);
        Ok(TimingError {
            median: span,
            p99: span,
            max: span,
        })
    };
    Facts {
        privileged: false,
        machine: Machine {
            kernel: "6.18.0 #1 SMP".into(),
            cpu_model: "Test CPU".into(),
            processors: 4,
            virtual_machine: false,
            governor: Some("performance".into()),
            congestion_controls: vec!["reno".into(), "cubic".into()],
            socket_memory: [
                ("tcp_rmem", "4096 131072 6291456".into()),
                ("tcp_wmem", "4096 16384 4194304".into()),
                ("rmem_max", "212992".into()),
                ("wmem_max", "212992".into()),
            ],
            load: 0.1,
        },
        attempt: Attempt::Inside(inside()),
        load: Load {
            busy: 0.02,
            steal_percent: 0.0,
            watts: Some(21.5),
            busiest: Vec::new(),
        },
        clock: Clock {
            source: "tsc".into(),
            available: vec!["tsc".into(), "hpet".into()],
            resolution: Span::from_nanos(1),
            reading: Reading {
                cost: Span::from_nanos(25),
                step: Span::from_nanos(20),
            },
            wall_step_nanos: -800,
            synchronisation: Some(Synchronisation {
                synchronised: true,
                estimated_error: Some(Span::from_micros(40)),
                maximum_error: Some(Span::from_millis(2)),
            }),
            watched: Span::from_secs(2),
        },
        stamps: Ok(Stamps {
            sent: 100,
            stamped: 100,
            delay: Some(Span::from_micros(3)),
        }),
        waits: [
            (Wait::Sleep, late(55)),
            (Wait::Timer, late(6)),
            (Wait::Pacer, late(1)),
        ],
        nics: Ok(vec![nic(9216)]),
        management: None,
        ssh: true,
        iperf3: true,
    }
}

/// A test network in which all tests succeeded.
fn inside() -> Inside {
    let abilities = [
        Ability::Veth,
        Ability::TokenBucket,
        Ability::Bridge,
        Ability::Ipv6,
        Ability::Offloads,
        Ability::PacketSocket,
        Ability::Transfer,
    ];
    Inside {
        steps: abilities
            .map(|ability| Step {
                ability,
                problem: None,
            })
            .to_vec(),
        congestion_controls: attempt::CONGESTION_CONTROLS.map(str::to_owned).to_vec(),
        queues: vec!["fq".into()],
        goodput_mbit: Some(960.0),
        udp_buffer: Some(32 << 20),
        emulated: [(1500, 949.0), (9000, 990.0)]
            .map(|(mtu, limit)| encapsulation(mtu, &[(1_000, limit), (2_500, 0.9 * limit)]))
            .to_vec(),
    }
}

/// Trials at these rates with this goodput, of the limit that a gigabit has.
pub(super) fn encapsulation(mtu: u64, tried: &[(u64, f64)]) -> Encapsulation {
    let limit = if mtu == 1500 { 0.949 } else { 0.99 };
    let trials = tried.iter().map(|&(rate, goodput_mbit)| Trial {
        rate_mbit: rate,
        goodput_mbit,
        limit_mbit: limit * rate as f64,
        late: Span::from_micros(20),
        rejected: 0,
        disturbed: false,
    });
    Encapsulation {
        mtu,
        trials: trials.collect(),
        problem: None,
    }
}

/// An interface that accepts MTUs up to this.
pub(super) fn nic(largest_mtu: u32) -> Nic {
    Nic {
        name: "eth0".into(),
        up: true,
        mtu: 1500,
        largest_mtu: Some(largest_mtu),
        driver: Some("ixgbe".into()),
        offloads: vec!["tx-tcp-segmentation".into(), "tx-tcp6-segmentation".into()],
        ..Nic::default()
    }
}
