//! Least squares with the covariance of the estimates.

/// The reciprocal of the condition number below which columns count as linearly
/// dependent. Figures of trials have at most ten significant digits.
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
/// orthogonal columns; `None` if the columns depend on each other, or if there are more of
/// them than rows. Columns are scaled to equal length first, so that units do not matter
/// [Draper1998].
pub(super) fn least_squares(rows: &[Vec<f64>], values: &[f64]) -> Option<Solution> {
    let width = rows.first()?.len();
    if width == 0 || rows.len() < width || values.len() != rows.len() {
        return None;
    }
    let columns = (0..width).map(|at| rows.iter().map(|row| row[at]).collect());
    let columns: Vec<Vec<f64>> = columns.collect();
    let lengths: Vec<f64> = columns.iter().map(|one| length(one)).collect();
    let scaled: Vec<Vec<f64>> = columns
        .iter()
        .zip(&lengths)
        .map(|(column, length)| column.iter().map(|value| value / length).collect())
        .collect();
    let factors = Factors::of(&scaled);
    let inverse = factors.inverse();
    let condition = frobenius(&factors.upper) * frobenius(&inverse);
    // A column of zeros or with a value that is no number makes this one no number, too.
    if condition.is_nan() || 1.0 / condition <= DEPENDENT {
        return None;
    }
    let sides: Vec<f64> = factors.basis.iter().map(|one| dot(one, values)).collect();
    let estimates: Vec<f64> = inverse
        .iter()
        .zip(&lengths)
        .map(|(line, length)| dot(line, &sides) / length)
        .collect();
    let cell = |one: usize, other: usize| {
        dot(&inverse[one], &inverse[other]) / lengths[one] / lengths[other]
    };
    let residuals = rows.iter().zip(values);
    let residuals = residuals.map(|(row, value)| value - dot(row, &estimates));
    Some(Solution {
        inverse: (0..width)
            .map(|one| (0..width).map(|other| cell(one, other)).collect())
            .collect(),
        squares: residuals.map(|one| one * one).sum(),
        estimates,
    })
}

/// Columns as the product of an orthonormal basis and an upper triangle [Golub2013 s5.2].
struct Factors {
    /// As many columns of length 1, each at right angles to the others.
    basis: Vec<Vec<f64>>,
    /// Line by line.
    upper: Vec<Vec<f64>>,
}

impl Factors {
    /// By modified Gram-Schmidt, twice: what rounding leaves of the earlier columns after
    /// the first time, the second takes away.
    fn of(columns: &[Vec<f64>]) -> Self {
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let mut upper = vec![vec![0.0; columns.len()]; columns.len()];
        for (at, column) in columns.iter().enumerate() {
            let mut rest = column.clone();
            for _ in 0..2 {
                for (one, line) in basis.iter().zip(&mut upper) {
                    let share = dot(one, &rest);
                    line[at] += share;
                    for (value, unit) in rest.iter_mut().zip(one) {
                        *value -= share * unit;
                    }
                }
            }
            let length = length(&rest);
            upper[at][at] = length;
            basis.push(rest.iter().map(|value| value / length).collect());
        }
        Self { basis, upper }
    }

    /// The inverse of the upper triangle, line by line, from the last line upwards.
    fn inverse(&self) -> Vec<Vec<f64>> {
        let width = self.upper.len();
        let mut inverse = vec![vec![0.0; width]; width];
        for line in (0..width).rev() {
            let row = &self.upper[line];
            let cell = |at: usize| {
                let below = (line + 1..=at).map(|one| row[one] * inverse[one][at]);
                (f64::from(u8::from(line == at)) - below.sum::<f64>()) / row[line]
            };
            let cells: Vec<f64> = (line..width).map(cell).collect();
            inverse[line][line..].copy_from_slice(&cells);
        }
        inverse
    }
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

fn length(column: &[f64]) -> f64 {
    dot(column, column).sqrt()
}

fn frobenius(matrix: &[Vec<f64>]) -> f64 {
    matrix
        .iter()
        .map(|line| dot(line, line))
        .sum::<f64>()
        .sqrt()
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
