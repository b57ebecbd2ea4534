//! What a peer reports of a flow, checked against what can have happened: figures of either
//! end, for flows of either direction.

use wire::control::{Progress, Report, SentReport};

/// No end sends or receives more in a nanosecond: 1.6 Tbit/s, more than a processor copies. It
/// handles no more than one message in this time.
const BYTES_PER_NANO: u64 = 200;

/// The part of a time by which clocks may differ, far above their drift [RFC5905 s7.1], and the
/// share by which the observations of an interval round.
const SLACK: u64 = 32;

/// No timestamp of a program is later, in nanoseconds: a datagram of loopback that takes longer
/// counts as lost.
const LATEST_STAMP: u64 = 1_000_000_000;

/// The facts about a flow that no report can exceed.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowBounds {
    /// Nanoseconds since the session began.
    pub elapsed: u64,
    /// The bound of the offset between both clocks, in nanoseconds.
    pub clock_bound: u64,
    /// Bytes of the smallest and the largest message.
    pub sizes: (u64, u64),
    /// The most messages that its sender was asked for.
    pub packets: Option<u64>,
    /// The bytes after which its sender was to stop.
    pub bytes: Option<u64>,
    /// The length of the flow in nanoseconds.
    pub length: Option<u64>,
    /// The smallest gap between messages, in nanoseconds; 0: none is kept.
    pub gap: f64,
}

/// A figure that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Impossible {
    /// A count that no end reaches in this time.
    #[error("more than the fastest link delivers in the time")]
    TooMany,
    /// A time that is longer than the session.
    #[error("a time longer than the session")]
    TooLong,
    /// More messages than the flow has.
    #[error("more messages than the flow was asked for")]
    BeyondFlow,
    /// Bytes that so many messages do not have.
    #[error("messages smaller or larger than the flow's")]
    Sizes,
    /// More arrived than was sent.
    #[error("more arrived than was sent")]
    MoreThanSent,
    /// Timestamps that are later than any program's.
    #[error("timestamps that are more than a second late")]
    Stamps,
    /// Parts that do not fit their whole, or quantiles out of order.
    #[error("it contradicts itself")]
    Contradiction,
}

impl FlowBounds {
    /// Checks the figures of both ends of a flow.
    ///
    /// # Errors
    /// The first impossible figure.
    pub fn check(&self, sent: &SentReport, received: &Report) -> Result<(), Impossible> {
        self.check_sent(sent)?;
        self.check_received(received)?;
        let [warmup, _] = sent.warmup;
        require(received.warmup <= warmup, Impossible::MoreThanSent)?;
        let lost = sent.messages.checked_sub(received.messages);
        let lost = lost.ok_or(Impossible::MoreThanSent)?;
        let bytes = sent.bytes.checked_sub(received.bytes);
        self.check_sizes(lost, bytes.ok_or(Impossible::MoreThanSent)?)
    }

    /// Checks what a sender reports.
    ///
    /// # Errors
    /// The first impossible figure.
    pub fn check_sent(&self, sent: &SentReport) -> Result<(), Impossible> {
        let [warmup, warmup_bytes] = sent.warmup;
        self.check_counts([
            warmup,
            sent.offered,
            sent.messages,
            sent.rejected,
            sent.unsent,
            sent.segments,
        ])?;
        self.check_bytes(sent.bytes)?;
        self.check_bytes(warmup_bytes)?;
        self.check_sizes(warmup, warmup_bytes)?;
        self.check_times([sent.lasted, sent.most, sent.round_trip])?;
        self.check_sizes(sent.messages, sent.bytes)?;
        let tried = [sent.messages, sent.rejected, sent.unsent];
        let tried = tried.into_iter().fold(0, u64::saturating_add);
        let fits = tried <= sent.offered
            && sent.too_large <= sent.unsent
            && sent.timed <= sent.offered
            && sent.retransmitted <= sent.segments
            && [sent.median, sent.p99, sent.most].is_sorted()
            && [sent.segment_size, sent.path_mtu, sent.stall]
                .iter()
                .all(|size| *size <= u32::MAX.into());
        require(fits, Impossible::Contradiction)?;
        let (_, largest) = self.sizes;
        let ends = self
            .bytes
            .is_none_or(|bytes| sent.bytes < bytes.saturating_add(largest));
        let asked = self.packets.is_none_or(|packets| sent.offered <= packets);
        // Messages leave at their times or later.
        let lasting = self
            .length
            .map_or(self.elapsed, |length| length.min(self.elapsed));
        let paced = self.gap <= 0.0 || sent.messages as f64 <= lasting as f64 / self.gap + 2.0;
        require(ends && asked && paced, Impossible::BeyondFlow)
    }

