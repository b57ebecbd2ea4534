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
        self.arrivals = Some((self.arrivals.map_or(at, |(first, _)| first), at));
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
    fn of_nothing_there_are_no_statistics() {
        let stats = DitgRecorder::default().stats();
        assert_eq!((stats.mean_delay, stats.jitter), (None, None));
        assert_eq!((stats.bitrate, stats.min_delay), (None, None));
    }
}
