//! Compares figures that pages quote with the recorded results.
//!
//! A comment of the form `<!-- from record level... -->` names the record and levels of what
//! follows, up to the next such comment or heading. A comment `<!--= metric level... part *factor -->`
//! directly after a figure names its cell; the part is the mean unless it is
//! `change`, `paired` or `ratio`. `<!--= claim part -->` names a claim of the register; its
//! part is `lowest`, `highest`, `average` or `sensitivity`. A level is written `queue=red`.
//! A section in which figures have no record says "not on record".

use std::collections::BTreeMap;

use crate::record::{Line, Measured, Record};
use crate::register::{Evidence, Paper};

/// How a section names figures without a record.
const UNRECORDED: &str = "not on record";

/// One message for each figure of a page that differs from its record, and for
/// each interval that has none in a section that does not say so.
fn mistakes(page: &str, records: &[Record], papers: &[Paper]) -> Vec<String> {
    let mut mistakes = Vec::new();
    for section in sections(page) {
        let mut context = String::new();
        let may_lack = section.contains(UNRECORDED);
        for line in section.lines().filter(|line| !line.starts_with("    ")) {
            if let Some(from) = comment(line, "<!-- from ") {
                from.trim().clone_into(&mut context);
                continue;
            }
            let mut pieces = line.split("<!--= ");
            let mut before = pieces.next().unwrap_or_default();
            for piece in pieces {
                let (reference, after) = piece.split_once("-->").unwrap_or((piece, ""));
                let wanted = look_up(&format!("{context} {reference}"), records, papers);
                let checked = wanted.and_then(|wanted| compare(before, wanted));
                mistakes.extend(checked.err().map(|why| format!("{reference}: {why}")));
                if !may_lack {
                    mistakes.extend(intervals(own_interval(before).0));
                }
                before = after;
            }
            if !may_lack {
                mistakes.extend(intervals(before));
            }
        }
    }
    mistakes
}

/// The sections of a page.
fn sections(page: &str) -> Vec<String> {
    let mut sections = vec![String::new()];
    for line in page.lines() {
        if line.starts_with('#') {
            sections.push(String::new());
        }
        if let Some(last) = sections.last_mut() {
            *last += line;
            last.push('\n');
        }
    }
    sections
}

fn comment<'a>(line: &'a str, begin: &str) -> Option<&'a str> {
    line.strip_prefix(begin)?.strip_suffix("-->")
}

/// Intervals in a text: measured figures, since the papers print none.
fn intervals(text: &str) -> Option<String> {
    let bracketed = |part: &str| {
        let inside = part.split(']').next().unwrap_or_default();
        let ends: Vec<&str> = inside.split(", ").collect();
        ends.len() == 2 && ends.iter().all(|end| end.parse::<f64>().is_ok())
    };
    let found = text.contains(" ± ") || text.split('[').skip(1).any(bracketed);
    found.then(|| format!("an interval without a reference: {}", text.trim()))
}

