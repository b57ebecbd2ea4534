//! The requirements of [RFC8899], by section.

use units::{Bytes, IpVersion, Seed, Span, Time};

use super::path::{Path, Run, quick};
use crate::pmtu::{
    Discovery, Ignored, Limit, Probe, ProbeTimer, Settings, State, TooBig, TooBigUse,
};

fn quoting(probe: Probe, announced: u64) -> TooBig {
    TooBig {
        id: probe.id,
        quoted: probe.size,
        announced: Bytes::new(announced),
    }
}

/// A discovery that searches above its base, with the probe under way.
fn searching(up_to: u64) -> (Discovery, Probe) {
    let mut discovery = Discovery::new(quick(up_to), Seed::new(1));
    discovery.connected(Time::ZERO);
    let base = discovery.poll_probe(Time::ZERO).unwrap();
    discovery.acknowledged(base.id, Time::ZERO);
    let probe = discovery.poll_probe(Time::ZERO).unwrap();
    (discovery, probe)
}

#[test]
fn s3_probes_are_a_round_trip_apart() {
    let (mut discovery, probe) = searching(9000);
    assert_eq!(discovery.poll_probe(Time::from_nanos(1)), None);
    discovery.acknowledged(probe.id, Time::from_nanos(2));
    assert_eq!(discovery.state(), State::Searching);
}

#[test]
fn s3_late_doubled_and_unknown_answers_do_no_harm() {
    let (mut discovery, large) = searching(9000);
    let late = discovery.poll_timeout().unwrap();
    let next = discovery.poll_probe(late).unwrap();
    assert_ne!(next.id, large.id);
    // The answer comes after its time: the size passed all the same.
    discovery.acknowledged(large.id, late);
    assert_eq!(discovery.path_mtu().unwrap().get(), 9000);
    let seen = format!("{discovery:?}");
    discovery.acknowledged(large.id, late);
    discovery.acknowledged(12_345, late);
    assert_eq!(format!("{discovery:?}"), seen);
}

#[test]
fn s3_an_answer_after_a_message_that_rejects_the_base_confirms_the_base() {
    let settings = Settings::new(IpVersion::V4, 9000).unwrap();
    let mut discovery = Discovery::new(settings, Seed::new(1));
    discovery.connected(Time::ZERO);
    let base = discovery.poll_probe(Time::ZERO).unwrap();
    let used = discovery.too_big(quoting(base, base.size.get() - 1));
    assert_eq!(used, TooBigUse::BelowBase);
    discovery.acknowledged(base.id, Time::ZERO);
    // Larger sizes are searched for as if no message had come.
    let larger = discovery.poll_probe(Time::ZERO).unwrap();
    assert!(larger.size > base.size, "{larger:?}");
    discovery.acknowledged(larger.id, Time::ZERO);
    assert_eq!(discovery.path_mtu().unwrap().get(), 9000);
}

#[test]
fn s4_1_identifiers_of_probes_differ() {
    let mut run = Run::new(quick(65_535), 1);
    let path = Path::silent(4321);
    run.until_settled(&path);
    let ids: std::collections::BTreeSet<u64> = (0..run.discovery.probes())
        .map(|probe| Seed::new(1).with(probe).get())
        .collect();
    assert_eq!(u64::try_from(ids.len()).unwrap(), run.discovery.probes());
}

#[test]
fn s4_3_a_black_hole_leads_back_to_the_base_and_to_the_smaller_size() {
    let mut run = Run::new(quick(9000), 1);
    run.until_settled(&Path::silent(9000));
    assert_eq!(run.found(), Some(9000));
    let used = run.with_data(&Path::silent(1500), Span::from_secs(10));
    assert_eq!(used, [9000, 1280, 1500]);
}

#[test]
fn s4_6_1_only_messages_about_probes_under_way_are_used() {
    let (mut discovery, probe) = searching(9000);
    let message = quoting(probe, 1400);
    let unknown = TooBig {
        id: message.id ^ 1,
        ..message
    };
    let other = TooBig {
        quoted: Bytes::new(8999),
        ..message
    };
    let before = format!("{discovery:?}");
    for (forged, reason) in [
        (unknown, Ignored::UnknownProbe),
        (other, Ignored::OtherSize),
    ] {
        assert_eq!(discovery.too_big(forged), TooBigUse::Ignored(reason));
    }
    assert_eq!(format!("{discovery:?}"), before);
    discovery.acknowledged(probe.id, Time::ZERO);
    assert_eq!(
        discovery.too_big(message),
        TooBigUse::Ignored(Ignored::Acknowledged)
    );
    assert_eq!(discovery.path_mtu().unwrap().get(), 9000);
}

#[test]
fn s4_6_2_sizes_that_cannot_be_are_ignored() {
    let (mut discovery, probe) = searching(9000);
    for (announced, reason) in [
        (0, Ignored::BelowMinimum),
        (1279, Ignored::BelowMinimum),
        (9000, Ignored::NotSmaller),
        (u64::MAX, Ignored::NotSmaller),
    ] {
        let used = discovery.too_big(quoting(probe, announced));
        assert_eq!(used, TooBigUse::Ignored(reason), "{announced}");
    }
}

