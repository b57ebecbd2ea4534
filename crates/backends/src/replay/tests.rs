//! Replays of recordings that come from a driven link, not from a machine.

use link::written::queue_of;
use link::{JitterDistribution, PacketOutcome};
use proptest::prelude::*;
use queue::{Limit, Spec};
use units::Rate;

use super::*;
use crate::recording::{Heading, Input, Recording};

mod fuzz;

const DISCIPLINES: [&str; 13] = [
    "droptail",
    "dropfront",
    "red,ecn=on",
    "red,profile=ns2,drop_spacing=wait",
    "red,unit=bytes,min=3kB,max=12kB,drop_position=random",
    "ared",
    "rio",
    "mred,min=2,max=6",
    "mred,interpretation=letter,notify=off",
    "codel,target=1ms,interval=20ms",
    "pie,target=2ms,ecn_below=0.1",
    "fq_codel,queues=4,target=1ms",
    "priority,classes=3,class_queue=red,red.min=2,red.max=6",
];

/// An arriving packet, and the behaviour of the driver around it.
#[derive(Clone, Debug)]
struct Step {
    /// Microseconds since the previous one.
    gap: u64,
    size: u64,
    flow: u64,
    class: u8,
    markable: bool,
    /// The delay of the driver's read in microseconds; departures until then
    /// may be fetched first.
    late: Option<u64>,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (
        0u64..900,
        64u64..1600,
        0u64..6,
        0u8..4,
        any::<bool>(),
        proptest::option::of(0u64..2_000),
    );
    let step = step.prop_map(|(gap, size, flow, class, markable, late)| Step {
        gap,
        size,
        flow,
        class,
        markable,
        late,
    });
    proptest::collection::vec(step, 1..250)
}

fn settings(queue: &str) -> Settings {
    let rate = Rate::from_bits_per_second(10_000_000);
    let queue = queue_of(queue, Limit::Packets(12), rate, Bytes::new(1518)).unwrap();
    Settings {
        largest_packet: Some(Bytes::new(1500)),
        delay: Span::from_millis(3),
        jitter: Span::from_millis(1),
        jitter_distribution: JitterDistribution::Exponential,
        loss: 0.05,
        bit_error_rate: 1e-6,
        duplicate: 0.05,
        ..Settings::perfect(rate, queue)
    }
}

/// The recording of a link with `settings` and arrivals `steps`, read back from
/// its file. The random streams restart in the middle.
fn record(settings: &Settings, steps: &[Step]) -> Recorded {
    record_until(settings, steps, |text| text.len(), true)
}

/// Like [`record`], of what the file holds up to `end`; the random streams
/// restart if they are to.
fn record_until(
    settings: &Settings,
    steps: &[Step],
    end: impl FnOnce(&str) -> usize,
    restarts: bool,
) -> Recorded {
    let text = recorded_text(settings, steps, restarts);
    Recorded::parse(&text.as_bytes()[..end(&text)]).unwrap()
}

