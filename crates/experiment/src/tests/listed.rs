//! No setting of a paper's experiment is chosen silently.

use std::collections::BTreeSet;
use std::path::Path;

use super::*;
use crate::listed::{self, Listed};
use crate::{backend_overrides, sweep, unstated};

/// The papers whose experiments account for every key: those with claims, and [Floyd2001].
fn studies() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../claims");
    let files = std::fs::read_dir(folder).unwrap().flatten();
    let files = files.filter(|file| file.path().extension().is_some_and(|kind| kind == "toml"));
    let source = |file: std::fs::DirEntry| {
        let paper = std::fs::read_to_string(file.path()).unwrap();
        let paper: toml::Table = paper.parse().unwrap();
        paper["source"].as_str().unwrap().to_owned()
    };
    files.map(source).chain(["Floyd2001".to_owned()]).collect()
}

/// The disciplines by the names of their tables, as a plan names them.
const QUEUES: [(&str, &str); 4] = [
    ("droptail", "DropTail"),
    ("dropfront", "DropFront"),
    ("red", "Red("),
    ("mred", "Mred("),
];

/// Whether the key at `path` has an effect on a cell with this value, of an experiment
/// with this kind of traffic.
fn has_effect(path: &str, kind: &str, backend: Backend) -> bool {
    let key = keys::find(path).and_then(|node| node.key(Some(kind)));
    let takes = key.map(|key| key.backends.support(backend).takes);
    !matches!(
        takes,
        None | Some(keys::KeySupport::NoEffect(_) | keys::KeySupport::Nothing(_))
    )
}

/// Whether a key of the table of a discipline belongs to the queue of that link in some cell;
/// `None` of other keys.
fn of_queue(path: &str, cells: &[plan::Cell]) -> Option<bool> {
    let [root, link, table, _] = &*path.split('.').collect::<Vec<&str>>() else {
        return None;
    };
    let (_, shown) = QUEUES.iter().find(|(name, _)| name == table)?;
    let mut settings = cells.iter().filter_map(|cell| cell.setting.as_ref().ok());
    Some(
        *root == "links"
            && settings.any(|setting| {
                let mut links = setting.network.links.iter();
                links
                    .any(|own| own.name == *link && format!("{:?}", own.queue()).starts_with(shown))
            }),
    )
}

/// The keys with an effect on some cell of the experiment, and those of them that differ
/// between cells.
fn with_effect(experiment: &Experiment, backend: Backend) -> (BTreeSet<String>, BTreeSet<String>) {
    let tree = backend_overrides::applied(&experiment.tree, backend).unwrap();
    let body = tree.only(|key| keys::cell_roots().contains(&key));
    let aliases = Aliases::read(&tree, &experiment.place).unwrap();
    let kind = tree.at(&["traffic", "kind"].map(str::to_owned));
    let kind = match kind.map(|node| &node.value) {
        Some(Value::Text(kind)) => kind.as_str(),
        _ => "transfer",
    };
    let factors = || {
        let mut reader = Reader::new(&tree, "", experiment.place.clone()).in_backend(backend);
        sweep::factors(&mut reader, &aliases).unwrap()
    };
    let (mut found, mut varied) = (BTreeSet::new(), BTreeSet::new());
    // One factor at a time, for a product would have thousands of cells.
    for swept in 0..factors().len() {
        let mut factors = factors();
        for (place, factor) in factors.iter_mut().enumerate() {
            if place != swept {
                factor.levels.truncate(1);
            }
        }
        let read = sweep::cells(
            &body,
            &experiment.place,
            &factors,
            &aliases,
            backend,
            unchecked,
            &DistributionFiles::default(),
        );
        let (cells, sample, varying) = read.unwrap();
        let valued = sample.keys.iter().map(|(path, _)| path).chain(&varying);
        let valued = valued.filter(|path| of_queue(path, &cells).is_none());
        let of_queues = sample.asked.iter();
        let of_queues = of_queues.filter(|path| of_queue(path, &cells) == Some(true));
        let own = valued.chain(of_queues);
        found.extend(own.filter(|path| has_effect(path, kind, backend)).cloned());
        varied.extend(varying);
    }
    (found, varied)
}

/// An experiment of a paper: its keys with an effect where all unstated settings have their
/// first values or their last, those of them that it varies or searches, and its lists.
struct Accounts {
    asked: BTreeSet<String>,
    varied: BTreeSet<String>,
    lists: Vec<Listed>,
}

fn path_of(key: &str) -> KeyPath {
    KeyPath(key.split('.').map(str::to_owned).collect())
}

