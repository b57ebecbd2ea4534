//! A trial without any fault, for tests that change one fact.

use experiment::Experiment;
use meter::time_series::TimeSeries;
use meter::{FlowRecorder, Goodput, Summary};
use os::cpu_time::{MachineUse, Process};
use os::socket::TcpState;
use plan::command_line::Addresses;
use plan::setting::Transfer;
use plan::{Backend, Setting};
use traffic::driver::transfer::{Received, Sent};
use units::{Bytes, Span, Time, Transport};

use super::disturbance::Disturbance;
use super::pass::Pass;
use super::passes::{Ends, Passes};
use super::{Inspection, Path};
use crate::agent::{Arrived, Departed};
use crate::pace::{Paced, pace};

/// Two hosts without offloads on a link of 100 Mbit/s with MTU 1500, and TCP
/// cubic over IPv4. `keys` are added to the experiment.
pub(super) fn setting(keys: &str) -> Setting {
    let text = format!(
        "format = 1\nname = \"t\"\n{keys}\n[host]\noffloads = \"off\"\ncongestion = \"cubic\"\n\
         [network]\nshape = \"pair\"\nrate = \"100mbit\"\nip = 4\n[sweep]\n\"network.mtu\" = [1500]\n"
    );
    let experiment = Experiment::parse(&text, "t").unwrap();
    let mut plan = crate::backend::plan(experiment, Backend::Netns).unwrap();
    plan.cells.remove(0).setting.unwrap()
}

/// The transfer of a setting.
pub(super) fn transfer(setting: &Setting) -> &Transfer {
    setting.traffic.transfer().unwrap()
}

/// The path of `setting` over kernel links.
pub(super) fn path(setting: &Setting) -> Path {
    let [sender, receiver] = ["10.0.0.1", "10.0.0.2"].map(|address| address.parse().unwrap());
    Path {
        paced: Paced::Kernel,
        addresses: Addresses {
            sender,
            receiver,
            router: None,
        },
        hosts: Vec::new(),
        offloads: Some(Vec::new()),
        inspection: Some(Inspection {
            protocol: Transport::Tcp,
            message: Bytes::new(64_000),
            largest_sent: Bytes::new(1_500),
            largest_received: Bytes::new(1_500),
        }),
        pace: pace(setting, Paced::Kernel),
    }
}

/// The inspection of a path, which has one.
pub(super) const fn inspection(path: &mut Path) -> &mut Inspection {
    path.inspection.as_mut().unwrap()
}

/// A goodput of `bits_per_second` over one second.
pub(super) fn goodput(bits_per_second: f64) -> Goodput {
    Goodput {
        bytes: Bytes::new(11_000_000),
        span: Span::from_secs(1),
        bits_per_second,
        plain_bits_per_second: bits_per_second,
        first: Time::ZERO,
        last: Time::ZERO + Span::from_secs(1),
    }
}

/// A thousand messages, each with a delay of 2 ms.
fn delays() -> Summary {
    let mut recorder = FlowRecorder::new();
    for sequence in 0..1_000 {
        let sent = Time::ZERO + Span::from_millis(sequence);
        recorder.record(
            sequence,
            sent,
            sent + Span::from_millis(2),
            Bytes::new(1_000),
        );
    }
    recorder.finish(1_000)
}

/// TCP statistics of a thousand segments, ten of which were retransmitted.
pub(super) fn tcp() -> TcpState {
    TcpState {
        congestion: "cubic".into(),
        round_trip: Span::from_micros(4_500),
        segments: 1_000,
        retransmitted: 10,
        segment_size: 1_448,
    }
}

/// Both ends of a transfer at 94 Mbit/s, with 1 s of CPU time at the sender and
/// 2 s at the receiver.
pub(super) fn ends() -> Ends {
    let process = |secs| Process {
        cpu: Span::from_secs(secs),
        user: Span::from_millis(300 * secs),
        waited: Span::ZERO,
    };
    let sent = Sent {
        messages: 1_000,
        first_write: Time::ZERO + Span::from_millis(1),
        last_acknowledged: Some(Time::ZERO + Span::from_millis(1_001)),
        round_trips: None,
        echoes_took: None,
        tcp: Some(tcp()),
        smoothed_rtt: TimeSeries::default(),
        send_buffer: 200_000,
        process: process(1),
    };
    let received = Received {
        bytes: Bytes::new(500_000_000),
        unstamped: 0,
        stamps: None,
        spread: Span::from_micros(10),
        goodput: Some(goodput(94e6)),
        delays: delays(),
        clocks: None,
        arrivals: TimeSeries::default(),
        receive_buffer: 400_000,
        rejected_peers: 0,
        process: process(2),
    };
    (sent, received)
}

/// Ten seconds of a machine with two CPUs: five CPU seconds busy, half a second
/// of them soft interrupts.
pub(super) const fn machine() -> MachineUse {
    MachineUse {
        elapsed: Span::from_secs(10),
        busy: Span::from_secs(5),
        user: Span::from_secs(1),
        softirq: Some(Span::from_millis(500)),
        steal: Some(Span::ZERO),
        backlog_drops: Some(0),
        running: Some(0),
        processors: 2,
    }
}

/// No disturbances.
pub(super) fn disturbance() -> Disturbance {
    Disturbance {
        machine: machine(),
        ours: Some(Span::from_millis(3_100)),
        ours_in_user_mode: Span::from_millis(950),
        stalled: Span::ZERO,
        waited: Span::ZERO,
        drops: Some(0),
        clock_step: 0,
        emulator: None,
        counts: Default::default(),
        invalid: None,
        idle_wait: Span::ZERO,
        hosts: Vec::new(),
    }
}

/// The transfers of one trial without echoes.
pub(super) fn passes() -> Passes {
    let idle = |(sent, received): Ends| {
        let process = Process::default();
        (
            Sent { process, ..sent },
            Received {
                process,
                ..received
            },
        )
    };
    Passes {
        rated: idle(ends()),
        one_way: idle(ends()),
        echoed: None,
        metered: Some((ends(), machine())),
        each: vec![(Pass::Throughput, disturbance())],
        disturbance: disturbance(),
    }
}

/// Both ends of a flow of a thousand datagrams of 1000 bytes in one second.
pub(super) fn flow() -> (Departed, Arrived) {
    let sent = Departed {
        offered: 1_000,
        messages: 1_000,
        bytes: 1_000_000,
        rejected: 0,
        unsent: 0,
        lasted: 1_000_000_000,
        first: Some(0),
        timing_error: Some([1_000, 2_000, 3_000]),
        echoes: 0,
        round_trips: None,
        round_trip_quantiles: None,
        round_trips_over_time: TimeSeries::default(),
        departures: Vec::new(),
        tcp: None,
        send_buffer: 0,
        receive_buffer: 0,
        stamps_late: None,
        cpu: 0,
        clocks: None,
    };
    let received = Arrived {
        messages: 1_000,
        bytes: 1_000_000,
        overflowed: 0,
        unstamped: 0,
        stamps_late: None,
        merged: 0,
        summary: delays(),
        by_program: delays(),
        first: Some(2_000_000),
        counted: Some((1_000_000, 1_000_000_000)),
        over_time: TimeSeries::default(),
        samples: Vec::new(),
        cpu: 0,
    };
    (sent, received)
}
