//! Rows of a CSV file whose first line names the columns.

use std::path::Path;

use anyhow::{Context as _, Result, anyhow, ensure};

/// The most bytes of a file, rows and columns.
const LARGEST_FILE: u64 = 16 << 20;
const MOST_ROWS: usize = 100_000;
const MOST_COLUMNS: usize = 1_000;

/// A CSV file.
#[derive(Clone, Debug, Default)]
pub struct CsvRows {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows with the numbers of their lines; each has a field for each column.
    pub rows: Vec<(u64, Vec<String>)>,
}

impl CsvRows {
    /// Reads a file as [RFC4180] describes them; lines that begin with `#` are remarks.
    ///
    /// # Errors
    /// One line with the file, the line and what is wrong there.
    pub fn read(path: &Path) -> Result<Self> {
        let text = files::read_text(path, LARGEST_FILE)
            .with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).map_err(|why| anyhow!("{}:{why}", path.display()))
    }

    fn parse(text: &str) -> Result<Self> {
        let mut reader = csv::ReaderBuilder::new()
            .comment(Some(b'#'))
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes());
        let columns = reader.headers().map_err(|why| anyhow!("1: {why}"))?;
        let columns: Vec<String> = columns.iter().map(str::to_owned).collect();
        ensure!(
            columns.iter().any(|name| !name.is_empty()),
            "1: has no column; write the names in its first line, for instance mtu,throughput"
        );
        ensure!(
            columns.len() <= MOST_COLUMNS,
            "1: at most {MOST_COLUMNS} columns; remove some"
        );
        let again = |(at, name): (usize, &String)| columns[..at].contains(name);
        if let Some((_, name)) = columns.iter().enumerate().find(|one| again(*one)) {
            return Err(anyhow!("1: two columns are called {name}; rename one"));
        }
        let mut rows = Vec::new();
        for record in reader.into_records() {
            let record = record.map_err(|why| match why.kind() {
                csv::ErrorKind::UnequalLengths { pos, len, .. } => anyhow!(
                    "{}: has {len} fields and not {}; write as many as its first line",
                    pos.as_ref().map_or(0, |begin| line_of(text, begin)),
                    columns.len()
                ),
                _ => anyhow!("{why}"),
            })?;
            let line = line_of(text, record.position().context("a record has a place")?);
            ensure!(
                rows.len() < MOST_ROWS,
                "{line}: write at most {MOST_ROWS} rows"
            );
            rows.push((line, record.iter().map(str::to_owned).collect()));
        }
        ensure!(
            !rows.is_empty(),
            "1: has no rows below the names of its columns; add some"
        );
        Ok(Self { columns, rows })
    }

    /// The place of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|own| own == name)
    }
}

/// The line of a record. The reader states where it began to look for it, before remarks
/// and empty lines.
fn line_of(text: &str, begin: &csv::Position) -> u64 {
    let begun = usize::try_from(begin.byte()).ok();
    let rest = begun
        .and_then(|begun| text.get(begun..))
        .unwrap_or_default();
    let skipped = |line: &&str| line.is_empty() || line.starts_with('#');
    (begin.line()..)
        .zip(rest.lines())
        .find(|(_, line)| !skipped(line))
        .map_or_else(|| begin.line(), |(line, _)| line)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rows_have_their_lines_and_remarks_are_skipped() {
        let text =
            "# printed\nmtu, throughput,scenario\n1500,750.94,\"a, b\"\n\n# x\n4000,895.53,c\n";
        let found = CsvRows::parse(text).unwrap();
        assert_eq!(found.columns, ["mtu", "throughput", "scenario"]);
        assert_eq!(found.column("throughput"), Some(1));
        assert_eq!(
            found.rows[0],
            (3, vec!["1500".into(), "750.94".into(), "a, b".into()])
        );
        assert_eq!(found.rows[1].0, 6);
    }

    #[test]
    fn files_without_a_table_are_rejected_with_the_line() {
        for (text, words) in [
            ("", "1: has no column"),
            ("mtu,throughput\n", "1: has no rows"),
            ("mtu,mtu\n1,2\n", "1: two columns are called mtu"),
            (
                "# x\nmtu,throughput\n# y\n1500\n",
                "4: has 1 fields and not 2",
            ),
        ] {
            let error = CsvRows::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(words), "{text}: {error}");
        }
        let wide = "x".to_owned() + &",x".repeat(2_000);
        assert!(CsvRows::parse(&wide).is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_rejected(text in "(?s).{0,200}") {
            if let Ok(found) = CsvRows::parse(&text) {
                prop_assert!(found.rows.iter().all(|(_, row)| row.len() == found.columns.len()));
            }
        }

        #[test]
        fn fields_are_read_as_they_were_quoted(fields in prop::collection::vec("[a-z,\"]{1,8}", 1..6)) {
            let quoted: Vec<String> = fields.iter().map(|one| format!("\"{}\"", one.replace('"', "\"\""))).collect();
            let names: Vec<String> = (0..fields.len()).map(|at| format!("c{at}")).collect();
            let found = CsvRows::parse(&format!("{}\n{}\n", names.join(","), quoted.join(","))).unwrap();
            prop_assert_eq!(&found.rows[0].1, &fields);
        }
    }
}
