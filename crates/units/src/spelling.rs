//! The units of quantities: how each may be written, and what to answer to
//! spellings that mean different things to different readers.

use alloc::format;
use alloc::string::{String, ToString as _};

use crate::{Bytes, Rate, Span};

/// A kind of quantity.
pub(crate) struct Kind {
    /// The units in the base unit. The canonical ones come first, the largest
    /// first; [`Kind::canonical`] counts them.
    units: &'static [(&'static str, u64)],
    pub(crate) canonical: usize,
    /// Examples for messages.
    pub(crate) example: &'static str,
    /// The scale of another spelling of a unit.
    other: fn(&str) -> Option<u64>,
    /// The meanings of a unit that has more than one: in the base unit,
    /// with the reason.
    either: fn(&str) -> Option<Ambiguous>,
    /// A value in canonical form.
    shown: fn(u64) -> String,
}

/// A unit that has several meanings.
struct Ambiguous {
    /// Follows the quantity as it was written.
    problem: &'static str,
    /// The meanings; a unit with one was written in a wrong form.
    scales: [Option<u64>; 2],
}

pub(crate) const SIZES: Kind = Kind {
    units: &[
        ("GB", GIGA),
        ("MB", MEGA),
        ("kB", KILO),
        ("B", 1),
        ("", 1),
        ("GiB", 1 << 30),
        ("MiB", 1 << 20),
        ("KiB", 1 << 10),
        ("KB", KILO),
        ("TB", TERA),
        ("TiB", 1 << 40),
        ("byte", 1),
        ("bytes", 1),
        ("byte", 1),
        ("bytes", 1),
    ],
    canonical: 4,
    example: "5MB, 64KiB or 1428",
    other: |_| None,
    either: size_or_size,
    shown: |bytes| Bytes::new(bytes).to_string(),
};

pub(crate) const RATES: Kind = Kind {
    units: &[("gbit", GIGA), ("mbit", MEGA), ("kbit", KILO), ("bit", 1)],
    canonical: 4,
    example: "1gbit or 100mbit",
    other: rate,
    either: rate_or_rate,
    shown: |bits| {
        let rate = Rate::from_bits_per_second(bits);
        let rate = rate.filter(|_| bits <= LARGEST_MEANT);
        rate.map_or_else(String::new, |rate| rate.to_string())
    },
};

pub(crate) const SPANS: Kind = Kind {
    units: &[
        ("s", SECOND),
        ("ms", SECOND / KILO),
        ("us", SECOND / MEGA),
        ("ns", SECOND / GIGA),
        ("ps", 1),
        ("", SECOND),
        ("min", 60 * SECOND),
        ("h", 3_600 * SECOND),
        ("sec", SECOND),
        ("secs", SECOND),
        ("second", SECOND),
        ("seconds", SECOND),
        ("msec", SECOND / KILO),
        ("usec", SECOND / MEGA),
        ("\u{b5}s", SECOND / MEGA),
        ("\u{3bc}s", SECOND / MEGA),
        ("nsec", SECOND / GIGA),
        ("mins", 60 * SECOND),
        ("minute", 60 * SECOND),
        ("minutes", 60 * SECOND),
        ("hour", 3_600 * SECOND),
        ("hours", 3_600 * SECOND),
    ],
    canonical: 5,
    example: "30s or 10ms",
    other: |_| None,
    either: span_or_span,
    shown: |picos| Span::from_picos(picos).to_string(),
};

const KILO: u64 = 1_000;
const MEGA: u64 = 1_000_000;
const GIGA: u64 = 1_000_000_000;
const TERA: u64 = 1_000_000_000_000;
/// No link is faster than this: a larger rate is not what somebody meant.
const LARGEST_MEANT: u64 = 10 * TERA;
/// A second in picoseconds.
const SECOND: u64 = TERA;

