//! A dumbbell in the form of each simulator.

/// Connections, each over access links of its own, through one bottleneck with
/// RED. All links have the same rate; access links travel 2 ms, the bottleneck
/// 10 ms; flows begin one after the other within [`STARTS`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) kilobits: u32,
    pub(crate) flows: u32,
    pub(crate) seconds: f64,
    /// Bytes of a data packet, IP and TCP headers included.
    pub(crate) bytes: u32,
    /// Whether the other simulators run it, too.
    pub(crate) shared: bool,
}

/// Seconds within which flows begin; the programs for ns-2 and ns-3 know it too.
const STARTS: f64 = 0.2;

/// The measured scenarios.
pub(crate) const SCENARIOS: [Scenario; 5] = [
    Scenario {
        name: "a",
        kilobits: 100_000,
        flows: 100,
        seconds: 60.0,
        bytes: 1_500,
        shared: true,
    },
    Scenario {
        name: "b",
        kilobits: 1_000_000,
        flows: 200,
        seconds: 10.0,
        bytes: 1_500,
        shared: true,
    },
    Scenario {
        name: "b9000",
        kilobits: 1_000_000,
        flows: 200,
        seconds: 10.0,
        bytes: 9_000,
        shared: true,
    },
    Scenario {
        name: "c",
        kilobits: 10_000_000,
        flows: 2_000,
        seconds: 5.0,
        bytes: 1_500,
        shared: false,
    },
    Scenario {
        name: "d",
        kilobits: 10_000_000,
        flows: 10_000,
        seconds: 5.0,
        bytes: 1_500,
        shared: false,
    },
];

impl Scenario {
    /// The same scenario with another duration.
    pub(crate) const fn lasting(self, seconds: f64) -> Self {
        Self { seconds, ..self }
    }

    /// The same with one flow.
    pub(crate) const fn of_one_flow(self) -> Self {
        Self { flows: 1, ..self }
    }

    /// The rate of all links.
    pub(crate) fn megabits(&self) -> f64 {
        f64::from(self.kilobits) / 1e3
    }

    /// Packets that may wait at the bottleneck: what it carries in 20 ms, at
    /// least 100.
    fn limit(&self) -> u32 {
        let bits = u64::from(self.kilobits) * 1_000 / 50;
        let packets = bits / (8 * u64::from(self.bytes));
        u32::try_from(packets).unwrap_or(u32::MAX).max(100)
    }

    /// RED's thresholds, packets: a tenth of the limit and three times that.
    fn thresholds(&self) -> [u32; 2] {
        let min = self.limit() / 10;
        [min, 3 * min]
    }

    /// The arguments for the ns-2 and ns-3 programs.
    pub(crate) fn words(&self) -> Vec<String> {
        let [min, max] = self.thresholds();
        [self.megabits(), self.flows.into(), self.seconds]
            .map(|number| number.to_string())
            .into_iter()
            .chain([self.bytes, self.limit(), min, max].map(|number| number.to_string()))
            .collect()
    }

    /// The experiment for Jumbolab, with so many runs.
    pub(crate) fn experiment(&self, runs: u32) -> String {
        let Self {
            kilobits,
            flows,
            seconds,
            bytes,
            ..
        } = self;
        let limit = self.limit();
        let [min, max] = self.thresholds();
        // A run that is nearly all set-up ends before most of them begin.
        let start_interval = STARTS.min(*seconds) / f64::from(*flows);
        format!(
            "format = 1
name = \"speed\"

[network]
shape = \"dumbbell\"
pairs = {flows}
ip = 4
rate = \"{kilobits}kbit\"
framing = \"none\"
delay = \"2ms\"
buffer = \"1000 packets\"

[links.bottleneck]
delay = \"10ms\"
queue = \"red\"
buffer = \"{limit} packets\"
red = {{ min = {min}, max = {max}, weight = 0.002, spread = \"wait\", mean_size = {bytes}, profile = \"ns2\" }}

[host]
congestion = \"reno\"

[tcp]
agent = \"sack1\"
window = 1000

[traffic]
kind = \"flows\"
duration = \"{}us\"

[flows.flow]
protocol = \"tcp\"
count = {flows}
from = \"sender*\"
to = \"receiver*\"
start_interval = \"{}us\"

[sweep]
\"network.mtu\" = [{bytes}]

[trials]
repeat = {runs}
",
            micros(*seconds),
            micros(start_interval),
        )
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, and below an hour"
)]
fn micros(seconds: f64) -> u64 {
    (seconds * 1e6).round() as u64
}
