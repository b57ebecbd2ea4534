//! CoDel and PIE, which look at delays.

use jumbolab_queue::law::{Codel as Law, Pie, PieGains};
use jumbolab_queue::{CodelSettings, Drops, Limit, PieSettings, Reason, Spec};
use proptest::prelude::*;
use units::{Bytes, Span, Time};

use crate::server::{PacketOutcome, Server, Tiny, rate};
use crate::statistics::Chance;

const TARGET: Span = Span::from_millis(5);
const INTERVAL: Span = Span::from_millis(100);

#[test]
fn codel_drops_after_the_interval_over_the_root_of_their_number() {
    let mut law = Law::new(TARGET, INTERVAL, Bytes::new(1500));
    let (late, left) = (Some(Span::from_millis(6)), Bytes::new(100_000));
    let begin = Time::from_nanos(123_456_789);
    assert!(!law.is_ripe(begin, late, left));
    let ripe = begin + INTERVAL;
    assert!(!law.is_ripe(Time::from_picos(ripe.as_picos() - 1), late, left));
    assert!(law.is_ripe(ripe, late, left));
    law.begin(ripe);
    let mut expected = ripe + INTERVAL;
    assert_eq!(law.next(), expected);
    for number in 2..2_000_u32 {
        assert!(!law.is_due(Time::from_picos(expected.as_picos() - 1)));
        assert!(law.is_due(expected));
        law.count();
        law.schedule();
        // t + interval / sqrt(n) [RFC8289 s5.4], to a picosecond.
        expected += Span::from_picos((1e11 / f64::from(number).sqrt()).round() as u64);
        assert_eq!(law.next(), expected);
    }
}

#[test]
fn codel_never_drops_while_one_packet_or_less_is_left() {
    let mut law = Law::new(TARGET, INTERVAL, Bytes::new(1500));
    for second in 0..10 {
        let now = Time::ZERO + Span::from_secs(second);
        assert!(!law.is_ripe(now, Some(INTERVAL), Bytes::new(1500)));
    }
    assert!(!law.is_ripe(
        Time::ZERO + Span::from_secs(10),
        Some(INTERVAL),
        Bytes::new(1501)
    ));
    assert!(law.is_ripe(
        Time::ZERO + Span::from_secs(11),
        Some(INTERVAL),
        Bytes::new(1501)
    ));
}

#[test]
fn codel_goes_on_where_it_was_if_dropping_ended_a_short_while_ago() {
    let (late, left) = (Some(Span::from_millis(6)), Bytes::new(100_000));
    for (pause, count) in [(1, 8.0_f64), (15, 8.0), (17, 1.0)] {
        let mut law = Law::new(TARGET, INTERVAL, Bytes::new(1500));
        law.begin(Time::ZERO);
        for _ in 0..8 {
            law.count();
            law.schedule();
        }
        law.end();
        let again = law.next() + INTERVAL * pause;
        law.is_ripe(again, late, left);
        law.begin(again);
        let next = again + Span::from_picos((1e11 / count.sqrt()).round() as u64);
        assert_eq!(law.next(), next, "after {pause} intervals");
    }
}

#[test]
fn codel_leaves_bursts_alone_and_thins_a_standing_queue_in_order() {
    // 1250 bytes take 1 ms.
    let link = rate(10_000_000);
    let spec = Spec::Codel(CodelSettings::new(Limit::Packets(10_000), Bytes::new(1250)));
    let mut burst = Server::new(&spec, link, 1);
    for number in 0..100 {
        burst.arrive(Time::ZERO, Tiny::new(number, 1250));
    }
    burst.finish();
    assert!(
        burst.dropped().is_empty(),
        "it was over within the interval"
    );

    let mut standing = Server::new(&spec, link, 1);
    let mut now = Time::ZERO;
    for number in 0..20_000 {
        standing.arrive(now, Tiny::new(number, 1250));
        now += Span::from_micros(900);
    }
    let drops: Vec<Time> = standing
        .outcomes
        .iter()
        .filter_map(|outcome| match outcome {
            PacketOutcome::Dropped(at, _, reason) => {
                assert_eq!(*reason, Reason::Late);
                Some(*at)
            }
            PacketOutcome::Sent(..) => None,
        })
        .collect();
    assert!(drops.len() > 100 && standing.sent().is_sorted());
    // From the first on, each as long after the one before it as its number
    // says, to a packet's time.
    let mut expected = drops[0];
    for (number, at) in (1..).zip(&drops[1..20]) {
        expected += Span::from_picos((1e11 / f64::from(number).sqrt()).round() as u64);
        let late = at.since(expected).unwrap();
        assert!(late <= Span::from_millis(1), "drop {number}");
    }
    // Little waits in the end: the arrivals exceed the link by a tenth.
    assert!(standing.queue.backlog().packets < 60);
}

