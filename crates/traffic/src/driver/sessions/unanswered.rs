//! Messages that wait for their echoes, so that logs of round trips include losses.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use wire::message::Message;

use super::Record;
use super::echo_tags::EchoTags;
use super::records::LogSink;

/// An echo that is later than this many messages is logged as a loss first, and then as
/// an arrival.
const WINDOW: usize = 1 << 16;

/// The latest messages of a flow, with those still unanswered.
pub(super) struct Unanswered {
    flow: u16,
    /// By number modulo [`WINDOW`]: the departure of each unanswered message.
    waiting: Answers,
    /// The sizes of the messages in bytes, likewise.
    sizes: Vec<u32>,
    /// Number of the next message.
    next: u64,
}

/// The table of unanswered messages.
#[derive(Clone)]
pub(super) struct Answers {
    /// Zero means none; other values are the time in nanoseconds plus one.
    table: Arc<[AtomicU64]>,
    /// The number of messages sent, or being sent.
    asked: Arc<AtomicU64>,
    tags: EchoTags,
}

impl Unanswered {
    /// Empty. Without a log, messages are only counted.
    pub(super) fn new(flow: u16, log_sink: &LogSink, tags: &EchoTags) -> Self {
        let window = if log_sink.wanted() { WINDOW } else { 0 };
        Self {
            flow,
            waiting: Answers {
                table: (0..window).map(|_| AtomicU64::new(0)).collect(),
                asked: Arc::default(),
                tags: tags.clone(),
            },
            sizes: vec![0; window],
            next: 0,
        }
    }

    /// The table, for another thread that receives echoes.
    pub(super) fn answers(&self) -> Answers {
        self.waiting.clone()
    }

    /// Adds the next message before it is sent, and logs the one that has waited
    /// longest, if it is lost.
    pub(super) fn ask(&mut self, message: &Message, log_sink: &mut LogSink) {
        self.waiting
            .asked
            .store(message.sequence + 1, Ordering::Relaxed);
        let Some((place, waiting)) = self.waiting.place(message.sequence) else {
            return;
        };
        let before = waiting.swap(marked(message), Ordering::Relaxed);
        if before > 0 {
            log_sink.keep(self.lost(message.sequence - WINDOW as u64, before));
        }
        self.sizes[place] = message.length;
        self.next = message.sequence + 1;
    }

    /// Removes the latest message, which the kernel did not accept.
    pub(super) fn forget(&mut self, message: &Message) {
        self.waiting.answered(message);
        self.waiting
            .asked
            .store(message.sequence, Ordering::Relaxed);
    }

    /// Logs all unanswered messages as lost.
    pub(super) fn settle(self, log_sink: &mut LogSink) {
        for sequence in self.next.saturating_sub(WINDOW as u64)..self.next {
            let waiting = self.waiting.place(sequence);
            let waiting = waiting.map_or(0, |(_, waiting)| waiting.load(Ordering::Relaxed));
            if waiting > 0 {
                log_sink.keep(self.lost(sequence, waiting));
            }
        }
    }

    fn lost(&self, sequence: u64, waiting: u64) -> Record {
        let place = self.waiting.place(sequence);
        Record {
            flow: self.flow,
            size: place.map_or(0, |(place, _)| self.sizes[place]),
            sequence,
            sent: waiting - 1,
            untimed: false,
            received: None,
            stamped: false,
            read: None,
        }
    }
}

impl Answers {
    /// Whether this is the echo of a message that was sent.
    pub(super) fn was_asked(&self, echo: &Message) -> bool {
        echo.sequence < self.asked.load(Ordering::Relaxed) && self.tags.has_made(echo)
    }

    /// Marks a message as answered.
    pub(super) fn answered(&self, echo: &Message) {
        if let Some((_, waiting)) = self.place(echo.sequence) {
            let (ours, none) = (marked(echo), 0);
            // The entry belongs to another message, or was answered before.
            let _ = waiting.compare_exchange(ours, none, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    fn place(&self, sequence: u64) -> Option<(usize, &AtomicU64)> {
        let place = usize::try_from(sequence % WINDOW as u64).ok()?;
        Some((place, self.table.get(place)?))
    }
}

fn marked(message: &Message) -> u64 {
    message.sent.as_nanos().saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::sessions::Entry;
    use std::sync::mpsc::sync_channel;
    use units::Time;
    use wire::message::Echo;

    fn message(sequence: u64) -> Message {
        Message {
            echo: Echo::Wanted,
            warmup: false,
            tag: 0,
            length: 100,
            sequence,
            sent: Time::from_nanos(sequence * 10),
        }
    }

    #[test]
    fn an_echo_of_what_was_not_sent_is_none() {
        let mut log_sink = LogSink::new(None);
        let tags = EchoTags::default();
        let mut unanswered = Unanswered::new(0, &log_sink, &tags);
        let sent = tags.tagged(message(3));
        unanswered.ask(&sent, &mut log_sink);
        let answers = unanswered.answers();
        assert!(answers.was_asked(&sent));
        let forged = |nanos: u64| {
            let sent = Time::from_nanos(nanos);
            answers.was_asked(&Message {
                sent,
                ..tags.tagged(message(3))
            })
        };
        // A guess has one chance in 2^16.
        assert!((31..131).filter(|nanos| forged(*nanos)).count() < 3);
        let earlier = Message {
            sequence: 2,
            ..sent
        };
        let guessed = (0..100).filter(|tag| {
            answers.was_asked(&Message {
                tag: *tag,
                ..earlier
            })
        });
        assert!(guessed.count() < 3);
    }

    #[test]
    fn what_never_comes_back_is_written_down_once() {
        let (to, entries) = sync_channel(1_000);
        let mut log_sink = LogSink::new(Some(to));
        let mut unanswered = Unanswered::new(3, &log_sink, &EchoTags::default());
        let answers = unanswered.answers();
        let all = 3 * WINDOW as u64 / 2;
        for sequence in 0..all {
            unanswered.ask(&message(sequence), &mut log_sink);
            if sequence % 1_000 != 7 {
                answers.answered(&message(sequence));
                answers.answered(&message(sequence));
            }
        }
        unanswered.ask(&message(all), &mut log_sink);
        unanswered.forget(&message(all));
        unanswered.settle(&mut log_sink);
        drop(log_sink);
        let mut lost = Vec::new();
        for entry in entries {
            if let Entry::Records(records) = entry {
                lost.extend(records);
            }
        }
        let numbers: Vec<u64> = lost.iter().map(|record| record.sequence).collect();
        let expected: Vec<u64> = (0..all).filter(|sequence| sequence % 1_000 == 7).collect();
        assert_eq!(numbers, expected);
        let fine =
            |record: &Record| record.received.is_none() && record.sent == record.sequence * 10;
        assert!(lost.iter().all(fine));
    }

    #[test]
    fn without_a_log_messages_are_only_counted() {
        let mut log_sink = LogSink::new(None);
        let tags = EchoTags::default();
        let mut unanswered = Unanswered::new(0, &log_sink, &tags);
        let [first, second] = [0, 1].map(|sequence| tags.tagged(message(sequence)));
        unanswered.ask(&first, &mut log_sink);
        unanswered.answers().answered(&first);
        assert!(unanswered.answers().was_asked(&first) && !unanswered.answers().was_asked(&second));
        unanswered.ask(&second, &mut log_sink);
        unanswered.forget(&second);
        assert!(!unanswered.answers().was_asked(&second));
        assert!(unanswered.sizes.is_empty());
        unanswered.settle(&mut log_sink);
    }
}
