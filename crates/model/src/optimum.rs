//! The MTU with which most goodput is left on a path with losses and wrong bits.

use units::{Bytes, Rate, Span};

use crate::stack::{DoesNotFit, Sizes, Stack};
use crate::{Growth, cubic_window, path_loss, reno_window, segments_per_second, window_rate};

/// The least retransmission timeout [RFC6298 s2.4].
const LEAST_TIMEOUT: Span = Span::from_secs(1);

/// The response of a long flow to losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// The inverse square root of the loss [Mathis1997 eq 3].
    Reno,
    /// The same with time-outs [Padhye1998].
    RenoWithTimeouts,
    /// CUBIC [RFC9438 s5.1].
    Cubic,
}

/// A path.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// The rate of its slowest link.
    pub rate: Rate,
    /// The share of frames that is lost, whatever their size.
    pub loss: f64,
    /// The probability that a bit is wrong.
    pub bit_error_rate: f64,
    /// The round-trip time and the response to losses; none: the sender fills the
    /// link, and sends again what is lost.
    pub response: Option<(Span, Response)>,
}

/// Messages of one size, and their weight among all messages.
pub type Message = (Bytes, f64);

/// The share that a path leaves to packets of one MTU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// The share of full frames that is lost.
    pub loss: f64,
    /// Goodput if the link is the limit, in bits per second.
    pub link: f64,
    /// Goodput if the response to losses is the limit.
    pub response: Option<f64>,
}

impl Expected {
    /// The goodput in bits per second: the smaller of both bounds.
    pub fn goodput(&self) -> f64 {
        self.response
            .map_or(self.link, |bound| bound.min(self.link))
    }
}

/// The goodput of a stack on a path at any MTU.
#[derive(Debug)]
pub struct GoodputByMtu<'a> {
    stack: &'a Stack,
    path: Path,
    messages: &'a [Message],
    /// The expected bytes of wire of a frame with so many bytes of payload in each
    /// of its packets, until it has arrived: wire/(1 - loss).
    costs: Vec<f64>,
    largest: Bytes,
}

impl<'a> GoodputByMtu<'a> {
    /// A stack on a path, with MTUs up to `largest`. Without `messages` all frames are
    /// full; otherwise each message has frames of its own.
    ///
    /// # Errors
    /// As [`Stack::largest`].
    pub fn new(
        stack: &'a Stack,
        path: Path,
        messages: &'a [Message],
        largest: Bytes,
    ) -> Result<Self, DoesNotFit> {
        let most = stack.largest(largest)?.payload.get();
        let (limits, _) = stack.limits(largest).unwrap_or_default();
        let cost = |payload| {
            let sizes = stack.sizes(Bytes::new(payload), &limits);
            sizes.wire.get() as f64 / (1.0 - lost(&path, &sizes))
        };
        Ok(Self {
            stack,
            path,
            messages,
            costs: (0..=most).map(cost).collect(),
            largest,
        })
    }

    /// The goodput at an MTU.
    ///
    /// # Errors
    /// As [`Stack::largest`]; also above the largest MTU of this prospect.
    pub fn at(&self, mtu: Bytes) -> Result<Expected, DoesNotFit> {
        let full = self.stack.largest(mtu)?;
        let loss = lost(&self.path, &full);
        Ok(Expected {
            loss,
            link: self.path.rate.bits_per_second() as f64 * self.share(&full),
            response: self.path.response.and_then(|(trip, response)| {
                let window = match response {
                    Response::Reno => reno_window(loss, Growth::Segments)?,
                    Response::Cubic => cubic_window(loss, trip)?,
                    Response::RenoWithTimeouts => {
                        let rate = segments_per_second(loss, trip, LEAST_TIMEOUT, 1.0)?;
                        return Some(rate * full.carried().bits() as f64);
                    }
                };
                window_rate(window, full.carried(), trip)
            }),
        })
    }

    /// The smallest MTU with the most goodput, within a millionth.
    pub fn best(&self) -> Option<(Bytes, Expected)> {
        let mtus = (1..=self.largest.get()).map(Bytes::new);
        let all = mtus.filter_map(|mtu| Some((mtu, self.at(mtu).ok()?)));
        all.fold(None, |best: Option<(Bytes, Expected)>, (mtu, expected)| {
            let is_better =
                best.is_none_or(|(_, best)| expected.goodput() > best.goodput() * (1.0 + 1e-6));
            if is_better {
                Some((mtu, expected))
            } else {
                best
            }
        })
    }

    /// The share of the link's rate that is payload, everything that is lost sent again.
    fn share(&self, full: &Sizes) -> f64 {
        let (each, packets) = (full.payload.get(), full.packets);
        if self.messages.is_empty() {
            return full.carried().get() as f64 / self.cost(each);
        }
        let (mut carried, mut wire) = (0.0, 0.0);
        for (size, weight) in self.messages {
            let frames = size.get().div_ceil(each * packets).max(1);
            let last = (*size - full.carried() * (frames - 1))
                .get()
                .div_ceil(packets);
            carried += weight * size.get() as f64;
            wire += weight * ((frames - 1) as f64 * self.cost(each) + self.cost(last));
        }
        carried / wire
    }

