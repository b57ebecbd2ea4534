//! Arbitrary text and arguments never panic, and plans survive the round trip
//! through their text.

use proptest::prelude::*;

use super::*;

/// Lines of experiments, valid and invalid.
fn lines() -> impl Strategy<Value = String> {
    let keys = prop::sample::select(vec![
        "format",
        "name",
        "mtu",
        "rate",
        "ip",
        "factor",
        "baseline",
        "repeat",
        "metric",
        "values",
        "network.mtu",
        "\"network.mtu\"",
        "copy",
        "a.b",
        "shape",
        "message",
        "link",
        "compare",
    ]);
    let tables = prop::sample::select(vec![
        "[network]",
        "[sweep]",
        "[aliases]",
        "[trials]",
        "[compare]",
        "[[published]]",
        "[links.x]",
        "[host]",
        "[traffic]",
        "[run]",
        "[sweep.network]",
        "[published]",
    ]);
    prop_oneof![
        (keys, values()).prop_map(|(key, value)| format!("{key} = {value}")),
        tables.prop_map(str::to_owned),
        ".{0,12}",
    ]
}

fn values() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_map(|number| format!("{number:e}")),
        (0_u32..100_000).prop_map(|number| number.to_string()),
        ".{0,12}".prop_map(|text| format!("{text:?}")),
        prop::sample::select(vec![
            "[]",
            "[1500, 9000]",
            "{}",
            "{ a = 1 }",
            "true",
            "1979-05-27",
            "\"mtu-72\"",
            "\"none\"",
            "\"mtu\"",
            "\"network.mtu\"",
            "[[1], [2]]",
            "nan",
            "\"1gbit\"",
            "mtu-4294967296",
            "[1,",
        ])
        .prop_map(str::to_owned),
    ]
}

fn arguments() -> impl Strategy<Value = String> {
    let keys = prop::sample::select(vec![
        "mtu",
        "rate",
        "seeds",
        "network",
        "network.mtu",
        "sweep.mtu",
        "sweep",
        "links",
        "compare",
        "aliases.x",
        "published",
        "message",
        "links.sender-receiver.burst",
        "format",
        "host.offloads",
    ]);
    prop_oneof![
        (keys, prop::collection::vec(values(), 1..4))
            .prop_map(|(key, values)| format!("{key}={}", values.join(","))),
        ".{0,24}",
        "[a-z.\"]{0,8}=.{0,12}",
    ]
}

/// Plans if possible. A plan must survive the round trip through its text, and
/// an error must be one line.
fn check_never_panics(text: &str, arguments: &[String]) {
    let sets: Vec<_> = arguments.iter().map(String::as_str).collect();
    match planned(text, &sets) {
        Ok(plan) => check_round_trip(&plan),
        Err(error) => {
            let line = format!("{error:#}");
            assert!(!line.contains(char::is_control), "{line:?}");
        }
    }
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in ".{0,200}") {
        check_never_panics(&text, &[]);
    }

    #[test]
    fn arbitrary_lines_never_panic(
        extra in prop::collection::vec(lines(), 0..8),
        arguments in prop::collection::vec(arguments(), 0..2),
    ) {
        check_never_panics(&format!("{SMALL}{}", extra.join("\n")), &arguments);
    }

    #[test]
    fn arbitrary_arguments_never_panic(arguments in prop::collection::vec(arguments(), 0..4)) {
        check_never_panics(SMALL, &arguments);
    }

    #[test]
    fn what_is_planned_comes_back_from_its_own_text(
        mtus in prop::collection::vec(1280_u32..=65_535, 1..4),
        rate in 1_u64..u64::MAX,
        size in 28_u64..u64::MAX,
        // A message has 56 bytes or more.
        below in 0_u32..=1280 - 56,
    ) {
        let mtus: Vec<_> = mtus.iter().map(u32::to_string).collect();
        let plan = plan(SMALL, &[
            &format!("mtu={}", mtus.join(",")),
            &format!("rate={rate}bit"),
            &format!("traffic.size={size}B"),
            &format!("message=mtu-{below}"),
        ]);
        check_round_trip(&plan);
    }
}
