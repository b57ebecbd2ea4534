//! Parses distributions such as `exponential:1ms`, `normal:512,64` and `file:seen.txt`,
//! for keys of files and options of the command line.

use std::fmt;

use units::{Bytes, Span};

use super::{Distribution, Seen};

/// The prefix of the path of a file of values, before a colon: they are drawn at random.
pub const FILE: &str = "file";

/// The prefix for values that are taken in their order.
const SERIES: &str = "series";

/// The quantity that a distribution describes, which determines the unit of its
/// parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// Times such as `1ms`; the distribution counts picoseconds.
    Gaps,
    /// Sizes such as `1500` or `2kB`; the distribution counts bytes.
    Sizes,
}

impl Measure {
    /// One unit of text (a millisecond, a byte) in the distribution's unit.
    pub const fn counted(self) -> f64 {
        match self {
            Self::Gaps => 1e9,
            Self::Sizes => 1.0,
        }
    }

    /// The unit of values without a unit: milliseconds, as common traffic
    /// generators use [D-ITG], or bytes.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Gaps => "1ms",
            Self::Sizes => "1B",
        }
    }
}

/// A distribution and its canonical spelling.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenDistribution {
    /// The distribution, validated by [`Distribution::check`].
    pub distribution: Distribution,
    text: String,
}

/// A parameter of a distribution.
#[derive(Clone, Copy, PartialEq)]
enum Parameter {
    /// A time or a size.
    Quantity,
    /// A number without a unit.
    Number,
    /// An optional time or size: the unit of a count.
    Unit,
}

/// A family of distributions.
struct Family {
    name: &'static str,
    parameters: &'static [Parameter],
    /// A description of the parameters, for error messages.
    takes: &'static str,
    /// Examples for gaps and for sizes.
    examples: [&'static str; 2],
    build: fn(&[f64]) -> Distribution,
}

use Parameter::{Number, Quantity, Unit};

const FAMILIES: &[Family] = &[
    Family {
        name: "constant",
        parameters: &[Quantity],
        takes: "one value",
        examples: ["constant:1ms", "constant:1000"],
        build: |at| Distribution::Constant(at[0]),
    },
    Family {
        name: "exponential",
        parameters: &[Quantity],
        takes: "a mean",
        examples: ["exponential:1ms", "exponential:500"],
        build: |at| Distribution::Exponential(at[0]),
    },
    Family {
        name: "uniform",
        parameters: &[Quantity, Quantity],
        takes: "the least and the most",
        examples: ["uniform:1ms,3ms", "uniform:40,1500"],
        build: |at| Distribution::Uniform(at[0], at[1]),
    },
    Family {
        name: "normal",
        parameters: &[Quantity, Quantity],
        takes: "a mean and a standard deviation",
        examples: ["normal:1ms,100us", "normal:512,64"],
        build: |at| Distribution::Normal(at[0], at[1]),
    },
    Family {
        name: "poisson",
        parameters: &[Quantity, Unit],
        takes: "a mean, and perhaps the unit that is counted",
        examples: ["poisson:20ms,1ms", "poisson:500"],
        build: |at| Distribution::Poisson(at[0], at[1]),
    },
    Family {
        name: "pareto",
        parameters: &[Number, Quantity],
        takes: "a shape and a scale",
        examples: ["pareto:1.5,1ms", "pareto:1.5,40"],
        build: |at| Distribution::Pareto(at[0], at[1]),
    },
    Family {
        name: "cauchy",
        parameters: &[Quantity, Quantity],
        takes: "a median and a scale",
        examples: ["cauchy:1ms,100us", "cauchy:500,50"],
        build: |at| Distribution::Cauchy(at[0], at[1]),
    },
    Family {
        name: "gamma",
        parameters: &[Number, Quantity],
        takes: "a shape and a scale",
        examples: ["gamma:2,500us", "gamma:2,250"],
        build: |at| Distribution::Gamma(at[0], at[1]),
    },
    Family {
        name: "weibull",
        parameters: &[Number, Quantity],
        takes: "a shape and a scale",
        examples: ["weibull:0.8,1ms", "weibull:0.8,500"],
        build: |at| Distribution::Weibull(at[0], at[1]),
    },
];

impl WrittenDistribution {
    /// The distribution in `text`: a family with its parameters, one quantity alone for
    /// a constant, or `file:PATH` or `series:PATH`. `seen` reads the values of a file, and gives the
    /// path with which the distribution is written.
    ///
    /// # Errors
    /// One line that says what would be right.
    pub fn parse(
        text: &str,
        measure: Measure,
        seen: impl FnOnce(&str) -> Result<(String, Seen), String>,
    ) -> Result<Self, String> {
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name.trim(), rest.trim()),
            None => ("constant", text.trim()),
        };
        let of_values = match name {
            FILE => Some(Distribution::Empirical as fn(Seen) -> Distribution),
            SERIES => Some(Distribution::Series as fn(Seen) -> Distribution),
            _ => None,
        };
        if let Some(of_values) = of_values {
            let (path, seen) = seen(rest)?;
            let (distribution, text) = (of_values(seen), format!("{name}:{path}"));
            return Ok(Self { distribution, text });
        }
        let family = FAMILIES.iter().find(|family| family.name == name);
        let family = family.ok_or_else(|| {
            let names: Vec<&str> = FAMILIES.iter().map(|family| family.name).collect();
            let names = names.join("\", \"");
            format!("there is no such distribution; write \"{names}\", \"{FILE}\" or \"{SERIES}\", then a colon and what belongs to it")
        })?;
        family.read(rest, measure)
    }
}

