//! The register: what each paper claims, and the evidence for and against it.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use plan::Level;
use serde::Deserialize;

/// The files of the register: name and text.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/papers.rs"));

/// A paper and its claims.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// The name that `jumbolab claims` takes.
    pub name: String,
    /// The name in headings.
    pub title: String,
    /// The key of the paper in docs/sources.md.
    pub source: String,
    /// The page in docs/evidence/findings that answers its question, if there is one.
    #[serde(default)]
    pub page: Option<String>,
    /// The claims, in the order of the paper.
    #[serde(rename = "claim")]
    pub claims: Vec<Claim>,
}

/// One claim of a paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The name of the claim, unique in all papers.
    pub id: String,
    /// The claim, quoted or in our words.
    pub text: String,
    /// The place in the paper, e.g. `s3.C` or `Table 4`.
    pub place: String,
    /// How the claim was tested.
    pub done: String,
    /// The reason for the verdict in one sentence.
    pub why: String,
    /// What was evidently meant, where the printed words or figures are a slip: a unit,
    /// a sign, digits transposed.
    #[serde(default)]
    pub slip: Option<String>,
    /// The evidence that decides it.
    pub evidence: Evidence,
    /// A run with simulated hosts that are fitted to the paper. It has a verdict of its own,
    /// which is none of the systems that the claim is about.
    #[serde(default)]
    pub fitted: Option<Evidence>,
}

/// The evidence that decides a claim.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Evidence {
    /// A claim in words of an experiment.
    Claim(InWords),
    /// A claim of an experiment about a step in a curve.
    Jump(Jump),
    /// A published figure of an experiment.
    Figure(Figure),
    /// Several claims of an experiment, which one of their alternatives has to meet.
    Claims(Claims),
    /// A comparison with values that the paper itself prints.
    Tables(Tables),
    /// A calculation from standards or from settings, which needs no experiment.
    Calculation(Calculation),
    /// Another sentence of the paper, which contradicts it.
    Sentence(Sentence),
    /// The reason why nothing was measured.
    NotMeasured(NotMeasured),
}

/// A recorded run of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run<'a> {
    /// The experiment.
    pub experiment: &'a str,
    /// The name of the variant, where settings differ from the shipped ones.
    pub variant: Option<&'a str>,
    /// The backend; none: `netns` if that is recorded, else any.
    pub backend: Option<&'a str>,
}

macro_rules! evidence {
    ($(#[$about:meta] $name:ident { $($(#[$field:meta])* $key:ident: $kind:ty,)* })*) => {$(
        #[$about]
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$field])* pub $key: $kind,)*
        }
    )*};
}

evidence! {
    /// A claim in words of an experiment.
    InWords {
        /// The experiment.
        experiment: String,
        /// The text of the claim there.
        claim: String,
        /// The variant of the run.
        #[serde(default)]
        variant: Option<String>,
        /// The backend of the run.
        #[serde(default)]
        backend: Option<String>,
    }
    /// A claim about a step in a curve.
    Jump {
        /// The experiment.
        experiment: String,
        /// The text of the claim there.
        jump: String,
        /// The variant of the run.
        #[serde(default)]
        variant: Option<String>,
        /// The backend of the run.
        #[serde(default)]
        backend: Option<String>,
    }
    /// A published figure.
    Figure {
        /// The experiment.
        experiment: String,
        /// The metric.
        metric: String,
        /// Levels of the cells that it is about.
        cell: BTreeMap<String, Level>,
        /// The variant of the run.
        #[serde(default)]
        variant: Option<String>,
        /// The backend of the run.
        #[serde(default)]
        backend: Option<String>,
    }
    /// Several claims with the same alternatives.
    Claims {
        /// The experiment.
        experiment: String,
        /// The texts of the claims there, in words or about steps.
        claims: Vec<String>,
        /// The variant of the run.
        #[serde(default)]
        variant: Option<String>,
        /// The backend of the run.
        #[serde(default)]
        backend: Option<String>,
    }
    /// A comparison with values of the paper.
    Tables {
        /// The name of the computation.
        tables: String,
    }
    /// A calculation.
    Calculation {
        /// The name of the computation.
        calculation: String,
    }
    /// A sentence that contradicts the claim.
    Sentence {
        /// The sentence, quoted or in our words, and its place.
        contradicted_by: String,
    }
    /// No measurement.
    NotMeasured {
        /// The reason.
        not_measured: String,
    }
}

impl Evidence {
    /// The run that was recorded, where that is the evidence.
    pub fn run(&self) -> Option<Run<'_>> {
        let (experiment, variant, backend) = match self {
            Self::Claim(one) => (&one.experiment, &one.variant, &one.backend),
            Self::Jump(one) => (&one.experiment, &one.variant, &one.backend),
            Self::Figure(one) => (&one.experiment, &one.variant, &one.backend),
            Self::Claims(one) => (&one.experiment, &one.variant, &one.backend),
            _ => return None,
        };
        Some(Run {
            experiment,
            variant: variant.as_deref(),
            backend: backend.as_deref(),
        })
    }

    /// The name of the computation, where that is the evidence.
    pub fn computation(&self) -> Option<&str> {
        match self {
            Self::Tables(one) => Some(&one.tables),
            Self::Calculation(one) => Some(&one.calculation),
            _ => None,
        }
    }

    /// The kind of evidence in JSON.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Claim(_) => "claim",
            Self::Jump(_) => "jump",
            Self::Figure(_) => "published_value",
            Self::Claims(_) => "claims",
            Self::Tables(_) => "tables",
            Self::Calculation(_) => "calculation",
            Self::Sentence(_) => "sentence",
            Self::NotMeasured(_) => "not_measured",
        }
    }
}

/// The papers with their claims.
///
/// # Errors
/// When a file of the register cannot be read; the error names file and line.
pub fn papers() -> Result<Vec<Paper>> {
    let read = |(name, text): &(&str, &str)| {
        toml::from_str(text).with_context(|| format!("claims/{name}"))
    };
    FILES.iter().map(read).collect()
}
