//! Words that set several keys, aliases with units, and parameters that only
//! some cells use.

use queue::law::Profile;
use queue::{Limit, Spec, Victim};

use super::simulated::{rejected, sim};
use super::*;

const QUEUES: &str = "\
format = 1
name = \"queues\"
backend = \"sim\"
[aliases]
buffer = { key = \"network.buffer\", unit = \"packets\" }
max_p = \"network.red.max_probability\"
network = \"network.mtu\"
[choices.queue.red]
\"network.queue\" = \"red\"
[choices.queue.hard]
network.queue = \"red\"
network.red.gentle = \"off\"
[choices.queue.tail]
\"network.queue\" = \"droptail\"
[network]
framing = \"none\"
red.profile = \"ns2\"
red.weight = 0.0027
[traffic]
kind = \"flows\"
duration = \"2s\"
[flows.f]
load = \"50%\"
[sweep]
queue = [\"hard\", \"red\", \"tail\"]
";

#[track_caller]
fn queue_of(plan: &Plan, cell: usize) -> Spec {
    setting(plan, cell).network.links[0].queue()
}

#[test]
fn a_word_writes_its_keys_and_leaves_other_cells_alone() {
    let plan = sim(QUEUES, &[]);
    assert_eq!(factors(&plan), ["queue=hard", "queue=red", "queue=tail"]);
    let gentle = |cell| match queue_of(&plan, cell) {
        Spec::Red(red) => Some(red.curve.gentle),
        _ => None,
    };
    assert_eq!([0, 1, 2].map(gentle), [Some(false), Some(true), None]);
    let again = sim(&plan.text, &[]);
    assert_eq!((&again.hash, &again.text), (&plan.hash, &plan.text));
    for cell in 0..3 {
        assert_eq!(setting(&again, cell), setting(&plan, cell), "{cell}");
    }
}

#[test]
fn keys_of_links_that_only_some_shapes_have_stay_in_the_words() {
    let plan = sim(
        shipped::text("hops-and-load").unwrap().1,
        &["load=none,heavy"],
    );
    let again = sim(&plan.text, &[]);
    assert_eq!((&again.hash, &again.text), (&plan.hash, &plan.text));
    for cell in 0..plan.cells.len() {
        assert_eq!(setting(&again, cell), setting(&plan, cell), "{cell}");
    }
}

#[test]
fn a_word_that_is_not_swept_is_written_over_the_file() {
    let text = QUEUES.replace("queue = [\"hard\", \"red\", \"tail\"]", "max_p = [0.1]");
    let plan = sim(&text, &["queue=hard"]);
    assert!(matches!(queue_of(&plan, 0), Spec::Red(red) if !red.curve.gentle));
    let plan = sim(&text, &["queue=hard,red"]);
    assert_eq!(
        factors(&plan),
        ["max_p=0.1 queue=hard", "max_p=0.1 queue=red"]
    );
}

#[test]
fn a_parameter_is_for_the_cells_that_have_it() {
    let plan = sim(QUEUES, &["max_p=0.05", "queue=red,tail"]);
    assert!(matches!(queue_of(&plan, 0), Spec::Red(red) if red.curve.max_probability == 0.05));
    assert!(matches!(queue_of(&plan, 1), Spec::DropTail { .. }));
    // Parameters in the file may be for a word that was not selected.
    let plan = sim(QUEUES, &["queue=tail"]);
    let again = sim(&plan.text, &[]);
    assert_eq!(again.hash, plan.hash);
    rejected(
        QUEUES,
        &["max_p=0.05", "queue=tail"],
        "--set max_p=0.05: network.red.max_probability = 0.05: a parameter of red, and the queue is droptail; write queue = \"red\" too, or leave it out",
    );
    rejected(
        QUEUES,
        &["network.codel.target=1ms"],
        "--set network.codel.target=1ms: network.codel.target = \"1ms\": a parameter of codel, and the queue is red; write queue = \"codel\" too, or leave it out",
    );
}

#[test]
fn a_bare_number_of_a_short_name_with_a_unit_counts_that() {
    let limit = |plan: &Plan, cell| queue_of(plan, cell).limit();
    for sets in [
        &["queue=red", "buffer=35"][..],
        &["queue=red", "buffer=35 packets"],
    ] {
        assert_eq!(limit(&sim(QUEUES, sets), 0), Limit::Packets(35), "{sets:?}");
    }
    assert_eq!(
        limit(&sim(QUEUES, &["queue=red", "buffer=50kB"]), 0),
        Limit::Bytes(Bytes::new(50_000))
    );
    let plan = sim(QUEUES, &["queue=red", "buffer=35,70"]);
    assert_eq!(
        factors(&plan),
        ["queue=red buffer=35", "queue=red buffer=70"]
    );
    assert_eq!(
        [0, 1].map(|cell| limit(&plan, cell)),
        [35, 70].map(Limit::Packets)
    );
    let again = sim(&plan.text, &[]);
    assert_eq!((factors(&again), &again.hash), (factors(&plan), &plan.hash));
    // By its own name, a number keeps its meaning.
    let plan = sim(QUEUES, &["queue=red", "network.buffer=35000,70000"]);
    assert_eq!(limit(&plan, 1), Limit::Bytes(Bytes::new(70_000)));
    assert_eq!(sim(&plan.text, &[]).hash, plan.hash);
}

#[test]
fn queues_of_ns2_are_as_it_has_them() {
    let ns2 = "network.droptail.profile=ns2";
    let plan = sim(QUEUES, &["queue=tail", "buffer=35", ns2]);
    assert_eq!(queue_of(&plan, 0), Spec::ns2_drop_tail(35));
    let plan = sim(
        QUEUES,
        &["queue=red", "buffer=35", "network.red.drop_spacing=wait"],
    );
    let of_ns2 = queue::RedSettings::ns2(35, Bytes::new(1500));
    assert_eq!(queue_of(&plan, 0), Spec::Red(of_ns2));
    // In bytes its thresholds and its limit are packets of the mean size.
    let plan = sim(
        QUEUES,
        &["queue=red", "buffer=35", "network.red.unit=bytes"],
    );
    let Spec::Red(red) = queue_of(&plan, 0) else {
        panic!("{:?}", queue_of(&plan, 0));
    };
    assert_eq!((red.curve.min, red.curve.max), (7_500.0, 22_500.0));
    assert_eq!(red.limit, Limit::Bytes(Bytes::new(52_500)));
    assert_eq!((red.profile, red.victim), (Profile::Ns2, Victim::Arriving));
}

#[test]
fn what_a_choice_cannot_be_is_rejected_by_name() {
    let line = |number: usize, text: &str, wrong: &str| {
        rejected(text, &[], &format!("experiments/x.toml:{number}: {wrong}"));
    };
    line(
        25,
        &QUEUES.replace("\"hard\", \"red\", \"tail\"", "\"soft\""),
        "sweep.queue = [\"soft\"]: write \"red\", \"hard\", \"tail\", or a queue: \"droptail\", \"dropfront\", \"ared\", \"codel\", \"pie\", \"fq_codel\", \"priority\", \"rio\" or \"mred\"",
    );
    line(
        12,
        &QUEUES.replace("network.red.gentle = \"off\"", "trials.seed = 3"),
        "choices.queue.hard.trials.seed = 3: no key of a cell, as \"network.queue\" is one",
    );
    line(
        6,
        &QUEUES.replace("max_p = ", "queue = "),
        "aliases.queue = \"network.red.max_probability\": this name is taken; choose another",
    );
    rejected(
        QUEUES,
        &["network.queue=codel"],
        "--set network.queue=codel: network.queue = \"codel\": every level of the factor queue writes this key; give that one instead",
    );
    rejected(
        QUEUES,
        &["queue=soft"],
        "--set queue=soft: sweep.queue = [\"soft\"]: write \"red\", \"hard\", \"tail\", or a queue: \"droptail\", \"dropfront\", \"ared\", \"codel\", \"pie\", \"fq_codel\", \"priority\", \"rio\" or \"mred\"",
    );
}

#[test]
fn windows_and_series_are_read_and_what_cannot_be_counted_is_rejected() {
    let counted = |lines: &str| format!("{QUEUES}[links.sender-receiver]\n{lines}\n");
    let text =
        counted("windows.h1 = \"0s..1s\"\nwindows.h2 = \"1s .. 2s\"\nseries.interval = \"10ms\"");
    let plan = sim(&text, &[]);
    let counted_of = |plan: &Plan| setting(plan, 0).network.links[0].counted.clone();
    let windows = counted_of(&plan).windows;
    assert_eq!(windows.len(), 2);
    assert_eq!(
        (windows[1].from, windows[1].to),
        (Span::from_secs(1), Span::from_secs(2))
    );
    assert_eq!(counted_of(&plan).series, Some(Span::from_millis(10)));
    let again = sim(&plan.text, &[]);
    assert_eq!(
        (counted_of(&again), &again.hash),
        (counted_of(&plan), &plan.hash)
    );
    assert_ne!(sim(QUEUES, &[]).hash, plan.hash);
    for (lines, wrong) in [
        (
            "windows.h1 = \"1s..1s\"",
            "windows.h1 = \"1s..1s\": it is over before it begins; write for instance \"0s..25s\"",
        ),
        (
            "windows.h1 = 3",
            "windows.h1 = 3: write a part of the trial, for instance \"0s..25s\"",
        ),
        (
            "windows.h1 = \"1s..3s\"",
            "windows.h1 = \"1s..3s\": traffic.duration ends at 2s, before it; write a longer duration",
        ),
        (
            "series.interval = \"1us\"",
            "series.interval = \"1us\": write a longer time: traffic.duration = 2s may have at most 10000 intervals",
        ),
    ] {
        let line = format!("experiments/x.toml:27: links.sender-receiver.{wrong}");
        rejected(&counted(lines), &[], &line);
    }
    let dumbbell = text.replace("[links.sender-receiver]", "[links.access]");
    rejected(
        &dumbbell,
        &["network.shape=dumbbell"],
        "experiments/x.toml:27: links.access.windows = { h1 = \"0s..1s\", h2 = \"1s .. 2s\" }: this name stands for several links; write shape = \"explicit\" to count one of them",
    );
    let transfer = "[links.sender-receiver.series]\ninterval = \"1ms\"\n";
    check_rejected(
        &format!("{SMALL}{transfer}"),
        &[],
        "experiments/x.toml:12: links.sender-receiver.series = { interval = \"1ms\" }: only links of the backend `sim` are counted: --on sim",
    );
}

#[test]
fn an_experiment_says_which_backend_it_is_for() {
    let backend = |text: &str| Experiment::parse(text, "x").unwrap().backend();
    assert_eq!(backend(QUEUES).unwrap(), Some(Backend::Sim));
    assert_eq!(backend(SMALL).unwrap(), None);
    let wrong = backend(&QUEUES.replace("backend = \"sim\"", "backend = \"moon\"")).unwrap_err();
    assert!(
        format!("{wrong}").starts_with("x:3: backend = \"moon\": there is no backend `moon`"),
        "{wrong}"
    );
}
