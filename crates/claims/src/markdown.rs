//! The pages of docs/evidence/claims: an overview, and one page for each paper.

use std::fmt::Write as _;

use crate::conclusion::Conclusion;
use crate::outcome::Outcome;
use crate::record::Record;
use crate::text::{counts, run, share, total};

const HEAD: &str = "\
# Claims

Every claim of the studied papers, with the value that decides it and the verdict. `jumbolab claims --pages` writes these pages
from the register (`claims/`) and the recorded results (`docs/results/`); a test compares them. `jumbolab claims NAME` prints one claim, and how it was tested.

";

const COLUMNS: &str = "\
## Columns

- **Value**: the measured value with its 95 % interval and the backend of the run, or the computed one; the printed one where there is one. Where runs of other backends are on record, their results and verdicts follow.
- **Sensitivity**: the share of the plausible settings in which the claim holds, where `jumbolab sensitivity` recorded it; of a value of several cells, from the smallest share to the largest; of interpretations, of which the value has each share, in any of them; with the backend of the search where it is not that of the verdict.
- **Verdict**: one of these, each counted apart. Some claims are about hosts that were not measured. They have a second verdict, by simulated hosts that are fitted to the paper's throughput at one MTU. It is no measurement of those hosts, and the counts leave it out. No claim is judged by the values that the hosts are fitted to.
";

/// A file of docs/evidence/claims.
pub struct Page {
    /// Its name, without a folder.
    pub name: String,
    /// Its Markdown.
    pub text: String,
}

/// The overview and the pages of all papers.
pub fn pages(outcomes: &[&Outcome<'_>], records: &[Record]) -> Vec<Page> {
    let overview = Page {
        name: "README.md".to_owned(),
        text: overview(outcomes, records),
    };
    let papers = of_papers(outcomes).map(|(first, all)| Page {
        name: format!("{}.md", first.paper.name),
        text: paper(first, all),
    });
    std::iter::once(overview).chain(papers).collect()
}

/// The outcomes of each paper, with the first of them.
fn of_papers<'a, 'b>(
    outcomes: &'a [&'b Outcome<'b>],
) -> impl Iterator<Item = (&'b Outcome<'b>, &'a [&'b Outcome<'b>])> {
    let papers = outcomes.chunk_by(|one, other| one.paper.name == other.paper.name);
    papers.filter_map(|all| Some((*all.first()?, all)))
}

fn overview(outcomes: &[&Outcome<'_>], records: &[Record]) -> String {
    let mut text = format!("{HEAD}{}.\n\n", total(outcomes));
    for (first, all) in of_papers(outcomes) {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "- [{0}.md]({0}.md) [{1}]: {2}.",
            first.paper.name,
            first.paper.source,
            counts(all)
        );
    }
    let _ = write!(text, "\n{COLUMNS}");
    for verdict in Conclusion::ALL {
        let _ = writeln!(text, "  - *{verdict}*: {}.", verdict.meaning());
    }
    text += "\n## Recorded runs\n\n";
    for record in records {
        let _ = writeln!(text, "- `{}`: {}.", record.file_name(), run(&record.run));
    }
    text
}

fn paper(first: &Outcome<'_>, outcomes: &[&Outcome<'_>]) -> String {
    let mut text = format!(
        "# {} [{}]\n\n{}. [The overview](README.md) describes the columns.",
        first.paper.title,
        first.paper.source,
        counts(outcomes)
    );
    let finding = first.paper.page.as_deref();
    if let Some(page) = finding.and_then(|page| page.strip_prefix("docs/evidence/")) {
        // Writing to a string does not fail.
        let _ = write!(text, " [The finding](../{page}) has the answer.");
    }
    text +=
        "\n\n| claim | place | value | verdict | sensitivity | why |\n|---|---|---|---|---|---|\n";
    for outcome in outcomes {
        let claim = outcome.claim;
        let _ = writeln!(
            text,
            "| <a id=\"{}\"></a>{} | {} | {} | {} | {} | {} |",
            claim.id,
            cell(&claim.text),
            cell(&claim.place),
            cell(&outcome.figures()),
            outcome.verdicts(),
            outcome.sensitivity.as_ref().map_or_else(String::new, share),
            cell(&claim.why)
        );
    }
    text
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

    #[test]
    fn the_pages_of_claims_are_up_to_date() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/evidence/claims");
        let (papers, records) = (papers().unwrap(), recorded().unwrap());
        let all = outcomes(&papers, &records).unwrap();
        let all: Vec<_> = all.iter().collect();
        let pages = pages(&all, &records);
        let kept = std::fs::read_dir(&folder).unwrap().count();
        assert_eq!((pages.len(), kept), (papers.len() + 1, papers.len() + 1));
        for page in pages {
            let written = std::fs::read_to_string(folder.join(&page.name)).unwrap();
            assert!(written == page.text, "{}: {STALE}", page.name);
        }
    }

    #[test]
    fn each_claim_is_on_the_page_of_its_paper_alone() {
        let papers = papers().unwrap();
        let all = outcomes(&papers, &[]).unwrap();
        let all: Vec<_> = all.iter().collect();
        let pages = pages(&all, &[]);
        for one in all {
            let anchor = format!("<a id=\"{}\">", one.claim.id);
            let with = pages.iter().filter(|page| page.text.contains(&anchor));
            let with: Vec<&str> = with.map(|page| page.name.as_str()).collect();
            assert_eq!(with, [format!("{}.md", one.paper.name)], "{}", one.claim.id);
        }
    }
}
