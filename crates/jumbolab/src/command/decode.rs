//! `jumbolab decode`.

use std::io::{self, IsTerminal};

use anyhow::{Context, Result};
use indicatif::ProgressBar;
use results::decode::{self, Request};
use results::table::require_parquet;
use units::Span;

use crate::args::{Decode, Definitions};
use crate::exit::Ending;
use crate::output;

/// Bytes between two updates of the bar.
const STEP: u64 = 1 << 22;

pub(crate) fn run(args: &Decode) -> Result<Ending> {
    let request = Request {
        definitions: match args.definitions {
            Definitions::Standard => decode::Definitions::Standard,
            Definitions::Ditg => decode::Definitions::Ditg,
        },
        by_flow: args.by_flow,
        interval: args
            .interval
            .as_deref()
            .map(interval)
            .transpose()?
            .flatten(),
    };
    if let Some(path) = &args.parquet {
        require_parquet()?;
        output::spare_inputs("--parquet", path, &args.logs)?;
    }
    let mut rows = Vec::new();
    let mut pages = Vec::new();
    let mut ending = Ending::Sound;
    for log in &args.logs {
        let bar = io::stderr().is_terminal().then(|| ProgressBar::new(0));
        let mut shown = 0;
        let decoded = decode::decode(log, &request, &mut |done, all| {
            if let Some(bar) = bar.as_ref().filter(|_| done >= shown + STEP) {
                shown = done;
                bar.set_length(all);
                bar.set_position(done);
            }
        });
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        let decoded = decoded?;
        if let Some(complaint) = &decoded.complaint {
            output::warn(complaint);
        }
        if decoded.has_changed {
            ending = Ending::Unsound;
        }
        if !args.json && !args.csv {
            pages.push(decode::text(&decoded));
        }
        rows.extend(decoded.rows);
    }
    if let Some(path) = &args.parquet {
        decode::write(path, &rows)?;
    }
    if args.json {
        output::print_lines(decode::json(&rows))?;
        return Ok(ending);
    }
    if args.csv {
        let mut table = Vec::new();
        decode::csv(&rows, &mut table)?;
        output::print_table(&String::from_utf8(table)?)?;
        return Ok(ending);
    }
    output::print(&pages.join("\n"))?;
    Ok(ending)
}

/// The length of intervals; `None`: there are none.
fn interval(text: &str) -> Result<Option<Span>> {
    let span: Option<Span> = text.parse().ok();
    let span = span.filter(|span| *span == Span::ZERO || span.as_nanos() > 0);
    let span = span.with_context(|| {
        format!("--interval {text}: write 0, or a time of 1ns or more, for instance 1s or 100ms")
    })?;
    Ok(Some(span).filter(|span| *span > Span::ZERO))
}
