use traffic::driver::sessions::StreamPoint;

use super::*;

const MILLI: u64 = 1_000_000;

/// A flow of messages with times of arrival and bytes, each sent and read then.
fn flow(arrivals: impl IntoIterator<Item = (u64, u64)>) -> FlowArrivals {
    let mut flow = FlowArrivals::default();
    for (sequence, (at, bytes)) in (0..).zip(arrivals) {
        flow.latest_read = flow.latest_read.max(at);
        flow.arrivals.push(Arrival {
            sequence,
            sent: at,
            at,
            bytes,
        });
    }
    flow
}

#[test]
fn a_rate_counts_from_an_arrival_to_the_last_without_its_own_bytes() {
    assert_eq!(flow([]).counted(), None);
    assert_eq!(flow([(5, 100)]).counted(), None);
    let three = flow([(5, 100), (5, 100), (15, 70)]);
    assert_eq!(three.counted(), Some((70, 10)));
}

#[test]
fn a_message_counts_over_time_when_it_first_arrives() {
    let mut copied = flow([(5 * MILLI, 100), (6 * MILLI, 100), (25 * MILLI, 70)]);
    copied.arrivals[0].sent = 3 * MILLI;
    copied.arrivals[1].sequence = 0;
    // Clocks that differ yield no delay.
    copied.arrivals[2].sent = 26 * MILLI;
    let series = copied.over_time();
    let bytes: Vec<u64> = series.intervals().iter().map(|one| one.bytes).collect();
    assert_eq!(bytes, [100, 0, 70]);
    let delays: Vec<Option<f64>> = series.intervals().iter().map(|one| one.mean_ms()).collect();
    assert_eq!(delays, [Some(2.0), None, None]);
}

#[test]
fn of_a_long_flow_the_burst_of_its_beginning_has_no_part() {
    let burst = (0..50).map(|_| (0, 1_000));
    let rest = (1..=100).map(|milli| (milli * MILLI, 1_000));
    let counted = flow(burst.chain(rest)).counted();
    assert_eq!(counted, Some((80_000, 80 * MILLI)));
}

/// A thousand bytes arrive in each millisecond, of which two segments were lost: those
/// of the messages of 15 ms and 16 ms arrive again after 30 ms and 50 ms, and hide those
/// behind them until then.
#[test]
fn bytes_behind_a_missing_segment_are_not_counted() {
    let stream = || {
        flow((0..=100_u64).map(|milli| match milli {
            15 => (30 * MILLI, 1_000),
            16..50 => (50 * MILLI, 1_000),
            _ => (milli * MILLI, 1_000),
        }))
    };
    assert_eq!(stream().counted(), Some((85_000, 70 * MILLI)));
    let mut settled = stream();
    settled.arrivals.iter_mut().for_each(|one| one.sent = 0);
    settled.out_of_order = Some(OutOfOrder {
        flow: 0,
        at_first: None,
        settled: Some(StreamPoint {
            at: 30 * MILLI,
            bytes: 31_000,
        }),
    });
    assert_eq!(settled.counted(), Some((70_000, 70 * MILLI)));
    // Where memory overstates what has arrived, what was sent limits it.
    let mut overstated = settled;
    let sent = (0..).map(|milli| milli * MILLI);
    for (one, sent) in overstated.arrivals.iter_mut().zip(sent) {
        one.sent = sent;
    }
    let noted = overstated.out_of_order.as_mut().unwrap();
    noted.settled.as_mut().unwrap().bytes = u64::MAX;
    assert_eq!(overstated.counted(), Some((70_000, 70 * MILLI)));
}

#[test]
fn a_stream_with_missing_segments_ends_when_the_program_has_its_end() {
    let mut stream = flow([(5, 100), (15, 70)]);
    stream.latest_read = 25;
    assert_eq!(stream.counted(), Some((70, 10)));
    stream.out_of_order = Some(OutOfOrder {
        flow: 0,
        at_first: None,
        settled: None,
    });
    assert_eq!(stream.counted(), Some((70, 20)));
}
