//! Packets that pass stations one after the other: processors and links in a row.

use units::Span;

/// The time until the last of `packets` has left the last station. Of each packet it has
/// when it comes, no earlier than the one before, and how long each station is busy with
/// it, first station first; a station serves one packet at a time, in order, and waits for
/// the whole of it.
///
/// A station begins with a packet when it has done with the one before, and the station
/// before has done with this one: the time is that of the longest way through the table
/// of packets and stations. For links of one rate alone it is
/// [`crate::store_and_forward`].
pub fn tandem(packets: impl IntoIterator<Item = (Span, Vec<Span>)>) -> Span {
    let mut free: Vec<Span> = Vec::new();
    for (comes, busy) in packets {
        free.resize(busy.len(), Span::ZERO);
        let mut arrival = comes;
        for (free, busy) in free.iter_mut().zip(busy) {
            *free = (*free).max(arrival) + busy;
            arrival = *free;
        }
    }
    free.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use units::{Bytes, Rate};

    use super::*;
    use crate::store_and_forward;

    /// A packet that is there at the beginning, with its times at stations.
    fn nanos(times: &[u64]) -> (Span, Vec<Span>) {
        let times = times.iter().map(|&time| Span::from_nanos(time));
        (Span::ZERO, times.collect())
    }

    #[test]
    fn the_slowest_station_sets_the_pace_and_the_others_take_one_packet_each() {
        // Two packets over 3, 5 and 2: 3 + 5 + 5 + 2.
        let time = tandem([nanos(&[3, 5, 2]), nanos(&[3, 5, 2])]);
        assert_eq!(time, Span::from_nanos(15));
        // A small packet waits behind a large one, and leaves what it leaves behind alone.
        let time = tandem([nanos(&[10, 10]), nanos(&[1, 1])]);
        assert_eq!(time, Span::from_nanos(21));
        let time = tandem([nanos(&[1, 1]), nanos(&[10, 10])]);
        assert_eq!(time, Span::from_nanos(21));
        // One that comes later waits only for what is still there.
        let (_, busy) = nanos(&[1, 1]);
        let time = tandem([nanos(&[10, 10]), (Span::from_nanos(30), busy)]);
        assert_eq!(time, Span::from_nanos(32));
        assert_eq!(tandem([]), Span::ZERO);
    }

    proptest! {
        #[test]
        fn links_of_one_rate_store_the_largest_packet_once_each(
            bytes in prop::collection::vec(84u64..9_100, 1..20), links in 1usize..6,
        ) {
            let rate = Rate::from_bits_per_second(1_000_000_000).unwrap();
            let busy = |bytes: &u64| {
                let each = rate.serialise(Bytes::new(*bytes));
                (Span::ZERO, vec![each; links])
            };
            let largest = Bytes::new(bytes.iter().copied().max().unwrap());
            let all = Bytes::new(bytes.iter().sum());
            let time = store_and_forward(all, largest, rate, links as u64);
            prop_assert_eq!(tandem(bytes.iter().map(busy)), time);
        }

        #[test]
        fn no_packet_overtakes_and_no_station_is_idle_with_work(
            times in prop::collection::vec(prop::collection::vec(0u64..1_000, 3), 1..20),
        ) {
            let time = tandem(times.iter().map(|busy| nanos(busy)));
            for station in 0..3 {
                let busy: u64 = times.iter().map(|busy| busy[station]).sum();
                prop_assert!(time >= Span::from_nanos(busy));
            }
            let all: u64 = times.iter().flatten().sum();
            prop_assert!(time <= Span::from_nanos(all));
        }
    }
}