impl Kind {
    /// The units of [`Kind::units`] in which values are shown.
    pub(crate) fn shown_in(&self) -> &'static [(&'static str, u64)] {
        &self.units[..self.canonical]
    }

    /// The scale of `unit`, if it means one thing.
    pub(crate) fn scale(&self, unit: &str) -> Option<u64> {
        let listed = self.units.iter().find(|(name, _)| *name == unit);
        listed.map_or_else(|| (self.other)(unit), |&(_, scale)| Some(scale))
    }

    /// The line that rejects `unit`, and says what to write for the quantity that
    /// `scaled` gives in a scale.
    pub(crate) fn rejection(
        &self,
        written: &str,
        unit: &str,
        scaled: impl Fn(u64) -> Option<u64>,
    ) -> String {
        let shown = |scale: Option<u64>| scaled(scale?).map(self.shown).filter(|it| !it.is_empty());
        if let Some(Ambiguous { problem, scales }) = (self.either)(unit) {
            match scales.map(shown) {
                [Some(one), Some(other)] => {
                    return format!("{written} {problem}; write {one} or {other}");
                }
                [Some(one), None] | [None, Some(one)] => {
                    return format!("{written} {problem}; write {one}");
                }
                [None, None] => {}
            }
        }
        let problem = match unit {
            "" => "the unit is missing",
            _ => "that unit is not known here",
        };
        format!("{problem}; write for instance {}", self.example)
    }
}

/// A prefix and the rest: `G` of `Gbit`. The scale of no prefix is 1.
fn decimal(unit: &str) -> Option<(u64, &str)> {
    let mut letters = unit.chars();
    let scale = match letters.next()? {
        'k' | 'K' => KILO,
        'm' | 'M' => MEGA,
        'g' | 'G' => GIGA,
        't' | 'T' => TERA,
        _ => return Some((1, unit)),
    };
    Some((scale, letters.as_str()))
}

/// Bits per second: `10g` as iperf3 has it, `Gbit`, `gbit/s`, `Gb/s`, `Gbps`. A
/// prefix is decimal. Capital `B`, and `bps` behind a small prefix, which tc(8)
/// reads as bytes, are left to [`rate_or_rate`].
fn rate(unit: &str) -> Option<u64> {
    let (scale, rest) = decimal(unit)?;
    let is_capital = unit.starts_with(|prefix: char| prefix.is_ascii_uppercase());
    match rest {
        "" => Some(scale),
        "b/s" if is_capital || unit.starts_with('k') => Some(scale),
        "bps" if is_capital => Some(scale),
        _ => {
            let word = rest.to_ascii_lowercase();
            let word = word
                .strip_suffix("/s")
                .or_else(|| word.strip_suffix("ps"))
                .unwrap_or(&word);
            matches!(word, "bit" | "bits").then_some(scale)
        }
    }
}

/// Bytes per second, and what may be bytes or bits.
fn rate_or_rate(unit: &str) -> Option<Ambiguous> {
    if unit.is_empty() {
        return Some(Ambiguous {
            problem: "has no unit",
            scales: [Some(1), Some(MEGA)],
        });
    }
    let (scale, rest) = decimal(unit)?;
    match rest {
        "B/s" | "Bps" => Some(Ambiguous {
            problem: "are bytes in a second",
            scales: [Some(8 * scale), None],
        }),
        "b" | "B" | "b/s" | "bps" => Some(Ambiguous {
            problem: "may be bits or bytes",
            scales: [Some(scale), Some(8 * scale)],
        }),
        _ => None,
    }
}

/// Prefixes without a unit, which are powers of 1000 or of 1024, and what may be
/// bits.
fn size_or_size(unit: &str) -> Option<Ambiguous> {
    let mut letters = unit.chars();
    let place = "kmgt".find(letters.next()?.to_ascii_lowercase())?;
    let power = u32::try_from(place).ok()? + 1;
    let (decimal, binary) = (KILO.pow(power), 1 << (10 * power));
    match letters.as_str() {
        "" => Some(Ambiguous {
            problem: "may count in thousands or in 1024",
            scales: [Some(decimal), Some(binary)],
        }),
        "b" | "B" => Some(Ambiguous {
            problem: "may be bits or bytes",
            scales: [Some(decimal), None],
        }),
        "i" | "ib" | "iB" => Some(Ambiguous {
            problem: "has no unit of sizes",
            scales: [Some(binary), None],
        }),
        _ => None,
    }
}

/// `m`, which may be minutes.
fn span_or_span(unit: &str) -> Option<Ambiguous> {
    match unit {
        "m" | "M" => Some(Ambiguous {
            problem: "may be minutes or milliseconds",
            scales: [Some(60 * SECOND), Some(SECOND / KILO)],
        }),
        _ => None,
    }
}
