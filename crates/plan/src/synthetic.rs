//! Synthetic plans, trials and noise for tests.

use std::collections::{BTreeMap, BTreeSet};

use rand::Rng as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use units::{Bytes, Framing, IpMtu, IpVersion, Rate, Seed, Span, Transport};

use crate::setting::{
    Addresses, Costs, Echo, Host, Impairments, KernelTcp, Link, LinkKind, Network, NicSetting,
    Shape, Traffic, Transfer, Watched,
};
use crate::{
    Backend, Cell, Compare, Evidence, Factors, HostFacts, Level, OptionalVec, Plan, Published,
    Report, RetryLimit, RunFacts, Setting, Trial,
};

/// Normal deviates by the Box-Muller method.
pub struct Normal(ChaCha8Rng);

impl Normal {
    /// Deviates determined by `seed`.
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// The next `n` deviates around `mean`.
    pub fn sample(&mut self, n: usize, mean: f64, deviation: f64) -> Vec<f64> {
        (0..n).map(|_| mean + deviation * self.next()).collect()
    }

    fn next(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// A uniform deviate in (0, 1].
    fn uniform(&mut self) -> f64 {
        (f64::from(self.0.next_u32()) + 1.0) / (f64::from(u32::MAX) + 1.0)
    }
}

/// The factors of a cell identified by its MTU alone.
pub fn factors(mtu: i64) -> Factors {
    Factors(vec![("mtu".into(), Level::Integer(mtu))])
}

/// The factors of a cell of the 2019 study [Praptodiyono2019].
pub fn full_factors(scenario: &str, offloads: &str, mtu: i64) -> Factors {
    Factors(vec![
        ("scenario".into(), Level::Text(scenario.into())),
        ("offloads".into(), Level::Text(offloads.into())),
        ("mtu".into(), Level::Integer(mtu)),
    ])
}

/// Gives the evidence `name` of `trial` a value that the catalogue need not know.
pub fn set_evidence(trial: &mut Trial, name: &str, value: serde_json::Value) {
    trial.evidence.set(name, value);
}

/// A finished trial with these metrics and without evidence.
pub fn trial(factors: Factors, repeat: u32, metrics: &[(&str, f64)]) -> Trial {
    Trial {
        id: format!("{}-r{repeat:02}", factors.to_string().replace(' ', "-")).into(),
        factors: factors.into(),
        repeat,
        attempt: 1,
        start: Some("2026-01-02T03:04:05.678Z".into()),
        seconds: 0.5,
        failure: None,
        disturbed: OptionalVec::default(),
        flags: OptionalVec::default(),
        metrics: metrics.iter().copied().collect(),
        evidence: Evidence::default(),
    }
}

/// A transfer of 5 MB over one link of 1 Gbit/s.
pub fn setting(mtu: i64, offloads: bool) -> Setting {
    let mtu = IpMtu::new(u64::try_from(mtu).unwrap(), IpVersion::V6).unwrap();
    let link = |name: &str| Link {
        name: name.into(),
        mtu,
        rate: Rate::from_bits_per_second(1_000_000_000),
        burst: Bytes::new(125_000),
        buffer: Bytes::new(250_000),
        impairments: Impairments::default(),
        framing: Framing::Ethernet,
        cross: None,
        recorded: false,
        watch: Watched::default(),
        counted: Default::default(),
    };
    Setting {
        network: Network {
            shape: Shape::Routed,
            link: LinkKind::Kernel,
            ip: IpVersion::V6,
            addresses: Addresses::Static,
            cut_through: false,
            links: vec![link("sender-router"), link("router-receiver")],
            domain: None,
            graph: None,
            timing_error: None,
            isolate_trials: false,
            mtu_method: crate::setting::MtuMethod::Interface,
        },
        host: Host {
            scenario: None,
            offloads,
            congestion: "cubic".into(),
            nic: NicSetting::default(),
            segments_per_packet: None,
            processor: None,
            tcp: KernelTcp::default(),
            costs: Costs::default(),
        },
        traffic: Traffic::Transfer(Transfer {
            protocol: Transport::Tcp,
            size: Bytes::new(5_000_000),
            message: Bytes::new(1428),
            warmup: Bytes::new(1_000_000),
            cpu_bytes: Bytes::new(1_000_000_000),
            send_buffer: None,
            receive_buffer: None,
            nagle: false,
            echo: Echo::Headers,
            timeout: Span::from_millis(10_000),
            tcp: None,
        }),
    }
}

/// A plan of these cells, repeated `repeat` times, against MTU 1500.
pub fn plan(cells: Vec<Cell>, repeat: u32, published: Vec<Published>) -> Plan {
    Plan {
        name: "synthetic".into(),
        title: "What a test needs".into(),
        source: None,
        backend: Backend::Netns,
        cells,
        repeat,
        until: None,
        retry_limit: RetryLimit::default(),
        seed: Seed::new(1),
        compare: Compare {
            factor: "mtu".into(),
            baseline: Level::Integer(1500),
        },
        published,
        claims: Vec::new(),
        leading: Vec::new(),
        paired: Vec::new(),
        steps: Vec::new(),
        unstated: Vec::new(),
        report: Report::default(),
        text: "# A synthetic plan.\nname = \"synthetic\"\n\n[trials]\nrepeat = 2\n".into(),
        hash: "0123abcd".into(),
        files: Vec::new(),
        side_effects: BTreeSet::new(),
    }
}

/// A measurable cell with a setting derived from its factors.
pub fn cell(factors: Factors) -> Cell {
    let Some(&Level::Integer(mtu)) = factors.level("mtu") else {
        panic!("a synthetic cell has an MTU");
    };
    let offloads = factors.level("offloads") == Some(&Level::Text("on".into()));
    Cell {
        setting: Ok(setting(mtu, offloads)),
        factors,
    }
}

/// A program on a machine with two processors.
pub fn facts() -> RunFacts {
    RunFacts {
        version: "0.1.0".into(),
        binary: "b1".into(),
        backend: Backend::Netns,
        host: Some(HostFacts {
            kernel: "Linux 6.18.0".into(),
            cpu_model: "Test CPU".into(),
            cpus: 2,
            root: false,
            machine: BTreeMap::from([("memory_gib".into(), 8.into())]),
        }),
        auto_rate: None,
        hosts: Vec::new(),
        left_out: Vec::new(),
        resumed: Vec::new(),
    }
}

/// Values as the 2019 study prints them [Praptodiyono2019].
pub fn published(metric: &str, values: &[(i64, f64)], changes: &[(i64, f64)]) -> Published {
    let levels = |figures: &[(i64, f64)]| {
        figures
            .iter()
            .map(|&(mtu, figure)| (Level::Integer(mtu), figure))
            .collect()
    };
    Published {
        metric: metric.into(),
        unit: crate::metric::Metric::named(metric).unwrap().unit.into(),
        factors: Factors::default(),
        values: levels(values),
        changes: levels(changes),
        used_in_fit: Vec::new(),
        resolution_percent: None,
        sampling: None,
        alternatives: crate::Alternatives::default(),
        source: "[Praptodiyono2019 Table 4]".into(),
    }
}

/// A study of two scenarios, one of which cannot be measured, with two repeats.
pub fn study() -> (Plan, Vec<Trial>) {
    let (mut cells, mut trials) = (Vec::new(), Vec::new());
    for (offloads, mtu, throughput, cpu) in [
        ("off", 1500, 948.0, 0.80),
        ("off", 9000, 989.0, 0.50),
        ("on", 1500, 996.0, 0.40),
        ("on", 9000, 995.0, 0.40),
    ] {
        let factors = full_factors("LU-LU", offloads, mtu);
        for (repeat, noise) in [(1, 0.999), (2, 1.001)] {
            let metrics = [
                ("throughput", throughput * noise),
                ("cpu_sender", cpu * noise),
                ("cpu_sender_high", 2.0 * cpu * noise),
                ("retransmissions", 0.0),
            ];
            trials.push(trial(factors.clone(), repeat, &metrics));
        }
        cells.push(cell(factors));
    }
    let mut failed = trial(full_factors("LU-LU", "off", 1500), 3, &[]);
    failed.failure = Some("the receiver died".into());
    trials.push(failed);
    for mtu in [1500, 9000] {
        let mut windows = cell(full_factors("WS-WS", "off", mtu));
        windows.setting = Err("needs a Windows host".into());
        cells.push(windows);
    }
    let of = |scenario: &str, mut published: Published| {
        published.factors = Factors(vec![("scenario".into(), Level::Text(scenario.into()))]);
        published
    };
    let mut sender = published("cpu_sender", &[], &[(9000, -37.5)]);
    sender.source = "[Praptodiyono2019 Table 5]".into();
    let claims = vec![
        of(
            "LU-LU",
            published(
                "throughput",
                &[(1500, 750.94), (9000, 938.88)],
                &[(9000, 25.03)],
            ),
        ),
        of(
            "WS-WS",
            published(
                "throughput",
                &[(1500, 662.37), (9000, 884.96)],
                &[(9000, 33.6)],
            ),
        ),
        of("LU-LU", sender),
    ];
    (plan(cells, 3, claims), trials)
}
