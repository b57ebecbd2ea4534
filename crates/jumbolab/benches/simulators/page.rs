//! The table in docs/evidence/benchmarks.md, and its history.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::Result;

/// The lines around the table.
const BEGIN: &str = "<!-- simulators -->";
const END: &str = "<!-- end of simulators -->";

/// One row of the table, in numbers.
pub(crate) struct Rate {
    pub(crate) scenario: &'static str,
    pub(crate) simulator: String,
    /// Packets per CPU second: median, minimum, maximum.
    pub(crate) rates: [f64; 3],
}

/// Replaces the table in docs/evidence/benchmarks.md by `table`, below machine, date and versions, and
/// appends `rates` to docs/evidence/speed-history.csv.
pub(crate) fn write(rounds: usize, table: &str, rates: &[Rate]) -> Result<()> {
    let page = evidence("benchmarks.md");
    let text = fs::read_to_string(&page)?;
    let parts = text.split_once(BEGIN);
    let parts = parts.and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, behind) = parts.ok_or_else(|| format!("{} has no {BEGIN}", page.display()))?;
    let (date, machine, compiler) = (said("date", &["-u", "+%F"])?, machine()?, compiler()?);
    let head = format!("{machine}; {date}; {compiler}; medians of {rounds} rounds:");
    let new = format!("{before}{BEGIN}\n{head}\n\n{table}{END}{behind}");
    fs::write(&page, new)?;
    let mut history = OpenOptions::new()
        .append(true)
        .open(evidence("speed-history.csv"))?;
    for rate in rates {
        let [median, least, most] = rate.rates;
        let Rate {
            scenario,
            simulator,
            ..
        } = rate;
        writeln!(
            history,
            "{date},\"{machine}\",{compiler},{scenario},{simulator},{rounds},{median:.0},{least:.0},{most:.0}"
        )?;
    }
    Ok(())
}

/// The processor and the number of its CPUs that this process may use.
fn machine() -> Result<String> {
    let text = fs::read_to_string("/proc/cpuinfo")?;
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    let model = lines.find(|(key, _)| key.trim() == "model name");
    let model = model.map_or("unknown processor", |(_, model)| model.trim());
    let all = std::thread::available_parallelism()?;
    Ok(format!("{model}, {all} CPUs"))
}

fn compiler() -> Result<String> {
    let text = said("rustc", &["--version"])?;
    let words: Vec<&str> = text.split(' ').take(2).collect();
    Ok(words.join(" "))
}

/// The first line that a program prints.
fn said(program: &str, words: &[&str]) -> Result<String> {
    let output = Command::new(program)
        .args(words)
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    let text = String::from_utf8(output.stdout)?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

fn evidence(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs/evidence")
        .join(name)
}
