//! The network and the flows of Floyd's experiment with congestion that increases or
//! decreases in the middle of a run, as in the ns-2 script beside the peer test. Two
//! senders share a bottleneck with a flow in the opposite direction, and twenty more
//! flows start or stop half-way [Ns2].

use jumbolab_sim::{Flow, Host, Link, Node, Role, Scenario, Tcp, Traffic};
use link::Settings;
use queue::Spec;
use tcp::Recovery;
use units::{IpVersion, Rate, Seed, Span, Time};

/// The receiver's windows, in segments, of the long flows and of the twenty.
const WINDOW: u32 = 1_000;
const FEW: u32 = 20;

/// The bottleneck: link and direction.
pub(crate) const BOTTLENECK: (usize, usize) = (4, 0);

/// The parameters of a run.
#[derive(Clone)]
pub(crate) struct Dumbbell {
    /// The queues at both ends of the bottleneck.
    pub(crate) queue: Spec,
    pub(crate) recovery: Recovery,
    /// Bytes of a data packet.
    pub(crate) size: u32,
    /// Whether the twenty flows stop half-way instead of starting there.
    pub(crate) decrease: bool,
    /// Seconds per half.
    pub(crate) half: u64,
    /// Bits per second of the bottleneck and of the other links.
    pub(crate) rates: [u64; 2],
    /// Propagation delays in microseconds: of the bottleneck, and to the four hosts.
    pub(crate) delays: [u64; 5],
    /// The start of each flow, and the phase of its clock.
    pub(crate) flows: Vec<(Time, Span)>,
    pub(crate) seed: Seed,
}

impl Dumbbell {
    pub(crate) fn scenario(&self) -> Scenario {
        let node = |name: &str, role| Node {
            name: name.to_owned(),
            role,
        };
        let host = Role::Host(Host::default());
        let [across, a, b, c, d] = self.delays;
        let plain = Spec::ns2_drop_tail(1_000);
        let access = |ends, delay| link(ends, self.rates[1], delay, plain.clone());
        let half = Span::from_secs(self.half);
        Scenario {
            nodes: vec![
                node("a", host),
                node("b", host),
                node("c", host),
                node("d", host),
                node("r", Role::Router),
                node("s", Role::Router),
            ],
            links: vec![
                access([0, 4], a),
                access([1, 4], b),
                access([2, 5], c),
                access([3, 5], d),
                link([4, 5], self.rates[0], across, self.queue.clone()),
            ],
            flows: (0..).zip(&self.flows).map(|flow| self.flow(flow)).collect(),
            end: Time::ZERO + half + half,
            seed: self.seed,
            budget: Scenario::BUDGET,
            max_recorded_messages: Scenario::MAX_RECORDED_MESSAGES,
        }
    }

    fn flow(&self, (number, &(start, phase)): (usize, &(Time, Span))) -> Flow {
        let (from, to) = match number {
            1 => (1, 2),
            2 => (3, 1),
            _ => (0, 2),
        };
        let long = number < 3;
        let window = if long { WINDOW } else { FEW };
        let stop = Time::ZERO + Span::from_secs(self.half);
        Flow {
            name: format!("{number:02}"),
            from,
            to,
            ip: IpVersion::V4,
            start,
            stop: (self.decrease && !long).then_some(stop),
            traffic: Traffic::Tcp(Tcp::new(tcp::Settings {
                phase,
                ..tcp::Settings::ns2(self.recovery, self.size - 40, window)
            })),
        }
    }
}

fn link(ends: [usize; 2], bits: u64, micros: u64, queue: Spec) -> Link {
    let direction = Settings {
        ethernet: false,
        delay: Span::from_micros(micros),
        ..Settings::perfect(Rate::from_bits_per_second(bits), queue)
    };
    Link {
        name: format!("{}-{}", ends[0], ends[1]),
        ends,
        directions: [direction.clone(), direction],
    }
}
