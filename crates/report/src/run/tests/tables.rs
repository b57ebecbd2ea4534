use std::path::Path;

use analysis::Findings;
use document::text;
use plan::setting::LinkKind;
use plan::synthetic::{cell, factors, facts, plan, study, trial};
use plan::{Plan, Setting, Trial};

use crate::{json_lines, of_run};

fn terminal(plan: &Plan, trials: &[Trial], folder: Option<&Path>, width: u16) -> String {
    text(
        &of_run(&Findings::of(plan, trials, &facts()), folder),
        width,
    )
}

fn report(width: u16) -> String {
    let (plan, trials) = study();
    let folder = Path::new("results/synthetic-0123abcd");
    terminal(&plan, &trials, Some(folder), width)
}

#[test]
fn a_trimmed_mean_is_marked_and_explained_below_its_table() {
    let cells = [1500, 9000].map(|mtu| cell(factors(mtu))).to_vec();
    let plan = plan(cells, 8, Vec::new());
    let slow = [928.1, 928.0, 928.2, 928.3, 928.1, 928.1, 928.0, 928.2];
    let fast = [946.1, 945.1, 890.0, 946.8, 946.3, 945.7, 946.0, 946.2];
    let trials = [(1500, slow), (9000, fast)]
        .into_iter()
        .flat_map(|(mtu, values)| {
            let trials = (1..).zip(values);
            trials.map(move |(repeat, value)| trial(factors(mtu), repeat, &[("throughput", value)]))
        });
    let trials: Vec<Trial> = trials.collect();
    let report = terminal(&plan, &trials, None, 200);
    for line in [
        "1500  928 ± 1 †",
        "† trimmed: 1 of 16 trials is an outlier",
        "goodput +1.9 % [1.8, 2.0] (trimmed means)",
        "†: a metric with an outlier far beyond all spread has trimmed means",
        "Outliers, far from the median of their cell; only trimmed means (†) leave trials out",
        "(mean of all 939.0)",
    ] {
        assert!(report.contains(line), "{line}:\n{report}");
    }
    let facts = facts();
    let lines = json_lines(&Findings::of(&plan, &trials, &facts));
    let of = |number: usize| serde_json::from_str::<serde_json::Value>(&lines[number]).unwrap();
    assert_eq!(of(1)["estimate"], "trimmed_mean");
    assert_eq!(
        (&of(0)["outliers"], &of(1)["outliers"]),
        (&0.into(), &1.into())
    );
    assert_eq!(of(1)["plain_mean"], 939.025);
    let quiet: Vec<Trial> = trials[..8].to_vec();
    let line = &json_lines(&Findings::of(&plan, &quiet, &facts))[0];
    assert!(
        !line.contains("estimate") && !line.contains("plain_mean"),
        "{line}"
    );
    assert!(!terminal(&plan, &quiet, None, 200).contains('†'));
}

#[test]
fn a_study_reads_like_this() {
    let report = report(120);
    let (study, below) = report.split_once("\n\nOther metrics\n").unwrap();
    assert_eq!(study, STUDY, "{study}");
    assert_eq!(below, BELOW, "{below}");
}

const STUDY: &str = "\
synthetic: What a test needs
8 of 12 trials finished, 1 failed and left out; quality check passed. The run is incomplete: continue with --resume.

On this machine and 1 Gbit/s links, with offloads off, MTU 9000 against 1500: goodput +4.3 % [3.6, 5.0], less than
  header overhead alone gives (framing +6.4 %).
On this machine and 1 Gbit/s links, with offloads on, MTU 9000 against 1500: no difference in goodput found (one above
  0.52 % would have shown).
4 published changes: 1 reproduced, 1 direction only, 2 not reproduced.

Not measured here: 2 of 6 settings: needs a Windows host.

Verdicts
  throughput
    offloads=off mtu=9000: direction only; same sign, but our change is smaller than the published one (framing +6.4 %)
    offloads=on mtu=9000: not reproduced; our interval holds 0
  cpu_sender
    offloads=off mtu=9000: reproduced; our interval excludes 0 and holds the published change; at one setting only:
      --set network.buffer=100kB,500kB --set host.congestion=cubic,reno would tell whether it survives
    offloads=on mtu=9000: not reproduced; our interval holds 0

Throughput (Mbit/s), held against [Praptodiyono2019 Table 4]
scenario  offloads  mtu   Mbit/s    % against 1500     paper  paper %  verdict
LU-LU     off       1500  948 ± 13                    750.94
LU-LU     off       9000  989 ± 13  +4.3 [3.6, 5.0]   938.88   +25.03  direction only
LU-LU     on        1500  996 ± 13                    750.94           framing not counted by the bucket
LU-LU     on        9000  995 ± 13  -0.1 [-0.8, 0.6]  938.88   +25.03  not reproduced: no difference found above 0.52
                                                                       %; framing not counted by the bucket

CPU utilisation, sender (%), held against [Praptodiyono2019 Table 5]
scenario  offloads  mtu   %            % against 1500        paper %  verdict
LU-LU     off       1500  0.80 ± 0.02
                          1.60 ± 0.03                                 with all softirq
LU-LU     off       9000  0.50 ± 0.01  -38   [-38, -37]       -37.50  reproduced
                          1.00 ± 0.02  -37.5 [-37.9, -37.1]           with all softirq
LU-LU     on        1500  0.40 ± 0.01
                          0.80 ± 0.02                                 with all softirq
