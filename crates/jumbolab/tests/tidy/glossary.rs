//! Checks that names use the glossary's terms instead of the words that they
//! replaced.

use std::collections::BTreeSet;

use crate::project::{files, root, rust_files, table};
use crate::source::{Source, cited, is_identifier};

const GLOSSARY: &str = "docs/reference/glossary.md";

/// Words that names no longer use, and the terms that replaced them.
const RETIRED: &[(&str, &str)] = &[
    ("agenda", "event queue"),
    ("books", "recorder"),
    ("conductor", "coordinator"),
    ("course", "delay statistics"),
    ("dice", "sampler"),
    ("entrance", "admission test"),
    ("epitaph", "exit message"),
    ("gate", "admission test"),
    ("guest", "session"),
    ("guests", "sessions"),
    ("keeper", "sink"),
    ("keeping", "sink"),
    ("lane", "link driver"),
    ("ledger", "streaming recorder"),
    ("luck", "random stream"),
    ("mechanism", "latency breakdown"),
    ("mechanisms", "latency breakdown"),
    ("nap", "yield"),
    ("seats", "slots"),
    ("shelf", "artifact"),
    ("standing", "test network"),
    ("strike", "mark or drop"),
    ("strikes", "picks"),
    ("survival", "sensitivity"),
    ("tally", "recorder"),
    ("teller", "reporter"),
    ("wish", "request"),
    ("witness", "observer"),
    ("witnessed", "observed"),
];

/// Words that neither text nor names use, with their plurals, and the terms of the field.
const RETIRED_EVERYWHERE: &[(&str, &str)] = &[
    ("carriage", "encapsulation"),
    ("certificate", "quality check"),
    ("fate", "outcome"),
    ("gather", "aggregate"),
    ("header arithmetic", "header overhead"),
    ("honour", "support"),
    ("lateness", "timing error"),
    ("octet", "byte"),
    ("preroll", "warm-up"),
    ("refus", "reject"),
    ("robustness", "sensitivity"),
    ("stranger", "unknown sender"),
    ("test bed", "test network"),
    ("world", "backend"),
];

/// What has such a word all the same: names of the standard library and of systems, and
/// streams of random numbers that recorded searches were drawn from.
const KEPT: &[&str] = &[
    "ca-certificates",
    "connection refused",
    "connectionrefused",
    "econnrefused",
    "tx-scatter-gather",
    ".octets()",
    "from_octets",
    "row.inoctets",
    "row.outoctets",
    "\"robustness/",
];

/// Files whose words are those of others, or of this list.
const OF_OTHERS: &[&str] = &["LICENSE", "Cargo.lock", "regressions", "tidy/glossary.rs"];

/// Files in which a retired word is ordinary English or another term.
const EXCEPTIONS: &[(&str, &str)] = &[("standing", "crates/queue/tests/known/delay.rs")];

#[test]
fn the_glossary_is_sorted_and_each_term_is_defined_once() {
    let rows = table(GLOSSARY);
    let keys: BTreeSet<String> = table("docs/sources.md")
        .into_iter()
        .map(|(_, cells)| cells[0].clone())
        .collect();
    let mut last = String::new();
    for (line, cells) in rows {
        let [term, meaning, source] = &cells[..] else {
            panic!("{GLOSSARY}:{line}: write a term, its meaning and its source");
        };
        let key = term.to_lowercase();
        assert!(last < key, "{GLOSSARY}:{line}: sort `{term}`, once");
        last = key;
        assert!(
            meaning.starts_with(char::is_uppercase) && meaning.ends_with('.'),
            "{GLOSSARY}:{line}: write the meaning of `{term}` as a sentence"
        );
        let mut sources = cited(source);
        assert!(
            source == "here" || sources.next().is_some_and(|key| keys.contains(key)),
            "{GLOSSARY}:{line}: cite a key of docs/sources.md, or write `here`"
        );
    }
}

#[test]
fn names_use_no_retired_word() {
    let mut faults = Vec::new();
    let mut used = BTreeSet::new();
    for file in rust_files() {
        for (name, line) in names(&Source::of_file(&file).code) {
            for word in words(&name) {
                let Some((retired, term)) = RETIRED.iter().find(|(retired, _)| *retired == word)
                else {
                    continue;
                };
                match EXCEPTIONS.contains(&(*retired, file.as_str())) {
                    true => drop(used.insert((*retired, file.clone()))),
                    false => faults.push(format!("{file}:{line}: `{name}`: write {term}")),
                }
            }
        }
    }
    let unused: Vec<_> = EXCEPTIONS
        .iter()
        .filter(|(word, file)| !used.contains(&(*word, (*file).to_owned())))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(unused.is_empty(), "exceptions without use: {unused:?}");
}

#[test]
fn text_uses_no_retired_word() {
    let mut faults = Vec::new();
    for file in files() {
        let Ok(text) = std::fs::read_to_string(root().join(&file)) else {
            continue;
        };
        if OF_OTHERS.iter().any(|other| file.contains(other)) {
            continue;
        }
        for (at, line) in text.lines().enumerate() {
            let line = line.to_lowercase();
            for (retired, term) in RETIRED_EVERYWHERE {
                if line.contains(retired) && !KEPT.iter().any(|kept| line.contains(kept)) {
                    faults.push(format!("{file}:{}: {retired}: write {term}", at + 1));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn retired_words_are_sorted_and_their_terms_use_none() {
    assert!(RETIRED.is_sorted_by(|one, other| one.0 < other.0));
    for (_, term) in RETIRED {
        for word in term.split(' ') {
            assert!(
                RETIRED.iter().all(|(retired, _)| *retired != word),
                "{word}"
            );
        }
    }
}

#[test]
fn names_are_cut_into_words() {
    assert_eq!(words("begin_luck"), ["begin", "luck"]);
    assert_eq!(words("WayOutcome"), ["way", "outcome"]);
    assert_eq!(words("MOST_WAYS"), ["most", "ways"]);
    let source = Source::of("fn f(luck: u8) { // way\n let s = \"witness\"; g!(tally); }");
    let found = names(&source.code);
    let found: Vec<_> = found
        .iter()
        .map(|(name, line)| (&name[..], *line))
        .collect();
    let expected = [
        ("fn", 1),
        ("f", 1),
        ("luck", 1),
        ("u8", 1),
        ("let", 2),
        ("s", 2),
        ("g", 2),
        ("tally", 2),
    ];
    assert_eq!(found, expected);
}

/// The identifiers of code, those in macros too, with their lines.
fn names(code: &str) -> Vec<(String, usize)> {
    let lines = code.lines().enumerate();
    let names = lines.flat_map(|(at, line)| {
        let words = line.split(|letter| !is_identifier(letter));
        words.map(move |word| (word.to_owned(), at + 1))
    });
    let starts = |name: &String| name.starts_with(|first: char| !first.is_ascii_digit());
    names.filter(|(name, _)| starts(name)).collect()
}

/// The words of a name, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before_is_lower = false;
    for letter in name.chars() {
        if letter == '_' || letter.is_uppercase() && before_is_lower {
            words.push(String::new());
        }
        if letter != '_' {
            let word = words.last_mut().expect("there is a first word");
            word.extend(letter.to_lowercase());
        }
        before_is_lower = letter.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}
