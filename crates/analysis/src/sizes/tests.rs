use plan::setting::{Answer, ReadMode, RequestResponse, WriteMode};
use plan::{OfStep, Sign, StepClaim};
use units::{IpMtu, IpVersion, Span};

use super::*;
use crate::verdict::Verdict;

fn setting(protocol: Transport, mtu: u64) -> Setting {
    let mut setting = plan::synthetic::setting(1500, false);
    setting.network.ip = IpVersion::V4;
    for link in &mut setting.network.links {
        link.mtu = IpMtu::new(mtu, IpVersion::V4).unwrap();
    }
    setting.traffic = Traffic::RequestResponse(RequestResponse {
        protocol,
        sizes: Sizes {
            from: 1_000,
            to: 65_500,
            step: 100,
            at: 11_000,
        },
        bytes: Bytes::new(1_000_000),
        answer: Answer::Acknowledgement,
        read_mode: ReadMode::Whole,
        write_mode: WriteMode::Whole,
        send_buffer: None,
        receive_buffer: None,
        nagle: false,
        delayed_ack: None,
        pause: Span::ZERO,
        deadline: Span::from_secs(1),
        retransmit_after: Span::from_millis(100),
        timeout: Span::from_secs(60),
        tcp: None,
    });
    setting
}

#[test]
fn frames_end_where_their_headers_leave_no_room() {
    // UDP over IPv4: 1472 bytes in one packet, 1480 more with each fragment
    // [RFC791 s3.2]; TCP with timestamps: 1448 a segment [RFC7323 App A].
    let ends = |protocol, mtu: u64, last| frame_ends(&setting(protocol, mtu), last);
    assert_eq!(
        ends(Transport::Udp, 1_500, 6_000),
        [1_472, 2_952, 4_432, 5_912]
    );
    assert_eq!(
        ends(Transport::Tcp, 1_500, 6_000),
        [1_448, 2_896, 4_344, 5_792]
    );
    // 8980 bytes are left of 9000, and fragments come in units of eight.
    assert_eq!(ends(Transport::Udp, 9_000, 20_000), [8_972, 17_948]);
}

#[test]
fn cells_that_differ_in_their_sizes_alone_are_one_curve() {
    let one = setting(Transport::Udp, 1_500);
    let mut other = one.clone();
    if let Traffic::RequestResponse(request_response) = &mut other.traffic {
        request_response.sizes.from = 30_000;
    }
    assert!(one != other && without_sizes(&one) == without_sizes(&other));
    assert!(without_sizes(&one) != without_sizes(&setting(Transport::Udp, 9_000)));
    assert!(without_sizes(&plan::synthetic::setting(1500, false)).is_none());
}

#[test]
fn the_median_is_in_the_middle() {
    assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    assert_eq!(median(&[]), None);
}

/// A curve over these sizes, without times.
fn curve(setting: &Setting, sizes: impl Iterator<Item = u32>) -> Curve<'_> {
    let point = |size| Point {
        size,
        ..Point::default()
    };
    Curve {
        factors: Factors::default(),
        setting,
        points: sizes.map(point).collect(),
        shape: None,
    }
}

#[test]
fn points_on_either_side_of_a_gap_stay_within_a_frame() {
    // A frame holds 1480 bytes, and this many steps.
    let udp = setting(Transport::Udp, 1_500);
    for (step, side) in [
        (10, Some(MOST_SIDE)),
        (100, Some(7)),
        (148, Some(LEAST_SIDE)),
        (240, Some(LEAST_SIDE)),
        (290, None),
        (1_000, None),
    ] {
        let curve = curve(&udp, (1_000..=8_000).step_by(step));
        assert_eq!(curve.side(), side, "{step}");
    }
}

#[test]
fn a_deviation_that_doubles_is_a_step_of_ln_4_in_the_logarithm_of_the_variance() {
    let udp = setting(Transport::Udp, 1_500);
    let mut curve = curve(&udp, (1_000..=8_000).step_by(100));
    for point in &mut curve.points {
        let wiggle = f64::from(point.size / 100 % 2) * 0.01;
        point.deviations = vec![(1.0 + wiggle) * if point.size <= 4_000 { 3.0 } else { 6.0 }];
    }
    let steps = curve.shaped().unwrap().of_variance;
    assert_eq!(steps.len(), 1, "{steps:?}");
    assert_eq!(steps[0].between, [4_000.0, 4_100.0]);
    assert!((steps[0].height - 4_f64.ln()).abs() < 0.05, "{steps:?}");
}

