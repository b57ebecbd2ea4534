//! The segments of a connection, as these systems state them.

#[cfg(any(test, windows, target_os = "macos"))]
use units::{Bytes, Span};

#[cfg(not(target_os = "linux"))]
use super::calls::Socket;
#[cfg(any(test, not(target_os = "linux")))]
use crate::portable::socket_parts::SegmentState;

/// The state of a connection of which a program has written so many bytes; `None` where the system
/// states none, as a Windows before 2017 does, and Wine.
#[cfg(windows)]
pub fn segment_state(socket: &Socket, written: u64) -> Option<SegmentState> {
    use super::super::sys::windows::tcp_info;

    let info = tcp_info(&socket.inner).ok()?;
    let round_trip = Span::from_micros(info.RttUs.into());
    Some(SegmentState {
        segment: Bytes::new(info.Mss.into()),
        has_timestamps: info.TimestampsEnabled,
        round_trip: (round_trip > Span::ZERO).then_some(round_trip),
        window: Bytes::new(info.SndWnd.into()),
        unacknowledged: unacknowledged(written, info.BytesOut, info.BytesInFlight.into()),
        sent_again: info.BytesRetrans.into(),
    })
}

/// The state of a connection, which this system states whatever was written.
#[cfg(target_os = "freebsd")]
pub fn segment_state(socket: &Socket, _: u64) -> Option<SegmentState> {
    super::super::sys::unix::segment_state(&socket.inner).ok()
}

/// The state of a connection, which this system states whatever was written.
#[cfg(target_os = "macos")]
pub fn segment_state(socket: &Socket, _: u64) -> Option<SegmentState> {
    let info = super::super::sys::unix::connection_info(&socket.inner).ok()?;
    Some(of_connection_info(&info.numbers, &info.counts))
}

/// The meaning of the numbers and counts of macOS [XnuTcp].
#[cfg(any(test, target_os = "macos"))]
fn of_connection_info(numbers: &[u32; 14], counts: &[u64; 7]) -> SegmentState {
    /// The bit of timestamps, and their bytes, which the segment size lacks [RFC7323 App A].
    const TIMESTAMPS: u32 = 1;
    const TIMESTAMP_BYTES: u64 = 12;
    let [
        _,
        options,
        _,
        _,
        segment,
        _,
        _,
        window,
        waits,
        _,
        _,
        millis,
        ..,
    ] = *numbers;
    let [_, _, sent_again, ..] = *counts;
    let has_timestamps = options & TIMESTAMPS != 0;
    let more = if has_timestamps { TIMESTAMP_BYTES } else { 0 };
    SegmentState {
        segment: Bytes::new(u64::from(segment) + more),
        has_timestamps,
        round_trip: (millis > 0).then(|| Span::from_millis(millis.into())),
        window: Bytes::new(window.into()),
        unacknowledged: waits.into(),
        sent_again,
    }
}

/// The bytes that wait for an acknowledgement: those that did not leave yet, and those in flight.
/// Bytes that were sent again may be among those that left.
#[cfg(any(test, windows))]
fn unacknowledged(written: u64, left: u64, in_flight: u64) -> u64 {
    written.saturating_sub(left).saturating_add(in_flight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_leave_waits_with_what_is_in_flight() {
        assert_eq!(unacknowledged(0, 0, 0), 0);
        assert_eq!(unacknowledged(9_000, 9_000, 0), 0);
        assert_eq!(unacknowledged(9_000, 6_000, 2_000), 5_000);
        // Bytes that were sent again count as bytes that left.
        assert_eq!(unacknowledged(9_000, 12_000, 3_000), 3_000);
    }

    #[test]
    fn the_numbers_of_macos_are_read_in_their_order() {
        // State and scales, options, flags, timeout, segment, threshold, congestion window, send
        // window, bytes in the buffer, receive window, latest and smoothed round trip, variance.
        let numbers = [0, 7, 0, 230, 1448, 9, 9, 65_000, 4_344, 9, 8, 21, 3, 0];
        let counts = [12, 9_000, 2_896, 5, 700, 0, 2];
        let expected = SegmentState {
            segment: Bytes::new(1460),
            has_timestamps: true,
            round_trip: Some(Span::from_millis(21)),
            window: Bytes::new(65_000),
            unacknowledged: 4_344,
            sent_again: 2_896,
        };
        assert_eq!(of_connection_info(&numbers, &counts), expected);
        let without = [0, 6, 0, 230, 1448, 9, 9, 65_000, 4_344, 9, 8, 0, 3, 0];
        let state = of_connection_info(&without, &counts);
        assert_eq!((state.segment, state.round_trip), (Bytes::new(1448), None));
    }
}
