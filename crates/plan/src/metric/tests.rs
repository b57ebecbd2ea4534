use super::*;

#[test]
fn names_are_unique_and_each_table_has_a_metric() {
    for (position, metric) in METRICS.iter().enumerate() {
        let first = METRICS.iter().position(|other| other.name == metric.name);
        assert_eq!(first, Some(position), "{}", metric.name);
    }
    for table in Table::ALL {
        assert!(METRICS.iter().any(|metric| metric.table() == Some(table)));
    }
    assert_eq!(Table::Throughput.number(), 4);
}
