//! Names the commit that `jumbolab --version` prints.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Files of a repository of which one changes whenever another commit is checked out or made.
/// A file that is absent must not be watched: cargo would build anew each time.
const OF_COMMIT: [&str; 3] = ["HEAD", "logs/HEAD", "packed-refs"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let version = match commit() {
        Some(commit) => format!("{version} ({commit})"),
        None => version,
    };
    println!("cargo::rustc-env=JUMBOLAB_VERSION={version}");
}

/// The commit and its date; `None` outside of the project's own repository, such as in an
/// unpacked archive.
fn commit() -> Option<String> {
    let root = fs::canonicalize("../..").ok()?;
    let found = git(&["rev-parse", "--show-toplevel"])?;
    if fs::canonicalize(found).ok()? != root {
        return None;
    }
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]);
    for name in OF_COMMIT.into_iter().chain(branch.as_deref()) {
        let path = git(&["rev-parse", "--git-path", name])?;
        if Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    git(&["show", "--no-patch", "--format=%h %cs", "HEAD"])
}

/// The line that git prints; `None` where there is no git or no answer.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let line = String::from_utf8(output.stdout).ok()?;
    let line = line.trim();
    (output.status.success() && !line.is_empty()).then(|| line.to_owned())
}
