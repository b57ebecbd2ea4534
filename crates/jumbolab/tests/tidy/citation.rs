//! CITATION.cff, README.md and the package for Python agree with the manifest.

use crate::project::read;

/// The values of a key at the top of the file: its own, or a list below it.
fn values<'a>(text: &'a str, key: &str) -> Vec<&'a str> {
    let mut lines = text.lines();
    let start = format!("{key}:");
    let Some(line) = lines.find(|line| line.starts_with(&start)) else {
        return Vec::new();
    };
    let plain = |text: &'a str| text.trim().trim_matches('"');
    match plain(&line[start.len()..]) {
        "" => lines
            .map_while(|line| line.strip_prefix("  - "))
            .map(plain)
            .collect(),
        value => vec![value],
    }
}

/// The keys that version 1.2.0 of the Citation File Format requires, and those
/// that the manifest has, too.
#[test]
fn the_citation_file_is_that_of_this_version() {
    let citation = read("CITATION.cff");
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    let package = &manifest["workspace"]["package"];
    assert_eq!(values(&citation, "cff-version"), ["1.2.0"]);
    for required in ["message", "title", "authors"] {
        assert_eq!(values(&citation, required).len(), 1, "{required}");
    }
    let version = package["version"].as_str().unwrap();
    assert_eq!(values(&citation, "version"), [version]);
    let licences = values(&citation, "license").join(" OR ");
    assert_eq!(package["license"].as_str().unwrap(), licences);
}

/// Cargo.toml is where the URL is filled in.
#[test]
fn every_file_names_the_repository_of_the_manifest() {
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    let repository = manifest["workspace"]["package"]["repository"]
        .as_str()
        .unwrap();
    let own: toml::Table = read("crates/jumbolab/Cargo.toml").parse().unwrap();
    assert_eq!(
        own["package"]["repository"]["workspace"].as_bool(),
        Some(true)
    );
    for (file, line) in [
        ("README.md", format!("git clone {repository} ")),
        (
            "CITATION.cff",
            format!("repository-code: \"{repository}\"\n"),
        ),
        (
            "python/pyproject.toml",
            format!("Repository = \"{repository}\"\n"),
        ),
    ] {
        assert!(
            read(file).contains(&line),
            "{file}: write {line}, as Cargo.toml has it"
        );
    }
}