/// A jump of `height` between two sizes.
fn jump(between: [f64; 2], height: f64, error: f64) -> Jump {
    Jump {
        between,
        height,
        error,
        freedom: 10.0,
        inner: true,
    }
}

/// The shape of a curve with these jumps and steps in its times.
fn shape(jumps: Vec<Jump>, steps: Vec<Jump>) -> Shape {
    Shape {
        jumps_of_shortest: jumps.clone(),
        jumps,
        steps,
        of_shortest: Vec::new(),
        of_variance: Vec::new(),
        families: Vec::new(),
    }
}

#[test]
fn the_step_of_a_full_frame_is_looked_for_behind_its_last_byte() {
    // 1472 bytes fill a frame: the step is in the gap from 1472 on.
    let before = jump([1_372.0, 1_472.0], 0.5, 0.1);
    let behind = jump([1_472.0, 1_572.0], 2.0, 0.1);
    let next = jump([1_572.0, 1_672.0], 0.25, 0.1);
    let jumps = vec![before, behind, next];
    let of_steps = |steps| family(&shape(jumps.clone(), steps), String::new(), &[1_472]);
    let found = of_steps(vec![behind]).unwrap();
    assert_eq!((found.places, found.marked), (1, 1));
    assert_eq!(found.height.unwrap().mean, 2.0);
    assert_eq!(found.of_shortest.unwrap().mean, 2.0);
    // Three gaps about each step, of three in all.
    assert_eq!(found.by_chance, 1.0);
    for neighbour in [before, next] {
        assert_eq!(of_steps(vec![neighbour]).unwrap().marked, 1);
    }
    for far in [[1_272.0, 1_372.0], [1_672.0, 1_772.0]] {
        let far = jump(far, 2.0, 0.1);
        assert_eq!(of_steps(vec![far]).unwrap().marked, 0);
    }
    assert!(family(&shape(jumps, Vec::new()), String::new(), &[4_096]).is_none());
}

#[test]
fn a_step_that_a_study_asserts_is_found_missed_or_too_small_to_be_seen() {
    use Verdict::*;
    // 58 bytes of headers take 0.464 us at 1 Gbit/s; four errors must be less.
    let udp = setting(Transport::Udp, 1_500);
    let (fine, coarse) = (0.1, 0.2);
    for (error, heights, sign, verdict) in [
        (fine, vec![2.0], Sign::Up, Reproduced),
        (fine, vec![2.0], Sign::Down, NotReproduced),
        (fine, vec![2.0], Sign::None, NotReproduced),
        (fine, vec![-2.0], Sign::Down, Reproduced),
        (fine, vec![-2.0], Sign::Up, NotReproduced),
        (fine, vec![], Sign::Up, NotReproduced),
        (fine, vec![], Sign::None, Reproduced),
        (coarse, vec![], Sign::Up, Inconclusive),
        (coarse, vec![], Sign::None, Inconclusive),
        (0.0, vec![], Sign::Up, NotMeasured),
    ] {
        let gap = [1_472.0, 1_572.0];
        let steps = heights.iter().map(|&height| jump(gap, height, error));
        let mut curve = curve(&udp, [1_472, 1_572].into_iter());
        curve.shape = Some(shape(vec![jump(gap, 0.0, error)], steps.collect()));
        let mut plan = plan::synthetic::plan(Vec::new(), 1, Vec::new());
        let mut of = |of| {
            plan.steps = vec![StepClaim {
                text: String::new(),
                source: String::new(),
                cells: Vec::new(),
                alternatives: plan::Alternatives::default(),
                of,
                at: 1_500,
                within: 0,
                sign,
            }];
            let judged = judged(&plan, std::slice::from_ref(&curve));
            judged[0].curves[0].1
        };
        assert_eq!(of(OfStep::Time), verdict, "{error} {heights:?} {sign:?}");
        // Steps of time are not steps of the variance.
        let variance = match (verdict, sign) {
            (NotMeasured, _) => NotMeasured,
            (_, Sign::None) => Reproduced,
            (_, Sign::Up | Sign::Down) => NotReproduced,
        };
        assert_eq!(
            of(OfStep::Variance),
            variance,
            "{error} {heights:?} {sign:?}"
        );
    }
}
