use super::*;

#[test]
fn names_are_unique() {
    for (position, metric) in METRICS.iter().enumerate() {
        let first = METRICS.iter().position(|other| other.name == metric.name);
        assert_eq!(first, Some(position), "{}", metric.name);
    }
}
