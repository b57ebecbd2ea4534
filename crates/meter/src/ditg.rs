//! Statistics as D-ITG's decoder defines them [D-ITG], for comparison with its output:
//! in the order of arrival, regardless of sequence numbers, with flows mixed if several
//! are combined.

/// Records the lines of a log, or those of one flow in it.
#[derive(Clone, Copy, Debug, Default)]
pub struct DitgRecorder {
    packets: u64,
    bytes: u64,
    /// The first and the last arrival in the log, in nanoseconds.
    arrivals: Option<(u64, u64)>,
    delays: i128,
    least: Option<i64>,
    most: Option<i64>,
    /// Sum of the squares of delays, in square seconds.
    squares: f64,
    last: Option<i64>,
    steps: u128,
}

/// The statistics; times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DitgStats {
    /// Packets in the log, duplicates included.
    pub packets: u64,
    /// Bytes of payload, duplicates included.
    pub bytes: u64,
    /// Time from the first to the last arrival.
    pub seconds: f64,
    /// Minimum delay; negative if the clocks differ.
    pub min_delay: Option<f64>,
    /// Maximum delay.
    pub max_delay: Option<f64>,
    pub mean_delay: Option<f64>,
    /// Mean of |D(i) - D(i-1)|.
    pub jitter: Option<f64>,
    /// Standard deviation of the delays.
    pub standard_deviation: Option<f64>,
    /// Payload rate of all packets, in kilobits per second.
    pub bitrate: Option<f64>,
    /// Packets per second.
    pub packet_rate: Option<f64>,
}

impl DitgRecorder {
    /// Records a line of the log: arrival and delay in nanoseconds, and bytes of
    /// payload.
    #[inline]
    pub fn record(&mut self, at: u64, delay: i64, size: u32) {
        self.packets += 1;
        self.bytes = self.bytes.saturating_add(size.into());
        let (first, last) = self.arrivals.unwrap_or((at, at));
        self.arrivals = Some((first.min(at), last.max(at)));
        self.delays += i128::from(delay);
        self.least = Some(self.least.map_or(delay, |least| least.min(delay)));
        self.most = self.most.max(Some(delay));
        self.squares += seconds(delay.into()) * seconds(delay.into());
        if let Some(last) = self.last.replace(delay) {
            self.steps += u128::from(delay.abs_diff(last));
        }
    }

    /// The statistics of the lines so far.
    pub fn stats(&self) -> DitgStats {
        let length = self
            .arrivals
            .map_or(0, |(first, last)| i128::from(last) - i128::from(first));
        let length = seconds(length);
        let rate = |of: f64| (length > 0.0).then(|| of / length);
        let packets = float(self.packets);
        let some = self.packets > 0;
        let mean = seconds(self.delays) / packets;
        let steps = i128::try_from(self.steps).unwrap_or(i128::MAX);
        DitgStats {
            packets: self.packets,
            bytes: self.bytes,
            seconds: length,
            min_delay: self.least.map(|delay| seconds(delay.into())),
            max_delay: self.most.map(|delay| seconds(delay.into())),
            mean_delay: some.then_some(mean),
            jitter: (self.packets > 1).then(|| seconds(steps) / (packets - 1.0)),
            standard_deviation: some
                .then(|| (self.squares / packets - mean * mean).max(0.0).sqrt()),
            bitrate: rate(float(self.bytes) * 8.0 / 1e3),
            packet_rate: rate(packets),
        }
    }
}

impl DitgStats {
    /// The same statistics for a log without arrivals: delays are left out.
    #[must_use]
    pub fn of_departures(self) -> Self {
        Self {
            min_delay: None,
            max_delay: None,
            mean_delay: None,
            jitter: None,
            standard_deviation: None,
            ..self
        }
    }
}

/// Counts the losses of a flow as D-ITG's decoder does. The first two packets come first: all
/// numbers below the higher one that neither had are lost, in one burst if the second number is
/// above 2. Then what is missing before a packet is a burst, and each packet that is late or a
/// duplicate takes back one loss and one burst: there may be fewer bursts than none. For a
/// duplicate before the first loss the real decoder prints other means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DitgLosses {
    packets: u64,
    /// The highest sequence number.
    last: u64,
    lost: u64,
    bursts: i64,
    has_lost: bool,
}

