//! `jumbolab probe --watch`: a path is looked at again and again, and changes are printed.

mod path;
mod rounds;

use anyhow::Result;
use os::interrupt;
use probe::driver::{Investigated, Task, investigate};
use probe::machine::{PathReport, Verdict};
use probe::text::{Probed, path_change_json, path_change_sentence};

use super::metrics::{self, Watched};
use super::{Progress, progress};
use crate::args::Probe;
use crate::output;
use path::{Path, Sizes};
pub(super) use rounds::{Rounds, now};

/// The paths that are watched.
pub(super) struct Watch {
    rounds: Rounds,
    json: bool,
    host: String,
    paths: Vec<Path>,
}

impl Watch {
    /// Watches no path yet; `None` if that was not asked for.
    ///
    /// # Errors
    /// As [`Rounds::of`].
    pub(super) fn of(args: &Probe) -> Result<Option<Self>> {
        Ok(Rounds::of(args)?.map(|rounds| Self {
            rounds,
            json: args.json,
            host: args.host().to_owned(),
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
        while self.rounds.wait() {
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
            Ok(looked) if !interrupt::asked() => path.sizes(&looked.report),
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
        let time = now();
        match self.json {
            true => output::print_lines([path_change_json(&probed, before, &time)]),
            false => output::print(&format!(
                "{time} {}\n",
                path_change_sentence(&probed, before)
            )),
        }
    }

    fn publish(&self) {
        let watched = |path: &Path| Watched {
            labels: vec![
                ("host", self.host.clone()),
                ("far_end", path.latest.report.far_end.to_string()),
            ],
            report: path.latest.report.clone(),
            changes: path.changes,
        };
        self.rounds
            .publish(|| metrics::text(&self.paths.iter().map(watched).collect::<Vec<_>>()));
    }
}