    /// Checks what a receiver reports.
    ///
    /// # Errors
    /// The first impossible figure.
    pub fn check_received(&self, received: &Report) -> Result<(), Impossible> {
        self.check_counts([
            received.warmup,
            received.messages,
            received.duplicates,
            received.unstamped,
            received.overflowed.unwrap_or(0),
            received.merged,
        ])?;
        self.check_bytes(received.bytes)?;
        self.check_times([received.lasted, received.most, received.jitter])?;
        self.check_sizes(received.messages, received.bytes)?;
        let stamps = received.stamps;
        let stamped =
            stamps.is_none_or(|stamps| stamps.resolution.max(stamps.late) <= LATEST_STAMP);
        require(stamped, Impossible::Stamps)?;
        let delays = [
            received.least,
            received.median,
            received.p95,
            received.p99,
            received.most,
        ];
        let fits = received.reordered <= received.messages
            && received.delayed.saturating_add(received.negative) <= received.messages
            && delays.is_sorted()
            && (received.least..=received.most).contains(&received.mean);
        require(fits, Impossible::Contradiction)
    }

    /// Checks what either end reports of an interval.
    ///
    /// # Errors
    /// The first impossible figure.
    pub fn check_progress(&self, seen: &Progress) -> Result<(), Impossible> {
        self.check_counts([seen.messages, seen.lost, seen.delayed])?;
        self.check_bytes(seen.bytes)?;
        self.check_times([seen.lasted, seen.most, seen.jitter])?;
        let delays = [seen.median, seen.p95, seen.p99, seen.most];
        require(delays.is_sorted(), Impossible::Contradiction)
    }

    fn check_counts<const N: usize>(&self, counts: [u64; N]) -> Result<(), Impossible> {
        let is_possible = counts.iter().all(|count| *count <= self.elapsed);
        require(is_possible, Impossible::TooMany)
    }

    fn check_bytes(&self, bytes: u64) -> Result<(), Impossible> {
        let most = self.elapsed.saturating_mul(BYTES_PER_NANO);
        require(bytes <= most, Impossible::TooMany)
    }

    fn check_times<const N: usize>(&self, times: [u64; N]) -> Result<(), Impossible> {
        let bounds = self.clock_bound.saturating_mul(2);
        let most = self.elapsed.saturating_add(self.elapsed / SLACK);
        let most = most.saturating_add(bounds);
        require(times.iter().all(|time| *time <= most), Impossible::TooLong)
    }

    /// Whether so many messages can have so many bytes.
    fn check_sizes(&self, messages: u64, bytes: u64) -> Result<(), Impossible> {
        let (smallest, largest) = self.sizes;
        let least = messages.saturating_mul(smallest);
        let most = messages.saturating_mul(largest);
        require((least..=most).contains(&bytes), Impossible::Sizes)
    }
}

