//! Experiments of any content are planned or rejected in one line, in every backend, and what
//! is planned comes back from its own text.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;

/// Experiments of all kinds; their backends are forgotten.
static BASES: LazyLock<Vec<Experiment>> = LazyLock::new(|| {
    experiments()
        .into_iter()
        .map(|(experiment, _)| experiment)
        .collect()
});

const VALUES: &[&str] = &[
    "0",
    "-1",
    "1",
    "2",
    "3",
    "17",
    "0.5",
    "1e308",
    "1e-308",
    "nan",
    "inf",
    "1e400",
    "9223372036854775807",
    "-9223372036854775808",
    "4294967296",
    "65535",
    "65536",
    "1280",
    "68",
    "100000",
    "0s",
    "1ns",
    "1ps",
    "1e9s",
    "999999h",
    "-1s",
    "20ms",
    "0B",
    "1B",
    "16MiB",
    "1e30GB",
    "40kB",
    "0mbit",
    "1bit",
    "1e300gbit",
    "100mbit",
    "none",
    "auto",
    "any",
    "0%",
    "30%",
    "100%",
    "101%",
    "-5%",
    "1e-320%",
    "5 packets",
    "0 packets",
    "99999999999 packets",
    "mtu",
    "mtu-72",
    "mtu-9999",
    "constant:0s",
    "exponential:0s",
    "exponential:1ms",
    "normal:1us,1e30s",
    "uniform:2s,1s",
    "pareto:0.05,1ns",
    "cauchy:1us,1s",
    "weibull:0.05,1s",
    "poisson:1s,1ps",
    "file:/dev/null",
    "0s..0s",
    "5s..1s",
    "0s..1e9s",
    "0s..100ms",
    "on",
    "off",
    "true",
    "tcp",
    "udp",
    "flows",
    "transfer",
    "command",
    "probe",
    "request-response",
    "latency-breakdown",
    "pair",
    "routed",
    "switched",
    "chain",
    "dumbbell",
    "explicit",
    "emulated",
    "kernel",
    "mixed",
    "red",
    "mred",
    "codel",
    "fq",
    "4",
    "6",
    "1500,9000",
    "1280,1280",
    "1500,none",
    "[]",
    "{}",
    "[[1]]",
    "[\"a\"]",
    "{ a = 1 }",
    "",
    "\u{202e}",
    "a b",
    "../x",
    "\u{2603}",
    "each >= 1",
    "ci <= 0%",
    "2019-01-01",
];

/// A change: a row of the table of keys, one of its places, and its value.
fn change() -> impl Strategy<Value = (prop::sample::Index, prop::sample::Index, String)> {
    let value = prop_oneof![
        8 => prop::sample::select(VALUES).prop_map(str::to_owned),
        1 => any::<f64>().prop_map(|number| format!("{number:e}")),
        1 => any::<i64>().prop_map(|number| number.to_string()),
    ];
    (
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        value,
    )
}

proptest! {
    #[test]
    fn an_experiment_is_planned_or_rejected(
        base in any::<prop::sample::Index>(),
        backend in prop::sample::select(Backend::ALL.to_vec()),
        changes in prop::collection::vec(change(), 1..5),
    ) {
        let mut experiment = BASES[base.index(BASES.len())].clone();
        let rows: Vec<_> = sections()
            .flat_map(|section| section.keys.iter().map(move |key| (section, key)))
            .collect();
        let one_line = |error: &anyhow::Error| !format!("{error:#}").contains(char::is_control);
        for (row, place, value) in changes {
            let (section, key) = rows[row.index(rows.len())];
            let paths = paths(&experiment, section, key);
            if paths.is_empty() {
                continue;
            }
            let path = &paths[place.index(paths.len())];
            // What was rejected is not set, or in part.
            if let Err(error) = experiment.set(&format!("{path}={value}")) {
                prop_assert!(one_line(&error), "{error:#}");
            }
        }
        match experiment.plan(backend, |_| Ok(())) {
            Err(error) => prop_assert!(one_line(&error), "{error:#}"),
            Ok(plan) => {
                let again = Experiment::parse(&plan.text, "plan.toml")
                    .and_then(|experiment| experiment.plan(backend, |_| Ok(())));
                let again = again.map_err(|error| format!("{error:#}\n{}", plan.text)).unwrap();
                prop_assert_eq!(&again.text, &plan.text);
                prop_assert_eq!(again.hash, plan.hash);
                prop_assert_eq!(again.side_effects.len(), plan.side_effects.len());
            }
        }
    }
}
