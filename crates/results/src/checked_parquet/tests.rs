use std::io::Write as _;

use proptest::prelude::*;

use super::*;
use crate::table::{Column as Written, Values, write_columns};

const NAMES: [(&str, Kind); 3] = [
    ("number", Kind::Integer),
    ("real", Kind::Real),
    ("text", Kind::Text),
];

type Row = (Option<i64>, Option<f64>, Option<String>);

fn table_of(bytes: &[u8]) -> Result<Option<Table>> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    Table::open(file, &NAMES)
}

fn rows_of(table: &mut Table) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    while table.next_row() {
        let (number, real) = (table.integer(0)?, table.real(1)?);
        rows.push((number, real, table.text(2, 100)?.map(str::to_owned)));
    }
    Ok(rows)
}

/// The same rows as the crate `parquet` writes them.
fn written(rows: &[Row]) -> Vec<u8> {
    let column = |name: &str, values| Written {
        name: name.into(),
        values,
    };
    let columns = [
        column("real", Values::Real(rows.iter().map(|row| row.1).collect())),
        column(
            "text",
            Values::Text(rows.iter().map(|row| row.2.clone()).collect()),
        ),
        column(
            "number",
            Values::Integer(rows.iter().map(|row| row.0).collect()),
        ),
    ];
    let mut bytes = Vec::new();
    write_columns(&columns, &mut bytes).unwrap();
    bytes
}

fn row() -> impl Strategy<Value = Row> {
    let number = prop_oneof![Just(7), 0..3i64, any::<i64>()];
    let text = prop_oneof!["[ab]{0,2}", ".{0,20}"];
    (
        prop::option::of(number),
        prop::option::of(-1e18..1e18),
        prop::option::of(text),
    )
}

proptest! {
    #[test]
    fn what_the_program_writes_is_read(rows in prop::collection::vec(row(), 0..200)) {
        let mut table = table_of(&written(&rows)).unwrap().unwrap();
        prop_assert_eq!(table.rows(), rows.len() as u64);
        prop_assert_eq!(rows_of(&mut table).unwrap(), rows);
    }
}

#[test]
fn tables_of_many_pages_are_read() {
    // More rows than a page has, and more values than a dictionary.
    let of = |number: i64| {
        let text = (number % 3 > 0).then(|| format!("a text that stands once only: {number:032}"));
        (Some(number * 1_000_003), Some(number as f64), text)
    };
    let rows: Vec<Row> = (0..45_000).map(of).collect();
    let mut table = table_of(&written(&rows)).unwrap().unwrap();
    assert!(rows_of(&mut table).unwrap() == rows);
}

/// A table that is written by hand, of one row group with the column `number`.
struct ByHand {
    content: Vec<u8>,
    /// The sizes of the page in its head.
    unpacked: i64,
    packed: i64,
    values: i64,
    encoding: i64,
    codec: i64,
    /// The place of the page in the description.
    place: i64,
    rows: i64,
}

impl ByHand {
    /// A whole table of `rows` rows.
    fn of(rows: i64) -> Self {
        let content: Vec<u8> = (0..rows).flat_map(i64::to_le_bytes).collect();
        Self {
            unpacked: 8 * rows,
            packed: 8 * rows,
            content,
            values: rows,
            encoding: 0,
            codec: 0,
            place: 4,
            rows,
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        let mut page = Fields::default();
        page.numbers(&[(1, 0), (2, self.unpacked), (3, self.packed)]);
        page.inside(5, |about| {
            about.numbers(&[(1, self.values), (2, self.encoding), (3, 3), (4, 3)])
        });
        file.extend(page.end());
        file.extend(&self.content);
        let size = i64::try_from(file.len()).unwrap() - 4;
        let mut footer = Fields::default();
        footer.numbers(&[(1, 1)]);
        footer.list(2, 2);
        let mut root = Fields::default();
        root.text(4, b"root");
        root.numbers(&[(5, 1)]);
        footer.bytes.extend(root.end());
        let mut leaf = Fields::default();
        leaf.numbers(&[(1, 2), (3, 0)]);
        leaf.text(4, b"number");
        footer.bytes.extend(leaf.end());
        footer.numbers(&[(3, self.rows)]);
        footer.list(4, 1);
        let mut group = Fields::default();
        group.list(1, 1);
        let mut chunk = Fields::default();
        chunk.inside(3, |about| {
            about.numbers(&[(1, 2), (4, self.codec), (7, size), (9, self.place)]);
        });
        group.bytes.extend(chunk.end());
        group.numbers(&[(3, self.rows)]);
        footer.bytes.extend(group.end());
        let footer = footer.end();
        file.extend(&footer);
        file.extend(u32::try_from(footer.len()).unwrap().to_le_bytes());
        file.extend(MAGIC);
        file
    }

    /// The numbers that are read, or the refusal.
    fn read(&self) -> Result<Vec<i64>, String> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&self.bytes()).unwrap();
        let read = || -> Result<Vec<i64>> {
            let mut table = Table::open(file, &NAMES[..1])?.context("no such column")?;
            let mut numbers = Vec::new();
            while table.next_row() {
                numbers.extend(table.integer(0)?);
            }
            Ok(numbers)
        };
        read().map_err(|error| format!("{error:#}"))
    }
}

