//! Features of README, and the crates that they are in. A reader of one finds it in its own
//! crate, in the experiments that use it, and on the command line. What is done with an
//! experiment is no feature: its steps are the rows above the tools.

use crate::project::{crates, dependencies, files, read};
use crate::{LAYERS, row_of, settle};

/// The most crates that a feature is in.
const MOST_CRATES: usize = 3;

/// The row of the tools. Each of them is a feature.
const TOOLS: usize = 4;

/// A feature.
struct Feature {
    /// Its own crate, from which crates above cannot be independent.
    home: &'static str,
    /// The crates that use it.
    users: &'static [&'static str],
    /// README names it by the first of these. Crates above that do not use it have no module
    /// of these names.
    names: &'static [&'static str],
}

const FEATURES: [Feature; 5] = [
    Feature {
        home: "probe",
        users: &["backends", "jumbolab"],
        names: &["jumbolab probe", "probe", "mesh", "stamp"],
    },
    Feature {
        home: "traffic",
        users: &["backends", "jumbolab"],
        names: &["jumbolab send", "traffic", "send", "recv"],
    },
    Feature {
        home: "gateway",
        users: &["backends", "jumbolab"],
        names: &["jumbolab gateway", "gateway"],
    },
    Feature {
        home: "emulator",
        users: &["backends", "jumbolab"],
        names: &["jumbolab emulate", "emulate", "emulator", "emulation"],
    },
    Feature {
        home: "sim",
        users: &["backends"],
        names: &["simulator", "sim", "simulation"],
    },
];

#[test]
fn a_feature_of_readme_is_in_few_crates() {
    let readme = read("README.md");
    let modules = modules();
    let mut problems = Vec::new();
    for Feature { home, users, names } in &FEATURES {
        if !readme.contains(names[0]) {
            problems.push(format!("README.md:1: it does not name `{}`", names[0]));
        }
        if 1 + users.len() > MOST_CRATES {
            problems.push(format!(
                "`{home}` is in {} crates, at most {MOST_CRATES}; move what belongs to it there",
                1 + users.len()
            ));
        }
        for other in crates().iter().filter(|other| other != home) {
            let manifest = format!("crates/{other}/Cargo.toml");
            let uses = dependencies(&read(&manifest))
                .iter()
                .any(|used| used == home);
            match (uses, users.contains(&other.as_str())) {
                (true, false) => problems.push(format!(
                    "{manifest}:1: `{other}` must not use `{home}`; move what needs both into `{home}`"
                )),
                (false, true) => problems.push(format!(
                    "{manifest}:1: `{other}` does not use `{home}`; take it from FEATURES"
                )),
                _ => {}
            }
        }
        let is_strange = |(of, name): &&(String, String)| {
            row_of(of) > row_of(home)
                && !users.contains(&of.as_str())
                && names[1..].contains(&name.as_str())
        };
        problems.extend(modules.iter().filter(is_strange).map(|(of, name)| {
            format!("crates/{of}/src/{name}.rs:1: `{name}` belongs to `{home}`; move it there")
        }));
    }
    for tool in LAYERS[TOOLS] {
        if FEATURES.iter().all(|feature| feature.home != *tool) {
            problems.push(format!("`{tool}` is no feature; add it to FEATURES"));
        }
    }
    settle(&problems);
}

/// The outermost modules of each crate: crate and name.
fn modules() -> Vec<(String, String)> {
    let module = |file: String| {
        let (name, path) = file.strip_prefix("crates/")?.split_once("/src/")?;
        let module = path
            .strip_suffix(".rs")
            .filter(|path| !path.contains('/'))?;
        Some((name.to_owned(), module.to_owned()))
    };
    files().into_iter().filter_map(module).collect()
}
