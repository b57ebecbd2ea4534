//! Lists the experiments of the folder `experiments`.
#![allow(
    clippy::print_stdout,
    reason = "cargo reads the output of a build script"
)]

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

/// The folder of the experiments, from here.
const EXPERIMENTS: &str = "../../experiments";

/// Not an experiment to run: it is commented, to start from.
const TEMPLATE: &str = "template";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={EXPERIMENTS}");
    let folder = fs::canonicalize(EXPERIMENTS)?;
    let order = fs::read_to_string(folder.join("order"))?;
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|name| name.to_str());
        let is_experiment = path
            .extension()
            .is_some_and(|extension| extension == "toml");
        names.extend(
            name.filter(|name| is_experiment && *name != TEMPLATE)
                .map(str::to_owned),
        );
    }
    // Those that the order does not name come last, by name.
    let place = |name: &String| order.lines().position(|line| line == name);
    names.sort_by_cached_key(|name| (place(name).unwrap_or(usize::MAX), name.clone()));
    let mut list = String::from("&[\n");
    for name in &names {
        let path = folder.join(format!("{name}.toml"));
        writeln!(list, "    ({name:?}, include_str!({path:?})),")?;
    }
    list.push(']');
    let out = env::var("OUT_DIR")?;
    fs::write(Path::new(&out).join("shipped.rs"), list)?;
    Ok(())
}
