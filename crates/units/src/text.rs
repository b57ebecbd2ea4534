//! Quantities as people write them: `1gbit`, `5MB`, `30s`, `1500`, `1e9 bit/s`.
//!
//! A quantity is a decimal number, perhaps with an exponent, and a unit. No
//! spelling has two meanings: of a unit that readers take differently, such as
//! the `K` of iperf3 or the `mbps` of tc(8), the error says which quantities it
//! may be. Reading is exact: no floating point is involved, and a fraction of the
//! smallest unit is rejected. A number without a unit counts bytes or, as for ping and
//! iperf3, seconds; a rate without one is rejected.

use alloc::format;
use alloc::string::{String, ToString as _};
use core::fmt;
use core::str::FromStr;

use crate::spelling::{Kind, RATES, SIZES, SPANS};
use crate::{Bytes, Rate, Span};

/// Text that is no such quantity, and what would be one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadText(String);

/// The largest exponent of a number. All quantities have fewer digits.
const MOST_TENS: i32 = 36;

impl FromStr for Bytes {
    type Err = BadText;
    fn from_str(text: &str) -> Result<Self, BadText> {
        parse(text, &SIZES).map(Self::new)
    }
}

impl FromStr for Rate {
    type Err = BadText;
    fn from_str(text: &str) -> Result<Self, BadText> {
        Self::from_bits_per_second(parse(text, &RATES)?)
            .ok_or_else(|| rejected("a rate of zero sends nothing", &RATES))
    }
}

impl FromStr for Span {
    type Err = BadText;
    fn from_str(text: &str) -> Result<Self, BadText> {
        parse(text, &SPANS).map(Self::from_picos)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(self.get(), SIZES.shown_in(), f)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(self.bits_per_second(), RATES.shown_in(), f)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(self.as_picos(), SPANS.shown_in(), f)
    }
}

/// The number in a count of packets, such as `35 packets`.
pub fn packets(text: &str) -> Option<&str> {
    const WORDS: [&str; 5] = ["packets", "packet", "pkts", "frames", "frame"];
    let number = |word| text.trim().strip_suffix(word).map(str::trim_end);
    WORDS.into_iter().find_map(number)
}

fn rejected(problem: &str, kind: &Kind) -> BadText {
    BadText(format!("{problem}; write for instance {}", kind.example))
}

/// `text` in the base unit of `kind`, exactly.
fn parse(text: &str, kind: &Kind) -> Result<u64, BadText> {
    let text = text.trim();
    let number = Number::parse(text);
    let (number, unit) = number.map_err(|problem| rejected(problem, kind))?;
    let in_base = |scale| number.times(scale);
    match kind.scale(unit) {
        Some(scale) => in_base(scale).map_err(|problem| rejected(problem, kind)),
        None => {
            let scaled = |scale| in_base(scale).ok();
            Err(BadText(kind.rejection(&shortened(text), unit, scaled)))
        }
    }
}

/// `text` as an error repeats it.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_string(),
    }
}

/// A decimal number: digits times a power of ten.
struct Number {
    digits: u128,
    tens: i32,
}

impl Number {
    /// The number at the beginning of `text`, and what follows it.
    fn parse(text: &str) -> Result<(Self, &str), &'static str> {
        const NO_NUMBER: &str = "that is no number";
        let end = |text: &str| {
            let end = text.find(|c: char| !c.is_ascii_digit());
            end.unwrap_or(text.len())
        };
        let (whole, rest) = text.split_at(end(text));
        let (fraction, rest) = match rest.strip_prefix('.') {
            Some(rest) => rest.split_at(end(rest)),
            None => ("", rest),
        };
        if whole.is_empty() && fraction.is_empty() || rest.starts_with('.') || fraction.len() > 18 {
            return Err(NO_NUMBER);
        }
        let mut digits = 0_u128;
        for digit in whole.bytes().chain(fraction.bytes()) {
            let more = digits
                .checked_mul(10)
                .and_then(|digits| digits.checked_add(u128::from(digit - b'0')));
            digits = more.ok_or("that number is too large")?;
        }
        let (exponent, unit) = exponent(rest).unwrap_or((0, rest));
        let places = i32::try_from(fraction.len()).map_err(|_| NO_NUMBER)?;
        let tens = exponent - places;
        Ok((Self { digits, tens }, unit.trim()))
    }

    /// The number times `scale`, if that is whole and fits.
    fn times(&self, scale: u64) -> Result<u64, &'static str> {
        const LARGE: &str = "that number is too large";
        let scaled = self.digits.checked_mul(u128::from(scale)).ok_or(LARGE)?;
        let power = |tens: u32| 10_u128.checked_pow(tens);
        let whole = match self.tens {
            0.. => power(self.tens.unsigned_abs()).and_then(|power| scaled.checked_mul(power)),
            _ if scaled == 0 => Some(0),
            _ => {
                let power = power(self.tens.unsigned_abs()).unwrap_or(u128::MAX);
                if !scaled.is_multiple_of(power) {
                    return Err("that is finer than the smallest unit");
                }
                Some(scaled / power)
            }
        };
        whole
            .and_then(|whole| u64::try_from(whole).ok())
            .ok_or(LARGE)
    }
}

