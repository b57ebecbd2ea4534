//! Names that experiments used to have, and what they are called now.

use super::on;
use super::tree::{Node, Table, Value, one_line};

/// Former and present names of shipped experiments.
const EXPERIMENTS: [(&str, &str); 1] = [("mechanisms", "latency-breakdown")];

/// Former and present values of [`KEY`].
const KINDS: [(&str, &str); 1] = [("mechanisms", "latency-breakdown")];
const KEY: [&str; 2] = ["traffic", "kind"];

/// The present name of the shipped experiment `name`, and a notice if `name`
/// is a former one.
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

/// Replaces former values in `tree`, in the tables of worlds too, and returns
/// one notice for each.
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
