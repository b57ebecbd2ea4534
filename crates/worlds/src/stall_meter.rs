//! The stall meter of a run: a worker whose threads ask for wake-ups on each CPU,
//! because the coordinator has one thread.

use std::io::{BufRead, Write};

use anyhow::{Context, Result, bail};
use os::stalls::{self, Stalls};
use os::worker::Command;
use os::{Worker, clock};
use serde::{Deserialize, Serialize};
use units::Span;

/// The worker's role.
pub(crate) const ROLE: &str = "stall-meter";

/// The timeout of replies.
const TIMEOUT: Span = Span::from_secs(30);

#[derive(Serialize, Deserialize)]
enum Request {
    Begin,
    End,
}

#[derive(Serialize, Deserialize)]
enum Reply {
    Begun,
    Ended(Stalls),
    Failed(String),
}

/// The worker; dropping it ends the process.
pub(crate) struct StallMeter {
    worker: Worker,
}

impl StallMeter {
    /// Starts the worker.
    ///
    /// # Errors
    /// The kernel refuses to start it.
    pub(crate) fn start() -> Result<Self> {
        let worker = Worker::spawn(Command::local(None, ROLE))?;
        Ok(Self { worker })
    }

    /// Begins to meter. A metering that was not ended is discarded.
    ///
    /// # Errors
    /// The worker has exited or cannot meter.
    pub(crate) fn begin(&mut self) -> Result<()> {
        match self.ask(&Request::Begin)? {
            Reply::Begun => Ok(()),
            Reply::Failed(why) => bail!(why),
            Reply::Ended(_) => bail!("unexpected reply of the stall meter"),
        }
    }

    /// Ends the metering; returns the stalls since it began.
    ///
    /// # Errors
    /// The worker has exited, cannot meter, or has not begun.
    pub(crate) fn end(&mut self) -> Result<Stalls> {
        match self.ask(&Request::End)? {
            Reply::Ended(stalls) => Ok(stalls),
            Reply::Failed(why) => bail!(why),
            Reply::Begun => bail!("unexpected reply of the stall meter"),
        }
    }

    fn ask(&mut self, request: &Request) -> Result<Reply> {
        self.worker.send_line(&serde_json::to_string(request)?)?;
        let line = self.worker.receive_line(clock::monotonic() + TIMEOUT)?;
        let line = line.context("the stall meter does not answer")?;
        Ok(serde_json::from_str(&line)?)
    }
}

/// Meters stalls as the lines of stdin request, until stdin ends.
pub(crate) fn serve(requests: impl BufRead, mut out: impl Write) -> Result<()> {
    let mut meter = None;
    for line in requests.lines() {
        let reply = match serde_json::from_str(&line?).context("reading a request")? {
            Request::Begin => {
                meter = None;
                stalls::StallMeter::start().map(|started| {
                    meter = Some(started);
                    Reply::Begun
                })
            }
            Request::End => match meter.take() {
                Some(meter) => meter.finish().map(Reply::Ended),
                None => Ok(Reply::Failed("the stall meter has not begun".to_owned())),
            },
        };
        let reply = reply.unwrap_or_else(|error| Reply::Failed(error.to_string()));
        writeln!(out, "{}", serde_json::to_string(&reply)?)?;
        out.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_follows_a_beginning() {
        let requests = "\"End\"\n\"Begin\"\n\"Begin\"\n\"End\"\n\"End\"\n";
        let mut out = Vec::new();
        serve(std::io::Cursor::new(requests), &mut out).unwrap();
        let replies: Vec<Reply> = out
            .lines()
            .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
            .collect();
        assert!(matches!(
            replies[..],
            [
                Reply::Failed(_),
                Reply::Begun,
                Reply::Begun,
                Reply::Ended(_),
                Reply::Failed(_)
            ]
        ));
    }
}
