//! Retired names of experiments, keys and values, with their current names.

use std::borrow::Cow;

use super::on;
use super::tree::{Node, Origin, Table, Value, one_line};

/// Retired and current names of shipped experiments.
const EXPERIMENTS: [(&str, &str); 1] = [("mechanisms", "latency-breakdown")];

/// Retired and current values of [`KEY`].
const KINDS: [(&str, &str); 2] = [
    ("mechanisms", "latency-breakdown"),
    ("exchange", "request-response"),
];
const KEY: [&str; 2] = ["traffic", "kind"];

/// Retired and current names of keys, by table.
const KEYS: [(&str, &str, &str); 3] = [
    ("traffic", "taking", "read_mode"),
    ("traffic", "writing", "write_mode"),
    ("traffic", "again", "retransmit_after"),
];

/// The current name of the dotted key `text`, and a notice if `text` is
/// retired.
pub(super) fn key<'a>(text: &'a str, origin: &Origin) -> (Cow<'a, str>, Option<String>) {
    match present(text) {
        Some(present) => {
            let notice = one_line(&format!("{origin}: {text} is now written {present}"));
            (present.into(), Some(notice))
        }
        None => (text.into(), None),
    }
}

fn present(text: &str) -> Option<String> {
    KEYS.iter().find_map(|(table, former, present)| {
        (text.split_once('.')? == (table, former)).then(|| format!("{table}.{present}"))
    })
}

/// Replaces retired key names everywhere in `tree`: in tables, in dotted keys
/// of sweeps and choices, and as targets of aliases. Returns one notice for
/// each.
pub(super) fn replace_keys(tree: &mut Table) -> Vec<String> {
    let mut notices = Vec::new();
    replace_in(tree, None, &mut notices);
    notices
}

fn replace_in(table: &mut Table, name: Option<&str>, notices: &mut Vec<String>) {
    let taken: Vec<String> = table.iter().map(|(name, _)| name.to_owned()).collect();
    for (name_of, node) in table.iter_mut() {
        let in_table = KEYS
            .iter()
            .find(|(table, former, _)| Some(*table) == name && former == name_of)
            .map(|(_, former, present)| ((*former).to_owned(), (*present).to_owned()));
        let dotted = || present(name_of).map(|present| (name_of.clone(), present));
        let renamed = in_table.or_else(dotted);
        // If both names are written, the retired one stays and is rejected as
        // unknown.
        if let Some((former, present)) = renamed.filter(|(_, now)| !taken.contains(now)) {
            let notice = format!("{}: {former} is now written {present}", node.origin);
            notices.push(one_line(&notice));
            *name_of = present;
        }
        match &mut node.value {
            Value::Table(inner) => replace_in(inner, Some(name_of.as_str()), notices),
            Value::Text(text) => {
                let (now, notice) = key(text, &node.origin);
                let now = now.into_owned();
                notices.extend(notice);
                *text = now;
            }
            _ => (),
        }
    }
}

/// The current name of the shipped experiment `name`, and a notice if `name` is
/// retired.
pub(super) fn experiment(name: &str) -> (&str, Option<String>) {
    match EXPERIMENTS.iter().find(|(former, _)| *former == name) {
        Some((former, present)) => (
            present,
            Some(format!(
                "the experiment `{former}` is now called `{present}`"
            )),
        ),
        None => (name, None),
    }
}

/// Replaces retired values in `tree`, including the tables of worlds, and
/// returns one notice for each.
pub(super) fn replace_values(tree: &mut Table) -> Vec<String> {
    let mut notices = Vec::new();
    let mut tables = vec![Vec::new()];
    let worlds = tree.table(on::ROOT).into_iter().flat_map(Table::iter);
    tables.extend(worlds.map(|(world, _)| vec![on::ROOT.to_owned(), world.to_owned()]));
    for mut path in tables {
        path.extend(KEY.map(str::to_owned));
        let Some(Node { value, origin }) = tree.at(&path) else {
            continue;
        };
        let Value::Text(text) = value else { continue };
        let Some((former, present)) = KINDS.iter().find(|(former, _)| former == text) else {
            continue;
        };
        let key = KEY.join(".");
        let notice = one_line(&format!(
            "{origin}: {key} = \"{former}\" is now written \"{present}\""
        ));
        let node = Node {
            value: Value::from(*present),
            origin: origin.clone(),
        };
        if tree.put(&path, node).is_ok() {
            notices.push(notice);
        }
    }
    notices
}

