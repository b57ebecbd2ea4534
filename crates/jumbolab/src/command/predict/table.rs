//! Reads trials from a table.

use std::path::Path;

use analysis::costs::{Point, QUANTITIES, Quantity, Series};
use anyhow::{Result, bail, ensure};
use model::Stack;
use plan::metric::Metric;
use plan::{Factors, Level};
use results::csv_rows::CsvRows;
use units::Bytes;

/// Columns that are neither figures nor factors: those that `report --csv` prints beside
/// them.
const OTHERS: [&str; 7] = [
    "id", "repeat", "start", "seconds", "failure", "flags", "evidence",
];

/// The size of a transfer where no column says it.
const SIZE: f64 = 1e9;

/// The series of a table: rows whose other columns are equal. Columns are called as
/// `report --csv` calls them.
///
/// # Errors
/// One line with the file, the line, the column, and what would be right.
pub(super) fn read(path: &Path, stack: &Stack) -> Result<Vec<Series>> {
    of(&CsvRows::read(path)?, &path.display().to_string(), stack)
}

fn of(table: &CsvRows, name: &str, stack: &Stack) -> Result<Vec<Series>> {
    let quantities: Vec<(usize, Quantity)> = QUANTITIES
        .into_iter()
        .filter_map(|quantity| Some((table.column(quantity.name)?, quantity)))
        .collect();
    let Some(mtu) = table.column("mtu") else {
        bail!(
            "{name}:1: has no column mtu; its first line names the columns, for instance mtu,throughput"
        );
    };
    ensure!(
        table.column(QUANTITIES[0].name).is_some(),
        "{name}:1: has no column throughput (Mbit/s); its first line names the columns, for instance mtu,throughput"
    );
    let [segment, size, failure] = ["segment_size", "size", "failure"].map(|own| table.column(own));
    let factor = |column: &(usize, &String)| {
        let (place, column) = (column.0, column.1.as_str());
        let known = [Some(mtu), segment, size].contains(&Some(place));
        let figure = Quantity::named(column).is_some() || Metric::named(column).is_some();
        !known && !figure && !OTHERS.contains(&column) && !column.is_empty()
    };
    let factors: Vec<(usize, &String)> = table.columns.iter().enumerate().filter(factor).collect();
    let mut found: Vec<Series> = Vec::new();
    for (line, row) in &table.rows {
        if failure.is_some_and(|place| !row[place].is_empty()) {
            continue;
        }
        let number = |place: usize, what: &str| -> Result<f64> {
            let number = row[place].parse::<f64>().ok();
            let number = number.filter(|number| *number > 0.0 && *number <= 1e18);
            number.ok_or_else(|| {
                anyhow::anyhow!(
                    "{name}:{line}: {}: `{}` is no {what} above 0",
                    table.columns[place],
                    row[place]
                )
            })
        };
        let bytes: Bytes = row[mtu]
            .parse()
            .map_err(|why| anyhow::anyhow!("{name}:{line}: mtu: {why}"))?;
        let computed = || -> Result<f64> {
            let sizes = stack.largest(bytes);
            let sizes = sizes
                .map_err(|why| anyhow::anyhow!("{name}:{line}: mtu: {} {why}", bytes.get()))?;
            Ok(sizes.carried().get() as f64)
        };
        let segment = match segment {
            Some(place) => number(place, "number of bytes")?,
            None => computed()?,
        };
        let size = match size {
            Some(place) => {
                let size: Bytes = row[place]
                    .parse()
                    .map_err(|why| anyhow::anyhow!("{name}:{line}: size: {why}"))?;
                size.get().max(1) as f64
            }
            None => SIZE,
        };
        let mut values = Vec::new();
        for (place, quantity) in quantities
            .iter()
            .filter(|(place, _)| !row[*place].is_empty())
        {
            values.push((*quantity, number(*place, "figure")?, size));
        }
        let own = factors
            .iter()
            .map(|(place, column)| ((*column).clone(), Level::Text(row[*place].clone())));
        let own = Factors(own.collect());
        let point = Point {
            mtu: bytes.get(),
            segment,
            segments: 1,
            values,
        };
        match found.iter_mut().find(|series| series.factors == own) {
            Some(series) => series.points.push(point),
            None => found.push(Series {
                factors: own,
                points: vec![point],
                ..Series::default()
            }),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn series(text: &str) -> Result<Vec<Series>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        fs::write(&path, text).unwrap();
        let stack = "eth,ipv6,tcp+ts".parse().unwrap();
        of(&CsvRows::read(&path).unwrap(), "t.csv", &stack)
    }

    #[test]
    fn rows_with_other_factors_are_other_series() {
        let text = "scenario,mtu,throughput,cpu_total,delay,failure,repeat\nLU,1500,750.94,3,1,,1\nWS,1500,662.37,,1,,1\nLU,9000,938.88,2,1,,2\nLU,9000,1,2,1,timed out,3\n";
        let found = series(text).unwrap();
        let labels: Vec<String> = found.iter().map(|one| one.factors.to_string()).collect();
        assert_eq!(labels, ["scenario=LU", "scenario=WS"]);
        assert_eq!(found[0].points.len(), 2);
        assert_eq!(found[0].points[1].segment, 8928.0);
        assert_eq!(found[0].points[0].values.len(), 2);
        assert_eq!(found[1].points[0].values.len(), 1);
    }

    #[test]
    fn what_is_no_trial_is_rejected_with_its_line() {
        for (text, words) in [
            ("throughput\n1\n", "t.csv:1: has no column mtu"),
            ("mtu\n1500\n", "t.csv:1: has no column throughput"),
            (
                "mtu,throughput\n1500,fast\n",
                "t.csv:2: throughput: `fast` is no figure above 0",
            ),
            (
                "mtu,throughput\n1500,-1\n",
                "t.csv:2: throughput: `-1` is no figure above 0",
            ),
            ("mtu,throughput\n1500,inf\n", "t.csv:2: throughput: `inf`"),
            ("mtu,throughput\n1200,9\n", "t.csv:2: mtu: 1200 leaves"),
            ("mtu,throughput\nx,9\n", "t.csv:2: mtu: "),
            ("mtu,throughput,size\n1500,9,x\n", "t.csv:2: size: "),
        ] {
            let error = series(text).unwrap_err().to_string();
            assert!(error.starts_with(words), "{text}: {error}");
        }
    }

    #[test]
    fn segments_and_sizes_of_their_own_count() {
        let found = series("mtu,segment_size,size,throughput\n1500,536,5MB,100\n").unwrap();
        let point = &found[0].points[0];
        assert_eq!((point.segment, point.values[0].2), (536.0, 5e6));
    }
}
