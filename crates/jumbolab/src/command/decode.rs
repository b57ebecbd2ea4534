//! `jumbolab decode`.

mod packets;

use std::io::{self, IsTerminal};

use anyhow::{Context, Result, ensure};
use indicatif::ProgressBar;
use results::decode::{self, Decoded, Request};
use results::table::require_parquet;
use traffic::driver::sessions::Codec;
use units::Span;

use crate::args::{Decode, Definitions};
use crate::exit::Ending;
use crate::output;

/// Bytes between two updates of the bar.
const STEP: u64 = 1 << 22;

pub(crate) fn run(args: &Decode) -> Result<Ending> {
    let interval = args.interval.as_deref().map(interval).transpose()?;
    let request = Request {
        definitions: match args.definitions {
            Definitions::Standard => decode::Definitions::Standard,
            Definitions::Ditg => decode::Definitions::Ditg,
        },
        by_flow: args.by_flow,
        interval: interval.flatten(),
    };
    if let Some(path) = &args.parquet {
        require_parquet()?;
        output::spare_inputs("--parquet", path, &args.logs)?;
    }
    if let Some(path) = &args.ditg_log {
        return packets::convert(args, &request, path);
    }
    if args.packets {
        return packets::print(args, &request);
    }
    let mut rows = Vec::new();
    let mut pages = Vec::new();
    let mut ending = Ending::Sound;
    for log in &args.logs {
        let mut bar = Bar::new();
        let decoded = decode::decode(log, &request, &mut |done, all| bar.show(done, all));
        drop(bar);
        let mut decoded = decoded?;
        if let Some(codec) = args.codec {
            rate(&mut decoded, codec)
                .with_context(|| format!("--codec {}: {}", codec.name(), log.display()))?;
        }
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

/// Takes each flow for a call with this codec.
fn rate(decoded: &mut Decoded, codec: Codec) -> Result<()> {
    ensure!(
        decoded.is_one_way,
        "it has no one-way delays; write the log of a receiver, or leave --codec out"
    );
    for row in &mut decoded.rows {
        row.codec = Some(codec);
    }
    ensure!(
        decoded.rows.iter().any(|row| row.call().is_some()),
        "it has no row of a flow with delays; write --by-flow, and leave --definitions ditg out"
    );
    Ok(())
}

/// A bar on a terminal, which disappears at its end.
struct Bar {
    bar: Option<ProgressBar>,
    shown: u64,
}

impl Bar {
    fn new() -> Self {
        Self {
            bar: io::stderr().is_terminal().then(|| ProgressBar::new(0)),
            shown: 0,
        }
    }

    /// A bar only if stdout is another place, because rows are printed meanwhile.
    fn beside_rows() -> Self {
        match io::stdout().is_terminal() {
            true => Self {
                bar: None,
                shown: 0,
            },
            false => Self::new(),
        }
    }

    /// Shows the bytes of a log that were read, of all.
    fn show(&mut self, done: u64, all: u64) {
        // Another log begins again.
        let is_due = done >= self.shown + STEP || done < self.shown;
        if let Some(bar) = self.bar.as_ref().filter(|_| is_due) {
            self.shown = done;
            bar.set_length(all);
            bar.set_position(done);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
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
