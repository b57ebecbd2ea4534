//! Pages of every kind in a browser: Chromium from Debian, without access to the
//! network, draws each plot of them without errors.

#[path = "cli/program.rs"]
mod program;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use program::{Outcome, program};

/// The smallest run that has error bars: two trials of two MTUs.
const RUN: &str = "run os-comparison --repeat 2 -o r --set mtu=1500,9000 --set scenario=LU-LU \
                   --set size=500kB --set warmup=300kB --set cpu_bytes=1MB --set rate=200mbit --set network.timing_error=1min";

/// A folder with a run in `r`.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    jumbolab(folder.path(), RUN);
    folder
}

/// Runs the program with the words of `line` as arguments.
#[track_caller]
fn jumbolab(folder: &Path, line: &str) -> Outcome {
    let mut command = program(folder);
    command.args(line.split_whitespace());
    Outcome::of(command.output().unwrap()).ran()
}

/// The browser's view of a page: its elements and its console output.
struct Seen {
    elements: String,
    console: Vec<String>,
}

/// Plotly's remark that it has moved an axis often enough to make room for its labels, whose
/// lengths depend on what was measured.
const MARGINS: &str = "Too many auto-margin redraws";

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
            // Time of the page, which does not pass while it draws.
            "--virtual-time-budget=1000000",
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
            .filter(|line| line.contains("CONSOLE") && !line.contains(MARGINS))
            .map(str::to_owned)
            .collect(),
    }
}

/// Opens every fold and brings every plot into view, until it is drawn.
const SCROLLED: &str = "
addEventListener('load', async () => {
  for (const details of document.querySelectorAll('details')) details.open = true;
  for (const plot of document.querySelectorAll('.plot')) {
    plot.scrollIntoView();
    await new Promise((drawn) => {
      const look = () => plot.querySelector('.plotly') ? drawn() : setTimeout(look, 20);
      look();
    });
  }
});";

/// Prepares the page for the printer once the plotting library is there.
const PRINTED: &str = "
addEventListener('load', () => {
  const look = () => window.Plotly ? dispatchEvent(new Event('beforeprint')) : setTimeout(look, 20);
  look();
});";

/// A page as a user sees it who does what `script` does.
fn browse_with(folder: &Path, page: &Path, script: &str, dark: bool) -> Seen {
    let text = fs::read_to_string(page).unwrap();
    let copy = folder.join("visited.html");
    let script = format!("<script>{script}</script></main>");
    fs::write(&copy, text.replacen("</main>", &script, 1)).unwrap();
    browse(folder, &copy, dark)
}

impl Seen {
    /// Asserts a silent console; returns the elements without the data for
    /// scripts, which may contain any word, the number of plots, and the number
    /// of those that are drawn.
    #[track_caller]
    fn plots(&self) -> (&str, usize, usize) {
        assert!(self.console.is_empty(), "{:?}", self.console);
        let (seen, _) = (self.elements)
            .split_once("<script id=\"plots\"")
            .expect("the data of plots");
        let places = count(seen, "class=\"plot ") + count(seen, "class=\"plot\"");
        (seen, places, count(seen, "class=\"plot-container plotly\""))
    }

    /// Asserts besides that every plot of this kind of page is drawn.
    #[track_caller]
    fn drawn(&self, kind: &str) -> (&str, usize) {
        let (seen, places, drawn) = self.plots();
        assert_eq!(drawn, places, "{kind}");
        (seen, places)
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
        let seen = browse_with(folder.path(), &page, SCROLLED, dark);
        let (drawn, places) = seen.drawn("a run");
        // Figures and changes of six metrics at least.
        assert!(places >= 12, "{places} plots");
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
        let points = count(throughput, "<path class=\"point");
        assert!(points >= 8 + 4, "{points} points");
        assert!(throughput.contains(ink), "dark: {dark}");
    }
}

