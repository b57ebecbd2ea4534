//! Experiments shown and copied, and words that are no commands.

use crate::harness::Dir;

#[test]
fn an_experiment_is_shown_with_comments_and_short_names() {
    let dir = Dir::new();
    let shown = dir.run("show red-increase").fine().stdout;
    let file = include_str!("../../../../experiments/red-increase.toml");
    assert!(shown.starts_with(file), "{shown}");
    for line in [
        "#   queue           one of red, rednog, ared, reddf, droptail, dropfront",
        "#   buffer          links.bottleneck.buffer, a bare number in packets",
        "#   tcp             tcp.agent",
    ] {
        assert!(shown.lines().any(|other| other == line), "{line}: {shown}");
    }
    // The whole output is an experiment again, because names are in comments.
    dir.write("again.toml", &shown);
    let hash = |name: &str| {
        let trials = dir.run(&format!("run {name} --dry-run")).fine().stdout;
        trials.rsplit_once("hash ").unwrap().1.to_owned()
    };
    assert_eq!(hash("./again.toml"), hash("red-increase"));
}

#[test]
fn a_copy_of_an_experiment_has_a_name_of_its_own() {
    let dir = Dir::new();
    let copy = dir.run("show mtu-and-loss --template").fine().stdout;
    dir.write("my.toml", &copy);
    let trials = dir.run("run my.toml --dry-run").fine().stdout;
    assert!(trials.starts_with("my-mtu-and-loss: "), "{trials}");
    let template = dir.run("show --template").fine().stdout;
    assert_eq!(template, dir.run("run --template").fine().stdout);
}

#[test]
fn words_that_are_no_commands_are_answered_in_one_line() {
    let dir = Dir::new();
    dir.run("compare a b").rejected(&[
        "there is no `compare`: ",
        "`jumbolab report A B` compares two runs",
    ]);
    dir.run("aggregate eth0")
        .rejected(&["there is no `aggregate`: ", "`jumbolab gateway`"]);
    dir.run("tracepath 192.0.2.1")
        .rejected(&["`jumbolab probe HOST`"]);
    dir.run("os-comparison")
        .rejected(&["`jumbolab run os-comparison` runs it"]);
    dir.run("show os-comparisn")
        .rejected(&["did you mean `os-comparison`?"]);
    dir.run("run os-comparison --on simulator")
        .rejected(&["write `sim`"]);
}

#[test]
fn the_name_alone_is_answered_by_what_to_type_next() {
    let said = Dir::new().run("").fine();
    assert_eq!(said.stderr, "");
    for line in [
        "Usage: jumbolab COMMAND [OPTIONS]",
        "  jumbolab run jumbo-frames",
        "`jumbolab --help` lists all commands.",
    ] {
        assert!(
            said.stdout.lines().any(|other| other == line),
            "{}",
            said.stdout
        );
    }
}

#[test]
fn the_version_names_the_commit_of_a_build_in_a_repository() {
    let dir = Dir::new();
    let said = dir.run("-V").fine().stdout;
    assert_eq!(said, dir.run("--version").fine().stdout);
    let version = concat!("jumbolab ", env!("CARGO_PKG_VERSION"));
    let commit = said.trim_end().strip_prefix(version).unwrap();
    let Some(commit) = commit.strip_prefix(" (") else {
        assert_eq!(commit, "", "a build outside of a repository");
        return;
    };
    let (hash, date) = commit.strip_suffix(')').unwrap().split_once(' ').unwrap();
    let is_hash = |letter: char| letter.is_ascii_hexdigit();
    assert!(hash.len() >= 7 && hash.chars().all(is_hash), "{said}");
    let is_date = |letter: char| letter.is_ascii_digit() || letter == '-';
    assert!(date.len() == 10 && date.chars().all(is_date), "{said}");
}
