//! The breakdown of a round trip: timestamps of both ends, and the stages between them,
//! whose sum is the whole.
//!
//! All timestamps are of one clock. The whole is measured with another clock, so time
//! that no stage covers becomes visible.

use std::ops::{Add, Index};

/// The timestamps of one exchange, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The message, from the near to the far end.
    pub there: Direction,
    /// The echo of the message.
    pub back: Direction,
    /// Time from just before the write to just after the last read, measured with a
    /// separate clock.
    pub took: u64,
}

/// One direction of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Direction {
    /// Timestamps of the direction's sender.
    pub left: DepartureTimes,
    /// Timestamps of the direction's receiver.
    pub came: ArrivalTimes,
    /// Known transmission time of its packets on the links.
    pub transmission: u64,
    /// Time that the receiver's kernel takes from the arrival of a packet until a
    /// polling reader finds it.
    pub softirq: u64,
}

/// Timestamps of a departing message, in nanoseconds since an epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DepartureTimes {
    /// The program's, just before the write.
    pub before: u64,
    /// The kernel's, when the first packet entered the queueing discipline.
    pub queued: Option<u64>,
    /// The kernel's, when the first packet was passed to the interface.
    pub sent: Option<u64>,
}

/// Timestamps of an arriving message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ArrivalTimes {
    /// The kernel's, when the last packet came from the interface.
    pub arrived: Option<u64>,
    /// The program's, when the waiting system call returned.
    pub ready: u64,
    /// The program's, when it had read the last byte.
    pub had: u64,
}

/// A stage of a round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Forward: from just before the write until the first packet enters the queueing
    /// discipline.
    ThereSendCall,
    /// Forward: in the queueing discipline.
    ThereQueueing,
    /// Forward: transmission time of the packets at the links' rates.
    ThereTransmission,
    /// Forward: the remaining time between the interfaces.
    ThereWire,
    /// Forward: from the last packet's arrival until the data are readable.
    ThereSoftirq,
    /// Forward: until the reader runs.
    ThereWakeUp,
    /// Forward: until the reader has read all data.
    ThereReceiveCall,
    /// At the far end, from the read to the write.
    Echo,
    /// Return direction, as [`Part::ThereSendCall`].
    BackSendCall,
    /// Return direction, as [`Part::ThereQueueing`].
    BackQueueing,
    /// Return direction, as [`Part::ThereTransmission`].
    BackTransmission,
    /// Return direction, as [`Part::ThereWire`].
    BackWire,
    /// Return direction, as [`Part::ThereSoftirq`].
    BackSoftirq,
    /// Return direction, as [`Part::ThereWakeUp`].
    BackWakeUp,
    /// Return direction, as [`Part::ThereReceiveCall`].
    BackReceiveCall,
    /// Time in no other stage: intervals without a timestamp, and the difference of the
    /// two clocks.
    Unexplained,
}

/// The number of stages.
pub const PARTS: usize = 16;

impl Part {
    /// All stages, in the order of time.
    pub const ALL: [Self; PARTS] = [
        Self::ThereSendCall,
        Self::ThereQueueing,
        Self::ThereTransmission,
        Self::ThereWire,
        Self::ThereSoftirq,
        Self::ThereWakeUp,
        Self::ThereReceiveCall,
        Self::Echo,
        Self::BackSendCall,
        Self::BackQueueing,
        Self::BackTransmission,
        Self::BackWire,
        Self::BackSoftirq,
        Self::BackWakeUp,
        Self::BackReceiveCall,
        Self::Unexplained,
    ];
}

/// The stages of one exchange, or their sums over many, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts([i64; PARTS]);

impl Parts {
    /// The sum of all stages: the measured whole.
    pub fn sum(&self) -> i64 {
        self.0.iter().sum()
    }
}

impl Index<Part> for Parts {
    type Output = i64;
    fn index(&self, part: Part) -> &i64 {
        &self.0[part as usize]
    }
}

impl Add for Parts {
    type Output = Self;
    fn add(mut self, other: Self) -> Self {
        for (mine, others) in self.0.iter_mut().zip(other.0) {
            *mine += others;
        }
        self
    }
}

impl Exchange {
    /// The stages of the exchange, which add up to the time that it took.
    ///
    /// A timestamp that is earlier than a preceding one is replaced by that one:
    /// overlapping time counts once, for the earlier stage. The time between two
    /// timestamps is unexplained if one of them is missing.
    pub fn parts(&self) -> Parts {
        let mut parts = Parts::default();
        let (there, back) = parts.0[..Part::Unexplained as usize].split_at_mut(8);
        self.there.split(&mut there[..7]);
        there[7] = nanos(self.back.left.before.saturating_sub(self.there.came.had));
        self.back.split(back);
        parts.0[Part::Unexplained as usize] = nanos(self.took) - parts.sum();
        parts
    }
}

