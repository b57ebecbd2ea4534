//! Prints what a server logs to stderr on a separate thread, so that a blocked pipe does not
//! keep it from accepting connections.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::Builder;
use std::time::Duration;

use anyhow::{Context, Result};
use os::clock;
use units::{Span, Time};

use crate::output;

/// The maximum number of waiting lines; further lines are counted and omitted.
const MOST_LINES: usize = 256;

/// The minimum interval between reports of rejected connections.
const BETWEEN_REJECTIONS: Span = Span::from_secs(1);

/// The time limit for printing the remaining lines at the end.
const LAST_WORDS: Duration = Duration::from_secs(1);

const NO_PANIC: &str = "nobody panics with lines in hand";

/// The channel to the log thread.
#[derive(Clone)]
pub(super) struct LogThread(Arc<Shared>);

#[derive(Default)]
struct Shared {
    unsaid: Mutex<PendingLines>,
    news: Condvar,
    done: Condvar,
}

/// The waiting lines.
#[derive(Default)]
struct PendingLines {
    lines: VecDeque<String>,
    left_out: u64,
    /// The peer of the last rejected connection, and the reason.
    rejection: Option<(IpAddr, String)>,
    rejections: u64,
    /// The earliest time of the next report of rejections.
    hush: Time,
    is_over: bool,
    is_done: bool,
}

impl LogThread {
    /// Starts the thread.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn start() -> Result<Self> {
        let shared = Arc::<Shared>::default();
        let here = Arc::clone(&shared);
        Builder::new()
            .name("log".into())
            .spawn(move || here.say_all())
            .context("starting the log thread")?;
        Ok(Self(shared))
    }

    /// Queues a line.
    pub(super) fn info(&self, line: String) {
        let mut unsaid = self.0.unsaid();
        if unsaid.lines.len() < MOST_LINES {
            unsaid.lines.push_back(line);
        } else {
            unsaid.left_out += 1;
        }
        self.0.news.notify_one();
    }

    /// Reports that `peer` was rejected; many rejections are combined.
    pub(super) fn rejected(&self, peer: IpAddr, why: &str) {
        let mut unsaid = self.0.unsaid();
        unsaid.rejection = Some((peer, why.to_owned()));
        unsaid.rejections += 1;
        self.0.news.notify_one();
    }

    /// Prints the remaining lines within the time limit.
    pub(super) fn end(self) {
        let mut unsaid = self.0.unsaid();
        unsaid.is_over = true;
        self.0.news.notify_one();
        let waits = |unsaid: &mut PendingLines| !unsaid.is_done;
        drop(self.0.done.wait_timeout_while(unsaid, LAST_WORDS, waits));
    }
}

impl Shared {
    fn say_all(&self) {
        while let Some(line) = self.next() {
            output::info(&line);
        }
        self.unsaid().is_done = true;
        self.done.notify_all();
    }

    /// Waits for the next line; `None` when all lines are printed and the log
    /// has ended.
    fn next(&self) -> Option<String> {
        let mut unsaid = self.unsaid();
        loop {
            let now = clock::monotonic();
            if let Some(line) = unsaid.next(now) {
                return Some(line);
            }
            if unsaid.is_over {
                return None;
            }
            // Check for rejections again soon.
            let hush = unsaid.hush.since(now).unwrap_or(BETWEEN_REJECTIONS);
            let hush = Duration::from_nanos(hush.as_nanos().max(1));
            let woken = self.news.wait_timeout(unsaid, hush);
            unsaid = woken.expect(NO_PANIC).0;
        }
    }

    fn unsaid(&self) -> MutexGuard<'_, PendingLines> {
        self.unsaid.lock().expect(NO_PANIC)
    }
}

impl PendingLines {
    fn next(&mut self, now: Time) -> Option<String> {
        if self.left_out > 0 && self.lines.is_empty() {
            let left_out = std::mem::take(&mut self.left_out);
            return Some(format!(
                "{left_out} lines omitted: the output was not read in time"
            ));
        }
        if let Some(line) = self.lines.pop_front() {
            return Some(line);
        }
        if now < self.hush && !self.is_over {
            return None;
        }
        let (peer, why) = self.rejection.take()?;
        self.hush = now + BETWEEN_REJECTIONS;
        Some(match std::mem::take(&mut self.rejections) - 1 {
            0 => format!("{peer}: rejected: {why}"),
            others => {
                format!(
                    "{peer}: rejected: {why}; {others} other rejections since the last such line"
                )
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reject(unsaid: &mut PendingLines, times: u64) {
        unsaid.rejection = Some(([192, 0, 2, 1].into(), "late".into()));
        unsaid.rejections += times;
    }

    #[test]
    fn rejections_are_counted_and_said_once_a_second() {
        let mut unsaid = PendingLines::default();
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        reject(&mut unsaid, 1);
        assert_eq!(
            unsaid.next(at(5)).as_deref(),
            Some("192.0.2.1: rejected: late")
        );
        reject(&mut unsaid, 7);
        assert_eq!(unsaid.next(at(1_004)), None);
        reject(&mut unsaid, 2);
        let line = unsaid.next(at(1_005)).unwrap();
        assert!(
            line.ends_with("late; 8 other rejections since the last such line"),
            "{line}"
        );
        assert_eq!(unsaid.next(at(9_000)), None, "all is said");
        reject(&mut unsaid, 1);
        assert!(unsaid.next(at(9_001)).is_some());
        reject(&mut unsaid, 1);
        unsaid.is_over = true;
        assert!(unsaid.next(at(9_002)).is_some(), "the last words");
    }
}