/// The exponent at the beginning of `text`, and what follows it.
fn exponent(text: &str) -> Option<(i32, &str)> {
    let rest = text.strip_prefix(['e', 'E'])?;
    let (sign, rest) = match rest.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, rest.strip_prefix('+').unwrap_or(rest)),
    };
    let end = rest.find(|c: char| !c.is_ascii_digit());
    let (digits, rest) = rest.split_at(end.unwrap_or(rest.len()));
    let tens: i32 = digits.parse().ok().filter(|tens| *tens <= MOST_TENS)?;
    Some((sign * tens, rest))
}

/// Writes `value` in the largest of `units` (largest first) that divides it.
fn display(value: u64, units: &[(&str, u64)], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (name, scale) = units
        .iter()
        .find(|(_, scale)| value.is_multiple_of(*scale) && value != 0)
        .or_else(|| units.last())
        .expect("every kind has a unit");
    write!(f, "{}{name}", value / scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    #[test]
    fn people_write_quantities_in_many_ways() {
        for (text, bytes) in [
            ("5MB", 5_000_000),
            ("5 MB", 5_000_000),
            ("1.5kB", 1500),
            ("1428", 1428),
            ("64KiB", 65_536),
            ("1 MiB", 1 << 20),
            ("1e6", 1_000_000),
            ("1.5e3 bytes", 1500),
            ("1500 bytes", 1500),
            ("2TB", 2_000_000_000_000),
        ] {
            assert_eq!(text.parse(), Ok(Bytes::new(bytes)), "{text}");
        }
        for text in [
            "10gbit",
            "10g",
            "10G",
            "10Gbps",
            "10Gbit",
            "10 Gbit/s",
            "10Gb/s",
            "10GBIT",
            "10gbits",
            "10gbitps",
            "10000M",
            "10e9bit",
            "1e10 bit/s",
            "0.01T",
        ] {
            let rate = text.parse().map(Rate::bits_per_second);
            assert_eq!(rate, Ok(10_000_000_000), "{text}");
        }
        assert_eq!(
            "1.5Mbit/s".parse().map(Rate::bits_per_second),
            Ok(1_500_000)
        );
        for text in [
            "100ms",
            "100 ms",
            "0.1s",
            "100msec",
            "1e-1s",
            "100000\u{b5}s",
            "1e5us",
        ] {
            assert_eq!(text.parse(), Ok(Span::from_millis(100)), "{text}");
        }
        assert_eq!("2 minutes".parse(), "120s".parse::<Span>());
        assert_eq!("2.5".parse(), "2500ms".parse::<Span>());
    }

    #[test]
    fn a_spelling_with_two_meanings_is_answered_with_both() {
        let rejection = |rejected: Result<u64, BadText>| rejected.unwrap_err().to_string();
        let size = |text: &str| rejection(text.parse().map(Bytes::get));
        let rate = |text: &str| rejection(text.parse().map(Rate::bits_per_second));
        let span = |text: &str| rejection(text.parse().map(Span::as_picos));
        for (answer, wanted) in [
            (
                size("9k"),
                "9k may count in thousands or in 1024; write 9kB or 9216B",
            ),
            (
                size("128K"),
                "128K may count in thousands or in 1024; write 128kB or 131072B",
            ),
            (size("5Mb"), "5Mb may be bits or bytes; write 5MB"),
            (size("64Ki"), "64Ki has no unit of sizes; write 65536B"),
            (
                rate("10mbps"),
                "10mbps may be bits or bytes; write 10mbit or 80mbit",
            ),
            (
                rate("1gb"),
                "1gb may be bits or bytes; write 1gbit or 8gbit",
            ),
            (rate("10MB/s"), "10MB/s are bytes in a second; write 80mbit"),
            (rate("1e9"), "1e9 has no unit; write 1gbit"),
            (rate("1000"), "1000 has no unit; write 1kbit or 1gbit"),
            (
                span("5m"),
                "5m may be minutes or milliseconds; write 300s or 5ms",
            ),
        ] {
            assert_eq!(answer, wanted);
        }
    }

    #[test]
    fn packets_are_counted_in_several_words() {
        for text in ["35 packets", "35packets", " 35 pkts", "35 frames"] {
            assert_eq!(packets(text), Some("35"), "{text}");
        }
        assert_eq!(packets("35kB"), None);
    }

    #[test]
    fn bad_text_is_rejected_with_an_example() {
        for text in [
            "",
            "MB",
            "5 furlongs",
            "1.2.3MB",
            "-1",
            "1e",
            "1e99",
            "0.5B",
            "1e-1",
            "99999999999999999999GB",
            "1.0000000000000000001kB",
        ] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
        for text in ["0gbit", "none", "1 parsec", "g"] {
            let error = text.parse::<Rate>().unwrap_err().to_string();
            assert!(error.contains("1gbit"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_the_same(value in 1u64..u64::MAX) {
            prop_assert_eq!(Bytes::new(value).to_string().parse(), Ok(Bytes::new(value)));
            prop_assert_eq!(Span::from_picos(value).to_string().parse(), Ok(Span::from_picos(value)));
            let rate = Rate::from_bits_per_second(value).unwrap();
            prop_assert_eq!(rate.to_string().parse(), Ok(rate));
        }

        #[test]
        fn any_text_is_read_or_rejected_without_panic(
            text in ".{0,24}|[0-9.]{0,30}(e[-+]?[0-9]{0,12})? ?[a-zA-Z/]{0,6}",
        ) {
            let _ = (text.parse::<Bytes>(), text.parse::<Rate>(), text.parse::<Span>());
        }

        #[test]
        fn every_spelling_of_a_unit_means_a_canonical_one(
            number in 1u32..1_000_000, unit in "[kKmMgGtT]?(b|B|bit|Bit|BIT|bits|i|iB|byte|bytes|s|sec|in)?(/s|ps)?",
        ) {
            let text = std::format!("{number}{unit}");
            if let Ok(rate) = text.parse::<Rate>() {
                // A prefix is decimal, whatever its case.
                let scale = match unit.chars().next().map(|letter| letter.to_ascii_lowercase()) {
                    Some('k') => 1_000,
                    Some('m') => 1_000_000,
                    Some('g') => 1_000_000_000,
                    Some('t') => 1_000_000_000_000,
                    _ => 1,
                };
                prop_assert_eq!(rate.bits_per_second(), u64::from(number) * scale);
                prop_assert!(!unit.contains('B') || unit.to_lowercase().contains("bit"));
                prop_assert!(text.to_uppercase().replace(' ', "").parse::<Rate>().is_ok_and(|other| other == rate)
                    || unit.contains('b'));
            }
            if let Ok(size) = text.parse::<Bytes>() {
                // Thousands and 1024 are told apart by an `i`, bits do not occur.
                let per_unit = size.get() / u64::from(number);
                prop_assert_eq!(per_unit.is_power_of_two(), unit.contains('i') || per_unit == 1);
                prop_assert!(!unit.ends_with('b'));
            }
            // No text is a size and a time, or a rate and a time, but for a bare number.
            if text.parse::<Span>().is_ok() {
                prop_assert!(text.parse::<Rate>().is_err());
                prop_assert!(text.parse::<Bytes>().is_err() || unit.is_empty());
            }
        }

        #[test]
        fn an_answer_is_text_that_is_read(number in 1u32..1_000_000, unit in "[kKmMgGtT]?[bB]?(/s|ps)?") {
            let text = std::format!("{number}{unit}");
            let errors = [
                text.parse::<Bytes>().err().map(|error| (error, 0)),
                text.parse::<Rate>().err().map(|error| (error, 1)),
                text.parse::<Span>().err().map(|error| (error, 2)),
            ];
            for (error, kind) in errors.into_iter().flatten() {
                let error = error.to_string();
                let (_, answers) = error.split_once("; write ").unwrap();
                let answers = answers.strip_prefix("for instance ").unwrap_or(answers);
                for answer in answers.split(" or ").flat_map(|part| part.split(", ")) {
                    let is_read = match kind {
                        0 => answer.parse::<Bytes>().is_ok(),
                        1 => answer.parse::<Rate>().is_ok(),
                        _ => answer.parse::<Span>().is_ok(),
                    };
                    prop_assert!(is_read, "{}: {}", text, error);
                }
            }
        }
    }
}
