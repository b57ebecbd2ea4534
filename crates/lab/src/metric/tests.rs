use super::*;
use crate::compare::synthetic;

#[test]
fn names_are_unique_and_each_table_has_a_metric() {
    for (position, metric) in METRICS.iter().enumerate() {
        let first = METRICS.iter().position(|other| other.name == metric.name);
        assert_eq!(first, Some(position), "{}", metric.name);
        assert_eq!(metric.table.is_some(), metric.primary, "{}", metric.name);
    }
    for table in Table::ALL {
        assert!(METRICS.iter().any(|metric| metric.table == Some(table)));
    }
    assert_eq!(Table::Throughput.number(), 4);
}

#[test]
fn a_tick_weighs_more_when_fewer_octets_are_metered() {
    let cpu = Metric::named("cpu_total").unwrap();
    let mut trial = synthetic::trial(synthetic::factors(9000), 1, &[("cpu_total", 1.0)]);
    assert_eq!(
        cpu.resolution(1.0, None, &[&trial]),
        None,
        "octets are unknown"
    );
    trial
        .evidence
        .insert("cpu_octets".into(), 500_000_000.into());
    assert_eq!(cpu.resolution(1.0, None, &[&trial]), Some(0.02));
    trial
        .evidence
        .insert("cpu_tick_seconds".into(), 0.001.into());
    assert_eq!(cpu.resolution(1.0, None, &[&trial]), Some(0.002));
}

#[test]
fn a_trial_that_states_its_resolution_is_believed() {
    let rtt = Metric::named("rtt").unwrap();
    let mut trial = synthetic::trial(synthetic::factors(9000), 1, &[("rtt", 1.0)]);
    assert_eq!(rtt.resolution(1.0, None, &[&trial]), Some(0.001));
    trial.evidence.insert("resolution_rtt".into(), 1.0.into());
    assert_eq!(rtt.resolution(1.0, None, &[&trial]), Some(1.0));
}