/// The text of such a recording.
fn recorded_text(settings: &Settings, steps: &[Step], restarts: bool) -> String {
    let origin = Time::from_nanos(123_456_789);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wire.csv");
    let mut link = Link::new(settings.clone(), Seed::new(9)).unwrap();
    link.record();
    let mut other = Link::<Replayed>::new(settings.clone(), Seed::new(11)).unwrap();
    other.record();
    let heading = Heading {
        origin,
        directions: [settings.clone(), settings.clone()],
        reseeds: [link.reseeds().to_vec(), other.reseeds().to_vec()],
    };
    let mut recording = Recording::create(&path, &heading).unwrap();
    let mut now = origin;
    for (number, step) in steps.iter().enumerate() {
        now += Span::from_micros(step.gap);
        if restarts && number == steps.len() / 2 {
            link.reseed(now, Seed::new(10));
        }
        if let Some(late) = step.late {
            discard(&mut link, now + Span::from_micros(late));
        }
        let packet = Replayed {
            view: View {
                size: Bytes::new(step.size),
                flow: step.flow,
                class: step.class,
                precedence: step.class & 1,
            },
            tags: Bytes::ZERO,
            live: 1,
            markable: step.markable,
        };
        link.receive(now, packet);
    }
    // Some packets still wait, unless the queue happens to be empty.
    let events: Vec<_> = link
        .take_events()
        .into_iter()
        .map(|event| (0, 0, event))
        .collect();
    recording.write(&events).unwrap();
    let waiting = [link.waiting().collect(), other.waiting().collect()];
    let reseeds = [link.reseeds().to_vec(), other.reseeds().to_vec()];
    recording.conclude(&waiting, &reseeds).unwrap();
    recording.finish().unwrap();
    std::fs::read_to_string(&path).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_discipline_decides_again_as_it_did(steps in steps()) {
        for name in DISCIPLINES {
            let recorded = record(&settings(name), &steps);
            prop_assert_eq!(recorded.directions[0].packets.len(), steps.len());
            let agreement = reproduce(&recorded, 0).unwrap();
            let open = recorded.directions[0].packets.iter().filter(|(_, decided)| decided.is_none());
            prop_assert_eq!(agreement.compared + open.count(), steps.len());
            prop_assert_eq!(agreement.first, None, "{}", name);
            prop_assert_eq!(agreement.agreed, agreement.compared);
        }
    }

    #[test]
    fn what_is_left_of_a_cut_recording_is_decided_again_as_it_was(
        steps in steps(), part in 0_usize..1_000,
    ) {
        for name in DISCIPLINES {
            // Behind the description of the link and its seeds.
            let end = |text: &str| {
                let begin: usize = text.split_inclusive('\n').take(4).map(str::len).sum();
                begin + (text.len() - begin) * part / 1_000
            };
            let recorded = record_until(&settings(name), &steps, end, false);
            prop_assert!(!recorded.is_whole);
            let agreement = reproduce(&recorded, 0).unwrap();
            prop_assert_eq!(agreement.first, None, "{}", name);
            prop_assert_eq!(agreement.agreed, agreement.compared);
        }
    }
}

/// A missing packet that came in the same burst as the last one left may have
/// driven others out of the queue, at that same time.
#[test]
fn what_is_left_of_a_recording_cut_within_a_burst_is_decided_again_as_it_was() {
    let bursts: Vec<Step> = { (0..80).zip(busy()) }
        .map(|(number, step)| Step {
            gap: if number % 4 == 0 { 2_000 } else { 0 },
            ..step
        })
        .collect();
    for name in DISCIPLINES {
        let text = recorded_text(&settings(name), &bursts, false);
        let ends = text.match_indices('\n').map(|(end, _)| end + 1).skip(4);
        let mut compared = 0;
        for end in ends.filter(|end| *end < text.len()) {
            let recorded = Recorded::parse(&text.as_bytes()[..end]).unwrap();
            assert!(!recorded.is_whole);
            let agreement = reproduce(&recorded, 0).unwrap();
            assert_eq!(agreement.first, None, "{name}");
            compared = agreement.compared;
        }
        // Only the last bursts are left open.
        assert!(compared > 60, "{name}: {compared}");
    }
}

