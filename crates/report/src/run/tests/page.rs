use std::collections::BTreeSet;
use std::sync::Arc;

use analysis::Findings;
use plan::synthetic::{facts, study};
use plan::{Level, Plan, RunFacts, Trial, evidence};
use proptest::prelude::*;
use serde_json::Value;

use crate::page::plots_of;

pub(super) fn page(plan: &Plan, trials: &[Trial], facts: &RunFacts) -> String {
    crate::html(&crate::of_run(&Findings::of(plan, trials, facts), None))
}

/// A study with trials of every flag.
pub(super) fn flagged_study() -> (Plan, Vec<Trial>) {
    let (plan, mut trials) = study();
    trials[0].flags.push("disturbed".into());
    trials[1].flags.push("mtu-differs".into());
    trials[2].evidence.insert(evidence::LIMIT_MBIT, 989.9);
    (plan, trials)
}

/// The elements of a page by name, without the content of scripts.
fn tags(page: &str) -> Vec<&str> {
    let mut tags = Vec::new();
    let mut rest = page;
    while let Some(begin) = rest.find('<') {
        let end = rest[begin..].find('>').expect("a tag ends") + begin;
        let tag = &rest[begin + 1..end];
        tags.push(tag);
        rest = &rest[end + 1..];
        if tag.starts_with("script") {
            rest = &rest[rest.find("</script>").expect("a script ends")..];
        }
    }
    tags
}

#[test]
fn the_first_screen_has_the_answer_and_the_quality_check() {
    let (plan, trials) = study();
    let page = page(&plan, &trials, &facts());
    let (head, _) = page.split_once("</header>").unwrap();
    for words in [
        "What a test needs",
        "quality check passed",
        "8 of 12 trials finished, 1 failed and left out",
        "Linux 6.18.0, 2 × Test CPU, run by an ordinary user",
        "goodput +4.3 % [3.6, 5.0], less than header overhead alone gives (framing +6.4 %).",
        "The run is incomplete",
    ] {
        assert!(head.contains(words), "`{words}` is not in the head");
    }
    assert!(page.contains("[Praptodiyono2019 Table 4]"));
    assert!(page.contains("the receiver died"), "why a trial failed");
    assert!(page.contains("A synthetic plan."));
}

#[test]
fn a_change_from_zero_has_no_per_cent_at_a_glance() {
    let (plan, mut trials) = study();
    let of_baseline = trials
        .iter_mut()
        .filter(|trial| trial.factors.level("mtu") == Some(&Level::Integer(1500)));
    for trial in of_baseline {
        trial.metrics.insert("throughput", 0.0);
    }
    let page = page(&plan, &trials, &facts());
    let none = "<b>-</b> <span class=\"interval\">no per cent of 0</span>";
    assert!(page.contains(none), "{page}");
    assert!(!page.contains("<b>none:</b>"));
}

#[test]
fn a_quality_check_that_failed_is_said_at_once() {
    let (plan, trials) = flagged_study();
    let page = page(&plan, &trials, &facts());
    let (head, _) = page.split_once("</header>").unwrap();
    assert!(head.contains("quality check FAILED"), "{head}");
    assert!(head.contains("mtu-differs"), "{head}");
}

#[test]
fn warnings_are_amber_on_the_page_and_a_run_of_warnings_alone_has_a_result() {
    let (plan, mut trials) = study();
    let head = |trials: &[Trial]| {
        let page = page(&plan, trials, &facts());
        page.split_once("</header>").unwrap().0.to_owned()
    };
    assert!(!head(&trials).contains("p class=\"warning\""));
    trials[0].flags.push("disturbed".into());
    let warning =
        "approximate results: other work disturbed 1 of 8 trials; repeat on an idle machine";
    let some = head(&trials);
    for part in [
        "class=\"badge warning\"",
        "! quality check passed with warnings",
        &format!("<p class=\"warning\">Warning: {warning}.</p>"),
        "table class=\"answer\"",
    ] {
        assert!(some.contains(part), "`{part}` is not in: {some}");
    }
    for trial in &mut trials {
        trial.flags.push("disturbed".into());
    }
    let most = head(&trials);
    let note = "(approximate: other work disturbed 4 of 4 trials)";
    for part in [
        "table class=\"answer\"",
        "goodput +4.3 %",
        note,
        "approximate: better",
    ] {
        assert!(most.contains(part), "`{part}` is not in: {most}");
    }
}

