use queue::law::{Curve, Profile, Rounding, Spread};
use queue::{
    AdaptiveRedSettings, Bounds, Candidates, CodelSettings, FqCodelSettings, Interpretation,
    MredSettings, MredTrigger, PieSettings, RedSettings, RioSettings, Selection, SizeOf, Unit,
};
use units::Span;

use super::*;

fn queue(text: &str) -> Result<Spec, String> {
    let rate = Rate::from_bits_per_second(10_000_000);
    queue_of(text, Limit::Packets(50), rate, Bytes::new(1518))
}

#[test]
fn every_discipline_has_its_usual_parameters_unless_told_otherwise() {
    let (limit, largest) = (Limit::Packets(50), Bytes::new(1518));
    let usual = [
        ("droptail", Spec::DropTail { limit }),
        ("dropfront", Spec::DropFront { limit }),
        ("red", Spec::Red(RedSettings::new(limit, largest))),
        (
            "ared",
            Spec::AdaptiveRed(AdaptiveRedSettings::new(limit, largest)),
        ),
        ("codel", Spec::Codel(CodelSettings::new(limit, largest))),
        ("pie", Spec::Pie(PieSettings::new(limit, largest))),
        (
            "fq_codel",
            Spec::FqCodel(FqCodelSettings::new(limit, largest)),
        ),
        ("rio", Spec::Rio(RioSettings::new(limit, largest))),
        ("mred", Spec::Mred(MredSettings::new(limit, largest))),
        (
            "mred,mred.interpretation=letter,mred.notify=off",
            Spec::Mred(MredSettings::letter(limit, largest)),
        ),
    ];
    for (name, spec) in usual {
        assert_eq!(queue(name).unwrap(), spec, "{name}");
        let of_classes = Spec::Priority {
            classes: 3,
            each: Box::new(spec),
        };
        let text = format!("priority,classes=3,class_queue={name}");
        assert_eq!(queue(&text).unwrap(), of_classes, "{text}");
    }
}

#[test]
fn parameters_are_named_with_their_discipline_or_without() {
    let Spec::Red(red) = queue("red,min=10kB,red.max=30000,unit=bytes,gentle=off,ecn=on").unwrap()
    else {
        panic!("another discipline");
    };
    let curve = Curve {
        min: 10_000.0,
        max: 30_000.0,
        max_probability: 0.1,
        gentle: false,
    };
    assert_eq!((red.curve, red.unit, red.ecn), (curve, Unit::Bytes, true));
    assert!(queue("priority,class_queue=pie,pie.target=5ms").is_ok());
}

#[test]
fn mred_has_every_axis_and_what_is_left_out_follows_from_the_interpretation() {
    let (limit, largest) = (Limit::Packets(50), Bytes::new(1518));
    let text = "mred,trigger=no-room,candidates=head,unit=bytes,size_source=header,selection=spread,action=mark,\
                mark_time=3ms,drop_time=2ms,rounding=each,min=6kB,max=12kB,max_probability=0.2,gentle=off,\
                weight=0.01,mean_size=500,drop_spacing=wait,adaptive=on,profile=ns2";
    let Spec::Mred(mred) = queue(text).unwrap() else {
        panic!("another discipline");
    };
    let all = MredSettings {
        // Of packets of the mean size, as ns-2 has it.
        limit: Limit::Bytes(Bytes::new(25_000)),
        unit: Unit::Bytes,
        curve: Curve {
            min: 6_000.0,
            max: 12_000.0,
            max_probability: 0.2,
            gentle: false,
        },
        weight: 0.01,
        mean_size: Bytes::new(500),
        spread: Spread::Wait,
        adaptive: true,
        profile: Profile::Ns2,
        trigger: MredTrigger::NoRoom,
        candidates: Candidates::Head,
        size: SizeOf::Header,
        selection: Selection::Spread,
        rounding: Rounding::Each,
        mark: true,
        mark_time: Some(Span::from_millis(3)),
        drop_time: Some(Span::from_millis(2)),
        ..MredSettings::new(limit, largest)
    };
    assert_eq!(mred, all);
    // Independent of the order.
    for text in [
        "mred,bounds=0.1..0.4,candidates=head,notify=off,interpretation=letter",
        "mred,interpretation=letter,candidates=head,bounds=0.1..0.4,notify=off",
    ] {
        let bounds = Bounds {
            low: 0.1,
            high: 0.4,
        };
        let expected = MredSettings {
            interpretation: Interpretation::Letter(bounds),
            candidates: Candidates::Head,
            ..MredSettings::letter(limit, largest)
        };
        assert_eq!(queue(text).unwrap(), Spec::Mred(expected), "{text}");
    }
}

#[test]
fn what_cannot_be_is_rejected_with_its_name() {
    for (text, words) in [
        (
            "mred,interpretation=letter,notify=off,bounds=0.1..1.5",
            "bounds=0.1..1.5: write the least and the largest share of a frame's packets, from 0 to 1",
        ),
        (
            "mred,interpretation=letter,notify=off,bounds=0.5..0.1",
            "bounds=0.5..0.1: the lower bound is above the upper one; swap them",
        ),
        (
            "mred,bounds=0.1..0.5",
            "mred.bounds: only interpretation = \"letter\" keeps a share within bounds",
        ),
        (
            "mred,share=own",
            "mred.share: only interpretation = \"letter\" takes a share of frames",
        ),
        (
            "mred,max=9kB",
            "mred.max: bytes are a threshold only where unit = \"bytes\"; write it too",
        ),
        (
            "mred,profile=ns2,rounding=ceil",
            "mred.rounding: RED as in ns-2 decides packet by packet",
        ),
        (
            "mred,reaction=retransmit",
            "mred.reaction: only notified sources react; write notify = \"on\" too",
        ),
        (
            "mred,notify=on",
            "mred.notify: only sources of the backend `sim` understand it; write notify=off",
        ),
        (
            "mred,interpretation=letter",
            "mred.notify: only sources of the backend `sim` understand it; write notify=off",
        ),
        (
            "mred,drop_time=0s",
            "mred.drop_time: drop_time must be more than 0",
        ),
        ("blue", "no such queue; write droptail, dropfront, red"),
        ("red,min", "`min` is no parameter; write NAME=VALUE"),
        (
            "red,mim=5",
            "mim: no such parameter; write one of unit, min, max",
        ),
        (
            "droptail,min=5",
            "min: no such parameter; write one of profile",
        ),
        ("red,min=-1", "min=-1: write a number from 0 on"),
        ("red,min=20", "red.max: min must be a number"),
        (
            "red,max=3MB",
            "red.max: bytes are a threshold only where unit",
        ),
        ("red,weight=2", "weight=2: write what one arrival counts"),
        (
            "red,pie.target=5ms",
            "pie.target: a parameter of pie, which",
        ),
        (
            "codel,target=0s",
            "codel.target: target must be more than 0",
        ),
        (
            "priority,class_queue=priority",
            "priority.class_queue: a class of a",
        ),
        (
            "fq_codel,queues=0",
            "queues=0: write a number from 1 to 65535",
        ),
    ] {
        let rejection = queue(text).expect_err(text).to_string();
        assert!(rejection.starts_with(words), "{text}: {rejection}");
    }
    let none = queue_of("red", Limit::Packets(5), None, Bytes::new(1518));
    let rejection = none.unwrap_err().to_string();
    assert!(rejection.starts_with("rate: RED reckons"), "{rejection}");
}
