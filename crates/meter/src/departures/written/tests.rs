use proptest::prelude::*;

use super::*;

fn distribution(text: &str, measure: Measure) -> Result<WrittenDistribution, String> {
    WrittenDistribution::parse(text, measure, |path| Err(format!("no {path}")))
}

fn gaps(text: &str) -> Result<WrittenDistribution, String> {
    distribution(text, Measure::Gaps)
}

fn sizes(text: &str) -> Result<WrittenDistribution, String> {
    distribution(text, Measure::Sizes)
}

#[test]
fn every_family_is_read_and_shown_with_its_units() {
    for (text, distribution, shown) in [
        ("20ms", Distribution::Constant(2e10), "constant:20ms"),
        ("constant:0s", Distribution::Constant(0.0), "constant:0s"),
        (
            "exponential: 1ms",
            Distribution::Exponential(1e9),
            "exponential:1ms",
        ),
        (
            "uniform:1us, 2us",
            Distribution::Uniform(1e6, 2e6),
            "uniform:1us,2us",
        ),
        (
            "normal:5ms,1ms",
            Distribution::Normal(5e9, 1e9),
            "normal:5ms,1ms",
        ),
        (
            "poisson:20ms",
            Distribution::Poisson(2e10, 1e9),
            "poisson:20ms,1ms",
        ),
        (
            "poisson:1ms,10us",
            Distribution::Poisson(1e9, 1e7),
            "poisson:1ms,10us",
        ),
        (
            "pareto:1.5,1ms",
            Distribution::Pareto(1.5, 1e9),
            "pareto:1.5,1ms",
        ),
        (
            "cauchy:1ms,1us",
            Distribution::Cauchy(1e9, 1e6),
            "cauchy:1ms,1us",
        ),
        ("gamma:2,1ms", Distribution::Gamma(2.0, 1e9), "gamma:2,1ms"),
        (
            "weibull:.8,1ms",
            Distribution::Weibull(0.8, 1e9),
            "weibull:0.8,1ms",
        ),
    ] {
        let written = gaps(text).unwrap();
        assert_eq!(
            (&written.distribution, written.to_string().as_str()),
            (&distribution, shown)
        );
        assert_eq!(gaps(shown).unwrap(), written);
    }
    let written = sizes("gamma:2,1kB").unwrap();
    assert_eq!(written.distribution, Distribution::Gamma(2.0, 1000.0));
    assert_eq!(sizes(&written.to_string()).unwrap(), written);
    assert_eq!(
        sizes("poisson:3").unwrap().distribution,
        Distribution::Poisson(3.0, 1.0)
    );
}

#[test]
fn every_example_of_a_message_is_right() {
    for family in FAMILIES {
        for (measure, example) in [Measure::Gaps, Measure::Sizes]
            .into_iter()
            .zip(family.examples)
        {
            assert!(distribution(example, measure).is_ok(), "{example}");
            assert!(family.wrong(measure).contains(example));
        }
    }
}

#[test]
fn what_is_no_distribution_is_rejected_in_one_line() {
    for (text, line) in [
        (
            "parato:1,1ms",
            "there is no such distribution; write \"constant\", \"exponential\", \"uniform\", \"normal\", \"poisson\", \"pareto\", \"cauchy\", \"gamma\", \"weibull\", \"file\" or \"series\", then a colon and what belongs to it",
        ),
        (
            "pareto:1.5",
            "pareto takes a shape and a scale; write for instance \"pareto:1.5,1ms\"",
        ),
        (
            "weibull:a,1ms",
            "weibull takes a shape and a scale; write for instance \"weibull:0.8,1ms\"",
        ),
        (
            "weibull:0,1ms",
            "weibull must have a shape from 0.05 to 1000; write another one",
        ),
        (
            "pareto:inf,1ms",
            "pareto must be numbers of 0 or more, at least one; write the smaller of two first",
        ),
        (
            "gamma:2,0s",
            "gamma must have a scale above 0; write another one",
        ),
        (
            "poisson:1s,1ps",
            "poisson must have a mean above 0 and at most 1000000000 units; make the unit larger",
        ),
        ("file:/nowhere", "no /nowhere"),
    ] {
        assert_eq!(gaps(text).unwrap_err(), line, "{text}");
    }
    assert!(gaps("exponential:1m").unwrap_err().contains("minutes"));
}

proptest! {
    #[test]
    fn any_text_is_read_or_rejected_in_one_line(text in ".{0,40}", sizes: bool) {
        prop_assume!(!text.contains("file"));
        let measure = if sizes { Measure::Sizes } else { Measure::Gaps };
        match distribution(&text, measure) {
            Ok(written) => prop_assert_eq!(distribution(&written.to_string(), measure), Ok(written)),
            Err(why) => prop_assert!(!why.contains('\n')),
        }
    }
}