impl Direction {
    /// Fills in the seven stages of one direction.
    fn split(&self, parts: &mut [i64]) {
        let Self { left, came, .. } = self;
        let mut latest = left.before;
        // The length of the interval that ends with `stamp`, if its beginning is known.
        let mut until = |stamp: Option<u64>, known: &mut bool| {
            let before = latest;
            let began = std::mem::replace(known, stamp.is_some());
            let Some(stamp) = stamp else { return 0 };
            latest = latest.max(stamp);
            if began { latest - before } else { 0 }
        };
        let mut known = true;
        let send_call = until(left.queued, &mut known);
        let queueing = until(left.sent, &mut known);
        let travel = until(came.arrived, &mut known);
        let transmission = self.transmission.min(travel);
        let woken = until(Some(came.ready), &mut known);
        let softirq = self.softirq.min(woken);
        let receive_call = until(Some(came.had), &mut known);
        let found = [
            send_call,
            queueing,
            transmission,
            travel - transmission,
            softirq,
            woken - softirq,
            receive_call,
        ];
        for (part, found) in parts.iter_mut().zip(found) {
            *part = nanos(found);
        }
    }
}

fn nanos(span: u64) -> i64 {
    i64::try_from(span).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn exchange() -> Exchange {
        let direction = |start: u64, transmission| Direction {
            left: DepartureTimes {
                before: start,
                queued: Some(start + 3),
                sent: Some(start + 5),
            },
            came: ArrivalTimes {
                arrived: Some(start + 55),
                ready: start + 62,
                had: start + 64,
            },
            transmission,
            softirq: 3,
        };
        Exchange {
            there: direction(1_000, 12),
            back: direction(1_071, 0),
            took: 140,
        }
    }

    #[test]
    fn each_stretch_between_two_stamps_is_a_part() {
        let parts = exchange().parts();
        assert_eq!(parts.0, [3, 2, 12, 38, 3, 4, 2, 7, 3, 2, 0, 50, 3, 4, 2, 5]);
        assert_eq!(parts[Part::Echo], 7);
        assert_eq!(parts.sum(), 140);
    }

    #[test]
    fn what_grows_in_one_place_moves_one_part() {
        let plain = exchange().parts();
        let later = |direction: &mut Direction, by: u64| {
            direction.left.queued = direction.left.queued.map(|at| at + by);
            direction.left.sent = direction.left.sent.map(|at| at + by);
            direction.came.arrived = direction.came.arrived.map(|at| at + by);
            direction.came.ready += by;
            direction.came.had += by;
        };
        let mut at_the_send_call = exchange();
        later(&mut at_the_send_call.there, 100);
        let mut at_the_echo = exchange();
        at_the_echo.back.left.before += 100;
        later(&mut at_the_echo.back, 100);
        let mut at_the_receive_call = exchange();
        at_the_receive_call.there.came.had += 100;
        for (mut moved, part) in [
            (at_the_send_call, Part::ThereSendCall),
            (at_the_echo, Part::Echo),
            (at_the_receive_call, Part::ThereReceiveCall),
        ] {
            if part != Part::Echo {
                moved.back.left.before += 100;
                later(&mut moved.back, 100);
            }
            moved.took += 100;
            for other in Part::ALL {
                let by = if other == part { 100 } else { 0 };
                assert_eq!(
                    moved.parts()[other],
                    plain[other] + by,
                    "{part:?}: {other:?}"
                );
            }
        }
    }

    #[test]
    fn without_a_stamp_the_time_is_unexplained() {
        let mut without = exchange();
        without.there.left.sent = None;
        let parts = without.parts();
        assert_eq!(parts[Part::ThereSendCall], 3);
        assert_eq!(parts[Part::ThereQueueing], 0);
        assert_eq!(parts[Part::ThereWire] + parts[Part::ThereTransmission], 0);
        assert_eq!(parts[Part::ThereSoftirq], 3);
        assert_eq!(parts[Part::Unexplained], 5 + 52);
    }

    #[test]
    fn what_came_while_the_reader_was_awake_has_no_wake_up() {
        let mut awake = exchange();
        awake.there.came.arrived = Some(1_063);
        let parts = awake.parts();
        assert_eq!(parts[Part::ThereSoftirq] + parts[Part::ThereWakeUp], 0);
        assert_eq!(parts[Part::ThereReceiveCall], 1);
        assert_eq!(parts.sum(), 140);
    }

    proptest! {
        #[test]
        fn whatever_was_stamped_the_parts_add_up_and_none_but_the_last_is_negative(
            stamps in prop::array::uniform12(prop::option::of(0..2_000_u64)),
            took in 0..3_000_u64,
        ) {
            let at = |place: usize| stamps[place].unwrap_or(0);
            let direction = |from: usize| Direction {
                left: DepartureTimes { before: at(from), queued: stamps[from + 1], sent: stamps[from + 2] },
                came: ArrivalTimes {
                    arrived: stamps[from + 3],
                    ready: at(from + 4),
                    had: at(from + 5),
                },
                transmission: 40,
                softirq: 30,
            };
            let parts = Exchange { there: direction(0), back: direction(6), took }.parts();
            prop_assert_eq!(parts.sum(), nanos(took));
            for part in &Part::ALL[..PARTS - 1] {
                prop_assert!(parts[*part] >= 0);
            }
        }
    }
}
