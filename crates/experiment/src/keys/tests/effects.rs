//! The table of keys states all that an experiment does outside of a run.

use super::*;
use keyfile::{Node, Origin};
use plan::SideEffect;

use crate::cell;
use crate::distribution_files::DistributionFiles;

/// A text that no list of words and no distribution has.
const FREE: &str = "zq /x";

/// Values of keys that have an effect.
const VALUES: [&str; 7] = [FREE, "interface", "off", "64", "true", "192.0.2.7", "20us"];

/// A key whose text reports print, and no more.
const PRINTED: &str = "fitted_to";

/// Hosts of the backend `hosts`.
const HOSTS: &str = "
[hosts.sender]
destination = \"a\"
[hosts.receiver]
destination = \"b\"
";

/// A flow with all keys that may name a file.
const FLOWS: &str = "
[traffic]
kind = \"flows\"
[flows]
f = { gap = \"1ms\", on = \"1ms\", off = \"1ms\" }
";

/// Programs of the user.
const COMMAND: &str = "
[traffic]
kind = \"command\"
sender = \"true\"
read.loss = \"/loss\"
";

fn side_effects(experiment: &Experiment, backend: Backend, set: &str) -> BTreeSet<SideEffect> {
    let mut experiment = experiment.clone();
    let plan = match experiment.set(set) {
        Ok(()) => experiment.clone().plan(backend, |_| Ok(())),
        Err(error) => Err(error),
    };
    let named = experiment.named_hosts(&[]);
    let of_plan = plan.into_iter().flat_map(|plan| plan.side_effects);
    let of_hosts = named.into_iter().flat_map(|named| named.side_effects);
    of_plan.chain(of_hosts).collect()
}

#[test]
fn every_key_with_an_effect_is_listed_with_its_value() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("values");
    std::fs::write(&file, "600\n").unwrap();
    let file = format!("file:{}", file.display());
    let experiments = [
        (HOSTS, Backend::Hosts),
        (FLOWS, Backend::Sim),
        (COMMAND, Backend::Netns),
    ];
    let experiments = experiments.map(|(text, backend)| {
        let text = format!("{BARE}{text}");
        (Experiment::parse(&text, "x.toml").unwrap(), backend)
    });
    let all = sections().flat_map(|section| section.keys.iter().map(move |key| (section, key)));
    let mut listed = 0;
    for (section, key) in all.filter(|(_, key)| key.effect != Effect::None) {
        let is_listed = |experiment: &Experiment, backend, path: &str| {
            let path = path.replace("ROLE", "sender");
            let mut values = VALUES.iter().copied().chain([&*file]);
            values.any(|value| {
                let found = side_effects(experiment, backend, &format!("{path}={value}"));
                let is_it = |effect: &SideEffect| effect.key == path && effect.value == value;
                found.iter().any(is_it)
            })
        };
        let found = match section.tables[0].starts_with("hosts") {
            true => {
                let path = joined(section.tables[0], key.name);
                experiments
                    .iter()
                    .any(|(experiment, backend)| is_listed(experiment, *backend, &path))
            }
            false => somewhere(&experiments, section, key, is_listed),
        };
        assert!(found, "{:?} {}", section.tables, key.name);
        listed += 1;
    }
    assert!(listed > 15, "{listed}");
}

#[test]
fn a_key_without_an_effect_takes_no_text_as_it_is() {
    let mut experiments = experiments();
    // Those of queues behind have keys of numbers and words alone.
    experiments.retain(|(_, backend)| *backend != Backend::Model);
    experiments.truncate(OTHERS.len());
    let silent = of_cells().filter(|(_, key)| key.effect == Effect::None);
    for (section, key) in silent.filter(|(_, key)| key.name != PRINTED) {
        let takes = |experiment: &Experiment, backend, path: &str| {
            let mut tree = experiment.tree.only(|key| cell_roots().contains(&key));
            let free = Node {
                value: FREE.into(),
                origin: Origin::Default,
            };
            let path = KeyPath::parse(path).unwrap();
            tree.put(&path.0, free).is_ok_and(|()| {
                let files = DistributionFiles::default();
                let cell = cell::read(&tree, &experiment.place, backend, |_| Ok(()), &files);
                cell.is_ok_and(|cell| format!("{:?}", cell.setting).contains(FREE))
            })
        };
        let takes = somewhere(&experiments, section, key, takes);
        assert!(!takes, "{:?} {}", section.tables, key.name);
    }
    let of_hosts = named_hosts::SECTIONS
        .iter()
        .flat_map(|section| section.keys);
    for key in of_hosts {
        assert!(key.effect != Effect::None, "{}", key.name);
    }
}

#[test]
fn files_inside_the_folder_and_values_that_change_nothing_have_no_effect() {
    let backend = Backend::Hosts;
    let (experiment, _) = &experiments()[1];
    let found = |set: &str| side_effects(experiment, backend, set);
    let keys = |set: &str| {
        found(set)
            .into_iter()
            .map(|effect| effect.key)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        keys("network.mtu_method=interface"),
        ["network.mtu_method", "host.offloads"]
    );
    assert_eq!(keys("network.mtu_method=mss"), ["host.offloads"]);
    assert_eq!(keys("host.receive_ring=64").len(), 3);
    assert!(
        found("host.offloads=off")
            .iter()
            .any(|effect| effect.is_option)
    );
    for (text, outside) in [
        ("file:gaps.txt", false),
        ("file:./seen/gaps.txt", false),
        ("file: ../gaps.txt", true),
        ("file:a/../../gaps.txt", true),
        (" file :/etc/passwd", true),
        ("exponential:1ms", false),
    ] {
        assert_eq!(
            crate::values_file::leaves_its_folder(text),
            outside,
            "{text}"
        );
    }
}
