//! Tables of columns, written as Parquet or CSV.

#[cfg(feature = "parquet")]
#[path = "table/parquet.rs"]
mod form;
#[cfg(not(feature = "parquet"))]
#[path = "table/no_parquet.rs"]
mod form;

use std::io::Write;

use anyhow::{Result, ensure};

pub(crate) use form::{HAS_PARQUET, write_groups, write_parts};
pub use form::{write_table, write_table_in};

/// One column: a name, and a value for each row that has one.
pub struct Column {
    /// The column's name, the header of the CSV.
    pub name: String,
    /// The values by row.
    pub values: Values,
}

/// The values of a column; `None` for rows without a value.
pub enum Values {
    Text(Vec<Option<String>>),
    /// Whole numbers.
    Integer(Vec<Option<i64>>),
    /// Floating-point numbers.
    Real(Vec<Option<f64>>),
    /// Whether something is so.
    Boolean(Vec<Option<bool>>),
}

/// The rows of one column that are made at once: memory for these is enough.
pub(crate) const PART: usize = 8192;

/// Rejects in a program that was built without Parquet.
///
/// # Errors
/// That is so, in one line of text.
pub fn require_parquet() -> Result<()> {
    ensure!(
        HAS_PARQUET,
        "this program was built without the feature `parquet`, and writes no Parquet files"
    );
    Ok(())
}

/// Writes a table of `rows` rows as CSV, with a header line.
pub fn csv_table(columns: &[Column], rows: usize, output: &mut impl Write) -> Result<()> {
    csv_header(columns, output)?;
    csv_rows(columns, rows, output)
}

/// Writes the names of columns as CSV.
pub(crate) fn csv_header(columns: &[Column], output: &mut impl Write) -> Result<()> {
    let names: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
    Ok(writeln!(output, "{}", names.join(","))?)
}

/// Writes `rows` rows as CSV, without a header line.
pub(crate) fn csv_rows(columns: &[Column], rows: usize, output: &mut impl Write) -> Result<()> {
    for row in 0..rows {
        let cells: Vec<String> = columns.iter().map(|column| column.cell(row)).collect();
        writeln!(output, "{}", cells.join(","))?;
    }
    Ok(())
}

impl Column {
    /// One value as CSV; a missing value is empty.
    fn cell(&self, row: usize) -> String {
        match &self.values {
            Values::Text(values) => values[row].as_deref().map(quoted),
            Values::Integer(values) => values[row].map(|value| value.to_string()),
            Values::Real(values) => values[row].map(|value| value.to_string()),
            Values::Boolean(values) => values[row].map(|value| value.to_string()),
        }
        .unwrap_or_default()
    }
}

/// The first letters of what spreadsheets take for a formula and run.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Quotes a text as a CSV field. One that a spreadsheet would run has a `'` in front.
fn quoted(text: &str) -> String {
    let text = match text.starts_with(FORMULA) {
        true => &format!("'{text}"),
        false => text,
    };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_spreadsheets_would_run_are_texts() {
        let column = |name: &str, values| Column {
            name: name.into(),
            values,
        };
        let text = |text: &str| Some(text.to_owned());
        let cells = [
            "=HYPERLINK(\"x\",1)",
            "@SUM(1)",
            "+1",
            "-a",
            "\t=1",
            "a=1",
            "'",
        ];
        let columns = [
            column("=name", Values::Text(cells.map(text).to_vec())),
            column("n", Values::Integer(vec![Some(-1); 7])),
            column("r", Values::Real(vec![Some(-0.5); 7])),
        ];
        let mut table = Vec::new();
        csv_table(&columns, 7, &mut table).unwrap();
        let rows = [
            "'=name,n,r",
            "\"'=HYPERLINK(\"\"x\"\",1)\",-1,-0.5",
            "'@SUM(1),-1,-0.5",
            "'+1,-1,-0.5",
            "'-a,-1,-0.5",
            "'\t=1,-1,-0.5",
            "a=1,-1,-0.5",
            "',-1,-0.5",
        ];
        assert_eq!(String::from_utf8(table).unwrap(), rows.join("\n") + "\n");
    }
}
