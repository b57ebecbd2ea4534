//! Looks up values and lines in the program's JSON output.

use serde_json::Value;

/// Reads values of a JSON object; a missing value fails with the object.
pub(crate) trait Object {
    /// The number at `key`.
    fn figure(&self, key: &str) -> f64;

    /// The whole number at `key`.
    fn count(&self, key: &str) -> u64;

    /// The numbers of a list in the evidence of a trial; unknown ones are left out.
    fn list(&self, key: &str) -> Vec<f64>;

    /// A metric of a trial, in the unit of the catalogue.
    fn metric(&self, name: &str) -> f64;
}

impl Object for Value {
    #[track_caller]
    fn figure(&self, key: &str) -> f64 {
        let figure = self[key].as_f64();
        figure.unwrap_or_else(|| panic!("no number {key} in {self}"))
    }

    #[track_caller]
    fn count(&self, key: &str) -> u64 {
        let count = self[key].as_u64();
        count.unwrap_or_else(|| panic!("no whole number {key} in {self}"))
    }

    #[track_caller]
    fn list(&self, key: &str) -> Vec<f64> {
        let list = self[key].as_str();
        let list = list.unwrap_or_else(|| panic!("no list {key} in {self}"));
        let known = list.split(' ').filter(|word| *word != "-");
        known.map(|word| word.parse().unwrap()).collect()
    }

    #[track_caller]
    fn metric(&self, name: &str) -> f64 {
        let metric = self["metrics"][name].as_f64();
        metric.unwrap_or_else(|| panic!("no metric {name} in {self}"))
    }
}

/// Factors of a cell with their levels, as `--set` writes them.
type Factors<'a> = &'a [(&'a str, &'a str)];

/// The lines of `report --json`, or the trials of a journal.
pub(crate) trait Lines {
    /// The lines that have a value at `key`.
    fn with(&self, key: &str) -> Vec<Value>;

    /// The first line with these factors.
    fn of(&self, factors: Factors<'_>) -> &Value;

    /// The first line with this metric and these factors.
    fn of_metric(&self, metric: &str, factors: Factors<'_>) -> &Value;
}

impl Lines for [Value] {
    fn with(&self, key: &str) -> Vec<Value> {
        let has = |line: &&Value| !line[key].is_null();
        self.iter().filter(has).cloned().collect()
    }

    #[track_caller]
    fn of(&self, factors: Factors<'_>) -> &Value {
        let line = self.iter().find(|line| is_of(line, factors));
        line.unwrap_or_else(|| panic!("no line of {factors:?} in {self:?}"))
    }

    #[track_caller]
    fn of_metric(&self, metric: &str, factors: Factors<'_>) -> &Value {
        let is = |line: &&Value| line["metric"] == metric && is_of(line, factors);
        let line = self.iter().find(is);
        line.unwrap_or_else(|| panic!("no line of {metric}, {factors:?} in {self:?}"))
    }
}

/// Whether a line has these levels, which are numbers or text.
fn is_of(line: &Value, factors: Factors<'_>) -> bool {
    let has = |(factor, level): &(&str, &str)| match &line["factors"][factor] {
        Value::String(word) => word == level,
        number => level.parse().is_ok_and(|level: Value| level == *number),
    };
    factors.iter().all(has)
}
