//! Reads trials of a journal: a million of them has few factors and few lists of names.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Result;
use serde_json::value::RawValue;

use super::{Metrics, Names};
use crate::trial::first;
use crate::{DisturbedPass, Evidence, Factors, OptionalVec, Trial};

/// The most lists of names that are remembered.
const MOST_NAMES: usize = 64;

/// The most cells of which the factors are remembered.
const MOST_FACTORS: usize = 4096;

/// Reads the lines of a journal. Trials share the factors and names of those before them.
/// The values of evidence are the text of the line, and are not checked.
#[derive(Debug, Default)]
pub struct TrialReader {
    /// Factors by their text.
    factors: BTreeMap<Box<str>, Arc<Factors>>,
    names: Vec<Names>,
}

/// A line, of which the large parts are text.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    factors: &'a RawValue,
    repeat: u32,
    #[serde(default = "first")]
    attempt: u32,
    #[serde(default)]
    start: Option<Box<str>>,
    seconds: f64,
    #[serde(default)]
    failure: Option<Box<str>>,
    #[serde(default)]
    flags: OptionalVec<String>,
    #[serde(default)]
    disturbed: OptionalVec<DisturbedPass>,
    #[serde(borrow)]
    metrics: Pairs<'a, f64>,
    #[serde(borrow)]
    evidence: Pairs<'a, &'a RawValue>,
}

#[derive(Deserialize)]
struct EvidenceOfLine<'a> {
    #[serde(borrow)]
    evidence: Pairs<'a, &'a RawValue>,
}

impl TrialReader {
    /// The trial of a line.
    ///
    /// # Errors
    /// The line is no trial.
    pub fn read(&mut self, line: &[u8]) -> Result<Trial> {
        let line: Line<'_> = serde_json::from_slice(line)?;
        let metrics = line.metrics.sorted();
        Ok(Trial {
            id: (&*line.id).into(),
            factors: self.factors(line.factors)?,
            repeat: line.repeat,
            attempt: line.attempt,
            start: line.start,
            seconds: line.seconds,
            failure: line.failure,
            flags: line.flags,
            disturbed: line.disturbed,
            metrics: Metrics {
                names: self.names(&metrics),
                values: metrics.into_iter().map(|(_, value)| value).collect(),
            },
            evidence: self.evidence(line.evidence),
        })
    }

    /// The evidence of a line.
    ///
    /// # Errors
    /// The line has none.
    pub fn read_evidence(&mut self, line: &[u8]) -> Result<Evidence> {
        let line: EvidenceOfLine<'_> = serde_json::from_slice(line)?;
        Ok(self.evidence(line.evidence))
    }

    fn evidence(&mut self, pairs: Pairs<'_, &RawValue>) -> Evidence {
        let pairs = pairs.sorted();
        let texts = pairs.iter().map(|(_, value)| value.get());
        Evidence::of_texts(self.names(&pairs), texts)
    }

    fn factors(&mut self, text: &RawValue) -> Result<Arc<Factors>> {
        if let Some(known) = self.factors.get(text.get()) {
            return Ok(Arc::clone(known));
        }
        let factors: Arc<Factors> = Arc::new(serde_json::from_str(text.get())?);
        if self.factors.len() < MOST_FACTORS {
            self.factors.insert(text.get().into(), Arc::clone(&factors));
        }
        Ok(factors)
    }

    fn names<T>(&mut self, pairs: &[(Cow<'_, str>, T)]) -> Names {
        let wanted = || pairs.iter().map(|(name, _)| &**name);
        let same = |names: &&Names| names.iter().map(|name| &**name).eq(wanted());
        if let Some(known) = self.names.iter().find(same) {
            return known.clone();
        }
        let names: Names = wanted().map(Box::from).collect();
        self.names.truncate(MOST_NAMES - 1);
        self.names.push(names.clone());
        names
    }
}

/// The names and values of an object, in its order.
struct Pairs<'a, T>(Vec<(Cow<'a, str>, T)>);

