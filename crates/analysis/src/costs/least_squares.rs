//! Least squares with the covariance of the estimates.

use nalgebra::{DMatrix, DVector};

/// The ratio of the smallest to the largest singular value below which columns count as
/// linearly dependent. Figures of trials have at most ten significant digits.
const DEPENDENT: f64 = 1e-8;

/// Estimates of a linear model.
#[derive(Clone, Debug)]
pub(super) struct Solution {
    pub(super) estimates: Vec<f64>,
    /// The inverse of X'X: the covariance of the estimates where the variance of a value
    /// is 1.
    pub(super) inverse: Vec<Vec<f64>>,
    /// The sum of the squared residuals.
    pub(super) squares: f64,
}

impl Solution {
    /// The variance of the linear combination `row` of the estimates where that of a
    /// value is 1.
    pub(super) fn variance(&self, row: &[f64]) -> f64 {
        let terms = self.inverse.iter().zip(row);
        let term = |(line, one): (&Vec<f64>, &f64)| -> f64 {
            let products = line.iter().zip(row).map(|(cell, other)| cell * other);
            one * products.sum::<f64>()
        };
        terms.map(term).sum()
    }
}

/// The estimates that minimise the squared residuals of `values` over `rows`, by
/// singular values; `None` if the columns depend on each other, or if there are more of
/// them than rows. Columns are scaled to equal length first, so that units do not matter
/// [Draper1998].
pub(super) fn least_squares(rows: &[Vec<f64>], values: &[f64]) -> Option<Solution> {
    let (height, width) = (rows.len(), rows.first()?.len());
    if width == 0 || height < width || values.len() != height {
        return None;
    }
    let mut matrix = DMatrix::from_fn(height, width, |row, column| rows[row][column]);
    let mut lengths = Vec::new();
    for mut column in matrix.column_iter_mut() {
        let length = column.norm();
        if !(length.is_finite() && length > 0.0) {
            return None;
        }
        column /= length;
        lengths.push(length);
    }
    let target = DVector::from_column_slice(values);
    let parts = matrix.clone().svd(true, true);
    let most = parts.singular_values.max();
    let dependent = |least: f64| least <= DEPENDENT * most;
    if !most.is_finite() || dependent(parts.singular_values.min()) {
        return None;
    }
    let scaled = parts.solve(&target, 0.0).ok()?;
    let right = parts.v_t.as_ref()?;
    let inverse = |one: usize, other: usize| -> f64 {
        let singular = parts.singular_values.iter().enumerate();
        let terms =
            singular.map(|(at, value)| right[(at, one)] * right[(at, other)] / value.powi(2));
        terms.sum::<f64>() / lengths[one] / lengths[other]
    };
    let inverse = (0..width).map(|one| (0..width).map(|other| inverse(one, other)).collect());
    let residuals = target - matrix * &scaled;
    Some(Solution {
        inverse: inverse.collect(),
        squares: residuals.norm_squared(),
        estimates: scaled
            .iter()
            .zip(&lengths)
            .map(|(one, length)| one / length)
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Five points of a line: slope 0.6, intercept 2.2, residual sum 2.4, and the inverse
    /// that follows from sums by hand.
    #[test]
    fn five_points_of_a_line_have_the_estimates_that_sums_give() {
        let rows: Vec<Vec<f64>> = (1..=5).map(|x| vec![1.0, f64::from(x)]).collect();
        let found = least_squares(&rows, &[2.0, 4.0, 5.0, 4.0, 5.0]).unwrap();
        let near = |one: f64, other: f64| assert!((one - other).abs() < 1e-12, "{found:?}");
        near(found.estimates[0], 2.2);
        near(found.estimates[1], 0.6);
        near(found.squares, 2.4);
        near(found.inverse[0][0], 1.1);
        near(found.inverse[0][1], -0.3);
        near(found.inverse[1][1], 0.1);
        // At the mean of x a line has the variance of a mean.
        near(found.variance(&[1.0, 3.0]), 0.2);
    }

    #[test]
    fn columns_that_depend_on_each_other_have_no_solution() {
        let same = vec![vec![1.0, 2.0]; 4];
        assert!(least_squares(&same, &[1.0; 4]).is_none());
        assert!(least_squares(&[vec![1.0, 2.0]], &[1.0]).is_none());
        assert!(least_squares(&[vec![1.0, 0.0], vec![2.0, 0.0]], &[1.0; 2]).is_none());
        assert!(least_squares(&[], &[]).is_none());
        assert!(least_squares(&[vec![f64::NAN], vec![1.0]], &[1.0; 2]).is_none());
    }

    proptest! {
        #[test]
        fn values_of_a_plane_are_found_again_in_any_unit(
            low in -1e3f64..1e3, slope in -1e3f64..1e3, unit in 1e-9f64..1e9,
        ) {
            let rows: Vec<Vec<f64>> = (0..9)
                .map(|at| vec![1.0, f64::from(at % 3) * unit, f64::from(at / 3)])
                .collect();
            let values: Vec<f64> = rows
                .iter()
                .map(|row| low * row[0] + slope / unit * row[1] + 7.0 * row[2])
                .collect();
            let found = least_squares(&rows, &values).unwrap();
            prop_assert!((found.estimates[0] - low).abs() < 1e-7);
            prop_assert!((found.estimates[1] * unit - slope).abs() < 1e-7);
            prop_assert!((found.estimates[2] - 7.0).abs() < 1e-7);
            prop_assert!(found.squares < 1e-12 * values.iter().map(|one| one * one).sum::<f64>());
        }
    }
}
