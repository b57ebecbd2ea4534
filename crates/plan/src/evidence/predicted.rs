//! Predictions.

use std::collections::BTreeMap;

use super::fact::{Fact, Row};

facts! {
    "", "predicted: what limits the result: a link, a processor, losses, the receiver's window"
    { BOUND: String = "bound" }

    "", "predicted: the reason for each metric without a formula in this cell"
    { NOT_PREDICTED: BTreeMap<String, String> = "not_predicted" }
}
