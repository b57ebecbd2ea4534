//! Prints intervals in a thread of its own, so that a slow reader of stdout delays no
//! traffic.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result, anyhow};
use traffic::driver::sessions::{Interval, Intervals};
use units::Span;

use super::intervals::Table;
use super::json;
use crate::output;

/// The most intervals that wait to be printed; further ones are left out.
const MOST_WAITING: usize = 256;

/// The form of printed intervals.
pub(crate) enum Form {
    Table(Table),
    /// JSON Lines.
    Json,
}

/// The printing thread.
pub(crate) struct Printer {
    to: SyncSender<Item>,
    thread: JoinHandle<Result<()>>,
    taken: u64,
    omitted: u64,
}

enum Item {
    /// An interval, and the number of its session at a receiver.
    Interval(Option<u64>, Interval),
    /// All before this was printed: closes the channel.
    Done(Sender<()>),
}

impl Printer {
    /// Starts the thread.
    ///
    /// # Errors
    /// No thread is left.
    pub(crate) fn start(form: Form) -> Result<Self> {
        let (to, items) = sync_channel(MOST_WAITING);
        let body = move || print(form, &items);
        let thread = thread::Builder::new().name("intervals".to_owned());
        Ok(Self {
            to,
            thread: thread.spawn(body).context("starting a thread")?,
            taken: 0,
            omitted: 0,
        })
    }

    /// Prints an interval, unless too many wait.
    pub(crate) fn interval(&mut self, session: Option<u64>, interval: Interval) {
        self.taken += 1;
        let item = Item::Interval(session, interval);
        self.omitted += u64::from(self.to.try_send(item).is_err());
    }

    /// Waits until all intervals so far are printed, before other output.
    pub(crate) fn flush(&self) {
        let (done, printed) = channel();
        if self.to.send(Item::Done(done)).is_ok() {
            // It is closed without a message.
            let _ = printed.recv();
        }
    }

    /// Ends the thread after all intervals are printed. Returns whether there were any.
    ///
    /// # Errors
    /// Stdout could not be written to.
    pub(crate) fn end(self) -> Result<bool> {
        drop(self.to);
        let printed = self.thread.join();
        if self.omitted > 0 && matches!(printed, Ok(Ok(()))) {
            output::info(&format!(
                "{} intervals omitted: the output was not read in time",
                self.omitted
            ));
        }
        printed.map_err(|_| anyhow!("the thread that prints intervals failed"))??;
        Ok(self.taken > 0)
    }
}

/// The printer of the intervals of several sessions; none if no intervals are wanted.
#[derive(Clone)]
pub(crate) struct SharedPrinter(Arc<Mutex<Option<Printer>>>);

const NO_PANIC: &str = "nobody panics with the printer in hand";

impl SharedPrinter {
    /// Starts the thread if there is a length of intervals.
    ///
    /// # Errors
    /// No thread is left.
    pub(crate) fn start(form: Form, every: Option<Span>) -> Result<Self> {
        let printer = every.map(|_| Printer::start(form)).transpose()?;
        Ok(Self(Arc::new(Mutex::new(printer))))
    }

    /// The reports of one session, which are printed.
    pub(crate) fn intervals(&self, every: Option<Span>) -> Option<Intervals> {
        let shared = Arc::clone(&self.0);
        every.map(|every| Intervals {
            every,
            tell: Box::new(move |interval| {
                if let Some(printer) = shared.lock().expect(NO_PANIC).as_mut() {
                    printer.interval(None, interval);
                }
            }),
        })
    }

    /// As [`Printer::end`].
    ///
    /// # Errors
    /// Stdout could not be written to.
    pub(crate) fn end(&self) -> Result<bool> {
        let printer = self.0.lock().expect(NO_PANIC).take();
        printer.map_or(Ok(false), Printer::end)
    }
}

fn print(mut form: Form, items: &Receiver<Item>) -> Result<()> {
    for item in items {
        match item {
            Item::Interval(session, interval) => output::print(&match &mut form {
                Form::Table(table) => {
                    let prefix = session.map_or_else(String::new, |number| format!("{number} "));
                    table.lines(&interval, &prefix)
                }
                Form::Json => json::interval(session, &interval),
            })?,
            Item::Done(done) => {
                if let Form::Table(table) = &mut form {
                    table.interrupt();
                }
                drop(done);
            }
        }
    }
    Ok(())
}
