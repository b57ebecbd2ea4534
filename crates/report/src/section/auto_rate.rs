//! The rate of links whose experiment leaves it to the machine.

use plan::AutoRate;
use units::Rate;

use crate::figure;

/// The rate and how it was chosen, in one sentence.
pub fn auto_rate(chosen: &AutoRate) -> String {
    let rate: Option<Rate> = chosen.rate.parse().ok();
    let rate = rate.map_or_else(|| chosen.rate.clone(), figure::rate);
    match chosen.sustained {
        Some(true) => format!(
            "Links of {rate}, the largest rate that this machine sustained when the run began (rate = \"auto\")."
        ),
        Some(false) => format!(
            "Links of {rate}, the smallest rate of rate = \"auto\": this machine sustained no larger one when the run began."
        ),
        None => {
            format!("Links of {rate}, the largest rate of rate = \"auto\": no machine limits them.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_says_rate_and_reason() {
        for (sustained, reason) in [
            (Some(true), ", the largest rate that this machine sustained"),
            (Some(false), "this machine sustained no larger one"),
            (None, "no machine limits them"),
        ] {
            let sentence = auto_rate(&AutoRate {
                rate: "500mbit".to_owned(),
                sustained,
                tried: String::new(),
            });
            assert!(sentence.starts_with("Links of 500 Mbit/s, "), "{sentence}");
            assert!(sentence.contains(reason), "{sentence}");
        }
    }
}