/// The recorded figure of a reference behind its context.
fn look_up(text: &str, records: &[Record], papers: &[Paper]) -> Result<Measured, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let has = |word: &str| words.contains(&word);
    let mut claims = papers.iter().flat_map(|paper| &paper.claims);
    if let Some(claim) = claims.find(|claim| has(&claim.id)) {
        let Evidence::Claim(wanted) = &claim.evidence else {
            return Err("the claim has no run as evidence".to_owned());
        };
        let of_same = records.iter().filter(|record| {
            record.run.experiment == wanted.experiment
                && (record.run.variant.is_none() || has("sensitivity"))
                && wanted
                    .backend
                    .as_ref()
                    .is_none_or(|backend| *backend == record.run.backend)
        });
        let found = of_same.flat_map(|record| {
            let shares = record.sensitivity.iter();
            let share = shares.filter(|one| {
                has("sensitivity") && one.question == wanted.claim && one.alternative.is_none()
            });
            let lines = record.verdicts.iter().filter_map(|line| match line {
                Line::Claim(one) if one.claim == wanted.claim && has("lowest") => one.lowest,
                Line::Claim(one) if one.claim == wanted.claim && has("highest") => one.highest,
                Line::Claim(one) if one.claim == wanted.claim && has("average") => one.average,
                _ => None,
            });
            share.map(|share| share.holds).chain(lines)
        });
        return only(found.collect());
    }
    let named = |record: &&Record| has(record.file_name().trim_end_matches(".json"));
    let record = records
        .iter()
        .find(named)
        .ok_or("there is no such record")?;
    // What stands at the figure itself overrides its context.
    let levels: BTreeMap<&str, &str> = words
        .iter()
        .filter_map(|word| word.split_once('='))
        .collect();
    let found = record.figures.iter().filter(|one| {
        let level = |(name, level): (&&str, &&str)| {
            let own = one.cell.get(*name);
            own.is_some_and(|own| own.to_string() == *level)
        };
        has(&one.metric) && levels.iter().all(level)
    });
    let part = found.filter_map(|one| match () {
        () if has("paired") => one.paired,
        () if has("change") => one.change,
        () if has("ratio") => one.change.map(|change| scaled(change, 0.01, 1.0)),
        () => Some(one.mean),
    });
    let factor = words
        .iter()
        .find_map(|word| word.strip_prefix('*')?.parse().ok());
    Ok(scaled(only(part.collect())?, factor.unwrap_or(1.0), 0.0))
}

fn scaled(figure: Measured, factor: f64, plus: f64) -> Measured {
    let scale = |value: f64| factor.mul_add(value, plus);
    Measured {
        value: scale(figure.value),
        interval: figure.interval.map(|interval| interval.map(scale)),
    }
}

fn only(found: Vec<Measured>) -> Result<Measured, String> {
    match found.as_slice() {
        [one] => Ok(*one),
        all => Err(format!("{} recorded figures fit", all.len())),
    }
}

/// A text without the interval at its end, and the two ends of that, or its half.
fn own_interval(text: &str) -> (&str, Vec<&str>) {
    let text = text.trim_end();
    let bracketed = text
        .strip_suffix(']')
        .and_then(|text| text.rsplit_once('['));
    if let Some((before, inside)) = bracketed {
        return (before, inside.split(", ").collect());
    }
    match text.rsplit_once(" ± ") {
        Some((before, half)) if !half.contains(' ') => (before, vec![half]),
        _ => (text, Vec::new()),
    }
}

/// Compares the figure at the end of a text with a recorded one.
fn compare(text: &str, wanted: Measured) -> Result<(), String> {
    let (text, written) = own_interval(text);
    let recorded = wanted.interval.ok_or("the record has no interval");
    // Ends and halves of intervals may be rounded outwards.
    match written.as_slice() {
        [] => {}
        [half] => {
            let [low, high] = recorded?;
            agree(half, (high - low) / 2.0, 1.0)?;
        }
        [first, second] => {
            let [low, high] = recorded?;
            agree(first, low, 1.0)?;
            agree(second, high, 1.0)?;
        }
        _ => return Err("an interval has two ends".to_owned()),
    }
    let mut words = text.split_whitespace().rev();
    let figure = words.find(|word| word.trim_matches(MARKUP).parse::<f64>().is_ok());
    let figure = figure.ok_or("no figure stands before it")?;
    agree(figure.trim_matches(MARKUP), wanted.value, 0.5)
}

/// Characters around figures.
const MARKUP: &[char] = &['(', '*', '|', ','];

