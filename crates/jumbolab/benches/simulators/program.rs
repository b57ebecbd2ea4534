//! Runs a program and measures its cost.
//!
//! The kernel reports CPU time and memory of all children together. Each run
//! therefore has an intermediate process: this benchmark, started again with
//! [`MEASURE`].

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use nix::sys::resource::{UsageWho, getrusage};

use crate::processor::{f64_of, processor_seconds};

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The option that makes this program run another one and report its cost.
const MEASURE: &str = "--measure";

/// The cost and the output of a run.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// CPU seconds in user and kernel mode.
    pub(crate) seconds: f64,
    /// Peak memory in bytes.
    pub(crate) memory: f64,
    pub(crate) output: String,
}

/// Runs `program` in `folder`.
pub(crate) fn run(program: &Path, words: &[String], folder: &Path) -> Result<Run> {
    let output = Command::new(std::env::current_exe()?)
        .arg(MEASURE)
        .arg(program)
        .args(words)
        .current_dir(folder)
        .stderr(Stdio::inherit())
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    let cost = text
        .trim_end()
        .rsplit_once('\n')
        .and_then(|(output, cost)| Some((output, cost.split_once(' ')?)))
        .filter(|_| output.status.success());
    let Some((output, (seconds, memory))) = cost else {
        return Err(format!("{} failed: {text}", program.display()).into());
    };
    Ok(Run {
        seconds: seconds.parse()?,
        memory: memory.parse()?,
        output: output.to_owned(),
    })
}

/// The intermediate process: serves [`run`] if it was started for that.
pub(crate) fn measured() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    if words.next()? != MEASURE {
        return None;
    }
    Some(match measure(words) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    })
}

fn measure(mut words: impl Iterator<Item = std::ffi::OsString>) -> Result<bool> {
    let program = words.next().ok_or("no program")?;
    let status = Command::new(&program)
        .args(words)
        .stdin(Stdio::null())
        .status()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let used = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let seconds = processor_seconds(&used);
    // Linux counts kibibytes.
    println!("\n{seconds} {}", f64_of(used.max_rss()) * 1024.0);
    Ok(status.success())
}