impl<'a, T> Pairs<'a, T> {
    /// The pairs by name. Of equal names the last one counts.
    fn sorted(self) -> Vec<(Cow<'a, str>, T)> {
        match self.0.is_sorted_by(|(one, _), (next, _)| one < next) {
            true => self.0,
            false => BTreeMap::from_iter(self.0).into_iter().collect(),
        }
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for Pairs<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Vec<(Cow<'de, str>, T)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Self::Value, A::Error> {
                let mut pairs = Vec::with_capacity(16);
                while let Some((Name(name), value)) = map.next_entry()? {
                    pairs.push((name, value));
                }
                Ok(pairs)
            }
        }
        let pairs = deserializer.deserialize_map(Entries(PhantomData))?;
        Ok(Self(pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{CONGESTION, EXPECTED};
    use crate::synthetic::{factors, trial};
    use proptest::prelude::*;
    use serde_json::json;

    fn example(repeat: u32) -> Trial {
        let mut trial = trial(
            factors(9000),
            repeat,
            &[("throughput", 938.88), ("rtt", 1e-7)],
        );
        trial
            .evidence
            .insert(CONGESTION, "cubic \"\n\u{1F980}".to_owned());
        trial
            .evidence
            .insert(EXPECTED, json!([[1, 2.5], { "a": null }]));
        trial
    }

    fn read(text: &str) -> Trial {
        TrialReader::default().read(text.as_bytes()).unwrap()
    }

    proptest! {
        #[test]
        fn a_line_is_the_trial_that_it_was_made_of(
            (attempt, repeat) in (1..3_u32, any::<u32>()),
            start in prop::option::of(".{0,12}"),
            failure in prop::option::of(".{0,12}"),
            flags in prop::collection::vec(".{0,6}", 0..3),
            values in prop::collection::btree_map(".{0,6}", -1e18..1e18, 0..5),
        ) {
            let mut trial = example(repeat);
            trial.attempt = attempt;
            trial.start = start.map(String::into_boxed_str);
            trial.failure = failure.map(String::into_boxed_str);
            trial.disturbed = flags.iter().map(DisturbedPass::of_trial).collect();
            trial.flags = flags.into();
            trial.metrics = values.into_iter().collect();
            let line = serde_json::to_string(&trial).unwrap();
            prop_assert_eq!(&read(&line), &trial);
            prop_assert_eq!(serde_json::to_string(&read(&line)).unwrap(), line);
        }
    }

    #[test]
    fn names_in_any_order_are_sorted_and_the_last_of_equal_ones_counts() {
        let line = r#"{"id":"c00-r01","factors":{"mtu":1500},"repeat":1,"seconds":0.5,
            "metrics":{"rtt":1,"delay":2,"rtt":3},"evidence":{"b":1,"a":[ 2 ],"b":3}}"#;
        let slow: Trial = serde_json::from_str(line).unwrap();
        let fast = read(line);
        assert_eq!(fast.metrics, slow.metrics);
        let values: Vec<_> = fast.evidence.iter().collect();
        assert_eq!(values, slow.evidence.iter().collect::<Vec<_>>());
    }

    #[test]
    fn trials_share_factors_and_names() {
        let mut reader = TrialReader::default();
        let lines = [1, 2].map(|repeat| serde_json::to_string(&example(repeat)).unwrap());
        let [one, two] = lines.map(|line| reader.read(line.as_bytes()).unwrap());
        assert!(Arc::ptr_eq(&one.factors, &two.factors));
        assert!(Arc::ptr_eq(&one.metrics.names.0, &two.metrics.names.0));
        assert_eq!(reader.names.len(), 2);
    }

    #[test]
    fn what_is_no_trial_is_an_error() {
        let line = serde_json::to_string(&example(1)).unwrap();
        for wrong in [
            line.replace("\"repeat\":1,", ""),
            line.replace("{\"mtu\":9000}", "9000"),
            line.replace("938.88", "\"938.88\""),
            line.replace("938.88", "1e400"),
            line[..line.len() - 1].to_owned(),
        ] {
            assert!(
                TrialReader::default().read(wrong.as_bytes()).is_err(),
                "{wrong}"
            );
            assert!(serde_json::from_str::<Trial>(&wrong).is_err(), "{wrong}");
        }
    }
}