#[test]
fn a_run_that_measured_nothing_has_a_page_too() {
    let (plan, _) = study();
    let page = page(&plan, &[], &facts());
    assert!(page.contains("938.88") && page.contains("quality check FAILED"));
    assert!(plots_of(&page).as_object().unwrap().is_empty());
}

#[test]
fn nothing_in_the_page_asks_for_another_file() {
    let (plan, trials) = flagged_study();
    let page = page(&plan, &trials, &facts());
    for tag in tags(&page) {
        let name = tag.split(' ').next().unwrap_or(tag);
        for loads in [
            "img", "iframe", "object", "embed", "base", "source", "video", "audio",
        ] {
            assert_ne!(name, loads, "<{tag}>");
        }
        assert!(!tag.contains(" src="), "<{tag}>");
        if let Some((_, target)) = tag.split_once("href=\"") {
            assert!(
                target.starts_with("data:,") || target.starts_with('#'),
                "<{tag}>"
            );
        }
    }
    let style = &page[page.find("<style>").unwrap()..page.find("</style>").unwrap()];
    assert!(
        !style.contains("url(") && !style.contains("@import"),
        "{style}"
    );
}

const OF_EXCHANGES: [&str; 6] = [
    "message_time",
    "megabyte_time",
    "stalls",
    "repeats",
    "receiver_drops",
    "acknowledgements",
];

#[test]
fn a_hundred_and_twenty_trials_take_less_than_three_megabytes() {
    let (mut plan, one) = study();
    plan.repeat = 30;
    let mut trials: Vec<Trial> = Vec::new();
    for repeat in 1..=30 {
        for trial in one.iter().filter(|trial| trial.repeat == 1) {
            let mut trial = trial.clone();
            trial.repeat = repeat;
            trial.id = format!("c00-r{repeat:02}").into();
            // Metrics of request-response traffic do not occur together with
            // the others.
            let metrics = plan::metric::METRICS.iter();
            let metrics = metrics.filter(|metric| !OF_EXCHANGES.contains(&metric.name));
            for (position, metric) in metrics.enumerate() {
                let value =
                    f64::from(repeat) * 12.345_678_901 + f64::from(u8::try_from(position).unwrap());
                trial.metrics.insert(metric.name, value);
            }
            trial.flags.push("disturbed".into());
            trials.push(trial);
        }
    }
    assert_eq!(trials.len(), 120);
    let page = page(&plan, &trials, &facts());
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
}

#[test]
fn sections_stand_in_the_order_of_the_contents_which_reach_each_of_them() {
    let (plan, trials) = flagged_study();
    let page = page(&plan, &trials, &facts());
    let (_, contents) = page.split_once("<nav").expect("a list of contents");
    let (contents, report) = contents.split_once("</nav>").unwrap();
    let mut places = Vec::new();
    for link in contents.split("href=\"#").skip(1) {
        let id = link.split('"').next().unwrap();
        let place = report.find(&format!(" id=\"{id}\""));
        places.push(place.unwrap_or_else(|| panic!("nothing has the id {id}")));
    }
    assert!(places.len() >= 6, "{contents}");
    assert!(places.is_sorted(), "{contents}");
    let at = |id: &str| report.find(&format!("<section id=\"{id}\"")).expect(id);
    assert!(at("plots-section") < at("tables") && at("tables") < at("other-metrics"));
    assert!(at("other-metrics") < at("method") && at("method") < at("quality-check"));
    assert!(at("quality-check") < at("plan"));
}