#[test]
fn codel_marks_who_can_be_marked_and_drops_nobody_of_them() {
    let spec = Spec::Codel(CodelSettings {
        ecn: true,
        ..CodelSettings::new(Limit::Packets(10_000), Bytes::new(1250))
    });
    let mut server = Server::new(&spec, rate(10_000_000), 1);
    let mut now = Time::ZERO;
    for number in 0..5_000 {
        let packet = Tiny {
            capable: true,
            ..Tiny::new(number, 1250)
        };
        server.arrive(now, packet);
        now += Span::from_micros(900);
    }
    server.finish();
    assert!(server.dropped().is_empty() && server.sent().len() == 5_000);
    let marked = |outcome: &&PacketOutcome| matches!(outcome, PacketOutcome::Sent(_, packet) if packet.marked);
    assert!(server.outcomes.iter().filter(marked).count() > 20);
}

const GAINS: PieGains = PieGains {
    target: Span::from_millis(15),
    update: Span::from_millis(15),
    burst: Span::from_millis(150),
    alpha: 0.125,
    beta: 1.25,
    derandomise: false,
};

/// The recurrence as the standard has it [RFC8033 s4.2, s4.4, s5.5], step by step.
struct Plain {
    drop_prob: f64,
    qdelay_old: f64,
    burst_allowance: f64,
}

