//! The receiving end of a connection.

use units::{Span, Time};

use super::segment::{Ack, Data, HEADER, MOST_BLOCKS};
use super::{Acknowledging, Profile, Range, Ranges, Recovery, Settings};

/// The receiving end: it acknowledges segments.
#[derive(Clone, Debug)]
pub struct Receiver {
    profile: Profile,
    selective: bool,
    options: u32,
    delay: Option<Span>,
    /// Number of further acknowledgements that are not delayed.
    quick: u32,
    quick_pushes: bool,
    /// The first number that has not arrived.
    next: u64,
    /// Ranges received beyond `next`.
    beyond: Ranges,
    /// Ranges reported recently, the latest first.
    reported: Vec<Range>,
    /// The time at which a delayed acknowledgement is sent.
    held: Option<Time>,
    ready: Option<Ack>,
    /// Whether to echo congestion marks.
    echo: bool,
    segments: u64,
    bytes: u64,
}

impl Receiver {
    /// A receiver to which nothing has arrived.
    pub fn new(settings: &Settings) -> Self {
        Self {
            profile: settings.profile,
            selective: settings.recovery == Recovery::Sack,
            options: settings.options,
            delay: match settings.acknowledging {
                Acknowledging::Each => None,
                Acknowledging::Delayed(delay) => Some(delay),
            },
            quick: settings.quick_acks,
            quick_pushes: settings.quick_pushes,
            next: 0,
            beyond: Ranges::default(),
            reported: Vec::with_capacity(MOST_BLOCKS + 1),
            held: None,
            ready: None,
            echo: false,
            segments: 0,
            bytes: 0,
        }
    }

    /// Takes an arriving segment.
    pub fn receive(&mut self, now: Time, data: &Data) {
        let mut ack = Ack::NOTHING;
        if self.answer(now, data, &mut ack) {
            self.ready = Some(ack);
        }
    }

    /// Takes an arriving segment. Returns whether it is acknowledged at once; `ack` is
    /// then the acknowledgement, written where it is to be, because copies of what was
    /// just written in parts are slow. It has no ranges before.
    #[inline]
    pub fn answer(&mut self, now: Time, data: &Data, ack: &mut Ack) -> bool {
        if data.reduced {
            self.echo = false;
        }
        self.echo |= data.marked;
        let range = Range {
            from: data.sequence,
            to: data.sequence + u64::from(data.length),
        };
        let gap = !self.beyond.is_empty();
        let new = range.to > self.next && self.beyond.containing(range.from).is_none();
        let in_order = range.from <= self.next && range.to > self.next;
        if new {
            self.segments += u64::from(data.payload > 0);
            self.bytes += u64::from(data.payload);
        }
        self.store(range);
        // Segments out of order, repetitions, and segments that fill a gap are
        // acknowledged at once [RFC5681 s4.2].
        let quick = self.quick > 0;
        self.quick = self.quick.saturating_sub(1);
        let at_once = !in_order || gap || data.payload == 0 || self.held.is_some();
        let at_once = at_once || quick || data.push && self.quick_pushes;
        match self.delay {
            Some(delay) if !at_once => {
                self.held = Some(now + delay);
                false
            }
            _ => {
                self.acknowledge(range, ack);
                true
            }
        }
    }

    /// Sends the delayed acknowledgement if it is due by `now`.
    pub fn timeout(&mut self, now: Time) {
        if self.held.is_some_and(|at| at <= now) {
            let (next, mut ack) = (self.next, Ack::NOTHING);
            let last = Range {
                from: next - 1,
                to: next,
            };
            self.acknowledge(last, &mut ack);
            self.ready = Some(ack);
        }
    }

    /// The acknowledgement to send.
    pub const fn poll_transmit(&mut self) -> Option<Ack> {
        self.ready.take()
    }

    /// The time at which an acknowledgement is due without another arrival.
    pub const fn next_timeout(&self) -> Option<Time> {
        self.held
    }

    /// The first number that has not arrived.
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Segments with data that arrived, repetitions excluded.
    pub const fn segments(&self) -> u64 {
        self.segments
    }

    /// Bytes of payload in those segments.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    #[inline]
    fn store(&mut self, range: Range) {
        if range.from > self.next {
            self.beyond.add(range);
            return;
        }
        self.next = self.next.max(range.to);
        while let Some(first) = self.beyond.first()
            && first.from <= self.next
        {
            self.next = self.next.max(first.to);
            self.beyond.forget_below(first.to);
        }
    }

    #[inline]
    fn acknowledge(&mut self, arrived: Range, ack: &mut Ack) {
        self.held = None;
        ack.next = self.next;
        ack.echo = self.echo;
        let mut each = 0;
        if self.selective {
            if self.beyond.is_empty() {
                self.reported.clear();
            } else {
                each = 8 * u32::try_from(self.report(arrived, ack)).unwrap_or_default();
            }
        }
        // Two bytes of kind and length, two of padding [RFC2018 s3]; ns-2 counts only
        // the blocks [Ns2].
        let around = match self.profile {
            Profile::Standard if each > 0 => 4,
            Profile::Standard | Profile::Ns2 => 0,
        };
        ack.header = HEADER + self.options + around + each;
    }

    /// Adds the SACK blocks to report: first the one with the arrived segment, then recently
    /// reported ones outside of it [RFC2018 s4]. ns-2 keeps reporting blocks below the
    /// acknowledgement until a segment in order removes them [Ns2]. Returns their number.
    fn report(&mut self, arrived: Range, ack: &mut Ack) -> usize {
        let around = self.beyond.containing(arrived.from);
        let latest = around.unwrap_or(Range {
            from: 0,
            to: self.next,
        });
        let mut count = 0;
        if around.is_some() {
            count = ack.report(count, latest);
        }
        let overtaken = |range: Range| range.to <= self.next && self.profile == Profile::Standard;
        let mut at = 0;
        while count < MOST_BLOCKS
            && let Some(&range) = self.reported.get(at)
        {
            if latest.from <= range.from && latest.to >= range.to || overtaken(range) {
                self.reported.remove(at);
                continue;
            }
            count = ack.report(count, range);
            at += 1;
        }
        if around.is_some() {
            self.reported.truncate(MOST_BLOCKS - 1);
            self.reported.insert(0, latest);
        }
        count
    }
}

#[cfg(test)]
mod tests;
