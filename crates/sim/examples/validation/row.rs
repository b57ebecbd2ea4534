//! Rows of the table: a known answer and the obtained result.

/// A row of the table.
pub(crate) struct Row {
    /// Description of the quantity.
    pub(crate) what: String,
    /// The known answer.
    pub(crate) expected: String,
    /// The obtained result.
    pub(crate) obtained: String,
    /// The tolerance, or the method of comparison.
    pub(crate) rule: &'static str,
    /// Whether the result is within the tolerance.
    pub(crate) holds: bool,
}

/// Largest relative difference that rounding explains.
const ROUNDING: f64 = 1e-12;

/// The factor of the 99 % interval of a mean of 20 runs: Student's t of 19
/// degrees of freedom [Student1908].
const STUDENT: f64 = 2.861;

impl Row {
    /// Two values that may differ by rounding only.
    pub(crate) fn exact(what: impl Into<String>, expected: f64, obtained: f64) -> Self {
        let apart = (obtained - expected).abs();
        Self {
            what: what.into(),
            expected: digits(expected),
            obtained: digits(obtained),
            rule: "1e-12 relative",
            holds: apart <= ROUNDING * expected.abs().max(f64::MIN_POSITIVE),
        }
    }

    /// Two equal integers.
    pub(crate) fn same(what: impl Into<String>, expected: u64, obtained: u64) -> Self {
        Self {
            what: what.into(),
            expected: expected.to_string(),
            obtained: obtained.to_string(),
            rule: "equal",
            holds: expected == obtained,
        }
    }

    /// The mean of 20 independent runs. Its 99 % interval must cover the expected value
    /// and be narrow enough to be informative.
    pub(crate) fn covered(what: impl Into<String>, expected: f64, runs: &[f64; 20]) -> Self {
        let count = 20.0;
        let mean = runs.iter().sum::<f64>() / count;
        let squares: f64 = runs.iter().map(|value| (value - mean).powi(2)).sum();
        let half = STUDENT * (squares / (count - 1.0)).sqrt() / count.sqrt();
        Self {
            what: what.into(),
            expected: digits(expected),
            obtained: format!("{} +- {}", digits(mean), digits(half)),
            rule: "99 % interval",
            holds: (mean - expected).abs() <= half && half < 0.25 * expected,
        }
    }

    /// A share of `count` within its random variation: 2.576 standard deviations of a
    /// binomial distribution.
    pub(crate) fn frequency(
        what: impl Into<String>,
        probability: f64,
        hits: u64,
        count: u64,
    ) -> Self {
        let (hits, count) = (hits as f64, count as f64);
        let half = 2.576 * (probability * (1.0 - probability) / count).sqrt();
        let share = hits / count;
        Self {
            what: what.into(),
            expected: digits(probability),
            obtained: digits(share),
            rule: "2.576 standard deviations",
            holds: (share - probability).abs() <= half,
        }
    }
}

/// Formats a value with six significant digits.
pub(crate) fn digits(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let magnitude = value.abs().log10().floor();
    if !(-4.0..6.0).contains(&magnitude) {
        return format!("{value:.5e}");
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 0 to 9, as bounded above"
    )]
    let places = (5.0 - magnitude) as usize;
    let text = format!("{value:.places$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}
