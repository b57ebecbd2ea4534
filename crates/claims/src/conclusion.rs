//! What is concluded of a claim, in words that are counted apart.

use std::fmt;

use analysis::verdict::Verdict;
use serde::{Serialize, Serializer};

/// The conclusion on one claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// By a run.
    Measured(Verdict),
    /// By values that the paper itself prints: whether they agree.
    Tables(bool),
    /// By another sentence of the paper, which contradicts it.
    Text,
    /// By a calculation from standards or settings: whether it agrees.
    Calculation(bool),
    /// What is printed is not what was meant.
    Slip,
}

impl Conclusion {
    /// Every conclusion, in the order in which they are counted.
    pub const ALL: [Self; 12] = [
        Self::Measured(Verdict::Reproduced),
        Self::Measured(Verdict::InSome),
        Self::Measured(Verdict::DirectionOnly),
        Self::Measured(Verdict::NotReproduced),
        Self::Measured(Verdict::Inconclusive),
        Self::Tables(true),
        Self::Tables(false),
        Self::Text,
        Self::Calculation(true),
        Self::Calculation(false),
        Self::Slip,
        Self::Measured(Verdict::NotMeasured),
    ];

    /// The words of tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Measured(verdict) => verdict.as_str(),
            Self::Tables(true) => "consistent with its tables",
            Self::Tables(false) => "contradicted by its tables",
            Self::Text => "contradicted by its own text",
            Self::Calculation(true) => "correct by calculation",
            Self::Calculation(false) => "incorrect by calculation",
            Self::Slip => "slip in print",
        }
    }

    /// The definition, for the page of all claims.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Measured(Verdict::Reproduced) => {
                "a run of ours shows it, where the paper leaves something open in every interpretation"
            }
            Self::Measured(Verdict::InSome) => {
                "the paper leaves open what was run, and a run of ours shows it in some of the interpretations only"
            }
            Self::Measured(Verdict::DirectionOnly) => {
                "our change has the same direction and another size"
            }
            Self::Measured(Verdict::NotReproduced) => {
                "our runs could show it, and show something else"
            }
            Self::Measured(Verdict::Inconclusive) => "our runs, or its own, do not decide it",
            Self::Measured(Verdict::NotMeasured) => "nothing was run, with the reason",
            Self::Tables(true) => {
                "compared with values that the paper prints, and nothing else: they agree"
            }
            Self::Tables(false) => "compared with values that the paper prints: they differ",
            Self::Text => "another sentence of the paper says otherwise",
            Self::Calculation(true) => {
                "calculated from standards or stated settings, nothing was run: it is right"
            }
            Self::Calculation(false) => {
                "calculated from standards or stated settings: it is not right"
            }
            Self::Slip => {
                "a unit, a sign or digits are wrong in print, and what was meant is evident: no contradiction"
            }
        }
    }
}

impl Serialize for Conclusion {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.as_str().replace(' ', "_"))
    }
}

impl fmt::Display for Conclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_conclusion_is_counted_once_and_only_runs_reproduce() {
        let mut words: Vec<&str> = Conclusion::ALL.map(Conclusion::as_str).to_vec();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Conclusion::ALL.len());
        for verdict in Verdict::ALL {
            assert!(Conclusion::ALL.contains(&Conclusion::Measured(verdict)));
        }
        for one in Conclusion::ALL {
            let measured = matches!(one, Conclusion::Measured(_));
            assert!(measured || !one.as_str().contains("reproduced"), "{one}");
        }
    }
}
