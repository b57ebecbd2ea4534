//! `jumbolab probe --watch`: a path is looked at again and again, and changes are printed.

mod path;

use anyhow::{Result, anyhow, ensure};
use backends::run::rfc3339;
use os::clock::{self, Epoch};
use os::interrupt;
use os::kernel_clock;
use os::metrics::Endpoint;
use probe::driver::{Investigated, Task, investigate};
use probe::machine::{PathReport, Verdict};
use probe::text::{Probed, path_change_json, path_change_sentence};
use units::Span;

use super::{Progress, metrics, progress};
use crate::args::Probe;
use crate::output;
pub(super) use path::Path;
use path::Sizes;

/// The shortest interval: a look takes a second or so.
const SHORTEST: Span = Span::from_secs(1);

/// The interval of checks for a stop request.
const LOOK: Span = Span::from_millis(100);

/// The paths that are watched.
pub(super) struct Watch {
    every: Span,
    json: bool,
    host: String,
    endpoint: Option<Endpoint>,
    paths: Vec<Path>,
}

impl Watch {
    /// Watches every `text`; nothing if that was not asked for.
    ///
    /// # Errors
    /// The interval is no time or too short, or metrics cannot be served.
    pub(super) fn of(args: &Probe) -> Result<Option<Self>> {
        let Some(text) = &args.watch else {
            return Ok(None);
        };
        let every: Span = text
            .parse()
            .map_err(|why| anyhow!("--watch {text}: {why}"))?;
        ensure!(
            every >= SHORTEST,
            "--watch {text}: write {SHORTEST} or more, for instance 60s"
        );
        let endpoint = args.metrics_listen.map(Endpoint::open).transpose()?;
        Ok(Some(Self {
            every,
            json: args.json,
            host: args.host().to_owned(),
            endpoint,
            paths: Vec::new(),
        }))
    }

    /// Watches a path that was investigated.
    pub(super) fn add(&mut self, task: &Task, latest: Investigated) {
        let answers = latest.report.protocols.iter().find(|one| one.answers);
        let task = Task {
            protocols: answers.map_or_else(|| task.protocols.clone(), |one| vec![one.protocol]),
            is_short: true,
            ignores_cache: true,
            capture: None,
            ..task.clone()
        };
        self.paths.push(Path::new(task, latest));
    }

    /// Watches until the user stops the program. Returns the last verdicts.
    ///
    /// # Errors
    /// Stdout cannot be written to.
    pub(super) fn run(mut self, full: impl Fn(&Task) -> Task) -> Result<Vec<Verdict>> {
        self.publish();
        let mut next = clock::monotonic();
        while !interrupt::asked() {
            next = (next + self.every).max(clock::monotonic());
            while clock::monotonic() < next && !interrupt::asked() {
                kernel_clock::sleep_until(next.min(clock::monotonic() + LOOK));
            }
            for place in 0..self.paths.len() {
                if !interrupt::asked() {
                    self.look(place, &full)?;
                }
            }
            self.publish();
        }
        let verdicts = self.paths.iter().map(|path| path.latest.report.verdict);
        Ok(verdicts.collect())
    }

    /// Looks at a path, and investigates it if it has changed.
    fn look(&mut self, place: usize, full: &impl Fn(&Task) -> Task) -> Result<()> {
        let path = &mut self.paths[place];
        let seen = match investigate(&path.task, |_| ()) {
            Ok(looked) if !interrupt::asked() => Sizes::of(&looked.report),
            // An interface may be down for a while.
            Err(_) => Sizes::NONE,
            Ok(_) => return Ok(()),
        };
        if !path.looks_changed(seen) {
            return Ok(());
        }
        let mut progress = Progress::new();
        let far_end = path.task.to.ip();
        let found = investigate(&full(&path.task), |state| {
            progress.show(|| progress::words(far_end, state));
        });
        progress.end();
        let before = match found {
            _ if interrupt::asked() => return Ok(()),
            Ok(found) => path.investigated(seen, found),
            Err(error) => {
                if path.is_new_failure(seen) {
                    output::warn(&error.to_string());
                }
                path.failed()
            }
        };
        match before {
            Some(before) => self.print(place, &before.report),
            None => Ok(()),
        }
    }

    /// Prints a change since `before`.
    fn print(&self, place: usize, before: &PathReport) -> Result<()> {
        let Investigated { outgoing, report } = &self.paths[place].latest;
        let probed = Probed {
            host: &self.host,
            interface: &outgoing.interface,
            interface_mtu: outgoing.mtu,
            gateway: outgoing.gateway,
            report,
        };
        let time = rfc3339(Epoch::now().unix_nanos());
        match self.json {
            true => output::print_lines([path_change_json(&probed, before, &time)]),
            false => output::print(&format!(
                "{time} {}\n",
                path_change_sentence(&probed, before)
            )),
        }
    }

    fn publish(&self) {
        if let Some(endpoint) = &self.endpoint {
            endpoint.publish(metrics::text(&self.host, &self.paths));
        }
    }
}