#[test]
fn most_of_a_recording_without_its_end_is_replayed_and_one_of_format_2_is_whole() {
    let before_last = |text: &str| text.trim_end().rfind('\n').unwrap() - 3;
    let cut = record_until(&settings("droptail"), &busy(), before_last, false);
    let compared = reproduce(&cut, 0).unwrap().compared;
    assert!(!cut.is_whole && compared > 300, "{compared}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("second.csv");
    let settings = settings("droptail");
    let heading = Heading {
        origin: Time::ZERO,
        directions: [settings.clone(), settings],
        reseeds: [vec![], vec![]],
    };
    Recording::create(&path, &heading)
        .unwrap()
        .finish()
        .unwrap();
    let first = std::fs::read_to_string(&path).unwrap();
    let first = first.replace("\"format\":3", "\"format\":2");
    let rest = "5,6,0,64,0,delivered,1,,0,0,0,0,0,1,\n# chance 0 0 0 7\n# chance 1 0 0 8\n";
    std::fs::write(&path, format!("{first}{rest}")).unwrap();
    let second = Recorded::read(Input::open(&path).unwrap()).unwrap();
    assert!(second.is_whole && second.directions[0].packets.len() == 1);
}

fn busy() -> Vec<Step> {
    (0..400)
        .map(|number| Step {
            gap: 700,
            size: 1000 + 100 * (number % 6),
            flow: number % 3,
            class: 0,
            markable: false,
            late: None,
        })
        .collect()
}

#[test]
fn a_record_under_other_settings_is_answered_beside_it() {
    let recorded = record(&settings("droptail"), &busy());
    let was = self::recorded(&recorded, 0);
    assert!(was.outcomes.of(PacketOutcome::Dropped) > 20, "{was:?}");
    let sets = ["queue=droptail,red", "buffer=1MB"].map(str::to_owned);
    let variants = variants(&recorded, &sets).unwrap();
    let names: Vec<&str> = variants
        .iter()
        .map(|variant| variant.name.as_str())
        .collect();
    assert_eq!(names, ["queue=droptail buffer=1MB", "queue=red buffer=1MB"]);
    let [deep, red] = [0, 1].map(|number: usize| {
        let settings = &variants[number].directions[0];
        assert_eq!(settings.loss.to_bits(), 0.05f64.to_bits(), "as recorded");
        replay_with(&recorded, 0, &variants[number]).unwrap()
    });
    assert_eq!(deep.outcomes.of(PacketOutcome::Dropped), 0);
    assert!(deep.waits.longest > was.waits.longest);
    assert!(red.outcomes.of(PacketOutcome::Dropped) > 0);
    assert!(red.waits.mean < deep.waits.mean);
}

#[test]
fn what_is_not_asked_for_stays_as_recorded() {
    let red = settings("red,min=2,max=6");
    let recorded = record(&red, &busy());
    let buffer = variants(&recorded, &["buffer=35 packets".to_owned()]).unwrap();
    let [there, _] = &buffer[0].directions;
    let Spec::Red(settings) = &there.queue else {
        panic!("{:?}", there.queue)
    };
    assert_eq!(settings.limit, Limit::Packets(35));
    assert_eq!((settings.curve.min, settings.curve.max), (2.0, 6.0));
    assert_eq!(there.delay, red.delay);
    let rate = variants(&recorded, &["rate=20mbit".to_owned()]).unwrap();
    assert_eq!(rate[0].directions[0].queue, red.queue);
    assert_eq!(rate[0].name, "rate=20mbit");
}

#[test]
fn what_is_no_link_of_a_replay_is_rejected() {
    let recorded = record(&settings("droptail"), &busy());
    for (set, words) in [
        (
            "traffic.size=5MB",
            "--set traffic.size=5MB: a replay has one link",
        ),
        ("network.ip=6", "--set network.ip: a replay has one link"),
        (
            "network.red.min=3",
            "--set network.red.min=3: network.red.min = 3: a parameter of red",
        ),
        ("colour=red", "--set colour=red: unknown alias or key"),
    ] {
        let rejection = variants(&recorded, &[set.to_owned()]).unwrap_err();
        assert!(format!("{rejection:#}").starts_with(words), "{rejection:#}");
    }
}

#[test]
fn what_is_no_recording_is_rejected_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wire.csv");
    let good = {
        let kept = folder.path().join("good.csv");
        let heading = Heading {
            origin: Time::ZERO,
            directions: [settings("droptail"), settings("droptail")],
            reseeds: [vec![], vec![]],
        };
        Recording::create(&kept, &heading)
            .unwrap()
            .finish()
            .unwrap();
        std::fs::read_to_string(kept).unwrap()
    };
    for (text, words) in [
        (
            String::new(),
            "not a recording with a description of its link",
        ),
        (
            good.replace("\"format\":3", "\"format\":4"),
            "line 1: this is a recording of format 4",
        ),
        (
            good.replace("left_ps,", ""),
            "line 2: the columns are not those",
        ),
        (good.clone(), "the recording is incomplete"),
        (format!("{good}5,6,0\n# end\n"), "line 3: size is missing"),
        (
            format!("{good}5,6,2,64,0,delivered,1,,0,0,0,0,0,1,\n# end\n"),
            "line 3: direction 2",
        ),
        (
            format!("{good}5,6,0,64,0,eaten,1,,0,0,0,0,0,1,\n# end\n"),
            "line 3: `eaten` is not a word",
        ),
        (
            format!("{good}x,6,0,64,0,lost,1,,0,0,0,0,0,1,\n# end\n"),
            "line 3: arrival_ps: `x`",
        ),
        (
            format!("{good}{},6,0\n# end\n", "x".repeat(100_000)),
            "line 3: arrival_ps: `xxxx",
        ),
        (
            format!("{good}{}\n", "x".repeat(2 << 20)),
            "line 3: the line is longer than 1 MiB, the limit; break it",
        ),
    ] {
        std::fs::write(&path, text).unwrap();
        let rejection = format!(
            "{:#}",
            Recorded::read(Input::open(&path).unwrap()).unwrap_err()
        );
        assert!(rejection.len() < 500, "{}", rejection.len());
        assert!(
            rejection.contains(&format!("wire.csv: {words}")),
            "{rejection}"
        );
    }
}

