//! The claims of the studied papers, and what became of each.
//!
//! The register (`claims/` of the repository) lists the claims by hand, with
//! the evidence for each: a recorded result, a computation, or the reason why
//! it was not measured. Recorded results (`docs/results/`) are verdicts of runs,
//! written by `jumbolab claims --record`.

mod arithmetic;
mod conclusion;
mod json;
mod markdown;
mod outcome;
#[cfg(test)]
mod quoted;
mod record;
mod register;
mod text;

pub use arithmetic::{Sum, sums};
pub use conclusion::Conclusion;
pub use json::{lines, sum_lines};
pub use markdown::{Page, pages};
pub use outcome::{Alternative, Elsewhere, Outcome, Plausible, outcomes};
pub use record::{Record, Sensitivity, recorded};
pub use register::{Claim, Evidence, Paper, papers};
pub use text::{overview, sums_table, whole};
