//! The quality check and the plan, at the end of the page.

use analysis::Findings;
use analysis::quality_check::{QualityCheck, State, Warning};
use document::{
    Badge, Block, Cell, Column, Emphasis, Item, List, ListKind, Remark, Section, Style, Table,
};
use plan::Trial;

/// The state of a quality check.
pub(crate) fn badge(state: State) -> Badge {
    let tone = match state {
        State::Passed => Emphasis::Good,
        State::PassedWithWarnings => Emphasis::Neutral,
        State::Failed => Emphasis::Bad,
    };
    Badge {
        words: state.to_string(),
        tone: Some(tone),
        target: "",
    }
}

/// The state of a quality check with a mark and a name in front, as a link to it.
pub(crate) fn named_badge(name: &str, state: State) -> Badge {
    let mark = match state {
        State::Passed => "✓",
        State::PassedWithWarnings => "!",
        State::Failed => "✗",
    };
    Badge {
        words: format!("{mark} {name} {state}"),
        target: "quality-check",
        ..badge(state)
    }
}

/// The quality check: whether the instrument worked.
pub(crate) fn section(found: &Findings<'_>) -> Option<Section> {
    let quality_check = &found.quality_check;
    let mut blocks = vec![
        Block::Heading(
            "Quality check".to_owned(),
            Some(badge(quality_check.state())),
        ),
        Block::Page(vec![Block::paragraph(
            Style::Note,
            "Whether the instrument worked: clocks, kernel, processors, settings and observed packets.",
        )]),
    ];
    if quality_check.state() == State::Failed {
        let alarm = "Do not rely on the results above.";
        blocks.push(Block::paragraph(Style::Alarm, alarm));
    }
    blocks.push(conditions(quality_check));
    blocks.extend(remarkable(found.trials).map(|fold| Block::Page(vec![fold])));
    blocks.push(Block::Page(vec![Block::subheading("Program and machine")]));
    blocks.push(whole(quality_check.facts.clone()));
    Some(Section {
        id: "quality-check",
        blocks,
    })
}

/// The resolved experiment.
pub(crate) fn plan(found: &Findings<'_>) -> Option<Section> {
    let summary = format!(
        "The experiment as it was run, every default written out (hash {})",
        found.plan.hash
    );
    let text = Block::Verbatim(found.plan.text.clone());
    let fold = Block::Fold {
        summary,
        blocks: vec![text],
    };
    Some(Section {
        id: "plan",
        blocks: vec![Block::Page(vec![Block::heading("Plan"), fold])],
    })
}

/// Faults, warnings and notes.
pub(crate) fn conditions(quality_check: &QualityCheck) -> Block {
    let warnings: Vec<String> = quality_check
        .warnings
        .iter()
        .map(Warning::to_string)
        .collect();
    let of = |label: &'static str, lines: &[String]| -> Vec<Item> {
        let item = |text: &String| Item {
            label,
            text: text.clone(),
        };
        lines.iter().map(item).collect()
    };
    Block::List(List {
        kind: ListKind::QualityCheck,
        items: [
            of("fault", &quality_check.faults),
            of("warning", &warnings),
            of("note", &quality_check.notes),
        ]
        .concat(),
        brief: None,
    })
}

/// Lines that a terminal shows completely.
pub(crate) fn whole(lines: Vec<String>) -> Block {
    Block::List(List {
        kind: ListKind::Facts,
        items: lines.into_iter().map(Item::from).collect(),
        brief: None,
    })
}

/// The most trials of a list; all are in the table of trials.
const MOST_SHOWN: usize = 1000;

/// The trials that failed or have a flag, one row each.
fn remarkable(trials: &[Trial]) -> Option<Block> {
    let reported = |trial: &&Trial| trial.failure.is_some() || !trial.flags.is_empty();
    let count = trials.iter().filter(reported).count();
    let shown = trials.iter().filter(reported).take(MOST_SHOWN);
    let row = |trial: &Trial| {
        let failure = trial.failure.as_ref().map(|failure| Remark {
            detail: failure.to_string(),
            ..Remark::new(Emphasis::Neutral, "failed")
        });
        let flags = (!trial.flags.is_empty()).then(|| trial.flags.join(", "));
        let flags = flags.map(|flags| Remark::new(Emphasis::Aside, flags));
        vec![
            Cell::Text(trial.id.to_string()),
            Cell::Text(trial.factors.to_string()),
            Cell::figure(trial.repeat.to_string()),
            Cell::Remarks(failure.into_iter().chain(flags).collect()),
        ]
    };
    let table = Table {
        columns: ["trial", "cell", "repeat", "what"].map(Column::new).into(),
        rows: shown.map(row).collect(),
        ..Table::default()
    };
    let summary = format!("{count} trials that failed or have a flag");
    (count > 0).then(|| Block::Fold {
        summary: match count > MOST_SHOWN {
            true => format!("{summary}, of which the first {MOST_SHOWN}"),
            false => summary,
        },
        blocks: vec![Block::Table(table)],
    })
}
