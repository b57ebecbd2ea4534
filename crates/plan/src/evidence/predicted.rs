//! Predictions.

use std::collections::BTreeMap;

use super::fact::{Fact, Row};

facts! {
    "", "predicted: what bounds the figures: a link, a processor, losses, the receiver's window"
    { BOUND: String = "bound" }

    "", "predicted: of each metric without a closed form in this cell the reason"
    { NOT_PREDICTED: BTreeMap<String, String> = "not_predicted" }
}
