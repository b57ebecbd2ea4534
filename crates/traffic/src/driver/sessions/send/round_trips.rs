//! Common parts of round trips over datagrams and streams.

use std::thread;

use units::Time;
use wire::message::Message;

use super::replies::Replies;
use super::{Log, Ready};
use crate::driver::sessions::Record;
use crate::driver::sessions::unanswered::Unanswered;
use os::error::{Error, OperationContext, Result};
use os::socket::Socket;

impl Ready {
    /// Runs `send` while another thread receives echoes with `collect`, and records the
    /// results of both.
    pub(super) fn send_and_collect(
        &mut self,
        log: &mut Log,
        collect: fn(&Socket, Replies) -> Result<Replies>,
        send: impl FnOnce(&mut Self, &mut Log, &mut Unanswered) -> Result<()>,
    ) -> Result<()> {
        let mut unanswered = Unanswered::new(self.number, &self.log_sink, &self.tags);
        let answers = unanswered.answers();
        let replies = Replies::new(
            self.number,
            log.epoch,
            &self.log_sink,
            answers,
            &self.counters,
        );
        let signal = replies.signal();
        let socket = self.socket.try_clone().during(|| "sharing a socket")?;
        thread::scope(|scope| {
            let collect = move || collect(&socket, replies);
            let collector = thread::Builder::new().spawn_scoped(scope, collect);
            let collector = collector.during(|| "starting a thread")?;
            let sent = send(self, log, &mut unanswered);
            signal.expect(log.all_messages());
            let collected = collector.join();
            // Measurements made before an error count.
            unanswered.settle(&mut self.log_sink);
            self.log_sink.flush();
            sent?;
            let replies =
                collected.map_err(|_| Error::new("collecting echoes", "a thread failed"))??;
            replies.settle(log);
            Ok(())
        })
    }

    /// Records a message that had the flow to itself until its echo arrived or was
    /// lost, or a copy of its echo.
    pub(super) fn exchanged(&mut self, log: &mut Log, message: &Message, back: Option<Time>) {
        let back = back.map(|back| log.since_epoch(back));
        if let Some(back) = back {
            log.round_trips.record(message, back.as_nanos());
        }
        self.log_sink.keep(Record {
            flow: self.number,
            size: message.length,
            sequence: message.sequence,
            sent: message.sent.as_nanos(),
            untimed: false,
            received: back.map(Time::as_nanos),
            stamped: false,
            read: None,
        });
    }

    /// Records an echo that arrives while another message waits for its own: a copy
    /// counts, but an echo that was taken for lost does not.
    pub(super) fn other_echo(&mut self, log: &mut Log, echo: &Message, read: Time) {
        if !self.tags.has_made(echo) {
            log.round_trips.unexpected += 1;
        } else if log.round_trips.has(echo.sequence) {
            self.exchanged(log, echo, Some(read));
        }
    }
}