LU-LU     on        9000  0.40 ± 0.01    0   [-1, 1]          -37.50  not reproduced: no difference found above 2.5 %
                          0.80 ± 0.02    0   [-1, 1]                  with all softirq";

const BELOW: &str = "\
Zero in every trial: retransmissions.

2 trials a cell. ± and [..] are 95 % intervals: Student's t for means; for changes 100 (x / x_1500 - 1) the logarithm of
  the ratio, delta method, Welch-Satterthwaite.
A difference is found at 5 % over all comparisons of its metric (Holm) and above the instrument's resolution; figures
  are not printed finer than that.
Links are the kernel's token buckets: right for throughput and CPU; single messages may pass an idle bucket without
  being serialised, so rtt, delay and jitter are not those of a real link.
Failed and excluded: 1 of scenario=LU-LU offloads=off mtu=1500

Quality check: passed
  note: 1 of 9 trials failed and are in no figure; the first: the receiver died
  jumbolab 0.1.0, build b1
  Linux 6.18.0, 2 x Test CPU, run by an ordinary user
  memory gib: 8

Results: results/synthetic-0123abcd
";

#[test]
fn warnings_are_on_the_first_screen_and_below_the_quality_check() {
    let (plan, mut trials) = study();
    trials[0].flags.push("disturbed".into());
    let report = terminal(&plan, &trials, None, 200);
    let warning =
        "approximate results: other work disturbed 1 of 8 trials; repeat on an idle machine";
    for part in [
        format!("left out; quality check passed with warnings: {warning}."),
        format!("\nQuality check: passed with warnings\n  warning: {warning}\n"),
    ] {
        assert!(report.contains(&part), "`{part}` is not in: {report}");
    }
}

#[test]
fn a_cell_of_which_every_trial_failed_is_named() {
    let (mut plan, mut trials) = study();
    plan.repeat = 2;
    trials.retain(|trial| trial.failure.is_none());
    for trial in &mut trials[..2] {
        trial.failure = Some("timed out".into());
    }
    let report = terminal(&plan, &trials, None, 200);
    let said = "No result for scenario=LU-LU offloads=off mtu=1500: no trial finished. Run the failed trials again with --resume --retry.";
    assert!(report.contains(said), "{report}");
}

#[test]
fn every_width_keeps_every_figure() {
    let words = |text: &str| -> Vec<String> {
        let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        words.sort();
        words
    };
    let wide = report(200);
    for width in [120, 80] {
        let report = report(width);
        for line in report.lines() {
            assert!(line.chars().count() <= usize::from(width), "{line}");
        }
        assert_eq!(words(&report), words(&wide), "{report}");
    }
}

#[test]
fn a_plan_without_published_figures_has_no_paper_and_no_table_numbers() {
    let (mut plan, trials) = study();
    plan.published.clear();
    let report = terminal(&plan, &trials, None, 120);
    assert!(report.contains("\nThroughput (Mbit/s)\n"), "{report}");
    for word in ["paper", "verdict", "Table", "Results:"] {
        assert!(!report.contains(word), "{word}: {report}");
    }
    assert!(report.contains("Not measured here: 2 of 6 settings: needs a Windows host."));
}

#[test]
fn the_metrics_that_a_plan_names_come_first_and_the_others_after_them() {
    let (mut plan, trials) = study();
    plan.published.clear();
    plan.leading = ["retransmissions", "no_such", "throughput"]
        .map(str::to_owned)
        .into();
    let report = terminal(&plan, &trials, None, 120);
    let at = |words: &str| {
        let found = report.find(words);
        found.unwrap_or_else(|| panic!("{words}: {report}"))
    };
    assert!(at("\nRetransmissions (segments)\n") < at("\nThroughput (Mbit/s)\n"));
    assert!(at("\nThroughput (Mbit/s)\n") < at("\nOther metrics\n"));
    assert!(at("\nOther metrics\n") < at(" cpu_sender"));
    assert!(
        at("retransmissions ") < at("goodput "),
        "the sentences: {report}"
    );
}

#[test]
fn cpu_figures_say_where_they_include_the_segmenting_of_a_bucket() {
    let says = |change: fn(&mut Setting)| {
        let (mut plan, trials) = study();
        let settings = plan.cells.iter_mut().flat_map(|cell| &mut cell.setting);
        settings.for_each(change);
        let report = terminal(&plan, &trials, None, 1_000);
        report.contains("the token bucket of the sender segments")
    };
    let pair = |setting: &mut Setting| setting.network.links.truncate(1);
    assert!(says(pair));
    // A router's bucket gets segments.
    assert!(!says(|setting| {
        let first = setting.network.links[0].clone();
        setting.network.links = vec![first.clone(), first];
    }));
    assert!(!says(|setting| {
        setting.network.links.truncate(1);
        setting.host.offloads = true;
    }));
    assert!(!says(|setting| {
        setting.network.links.truncate(1);
        setting.network.link = LinkKind::Emulated;
    }));
    assert!(!says(|setting| {
        setting.network.links.truncate(1);
        setting.network.links[0].rate = None;
    }));
}

#[test]
fn a_run_that_measured_nothing_still_shows_the_study() {
    let (plan, _) = study();
    let report = terminal(&plan, &[], None, 120);
    assert!(report.contains("no trial was run; continue with --resume"));
    assert!(report.contains("938.88") && report.contains("Quality check: FAILED"));
    assert!(!report.contains("NaN"));
}
