//! Alternatives of a claim that exclude each other, and where it holds.

use analysis::claims::{Needs, where_it_holds};
use analysis::verdict::Verdict;
use serde::Serialize;

use super::Admissible;
use crate::record::{Named, OfAlternative, OfFigure};

/// One of several alternatives, with the share of the admissible settings in which the
/// claim holds there. The order of fields is that of the JSON object.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alternative {
    /// The alternative in words.
    pub name: String,
    /// Whether the paper states it; if it states none, all of them count.
    pub stated: bool,
    pub verdict: Verdict,
    /// The share in per cent and the number of settings, if they are recorded.
    pub robustness: Option<(f64, usize)>,
}

/// The alternatives of a claim in words or of a step.
pub(super) fn of_lines(lines: &[OfAlternative]) -> Vec<Alternative> {
    let one = |one: &OfAlternative| Alternative {
        name: one.name.clone(),
        stated: one.stated,
        verdict: one.verdict,
        robustness: None,
    };
    lines.iter().map(one).collect()
}

/// The alternatives of a published figure, whose cells they share out.
pub(super) fn of_figures(about: &[&OfFigure]) -> Vec<Alternative> {
    let mut found: Vec<(&Named, Vec<Verdict>)> = Vec::new();
    for one in about {
        let Some(named) = &one.alternative else {
            continue;
        };
        match found.iter_mut().find(|(other, _)| *other == named) {
            Some((_, verdicts)) => verdicts.push(one.verdict),
            None => found.push((named, vec![one.verdict])),
        }
    }
    let one = |(named, verdicts): (&Named, Vec<Verdict>)| Alternative {
        name: named.name.clone(),
        stated: named.stated,
        verdict: super::together(verdicts.into_iter()),
        robustness: None,
    };
    found.into_iter().map(one).collect()
}

/// The overall verdict of a published figure: of the alternatives that the paper states,
/// else of all.
pub(super) fn verdict(alternatives: &[Alternative]) -> Verdict {
    let some_stated = alternatives.iter().any(|one| one.stated);
    let counted = alternatives.iter().filter(|one| one.stated || !some_stated);
    Needs::Each.verdict(counted.map(|one| one.verdict))
}

/// Adds the shares that a search recorded of each alternative.
pub(super) fn with_shares(alternatives: &mut [Alternative], search: &Admissible<'_>) {
    for one in alternatives {
        let lines = search.of_alternatives.iter();
        let own = lines.filter(|line| line.alternative.as_deref() == Some(&*one.name));
        let least = own.min_by(|a, b| a.holds.value.total_cmp(&b.holds.value));
        one.robustness = least.map(|line| (line.holds.value, line.settings));
    }
}

/// Where a claim holds and where not, with the shares: `holds in A (51 % of 165 settings);
/// not in B`.
pub(super) fn places(alternatives: &[Alternative], overall: Verdict) -> String {
    let named = |one: &Alternative| {
        let stated = one.stated.then(|| "as stated".to_owned());
        let share = one
            .robustness
            .map(|(share, settings)| format!("{share:.0} % of {settings} settings"));
        let notes: Vec<String> = stated.into_iter().chain(share).collect();
        let name = match notes.is_empty() {
            true => one.name.clone(),
            false => format!("{} ({})", one.name, notes.join(", ")),
        };
        (name, one.verdict)
    };
    let each: Vec<_> = alternatives.iter().map(named).collect();
    let some_stated = alternatives.iter().any(|one| one.stated);
    where_it_holds(&each, overall, some_stated)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Measured;

    fn of(name: &str, verdict: Verdict, robustness: Option<(f64, usize)>) -> Alternative {
        Alternative {
            name: name.to_owned(),
            stated: false,
            verdict,
            robustness,
        }
    }

    #[test]
    fn it_says_where_a_claim_holds_with_its_share_and_where_not() {
        use Verdict::{DirectionOnly, InSome, Inconclusive, NotReproduced, Reproduced};
        let all = [
            of("oldest frame", Reproduced, Some((51.4, 165))),
            of("arriving frame", NotReproduced, Some((9.6, 165))),
            of("any frame", Inconclusive, None),
            of("no frame", DirectionOnly, None),
        ];
        assert_eq!(
            places(&all, InSome),
            "holds in oldest frame (51 % of 165 settings); not in arriving frame (10 % of 165 settings); \
             another size in no frame; undecided in any frame"
        );
        // Of rival causes one is sufficient.
        assert_eq!(
            places(&all[1..], NotReproduced),
            "not in arriving frame (10 % of 165 settings); another size in no frame; undecided in any frame"
        );
        assert_eq!(
            places(&all, Reproduced),
            "by 1 of 4: oldest frame (51 % of 165 settings)"
        );
        // What the paper states decides.
        let mut stated = all[..2].to_vec();
        stated[0].stated = true;
        assert_eq!(verdict(&stated), Reproduced);
        assert_eq!(
            places(&stated, Reproduced),
            "holds in oldest frame (as stated, 51 % of 165 settings); not in arriving frame (10 % of 165 settings)"
        );
    }

    #[test]
    fn the_cells_of_a_published_figure_are_joined_within_an_alternative_only() {
        use Verdict::{InSome, NotReproduced, Reproduced};
        let figure = |name: &str, verdict| OfFigure {
            metric: "rtt".to_owned(),
            unit: "ms".to_owned(),
            cell: std::collections::BTreeMap::new(),
            mean: Measured {
                value: 1.0,
                interval: None,
            },
            change: None,
            published: None,
            published_change: None,
            verdict,
            reason: String::new(),
            alternative: Some(Named {
                name: name.to_owned(),
                stated: false,
            }),
        };
        let all = [
            figure("one link", Reproduced),
            figure("two links", Reproduced),
            figure("one link", NotReproduced),
        ];
        let found = of_figures(&all.iter().collect::<Vec<_>>());
        let verdicts: Vec<_> = found.iter().map(|one| one.verdict).collect();
        assert_eq!(verdicts, [NotReproduced, Reproduced]);
        assert_eq!(verdict(&found), InSome);
    }
}
