//! Cells of tables.

use crate::statistics::{median, sorted};

/// The median of `values` with their range; `-` without one.
pub(crate) fn spread(values: impl Iterator<Item = f64>, digits: usize) -> String {
    let values = sorted(values.filter(|value| value.is_finite()));
    match values[..] {
        [] => "-".to_owned(),
        [only] => format!("{only:.digits$}"),
        [least, .., most] => {
            let middle = median(&values);
            format!("{middle:.digits$} ({least:.digits$} to {most:.digits$})")
        }
    }
}
