//! The sections of a report, in order.

use crate::section::Section;
use crate::{claims, courses, mechanisms, outliers, paired, pareto, ranking, sizes, verdicts};

/// All sections. Those that stand in one place follow each other in this order,
/// and so do the lines that they have for programs.
pub(crate) const SECTIONS: [&dyn Section; 10] = [
    &verdicts::Verdicts,
    &claims::Claims,
    &courses::Courses,
    &pareto::Fronts,
    &sizes::Sizes,
    &ranking::Nearest,
    &paired::Differences,
    &mechanisms::Mechanisms,
    &verdicts::Open,
    &outliers::Outliers,
];
