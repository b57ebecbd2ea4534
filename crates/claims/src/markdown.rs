//! docs/evidence/claims.md and the tables of the findings pages.

use std::fmt::Write as _;

use crate::conclusion::Conclusion;
use crate::outcome::Outcome;
use crate::record::Record;
use crate::register::Paper;
use crate::text::{counts, run, share, total};

const HEAD: &str = "\
# Claims

Every claim of the studied papers, with the figure that decides it and the verdict. `jumbolab claims --pages` writes this page and
the tables of docs/evidence/findings from the register (`claims/`) and the recorded results (`docs/results/`); a test compares them.

- **Figure**: the measured figure with its 95 % interval and the world of the run, or the computed one; the printed one where there is one. Where runs of other backends are on record, their results and verdicts follow.
- **Robustness**: the share of the admissible settings in which the claim holds, where `jumbolab robustness` recorded it; of a figure of several cells, from the least share to the greatest; of interpretations, of which the figure has each share, in any of them; with the world of the search where it is not that of the verdict.
- **Verdict**: one of these, each counted apart. The findings pages say how a claim was tested.
";

/// The page of all claims.
pub fn document(outcomes: &[&Outcome<'_>], records: &[Record]) -> String {
    let mut text = HEAD.to_owned();
    for verdict in Conclusion::ALL {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  - *{verdict}*: {}.", verdict.meaning());
    }
    let _ = writeln!(text, "\n{}.", total(outcomes));
    for of_paper in outcomes.chunk_by(|one, other| one.paper.name == other.paper.name) {
        let Some(first) = of_paper.first() else {
            continue;
        };
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "\n## {} [{}]\n\n{}.\n\n| claim | place | done | figure | verdict | robustness | why |\n|---|---|---|---|---|---|---|\n",
            first.paper.title,
            first.paper.source,
            counts(of_paper)
        );
        for outcome in of_paper {
            let claim = outcome.claim;
            let _ = writeln!(
                text,
                "| <a id=\"{}\"></a>{} | {} | {} | {} | {} | {} | {} |",
                claim.id,
                cell(&claim.text),
                cell(&claim.place),
                cell(&claim.done),
                cell(&outcome.figures()),
                outcome.verdict,
                outcome.robustness.as_ref().map_or_else(String::new, share),
                cell(&claim.why)
            );
        }
    }
    text += "\n## Recorded runs\n\n";
    for record in records {
        let _ = writeln!(text, "- `{}`: {}.", record.file_name(), run(&record.run));
    }
    text
}

/// A page of docs/evidence/findings with the table of its paper's claims brought up to
/// date; none where the page has no place for it.
pub fn with_table(page: &str, paper: &Paper, outcomes: &[&Outcome<'_>]) -> Option<String> {
    let begin = format!("<!-- claims {} -->\n", paper.name);
    let (before, rest) = page.split_once(&begin)?;
    let (_, after) = rest.split_once("<!-- end -->")?;
    let of_paper: Vec<&Outcome<'_>> = outcomes
        .iter()
        .copied()
        .filter(|outcome| outcome.paper.name == paper.name)
        .collect();
    let mut table = format!(
        "{}.\n\n| claim | figure | verdict |\n|---|---|---|\n",
        counts(&of_paper)
    );
    for outcome in of_paper {
        // Writing to a string does not fail.
        let _ = writeln!(
            table,
            "| [{}](../claims.md#{}) | {} | {} |",
            cell(&outcome.claim.text),
            outcome.claim.id,
            cell(&outcome.figures()),
            outcome.verdict
        );
    }
    Some(format!("{before}{begin}{table}<!-- end -->{after}"))
}

/// Text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{outcomes, papers, recorded};

    const STALE: &str = "write it again: `cargo run -p jumbolab -- claims --pages`";

    fn read(path: &str) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        std::fs::read_to_string(root.join(path)).unwrap()
    }

    #[test]
    fn the_page_of_claims_is_up_to_date() {
        let (papers, records) = (papers().unwrap(), recorded().unwrap());
        let all = outcomes(&papers, &records).unwrap();
        let all: Vec<_> = all.iter().collect();
        assert!(
            read("docs/evidence/claims.md") == document(&all, &records),
            "{STALE}"
        );
    }

    #[test]
    fn findings_have_the_table_of_their_claims() {
        let (papers, records) = (papers().unwrap(), recorded().unwrap());
        let all = outcomes(&papers, &records).unwrap();
        let all: Vec<_> = all.iter().collect();
        for paper in &papers {
            let Some(path) = &paper.page else { continue };
            let page = read(path);
            let with = with_table(&page, paper, &all);
            assert!(with.unwrap() == page, "{path}: {STALE}");
            assert!(with_table("no place", paper, &all).is_none());
        }
    }

    #[test]
    fn a_table_replaces_what_was_there() {
        let papers = papers().unwrap();
        let all = outcomes(&papers, &[]).unwrap();
        let all: Vec<_> = all.iter().collect();
        let paper = papers.iter().find(|paper| paper.name == "egan").unwrap();
        let page = "a\n<!-- claims egan -->\nold\n<!-- end -->\nb\n";
        let page = with_table(page, paper, &all).unwrap();
        assert!(page.starts_with("a\n<!-- claims egan -->\nEgan"), "{page}");
        assert!(page.ends_with("|\n<!-- end -->\nb\n"), "{page}");
        assert!(
            !page.contains("old") && page.contains("#egan-ratio)"),
            "{page}"
        );
        assert!(!page.contains("#mred-drop"), "{page}");
    }
}
