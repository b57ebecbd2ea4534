//! TCP's smoothed round-trip time over the length of a connection.

use std::os::fd::{AsFd, BorrowedFd};

use meter::time_series::TimeSeries;
use units::{Span, Time};

use crate::sys::tcp_info;

/// The least time between two samples. A sample is one system call, which takes less
/// than a microsecond: at most a ten-thousandth of the sender's time.
const EVERY: Span = Span::from_millis(10);

/// Samples TCP's smoothed round-trip time [RFC6298 s2] from time to time.
#[derive(Debug, Default)]
pub struct SmoothedRtt {
    next: Time,
    series: TimeSeries,
}

impl SmoothedRtt {
    /// Takes a sample at `at`, if one is due. The caller looks at a clock anyway.
    #[inline]
    pub fn sample(&mut self, at: Time, socket: impl AsFd) {
        if at >= self.next {
            self.next = at + EVERY;
            self.take(at, socket.as_fd());
        }
    }

    /// The samples.
    pub fn finish(self) -> TimeSeries {
        self.series
    }

    #[cold]
    fn take(&mut self, at: Time, socket: BorrowedFd<'_>) {
        // A sample that fails is missing, and the transfer goes on.
        if let Ok(info) = tcp_info::tcp_info(socket)
            && info.tcpi_rtt > 0
        {
            let rtt = Span::from_micros(info.tcpi_rtt.into());
            self.series.took(at, rtt);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a connection to this process")]
    fn a_connection_is_sampled_once_in_ten_milliseconds() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut smoothed = SmoothedRtt::default();
        for millis in 0..35 {
            let at = Time::ZERO + Span::from_millis(millis);
            smoothed.sample(at, &stream);
        }
        let series = smoothed.finish();
        let samples = series.intervals().iter().map(|one| one.times);
        assert_eq!(samples.collect::<Vec<_>>(), [1, 1, 1, 1]);
        let rtt = series.intervals()[0].mean_ms().unwrap();
        assert!(rtt > 0.0 && rtt < 1_000.0, "{rtt} ms");
    }
}
