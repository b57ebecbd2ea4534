//! Splits a Rust file into code, prose and citations.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::project::{read, rust_files};

/// A Rust file split into code and prose. Each has blanks in place of the
/// other's characters.
#[derive(Default)]
pub(crate) struct Source {
    pub(crate) code: String,
    /// Comments and the insides of strings.
    pub(crate) prose: String,
}

/// The Rust files of the project: to split them takes longer than all that is asked of them.
static ALL: LazyLock<BTreeMap<String, Source>> = LazyLock::new(|| {
    let split = |file: String| (file.clone(), Source::of(&read(&file)));
    rust_files().map(split).collect()
});

impl Source {
    /// A Rust file of the project.
    pub(crate) fn of_file(file: &str) -> &'static Self {
        &ALL[file]
    }

    pub(crate) fn of(text: &str) -> Self {
        let mut source = Self::default();
        let mut rest = text;
        while !rest.is_empty() {
            let (length, is_prose) = token(rest);
            let (here, after) = rest.split_at(length);
            let blank: String = here
                .chars()
                .map(|c| if c == '\n' { c } else { ' ' })
                .collect();
            source.code += if is_prose { &blank } else { here };
            source.prose += if is_prose { here } else { &blank };
            rest = after;
        }
        source
    }
}

/// The length of the token at the start of `text`, and whether it is prose.
fn token(text: &str) -> (usize, bool) {
    let until = |end: &str, from: usize| {
        text[from..]
            .find(end)
            .map_or(text.len(), |at| from + at + end.len())
    };
    let first = text.chars().next().expect("there is text left");
    if text.starts_with("//") {
        return (until("\n", 0), true);
    }
    if text.starts_with("/*") {
        return (until("*/", 2), true);
    }
    if first == '"' {
        let mut escaped = false;
        let end = text[1..].find(|c| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        return (end.map_or(text.len(), |at| at + 2), true);
    }
    if first == '\'' {
        return (character(text).unwrap_or(1), false);
    }
    let word = text.find(|c| !is_identifier(c)).unwrap_or(text.len());
    let hashes = text[word..]
        .bytes()
        .take_while(|byte| *byte == b'#')
        .count();
    if matches!(&text[..word], "r" | "br" | "cr") && text[word + hashes..].starts_with('"') {
        return (
            until(&format!("\"{}", "#".repeat(hashes)), word + hashes + 1),
            true,
        );
    }
    (word.max(first.len_utf8()), false)
}

/// The length of the character literal at the start of `text`, which may be a
/// lifetime instead.
fn character(text: &str) -> Option<usize> {
    let mut inside = text.char_indices().skip(1);
    let (_, first) = inside.next()?;
    if first == '\\' {
        inside.next();
        return inside.find(|(_, c)| *c == '\'').map(|(at, _)| at + 1);
    }
    inside
        .next()
        .filter(|(_, c)| *c == '\'')
        .map(|(at, _)| at + 1)
}

/// The source keys cited in a line of prose: `[RFC8200 s5]`, `[proc_stat(5)]`.
///
/// A citation is a bracket that follows no word and whose first word is a key:
/// a word with an initial capital, or a manual page with its section. The
/// bracket may close on the next line. Markdown links are not citations.
pub(crate) fn cited(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices('[').filter_map(move |(at, _)| {
        let (before, inside) = (&line[..at], &line[at + 1..]);
        if before.ends_with(|c: char| !(c.is_whitespace() || "(\"',;".contains(c))) {
            return None;
        }
        let (inside, after) = inside
            .split_once(']')
            .unwrap_or_else(|| (inside.trim_end(), ""));
        let at_the_start = before
            .chars()
            .all(|c| c.is_whitespace() || "/!\"".contains(c));
        if after.starts_with(['(', '[']) || after.starts_with(':') && at_the_start {
            return None;
        }
        let key = inside.split(' ').next()?;
        (is_key(key) || is_page(key)).then_some(key)
    })
}

fn is_key(word: &str) -> bool {
    word.len() > 2
        && word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.ends_with(|c: char| c.is_ascii_alphanumeric())
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || ".-_".contains(c))
        && !word.contains("..")
}

/// `name(7)`; `name.7` counts as well, so that it is corrected.
fn is_page(word: &str) -> bool {
    let name = word
        .strip_suffix(')')
        .and_then(|word| word.rsplit_once('('))
        .or_else(|| word.rsplit_once('.'));
    name.is_some_and(|(name, section)| {
        name.starts_with(|c: char| c.is_ascii_lowercase())
            && name
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
            && matches!(section.as_bytes(), [b'1'..=b'8'])
    })
}

/// Lines before the tests at the bottom of a file.
pub(crate) fn lines_without_tests(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let tests = lines.windows(2).position(|pair| {
        pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{')
    });
    tests.unwrap_or(lines.len())
}

pub(crate) fn is_identifier(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[test]
fn citations_are_told_from_other_brackets() {
    for (line, keys) in [
        (
            "/// Bytes of header: 20 [RFC9293 s3.1] and 12 [RFC7323 A], or 8 [RFC768].",
            &["RFC9293", "RFC7323", "RFC768"][..],
        ),
        ("[Praptodiyono2019 Table 4]", &["Praptodiyono2019"]),
        ("TCP statistics [LinuxUapi tcp.h].", &["LinuxUapi"]),
        (
            "user nice system [proc_stat(5)], needs [capabilities(7)]",
            &["proc_stat(5)", "capabilities(7)"],
        ),
        (
            "[D-ITG] [FNV] [IEEE802.3 s3.1.1] [Steele2014 Fig 17]",
            &["D-ITG", "FNV", "IEEE802.3", "Steele2014"],
        ),
        ("cut off by the end of the line [RFC8200", &["RFC8200"]),
        ("by the standard [RFC791]: at least 68", &["RFC791"]),
        (
            "see [Sandbox](crate::Sandbox), [`Bytes`] and [`Foo`](bar)",
            &[],
        ),
        ("[Target]: https://example.org", &[]),
        (
            "a slice &[Trial], `[Self; 8]`, an index rows[Name], [lo,hi], [network], [test]",
            &[],
        ),
        (
            "[X] done, [..] and [1500, 9000], [Note, this is prose]",
            &[],
        ),
    ] {
        assert_eq!(cited(line).collect::<Vec<_>>(), keys, "{line}");
    }
}

#[test]
fn code_is_told_from_comments_and_strings() {
    let text = "let a = \"un\\\"safe // no\"; // [FNV] 'x'\nlet b: &'a str = r#\"dbg!(\"1\")\"#; /* todo!\n */ f('\"', '\\'', \"[FNV]\");\n";
    let Source { code, prose } = Source::of(text);
    assert_eq!(code.lines().count(), text.lines().count());
    for (word, in_code) in [
        ("let a", true),
        ("let b", true),
        ("&'a str", true),
        ("safe", false),
        ("dbg!", false),
        ("todo!", false),
        ("f('\"', '\\'', ", true),
        ("[FNV]", false),
    ] {
        assert_eq!(
            (code.contains(word), prose.contains(word)),
            (in_code, !in_code),
            "{word}"
        );
    }
}

#[test]
fn only_tests_at_the_bottom_are_left_out_of_a_files_length() {
    assert_eq!(
        lines_without_tests("a\nb\n#[cfg(test)]\nmod tests {\nc\n}\n"),
        2
    );
    assert_eq!(
        lines_without_tests("#[cfg(test)]\nmod tests;\nmod tree;\nfn f() {}\n"),
        4
    );
}
