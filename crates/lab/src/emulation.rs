//! The emulator of a test bed's links: a worker in the namespace where their
//! ends are, spoken to in JSON lines.

use std::io::{self, BufRead, Write};
use std::os::fd::AsFd;

use anyhow::{Context, Result, bail};
use live::clock;
use live::emulator::{Emulator, Report, Wire};
use live::{Namespace, Worker};
use serde::{Deserialize, Serialize};
use units::{Seed, Span};

/// The worker's role.
pub(crate) const ROLE: &str = "emulator";

/// How long the emulator may take to answer: it looks up every few milliseconds.
const PATIENCE: Span = Span::from_secs(5);

/// What the emulator is to do.
#[derive(Serialize, Deserialize)]
struct Order {
    wires: Vec<Wire>,
    seed: u64,
}

/// What it answers.
#[derive(Serialize, Deserialize)]
enum Answer {
    Ready,
    Report(Report),
    Failed(String),
}

/// A running emulator; it ends when this is dropped.
pub(crate) struct Emulation {
    worker: Worker,
}

impl Emulation {
    /// Starts the emulator in `namespace` and returns when it carries frames.
    pub(crate) fn start(namespace: &Namespace, wires: Vec<Wire>, seed: Seed) -> Result<Self> {
        let mut worker = Worker::spawn(Some(namespace), ROLE)?;
        let order = Order {
            wires,
            seed: seed.get(),
        };
        worker.send_line(&serde_json::to_string(&order)?)?;
        let mut emulation = Self { worker };
        match emulation.answer()? {
            Answer::Ready => Ok(emulation),
            Answer::Failed(why) => bail!("{why}"),
            Answer::Report(_) => bail!("the emulator answered out of turn"),
        }
    }

    /// What it did; lateness since the last report.
    pub(crate) fn report(&mut self) -> Result<Report> {
        self.worker.send_line("report")?;
        match self.answer()? {
            Answer::Report(report) => Ok(report),
            Answer::Failed(why) => bail!("the emulator gave up: {why}"),
            Answer::Ready => bail!("the emulator answered out of turn"),
        }
    }

    fn answer(&mut self) -> Result<Answer> {
        let line = self
            .worker
            .receive_line(clock::monotonic() + PATIENCE)?
            .context("the emulator does not answer")?;
        Ok(serde_json::from_str(&line)?)
    }
}

/// Emulates what the first line of stdin says, until stdin ends.
pub(crate) fn serve() -> Result<()> {
    let (mut lines, mut out) = (io::stdin().lock(), io::stdout().lock());
    let mut answer = |answer: &Answer| -> Result<()> {
        writeln!(out, "{}", serde_json::to_string(answer)?)?;
        Ok(out.flush()?)
    };
    let failed = |error: live::Error| Answer::Failed(error.to_string());
    let mut line = String::new();
    lines.read_line(&mut line)?;
    let order: Order = serde_json::from_str(&line).context("reading the emulator's order")?;
    let mut emulator = match Emulator::open(&order.wires, Seed::new(order.seed)) {
        Ok(emulator) => emulator,
        Err(error) => return answer(&failed(error)),
    };
    answer(&Answer::Ready)?;
    loop {
        if let Err(error) = emulator.run(io::stdin().as_fd()) {
            return answer(&failed(error));
        }
        line.clear();
        if lines.read_line(&mut line)? == 0 {
            return Ok(());
        }
        answer(&emulator.report().map_or_else(failed, Answer::Report))?;
    }
}