impl Accounts {
    fn of(experiment: &Experiment) -> Self {
        let backend = experiment.backend().unwrap().unwrap_or(Backend::Netns);
        let (mut asked, mut varied) = with_effect(experiment, backend);
        let aliases = Aliases::read(&experiment.tree, &experiment.place).unwrap();
        let mut reader = Reader::new(&experiment.tree, "", experiment.place.clone());
        let entries = unstated::entries(&mut reader, &aliases).unwrap();
        let scopes = [backend_overrides::Scope::Backend(backend)];
        let searched = unstated::described(&entries, &[], (&experiment.tree, &aliases, &scopes));
        let searched = searched.unwrap();
        let last: Vec<usize> = searched.iter().map(|one| one.values.len() - 1).collect();
        let other = experiment.with_unstated(&searched, &last).unwrap();
        let (more, varying) = with_effect(&other, backend);
        asked.extend(more);
        varied.extend(varying);
        for entry in entries {
            varied.extend(entry.written(&aliases).map(|path| path.to_string()));
        }
        Self {
            asked,
            varied,
            lists: listed::read(&mut reader).unwrap(),
        }
    }

    /// The keys in none of the three lists, those in two, and what is listed without effect.
    fn wrong(&self) -> Vec<String> {
        let keys = self.asked.iter().filter_map(|key| {
            let path = path_of(key);
            let lists = self.lists.iter().filter(|listed| listed.names(&path));
            match (lists.count(), self.varied.contains(key)) {
                (1, false) | (0, true) => None,
                (0, false) => Some(format!("{key} is in no list")),
                (lists, varied) => Some(format!("{key}: {lists} lists, varied: {varied}")),
            }
        });
        let has_effect =
            |listed: &&Listed| self.asked.iter().any(|key| listed.names(&path_of(key)));
        let idle = self.lists.iter().filter(|listed| !has_effect(listed));
        let idle = idle.map(|listed| format!("{listed:?} has no effect"));
        keys.chain(idle).collect()
    }
}

/// The experiments of papers.
fn of_papers() -> impl Iterator<Item = (&'static str, Accounts)> {
    let studies = studies();
    let all = shipped().map(|shipped| (shipped.name, Experiment::load(shipped.name).unwrap()));
    all.filter_map(move |(name, experiment)| {
        let source = experiment.tree.get("source").map(|node| &node.value);
        let is_of_paper =
            matches!(source, Some(Value::Text(source)) if studies.iter().any(|study| study == &**source));
        is_of_paper.then(|| (name, Accounts::of(&experiment)))
    })
}

#[test]
fn every_key_with_an_effect_on_a_paper_s_experiment_is_stated_searched_or_irrelevant() {
    let wrong = of_papers().flat_map(|(name, accounts)| {
        let wrong = accounts.wrong().into_iter();
        wrong.map(move |wrong| format!("{name}: {wrong}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_key_that_is_taken_out_of_a_list_is_missed() {
    let experiment = Experiment::load("stall").unwrap();
    let mut accounts = Accounts::of(&experiment);
    assert!(accounts.lists.len() > 20);
    for place in 0..accounts.lists.len() {
        let taken = accounts.lists.remove(place);
        assert!(!accounts.wrong().is_empty(), "{taken:?}");
        accounts.lists.insert(place, taken);
    }
}

#[test]
fn lists_name_keys_once_and_give_reasons() {
    let text = |lists: &str| format!("{SMALL}{lists}");
    let line = SMALL.lines().count() + 1;
    let place = |line: usize| format!("experiments/x.toml:{line}: ");
    for (lists, at, why) in [
        (
            "stated = 1",
            0,
            "sweep.stated = 1: `stated` is one for the whole run, no factor; write one value",
        ),
        (
            "[stated]\nsource = \"s3\"",
            0,
            "stated = { source = \"s3\" }: write [[stated]] above each list",
        ),
        (
            "[[stated]]\nkeys = [\"network.rate\"]",
            0,
            "stated.source is missing; write for instance source = \"[Floyd2001 s6]\"",
        ),
        (
            "[[irrelevant]]\nreason = \"none is there\"",
            0,
            "irrelevant.keys is missing; write for instance keys = [\"links.bottleneck.rate\"]",
        ),
        (
            "[[irrelevant]]\nreason = \"none is there\"\nkeys = [\"links.*.lost\"]",
            2,
            "irrelevant.keys = \"links.*.lost\": no such key of a cell; `*` stands for one part, as in \"links.*.loss\"",
        ),
        (
            "[[stated]]\nsource = \"s3\"\nkeys = [\"trials.repeat\"]",
            2,
            "stated.keys = \"trials.repeat\": no such key of a cell; `*` stands for one part, as in \"links.*.loss\"",
        ),
        (
            "[[stated]]\nsource = \"s3\"\nkeys = [\"network.rate\"]\n[[irrelevant]]\nreason = \"so\"\nkeys = [\"network.rate\"]",
            5,
            "irrelevant.keys = \"network.rate\": it stands in a list already",
        ),
    ] {
        let error = planned(&text(lists), &[]).expect_err(why);
        let shown = format!("{error:#}");
        assert!(
            shown.starts_with(&format!("{}{why}", place(line + at))),
            "{shown}"
        );
    }
    let fine = "[[stated]]\nsource = \"s3\"\nkeys = [\"network.rate\", \"links.*.loss\"]";
    check_round_trip(&plan(&text(fine), &[]));
}
