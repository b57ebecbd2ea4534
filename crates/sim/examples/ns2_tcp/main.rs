//! Repeats a recorded TCP flow of ns-2 and compares both event by event.
//!
//!     cargo run -p jumbolab-sim --example ns2_tcp -- FILES.csv
//!
//! File names have the form tcp1_TCP_SIZE_LIMIT_events.csv; TCP is Tahoe, Reno, Newreno
//! or Sack1.

#![expect(clippy::print_stdout, reason = "an example prints what it finds")]

#[path = "../../tests/tcp/recording.rs"]
mod recording;

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use tcp::Recovery;
use units::Span;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("theirs   ours  equal  worst (us)  phase (ms)  nudge  file");
    for file in std::env::args_os().skip(1).map(PathBuf::from) {
        let (recovery, size, limit) = named(&file)
            .ok_or_else(|| format!("{}: the name says no TCP, size and limit", file.display()))?;
        let lines = BufReader::new(File::open(&file)?).lines();
        let theirs = recording::read(lines.map_while(Result::ok))
            .ok_or_else(|| format!("{}: not four columns", file.display()))?;
        // The file lacks two facts, which are found by search. One is the phase of
        // ns-2's clock, which determines timeouts to within a tick. The other is the
        // order of an arrival and a departure at the same time, which depends on
        // rounding in ns-2 and here on a picosecond of delay.
        let tries = (0..30).map(|number| {
            let (phase, nudge) = (Span::from_millis(number / 3), Span::from_picos(number % 3));
            let ours = recording::run(recovery, size, limit, phase, nudge);
            (recording::compare(&theirs, &ours), number, ours.len())
        });
        let best = tries.max_by_key(|(found, _, _)| (found.events, u64::MAX - found.worst));
        let Some((agreement, number, ours)) = best else {
            continue;
        };
        println!(
            "{:6} {ours:6} {:6}  {:10}  {:10}  {:6}  {}",
            theirs.len(),
            agreement.events,
            agreement.worst,
            number / 3,
            number % 3,
            file.display()
        );
    }
    Ok(())
}

/// The agent, the packet size and the limit, from the file name.
fn named(file: &Path) -> Option<(Recovery, u32, u32)> {
    let mut words = file.file_stem()?.to_str()?.split('_').skip(1);
    let recovery = match words.next()? {
        "Tahoe" => Recovery::Tahoe,
        "Reno" => Recovery::Reno,
        "Newreno" => Recovery::NewReno,
        "Sack1" => Recovery::Sack,
        _ => return None,
    };
    Some((
        recovery,
        words.next()?.parse().ok()?,
        words.next()?.parse().ok()?,
    ))
}