#[cfg(test)]
mod tests {
    use plan::World;

    use crate::Experiment;

    const TEXT: &str = "\
format = 1
name = \"x\"
[traffic]
kind = \"mechanisms\"
[sweep]
\"network.mtu\" = [1500]
";

    fn canonical(experiment: Experiment) -> String {
        let plan = experiment.plan(World::Netns, |_| Ok(()));
        plan.unwrap().text
    }

    #[test]
    fn a_former_value_means_the_present_one_and_is_noticed_once() {
        let present = TEXT.replace("mechanisms", "latency-breakdown");
        let mut former = Experiment::parse(TEXT, "x.toml").unwrap();
        former.set("mtu=9000").unwrap_err();
        former.set("trials.repeat=2").unwrap();
        assert_eq!(
            former.notices(),
            ["x.toml:4: traffic.kind = \"mechanisms\" is now written \"latency-breakdown\""]
        );
        let mut expected = Experiment::parse(&present, "x.toml").unwrap();
        assert!(expected.notices().is_empty());
        expected.set("trials.repeat=2").unwrap();
        assert_eq!(canonical(former), canonical(expected));
    }

    #[test]
    fn former_values_are_read_from_arguments_and_in_tables_of_worlds() {
        let text = TEXT.replace("\"mechanisms\"", "\"transfer\"");
        let mut set = Experiment::parse(&text, "x.toml").unwrap();
        set.set("traffic.kind=mechanisms").unwrap();
        assert_eq!(
            set.notices(),
            [
                "--set traffic.kind=mechanisms: traffic.kind = \"mechanisms\" is now written \"latency-breakdown\""
            ]
        );
        let text = format!("{text}[on.netns.traffic]\nkind = \"mechanisms\"\n");
        let in_world = Experiment::parse(&text, "x.toml").unwrap();
        assert_eq!(in_world.notices().len(), 1);
        assert!(canonical(in_world).contains("kind = \"latency-breakdown\""));
    }

    #[test]
    fn former_keys_mean_the_present_ones_wherever_a_key_is_named() {
        let present = "\
format = 1
name = \"x\"
[aliases]
wait = \"traffic.retransmit_after\"
[traffic]
kind = \"request-response\"
protocol = \"tcp\"
write_mode = \"parts\"
[sweep]
\"traffic.read_mode\" = [\"whole\", \"once\"]
";
        let text = present
            .replace("retransmit_after", "again")
            .replace("write_mode", "writing")
            .replace("read_mode", "taking");
        let mut former = Experiment::parse(&text, "x.toml").unwrap();
        former.set("traffic.again=5ms").unwrap();
        assert_eq!(
            former.notices(),
            [
                "x.toml:4: traffic.again is now written traffic.retransmit_after",
                "x.toml:8: writing is now written write_mode",
                "x.toml:10: traffic.taking is now written traffic.read_mode",
                "--set traffic.again=5ms: traffic.again is now written traffic.retransmit_after",
            ]
        );
        let mut expected = Experiment::parse(present, "x.toml").unwrap();
        expected.set("wait=5ms").unwrap();
        assert!(expected.notices().is_empty());
        assert_eq!(canonical(former), canonical(expected));
    }

    #[test]
    fn a_former_name_finds_the_shipped_experiment() {
        let former = Experiment::load("mechanisms").unwrap();
        assert_eq!(
            former.notices(),
            ["the experiment `mechanisms` is now called `latency-breakdown`"]
        );
        let present = Experiment::load("latency-breakdown").unwrap();
        assert!(present.notices().is_empty());
        assert_eq!(canonical(former), canonical(present));
    }
}
