//! Records, and their replays.

use proptest::prelude::*;
use queue::{Limit, MredSettings, Spec, Trigger};
use units::{Rate, Seed};

use super::super::*;
use super::support::*;

fn queued(trigger: Trigger, queued: bool) -> Settings {
    let settings = settings(udp(HERE_V4, THERE_V4));
    Settings {
        aggregate: Aggregation {
            trigger,
            ..settings.aggregate
        },
        uplink: queued.then(|| Uplink {
            rate: Rate::from_bits_per_second(2_000_000).unwrap(),
            queue: Spec::Mred(MredSettings {
                weight: 0.2,
                mark: true,
                ..MredSettings::new(Limit::Packets(6), Bytes::new(1_000))
            }),
            framing: Framing::Ethernet,
            seed: Seed::new(7),
        }),
        ..settings
    }
}

/// A record of a gateway whose driver is late, and looks at it after some calls only.
fn recorded(settings: Settings, steps: &[(u64, u8, u16, u8)]) -> Vec<Event> {
    let mut gateway = gateway(settings);
    gateway.record();
    let mut now = Time::ZERO;
    for (number, (gap, what, length, service)) in (0..).zip(steps) {
        now += Span::from_micros(*gap);
        let sample = Sample {
            length: *length,
            service: *service,
            number,
            ..Sample::SMALL
        };
        match what {
            0..=6 => gateway.receive_inside(now, &sample.bytes()),
            7 => gateway.handle_timeout(now),
            8 => gateway.flush(now),
            _ => gateway.set_path_mtu(now, 0, mtu(1_400 + u64::from(*length))),
        }
        if what % 3 > 0 {
            polled(&mut gateway, now);
        }
    }
    for _ in 0..50 {
        now += Span::from_millis(100);
        gateway.handle_timeout(now);
        polled(&mut gateway, now);
    }
    conserved(&gateway);
    gateway.take_events()
}

fn decisions(events: &[Event]) -> Vec<Decision> {
    let decided = events.iter().filter_map(|event| match event {
        Event::Decided(decision) => Some(decision.clone()),
        _ => None,
    });
    decided.collect()
}

/// Bytes of packets, of which some are larger than a bundle.
fn lengths() -> impl Strategy<Value = u16> {
    prop_oneof![4 => 4u16..1_200, 1 => 4u16..30_000]
}

proptest! {
    #[test]
    fn under_the_same_settings_every_decision_is_made_again(
        steps in prop::collection::vec((0u64..1_500, 0u8..10, lengths(), any::<u8>()), 1..200),
        micros in 1u64..4_000, busy: bool, uplink: bool,
    ) {
        let span = Span::from_micros(micros);
        let trigger = if busy { Trigger::EgressBusy(span) } else { Trigger::Timer(span) };
        let settings = queued(trigger, uplink);
        let events = recorded(settings.clone(), &steps);
        prop_assert_eq!(replay(settings, &events, true).unwrap(), decisions(&events));
    }
}

#[test]
fn a_record_of_sealed_bundles_is_replayed_without_their_keys() {
    let mut base = queued(Trigger::Timer(Span::from_micros(700)), true);
    base.entropy = [7; 32];
    base.peers[0].sealing = Some(sealing(1, 2));
    // There are no keys at all: what departs is dropped then.
    let events = recorded(base.clone(), &vec![(150, 1, 400, 2); 300]);
    base.peers[0].sealing = Some(sealing(3, 4));
    let decided = decisions(&events);
    assert!(decided.len() > 10);
    assert_eq!(replay(base, &events, true).unwrap(), decided);
}

#[test]
fn under_other_settings_a_replay_tells_what_would_have_been() {
    let steps = vec![(200, 0, 100, 0); 400];
    let timer = |micros| queued(Trigger::Timer(Span::from_micros(micros)), true);
    let events = recorded(timer(2_000), &steps);
    let bundles = |micros| {
        let made = replay(timer(micros), &events, false).unwrap();
        let sent = made
            .iter()
            .filter(|made| matches!(made, Decision::Sent { .. }));
        sent.count()
    };
    // A bundle each 2.2 ms: the packet that comes at the time of the timer is early
    // enough.
    assert!(bundles(2_000) > bundles(4_000) && bundles(4_000) > bundles(8_000));
    let packets = |decision: &Decision| match decision {
        Decision::Sent { packets, .. } => packets.len(),
        Decision::Dropped { packets, .. } => packets.len(),
    };
    let made = replay(timer(8_000), &events, false).unwrap();
    assert_eq!(made.iter().map(packets).sum::<usize>(), 400);
}
