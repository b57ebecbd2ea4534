//! The condition that ends a run before its last repeat.

use std::fmt;
use std::str::FromStr;

use crate::metric::Metric;

/// `"ci <= X%"` or `"METRIC ci <= X%"`: stop when in every cell the 95 %
/// interval of the mean extends at most X per cent of the mean to each side.
/// Without a metric, the condition applies to all measured metrics with tables
/// of their own.
///
/// Repeated checks find narrow intervals slightly too early: the intervals of a
/// run that stopped this way contain the true value in slightly fewer than 95
/// of 100 runs. The deviation shrinks with the number of trials [Chow1965].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Until {
    /// The metric to check; `None`: all metrics with tables of their own.
    pub metric: Option<&'static Metric>,
    /// The required half-width of the interval, in per cent of the mean.
    pub percent: f64,
}

impl FromStr for Until {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let right = || "write until = \"ci <= 2%\" or \"throughput ci <= 0.5%\"".to_owned();
        let (left, percent) = text.split_once("<=").ok_or_else(right)?;
        let percent = percent.trim().strip_suffix('%').ok_or_else(right)?;
        let percent: f64 = percent.trim().parse().map_err(|_| right())?;
        if !(percent > 0.0 && percent <= 100.0) {
            return Err("write a percentage above 0 % and at most 100 %".into());
        }
        let metric = match left.split_whitespace().collect::<Vec<_>>()[..] {
            ["ci"] => None,
            [name, "ci"] => {
                let known = || {
                    format!("unknown metric `{name}`; docs/reference/metrics.md lists all metrics")
                };
                Some(Metric::named(name).ok_or_else(known)?)
            }
            _ => return Err(right()),
        };
        Ok(Self { metric, percent })
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(metric) = self.metric {
            write!(f, "{} ", metric.name)?;
        }
        write!(f, "ci <= {}%", self.percent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        for text in ["ci <= 2%", "throughput ci <= 0.5%"] {
            assert_eq!(text.parse::<Until>().unwrap().to_string(), text);
        }
        assert_eq!("ci<=2 %".parse::<Until>(), "ci <= 2%".parse());
        for wrong in [
            "",
            "ci < 2%",
            "ci <= 2",
            "ci <= 0%",
            "ci <= -1%",
            "ci <= nan%",
            "speed ci <= 2%",
            "a b ci <= 2%",
        ] {
            assert!(wrong.parse::<Until>().is_err(), "{wrong}");
        }
    }
}
