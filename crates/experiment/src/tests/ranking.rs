//! `[ranking]`.

use super::simulated::{refused, sim};

const RANKED: &str = "format = 1
name = \"ranked\"
world = \"sim\"
[sweep]
mtu = [1500, 9000]
[aliases]
mtu = \"network.mtu\"
[ranking]
text = \"what was printed\"
source = \"[Key s1]\"
ways = [\"mean\", \"tail\"]
[[ranking.figure]]
metrics = [\"rtt\", \"delay\"]
value = 8
gap = -0.5
[[ranking.figure]]
metrics = [\"throughput\"]
value = 90.2
gap = 1.5
";

#[test]
fn a_ranking_is_read_and_written_into_the_plan() {
    let plan = sim(RANKED, &[]);
    let ranking = plan.ranking.clone().unwrap();
    assert_eq!(ranking.countings, ["mean", "tail"]);
    let [first, second] = &ranking.figures[..] else {
        panic!("{ranking:?}")
    };
    assert_eq!(first.metrics, ["rtt", "delay"]);
    assert_eq!((first.unit, first.value, first.gap), ("ms", 8.0, -0.5));
    // A figure of one counting has a metric in all of them.
    assert_eq!(second.metrics, ["throughput", "throughput"]);
    let again = sim(&plan.text, &[]);
    assert_eq!((&again.ranking, &again.hash), (&plan.ranking, &plan.hash));
    let other = sim(&RANKED.replace("90.2", "90.3"), &[]);
    assert_ne!(other.hash, plan.hash);
    let (head, _) = RANKED.split_once("[ranking]").unwrap();
    assert_eq!(sim(head, &[]).ranking, None);
}

#[test]
fn metrics_that_count_are_named_in_order_and_written_into_the_plan() {
    let (head, _) = RANKED.split_once("[ranking]").unwrap();
    let with = |names: &str| format!("{head}[compare]\nmetrics = {names}\n");
    let plan = sim(&with("[\"loss\", \"delay/small\"]"), &[]);
    assert_eq!(plan.leading, ["loss", "delay/small"]);
    let again = sim(&plan.text, &[]);
    assert_eq!((&again.leading, &again.hash), (&plan.leading, &plan.hash));
    assert_eq!(sim(head, &[]).leading, [""; 0]);
    refused(
        &with("[\"los\"]"),
        &[],
        "experiments/x.toml:9: compare.metrics = [\"los\"]: unknown metric los; did you mean `loss`?; docs/formats.md lists them",
    );
}

#[test]
fn a_ranking_that_cannot_be_is_refused_by_its_place() {
    for (from, to, line) in [
        (
            "text = \"what was printed\"\n",
            "",
            "1: ranking.text is missing; write for instance text = \"RED as it was printed\"",
        ),
        (
            "[\"throughput\"]",
            "[\"troughput\"]",
            "17: ranking.figure.metrics = [\"troughput\"]: unknown metric troughput; did you mean `throughput`?; docs/formats.md lists them",
        ),
        (
            "[\"rtt\", \"delay\"]",
            "[\"rtt\", \"delay\", \"rtt\"]",
            "13: ranking.figure.metrics = [\"rtt\", \"delay\", \"rtt\"]: name one metric, or one for each of the 2 of ranking.ways",
        ),
        (
            "[\"rtt\", \"delay\"]",
            "[\"rtt\", \"throughput\"]",
            "13: ranking.figure.metrics = [\"rtt\", \"throughput\"]: these have several units; one figure has one",
        ),
        (
            "ways =",
            "weighs =",
            "11: ranking.weighs = [\"mean\", \"tail\"]: unknown key",
        ),
        (
            "[\"mean\", \"tail\"]",
            "[\"mean\", \"mean\"]",
            "11: ranking.ways = [\"mean\", \"mean\"]: give each way of counting a name of its own",
        ),
        (
            "gap = 1.5",
            "gap = 0",
            "19: ranking.figure.gap = 0: distances are stated in gaps: write by how much the study holds two of its levels apart, above or below 0",
        ),
        (
            "gap = 1.5\n",
            "",
            "16: ranking.figure.gap is missing; write for instance gap = 1.5",
        ),
        (
            "value = 90.2",
            "value = \"90.2\"",
            "18: ranking.figure.value = \"90.2\": write a number, in the metric's unit",
        ),
        (
            "text =",
            "texts = \"\"\ntext =",
            "9: ranking.texts = \"\": unknown key; did you mean `ranking.text`?",
        ),
        (
            "gap = 1.5",
            "gap = 1.5\ncolour = 2",
            "20: ranking.figure.colour = 2: unknown key",
        ),
    ] {
        assert!(RANKED.contains(from), "{from}");
        let line = format!("experiments/x.toml:{line}");
        refused(&RANKED.replace(from, to), &[], &line);
    }
    let (head, _) = RANKED.split_once("[[ranking.figure]]").unwrap();
    refused(
        head,
        &[],
        "experiments/x.toml:1: ranking.figure is missing; write for instance [[ranking.figure]] metrics = [\"throughput\"] value = 90.2 gap = 1.5",
    );
    refused(
        &format!("{head}figure = 3\n"),
        &[],
        "experiments/x.toml:12: ranking.figure = 3: write [[ranking.figure]] above each of them",
    );
}