#[test]
fn plots_out_of_view_are_drawn_when_they_come_into_view_or_are_printed() {
    let folder = folder();
    let page = folder.path().join("r/report.html");
    let untouched = browse(folder.path(), &page, false);
    let (_, places, drawn) = untouched.plots();
    assert!(
        drawn < places,
        "{drawn} of {places} plots are drawn at once"
    );
    let printed = browse_with(folder.path(), &page, PRINTED, false);
    let (seen, places) = printed.drawn("on paper");
    assert!(places > drawn);
    // A plot of values alone, or of changes, takes all of the paper.
    let throughput = seen.split("id=\"plot-throughput").skip(1).take(2);
    for plot in throughput {
        assert!(plot.contains("width=\"690\""), "{}", &plot[..500]);
    }
    let open = seen.split("<details").skip(1);
    let open = open.filter(|rest| rest.split('>').next().unwrap().contains("open"));
    assert_eq!(open.count(), count(seen, "<details"), "a fold is closed");
}

#[test]
fn a_table_is_offered_in_every_format() {
    let folder = folder();
    let page = folder.path().join("r/report.html");
    let offer = "addEventListener('load', () => document.querySelector('button.tool').click());";
    let seen = browse_with(folder.path(), &page, offer, false);
    assert!(seen.console.is_empty(), "{:?}", seen.console);
    let (_, dialog) = seen.elements.split_once("<dialog").expect("a dialog opens");
    for part in ["Markdown", "LaTeX", "CSV", "Copy", "Download", "| --- |"] {
        assert!(dialog.contains(part), "`{part}` is not in: {dialog}");
    }
}

/// Puts a table with characters that formats must escape into the page, and the text
/// of each format behind it.
const EXPORTED: &str = r#"
document.querySelector('main').insertAdjacentHTML('afterbegin', `<div data-export="planted"><table>
  <thead><tr><th>queue_size</th><th class="right">measured<br><span class="note">Mbit/s</span></th><th>verdict</th></tr></thead>
  <tbody>
    <tr><td>a, 50 %</td><td class="figure right">  949.0 ± 2 †</td><td><b>reproduced</b>: <span>as "paper" | printed</span></td></tr>
    <tr><td>&lt;b>\\x\n</td><td></td><td></td></tr>
  </tbody></table></div>`);
addEventListener('load', () => {
  document.querySelector('main > button.tool').click();
  const dialog = document.querySelector('dialog');
  for (const name of ['Markdown', 'LaTeX', 'CSV']) {
    [...dialog.querySelectorAll('button')].find((button) => button.textContent === name).click();
    const text = document.createElement('pre');
    text.textContent = `begin ${name}\n${dialog.querySelector('pre').textContent}end`;
    document.body.append(text);
  }
});"#;

#[test]
fn formats_of_tables_escape_what_they_must() {
    let folder = folder();
    let page = folder.path().join("r/report.html");
    let seen = browse_with(folder.path(), &page, EXPORTED, false);
    assert!(seen.console.is_empty(), "{:?}", seen.console);
    let of = |name: &str| {
        let begin = format!("<pre>begin {name}\n");
        let (_, text) = seen.elements.split_once(&begin).expect(name);
        let (text, _) = text.split_once("end</pre>").expect(name);
        let text = text.replace("&lt;", "<").replace("&gt;", ">");
        text.replace("&amp;", "&").replace('\r', "")
    };
    let markdown = "\
| queue_size | measured (Mbit/s) | verdict |
| --- | ---: | --- |
| a, 50 % | 949.0 ± 2 † | reproduced: as \"paper\" \\| printed |
| &lt;b>\\\\x |  |  |
";
    assert_eq!(of("Markdown"), markdown);
    let latex = "\
\\begin{tabular}{lrl}
\\toprule
queue\\_size & measured (Mbit/s) & verdict \\\\
\\midrule
a, 50 \\% & 949.0 $\\pm$ 2 $\\dagger$ & reproduced: as \"paper\" | printed \\\\
$<$b$>$\\textbackslash{}x &  &  \\\\
\\bottomrule
\\end{tabular}
";
    assert_eq!(of("LaTeX"), latex);
    let csv = "\
queue_size,measured (Mbit/s),verdict
\"a, 50 %\",949.0 ± 2 †,\"reproduced: as \"\"paper\"\" | printed\"
<b>\\x,,
";
    assert_eq!(of("CSV"), csv);
}

