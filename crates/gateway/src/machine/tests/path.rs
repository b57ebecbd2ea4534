//! The search for the largest packet that passes between gateways.

use wire::bundle::{PATH_MESSAGE_LEN, PathMessage, PathProbe};
use wire::icmp_error::{Cause as ErrorCause, IcmpError};

use super::super::*;
use super::sealed::sealed_pair_with;
use super::support::*;

/// Gateways that probe, and a way between them that takes no time and drops what is
/// larger than its MTU, without a word.
struct VirtualPath {
    gateways: [Gateway; 2],
    now: Time,
    mtu: usize,
    /// Bytes of the packets that crossed.
    crossed: Vec<usize>,
}

impl VirtualPath {
    fn new(sealed: bool, period: Span, mtu: usize) -> Self {
        let change = |settings: Settings| Settings {
            probe: Some(period),
            entropy: [7; 32],
            ..settings
        };
        let gateways = match sealed {
            true => sealed_pair_with(change),
            false => pair(change),
        };
        Self {
            gateways,
            now: Time::ZERO,
            mtu,
            crossed: Vec::new(),
        }
    }

    /// Goes on for `span`. Each three milliseconds the first gateway gets `load` packets.
    fn run(&mut self, span: Span, load: u32) {
        let end = self.now + span;
        let mut arrival = self.now;
        while self.now < end {
            let timeouts = self.gateways.iter_mut();
            let timeouts = timeouts.filter_map(|gateway| gateway.next_timeout(self.now));
            let next = timeouts.min().unwrap_or(end).min(end);
            self.now = self
                .now
                .max(if load > 0 { next.min(arrival) } else { next });
            if load > 0 && self.now >= arrival {
                arrival += Span::from_millis(3);
                for number in 0..load {
                    let sample = Sample {
                        number,
                        length: 1_000,
                        ..Sample::SMALL
                    };
                    self.gateways[0].receive_inside(self.now, &sample.bytes());
                }
            }
            self.exchange();
        }
    }

    fn exchange(&mut self) {
        loop {
            let mut any = false;
            for from in [0, 1] {
                self.gateways[from].handle_timeout(self.now);
                let (_, core) = polled(&mut self.gateways[from], self.now);
                for bytes in core.iter().filter(|bytes| bytes.len() <= self.mtu) {
                    any = true;
                    self.crossed.push(bytes.len());
                    self.gateways[1 - from].receive_core(self.now, bytes);
                }
                conserved(&self.gateways[from]);
            }
            if !any {
                return;
            }
        }
    }

    /// The largest bundles to each other.
    fn found(&self) -> [u64; 2] {
        let [one, other] = &self.gateways;
        [one, other].map(|gateway| gateway.path_mtu(0).unwrap().get())
    }
}

const SECOND: Span = Span::from_secs(1);

#[test]
fn a_limit_that_nobody_reports_is_found_to_the_byte() {
    for sealed in [false, true] {
        for limit in [9_000, 8_999, 4_000, 1_500, 1_401] {
            let mut way = VirtualPath::new(sealed, SECOND * 60, limit);
            way.run(SECOND * 20, 0);
            assert_eq!(way.found(), [limit as u64; 2], "sealed: {sealed}");
        }
    }
}

#[test]
fn a_path_that_shrinks_and_grows_is_followed_and_packets_are_not_rejected_meanwhile() {
    let mut way = VirtualPath::new(true, SECOND, 9_000);
    way.run(SECOND * 5, 2);
    assert_eq!(way.found(), [9_000; 2]);
    way.mtu = 4_000;
    way.run(SECOND * 10, 1);
    assert_eq!(way.found(), [4_000; 2]);
    way.mtu = 9_000;
    way.run(SECOND * 12, 1);
    assert_eq!(way.found(), [9_000; 2]);
    // An interruption says nothing about sizes.
    way.mtu = 0;
    way.run(SECOND * 10, 2);
    assert_eq!(way.found(), [1_280; 2]);
    way.mtu = 9_000;
    way.run(SECOND * 5, 2);
    assert_eq!(way.found(), [9_000; 2]);
    let outward = way.gateways[0].counts().total().outward;
    assert_eq!(outward.drops.of(Cause::TooBig), 0);
}

/// A report from a router that `quoted` is too big.
fn too_big(quoted: &[u8], mtu: u32) -> Vec<u8> {
    let router = [203, 0, 113, 7].into();
    let cause = ErrorCause::TooBig { mtu };
    let error = IcmpError::about(quoted, cause, router).unwrap();
    let mut bytes = vec![0; error.buffer_len()];
    error.emit(&mut bytes).unwrap();
    bytes
}

