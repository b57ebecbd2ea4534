//! The lengths of sentences in documents.

use crate::project::{files, read};
use crate::settle;

/// Words of a sentence, on average over a document: aimed at, and the limit.
const AIM: usize = 25;
const LIMIT: usize = 30;

/// Sentences that the test prints.
const LONGEST: usize = 10;

struct Sentence {
    line: usize,
    text: String,
}

impl Sentence {
    fn words(&self) -> usize {
        let has_letter = |word: &&str| word.contains(|c: char| c.is_alphanumeric());
        self.text.split_whitespace().filter(has_letter).count()
    }
}

/// The sentences of prose: no headings, tables, code and comments. A paragraph and an item
/// of a list end a sentence; a link counts by its text, code in backquotes as a word.
fn sentences(document: &str) -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut paragraph = Vec::new();
    let mut fenced = false;
    let mut in_list = false;
    for (number, line) in (1..).zip(document.lines()) {
        let text = line.trim_start();
        fenced ^= text.starts_with("```");
        let item = item(text);
        let is_code = fenced || text.starts_with("```") || (line.starts_with("    ") && !in_list);
        let is_prose = !is_code && !text.is_empty() && !text.starts_with(['#', '|', '<', '!']);
        if !is_prose || item.is_some() {
            end_paragraph(&mut paragraph, &mut found);
        }
        in_list = item.is_some() || (in_list && !text.is_empty() && !text.starts_with('#'));
        if is_prose {
            paragraph.push((number, plain(item.unwrap_or(text))));
        }
    }
    end_paragraph(&mut paragraph, &mut found);
    found
}

/// What stands behind the mark of a list's item.
fn item(text: &str) -> Option<&str> {
    let numbered = text.split_once(". ");
    let numbered = numbered.filter(|(number, _)| number.parse::<u8>().is_ok());
    text.strip_prefix("- ")
        .or_else(|| numbered.map(|(_, text)| text))
}

/// A line without comments and targets of links; code in backquotes is one word.
fn plain(line: &str) -> String {
    let mut text = String::new();
    for (at, part) in line.split('`').enumerate() {
        text += if at % 2 == 0 { part } else { "code" };
    }
    for (begin, end) in [("<!--", "-->"), ("](", ")")] {
        while let Some((before, rest)) = text.split_once(begin) {
            let behind = rest.split_once(end).map_or("", |(_, behind)| behind);
            text = format!("{before}{behind}");
        }
    }
    text
}

fn end_paragraph(paragraph: &mut Vec<(usize, String)>, found: &mut Vec<Sentence>) {
    let mut text = String::new();
    let mut begin = None;
    for (number, line) in paragraph.drain(..) {
        let mut words = line.split(' ').peekable();
        while let Some(word) = words.next() {
            text += word;
            text.push(' ');
            begin = begin.or(Some(number));
            let bare = word.trim_end_matches(['*', ')', '"']);
            // A dot inside of a line ends a sentence if the next word does not go on with it.
            let goes_on = |next: &&str| next.starts_with(|c: char| c.is_lowercase());
            let ends = bare.ends_with(['.', '?', '!']);
            if ends && !words.peek().is_some_and(goes_on) {
                end(&mut text, &mut begin, found);
            }
        }
    }
    end(&mut text, &mut begin, found);
}

fn end(text: &mut String, begin: &mut Option<usize>, found: &mut Vec<Sentence>) {
    let text = std::mem::take(text);
    if let Some(line) = begin.take() {
        found.push(Sentence { line, text });
    }
}

#[test]
#[expect(
    clippy::print_stdout,
    reason = "the longest sentences are for who asks for them"
)]
fn sentences_of_documents_are_short() {
    let mut problems = Vec::new();
    let mut all = Vec::new();
    let (mut words, mut count) = (0, 0);
    for file in files().into_iter().filter(|file| file.ends_with(".md")) {
        let of_file = sentences(&read(&file));
        let total: usize = of_file.iter().map(Sentence::words).sum();
        (words, count) = (words + total, count + of_file.len());
        // A page of a few sentences has no mean to speak of.
        if of_file.len() >= 5 && total > LIMIT * of_file.len() {
            let mean = total / of_file.len();
            problems.push(format!(
                "{file}:1: {mean} words a sentence, at most {LIMIT} and better {AIM}; cut the longest ones"
            ));
        }
        all.extend(
            of_file
                .into_iter()
                .map(|one| (one.words(), file.clone(), one)),
        );
    }
    all.sort_by_key(|(words, ..)| std::cmp::Reverse(*words));
    println!("{:.1} words a sentence", words as f64 / count as f64);
    for (words, file, sentence) in all.iter().take(LONGEST) {
        println!("{file}:{}: {words} words: {}", sentence.line, sentence.text);
    }
    settle(&problems);
}

#[test]
fn prose_is_cut_into_sentences() {
    let text = "\
# A heading is none

One two [three](four.md) `five six`. Seven
eight nine! 2.5 ms e.g. here.

    code is none

- An item <!-- from x --> of a list
  goes on.
- Another one

| no | table |

1. Numbered, too.
```
nor this. Or this.
```
";
    let found: Vec<_> = sentences(text)
        .iter()
        .map(|one| (one.line, one.words()))
        .collect();
    let expected = [(3, 4), (3, 3), (4, 4), (8, 7), (10, 2), (14, 2)];
    assert_eq!(found, expected);
}