/// Whether a written figure differs from a recorded one by no more than this part of its last
/// digit; recorded ones have themselves been rounded to four digits.
fn agree(written: &str, recorded: f64, part: f64) -> Result<(), String> {
    let value: f64 = written
        .parse()
        .map_err(|_| format!("{written:?} is no figure"))?;
    let places = written
        .split_once('.')
        .map_or(0, |(_, places)| places.len());
    let last_digit = 10_f64.powi(-i32::try_from(places).unwrap_or(0));
    let last_recorded = 10_f64.powf(recorded.abs().log10().floor() - 3.0);
    if (value - recorded).abs() <= 1.0001 * (part * last_digit + 0.5 * last_recorded) {
        return Ok(());
    }
    Err(format!("the page says {written}, the record {recorded}"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{papers, recorded};

    #[test]
    fn pages_quote_the_records() {
        let (papers, records) = (papers().unwrap(), recorded().unwrap());
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/evidence/findings");
        let mut all = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let page = std::fs::read_to_string(&path).unwrap();
                assert!(
                    page.contains("<!--= ") || page.contains(UNRECORDED),
                    "{path:?}"
                );
                let mistakes = mistakes(&page, &records, &papers);
                all.extend(
                    mistakes
                        .iter()
                        .map(|one| format!("{}: {one}", path.display())),
                );
            }
        }
        assert!(all.is_empty(), "{}", all.join("\n"));
    }

    const RECORD: &str = r#"{"run":{"experiment":"e","variant":null,"backend":"sim","plan":"","version":"","kernel":null,
        "processors":null,"date":null,"trials":1,"failed":0,"complete":true,"quality_check":"passed"},
        "verdicts":[],"sensitivity":[],"figures":[
        {"metric":"delay","unit":"ms","cell":{"mtu":1500},"mean":{"value":0.1245,"interval":[0.1205,0.1285]}},
        {"metric":"delay","unit":"ms","cell":{"mtu":9000},"mean":{"value":0.0625,"interval":null},"change":{"value":-49.8,"interval":[-52.0,-47.61]}}]}"#;

    #[track_caller]
    fn check(line: &str, wanted: &str) {
        let records = [Record::parse(RECORD).unwrap()];
        let page = format!("# A\n\n<!-- from e.sim -->\n{line}\n");
        let found = mistakes(&page, &records, &[]).join("; ");
        match wanted {
            "" => assert_eq!(found, "", "{line}"),
            wanted => assert!(found.contains(wanted), "{line}: {found}"),
        }
    }

    #[test]
    fn a_figure_agrees_with_its_record_or_is_named() {
        let first = "<!--= delay mtu=1500 -->";
        let second = "<!--= delay mtu=9000 -->";
        check(&format!("| 1500 | 0.12{first} | 0.062{second} |"), "");
        check(&format!("0.124{first} ms"), "");
        check(
            &format!("0.13{first} ms"),
            "the page says 0.13, the record 0.1245",
        );
        check(&format!("0.1245 [0.120, 0.128]{first}"), "");
        check(
            &format!("0.1245 [0.120, 0.130]{first}"),
            "the page says 0.130",
        );
        check(&format!("0.1245 ± 0.004{first}"), "");
        check(&format!("0.1245 ± 0.006{first}"), "the page says 0.006");
        check("124.5<!--= delay mtu=1500 *1000 -->", "");
        check("-49.8 % [-52, -48]<!--= delay mtu=9000 change -->", "");
        check("0.502<!--= delay mtu=9000 ratio -->", "");
        check("0.503<!--= delay mtu=9000 ratio -->", "the record 0.502");
        check(&format!("0.06 ± 0.01{second}"), "no interval");
        check("0.12<!--= delay -->", "2 recorded figures fit");
        check("0.12<!--= delay mtu=4000 -->", "0 recorded figures fit");
        check("fast<!--= delay mtu=1500 -->", "no figure stands before it");
    }

    #[test]
    fn an_interval_has_a_record_or_its_section_says_that_it_has_none() {
        check(
            "0.1 [0.05, 0.2] ms, see [Egan s2]",
            "an interval without a reference",
        );
        check("0.1 ± 0.2 ms", "an interval without a reference");
        check("0.1 ± 0.2 ms. These figures are not on record.", "");
        check("    0.1 ± 0.2 ms of a program's output", "");
        check(
            "0.5 [0.4, 0.6] and 0.12<!--= delay mtu=1500 -->",
            "without a reference",
        );
        check("range [1, 5, 7], [a, b]", "");
    }
}
