//! The list of contents, and the ids by which links reach parts of a page.

use std::collections::BTreeSet;

use document::{Block, Document, Section};
use maud::{Markup, html};

/// The list of the sections with a heading. A script opens it where there is
/// room beside the report.
pub(super) fn contents(document: &Document) -> Markup {
    let sections = document.sections.iter();
    let listed = sections.filter(|section| !section.id.is_empty());
    let listed: Vec<(&str, &str)> = listed
        .filter_map(|section| Some((section.id, heading(&section.blocks)?)))
        .collect();
    html! {
        @if !listed.is_empty() {
            nav.contents aria-label="Contents" {
                details {
                    summary { "Contents" }
                    ol {
                        li { a href="#top" { "Answer" } }
                        @for (id, words) in listed { li { a href={ "#" (id) } { (short(words)) } } }
                    }
                }
            }
        }
    }
}

/// A heading without what explains it.
fn short(heading: &str) -> &str {
    heading
        .split([',', '('])
        .next()
        .unwrap_or(heading)
        .trim_end()
}

/// The first heading among blocks that a page shows.
fn heading(blocks: &[Block]) -> Option<&str> {
    blocks.iter().find_map(|block| match block {
        Block::Heading(words, _) => Some(words.as_str()),
        Block::Page(own) => heading(own),
        _ => None,
    })
}

/// Whether a page shows anything of a section.
pub(super) fn is_shown(section: &Section) -> bool {
    let is_shown = |block: &Block| !matches!(block, Block::Terminal(_));
    section.blocks.iter().any(is_shown)
}

/// The ids of the elements of a page, each of which is used once.
#[derive(Default)]
pub(super) struct Ids(BTreeSet<String>);

impl Ids {
    /// An id of `words`, with a number if there was one already. What a heading
    /// has in parentheses changes more often than what stands before.
    pub(super) fn of(&mut self, section: &str, words: &str) -> String {
        let stem = slug(words.split('(').next().unwrap_or(words));
        let parts = [section, &stem];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let stem = parts.join("-");
        let numbered = (2..).map(|number| format!("{stem}-{number}"));
        let mut ids = std::iter::once(stem.clone()).chain(numbered);
        let id = ids.find(|id| !self.0.contains(id)).unwrap_or(stem);
        self.0.insert(id.clone());
        id
    }
}

/// `words` in lower case with hyphens, as part of an id or a file name.
fn slug(words: &str) -> String {
    let kept = words.chars().map(|c| match c.is_ascii_alphanumeric() {
        true => c.to_ascii_lowercase(),
        false => ' ',
    });
    let kept: String = kept.collect();
    kept.split_whitespace().collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_words_in_lower_case_and_unique() {
        let mut ids = Ids::default();
        let heading = "Throughput (Mbit/s), held against X";
        assert_eq!(ids.of("tables", heading), "tables-throughput");
        assert_eq!(ids.of("tables", heading), "tables-throughput-2");
        assert_eq!(ids.of("", "\"><b>µ</b>"), "b-b");
        assert_eq!(ids.of("a", "…"), "a");
    }
}
