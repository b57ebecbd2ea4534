//! The lines of rival explanations: one object a question.

use analysis::rivals::{Judged, Sentence};
use analysis::verdict::Verdict;
use plan::Level;
use serde::Serialize;

use super::line::json_line;

/// One object a question, without line ends.
pub(super) fn lines(rivals: &[Judged<'_>]) -> Vec<String> {
    let lines = rivals.iter().map(Line::of);
    lines.map(|line| json_line(&line)).collect()
}

/// The object of one question. The order of fields is the format's.
#[derive(Serialize)]
struct Line<'a> {
    metric: Option<&'a str>,
    rivals: &'a str,
    factor: &'a str,
    sentences: Vec<Asked<'a>>,
    alternatives: Vec<Alternative<'a>>,
}

#[derive(Serialize)]
struct Asked<'a> {
    text: &'a str,
    source: &'a str,
}

#[derive(Serialize)]
struct Alternative<'a> {
    level: &'a Level,
    matches_all: bool,
    explained: usize,
    verdicts: Vec<Verdict>,
}

impl<'a> Line<'a> {
    fn of(judged: &'a Judged<'_>) -> Self {
        let asked = |sentence: &'a Sentence| Asked {
            text: &sentence.text,
            source: &sentence.source,
        };
        let matching = judged.matching();
        let alternative = |(at, level): (usize, &'a Level)| Alternative {
            level,
            matches_all: matching.contains(&at),
            explained: judged.explained(at),
            verdicts: judged
                .sentences
                .iter()
                .map(|one| one.verdicts[at])
                .collect(),
        };
        Self {
            metric: None,
            rivals: &judged.rivals.text,
            factor: &judged.rivals.factor,
            sentences: judged.sentences.iter().map(asked).collect(),
            alternatives: judged
                .alternatives
                .iter()
                .enumerate()
                .map(alternative)
                .collect(),
        }
    }
}
