//! The report of a search of settings that a study does not state.

mod json;
mod picture;
mod words;

use std::path::Path;

use analysis::sensitivity::findings::{Findings, QuestionResult};
use document::{Block, Cell, Column, Document, Section, Style, Table};

pub use json::sensitivity_json;
use words::{answer, interval, percent, point, share};

/// Questions that a terminal shows; the page and JSON have all.
const SHOWN: usize = 24;

/// The smallest total share that the table of shares lists.
const LISTED: f64 = 0.05;

/// The report of a search: the answer, each claim and published change with its
/// shares, what turns it over, the nearest points, and the settings.
pub fn of_sensitivity(found: &Findings<'_>, folder: &Path) -> Document {
    let plan = found.asked.plan;
    let head = vec![
        Block::Title {
            name: plan.name.clone(),
            title: plan.title.clone(),
            badges: Vec::new(),
        },
        Block::Paragraphs(Style::Answer, answer(found)),
    ];
    let sections = [
        Some(questions(found)),
        turns(found),
        shares(found),
        nearest(found),
        Some(settings(found)),
    ];
    let place = Section {
        id: "",
        blocks: vec![Block::Terminal(vec![Block::Verbatim(format!(
            "Results: {}",
            folder.display()
        ))])],
    };
    Document {
        title: format!("{}: {}", plan.name, plan.title),
        head,
        sections: sections.into_iter().flatten().chain([place]).collect(),
    }
}

/// A row a question: how often it has which answer, and what decides that.
fn questions(found: &Findings<'_>) -> Section {
    let columns = ["#", "holds", "fails", "undecided"].map(Column::right);
    let words = ["default", "decided by", "claim or published change"].map(Column::new);
    let row = |(number, judged): (usize, &QuestionResult<'_>)| {
        let mut cells = vec![Cell::figure((number + 1).to_string())];
        cells.extend(match &judged.shares {
            Some(shares) => {
                [shares.holds, shares.fails, shares.undecided].map(|own| Cell::figure(share(&own)))
            }
            None => ["-", "-", "-"].map(Cell::figure),
        });
        cells.push(Cell::Text(words::at_default(judged)));
        cells.push(Cell::Text(words::decided_by(found, judged)));
        let question = judged.question;
        cells.push(Cell::Text(words::question(found, question)));
        cells
    };
    Section {
        id: "questions",
        blocks: vec![
            Block::heading("Claims and published changes"),
            Block::paragraph(Style::Note, words::how_shares_are_meant(found)),
            Block::Table(Table {
                columns: columns.into_iter().chain(words).collect(),
                rows: found.judged.iter().enumerate().map(row).collect(),
                brief_rows: Some(SHOWN),
                ..Table::default()
            }),
            Block::Page(vec![Block::Picture(picture::of(found))]),
        ],
    }
}

/// A line for each question that turns over: the two points that differ least.
fn turns(found: &Findings<'_>) -> Option<Section> {
    let judged = found.judged.iter().enumerate();
    let lines = judged.filter_map(|(number, judged)| words::turn(found, number, judged));
    Section::listed("turns", "What turns them over", lines.collect())
}

/// The shares of variance of each question.
fn shares(found: &Findings<'_>) -> Option<Section> {
    let mut rows = Vec::new();
    for (number, judged) in found.judged.iter().enumerate() {
        let effects = found.settings().iter().zip(&judged.effects);
        let large = effects.filter(|(_, effect)| effect.decides || effect.total.share >= LISTED);
        let mut large: Vec<_> = large.collect();
        large.sort_by(|(_, one), (_, other)| other.total.share.total_cmp(&one.total.share));
        rows.extend(large.into_iter().map(|(setting, effect)| {
            vec![
                Cell::figure((number + 1).to_string()),
                Cell::Text(setting.name.clone()),
                Cell::figure(format!(
                    "{} {}",
                    percent(effect.first.share),
                    interval(effect.first.interval)
                )),
                Cell::figure(format!(
                    "{} {}",
                    percent(effect.total.share),
                    interval(effect.total.interval)
                )),
                Cell::figure(format!("{:.3}", effect.p)),
                Cell::Text(if effect.decides { "decides" } else { "" }.into()),
            ]
        }));
    }
    let columns = [
        Column::right("#"),
        Column::new("setting"),
        Column::new("alone"),
        Column::new("with pairs"),
        Column::right("p"),
        Column::new(""),
    ];
    (!rows.is_empty()).then(|| Section {
        id: "effects",
        blocks: vec![
            Block::heading("Shares of the variance of answers"),
            Block::paragraph(Style::Note, words::HOW_EFFECTS_ARE_MEANT),
            Block::Table(Table {
                columns: columns.into(),
                rows,
                brief_rows: Some(SHOWN),
                ..Table::default()
            }),
        ],
    })
}

/// The points nearest to the printed figures.
fn nearest(found: &Findings<'_>) -> Option<Section> {
    let nearest = found.nearest.as_ref()?;
    let columns = [
        Column::right("distance"),
        Column::right("fresh seeds"),
        Column::right("seeds"),
        Column::new("read as"),
        Column::new("setting"),
    ];
    let row = |near: &analysis::sensitivity::findings::NearPoint<'_>| {
        let ran = &found.points[near.place];
        vec![
            Cell::figure(format!("{:.2}", near.distance)),
            Cell::figure(
                near.fresh
                    .map_or_else(String::new, |fresh| format!("{fresh:.2}")),
            ),
            Cell::figure(ran.seeds.to_string()),
            Cell::Text(near.interpretation.name.clone()),
            Cell::Text(point(found, near.place)),
        ]
    };
    Some(Section {
        id: "nearest",
        blocks: vec![
            Block::heading("Nearest to all printed figures"),
            Block::Paragraphs(Style::Plain, words::chance(nearest)),
            Block::Table(Table {
                columns: columns.into(),
                rows: nearest.points.iter().map(row).collect(),
                ..Table::default()
            }),
        ],
    })
}

/// The unstated settings, their values and the reasons.
fn settings(found: &Findings<'_>) -> Section {
    let rows = found.settings().iter().map(|setting| {
        let values: Vec<String> = setting.values.iter().map(ToString::to_string).collect();
        vec![
            Cell::Text(setting.name.clone()),
            Cell::Text(values.join(", ")),
            Cell::Text(setting.reason.clone()),
        ]
    });
    Section {
        id: "settings",
        blocks: vec![
            Block::heading("Settings that are not stated"),
            Block::Table(Table {
                columns: ["setting", "values, that of a run first", "reason"]
                    .map(Column::new)
                    .into(),
                rows: rows.collect(),
                ..Table::default()
            }),
        ],
    }
}
