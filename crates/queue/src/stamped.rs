//! Packets that know since when they wait.

use units::{Span, Time};

use crate::{Advertised, Packet, View};

/// A packet and the time at which it came.
#[derive(Debug)]
pub(crate) struct Stamped<P> {
    pub(crate) packet: P,
    since: Time,
}

impl<P> Stamped<P> {
    pub(crate) const fn new(packet: P, since: Time) -> Self {
        Self { packet, since }
    }

    /// For how long it has waited at `now`.
    pub(crate) fn sojourn(&self, now: Time) -> Span {
        now.since(self.since).unwrap_or_default()
    }
}

impl<P: Packet> Packet for Stamped<P> {
    fn view(&self) -> View {
        self.packet.view()
    }

    fn live(&self) -> u32 {
        self.packet.live()
    }

    fn advertised(&self) -> Advertised {
        self.packet.advertised()
    }

    fn mark(&mut self) -> bool {
        self.packet.mark()
    }
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use super::*;
    use crate::tests::Numbered;
    use crate::{Bundle, Encapsulation, Tick};

    struct Markable;

    impl Packet for Markable {
        fn view(&self) -> View {
            View::default()
        }

        fn mark(&mut self) -> bool {
            true
        }
    }

    #[test]
    fn a_stamped_packet_answers_as_the_packet_in_it() {
        let encapsulation = Encapsulation {
            header: Bytes::new(26),
            entry: Bytes::new(4),
            framing: Bytes::ZERO,
        };
        let packets = (0..3).map(|number| (Numbered(number, 100), Span::ZERO));
        let bundle = Bundle::pack(packets, encapsulation, Tick::Micro, None).unwrap();
        let mut stamped = Stamped::new(bundle.clone(), Time::ZERO);
        assert_eq!(
            (stamped.view(), stamped.live(), stamped.advertised()),
            (bundle.view(), 3, bundle.advertised())
        );
        assert!(!stamped.mark(), "nothing in it can be marked");
        assert!(Stamped::new(Markable, Time::ZERO).mark());
        let later = Time::ZERO + Span::from_millis(2);
        assert_eq!(stamped.sojourn(later), Span::from_millis(2));
    }
}