/// Whether `text` names a file of values.
pub fn is_file(text: &str) -> bool {
    matches!(text.split_once(':'), Some((name, _)) if [FILE, SERIES].contains(&name.trim()))
}

impl fmt::Display for WrittenDistribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Family {
    fn read(&self, text: &str, measure: Measure) -> Result<WrittenDistribution, String> {
        let name = self.name;
        let words: Vec<&str> = text.split(',').map(str::trim).collect();
        let needed = self.parameters.iter().filter(|one| **one != Unit).count();
        if !(needed..=self.parameters.len()).contains(&words.len()) {
            return Err(self.wrong(measure));
        }
        let (mut values, mut written) = (Vec::new(), Vec::new());
        for (position, parameter) in self.parameters.iter().enumerate() {
            let word = words.get(position).copied();
            let (value, text) = match parameter {
                Number => number(word.unwrap_or_default()),
                Quantity | Unit => quantity(word.unwrap_or_else(|| measure.unit()), measure),
            }
            .map_err(|why| match words.len() {
                // A single quantity has a more specific error message.
                1 => why,
                _ => self.wrong(measure),
            })?;
            values.push(value);
            written.push(text);
        }
        let distribution = (self.build)(&values);
        distribution
            .check()
            .map_err(|bad| format!("{name} {bad}"))?;
        let text = format!("{name}:{}", written.join(","));
        Ok(WrittenDistribution { distribution, text })
    }

    fn wrong(&self, measure: Measure) -> String {
        let Self { name, takes, .. } = self;
        let [gaps, sizes] = self.examples;
        let example = match measure {
            Measure::Gaps => gaps,
            Measure::Sizes => sizes,
        };
        format!("{name} takes {takes}; write for instance \"{example}\"")
    }
}

fn number(word: &str) -> Result<(f64, String), String> {
    let number: Result<f64, _> = word.parse();
    let number = number.map_err(|_| "write a number".to_owned())?;
    Ok((number, number.to_string()))
}

/// A time or a size, as a number in the distribution's unit and as text.
pub(super) fn quantity(word: &str, measure: Measure) -> Result<(f64, String), String> {
    let why = |error: units::BadText| error.to_string();
    match measure {
        Measure::Gaps => {
            let span: Span = word.parse().map_err(why)?;
            let text = match span == Span::ZERO {
                true => "0s".to_owned(),
                false => span.to_string(),
            };
            Ok((span.as_picos() as f64, text))
        }
        Measure::Sizes => {
            let size: Bytes = word.parse().map_err(why)?;
            Ok((size.get() as f64, size.to_string()))
        }
    }
}

#[cfg(test)]
mod tests;
