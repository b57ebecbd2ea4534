//! The local workers of this process. Each must live until it is dropped, so that who waits
//! for one learns of the end of any other.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::AsFd;
use std::process::Child;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use units::Span;

use crate::error::{Error, OperationContext, Result};
use crate::linux::pipes::{self, Watched};

/// The workers by their process id, which nobody else has until they are dropped.
static ALL: Mutex<BTreeMap<u32, Arc<Member>>> = Mutex::new(BTreeMap::new());

/// The most bytes of its last words that are shown.
const MOST_SAID: usize = 1024;

/// A worker: its name in messages, and its output.
#[derive(Debug)]
pub(super) struct Member {
    name: String,
    output: File,
}

/// The entry of a worker, which lasts until it is dropped.
#[derive(Debug)]
pub(super) struct Entry(u32);

impl Entry {
    /// Enters the worker `child` with a copy of its `output`.
    pub(super) fn new(child: &Child, name: String, output: impl AsFd) -> Result<Self> {
        let output = output.as_fd().try_clone_to_owned();
        let output = output
            .during(|| format!("starting the worker `{name}`"))?
            .into();
        all().insert(child.id(), Arc::new(Member { name, output }));
        Ok(Self(child.id()))
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        all().remove(&self.0);
    }
}

/// The workers that are not `child`.
pub(super) fn others(child: &Child) -> Vec<Arc<Member>> {
    let all = all();
    let others = all.iter().filter(|(number, _)| **number != child.id());
    others.map(|(_, member)| Arc::clone(member)).collect()
}

/// Checks that no local worker has ended, in a wait that hears none of them.
///
/// # Errors
/// One has.
pub fn check() -> Result<()> {
    let all: Vec<Arc<Member>> = all().values().cloned().collect();
    let watched: Vec<Watched<'_>> = all.iter().map(|member| member.watched()).collect();
    let ready = pipes::wait(&watched, Span::ZERO).during(|| "looking at the workers")?;
    let ended = ready.and_then(|ready| ready.iter().position(|ended| *ended));
    ended.map_or(Ok(()), |number| Err(all[number].ended()))
}

impl Member {
    /// To be watched for its end alone.
    pub(super) fn watched(&self) -> Watched<'_> {
        Watched::End(self.output.as_fd())
    }

    /// The error that it has ended, with what it said last.
    pub(super) fn ended(&self) -> Error {
        let mut last = [0; MOST_SAID];
        // It has ended: a read does not wait.
        let length = (&self.output).read(&mut last).unwrap_or(0);
        let last = String::from_utf8_lossy(&last[..length]);
        let last = match last.trim() {
            "" => String::new(),
            last => format!(": {last}"),
        };
        let name = &self.name;
        Error::new(
            "waiting for a worker",
            format!("the worker `{name}` was killed, or ended early{last}"),
        )
    }
}

fn all() -> MutexGuard<'static, BTreeMap<u32, Arc<Member>>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}
