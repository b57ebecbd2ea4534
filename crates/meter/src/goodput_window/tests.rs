use super::*;
use proptest::prelude::*;
use units::Rate;

/// The curve of (total, microseconds), over a link of 10 bytes per microsecond.
fn goodput_window(warmup: u64, counted: u64, points: &[(u64, u64)]) -> GoodputWindow {
    let pace = Rate::from_bits_per_second(80_000_000);
    curve(warmup, counted, pace, points)
}

fn curve(warmup: u64, counted: u64, pace: Option<Rate>, points: &[(u64, u64)]) -> GoodputWindow {
    let mut goodput_window = GoodputWindow::new(Bytes::new(warmup), Bytes::new(counted), pace);
    for &(total, micros) in points {
        goodput_window.record(Bytes::new(total), Time::from_nanos(micros * 1000), true);
    }
    goodput_window
}

/// Checks the bytes and the two ends, in microseconds, of the window.
#[track_caller]
fn check(goodput_window: &GoodputWindow, bytes: u64, first: u64, last: u64) {
    let goodput = goodput_window.goodput().unwrap();
    let window = (
        goodput.bytes.get(),
        goodput.first.as_nanos(),
        goodput.last.as_nanos(),
    );
    assert_eq!(window, (bytes, first * 1000, last * 1000));
    assert_eq!(goodput.last.since(goodput.first), Some(goodput.span));
}

#[test]
fn counting_starts_where_the_arrivals_are_furthest_ahead_of_the_pace() {
    // Bursts on top of 10 bytes per microsecond; the search ranges from 5000 to 9000.
    let points = [
        (1000, 0),
        (5000, 101),
        (6000, 102), // 990 ahead of the pace from (5000, 101)
        (7000, 200), // 1010 ahead
        (8000, 201), // 2000 ahead
        (9000, 402), // 990 ahead
        (45_000, 4002),
    ];
    check(&goodput_window(5000, 80_000, &points), 37_000, 201, 4002);
    let goodput = goodput_window(5000, 80_000, &points).goodput().unwrap();
    let expected = 37_000.0 * 8.0 / 3801e-6;
    assert!((goodput.bits_per_second / expected - 1.0).abs() < 1e-12);
}

#[test]
fn without_a_pace_counting_starts_right_after_the_pre_roll() {
    let points = [(4000, 0), (5000, 101), (6000, 102), (45_000, 4002)];
    check(&curve(5000, 40_000, None, &points), 40_000, 101, 4002);
}

#[test]
fn of_equal_leads_the_first_counts() {
    let points = [(100, 0), (110, 1), (120, 2), (1000, 100)];
    check(&goodput_window(100, 1000, &points), 900, 0, 100);
}

#[test]
fn a_read_that_jumps_over_the_search_starts_the_count_where_it_lands() {
    let points = [(90, 0), (500, 10), (1000, 20)];
    check(&goodput_window(100, 1000, &points), 500, 10, 20);
}

#[test]
fn points_that_are_not_settled_start_a_count_only_where_there_is_no_other() {
    let mut goodput_window = GoodputWindow::new(Bytes::new(100), Bytes::new(1000), None);
    let at = |micros: u64| Time::from_nanos(micros * 1000);
    goodput_window.record(Bytes::new(150), at(1), false);
    goodput_window.record(Bytes::new(1100), at(11), true);
    check(&goodput_window, 950, 1, 11);
    let mut goodput_window = GoodputWindow::new(Bytes::new(100), Bytes::new(1000), None);
    goodput_window.record(Bytes::new(150), at(1), false);
    goodput_window.record(Bytes::new(200), at(2), true);
    goodput_window.record(Bytes::new(1100), at(11), true);
    check(&goodput_window, 900, 2, 11);
}

#[test]
fn no_window_has_no_goodput() {
    let none =
        |points: &[(u64, u64)]| assert_eq!(goodput_window(100, 1000, points).goodput(), None);
    none(&[]);
    none(&[(50, 0), (99, 5)]); // within the warm-up
    none(&[(50, 0), (100, 5)]); // only one point after it
    none(&[(100, 5), (1000, 5)]); // no time passed
    none(&[(100, 5), (1000, 4)]); // the clock stepped back
    none(&[(100, 5), (1000, 6), (50, 7)]); // the total went down
}

/// A stream over a link of 10 bytes per microsecond, 100 bytes in each segment. Until
/// segment `recovered` arrives, missing segments hide the last `hidden` segments from its
/// reader.
fn stream_with_missing_segments(hidden: u64, recovered: u64, exact: bool) -> Goodput {
    const SEGMENTS: u64 = 1_000;
    let mut window = goodput_window(10_000, 90_000, &[]);
    for arrived in 1..=SEGMENTS {
        let hidden = if arrived < recovered { hidden } else { 0 };
        let stamp = Time::from_nanos(arrived * 10_000);
        let mut total = Bytes::new(arrived.saturating_sub(hidden) * 100);
        if exact && window.may_start(total, stamp) {
            total = Bytes::new(arrived * 100);
        }
        window.record(total, stamp, true);
    }
    window.goodput().unwrap()
}

#[test]
fn bytes_behind_a_missing_segment_do_not_raise_the_goodput() {
    let readable = stream_with_missing_segments(300, 800, false);
    assert!(readable.bits_per_second > 1.4 * 80e6, "{readable:?}");
    let arrived = stream_with_missing_segments(300, 800, true);
    assert!((arrived.bits_per_second - 80e6).abs() < 1.0, "{arrived:?}");
}

