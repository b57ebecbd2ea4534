//! Rival explanations: what each does to each sentence, and which match all.

use analysis::Findings;
use analysis::rivals::{Judged, Sentence};
use analysis::verdict::Verdict;
use plan::Level;

use crate::document::{Block, Cell, Column, Section, Style, Table};

/// The explanation of the words in the tables.
const WORDS: &str = "yes: reproduced with this explanation alone; no: not reproduced; size: the direction only; open: inconclusive; -: not measured.";

/// For each question the answer and a table: a row a sentence, a column an explanation.
pub(crate) fn section(found: &Findings<'_>) -> Option<Section> {
    let questions = found.rivals.iter().filter(|judged| is_telling(judged));
    let blocks: Vec<Block> = questions
        .flat_map(|judged| {
            [
                Block::paragraph(
                    Style::Plain,
                    answer(judged, |factor, level| found.plan.label(factor, level)),
                ),
                Block::Table(table(judged)),
            ]
        })
        .collect();
    let legend = Block::paragraph(Style::Note, WORDS);
    (!blocks.is_empty()).then(|| Section {
        id: "rivals",
        blocks: [
            vec![Block::heading("Rival explanations")],
            blocks,
            vec![legend],
        ]
        .into_iter()
        .flatten()
        .collect(),
    })
}

/// The answers, a sentence each; `name` gives the words for a level of a factor.
pub(crate) fn answers(found: &Findings<'_>, name: impl Fn(&str, &Level) -> String) -> Vec<String> {
    let telling = found.rivals.iter().filter(|judged| is_telling(judged));
    telling.map(|judged| answer(judged, &name)).collect()
}

/// Whether there are explanations to choose from, and anything was measured.
fn is_telling(judged: &Judged<'_>) -> bool {
    let measured = |sentence: &Sentence| {
        let mut verdicts = sentence.verdicts.iter();
        verdicts.any(|&verdict| verdict != Verdict::NotMeasured)
    };
    judged.alternatives.len() > 1 && judged.sentences.iter().any(measured)
}

fn answer(judged: &Judged<'_>, name: impl Fn(&str, &Level) -> String) -> String {
    let (text, factor) = (&judged.rivals.text, &judged.rivals.factor);
    let all = judged.sentences.len();
    let named = |positions: &[usize]| {
        let names = positions
            .iter()
            .map(|&at| name(factor, &judged.alternatives[at]));
        names.collect::<Vec<_>>().join(", ")
    };
    let matching = judged.matching();
    let alternatives = judged.alternatives.len();
    let found = match matching.as_slice() {
        [] => format!("no {factor} of {alternatives} matches all {all} sentences"),
        some => {
            let verb = if some.len() > 1 { "match" } else { "matches" };
            format!("{factor} {} {verb} all {all} sentences", named(some))
        }
    };
    let open = match judged.open().as_slice() {
        [] => String::new(),
        some => format!("; not contradicted, with sentences open: {}", named(some)),
    };
    let most = (0..alternatives).map(|at| judged.explained(at)).max();
    let nearest = match (matching.is_empty(), most) {
        (true, Some(most)) if most > 0 => {
            let nearest: Vec<usize> = (0..alternatives)
                .filter(|&at| judged.explained(at) == most)
                .collect();
            format!("; most, {most}: {}", named(&nearest))
        }
        _ => String::new(),
    };
    format!("{text}: {found}{open}{nearest}.")
}

fn table(judged: &Judged<'_>) -> Table {
    let explanations = judged.alternatives.iter().map(Level::to_string);
    let row = |sentence: &Sentence| {
        let words = sentence
            .verdicts
            .iter()
            .map(|&verdict| Cell::figure(word(verdict)));
        let (by, all) = (sentence.explained_by().len(), sentence.verdicts.len());
        let by = match by {
            0 => sentence.verdict().to_string(),
            by => format!("by {by} of {all}"),
        };
        let text = format!("{} {}", sentence.text, sentence.source);
        let last = [Cell::Text(by), Cell::Text(text)];
        words.chain(last).collect::<Vec<_>>()
    };
    let all = (0..judged.alternatives.len()).map(|at| {
        let explained = judged.explained(at);
        Cell::figure(format!("{explained}/{}", judged.sentences.len()))
    });
    let words = Cell::Text("sentences reproduced".to_owned());
    let last = all.chain([Cell::Text(String::new()), words]);
    let rows = judged.sentences.iter().map(row);
    Table {
        columns: explanations
            .map(Column::new)
            .chain(["reproduced", "sentence"].map(Column::new))
            .collect(),
        rows: rows.chain([last.collect()]).collect(),
        ..Table::default()
    }
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::NotMeasured => "-",
        Verdict::Inconclusive => "open",
        Verdict::Reproduced | Verdict::InSome => "yes",
        Verdict::DirectionOnly => "size",
        Verdict::NotReproduced => "no",
    }
}

#[cfg(test)]
mod tests;
