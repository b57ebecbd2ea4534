//! Reports of a gateway on a thread of their own: log and metrics, so that a stopped
//! terminal or a full disk does not delay packets.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{Builder, JoinHandle};

use anyhow::{Context as _, Result, anyhow};
use gateway::driver::Report;
use os::metrics::Endpoint;
use serde_json::Value;

use super::log::{Log, totals};
use super::metrics;

/// The most news that wait. Beyond, those of the second are left out.
const MOST_NEWS: usize = 1_024;

/// The facts of a log line.
pub(super) type Facts = Vec<(&'static str, Value)>;

/// The thread, and the channel to it.
pub(super) struct Reporter {
    news: SyncSender<News>,
    thread: JoinHandle<Result<()>>,
}

enum News {
    Event(&'static str, Facts),
    Report(Box<Report>),
    /// The last counters, and the packets that were dropped at the end.
    Last(Box<Report>, u64),
}

impl Reporter {
    /// Starts the thread.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(super) fn start(log: Log, metrics: Option<Endpoint>) -> Result<Self> {
        let (news, heard) = sync_channel(MOST_NEWS);
        let mut output = Output {
            log,
            metrics,
            before: None,
        };
        let thread = Builder::new()
            .name("reporter".into())
            .spawn(move || output.listen(&heard))
            .context("starting the reporting thread")?;
        Ok(Self { news, thread })
    }

    /// Writes a line to the log. Returns whether the thread still runs.
    pub(super) fn event(&self, event: &'static str, facts: Facts) -> bool {
        self.emit_json(News::Event(event, facts))
    }

    /// Publishes counters. Returns whether the thread still runs.
    pub(super) fn report(&self, report: Report) -> bool {
        self.emit_json(News::Report(Box::new(report)))
    }

    fn emit_json(&self, news: News) -> bool {
        !matches!(self.news.try_send(news), Err(TrySendError::Disconnected(_)))
    }

    /// Publishes the last counters, with the packets dropped at the end, and waits until
    /// everything is written.
    ///
    /// # Errors
    /// Those of the thread: a log that cannot be written.
    pub(super) fn end(self, last: Option<(Report, u64)>) -> Result<()> {
        if let Some((report, dropped)) = last {
            // A thread that has ended states the reason when it is joined.
            let _ = self.news.send(News::Last(Box::new(report), dropped));
        }
        drop(self.news);
        let ended = self.thread.join();
        ended.unwrap_or_else(|_| Err(anyhow!("the reporting thread panicked")))
    }
}

/// The state of the thread.
struct Output {
    log: Log,
    metrics: Option<Endpoint>,
    before: Option<Report>,
}

impl Output {
    fn listen(&mut self, heard: &Receiver<News>) -> Result<()> {
        for news in heard {
            match news {
                News::Event(event, facts) => self.log.event(event, &facts)?,
                News::Report(report) => self.report(*report)?,
                News::Last(report, dropped) => {
                    self.publish(&report);
                    let mut facts = totals(&report);
                    facts.push(("dropped_at_end", dropped.into()));
                    self.log.event("stopped", &facts)?;
                }
            }
        }
        Ok(())
    }

    fn report(&mut self, report: Report) -> Result<()> {
        for problem in &report.problems {
            let facts = [("text", problem.clone().into())];
            self.log.event("problem", &facts)?;
        }
        self.publish(&report);
        if let Some(before) = &self.before {
            self.log.changes(before, &report)?;
        }
        self.before = Some(report);
        Ok(())
    }

    fn publish(&self, report: &Report) {
        if let Some(endpoint) = &self.metrics {
            endpoint.publish(metrics::text(report));
        }
    }
}
