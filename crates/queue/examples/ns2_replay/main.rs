//! Replays recordings of ns-2.35 through our store and estimator.
//!
//!     cargo run -p jumbolab-queue --example ns2_replay -- FILES.csv
//!
//! A file is called SCENARIO_QUEUE_SIZE_LIMIT_TCP_SEED.csv, the queue being one
//! of dt, red, rednog, ared and reddf.

#![expect(clippy::print_stdout, reason = "an example prints what it finds")]

mod replay;

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use replay::{Loser, replay};
use units::Bytes;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("arrivals  queue apart (no tie)  average apart (no tie)  file");
    for file in std::env::args_os().skip(1).map(PathBuf::from) {
        let (loser, size) = named(&file)
            .ok_or_else(|| format!("{}: the name says no queue and size", file.display()))?;
        let lines = BufReader::new(File::open(&file)?).lines();
        let agreement = replay(lines.map_while(Result::ok), loser, size)
            .map_err(|line| format!("{}:{line}: not seven columns", file.display()))?;
        println!(
            "{:8}  {:11} {:8}  {:13} {:8}  {}",
            agreement.arrivals,
            agreement.queue,
            agreement.queue_unexcused,
            agreement.average,
            agreement.average_unexcused,
            file.display()
        );
    }
    Ok(())
}

/// Who is dropped and the size of packets, from the name of the file.
fn named(file: &Path) -> Option<(Loser, Bytes)> {
    let mut words = file.file_stem()?.to_str()?.split('_').skip(1);
    let loser = match words.next()? {
        "dt" | "red" | "rednog" | "ared" => Loser::Arriving,
        "reddf" => Loser::Second,
        _ => return None,
    };
    Some((loser, Bytes::new(words.next()?.parse().ok()?)))
}