fn require(holds: bool, otherwise: Impossible) -> Result<(), Impossible> {
    match holds {
        true => Ok(()),
        false => Err(otherwise),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wire::control::StampPrecision;

    /// A flow of a second: messages of 100 to 600 bytes, at least 1 ms apart.
    const BOUNDS: FlowBounds = FlowBounds {
        elapsed: 1_200_000_000,
        clock_bound: 50_000,
        sizes: (100, 600),
        packets: Some(900),
        bytes: Some(400_000),
        length: Some(1_000_000_000),
        gap: 1e6,
    };

    fn sent() -> SentReport {
        SentReport {
            warmup: [50, 20_000],
            offered: 900,
            messages: 890,
            bytes: 400_500,
            rejected: 4,
            unsent: 6,
            too_large: 5,
            lasted: 999_000_000,
            timed: 896,
            median: 100,
            p99: 5_000,
            most: 9_000,
            segments: 700,
            retransmitted: 3,
            segment_size: 1_448,
            round_trip: 90_000,
            ..SentReport::default()
        }
    }

    fn received() -> Report {
        Report {
            warmup: 45,
            messages: 880,
            bytes: 396_000,
            duplicates: 2,
            reordered: 7,
            lasted: 999_500_000,
            delayed: 870,
            negative: 10,
            least: 20,
            mean: 400,
            median: 300,
            p95: 900,
            p99: 1_000,
            most: 1_100,
            jitter: 30,
            unstamped: 4,
            stamps: Some(StampPrecision {
                resolution: 100,
                late: 1_000_000_000,
            }),
            ..Report::default()
        }
    }

    #[test]
    fn figures_of_an_honest_flow_are_possible() {
        assert_eq!(BOUNDS.check(&sent(), &received()), Ok(()));
        assert_eq!(
            BOUNDS.check(&SentReport::default(), &Report::default()),
            Ok(())
        );
    }

    /// A change of an honest report.
    type Change<T> = fn(&mut T);

    #[test]
    fn a_sender_that_claims_what_it_cannot_have_sent_is_found() {
        let cases: [(Change<SentReport>, Impossible); 15] = [
            (|one| one.messages = u64::MAX, Impossible::TooMany),
            (|one| one.warmup[0] = u64::MAX, Impossible::TooMany),
            (|one| one.warmup[1] = 50 * 600 + 1, Impossible::Sizes),
            (|one| one.offered = 1_200_000_001, Impossible::TooMany),
            // The sum of the three wraps to less than was offered.
            (
                |one| (one.rejected, one.unsent) = (1 << 63, 1 << 63),
                Impossible::TooMany,
            ),
            (|one| one.bytes = 240_000_000_001, Impossible::TooMany),
            (|one| one.bytes = 890 * 600 + 1, Impossible::Sizes),
            (|one| one.bytes = 890 * 100 - 1, Impossible::Sizes),
            (|one| one.bytes = 400_600, Impossible::BeyondFlow),
            (|one| one.offered = 901, Impossible::BeyondFlow),
            (|one| one.rejected = 5, Impossible::Contradiction),
            (|one| one.lasted = 1_300_000_000, Impossible::TooLong),
            (|one| one.p99 = 9_001, Impossible::Contradiction),
            (|one| one.retransmitted = 701, Impossible::Contradiction),
            (|one| one.path_mtu = 1 << 32, Impossible::Contradiction),
        ];
        for (number, (change, why)) in (0..).zip(cases) {
            let mut lie = sent();
            change(&mut lie);
            assert_eq!(BOUNDS.check(&lie, &Report::default()), Err(why), "{number}");
        }
    }

    #[test]
    fn a_sender_claims_no_more_messages_than_its_gaps_allow() {
        let bounds = FlowBounds {
            packets: None,
            bytes: None,
            ..BOUNDS
        };
        for (messages, allowed) in [(1_002, true), (1_003, false)] {
            let claim = SentReport {
                offered: messages,
                messages,
                bytes: messages * 300,
                ..SentReport::default()
            };
            let unpaced = FlowBounds {
                gap: 0.0,
                ..bounds.clone()
            };
            assert_eq!(bounds.check_sent(&claim).is_ok(), allowed, "{messages}");
            assert_eq!(unpaced.check_sent(&claim), Ok(()));
        }
    }

    #[test]
    fn a_receiver_that_claims_what_it_cannot_have_received_is_found() {
        let stamps = StampPrecision {
            resolution: 100,
            late: 1_000_000_001,
        };
        assert_eq!(
            BOUNDS.check(
                &sent(),
                &Report {
                    stamps: Some(stamps),
                    ..received()
                }
            ),
            Err(Impossible::Stamps)
        );
        let cases: [(Change<Report>, Impossible); 11] = [
            (|one| one.warmup = 51, Impossible::MoreThanSent),
            (
                |one| (one.messages, one.bytes) = (891, 396_000),
                Impossible::MoreThanSent,
            ),
            (
                |one| (one.messages, one.bytes) = (885, 400_501),
                Impossible::MoreThanSent,
            ),
            // The ten that were lost have 1000 bytes at least.
            (|one| one.bytes = 399_501, Impossible::Sizes),
            (|one| one.duplicates = 1_200_000_001, Impossible::TooMany),
            (|one| one.overflowed = Some(u64::MAX), Impossible::TooMany),
            (|one| one.reordered = 881, Impossible::Contradiction),
            (|one| one.negative = 11, Impossible::Contradiction),
            (|one| one.mean = 19, Impossible::Contradiction),
            (|one| one.p95 = 1_001, Impossible::Contradiction),
            (|one| one.jitter = 1_300_000_000, Impossible::TooLong),
        ];
        for (number, (change, why)) in (0..).zip(cases) {
            let mut lie = received();
            change(&mut lie);
            assert_eq!(BOUNDS.check(&sent(), &lie), Err(why), "{number}");
        }
    }

    #[test]
    fn an_interval_has_no_more_than_the_session_so_far() {
        let seen = Progress {
            lasted: 100_000_000,
            messages: 90,
            bytes: 50_000,
            delayed: 90,
            median: 10,
            p95: 20,
            p99: 20,
            most: 40,
            ..Progress::default()
        };
        assert_eq!(BOUNDS.check_progress(&seen), Ok(()));
        let lies: [(Change<Progress>, Impossible); 4] = [
            (|one| one.lost = 1 << 40, Impossible::TooMany),
            (|one| one.bytes = 1 << 40, Impossible::TooMany),
            (|one| one.lasted = 1 << 31, Impossible::TooLong),
            (|one| one.median = 21, Impossible::Contradiction),
        ];
        for (change, why) in lies {
            let mut lie = seen;
            change(&mut lie);
            assert_eq!(BOUNDS.check_progress(&lie), Err(why));
        }
    }

    mod fuzz {
        use super::*;

        /// A number at a limit, near it, or any.
        fn number() -> impl Strategy<Value = u64> {
            prop_oneof![
                0_u64..1_000,
                u64::MAX - 9..,
                (1_u64 << 63) - 2..(1 << 63) + 2,
                BOUNDS.elapsed - 2..BOUNDS.elapsed + 2,
                any::<u64>(),
            ]
        }

        proptest! {
            /// What is taken for possible is safe to compute with: no sum wraps, and nothing is
            /// lost that was not sent.
            #[test]
            fn honest_reports_with_changed_numbers_are_rejected_or_add_up(
                changes in prop::collection::vec((0_usize..14, number()), 0..3),
                elapsed in prop_oneof![Just(BOUNDS.elapsed), number()],
                gap in prop_oneof![Just(0.0), Just(1e6), any::<f64>()],
            ) {
                let bounds = FlowBounds { elapsed, gap, ..BOUNDS };
                let (mut sent, mut came) = (sent(), received());
                for (field, number) in changes {
                    let fields = [
                        &mut sent.offered, &mut sent.messages, &mut sent.bytes, &mut sent.rejected,
                        &mut sent.unsent, &mut sent.too_large, &mut sent.lasted, &mut came.messages,
                        &mut came.bytes, &mut came.duplicates, &mut came.reordered, &mut came.delayed,
                        &mut came.negative, &mut came.most,
                    ];
                    *fields.into_iter().nth(field).unwrap() = number;
                }
                let (sent_alone, came_alone) = (bounds.check_sent(&sent), bounds.check_received(&came));
                if bounds.check(&sent, &came).is_ok() {
                    prop_assert!(sent_alone.is_ok() && came_alone.is_ok());
                    let tried = sent.messages.checked_add(sent.rejected).unwrap();
                    prop_assert!(tried.checked_add(sent.unsent).unwrap() <= sent.offered);
                    prop_assert!(came.messages <= sent.messages && came.bytes <= sent.bytes);
                    prop_assert!(came.delayed.checked_add(came.negative).unwrap() <= came.messages);
                    prop_assert!(sent.bytes.checked_mul(8).is_some());
                }
            }
        }
    }
}
