//! How to cite a run: as text and for BibTeX.

use analysis::Findings;
use document::{Block, Section, Style};

use crate::latex;

/// The citation, on the page only.
pub(crate) fn section(found: &Findings<'_>) -> Option<Section> {
    let source = found.plan.source.as_ref().map(|source| {
        let line = format!("Cite the study that this run repeats as well: {source} (docs/sources.md has the reference).");
        Block::paragraph(Style::Plain, line)
    });
    let blocks = [
        Some(Block::heading("Cite this run")),
        Some(Block::Verbatim(text(found))),
        Some(Block::Verbatim(bibtex(found))),
        source,
    ];
    Some(Section {
        id: "cite",
        blocks: vec![Block::Page(blocks.into_iter().flatten().collect())],
    })
}

/// The citation in one sentence.
fn text(found: &Findings<'_>) -> String {
    let plan = found.plan;
    let days = days(found).map_or_else(String::new, |days| format!(", {days}"));
    format!(
        "Jumbolab {}, experiment {} (\"{}\"), plan {}, {}{days}.",
        found.facts.version,
        plan.name,
        plan.title,
        plan.hash,
        place(found)
    )
}

fn bibtex(found: &Findings<'_>) -> String {
    let plan = found.plan;
    let [title, name, place] =
        [&plan.title, &plan.name, &place(found)].map(|text| latex::escaped(text));
    let key: String = (format!("jumbolab-{}-{}", plan.name, plan.hash).chars())
        .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
        .collect();
    let year = days(found).and_then(|days| Some(days.get(..4)?.to_owned()));
    let year = year.map_or_else(String::new, |year| {
        format!("  year = {{{}}},\n", latex::escaped(&year))
    });
    let days = days(found).map_or_else(String::new, |days| format!(", {}", latex::escaped(&days)));
    let source = plan.source.as_ref().map_or_else(String::new, |source| {
        format!(", repeats {}", latex::escaped(source))
    });
    format!(
        "@misc{{{key},\n  title = {{{{{title}}}}},\n  howpublished = {{Jumbolab {}, experiment {name}, plan {}}},\n{year}  note = {{{place}{days}{source}}}\n}}",
        latex::escaped(&found.facts.version),
        latex::escaped(&plan.hash)
    )
}

/// The backend, with the kernel or the seed on which results depend.
fn place(found: &Findings<'_>) -> String {
    let backend = found.facts.backend;
    match found.facts.kernel() {
        Some(kernel) => format!("backend {backend}, kernel {kernel}"),
        None => format!("backend {backend}, seed {}", found.plan.seed.get()),
    }
}

/// The day of the first trial and that of the last one; simulated trials have
/// none.
fn days(found: &Findings<'_>) -> Option<String> {
    let starts = found.trials.iter().filter_map(|trial| trial.start.as_ref());
    // Times of RFC 3339 in UTC are in order as text [RFC3339 s5.1].
    let days = starts.filter_map(|start| start.get(..10));
    let (first, last) = (days.clone().min()?, days.max()?);
    Some(match first == last {
        true => first.to_owned(),
        false => format!("{first} to {last}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::synthetic::{facts, study};

    #[test]
    fn a_citation_names_version_experiment_plan_kernel_and_days() {
        let (mut plan, mut trials) = study();
        plan.source = Some("Praptodiyono2019".into());
        plan.title = "50 % & more".into();
        plan.hash = "0123abcd".into();
        for trial in &mut trials {
            trial.start = Some("2026-11-23T23:59:59.000Z".into());
        }
        trials[1].start = Some("2026-11-24T00:00:01.000Z".into());
        let facts = facts();
        let found = Findings::of(&plan, &trials, &facts);
        assert_eq!(
            text(&found),
            "Jumbolab 0.1.0, experiment synthetic (\"50 % & more\"), plan 0123abcd, backend netns, kernel Linux 6.18.0, 2026-11-23 to 2026-11-24."
        );
        assert_eq!(
            bibtex(&found),
            "@misc{jumbolab-synthetic-0123abcd,
  title = {{50 \\% \\& more}},
  howpublished = {Jumbolab 0.1.0, experiment synthetic, plan 0123abcd},
  year = {2026},
  note = {backend netns, kernel Linux 6.18.0, 2026-11-23 to 2026-11-24, repeats Praptodiyono2019}
}"
        );
    }
}
