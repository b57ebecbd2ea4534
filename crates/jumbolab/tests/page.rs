//! The page of a run in a browser: Chromium from Debian, without access to the
//! network, renders it without errors.

#[path = "cli/program.rs"]
mod program;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use program::{Outcome, program};

/// The smallest run that has error bars: two trials of two MTUs.
const RUN: &str = "run os-comparison --repeat 2 -o r --set mtu=1500,9000 --set scenario=LU-LU \
                   --set size=500kB --set preroll=300kB --set cpu_size=1MB --set rate=200mbit --set network.lateness=1min";

/// A folder with a run in `r`.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut command = program(folder.path());
    command.args(RUN.split_whitespace());
    Outcome::of(command.output().unwrap()).ran();
    folder
}

/// The browser's view of a page: its elements and its console output.
struct Seen {
    elements: String,
    console: Vec<String>,
}

fn browse(folder: &Path, page: &Path, dark: bool) -> Seen {
    let output = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu"])
        .args([
            "--disable-dev-shm-usage",
            "--disable-quic",
            "--no-first-run",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ])
        .arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ))
        // Nothing outside of the file is reachable.
        .arg("--host-resolver-rules=MAP * ~NOTFOUND")
        .arg(format!(
            "--blink-settings=preferredColorScheme={}",
            i32::from(!dark)
        ))
        .args(["--enable-logging=stderr", "--v=0"])
        .args([
            "--window-size=1280,1600",
            "--virtual-time-budget=10000",
            "--dump-dom",
        ])
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null())
        .output()
        .expect("chromium is needed: apt-get install chromium");
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{log}");
    Seen {
        elements: String::from_utf8_lossy(&output.stdout).into_owned(),
        console: log
            .lines()
            .filter(|line| line.contains("CONSOLE"))
            .map(str::to_owned)
            .collect(),
    }
}

fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[test]
fn every_plot_is_drawn_in_both_lights_and_nothing_is_asked_for() {
    let folder = folder();
    let page = folder.path().join("r/report.html");
    for (dark, ink) in [(false, "rgb(0, 114, 178)"), (true, "rgb(86, 180, 233)")] {
        let Seen { elements, console } = browse(folder.path(), &page, dark);
        assert!(console.is_empty(), "{console:?}");
        // Ignore the text of scripts, which may contain any word.
        let (drawn, _) = elements
            .split_once("<script id=\"plots\"")
            .expect("the plots' data");
        let places = count(drawn, "class=\"plot ") + count(drawn, "class=\"plot\"");
        // Figures and changes of six metrics at least.
        assert!(places >= 12, "{places} plots");
        assert_eq!(count(drawn, "class=\"plot-container plotly\""), places);
        // Two series, each with a mean at two levels.
        let throughput = drawn.split("id=\"plot-throughput\"").nth(1).unwrap();
        let throughput = throughput
            .split("id=\"plot-throughput-change\"")
            .next()
            .unwrap();
        assert_eq!(count(throughput, "class=\"errorbar\""), 4, "dark: {dark}");
        assert_eq!(
            count(throughput, "<path class=\"yerror\""),
            4,
            "dark: {dark}"
        );
        // Eight trials, four means, and at the two levels what was published.
        let points = count(throughput, "<path class=\"point\"");
        assert!(points >= 8 + 4, "{points} points");
        assert!(throughput.contains(ink), "dark: {dark}");
    }
}

#[test]
fn a_page_that_complains_or_asks_for_more_would_be_noticed() {
    let folder = folder();
    let page = fs::read_to_string(folder.path().join("r/report.html")).unwrap();
    for fault in [
        "<script>console.error('planted')</script>",
        "<img src=\"https://example.org/planted.png\">",
    ] {
        let faulty = folder.path().join("faulty.html");
        fs::write(&faulty, page.replace("</main>", &format!("{fault}</main>"))).unwrap();
        let console = browse(folder.path(), &faulty, false).console;
        assert!(
            console.iter().any(|line| line.contains("planted")),
            "{fault}: {console:?}"
        );
    }
}