#[test]
fn s4_6_2_a_message_does_not_set_the_result_but_the_next_probe() {
    let (mut discovery, probe) = searching(9000);
    assert_eq!(discovery.too_big(quoting(probe, 4321)), TooBigUse::Rejected);
    assert_eq!(discovery.path_mtu().unwrap().get(), 1280);
    let next = discovery.poll_probe(Time::ZERO).unwrap();
    assert_eq!(next.size, Bytes::new(4321));
}

#[test]
fn s4_6_2_less_than_was_confirmed_leads_to_the_base_three_times_at_most() {
    let mut used = Vec::new();
    let mut discovery = Discovery::new(quick(9000), Seed::new(1));
    discovery.connected(Time::ZERO);
    // Everything up to 1500 bytes passes; a router says 1400 about the rest.
    for _ in 0..200 {
        let now = discovery.poll_timeout().unwrap();
        let Some(probe) = discovery.poll_probe(now) else {
            break;
        };
        match probe.size.get() {
            0..=1500 => discovery.acknowledged(probe.id, now),
            _ => used.push(discovery.too_big(quoting(probe, 1400))),
        }
    }
    let black_holes = used
        .iter()
        .filter(|one| **one == TooBigUse::BlackHole)
        .count();
    assert!(black_holes <= 3, "{used:?}");
    assert_eq!(discovery.path_mtu().unwrap().get(), 1500);
}

#[test]
fn s5_1_1_the_standard_timers_are_those_of_transports() {
    let settings = Settings::new(IpVersion::V4, 9000).unwrap();
    let ProbeTimer::Fixed(timer) = settings.probe_timer else {
        panic!("a timer from round trips")
    };
    assert!(timer > Span::from_secs(15));
    assert_eq!(settings.raise_after, Span::from_secs(600));
    assert_eq!((settings.minimum.get(), settings.base.get()), (68, 1200));
    assert!(Settings::new(IpVersion::V6, 1279).is_err());
    assert!(Settings::new(IpVersion::V6, 65_536).is_err());
}

#[test]
fn s5_1_1_the_found_size_is_raised_after_ten_minutes() {
    let mut run = Run::new(quick(9000), 1);
    run.until_settled(&Path::silent(1500));
    let raise = run.discovery.poll_timeout().unwrap();
    assert!(raise.since(run.now).unwrap() <= Span::from_secs(600));
    assert_eq!(run.discovery.poll_probe(run.now), None);
    run.now = raise;
    let probe = run.discovery.poll_probe(raise).unwrap();
    assert_eq!(probe.size, Bytes::new(9000));
    run.discovery.acknowledged(probe.id, raise);
    assert_eq!(run.found(), Some(9000));
}

#[test]
fn s5_2_an_unacknowledged_layer_confirms_its_size_and_falls_back_to_the_base() {
    let settings = Settings {
        confirm_after: Some(Span::from_secs(30)),
        ..quick(9000)
    };
    let mut run = Run::new(settings, 1);
    run.until_settled(&Path::silent(9000));
    run.now = run.discovery.poll_timeout().unwrap();
    let probe = run.discovery.poll_probe(run.now).unwrap();
    assert_eq!(probe.size, Bytes::new(9000));
    run.discovery.acknowledged(probe.id, run.now);
    assert_eq!(run.discovery.state(), State::SearchComplete);
    // The path shrinks: losses of confirmations decide.
    run.now = run.discovery.poll_timeout().unwrap();
    while run.discovery.state() == State::SearchComplete {
        if run.discovery.poll_probe(run.now).is_none() {
            run.now = run.discovery.poll_timeout().unwrap();
        }
    }
    run.until_settled(&Path::silent(1500));
    assert_eq!(run.found(), Some(1500));
}

#[test]
fn s5_2_below_the_base_the_search_goes_on_from_the_minimum() {
    for path in [Path::silent(1000), Path::answering(1000)] {
        let settings = Settings {
            probe_timer: quick(9000).probe_timer,
            ..Settings::new(IpVersion::V4, 9000).unwrap()
        };
        let mut run = Run::new(settings, 1);
        run.until_settled(&path);
        assert_eq!(run.found(), Some(1000));
        let limit = run.discovery.limit().unwrap();
        assert!(matches!(limit, Limit::Vanish(size) | Limit::Rejected(size) if size.get() == 1001));
    }
}

#[test]
fn s5_2_without_any_answer_there_is_no_connectivity() {
    let path = Path {
        loss: 1.0,
        ..Path::silent(9000)
    };
    for version in [IpVersion::V4, IpVersion::V6] {
        let mut run = Run::new(Settings::new(version, 9000).unwrap(), 1);
        run.until_settled(&path);
        assert_eq!(run.discovery.state(), State::Disabled);
        assert_eq!(run.found(), None);
        assert_eq!(run.discovery.poll_timeout(), None);
        // The layer tells when the far end is back.
        run.discovery.connected(run.now);
        run.until_settled(&Path::silent(9000));
        assert_eq!(run.found(), Some(9000));
    }
}

#[test]
fn s5_3_1_the_interface_is_the_largest_size() {
    let mut run = Run::new(quick(4000), 1);
    run.until_settled(&Path::silent(9000));
    assert_eq!(run.found(), Some(4000));
    assert_eq!(run.discovery.limit(), Some(Limit::Asked));
    assert_eq!(run.discovery.probes(), 2);
}
