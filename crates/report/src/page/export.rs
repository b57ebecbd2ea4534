//! Tables as text for other programs: Markdown, LaTeX and CSV.

use serde::Serialize;

use crate::document::{Cell, Column, Table};
use crate::latex;

/// A table in the formats that a page offers.
#[derive(Serialize)]
pub(super) struct Export {
    markdown: String,
    latex: String,
    csv: String,
}

impl Export {
    pub(super) fn of(table: &Table) -> Self {
        Self {
            markdown: markdown(table),
            latex: tabular(table),
            csv: csv(table),
        }
    }
}

/// A table of GitHub Flavored Markdown [GFM s4.10].
fn markdown(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let escaped = |text: &String| {
        let text = text.replace('\\', "\\\\").replace('|', "\\|");
        text.replace('<', "&lt;")
    };
    let rule = table.columns.iter().map(|column| match column.is_right {
        true => "---:".to_owned(),
        false => "---".to_owned(),
    });
    let mut text = line(heads(table).iter().map(escaped).collect());
    text += &line(rule.collect());
    for row in rows(table) {
        text += &line(row.iter().map(escaped).collect());
    }
    text
}

/// A `tabular` environment with the rules of `booktabs`.
fn tabular(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
    let columns = table.columns.iter();
    let columns: String = columns
        .map(|column| if column.is_right { 'r' } else { 'l' })
        .collect();
    let mut text = format!("\\begin{{tabular}}{{{columns}}}\n\\toprule\n");
    text += &line(
        heads(table)
            .iter()
            .map(|text| latex::escaped(text))
            .collect(),
    );
    text += "\\midrule\n";
    for row in rows(table) {
        text += &line(row.iter().map(|text| latex::escaped(text)).collect());
    }
    text + "\\bottomrule\n\\end{tabular}\n"
}

/// Comma-separated values with a line of names [RFC4180 s2].
fn csv(table: &Table) -> String {
    let escaped = |text: &String| match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.clone(),
    };
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(escaped).collect();
        format!("{}\r\n", cells.join(","))
    };
    let rows = rows(table).map(|row| line(&row));
    std::iter::once(line(&heads(table))).chain(rows).collect()
}

fn heads(table: &Table) -> Vec<String> {
    let head = |column: &Column| match column.unit.as_str() {
        "" => one_line(&column.title),
        unit => one_line(&format!("{} ({unit})", column.title)),
    };
    table.columns.iter().map(head).collect()
}

fn rows(table: &Table) -> impl Iterator<Item = Vec<String>> {
    let rows = table.rows.iter();
    rows.map(|row| row.iter().map(|cell| one_line(&words(cell))).collect())
}

/// The text of a cell as the page shows it.
fn words(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) | Cell::Figure(text, _) => text.clone(),
        Cell::Remarks(remarks) => {
            let remark = remarks.iter().map(|remark| {
                let parts = [remark.words.as_str(), remark.detail.as_str()];
                let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
                parts.join(": ")
            });
            remark.collect::<Vec<_>>().join("; ")
        }
        Cell::Change {
            percent,
            interval,
            words,
            ..
        } => format!("{percent} {interval} {words}"),
    }
}

/// `text` without the spaces that align it, in one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Remark, Tone};

    fn table() -> Table {
        let remark = Remark {
            detail: "as \"paper\" | printed".into(),
            ..Remark::new(Tone::Good, "reproduced")
        };
        let measured = Column {
            unit: "Mbit/s".into(),
            ..Column::right("measured")
        };
        Table {
            columns: vec![Column::new("queue_size"), measured, Column::new("verdict")],
            rows: vec![
                vec![
                    Cell::Text("a, 50 %".into()),
                    Cell::figure("  949.0 ± 2 †"),
                    Cell::Remarks(vec![remark]),
                ],
                vec![
                    Cell::Text("<b>\\x\r\n".into()),
                    Cell::figure(""),
                    Cell::Remarks(Vec::new()),
                ],
            ],
            ..Table::default()
        }
    }

    #[test]
    fn a_table_in_markdown_escapes_bars_and_tags() {
        let expected = "\
| queue_size | measured (Mbit/s) | verdict |
| --- | ---: | --- |
| a, 50 % | 949.0 ± 2 † | reproduced: as \"paper\" \\| printed |
| &lt;b>\\\\x |  |  |
";
        assert_eq!(markdown(&table()), expected);
    }

    #[test]
    fn a_table_in_latex_escapes_its_special_characters() {
        let expected = "\
\\begin{tabular}{lrl}
\\toprule
queue\\_size & measured (Mbit/s) & verdict \\\\
\\midrule
a, 50 \\% & 949.0 $\\pm$ 2 $\\dagger$ & reproduced: as \"paper\" | printed \\\\
$<$b$>$\\textbackslash{}x &  &  \\\\
\\bottomrule
\\end{tabular}
";
        assert_eq!(tabular(&table()), expected);
    }

    #[test]
    fn a_table_in_csv_quotes_commas_and_quotes() {
        let expected = "\
queue_size,measured (Mbit/s),verdict\r
\"a, 50 %\",949.0 ± 2 †,\"reproduced: as \"\"paper\"\" | printed\"\r
<b>\\x,,\r
";
        assert_eq!(csv(&table()), expected);
    }
}
