//! The page of a run, and the other files that `report` writes.

use std::fs;

use crate::harness::{Dir, Outcome, SHORT};

/// A short run of two MTUs in the folder `r`.
fn run(dir: &Dir, more: &str) -> Outcome {
    let settings =
        "--repeat 2 --set mtu=1500,9000 --set offloads=off --set trials.retry_limit=none";
    dir.run(&format!("run os-comparison {settings} -o r {SHORT} {more}"))
        .ran()
}

fn page(dir: &Dir) -> String {
    fs::read_to_string(dir.path().join("r/report.html")).unwrap()
}

#[test]
fn a_run_ends_with_a_page_that_holds_what_the_terminal_says() {
    let dir = Dir::new();
    let outcome = run(&dir, "--full");
    let last = outcome.stdout.lines().last();
    assert_eq!(last, Some("Page: r/report.html"));
    let page = page(&dir);
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let paragraphs: Vec<String> = outcome.stdout.split("\n\n").map(words).collect();
    let sentence = paragraphs[1].split(". ").next().unwrap();
    assert!(page.contains(sentence), "`{sentence}` is not in the page");
    let quality_check = match outcome.stdout.contains("Quality check: passed") {
        true => "quality check passed",
        false => "quality check FAILED",
    };
    assert!(page.contains(quality_check), "{quality_check}");

    for metric in ["rtt", "jitter", "throughput", "cpu_total"] {
        let place = format!("id=\"plot-{metric}\"");
        assert!(page.contains(&place), "{metric} has no plot");
    }
}

#[test]
fn report_makes_the_page_and_the_parquet_file_anew_and_silently() {
    let dir = Dir::new();
    run(&dir, "--json");
    for (option, last) in [
        ("--full", Some("Page: r/report.html")),
        ("--json", None),
        ("--csv", None),
    ] {
        for file in ["r/report.html", "r/trials.parquet"] {
            fs::remove_file(dir.path().join(file)).unwrap();
        }
        let outcome = dir.run(&format!("report r {option}")).ran();
        assert_eq!(outcome.stderr, "", "{option}");
        let page = outcome.stdout.lines().last();
        let page = page.filter(|line| line.starts_with("Page: "));
        assert_eq!(page, last, "{option}");
        assert!(dir.path().join("r/report.html").exists(), "{option}");
        assert!(dir.path().join("r/trials.parquet").exists(), "{option}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_still_reported() {
    let dir = Dir::new();
    run(&dir, "");
    // A folder at the path of the page: not even root replaces it by a file.
    let page = dir.path().join("r/report.html");
    fs::remove_file(&page).unwrap();
    fs::create_dir(&page).unwrap();
    let outcome = dir.run("report r --full").ran();
    let said: Vec<&str> = outcome.stderr.lines().collect();
    assert!(
        said.len() == 1 && said[0].contains("cannot write r/report.html"),
        "{said:?}"
    );
    assert!(outcome.stdout.contains("Quality check: "));
    assert!(!outcome.stdout.contains("Page: "), "{}", outcome.stdout);
    let left = fs::read_dir(dir.path().join("r")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert!(
        !left
            .iter()
            .any(|name| name.to_string_lossy().ends_with(".tmp")),
        "{left:?}"
    );
}