/// A token bucket in front of a fast line; its source always has data.
struct Bucket {
    rate: u64,
    /// In bits times picoseconds, to avoid rounding.
    tokens: u128,
    depth: u128,
    frame: u128,
    now: u64,
}

impl Bucket {
    fn new(rate: u64, burst: u64, frame: u64) -> Self {
        let scaled = |bytes: u64| u128::from(bytes) * 8 * 1_000_000_000_000;
        let depth = scaled(burst);
        Self {
            rate,
            tokens: depth,
            depth,
            frame: scaled(frame),
            now: 0,
        }
    }

    fn wait(&mut self, picos: u64) {
        self.now += picos;
        let filled = self.tokens + u128::from(picos) * u128::from(self.rate);
        self.tokens = filled.min(self.depth);
    }

    /// Sends one frame and returns its time: at once if there are tokens, otherwise
    /// `late` picoseconds after there are.
    fn send(&mut self, late: u64) -> Time {
        if self.tokens < self.frame {
            let missing = (self.frame - self.tokens).div_ceil(u128::from(self.rate));
            self.wait(u64::try_from(missing).unwrap() + late);
        }
        self.tokens -= self.frame;
        Time::from_picos(self.now)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// For any bucket that is drained after the warm-up and empty at least once during
    /// the search.
    #[test]
    fn a_drained_token_bucket_never_shows_more_than_its_rate(
        megabits in 1..2_000u64, frame in 60..9_100u64, frames_in_burst in 1..40u64,
        extra in 0..20_000u64, seed in any::<u64>(),
    ) {
        let rate = megabits * 1_000_000;
        let burst = frame * frames_in_burst;
        let warmup = burst + extra;
        let counted = 400 * (2 * burst + 4 * frame);
        let line = Rate::from_bits_per_second(rate * 10).unwrap();
        let gap = line.serialise(Bytes::new(frame)).as_picos();
        let longest_wait = Rate::from_bits_per_second(rate).unwrap().serialise(Bytes::new(burst));

        let mut bucket = Bucket::new(rate, burst, frame);
        let mut goodput_window = GoodputWindow::new(Bytes::new(warmup), Bytes::new(counted), Rate::from_bits_per_second(rate));
        let mut total = 0;
        let mut state = seed;
        while total < warmup + counted {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let stamp = bucket.send((state >> 16) % (longest_wait.as_picos() + 1));
            total += frame;
            goodput_window.record(Bytes::new(total), stamp, true);
            bucket.wait(gap);
        }

        let goodput = goodput_window.goodput().unwrap();
        let (rate, frame) = (rate as f64, frame as f64);
        let bytes = goodput.bytes.get() as f64;
        prop_assert!(bytes * 20.0 >= 18.9 * counted as f64);
        prop_assert!(goodput.bits_per_second <= rate * (1.0 + 2.0 * frame / bytes));
        // Late wake-ups cost at most the tokens that overflow.
        prop_assert!(goodput.bits_per_second > rate * 0.3);
    }

    /// A sender that is delayed during the whole search meets a full bucket afterwards;
    /// the resulting value is not used.
    #[test]
    fn a_bucket_that_fills_during_the_search_never_shows_more_than_its_rate(
        megabits in 1..2_000u64, frame in 60..9_100u64, frames_in_burst in 40..80u64,
    ) {
        let rate = Rate::from_bits_per_second(megabits * 1_000_000).unwrap();
        let (burst, counted) = (frame * frames_in_burst, frame * 4_000);
        let gap = rate.serialise(Bytes::new(frame)).as_picos();
        let mut bucket = Bucket::new(megabits * 1_000_000, burst, frame);
        let mut goodput_window = GoodputWindow::new(Bytes::ZERO, Bytes::new(counted), Some(rate));
        for total in (frame..=counted).step_by(usize::try_from(frame).unwrap()) {
            goodput_window.record(Bytes::new(total), bucket.send(0), true);
            bucket.wait(gap / 10);
            if total <= counted / 20 {
                bucket.wait(gap);
            }
        }
        let goodput = goodput_window.goodput().unwrap();
        let rate = megabits as f64 * 1e6;
        let within_a_frame = 1.0 + 1.0 / 2_000.0;
        prop_assert!(goodput.bytes.get() * 20 < counted * 19, "not from the search");
        prop_assert!(goodput.bits_per_second <= rate * within_a_frame);
        prop_assert!(goodput.bits_per_second >= rate / within_a_frame);
        prop_assert!(goodput.bytes.get() * 20 >= counted * 9);
    }

    #[test]
    fn a_stream_with_missing_segments_never_shows_more_than_its_link(hidden in 0..900_u64, recovered in 1..999_u64) {
        let goodput = stream_with_missing_segments(hidden, recovered, true);
        prop_assert!(goodput.bits_per_second <= 80e6 + 1.0, "{goodput:?}");
    }

    #[test]
    fn hostile_points_never_panic_and_never_give_an_infinite_goodput(
        warmup: u64, counted: u64, pace: u64, points in prop::collection::vec(any::<(u64, u64, bool)>(), 0..20),
    ) {
        let mut goodput_window = GoodputWindow::new(Bytes::new(warmup), Bytes::new(counted), Rate::from_bits_per_second(pace));
        for (total, stamp, settled) in points {
            goodput_window.record(Bytes::new(total), Time::from_picos(stamp), settled);
            let goodput = goodput_window.goodput();
            prop_assert!(goodput.is_none_or(|goodput| goodput.bits_per_second.is_finite()));
        }
    }
}