impl DitgLosses {
    /// Records the next packet of the log, with its sequence number from 1.
    #[inline]
    pub fn record(&mut self, sequence: u64) {
        self.packets += 1;
        match self.packets {
            1 => self.last = sequence,
            2 => {
                self.last = self.last.max(sequence);
                self.miss(self.last.saturating_sub(2), sequence > 2);
            }
            _ if sequence > self.last => {
                let missing = sequence - self.last - 1;
                self.miss(missing, missing > 0);
                self.last = sequence;
            }
            _ => {
                self.lost = self.lost.saturating_sub(1);
                self.bursts -= i64::from(self.has_lost);
            }
        }
    }

    fn miss(&mut self, count: u64, is_burst: bool) {
        self.lost = self.lost.saturating_add(count);
        self.bursts += i64::from(is_burst);
        self.has_lost |= count > 0;
    }

    /// Adds those of another flow.
    pub fn add(&mut self, other: &Self) {
        self.lost = self.lost.saturating_add(other.lost);
        self.bursts += other.bursts;
    }

    /// The number of lost packets.
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// The mean length of a burst of losses; infinite where losses have no burst.
    pub fn mean_burst(&self) -> f64 {
        match (self.lost, self.bursts) {
            (0, _) => 0.0,
            (_, 0) => f64::INFINITY,
            // The decoder counts without a sign.
            (_, ..0) => 0.0,
            (lost, bursts) => float(lost) / bursts as f64,
        }
    }
}

fn seconds(nanos: i128) -> f64 {
    nanos as f64 / 1e9
}

fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_lines_give_the_figures_worked_by_hand() {
        let mut recorder = DitgRecorder::default();
        // Delays of 10, 14, 12 and 20 ms: steps 4, 2, 8.
        for (at, delay) in [(10, 10), (34, 14), (52, 12), (80, 20)] {
            recorder.record(at * 1_000_000, delay * 1_000_000, 1000);
        }
        let stats = recorder.stats();
        let close = |found: Option<f64>, wanted: f64| (found.unwrap() - wanted).abs() < 1e-9;
        assert!(close(stats.jitter, 0.014 / 3.0));
        assert!(close(stats.mean_delay, 0.014));
        assert!(close(stats.standard_deviation, 14e-6_f64.sqrt()));
        assert!(close(stats.bitrate, 32.0 / 0.07));
        assert!(close(stats.packet_rate, 4.0 / 0.07));
        assert_eq!((stats.packets, stats.bytes), (4, 4000));
    }

    #[test]
    fn losses_are_those_that_the_real_decoder_printed() {
        // What ITGDec 2.8.1 printed for logs with these sequence numbers.
        let none = 0.0;
        let infinite = f64::INFINITY;
        for (numbers, lost, burst) in [
            (&[2][..], 0, none),
            (&[2, 2], 0, none),
            (&[2, 3], 1, 1.0),
            (&[5, 6, 9], 6, 3.0),
            (&[2, 4], 2, 2.0),
            (&[3, 6, 7], 4, 4.0),
            (&[2, 4, 6], 3, 1.5),
            (&[6, 2, 8], 5, 5.0),
            (&[6, 3, 8], 5, 2.5),
            (&[3, 2, 1, 5], 1, infinite),
            (&[4, 3, 1, 7, 8, 10], 4, 2.0),
            (&[1, 3, 2], 0, none),
            (&[1, 2, 5, 3, 6], 1, infinite),
            (&[1, 5, 3, 9], 5, 5.0),
            (&[1, 5, 4, 3, 9], 4, infinite),
            (&[1, 5, 4, 3, 2, 9], 3, none),
            (&[1, 3, 5, 4, 2, 8], 2, 2.0),
            (&[1, 2, 2, 2, 9], 6, 6.0),
            (&[1, 1, 3, 3, 3, 9], 5, infinite),
            (&[1, 2, 2, 9, 9, 9], 4, none),
            (&[3, 1, 2, 9], 5, infinite),
        ] {
            let mut losses = DitgLosses::default();
            numbers.iter().for_each(|number| losses.record(*number));
            assert_eq!(
                (losses.lost(), losses.mean_burst()),
                (lost, burst),
                "{numbers:?}"
            );
        }
    }

    #[test]
    fn of_nothing_there_are_no_statistics() {
        let stats = DitgRecorder::default().stats();
        assert_eq!((stats.mean_delay, stats.jitter), (None, None));
        assert_eq!((stats.bitrate, stats.min_delay), (None, None));
    }
}