#[test]
fn other_metrics_are_folded_and_those_of_zero_share_one_line() {
    let (plan, mut trials) = flagged_study();
    for trial in trials.iter_mut().filter(|trial| trial.failure.is_none()) {
        trial.metrics.insert("loss", 0.0);
        trial.metrics.insert("retransmissions", 1.0);
    }
    let page = page(&plan, &trials, &facts());
    let (_, others) = page.split_once("<section id=\"other-metrics\"").unwrap();
    let (others, _) = others.split_once("</section>").unwrap();
    assert!(
        others.contains("<p>Zero in every trial: loss.</p>"),
        "{others}"
    );
    let (open, fold) = others.split_once("<details").unwrap();
    assert!(!open.contains("class=\"plot\"") && fold.contains("id=\"plot-retransmissions\""));
    let plots = plots_of(&page);
    assert!(plots["plot-loss"].is_null() && plots["plot-retransmissions"].is_object());
}

#[test]
fn every_table_can_be_exported_under_a_name_of_its_own() {
    let (plan, trials) = flagged_study();
    let page = page(&plan, &trials, &facts());
    let places = page.split("data-export=\"").skip(1);
    let places: Vec<&str> = places.map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(places.len(), page.matches("<table").count());
    let names: BTreeSet<&str> = places.iter().copied().collect();
    assert_eq!(names.len(), places.len(), "{places:?}");
    assert!(names.contains("tables-data-throughput"), "{names:?}");
}

fn hostile() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
        Just("<script>alert(1)</script>".to_owned()),
        Just("</script><img src=x onerror=alert(1)>".to_owned()),
        Just("\"><b onmouseover='alert(1)'>".to_owned()),
        Just("<!--".to_owned()),
        Just("]]></style>".to_owned()),
        Just("<a href=\"javascript:alert(1)\">x</a>".to_owned()),
        Just("&lt;i&gt; %{text} $x$ \u{2028}\u{0}".to_owned()),
        any::<String>(),
    ];
    let texts = proptest::collection::vec(fragment, 1..4);
    let texts = texts.prop_map(|fragments| fragments.concat());
    texts.prop_filter("an empty text has no elements", |text| !text.is_empty())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn what_files_hold_stays_text(words in hostile()) {
        let write = |words: &str| {
            let (mut plan, mut trials) = flagged_study();
            for text in [&mut plan.name, &mut plan.title, &mut plan.text, &mut plan.hash] {
                words.clone_into(text);
            }
            for published in &mut plan.published {
                words.clone_into(&mut published.source);
            }
            for cell in &mut plan.cells {
                cell.factors.0.push((words.to_owned(), Level::Text(words.to_owned())));
                if let Err(reason) = &mut cell.setting {
                    words.clone_into(reason);
                }
            }
            for trial in &mut trials {
                let factors = Arc::make_mut(&mut trial.factors);
                factors.0.push((words.to_owned(), Level::Text(words.to_owned())));
                trial.id = words.into();
                trial.flags.push(words.to_owned());
                trial.failure = trial.failure.as_ref().map(|_| words.into());
                trial.evidence.insert(evidence::CONGESTION, words.to_owned());
            }
            let mut facts = facts();
            let host = facts.host.as_mut().unwrap();
            for text in [&mut host.kernel, &mut host.cpu_model, &mut facts.version, &mut facts.binary] {
                words.clone_into(text);
            }
            host.machine.insert(words.to_owned(), words.into());
            page(&plan, &trials, &facts)
        };
        let (page, harmless) = (write(&words), write("harmless"));
        // The same elements with the same attributes, whatever their content.
        let bare = |page: &str| -> Vec<String> {
            tags(page)
                .into_iter()
                .map(|tag| tag.split_once(" aria-label=").map_or(tag, |(tag, _)| tag))
                // A long text may be broken.
                .map(|tag| if tag == "td class=\"words\"" { "td" } else { tag }.to_owned())
                .collect()
        };
        prop_assert_eq!(bare(&page), bare(&harmless));
        // Plotly interprets tags in its texts: the only ones are ours.
        let plots = plots_of(&page);
        let mut shown = Vec::new();
        strings(&plots, &mut shown);
        for text in shown {
            let own = text.replace("<br>", "").replace("<extra></extra>", "");
            prop_assert!(!own.contains('<'), "{}", text);
        }
    }
}

/// Every string in a JSON value.
fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| strings(value, found)),
        Value::Object(entries) => entries.values().for_each(|value| strings(value, found)),
        _ => {}
    }
}