#[test]
fn what_mred_takes_out_of_bundles_is_rejected_because_it_is_not_recorded() {
    let step = Step {
        gap: 1,
        size: 1_000,
        flow: 0,
        class: 0,
        markable: false,
        late: None,
    };
    for (queue, is_rejected) in [
        ("mred", true),
        ("priority,class_queue=mred", true),
        ("red", false),
    ] {
        let mut recorded = record(&settings(queue), &[step.clone(), step.clone()]);
        assert!(reproduce(&recorded, 0).is_ok(), "{queue}");
        recorded.directions[0].packets[1].0.header.live = 3;
        let rejection = reproduce(&recorded, 0).map_err(|error| error.to_string());
        let words = |rejection: &String| rejection.contains("but not their content");
        assert_eq!(
            rejection.as_ref().err().is_some_and(words),
            is_rejected,
            "{queue}: {rejection:?}"
        );
    }
}

#[test]
fn a_packet_stamped_before_its_record_began_is_in_it() {
    let settings = settings("red,min=2,max=6");
    let mut link = Link::new(settings.clone(), Seed::new(9)).unwrap();
    let begun = Time::from_nanos(123_456_789);
    link.record();
    link.reseed(begun, Seed::new(10));
    // Read after the record began, however early they were stamped.
    let early = Time::from_nanos(123_400_000);
    for number in 0..400 {
        let packet = Replayed {
            view: View {
                size: Bytes::new(1_000),
                ..View::default()
            },
            tags: Bytes::ZERO,
            live: 1,
            markable: false,
        };
        link.receive(early + Span::from_micros(500) * number, packet);
    }
    let events: Vec<_> = (link.take_events().into_iter())
        .map(|event| (0, 0, event))
        .collect();
    let waiting = [link.waiting().collect::<Vec<_>>(), vec![]];
    let arrivals = events.iter().map(|(_, _, event)| event.arrival);
    let arrivals = arrivals.chain(waiting[0].iter().map(|arrival| arrival.at));
    let reseeds = [link.reseeds().to_vec(), link.reseeds().to_vec()];
    let heading = Heading {
        origin: Heading::origin_of(begun, arrivals),
        directions: [settings.clone(), settings],
        reseeds: reseeds.clone(),
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wire.csv");
    let mut recording = Recording::create(&path, &heading).unwrap();
    recording.write(&events).unwrap();
    recording.conclude(&waiting, &reseeds).unwrap();
    recording.finish().unwrap();
    let recorded = Recorded::read(Input::open(&path).unwrap()).unwrap();
    assert_eq!(recorded.directions[0].packets.len(), 400);
    let agreement = reproduce(&recorded, 0).unwrap();
    assert_eq!(agreement.first, None);
    assert!(agreement.compared > 380, "{agreement:?}");
}
