//! The quality of a call by the E-model, from what a receiver measures.
//!
//! R = Ro - Is - Id - Ie,eff [G.107 s7.1]. All of the model but delay, codec and loss has its
//! default value, for which R is 93.2 without either. R gives a mean opinion score (MOS) of 1 to
//! 4.5.
//!
//! The delay from mouth to ear is that of the codec, of the network and of the playout buffer.
//! The buffer is taken to wait for 99 of 100 packets, so network and buffer together have the
//! 99th percentile of the one-way delays. The later packets do not count as lost.

use std::fmt;

use wire::control::Codec;

/// Ro - Is with default values [G.107 s7.2, s7.3].
const UNIMPAIRED: f64 = 94.77 - 1.41;

/// Default values: loudness of the talker's echo (TELR), loss of the listener's echo path
/// (WEPL), receive loudness (RLR), noise (No) and its distance from the signal (Ro), in dB
/// [G.107 s7.7].
const TALKER_ECHO: f64 = 65.0;
const LISTENER_ECHO: f64 = 110.0;
const RECEIVE: f64 = 2.0;
const NOISE: f64 = -61.18;
const SIGNAL_TO_NOISE: f64 = 94.77;

/// The quality of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallQuality {
    /// Its codec.
    pub codec: Codec,
    /// Delay from mouth to ear, in seconds.
    pub delay: f64,
    /// The share of packets that were lost.
    pub loss: f64,
    /// The mean length of loss bursts in relation to that of random losses; 1: random.
    pub burst_ratio: f64,
    /// The rating R.
    pub rating: f64,
    /// The mean opinion score.
    pub mos: f64,
}

/// The impairment by a codec.
struct Equipment {
    /// Ie, its impairment without loss.
    impairment: f64,
    /// Bpl, its tolerance of loss.
    tolerance: f64,
    /// Speech in a packet and beyond, in milliseconds.
    delay: f64,
}

/// The values for a codec [G.113 Appendix I]. G.711 conceals losses by its Appendix I; those of
/// G.729 and G.723.1 are for their variants with voice activity detection.
const fn equipment(codec: Codec) -> Equipment {
    let (impairment, tolerance, delay) = match codec {
        Codec::G711One => (0.0, 25.1, 10.0),
        Codec::G711Two => (0.0, 25.1, 20.0),
        Codec::G729Two => (11.0, 19.0, 20.0 + 5.0),
        Codec::G729Three => (11.0, 19.0, 30.0 + 5.0),
        Codec::G723One => (15.0, 16.1, 30.0 + 7.5),
    };
    Equipment {
        impairment,
        tolerance,
        delay,
    }
}

impl fmt::Display for CallQuality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rating,
            mos,
            burst_ratio,
            ..
        } = self;
        let (milliseconds, percent) = (1e3 * self.delay, 100.0 * self.loss);
        write!(
            f,
            "MOS {mos:.2}, R {rating:.1} (E-model, {}: mouth to ear {milliseconds:.1} ms, loss {percent:.3} %, burst ratio {burst_ratio:.2})",
            self.codec.name()
        )
    }
}

impl CallQuality {
    /// The quality of a call with this codec, if the 99th percentile of its packets' one-way
    /// delays is `network` seconds. A `burst_ratio` below 1 counts as 1.
    pub fn new(codec: Codec, network: f64, loss: f64, burst_ratio: f64) -> Self {
        let equipment = equipment(codec);
        let delay = network.max(0.0) + equipment.delay / 1e3;
        let (loss, burst_ratio) = (loss.clamp(0.0, 1.0), burst_ratio.max(1.0));
        let percent = 100.0 * loss;
        // [G.107 s7.5]
        let lossy =
            (95.0 - equipment.impairment) * percent / (percent / burst_ratio + equipment.tolerance);
        let rating = UNIMPAIRED - delayed(delay * 1e3) - equipment.impairment - lossy;
        Self {
            codec,
            delay,
            loss,
            burst_ratio,
            rating,
            mos: mos(rating),
        }
    }

    /// The burst ratio of losses: their mean burst, in relation to 1 / (1 - loss) of random
    /// ones [G.107 s7.5]; 1 without losses.
    pub fn burst_ratio(loss: f64, mean_burst: Option<f64>) -> f64 {
        mean_burst
            .map_or(1.0, |burst| burst * (1.0 - loss))
            .max(1.0)
    }
}

/// Id, the impairment by a delay in milliseconds: of the talker's echo, of the listener's, and
/// of the delay itself [G.107 s7.4].
fn delayed(delay: f64) -> f64 {
    let talker = {
        let noise = -1.5 * (NOISE - RECEIVE);
        let masked = TALKER_ECHO - 40.0 * libm::log10((1.0 + delay / 10.0) / (1.0 + delay / 150.0))
            + 6.0 * libm::exp(-0.3 * delay * delay);
        let rating = 80.0 + 2.5 * (masked - 14.0);
        let half = (noise - rating) / 2.0;
        (half + libm::sqrt(half * half + 100.0) - 1.0) * (1.0 - libm::exp(-delay))
    };
    let listener = {
        let round = 2.0 * delay;
        let rating = 10.5 * (LISTENER_ECHO + 7.0) * libm::pow(round + 1.0, -0.25);
        let half = (SIGNAL_TO_NOISE - rating) / 2.0;
        half + libm::sqrt(half * half + 169.0)
    };
    talker + listener + absolute(delay)
}