/// The fields of a structure in Thrift's compact protocol.
#[derive(Default)]
struct Fields {
    bytes: Vec<u8>,
    last: u8,
}

impl Fields {
    fn head(&mut self, number: u8, kind: u8) {
        self.bytes.push((number - self.last) << 4 | kind);
        self.last = number;
    }

    fn numbers(&mut self, numbers: &[(u8, i64)]) {
        for (number, value) in numbers {
            self.head(*number, 6);
            let mut rest = ((value << 1) ^ (value >> 63)).cast_unsigned();
            while rest >= 0x80 {
                self.bytes.push(rest.to_le_bytes()[0] | 0x80);
                rest >>= 7;
            }
            self.bytes.push(rest.to_le_bytes()[0]);
        }
    }

    fn text(&mut self, number: u8, text: &[u8]) {
        self.head(number, 8);
        self.bytes.push(text.len().try_into().unwrap());
        self.bytes.extend(text);
    }

    /// The head of a list of structures.
    fn list(&mut self, number: u8, count: u8) {
        self.head(number, 9);
        self.bytes.push(count << 4 | 12);
    }

    fn inside(&mut self, number: u8, fill: impl FnOnce(&mut Self)) {
        self.head(number, 12);
        let mut inner = Self::default();
        fill(&mut inner);
        self.bytes.extend(inner.end());
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

#[test]
fn sizes_that_a_file_states_are_checked_before_they_are_used() {
    assert_eq!(ByHand::of(5).read().unwrap(), [0, 1, 2, 3, 4]);
    let changed = |change: fn(&mut ByHand)| {
        let mut table = ByHand::of(5);
        change(&mut table);
        table.read().unwrap_err()
    };
    for (change, why) in [
        // A page of 8 GiB out of 40 bytes.
        (
            (|table| (table.codec, table.unpacked) = (7, 8 << 30)) as fn(&mut ByHand),
            "unpacks to more than 1 GiB",
        ),
        (
            |table| (table.codec, table.unpacked) = (7, 100 << 20),
            "unpack to more than 64 MiB",
        ),
        (
            |table| table.packed = 1 << 40,
            "the head of a page is damaged",
        ),
        (|table| table.packed = -1, "the head of a page is damaged"),
        // The crate `parquet` panics on these two.
        (|table| table.place = -4, "the place of a column is damaged"),
        (
            |table| table.encoding = 8,
            "a value is not in its dictionary",
        ),
        (
            |table| (table.values, table.rows) = (1 << 40, 1 << 40),
            "a page ends early",
        ),
        (|table| table.rows = 1 << 40, "a column ends early"),
        (|table| table.rows = -1, "a row group has no length"),
        (|table| table.codec = 6, "another method than LZ4_RAW"),
        (|table| table.encoding = 5, "in another way"),
        (
            |table| (table.codec, table.unpacked) = (7, 41),
            "a page is damaged",
        ),
    ] {
        let refused = changed(change);
        assert!(refused.contains(why), "{why}: {refused}");
    }
}

#[test]
fn values_inside_each_other_are_read_to_a_limit() {
    // A list of lists of lists ..
    let mut bytes = vec![0x19];
    bytes.resize(100_000, 0x19);
    let refused = Value::read(&bytes).unwrap_err().to_string();
    assert!(refused.contains("inside each other"), "{refused}");
    // So many numbers in so few bytes.
    let refused = Value::read(&[0x19, 0xf6, 0xff, 0xff, 0xff, 0xff, 0x0f]).unwrap_err();
    assert!(format!("{refused:#}").contains("damaged"), "{refused:#}");
}