/// Pages of other kinds: the commands that write one into the folder `r`, and
/// parts of it that no other kind has.
const KINDS: [(&str, &[&str], &[&str]); 7] = [
    (
        "backends",
        &[
            "run os-comparison --on sim --repeat 2 -o r --set mtu=1500,9000 --set size=500kB --set warmup=300kB",
            RUN_BESIDE,
            "report r live",
        ],
        &["Quality check of sim", "Quality check of netns"],
    ),
    (
        "time series",
        &[
            "run red-increase -o r --repeat 2 --set duration=4s --set h1=0s..2s --set h2=2s..4s --set small_start=2s --set start_interval=20ms",
        ],
        &["Over time"],
    ),
    (
        "curves",
        &[
            "run rtt-by-packet-size --on sim -o r --repeat 2 --set mtu=1500,9000 --set path=one --set protocol=udp --set band=small",
        ],
        &["By size"],
    ),
    (
        "latency breakdown",
        &[
            "run latency-breakdown -o r --repeat 1 --set size=64,3000 --set link=emulated --set network.timing_error=1min --set mtu=1500 --set messages=20",
        ],
        &["Where the time goes"],
    ),
    (
        "changes",
        &[
            "run os-comparison --on sim --repeat 2 -o r --set mtu=1500,9000 --set size=500kB --set warmup=300kB",
            "run os-comparison --on sim --repeat 2 -o later --set mtu=1500,9000 --set size=400kB --set warmup=300kB",
            "report r later",
        ],
        &["What changed between two runs", "Quality check of A"],
    ),
    (
        "replay",
        &[
            "run os-comparison --repeat 1 -o r --set mtu=1500 --set scenario=LU-LU --set offloads=off --set link=emulated --set links.router-receiver.record=on --set size=500kB --set warmup=300kB --set cpu_bytes=1MB --set rate=200mbit --set network.timing_error=1min",
            "run replay --recording r/recordings/c00-r01-router-receiver.csv --set queue=codel -o replayed",
        ],
        &["id=\"replayed-queue-forward\"", "queue=codel"],
    ),
    (
        "search",
        &["sensitivity planted.toml --max-trials 5000 -o r"],
        &["class=\"strips\"", "<rect"],
    ),
];

/// A search shows its answers as strips.
const WITHOUT_PLOTS: [&str; 1] = ["search"];

/// The run of [`RUN`] in the folder `live`.
const RUN_BESIDE: &str = "run os-comparison --repeat 2 -o live --set mtu=1500,9000 --set scenario=LU-LU \
                          --set size=500kB --set warmup=300kB --set cpu_bytes=1MB --set rate=200mbit --set network.timing_error=1min";

/// A study with a claim that one of its unstated settings decides.
const SEARCHED: &str = "\
format = 1
name = \"planted\"
backend = \"sim\"
[network]
shape = \"routed\"
[traffic]
size = \"100kB\"
warmup = \"0B\"
echo = \"off\"
cpu_bytes = \"0B\"
[sweep]
\"network.mtu\" = [1500, 9000]
[trials]
repeat = 2
[[claim]]
text = \"more than 20 Mbit/s\"
source = \"here\"
metric = \"throughput\"
at_least = 20
[[unstated]]
name = \"network.rate\"
values = [\"1gbit\", \"10mbit\"]
reason = \"it is not said\"
[[unstated]]
name = \"tcp.agent\"
values = [\"standard\", \"linux\"]
reason = \"none is named\"
";

#[test]
fn every_kind_of_page_draws_all_its_plots() {
    for (kind, commands, parts) in KINDS {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("planted.toml"), SEARCHED).unwrap();
        let mut last = None;
        for line in commands {
            last = Some(jumbolab(folder.path(), line).stdout);
        }
        let last = last.unwrap();
        let name = (last.lines().rev())
            .find_map(|line| line.strip_prefix("Page: "))
            .unwrap_or_else(|| panic!("{kind}: {last}"));
        let page = folder.path().join(name);
        let seen = browse_with(folder.path(), &page, SCROLLED, false);
        let (drawn, places) = seen.drawn(kind);
        for part in parts {
            assert!(drawn.contains(part), "{kind}: `{part}` is not in the page");
        }
        assert_eq!(places == 0, WITHOUT_PLOTS.contains(&kind), "{kind}");
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