#[test]
fn a_forged_report_of_a_router_changes_nothing_and_a_true_one_is_followed_within_two_seconds() {
    for sealed in [false, true] {
        let mut way = VirtualPath::new(sealed, SECOND * 60, 8_000);
        way.run(SECOND * 20, 0);
        assert_eq!(way.found(), [8_000; 2], "sealed: {sealed}");
        way.gateways[0].receive_inside(way.now, &Sample::SMALL.bytes());
        way.gateways[0].flush(way.now);
        let (_, core) = polled(&mut way.gateways[0], way.now);
        let quoted = core.concat();
        for forged in 0..50 {
            let report = too_big(&quoted, 68 + 31 * forged);
            way.gateways[0].receive_core(way.now, &report);
            way.run(Span::from_millis(40), 1);
            assert_eq!(way.found(), [8_000; 2], "sealed: {sealed}");
        }
        // A confirmation a second and its answer, at most.
        let probes = way.gateways[0].counts().total().outward.probes;
        assert!(probes < 60, "{probes}");
        way.mtu = 2_345;
        way.gateways[0].receive_core(way.now, &too_big(&quoted, 2_345));
        way.run(SECOND * 2, 0);
        assert_eq!(way.found(), [2_345, 8_000], "sealed: {sealed}");
    }
}

#[test]
fn missed_bundles_have_the_size_confirmed_before_its_time() {
    let mut way = VirtualPath::new(false, SECOND * 3_600, 9_000);
    way.run(SECOND * 5, 18);
    assert_eq!(way.found(), [9_000; 2]);
    way.mtu = 4_000;
    // Of 18 packets of a kilobyte, the last two travel in a bundle that still passes.
    way.run(SECOND * 10, 18);
    assert_eq!(way.found(), [4_000, 9_000]);
}

#[test]
fn answers_are_no_larger_than_probes_and_limited() {
    let [_, mut other] = pair(|settings| settings);
    let probe = |size: u32, length: usize| {
        let mut payload = vec![0; length];
        let probe = PathProbe { size, id: 5 };
        PathMessage::Probe(probe).emit(&mut payload).unwrap();
        payload
    };
    let ends = [HERE_V4, THERE_V4].map(std::net::IpAddr::V4);
    let mut answers = 0;
    for _ in 0..100 {
        other.receive_payload(at(0), ends, 0, &probe(44, PATH_MESSAGE_LEN));
        let (_, core) = polled(&mut other, at(0));
        assert!(core.iter().all(|bytes| bytes.len() == 44));
        answers += core.len();
    }
    assert_eq!(answers, 10);
    // One that is smaller than it says has not shown what it should.
    other.receive_payload(at(1_000_000), ends, 0, &probe(45, PATH_MESSAGE_LEN));
    assert!(polled(&mut other, at(1_000_000)).1.is_empty());
    let rejections = other.counts().total().inward.rejections;
    assert_eq!(rejections.of(Rejection::Limited), 90);
    assert_eq!(rejections.of(Rejection::Malformed), 1);
    conserved(&other);
}

#[test]
fn probes_that_are_not_sealed_mean_nothing_to_gateways_with_a_secret() {
    let mut way = VirtualPath::new(true, SECOND * 60, 9_000);
    way.run(SECOND * 5, 0);
    let ends = [HERE_V4, THERE_V4].map(std::net::IpAddr::V4);
    for message in [
        PathMessage::Missed,
        PathMessage::Probe(PathProbe { size: 44, id: 5 }),
    ] {
        let mut payload = [0; PATH_MESSAGE_LEN];
        message.emit(&mut payload).unwrap();
        way.gateways[1].receive_payload(way.now, ends, 0, &payload);
    }
    let rejections = way.gateways[1].counts().total().inward.rejections;
    assert_eq!(rejections.of(Rejection::Unsealed), 2);
    assert!(polled(&mut way.gateways[1], way.now).1.is_empty());
}

#[test]
fn a_path_without_faults_gets_few_probes() {
    let mut way = VirtualPath::new(false, SECOND * 60, 9_000);
    way.run(SECOND * 3_600, 0);
    let probes = way.gateways[0].counts().total().outward.probes;
    // One a minute and an answer to one; what a search for larger sizes confirms counts, too.
    assert!((100..140).contains(&probes), "{probes}");
    assert!(way.crossed.len() < 400, "{}", way.crossed.len());
}
