//! Investigations of simulated paths, scored by what the settings say.

use super::*;

#[test]
fn every_shipped_fault_is_named_with_its_size_and_its_hop() {
    let experiment = Experiment::load("pmtu-faults").unwrap();
    let faults = "fault=clean,too-big,filtered,too-small-mtu,too-large-mtu,rare,silent,first-link,\
        asymmetric,branch,udp-hole,mss,mss-answer,df-cleared,vxlan,fragments,bit-errors,lossy20,lossy40,range,below-1280,\
        icmp-filter,echo1,echo10,echo20,echo50,congestion,shrinks,grows";
    let settings = settings_of(experiment, &[faults, "ip=4,6", "reflector=off,on"]);
    assert_eq!(settings.len(), 116);
    let simulator = simulator(&settings);
    for setting in &settings {
        let (measurements, seconds) = simulator.run(setting, Seed::new(3)).unwrap();
        let Traffic::Probe(probe) = &setting.traffic else {
            panic!("{:?}", setting.traffic);
        };
        let rules = setting.network.links.iter();
        let rules: Vec<_> = rules.map(|link| &link.impairments.faults).collect();
        for metric in ["verdict_right", "mtu_right", "hop_right"] {
            let right = measurements.metrics[metric];
            let report = &measurements.evidence["report"];
            let ip = setting.network.ip;
            assert!(
                right == 100.0,
                "{metric} {ip} {probe:?} {rules:?}: {report}"
            );
        }
        assert!((0.05..8.0).contains(&seconds), "{seconds}");
    }
}

#[test]
fn a_score_is_lower_if_the_far_end_is_silent() {
    let text = "format = 1\nname = \"silent\"\n[network]\nshape = \"chain\"\ndevices = 2\n\
        delay = \"1ms\"\nmtu = 9000\nrate = \"1gbit\"\n[traffic]\nkind = \"probe\"\n\
        [sweep]\n\"network.loss\" = [\"100%\"]\n";
    let measurements = measurements(text, &[]);
    assert_eq!(measurements.metrics["verdict_right"], 0.0);
    assert_eq!(measurements.metrics["mtu_right"], 0.0);
}