    fn cost(&self, payload: u64) -> f64 {
        let place = usize::try_from(payload).ok();
        let cost = place.and_then(|place| self.costs.get(place));
        cost.copied().unwrap_or(f64::INFINITY)
    }
}

/// The share of such frames that is lost.
fn lost(path: &Path, sizes: &Sizes) -> f64 {
    path_loss([(path.loss, path.bit_error_rate)], sizes.frame)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::best_payload;

    fn stack() -> Stack {
        "eth,ipv4,tcp+ts".parse().unwrap()
    }

    fn path(loss: f64, bit_error_rate: f64, response: Option<(Span, Response)>) -> Path {
        Path {
            rate: Rate::from_bits_per_second(1_000_000_000).unwrap(),
            loss,
            bit_error_rate,
            response,
        }
    }

    #[test]
    fn with_wrong_bits_alone_the_best_mtu_is_that_of_the_closed_form() {
        let stack = stack();
        for rate in [1e-6, 1e-5, 1e-4] {
            let prospect = GoodputByMtu::new(&stack, path(0.0, rate, None), &[], Bytes::new(9216));
            let (mtu, _) = prospect.unwrap().best().unwrap();
            // 52 bytes of headers in the packet and 38 of framing.
            let exact = best_payload(Bytes::new(90), rate).unwrap() + 52.0;
            let found = mtu.get() as f64;
            // Goodput is flat at its best, and a millionth is not told apart.
            assert!(
                (found / exact - 1.0).abs() < 0.02,
                "{rate}: {found} {exact}"
            );
        }
    }

    #[test]
    fn without_errors_the_largest_mtu_is_best_and_a_mix_of_small_messages_does_not_care() {
        let stack = stack();
        let clean = path(0.0, 0.0, None);
        let prospect = GoodputByMtu::new(&stack, clean, &[], Bytes::new(9000)).unwrap();
        assert_eq!(prospect.best().unwrap().0, Bytes::new(9000));
        let expected = prospect.at(Bytes::new(1500)).unwrap();
        assert!(
            (expected.link / 1e9 - 1448.0 / 1538.0).abs() < 1e-12,
            "{expected:?}"
        );
        let voice = [(Bytes::new(160), 1.0)];
        let prospect = GoodputByMtu::new(&stack, clean, &voice, Bytes::new(9000)).unwrap();
        let at = |mtu| prospect.at(Bytes::new(mtu)).unwrap().goodput();
        assert!((at(1500) / at(9000) - 1.0).abs() < 1e-12);
        assert_eq!(
            prospect.best().unwrap().0,
            Bytes::new(212),
            "one packet each"
        );
    }

    #[test]
    fn a_flow_that_loses_packets_gains_as_its_segments_grow() {
        let stack = stack();
        let trip = Span::from_millis(20);
        for response in [Response::Reno, Response::Cubic, Response::RenoWithTimeouts] {
            let lossy = path(0.001, 0.0, Some((trip, response)));
            let prospect = GoodputByMtu::new(&stack, lossy, &[], Bytes::new(9000)).unwrap();
            let bound = |mtu| prospect.at(Bytes::new(mtu)).unwrap().response.unwrap();
            assert!((bound(9000) / bound(1500) - 8948.0 / 1448.0).abs() < 1e-9);
        }
        // sqrt(1.5/0.001) segments of 1448 bytes in 20 ms.
        let lossy = path(0.001, 0.0, Some((trip, Response::Reno)));
        let prospect = GoodputByMtu::new(&stack, lossy, &[], Bytes::new(9000)).unwrap();
        let found = prospect.at(Bytes::new(1500)).unwrap().goodput();
        assert!((found / 22.43e6 - 1.0).abs() < 1e-3, "{found}");
    }

    proptest! {
        // Each case searches some thousand MTUs.
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn no_mtu_has_more_goodput_than_the_best_one(
            loss in 0.0f64..0.1, exponent in -9.0f64..-4.0, millis in 1u64..200, mtu in 68u64..2_000, size in 1u64..20_000,
        ) {
            let stack = stack();
            let messages = [(Bytes::new(size), 1.0), (Bytes::new(size / 7 + 1), 3.0)];
            let response = Some((Span::from_millis(millis), Response::Cubic));
            let path = path(loss, 10f64.powf(exponent), response);
            let prospect = GoodputByMtu::new(&stack, path, &messages, Bytes::new(2_000)).unwrap();
            let (_, best) = prospect.best().unwrap();
            let other = prospect.at(Bytes::new(mtu)).unwrap();
            prop_assert!(other.goodput() <= best.goodput() * (1.0 + 1e-5));
            prop_assert!(other.link <= 1e9 && (0.0..=1.0).contains(&other.loss));
        }
    }
}
