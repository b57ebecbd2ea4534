//! Default properties of links of copper, glass or air.

use keyfile::quantity::float;
use keyfile::{Parsed, Value};
use units::Span;

/// The medium of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Medium {
    /// Copper, category 5e, with 1000BASE-T.
    Cat5e,
    /// Single-mode glass with 1000BASE-LX.
    Fibre,
    /// 802.11 at 54 Mbit/s, modelled as a wire of its own: without contention,
    /// acknowledgements or retransmissions below IP.
    Wifi,
}

pub(super) const MEDIA: &[(&str, Medium)] = &[
    ("cat5e", Medium::Cat5e),
    ("fibre", Medium::Fibre),
    ("wifi", Medium::Wifi),
];

/// The default length, in metres.
pub(super) const LENGTH: f64 = 100.0;

/// The longest link, in metres: once around the Earth.
const LONGEST: f64 = 40e6;

impl Medium {
    /// The data rate: 1000BASE-T [IEEE802.3 s40], 1000BASE-LX [IEEE802.3 s38],
    /// the highest rate of OFDM in 20 MHz [IEEE802.11 s17.1].
    pub(super) const fn rate(self) -> &'static str {
        match self {
            Self::Cat5e | Self::Fibre => "1gbit",
            Self::Wifi => "54mbit",
        }
    }

    /// The propagation time per metre in picoseconds: the maximum for a segment
    /// of 100 m, 570 ns [IEEE802.3 s40.7]; a group index of 1.468, as in glass
    /// at 1310 nm [G.652]; light in a vacuum [BIPM].
    const fn picos_per_metre(self) -> f64 {
        match self {
            Self::Cat5e => 5_700.0,
            Self::Fibre => 1.468 * LIGHT,
            Self::Wifi => LIGHT,
        }
    }

    /// The maximum bit error rate: 1e-10 [IEEE802.3 s40.1], 1e-12 [IEEE802.3
    /// s38.1]; over the air the rate at which one frame of 1000 bytes in ten
    /// is lost at the weakest signal that a receiver must support [IEEE802.11
    /// s17.3.10], 1 - 0.9^(1/8000).
    pub(super) const fn bit_error_rate(self) -> f64 {
        match self {
            Self::Cat5e => 1e-10,
            Self::Fibre => 1e-12,
            Self::Wifi => 1.317e-5,
        }
    }

    /// The maximum length in metres: the segment length of the standard for
    /// copper [IEEE802.3 s40.7]; unlimited for the others.
    pub(super) const fn longest(self) -> f64 {
        match self {
            Self::Cat5e => 100.0,
            Self::Fibre | Self::Wifi => LONGEST,
        }
    }

    /// The propagation delay over a distance in metres.
    pub(super) fn delay(self, metres: f64) -> Span {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and a second"
        )]
        let picos = (metres * self.picos_per_metre()).round() as u64;
        Span::from_picos(picos)
    }
}

/// Picoseconds that light takes for a metre in a vacuum [BIPM].
const LIGHT: f64 = 1e12 / 299_792_458.0;

/// A length in metres: `100m`, `2.5km`.
pub(super) fn length(value: &Value) -> Parsed<f64> {
    const EXAMPLE: &str = "write a length, for instance \"100m\" or \"10km\"";
    let Value::Text(text) = value else {
        return Err(match float(value) {
            Some(_) => "the unit is missing; write for instance \"100m\" or \"10km\"".into(),
            None => EXAMPLE.into(),
        });
    };
    let (number, unit) = match (text.strip_suffix("km"), text.strip_suffix('m')) {
        (Some(number), _) => (number, 1_000.0),
        (None, Some(number)) => (number, 1.0),
        (None, None) => return Err(EXAMPLE.into()),
    };
    let metres = number.trim().parse().map_err(|_| EXAMPLE)?;
    let metres: f64 = metres;
    match (0.0..=LONGEST).contains(&(metres * unit)) {
        true => Ok((metres * unit, value.clone())),
        false => Err(format!("a link is from 0 to {} km long", LONGEST / 1e3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_metres_take_half_a_microsecond_and_light_a_third() {
        assert_eq!(Medium::Cat5e.delay(100.0), Span::from_nanos(570));
        let nanos = |medium: Medium| medium.delay(1e5).as_secs_f64() * 1e9;
        assert!((nanos(Medium::Fibre) - 489_672.0).abs() < 1.0);
        assert!((nanos(Medium::Wifi) - 333_564.0).abs() < 1.0);
    }

    #[test]
    fn the_weakest_signal_loses_one_frame_in_ten() {
        let lost = 1.0 - (1.0 - Medium::Wifi.bit_error_rate()).powi(8_000);
        assert!((lost - 0.1).abs() < 1e-5, "{lost}");
    }

    #[test]
    fn lengths_have_units() {
        for (text, metres) in [("100m", 100.0), ("2.5km", 2_500.0), ("0 m", 0.0)] {
            assert_eq!(length(&Value::from(text)).unwrap().0, metres);
        }
        for wrong in ["", "100", "m", "-1m", "nanm", "1e9km", "100 miles"] {
            assert!(length(&Value::from(wrong)).is_err(), "{wrong}");
        }
    }
}
