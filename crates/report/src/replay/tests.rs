use analysis::Findings;
use experiment::Experiment;
use plan::synthetic::facts;

use super::*;

/// The plan of red-increase with one queue.
fn plan() -> Plan {
    let mut experiment = Experiment::load("red-increase").unwrap();
    experiment.set("queue=red").unwrap();
    lab::world::plan(experiment, "sim".parse().unwrap()).unwrap()
}

fn recording(plan: &Plan) -> QueueRecording {
    let picos = |micros: u64| Time::from_picos(micros * 1_000_000);
    let packet = |micros: u64, left: Option<(u64, Option<&str>)>| QueuedPacket {
        at: picos(micros),
        waiting: 3,
        average: Some(2.345),
        flow: 0,
        size: 1500,
        inner: 2,
        left: left.map(|(at, why)| (picos(at), why.and_then(Loss::named))),
        is_marked: false,
        inner_drops: Vec::new(),
    };
    let mut thinned = packet(40, Some((90, None)));
    thinned.inner_drops = vec![(picos(50), Loss::named("early").unwrap())];
    QueueRecording {
        trial: "c00-r01".into(),
        factors: plan.cells[0].factors.clone(),
        link: "bottleneck".into(),
        window: QueueWindow {
            direction: 0,
            flows: vec!["</script><b>".into()],
            packets: vec![
                packet(10, Some((20, None))),
                packet(30, Some((30, Some("early")))),
                thinned,
                packet(60, None),
            ],
            decided: Some(1),
            recorded: 4,
        },
    }
}

#[test]
fn the_data_has_every_packet_with_its_fate_and_the_thresholds() {
    let plan = plan();
    let recording = recording(&plan);
    let data = data(&ShownQueue {
        name: name(&plan, &recording),
        discipline: discipline(&plan, &recording),
        window: &recording.window,
        after: "",
    });
    assert_eq!((&data["min"], &data["max"]), (&json!(5.0), &json!(15.0)));
    assert_eq!(data["at"], json!([0, 20_000, 30_000, 50_000]));
    assert_eq!(data["left"], json!([10_000, 0, 50_000, null]));
    assert_eq!(data["lost"], json!([[1, "an early drop"]]));
    assert_eq!(data["drops"], json!([[2, [[10_000, "an early drop"]]]]));
    assert_eq!(data["average"][0], json!(2.35));
}

#[test]
fn a_page_replays_recorded_queues_and_lists_their_first_decisions() {
    let plan = plan();
    let facts = facts();
    let found = Findings::of(&plan, &[], &facts);
    let document = crate::of_run(&found, None).with_queues(&found, &[recording(&plan)]);
    let page = crate::html(&document);
    assert!(page.contains("<figure class=\"replay\" hidden>"));
    assert!(page.contains("c00-r01, link bottleneck"));
    assert!(page.contains("early: an early drop"));
    assert!(page.contains("1 of 2 packets in it dropped"));
    assert!(
        !page.contains("</script><b>"),
        "a name cannot end the script"
    );
}

#[test]
fn a_page_without_a_recording_says_how_to_get_one() {
    let plan = plan();
    let facts = facts();
    let found = Findings::of(&plan, &[], &facts);
    let page = crate::html(&crate::of_run(&found, None).with_queues(&found, &[]));
    assert!(page.contains("jumbolab run red-increase --set links.bottleneck.watch.queue=on"));
    assert!(!page.contains("<figure class=\"replay\""));
}

#[test]
fn congestion_is_looked_for_once_all_flows_have_begun() {
    let setting = plan().cells.remove(0).setting.unwrap();
    assert_eq!(replayed_from(&setting), Time::ZERO + Span::from_secs(25));
}