/// Idd, the impairment by delay without any echo, in milliseconds [G.107 s7.4].
fn absolute(delay: f64) -> f64 {
    if delay <= 100.0 {
        return 0.0;
    }
    let octaves = libm::log2(delay / 100.0);
    let root = |number: f64| libm::pow(1.0 + libm::pow(number, 6.0), 1.0 / 6.0);
    25.0 * (root(octaves) - 3.0 * root(octaves / 3.0) + 2.0)
}

/// The mean opinion score of a rating [G.107 Annex B].
fn mos(rating: f64) -> f64 {
    match rating {
        rating if rating <= 0.0 => 1.0,
        rating if rating >= 100.0 => 4.5,
        rating => {
            let cubic = rating * (rating - 60.0) * (100.0 - rating) * 7e-6;
            (1.0 + 0.035 * rating + cubic).max(1.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Ie,eff at a loss in percent.
    fn impairment(codec: Codec, percent: f64) -> f64 {
        let at = |loss, codec| CallQuality::new(codec, 0.0, loss, 1.0);
        let (lossy, whole) = (at(percent / 100.0, codec), at(0.0, codec));
        whole.rating - lossy.rating + equipment(codec).impairment
    }

    #[test]
    fn without_delay_and_loss_the_rating_is_that_of_default_values() {
        let rating = UNIMPAIRED - delayed(0.0);
        assert!((rating - 93.2).abs() < 0.05, "{rating}");
        assert!((mos(rating) - 4.41).abs() < 0.005);
    }

    /// [G.107 Table B.1]
    #[test]
    fn ratings_have_the_opinions_of_the_annex() {
        for (rating, opinion) in [
            (90.0, 4.34),
            (80.0, 4.03),
            (70.0, 3.60),
            (60.0, 3.10),
            (50.0, 2.58),
        ] {
            assert!(
                (mos(rating) - opinion).abs() < 0.011,
                "{rating}: {}",
                mos(rating)
            );
        }
        assert_eq!((mos(-3.0), mos(2.0), mos(101.0)), (1.0, 1.0, 4.5));
    }

    /// The table of measured impairments, from which the tolerance was derived
    /// [G.113 Appendix I, edition of 1999].
    #[test]
    fn losses_impair_as_in_the_table() {
        let of_g729: [(f64, f64); 8] = [
            (0.5, 13.0),
            (1.0, 15.0),
            (1.5, 17.0),
            (2.0, 19.0),
            (3.0, 23.0),
            (4.0, 26.0),
            (8.0, 36.0),
            (16.0, 49.0),
        ];
        for (percent, measured) in of_g729 {
            let found = impairment(Codec::G729Two, percent);
            assert!((found - measured).abs() < 1.0, "{percent} %: {found}");
        }
        let of_g723: [(f64, f64); 8] = [
            (0.5, 17.0),
            (1.0, 19.0),
            (1.5, 22.0),
            (2.0, 24.0),
            (3.0, 27.0),
            (4.0, 32.0),
            (8.0, 41.0),
            (16.0, 55.0),
        ];
        for (percent, measured) in of_g723 {
            let found = impairment(Codec::G723One, percent);
            assert!((found - measured).abs() < 1.3, "{percent} %: {found}");
        }
        for (percent, measured) in [(1.0, 5.0), (2.0, 7.0), (3.0, 10.0), (5.0, 15.0)] {
            let found = impairment(Codec::G711One, percent);
            assert!((found - measured).abs() < 1.5, "{percent} %: {found}");
        }
    }

    /// A delay of 150 ms is hardly heard and 400 ms is the limit of planning [G.114]; the
    /// simplified impairment of [Cole2001 eq 6] is near.
    #[test]
    fn delays_impair_little_up_to_150_ms_and_then_much() {
        for delay in [25.0, 50.0, 100.0, 150.0, 200.0, 250.0, 300.0, 400.0] {
            let beyond = f64::max(delay - 177.3, 0.0);
            let simple = 0.024 * delay + 0.11 * beyond;
            let found = delayed(delay) - delayed(0.0);
            assert!(
                (found - simple).abs() < 4.0,
                "{delay} ms: {found}, {simple}"
            );
        }
        assert!(UNIMPAIRED - delayed(150.0) > 89.0 && UNIMPAIRED - delayed(400.0) < 65.0);
    }

    #[test]
    fn losses_in_bursts_impair_more() {
        let quality = |ratio| CallQuality::new(Codec::G729Two, 0.02, 0.04, ratio).mos;
        assert!(quality(2.0) < quality(1.0));
        assert_eq!(quality(0.5), quality(1.0));
        assert_eq!(CallQuality::burst_ratio(0.2, Some(2.5)), 2.0);
        assert_eq!(CallQuality::burst_ratio(0.0, None), 1.0);
    }

    proptest! {
        #[test]
        fn more_delay_or_loss_is_never_better(
            place in 0..Codec::ALL.len(), delay in 0.0..2.0_f64, loss in 0.0..1.0_f64,
            later in 0.0..1.0_f64, lost in 0.0..1.0_f64,
        ) {
            let quality = |delay, loss| CallQuality::new(Codec::ALL[place], delay, loss, 1.0);
            let (good, bad) = (quality(delay, loss), quality(delay + later, (loss + lost).min(1.0)));
            prop_assert!(bad.rating <= good.rating + 1e-9);
            prop_assert!(bad.mos <= good.mos + 0.03);
            prop_assert!((1.0..=4.5).contains(&good.mos));
        }
    }
}
