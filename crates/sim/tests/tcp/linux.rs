//! The simulator's TCP compared with measurements of Linux 6.18 over the same emulated
//! link.

use jumbolab_sim::{
    Flow, Host, Link, Location, Loss, Messages, Node, Role, Scenario, Seen, Tcp, Tracer, Traffic,
};
use link::{QueueState, Settings};
use queue::{Limit, Spec};
use tcp::Control;
use units::{Bytes, IpVersion, Rate, Seed, Span, Time};

/// Bytes of frames before counting begins.
const WARMUP: u64 = 1_000_000;

/// Measurements of the kernel at 20 Mbit/s and 40 ms, MTU 1500, in transfers of 21 MB
/// with writes of 64 kB: congestion control, size of the queue in frames, utilisation
/// in per cent, mean number of waiting frames, and dropped frames from start to end;
/// means of two transfers [Linux].
const KERNEL: [(Control, u32, f64, f64, f64); 6] = [
    (Control::Reno, 33, 95.8, 13.26, 50.0),
    (Control::Reno, 66, 99.86, 35.98, 138.0),
    (Control::Reno, 132, 100.0, 82.31, 201.0),
    (Control::Cubic, 33, 99.56, 17.99, 7.0),
    (Control::Cubic, 66, 100.0, 48.94, 8.5),
    (Control::Cubic, 132, 100.0, 98.02, 13.0),
];

/// Relative tolerance; drops may also differ by a few frames, because the number of
/// drops at the end of slow start depends on microseconds.
const TOLERANCE: f64 = 0.1;
const FRAMES: f64 = 3.0;

#[test]
fn a_connection_of_linux_uses_its_buffer_as_the_kernel_did() {
    for (control, frames, utilisation, queue, drops) in KERNEL {
        let seen = run(control, frames);
        let near = |what: &str, ours: f64, kernels: f64, besides: f64| {
            assert!(
                (ours - kernels).abs() <= TOLERANCE * kernels + besides,
                "{control:?}, {frames} frames, {what}: {ours}, the kernel {kernels}"
            );
        };
        near("utilisation", seen.utilisation(), utilisation, 0.0);
        near("queue", seen.queue(), queue, 0.0);
        near("drops", seen.drops, drops, FRAMES);
    }
}

/// The direction from the sender to the receiver.
#[derive(Default)]
struct Bottleneck {
    /// Bytes of frames whose transmission has begun.
    bytes: u64,
    /// The start of counting, and the start of the last frame.
    counted: Option<(Time, Time)>,
    busy: f64,
    /// Waiting frames times seconds, of the frames that were sent.
    waited: f64,
    drops: f64,
}

impl Bottleneck {
    fn lasted(&self) -> f64 {
        let (from, to) = self.counted.expect("more was sent than the warm-up");
        to.since(from).unwrap_or_default().as_secs_f64()
    }

    fn utilisation(&self) -> f64 {
        100.0 * self.busy / self.lasted()
    }

    fn queue(&self) -> f64 {
        self.waited / self.lasted()
    }
}

impl Tracer for Bottleneck {
    fn queued(&mut self, _: Time, _: (usize, usize), _: Seen, _: QueueState) {}

    fn sent(&mut self, from: Time, to: Time, link: (usize, usize), packet: Seen, waited: Span) {
        if link != (0, 0) {
            return;
        }
        self.bytes += packet.size.get();
        if self.bytes >= WARMUP && packet.size > Bytes::new(1_000) {
            let (first, _) = *self.counted.get_or_insert((from, to));
            self.counted = Some((first, to));
            self.busy += to.since(from).unwrap_or_default().as_secs_f64();
            self.waited += waited.as_secs_f64();
        }
    }

    fn lost(&mut self, _: Time, location: Location, _: Seen, _: Loss) {
        self.drops += if location == Location::Direction(0, 0) {
            1.0
        } else {
            0.0
        };
    }
}

fn run(control: Control, frames: u32) -> Bottleneck {
    let limit = Limit::Packets(frames);
    let rate = Rate::from_bits_per_second(20_000_000);
    let direction = Settings {
        delay: Span::from_millis(20),
        largest_packet: Some(Bytes::new(1_500)),
        ..Settings::perfect(rate, Spec::DropTail { limit })
    };
    let node = |name: &str| Node {
        name: name.to_owned(),
        role: Role::Host(Host::default()),
    };
    let messages = Messages {
        size: 64_000,
        warmup: 1_000_000,
        answers: None,
    };
    let scenario = Scenario {
        nodes: vec![node("sender"), node("receiver")],
        links: vec![Link {
            name: "wire".to_owned(),
            ends: [0, 1],
            directions: [direction.clone(), direction],
        }],
        flows: vec![Flow {
            name: "flow".to_owned(),
            from: 0,
            to: 1,
            ip: IpVersion::V4,
            start: Time::ZERO,
            stop: None,
            traffic: Traffic::Tcp(Tcp {
                bytes: Some(21_000_000),
                messages: Some(messages),
                ..Tcp::new(tcp::Settings::linux(control, u32::MAX))
            }),
        }],
        end: Time::ZERO + Span::from_secs(60),
        seed: Seed::new(1),
        budget: Scenario::BUDGET,
        max_recorded_messages: Scenario::MAX_RECORDED_MESSAGES,
    };
    let mut seen = Bottleneck::default();
    scenario.check().expect("it is sound").run_traced(&mut seen);
    seen
}
