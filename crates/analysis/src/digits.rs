//! Numbers with the same digits on every system. The standard library takes logarithms and
//! exponentials from the C library, and the last digit depends on which: these are of `libm`.

pub use libm::{expm1 as exp_m1, log as ln, log1p as ln_1p, log10};

/// A number of a library that takes its logarithms from the system, to 12 digits.
pub(crate) fn rounded(number: f64) -> f64 {
    let text = format!("{number:.11e}");
    text.parse().expect("it was written as a number")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_digits_are_dropped_and_all_else_is_kept() {
        let quantile = 12.706_204_736_432_095;
        for neighbour in [quantile, f64::next_up(quantile), f64::next_down(quantile)] {
            assert_eq!(rounded(neighbour), 12.706_204_736_4);
        }
        for number in [0.0, -1.5, 1e-300, 3e300, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(rounded(number), number);
        }
        assert!(rounded(f64::NAN).is_nan());
    }
}
