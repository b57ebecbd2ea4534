//! Investigations of a path between two agents: the far end answers, and the sender
//! probes.

use probe::driver::stamp;
use probe::driver::{FarEnd, Investigated, Prober, Services, Task};
use probe::machine::Settings;
use units::Span;

use super::{Agents, Failure, Reply, Request, ask, hear};

/// The timeout of requests that open or close something. A prober looks for a reflector
/// meanwhile.
const OPENING: Span = Span::from_secs(30);

/// Additional time for an investigation beyond its longest duration.
const MARGIN: Span = Span::from_secs(30);

/// The open parts of an investigation.
#[derive(Default)]
pub(super) struct Probing {
    far_end: Option<FarEnd>,
    prober: Option<Prober>,
}

impl Probing {
    pub(super) fn open_far_end(&mut self, services: Services) -> os::Result<Reply> {
        self.far_end = Some(FarEnd::open(services)?);
        Ok(Reply::Opened)
    }

    pub(super) fn close_far_end(&mut self) -> os::Result<Reply> {
        let far_end = self.far_end.take().map(FarEnd::close);
        Ok(Reply::Closed(far_end.transpose()?.flatten()))
    }

    pub(super) fn open_prober(&mut self, task: &Task) -> os::Result<Reply> {
        self.prober = Some(Prober::open(task)?);
        Ok(Reply::Opened)
    }

    /// The result of the prober that is open.
    pub(super) fn investigate(&mut self) -> os::Result<Reply> {
        match self.prober.take() {
            Some(prober) => {
                let investigated = prober.run(|_| ())?;
                Ok(Reply::Investigated(Box::new(investigated)))
            }
            None => Ok(Reply::Failed("no prober is open".to_owned())),
        }
    }
}

impl Agents {
    /// Makes the receiver answer probes until [`Agents::close_far_end`].
    ///
    /// # Errors
    /// As [`Agents::transfer`].
    pub(crate) fn open_far_end(&mut self, services: Services) -> Result<(), Failure> {
        ask(&mut self.receiver, &Request::OpenFarEnd(services))?;
        match hear(&mut self.receiver, "receiver", OPENING)? {
            Reply::Opened => Ok(()),
            other => Err(Failure::unexpected("receiver", other)),
        }
    }

    /// Makes the receiver stop to answer; returns the counts of its reflector, if it had
    /// one.
    ///
    /// # Errors
    /// As [`Agents::transfer`].
    pub(crate) fn close_far_end(&mut self) -> Result<Option<stamp::Outcome>, Failure> {
        ask(&mut self.receiver, &Request::CloseFarEnd)?;
        match hear(&mut self.receiver, "receiver", OPENING)? {
            Reply::Closed(counts) => Ok(counts),
            other => Err(Failure::unexpected("receiver", other)),
        }
    }

    /// Makes the sender investigate a path. `begin` is called just before its first probe.
    ///
    /// # Errors
    /// As [`Agents::transfer`], and those of `begin`.
    pub(crate) fn investigate(
        &mut self,
        task: &Task,
        begin: impl FnOnce() -> anyhow::Result<()>,
    ) -> Result<Investigated, Failure> {
        ask(&mut self.sender, &Request::OpenProber(task.clone()))?;
        match hear(&mut self.sender, "sender", OPENING)? {
            Reply::Opened => {}
            other => return Err(Failure::unexpected("sender", other)),
        }
        begin()?;
        ask(&mut self.sender, &Request::Investigate)?;
        let longest = task.most_time.unwrap_or(Settings::MOST_TIME);
        match hear(&mut self.sender, "sender", longest + MARGIN)? {
            Reply::Investigated(investigated) => Ok(*investigated),
            other => Err(Failure::unexpected("sender", other)),
        }
    }
}
