//! Alternatives of a claim that exclude each other, and where it holds.

use analysis::claims::{overall, where_it_holds};
use analysis::verdict::Verdict;
use serde::Serialize;

use super::Plausible;
use crate::record::{Named, OfAlternative, OfFigure};

/// One of several alternatives, with the share of the plausible settings in which the
/// claim holds there. The order of fields is that of the JSON object.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alternative {
    /// The alternative in words.
    pub name: String,
    /// Whether the paper states it; if it states none, all of them count.
    pub stated: bool,
    pub verdict: Verdict,
    /// The share in per cent and the number of settings, if they are recorded.
    pub sensitivity: Option<(f64, usize)>,
}

/// The alternatives of a claim in words or of a step.
pub(super) fn of_lines(lines: &[OfAlternative]) -> Vec<Alternative> {
    let one = |one: &OfAlternative| Alternative {
        name: one.name.clone(),
        stated: one.stated,
        verdict: one.verdict,
        sensitivity: None,
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
        sensitivity: None,
    };
    found.into_iter().map(one).collect()
}

/// The alternatives of several claims, and how many of the claims each gives: one has to
/// give all of them.
pub(super) fn of_all(claims: &[&[OfAlternative]]) -> (String, Vec<Alternative>) {
    let one = |first: &OfAlternative| {
        let own = claims.iter().map(|each| {
            let own = each.iter().find(|other| other.name == first.name);
            own.map_or(Verdict::NotMeasured, |own| own.verdict)
        });
        let own: Vec<Verdict> = own.collect();
        let given = own.iter().filter(|one| **one == Verdict::Reproduced);
        let alternative = Alternative {
            name: first.name.clone(),
            stated: first.stated,
            verdict: given_all(&own),
            sensitivity: None,
        };
        (format!("{} {}", first.name, given.count()), alternative)
    };
    let first = claims.first().copied().unwrap_or_default();
    let (counts, alternatives): (Vec<String>, Vec<_>) = first.iter().map(one).unzip();
    let figure = format!("{} of {} claims", counts.join(", "), claims.len());
    (figure, alternatives)
}

/// Whether an alternative with these verdicts gives every claim.
fn given_all(verdicts: &[Verdict]) -> Verdict {
    use Verdict::{DirectionOnly, Inconclusive, NotMeasured, NotReproduced, Reproduced};
    let are = |wanted| verdicts.iter().all(|one| *one == wanted);
    let contradicts = |one: &Verdict| matches!(one, NotReproduced | DirectionOnly);
    match verdicts.iter().any(contradicts) {
        true => NotReproduced,
        false if are(Reproduced) => Reproduced,
        false if are(NotMeasured) => NotMeasured,
        false => Inconclusive,
    }
}

/// The overall verdict of several alternatives: of the alternatives that the paper states,
/// else of all.
pub(super) fn verdict(alternatives: &[Alternative]) -> Verdict {
    let some_stated = alternatives.iter().any(|one| one.stated);
    let counted = alternatives.iter().filter(|one| one.stated || !some_stated);
    overall(counted.map(|one| one.verdict))
}

/// Adds the shares that a search recorded of each alternative.
pub(super) fn with_shares(alternatives: &mut [Alternative], search: &Plausible<'_>) {
    for one in alternatives {
        let lines = search.of_alternatives.iter();
        let own = lines.filter(|line| line.alternative.as_deref() == Some(&*one.name));
        let least = own.min_by(|a, b| a.holds.value.total_cmp(&b.holds.value));
        one.sensitivity = least.map(|line| (line.holds.value, line.settings));
    }
}

/// Where a claim holds and where not, with the shares: `holds in A (51 % of 165 settings);
/// not in B`.
pub(super) fn places(alternatives: &[Alternative]) -> String {
    let named = |one: &Alternative| {
        let stated = one.stated.then(|| "as stated".to_owned());
        let share = one
            .sensitivity
            .map(|(share, settings)| format!("{share:.0} % of {settings} settings"));
        let notes: Vec<String> = stated.into_iter().chain(share).collect();
        let name = match notes.is_empty() {
            true => one.name.clone(),
            false => format!("{} ({})", one.name, notes.join(", ")),
        };
        (name, one.verdict)
    };
    let each: Vec<_> = alternatives.iter().map(named).collect();
    where_it_holds(&each)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Measured;

    fn of(name: &str, verdict: Verdict, sensitivity: Option<(f64, usize)>) -> Alternative {
        Alternative {
            name: name.to_owned(),
            stated: false,
            verdict,
            sensitivity,
        }
    }

    #[test]
    fn it_says_where_a_claim_holds_with_its_share_and_where_not() {
        use Verdict::{DirectionOnly, Inconclusive, NotReproduced, Reproduced};
        let all = [
            of("oldest frame", Reproduced, Some((51.4, 165))),
            of("arriving frame", NotReproduced, Some((9.6, 165))),
            of("any frame", Inconclusive, None),
            of("no frame", DirectionOnly, None),
        ];
        assert_eq!(
            places(&all),
            "holds in oldest frame (51 % of 165 settings); not in arriving frame (10 % of 165 settings); \
             another size in no frame; undecided in any frame"
        );
        // What the paper states decides.
        let mut stated = all[..2].to_vec();
        stated[0].stated = true;
        assert_eq!(verdict(&stated), Reproduced);
        assert_eq!(
            places(&stated),
            "holds in oldest frame (as stated, 51 % of 165 settings); not in arriving frame (10 % of 165 settings)"
        );
    }

    #[test]
    fn one_alternative_has_to_give_every_claim() {
        use Verdict::{
            DirectionOnly, InSome, Inconclusive, NotMeasured, NotReproduced, Reproduced,
        };
        let claim = |verdicts: [Verdict; 5]| {
            let names = ["a", "b", "c", "d", "e"].into_iter().zip(verdicts);
            let one = |(name, verdict): (&str, Verdict)| OfAlternative {
                name: name.to_owned(),
                cell: std::collections::BTreeMap::new(),
                stated: false,
                verdict,
                holds: 0,
                settings: 1,
            };
            names.map(one).collect::<Vec<_>>()
        };
        let one = claim([
            Reproduced,
            Reproduced,
            Reproduced,
            NotMeasured,
            DirectionOnly,
        ]);
        let other = claim([
            NotReproduced,
            Reproduced,
            Inconclusive,
            NotMeasured,
            Reproduced,
        ]);
        let (figure, found) = of_all(&[&one[..], &other[..]]);
        assert_eq!(figure, "a 1, b 2, c 1, d 0, e 1 of 2 claims");
        let verdicts: Vec<_> = found.iter().map(|one| one.verdict).collect();
        assert_eq!(
            verdicts,
            [
                NotReproduced,
                Reproduced,
                Inconclusive,
                NotMeasured,
                NotReproduced
            ]
        );
        assert_eq!(verdict(&found), InSome);
        // Each claim is given by one of them, and both by none.
        let [one, other] = [one, other].map(|each| [each[0].clone(), each[4].clone()]);
        assert_eq!(verdict(&of_all(&[&one[..], &other[..]]).1), NotReproduced);
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
