//! The table of keys agrees with the program, and the pages of docs/reference with the
//! table.

mod effects;
mod fuzz;

use std::collections::BTreeSet;

use keyfile::KeyPath;
use plan::{Backend, Plan};

use super::index::{is_any, joined};
use super::table::{of_cell, sections};
use super::*;
use crate::aliases::Aliases;
use crate::reader::UNUSED;
use crate::{Experiment, TEMPLATE};

/// The minimum of every experiment.
const BARE: &str = "\
format = 1
name = \"bare\"
[sweep]
\"host.congestion\" = [\"cubic\"]
";

/// Additional content with the backend that runs it: all kinds of traffic, and
/// prerequisites of some keys.
const OTHERS: [(&str, Backend); 19] = [
    ("", Backend::Netns),
    ("", Backend::Hosts),
    (
        "traffic.kind = \"flows\"\nflows.f = { protocol = \"tcp\" }",
        Backend::Hosts,
    ),
    ("", Backend::Sim),
    ("network.load = \"30%\"", Backend::Sim),
    ("network.medium = \"cat5e\"", Backend::Sim),
    ("network.link = \"emulated\"", Backend::Netns),
    ("traffic.kind = \"request-response\"", Backend::Netns),
    ("traffic.kind = \"request-response\"", Backend::Sim),
    ("traffic.kind = \"latency-breakdown\"", Backend::Netns),
    ("traffic.kind = \"probe\"", Backend::Sim),
    (
        "[traffic]\nkind = \"command\"\nsender = \"true\"\nread.loss = \"/loss\"",
        Backend::Netns,
    ),
    (
        "traffic.kind = \"flows\"\nflows.f.load = \"30%\"",
        Backend::Netns,
    ),
    (
        "traffic.kind = \"flows\"\nflows.f = { protocol = \"tcp\" }",
        Backend::Netns,
    ),
    (
        "traffic.kind = \"flows\"\nflows.f = { protocol = \"tcp\" }",
        Backend::Sim,
    ),
    (
        "traffic.kind = \"flows\"\nflows.f.gap = \"1ms\"\nnetwork.shape = \"dumbbell\"",
        Backend::Sim,
    ),
    (
        "traffic.kind = \"flows\"\nflows.f.gap = \"1ms\"\nlinks.sender-receiver.losses.window = \"0s..1s\"",
        Backend::Sim,
    ),
    (
        "[network]\nqueue = \"mred\"\nmred.notify = \"on\"",
        Backend::Sim,
    ),
    (
        "network.shape = \"explicit\"
nodes.a = { role = \"host\", address = \"2001:db8:1::1\" }
nodes.in.role = \"router\"
nodes.out.role = \"router\"
nodes.b = { role = \"host\", address = \"2001:db8:2::1\" }
links.a-in.ends = [\"a\", \"in\"]
links.core = { ends = [\"in\", \"out\"], mtu = 9000 }
links.out-b.ends = [\"out\", \"b\"]
domain.edges = [\"in\", \"out\"]
domain.routes.east = { prefix = \"2001:db8:2::/48\", egress = \"out\" }
traffic.kind = \"flows\"
flows.f = { from = \"a\", to = \"b\", message_distribution = \"constant\", load = \"50%\" }",
        Backend::Sim,
    ),
];

/// Those experiments, and one for each queue; what is simulated is predicted as well.
fn experiments() -> Vec<(Experiment, Backend)> {
    let queues = queue::SECTIONS.iter().map(|section| {
        let queue = section.tables[0].replace("network.", "");
        (format!("network.queue = \"{queue}\""), Backend::Sim)
    });
    let others = OTHERS
        .iter()
        .map(|(text, backend)| ((*text).to_owned(), *backend));
    let parsed = others.chain(queues).map(|(text, backend)| {
        // Dotted keys stand before the first table.
        let text = match text.starts_with('[') {
            true => format!("{BARE}{text}"),
            false => BARE.replace("[sweep]", &format!("{text}\n[sweep]")),
        };
        (
            Experiment::parse(&text, "experiments/x.toml").unwrap(),
            backend,
        )
    });
    let backends = |(experiment, backend): (Experiment, Backend)| {
        let predicted = (backend == Backend::Sim).then(|| (experiment.clone(), Backend::Model));
        [(experiment, backend)].into_iter().chain(predicted)
    };
    parsed.flat_map(backends).collect()
}

/// The paths of a key in `experiment`, with existing names for placeholders.
fn paths(experiment: &Experiment, section: &Section, key: &Key) -> Vec<String> {
    let named = |table: &str| -> Option<String> {
        let (name, _) = experiment.tree.table(table)?.iter().next()?;
        Some(name.to_owned())
    };
    let name = |before: &str| match before {
        "links" => named("links").or_else(|| Some("sender-receiver".to_owned())),
        "nodes" | "flows" => named(before),
        "routes" => Some("east".to_owned()),
        _ => Some("throughput".to_owned()),
    };
    let path = |table: &&str| {
        let mut parts: Vec<String> = Vec::new();
        for part in joined(table, key.name).split('.') {
            let before = parts.last().map_or("", String::as_str);
            parts.push(match is_any(part) {
                true => name(before)?,
                false => part.to_owned(),
            });
        }
        Some(parts.join("."))
    };
    let kind = experiment.tree.at(&["traffic".into(), "kind".into()]);
    let kind = kind.map_or_else(|| "\"transfer\"".to_owned(), |kind| kind.value.to_string());
    let of_kind = |word: &&str| kind == format!("\"{word}\"");
    match section.kinds.is_empty() || section.kinds.iter().any(of_kind) {
        true => section.tables.iter().filter_map(path).collect(),
        false => Vec::new(),
    }
}

/// The plan of `experiment` after `--set`.
fn planned(experiment: &Experiment, backend: Backend, set: &str) -> Result<Plan, String> {
    let mut experiment = experiment.clone();
    let set = experiment.set(set);
    set.and_then(|()| experiment.plan(backend, |_| Ok(())))
        .map_err(|error| format!("{error:#}"))
}

/// Whether something holds for a row of a cell in any experiment, backend and
/// place.
fn somewhere(
    experiments: &[(Experiment, Backend)],
    section: &Section,
    key: &Key,
    holds: impl Fn(&Experiment, Backend, &str) -> bool,
) -> bool {
    experiments.iter().any(|(experiment, backend)| {
        let paths = paths(experiment, section, key);
        paths.iter().any(|path| holds(experiment, *backend, path))
    })
}

/// The rows of cells.
fn of_cells() -> impl Iterator<Item = (&'static Section, &'static Key)> {
    let sections = of_cell().into_iter().flatten();
    sections.flat_map(|section| section.keys.iter().map(move |key| (section, key)))
}

#[test]
fn the_pages_have_the_tables_of_the_keys() {
    let written = [
        include_str!("../../../../docs/reference/keys.md"),
        include_str!("../../../../docs/reference/support.md"),
    ];
    let changes = [
        ("| `\"1gbit\"` |", "| `\"2gbit\"` |"),
        ("only `pair` (", "only `chain` ("),
    ];
    for (((name, printed), page), (from, to)) in PAGES.into_iter().zip(written).zip(changes) {
        assert!(
            printed(page) == page,
            "docs/reference/{name} has another table; print it anew: cargo run -p jumbolab-experiment --example keys"
        );
        let other = page.replace(from, to);
        assert_ne!(other, page);
        assert_eq!(printed(&other), page);
    }
}

#[test]
fn no_key_has_two_rows_for_one_kind_of_traffic() {
    let mut seen = BTreeSet::new();
    for section in sections() {
        let kinds = match section.kinds {
            [] => &[
                "transfer",
                "command",
                "flows",
                "latency-breakdown",
                "request-response",
                "probe",
            ],
            kinds => kinds,
        };
        for (table, key) in section
            .tables
            .iter()
            .flat_map(|table| section.keys.iter().map(move |key| (table, key)))
        {
            for kind in kinds {
                let path = joined(table, key.name);
                assert!(seen.insert((path.clone(), kind)), "{path} of {kind}");
            }
        }
    }
}

#[test]
fn every_row_of_a_cell_is_read_in_some_experiment() {
    // The error for a key that nothing reads.
    let unread = ["has this key", "has this table", "unknown key", UNUSED];
    let experiments = experiments();
    for (section, key) in of_cells() {
        let read = |experiment: &Experiment, backend, path: &str| match planned(
            experiment,
            backend,
            &format!("{path}=\"?\""),
        ) {
            Ok(_) => true,
            Err(why) => why.contains(path) && !unread.iter().any(|part| why.contains(part)),
        };
        let read = somewhere(&experiments, section, key, read);
        assert!(read, "{:?} {}", section.tables, key.name);
    }
}

#[test]
fn a_default_that_is_written_changes_nothing() {
    let mut untried = Vec::new();
    let experiments = experiments();
    for (section, key) in of_cells() {
        let Some(value) = key.default.value() else {
            continue;
        };
        let same = |experiment: &Experiment, backend, path: &str| {
            let aliases = Aliases::read(&experiment.tree, &experiment.place).unwrap();
            let is_set = |path: &String| {
                let path = KeyPath::parse(path).unwrap();
                let swept = experiment.swept_at(&aliases, &path);
                swept.is_some() || experiment.tree.at(&path.0).is_some()
            };
            if paths(experiment, section, key).iter().any(is_set) {
                return false;
            }
            let Ok(plan) = planned(experiment, backend, &format!("{path}={value}")) else {
                return false;
            };
            let usual = planned(experiment, backend, "trials.seed=1").unwrap();
            let settings = |plan: Plan| plan.cells.into_iter().map(|cell| cell.setting);
            assert!(
                settings(plan).eq(settings(usual)),
                "{path} = {value} in {backend}"
            );
            true
        };
        let same = somewhere(&experiments, section, key, same);
        let rejected = Backend::ALL.iter().all(|backend| {
            let takes = key.backends.support(*backend).takes;
            !matches!(
                takes,
                KeySupport::Any | KeySupport::Only(..) | KeySupport::AllBut(_)
            )
        });
        if !(same || rejected) {
            untried.push(format!("{} of {:?}", key.name, section.tables));
        }
    }
    assert_eq!(untried, Vec::<String>::new());
}

#[test]
fn a_backend_rejects_what_its_rows_say_and_for_their_reason() {
    let experiments = experiments();
    for (section, key) in of_cells() {
        for backend in Backend::ALL {
            let rejected: &[(&str, &str)] = match key.backends.support(*backend).takes {
                KeySupport::Nothing(why) => &[("?", why)],
                KeySupport::AllBut(rejected) => rejected,
                KeySupport::Any
                | KeySupport::NoEffect(_)
                | KeySupport::Only(..)
                | KeySupport::Measured(..) => &[],
            };
            for (value, reason) in rejected {
                let is_rejected = |experiment: &Experiment, of: Backend, path: &str| {
                    let plan = planned(experiment, of, &format!("{path}=\"{value}\""));
                    of == *backend && plan.is_err_and(|why| why.ends_with(reason))
                };
                let is_rejected = somewhere(&experiments, section, key, is_rejected);
                assert!(
                    is_rejected,
                    "{:?} {} = {value} in {backend}",
                    section.tables, key.name
                );
            }
        }
    }
}

/// Tables for which the template shows all keys of transfers.
const OF_TEMPLATE: [&str; 4] = ["network", "host", "traffic", "trials"];

#[test]
fn the_template_has_the_keys_of_transfers_with_their_defaults_and_no_others() {
    let template = Experiment::parse(TEMPLATE, "template").unwrap().tree;
    assert!(unknown(&template).is_none());
    let sections = sections().filter(|section| {
        let of_transfers = section.kinds.is_empty() || section.kinds.contains(&"transfer");
        of_transfers && OF_TEMPLATE.contains(&section.tables[0])
    });
    for (section, key) in
        sections.flat_map(|section| section.keys.iter().map(move |key| (section, key)))
    {
        let path = KeyPath(vec![section.tables[0].to_owned(), key.name.to_owned()]);
        let Some(shown) = template.at(&path.0) else {
            let commented = format!("\n# {} = ", key.name);
            assert!(TEMPLATE.contains(&commented), "{path} is missing");
            continue;
        };
        let usual = match key.default {
            // Beside the words of a default that follows from other keys.
            DefaultValue::Follows(words) => words.split('`').nth(1).map(str::to_owned),
            usual => usual.value().map(|value| value.to_string()),
        };
        let shown = shown.value.to_string();
        let shown = shown.strip_suffix(".0").unwrap_or(&shown);
        assert_eq!(Some(shown), usual.as_deref(), "{path}");
    }
}