impl Plain {
    fn update(&mut self, qdelay: f64) {
        let (target, drop) = (0.015, self.drop_prob);
        let mut p = 0.125 * (qdelay - target) + 1.25 * (qdelay - self.qdelay_old);
        if drop < 0.000001 {
            p /= 2048.0;
        } else if drop < 0.00001 {
            p /= 512.0;
        } else if drop < 0.0001 {
            p /= 128.0;
        } else if drop < 0.001 {
            p /= 32.0;
        } else if drop < 0.01 {
            p /= 8.0;
        } else if drop < 0.1 {
            p /= 2.0;
        }
        if drop >= 0.1 && p > 0.02 {
            p = 0.02;
        }
        self.drop_prob += p;
        if qdelay == 0.0 && self.qdelay_old == 0.0 {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        if self.drop_prob == 0.0 && qdelay < target / 2.0 && self.qdelay_old < target / 2.0 {
            self.burst_allowance = 0.15;
        } else {
            self.burst_allowance = (self.burst_allowance - 0.015).max(0.0);
        }
        self.qdelay_old = qdelay;
    }
}

#[test]
fn pie_follows_the_recurrence() {
    // 1 Mb/s: 125 bytes are 1 ms.
    let mut law = Pie::new(GAINS, rate(1_000_000));
    let mut plain = Plain {
        drop_prob: 0.0,
        qdelay_old: 0.0,
        burst_allowance: 0.15,
    };
    let mut chance = Chance::new(1);
    let mut now = Time::ZERO;
    let (mut bytes, mut largest) = (0.0_f64, 0.0_f64);
    let mut zeroes = 0;
    for step in 0..20_000_u64 {
        let drift = if step % 4_000 < 2_500 { 0.49 } else { 0.53 };
        bytes = (bytes + 3_000.0 * (chance.uniform() - drift)).clamp(0.0, 40_000.0);
        let backlog = Bytes::new(bytes as u64);
        now += Span::from_millis(15);
        law.advance(now, backlog);
        plain.update(backlog.get() as f64 * 8.0 / 1e6);
        let apart = (law.probability() - plain.drop_prob).abs();
        assert!(apart <= 1e-12 * plain.drop_prob.max(1e-300), "step {step}");
        // A draw of 0 is below any probability.
        let calm = plain.qdelay_old < 0.0075 && plain.drop_prob < 0.2;
        let short = backlog.get() <= 2 * 500;
        let picked = law.picks(backlog, Bytes::new(500), || 0.0);
        let expected = plain.drop_prob > 0.0 && plain.burst_allowance < 1e-9 && !calm && !short;
        assert_eq!(picked, expected, "step {step}");
        largest = largest.max(plain.drop_prob);
        zeroes += u64::from(plain.drop_prob == 0.0);
    }
    assert!(largest > 0.3 && zeroes > 10, "{largest} {zeroes}");
}

proptest! {
    #[test]
    fn pie_makes_up_for_the_steps_it_was_not_asked_for(
        lengths in prop::collection::vec((0u64..40_000, 1u64..3_000), 1..8),
    ) {
        let (mut lazy, mut eager) = [0, 1].map(|_| Pie::new(GAINS, rate(1_000_000))).into();
        let mut now = Time::ZERO;
        for (bytes, millis) in lengths {
            let backlog = Bytes::new(bytes);
            for _ in 0..millis {
                now += Span::from_millis(1);
                eager.advance(now, backlog);
            }
            lazy.advance(now, backlog);
            prop_assert_eq!(lazy.probability().to_bits(), eager.probability().to_bits());
            let picked = [&mut lazy, &mut eager]
                .map(|law| law.picks(Bytes::new(9_000), Bytes::new(500), || 0.0));
            prop_assert_eq!(picked[0], picked[1]);
        }
    }
}

#[test]
fn pie_is_as_quick_after_a_hundred_days_of_silence() {
    let mut law = Pie::new(GAINS, rate(1_000_000));
    law.advance(Time::ZERO + Span::from_secs(10), Bytes::new(40_000));
    assert!(law.probability() > 0.5);
    law.advance(Time::ZERO + Span::from_secs(8_640_000), Bytes::ZERO);
    assert!(law.probability() <= 0.0);
}

#[test]
fn pie_reaches_the_end_of_time_in_steps_of_a_picosecond() {
    let end = Time::from_picos(u64::MAX);
    let update = Span::from_picos(1);
    for (alpha, backlog, probability) in [
        // Full at last, empty at last, and half way through the lowest scale.
        (0.125, 40_000, 1.0),
        (0.125, 0, 0.0),
        // A step is alpha x (320 ms - 15 ms) / 2048.
        (2048.0 / 0.305 * 5e-7 / u64::MAX as f64, 40_000, 5e-7),
    ] {
        let gains = PieGains {
            update,
            alpha,
            beta: 0.0,
            ..GAINS
        };
        let mut law = Pie::new(gains, rate(1_000_000));
        law.advance(end, Bytes::new(backlog));
        let apart = (law.probability() - probability).abs();
        assert!(
            apart <= 1e-6 * probability,
            "{alpha}: {}",
            law.probability()
        );
        law.advance(end, Bytes::ZERO);
    }
    // The burst ends in time although the probability stays as it is.
    let gains = PieGains {
        update,
        alpha: 0.0,
        beta: 1e-9,
        ..GAINS
    };
    let mut law = Pie::new(gains, rate(1_000_000));
    let picks = |law: &mut Pie| law.picks(Bytes::new(9_000), Bytes::new(500), || 0.0);
    for (millis, picked) in [(149, false), (151, true)] {
        law.advance(Time::ZERO + Span::from_millis(millis), Bytes::new(40_000));
        assert_eq!(
            picks(&mut law),
            picked,
            "{millis} ms: {}",
            law.probability()
        );
    }
}

#[test]
fn many_steps_at_once_come_to_the_same_as_each_of_them() {
    let gains = PieGains {
        update: Span::from_micros(1),
        alpha: 1e-4,
        ..GAINS
    };
    let (mut lazy, mut eager) = [0, 1].map(|_| Pie::new(gains, rate(1_000_000))).into();
    let end = Time::ZERO + Span::from_secs(4);
    let backlog = Bytes::new(40_000);
    lazy.advance(end, backlog);
    let mut now = Time::ZERO;
    while now < end {
        now += Span::from_millis(500);
        eager.advance(now, backlog);
    }
    let [lazy, eager] = [lazy, eager].map(|law: Pie| law.probability());
    assert!(
        lazy > 1e-5 && (lazy / eager - 1.0).abs() < 1e-6,
        "{lazy} {eager}"
    );
}

#[test]
fn pie_rejects_steps_that_would_take_for_ever() {
    let mut settings = PieSettings::new(Limit::Packets(10), Bytes::new(1500));
    settings.update = Span::from_nanos(1);
    let rejected = settings.check().unwrap_err();
    assert_eq!(rejected.key(), Some("update"));
    assert!(rejected.to_string().contains("at least 10us"), "{rejected}");
}

#[test]
fn pie_spares_a_queue_whose_delay_was_short_while_the_probability_is_low() {
    // 1 Mb/s: 125 bytes are 1 ms, and half the target is 7.5 ms.
    let (short, half, long) = (Bytes::new(900), Bytes::new(938), Bytes::new(9_000));
    for (probability, last, picked) in [
        (0.05, short, false),
        (0.05, half, true),
        (0.25, short, true),
    ] {
        let mut law = Pie::new(GAINS, rate(1_000_000));
        let mut now = Time::ZERO;
        while law.probability() < probability {
            now += GAINS.update;
            law.advance(now, Bytes::new(4_000));
        }
        law.advance(now + GAINS.update, last);
        assert_eq!(law.probability() < 0.2, probability < 0.2);
        assert!(law.probability() > 0.0);
        let picks = law.picks(long, Bytes::new(500), || 0.0);
        assert_eq!(picks, picked, "{probability} {last:?}");
    }
}

#[test]
fn pie_spreads_its_drops_over_arrivals() {
    let mut law = Pie::new(
        PieGains {
            derandomise: true,
            ..GAINS
        },
        rate(1_000_000),
    );
    let mut now = Time::ZERO;
    while law.probability() < 0.1 {
        now += Span::from_millis(15);
        law.advance(now, Bytes::new(4_000));
    }
    let (probability, mut chance) = (law.probability(), Chance::new(3));
    let (mut gap, mut gaps) = (0_u32, Vec::new());
    while gaps.len() < 2_000 {
        gap += 1;
        if law.picks(Bytes::new(4_000), Bytes::new(500), || chance.uniform()) {
            gaps.push(std::mem::take(&mut gap));
        }
    }
    // Sums of 0.85 and 8.5 bound them [RFC8033 s5.4].
    let bounds = [0.85, 8.5].map(|sum| (sum / probability).ceil() as u32);
    assert!(gaps.iter().all(|gap| (bounds[0]..=bounds[1]).contains(gap)));
    assert!(gaps.iter().max() > gaps.iter().min());
}

#[test]
fn pie_brings_the_delay_to_its_target() {
    let spec = Spec::Pie(PieSettings::new(Limit::Packets(1_000), Bytes::new(1250)));
    let mut server = Server::new(&spec, rate(10_000_000), 1);
    let (mut now, mut chance) = (Time::ZERO, Chance::new(1));
    let mut waiting = Vec::new();
    for number in 0..60_000 {
        // 1.2 times what the link carries, without ever slowing down.
        now += Span::from_picos((chance.exponential(1e9) / 1.2) as u64);
        server.arrive(now, Tiny::new(number, 1250));
        if number > 30_000 {
            waiting.push(f64::from(server.queue.backlog().packets));
        }
    }
    let mean = waiting.iter().sum::<f64>() / waiting.len() as f64;
    assert!((12.0..18.0).contains(&mean), "{mean} ms of 15");
    let mut drops = Drops::new();
    assert!(server.queue.dequeue(now, &mut drops).is_some());
}
