//! Quantities as people write them: `1gbit`, `5MB`, `30s`, `1500`.
//!
//! A quantity is a decimal number and a unit. Case matters: `MB` are octets and
//! `Mb` is refused, because half its readers take it for bits. Reading is exact:
//! no floating point is involved, and a fraction of the smallest unit is refused.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use crate::{Bytes, Rate, Span};

/// Text that is no such quantity, and what would be one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; write for instance {example}")]
pub struct BadText {
    problem: String,
    example: &'static str,
}

/// Units of size in octets, the canonical ones first and largest first.
const SIZES: &[(&str, u64)] = &[
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("B", 1),
    ("", 1),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("KB", 1_000),
];

/// Units of rate in bits per second, likewise.
const RATES: &[(&str, u64)] = &[
    ("gbit", 1_000_000_000),
    ("mbit", 1_000_000),
    ("kbit", 1_000),
    ("bit", 1),
    ("Gbit", 1_000_000_000),
    ("Mbit", 1_000_000),
    ("Gbit/s", 1_000_000_000),
    ("Mbit/s", 1_000_000),
    ("kbit/s", 1_000),
    ("bit/s", 1),
];

/// Units of time in picoseconds, likewise.
const SPANS: &[(&str, u64)] = &[
    ("s", 1_000_000_000_000),
    ("ms", 1_000_000_000),
    ("us", 1_000_000),
    ("ns", 1_000),
    ("ps", 1),
    ("min", 60_000_000_000_000),
    ("h", 3_600_000_000_000_000),
];

impl FromStr for Bytes {
    type Err = BadText;
    fn from_str(text: &str) -> Result<Self, BadText> {
        parse(text, SIZES, "5MB, 64KiB or 1428").map(Self::new)
    }
}

impl FromStr for Rate {
    type Err = BadText;
    fn from_str(text: &str) -> Result<Self, BadText> {
        const EXAMPLE: &str = "1gbit or 100mbit";
        Self::from_bits_per_second(parse(text, RATES, EXAMPLE)?).ok_or_else(|| BadText {
            problem: "a rate of zero carries nothing".into(),
            example: EXAMPLE,
        })
    }
}

impl FromStr for Span {
    type Err = BadText;
    fn from_str(text: &str) -> Result<Self, BadText> {
        parse(text, SPANS, "30s or 10ms").map(Self::from_picos)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(self.get(), &SIZES[..4], f)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(self.bits_per_second(), &RATES[..4], f)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(self.as_picos(), &SPANS[..5], f)
    }
}

/// `text` in the base unit of `units`, exactly.
fn parse(text: &str, units: &[(&str, u64)], example: &'static str) -> Result<u64, BadText> {
    let refuse = |problem: &str| BadText {
        problem: problem.into(),
        example,
    };
    let text = text.trim();
    let digits = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = (&text[..digits], text[digits..].trim());
    let scale = units
        .iter()
        .find(|(name, _)| *name == unit)
        .map(|&(_, scale)| u128::from(scale))
        .ok_or_else(|| match unit {
            "" => refuse("the unit is missing"),
            _ => refuse("that unit is not known here"),
        })?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') || fraction.len() > 18 {
        return Err(refuse("that is no number"));
    }
    let read = |part: &str| match part {
        "" => Ok(0u128),
        digits => digits
            .parse()
            .map_err(|_| refuse("that number is too large")),
    };
    let parts = 10u128.pow(u32::try_from(fraction.len()).unwrap_or(18));
    let scaled_fraction = read(fraction)? * scale;
    if !scaled_fraction.is_multiple_of(parts) {
        return Err(refuse("that is finer than the smallest unit"));
    }
    read(whole)?
        .checked_mul(scale)
        .and_then(|whole| u64::try_from(whole + scaled_fraction / parts).ok())
        .ok_or_else(|| refuse("that number is too large"))
}

/// Writes `value` in the largest of `units` (largest first) that divides it.
fn display(value: u64, units: &[(&str, u64)], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (name, scale) = units
        .iter()
        .find(|(_, scale)| value.is_multiple_of(*scale) && value != 0)
        .or_else(|| units.last())
        .expect("every table of units has an entry");
    write!(f, "{}{name}", value / scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    #[test]
    fn people_write_quantities_in_many_ways() {
        for (text, octets) in [
            ("5MB", 5_000_000),
            ("5 MB", 5_000_000),
            ("1.5kB", 1500),
            ("1428", 1428),
            ("64KiB", 65_536),
        ] {
            assert_eq!(text.parse(), Ok(Bytes::new(octets)), "{text}");
        }
        for (text, bits) in [
            ("1gbit", 1_000_000_000),
            ("1.5Mbit/s", 1_500_000),
            ("2.5gbit", 2_500_000_000),
        ] {
            assert_eq!(
                text.parse::<Rate>().unwrap().bits_per_second(),
                bits,
                "{text}"
            );
        }
        assert_eq!("1.5ms".parse(), Ok(Span::from_micros(1500)));
    }

    #[test]
    fn bad_text_is_refused_with_an_example() {
        for text in [
            "",
            "MB",
            "5 furlongs",
            "1.2.3MB",
            "-1",
            "1e6",
            "0.5B",
            "99999999999999999999GB",
            "1.0000000000000000001kB",
        ] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
        for text in ["1000", "0gbit", "1gb", "none"] {
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
        fn any_text_is_read_or_refused_without_panic(text in ".{0,24}") {
            let _ = (text.parse::<Bytes>(), text.parse::<Rate>(), text.parse::<Span>());
        }
    }
}
