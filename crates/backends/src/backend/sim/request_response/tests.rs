use experiment::Experiment;
use plan::Backend;

use super::*;

/// The time of a message of `size` bytes at `mtu` over `links` links at 1
/// Gbit/s with switches between them, in microseconds.
fn time(protocol: &str, answer: &str, links: u32, mtu: u32, size: u32) -> f64 {
    let sizes = format!("min_size = {size}\nmax_size = {size}\nreference_size = {size}\n");
    let keys = format!("protocol = \"{protocol}\"\nanswer = \"{answer}\"\n{sizes}");
    measured(links, mtu, "", &keys).metrics["message_time"] * 1e3
}

/// The measurements of a trial over `links` links at 1 Gbit/s, with additional
/// keys of network and traffic.
fn measured(links: u32, mtu: u32, network: &str, traffic: &str) -> Measurements {
    let shape = match links {
        1 => "shape = \"pair\"".to_owned(),
        links => format!("shape = \"switched\"\ndevices = {}", links - 1),
    };
    let text = format!(
        "format = 1\nname = \"one\"\n[aliases]\nmtu = \"network.mtu\"\n\
         [sweep]\nmtu = [{mtu}]\n[compare]\nfactor = \"mtu\"\nbaseline = {mtu}\n[network]\n{shape}\nlink = \"emulated\"\nrate = \"1gbit\"\n\
         buffer = \"1MB\"\nip = 4\n{network}\n[tcp]\ninitial_window = 64\n[traffic]\nkind = \"request-response\"\n{traffic}"
    );
    let plan = Experiment::parse(&text, "one").unwrap();
    let plan = plan
        .plan(Backend::Sim, crate::backend::sim::check)
        .unwrap_or_else(|error| panic!("{error:#}"));
    let setting = plan.cells[0].setting.as_ref().unwrap();
    let simulator = Simulator::ready(std::iter::once(setting), 1).unwrap();
    simulator.run(setting, Seed::new(1)).unwrap().0
}

/// The time of an IP packet of `bytes` on Ethernet at 1 Gbit/s, in
/// microseconds: 38 bytes of framing, at least 84 [IEEE802.3 s3.2.7].
fn wire(bytes: u32) -> f64 {
    f64::from((bytes + 38).max(84)) * 8e-3
}

#[test]
fn a_datagram_takes_what_its_fragments_take_one_behind_the_other() {
    // 11 000 bytes and 8 of UDP: seven fragments of 1480 bytes and one of
    // 648; one of 8976 and one of 2032 at MTU 9000 [RFC791 s3.2].
    let small = 7.0 * wire(1_500) + wire(668);
    let large = wire(8_996) + wire(2_052);
    let answer = |links: f64| links * wire(28 + 28);
    for (links, extra) in [(1, 0.0), (2, 1.0), (3, 2.0)] {
        let back = answer(f64::from(links));
        let measured = time("udp", "ack", links, 1_500, 11_000);
        // Only the shorter last fragment has not caught up: later links add one
        // full frame each.
        let expected = small + extra * wire(1_500) + back;
        assert!(
            (measured - expected).abs() < 2e-3,
            "{links}: {measured} {expected}"
        );
        let measured = time("udp", "ack", links, 9_000, 11_000);
        let expected = large + extra * wire(8_996) + back;
        assert!(
            (measured - expected).abs() < 2e-3,
            "{links}: {measured} {expected}"
        );
    }
}

#[test]
fn the_answer_with_data_takes_as_long_as_the_message() {
    let forth = 7.0 * wire(1_500) + wire(668);
    let measured = time("udp", "data+ack", 1, 1_500, 11_000);
    assert!((measured - 2.0 * forth).abs() < 2e-3, "{measured}");
}

#[test]
fn a_connection_sends_a_message_in_full_segments() {
    // 11 000 bytes in segments of 1448: seven full ones and one of 864, each
    // behind 52 bytes of headers.
    let forth = 7.0 * wire(1_500) + wire(864 + 52);
    let measured = time("tcp", "ack", 1, 1_500, 11_000);
    let back = wire(28 + 52);
    // Acknowledgements of the data may be in front of the answer.
    let expected = forth + back;
    assert!(
        measured >= expected - 2e-3 && measured < expected + 3.0 * wire(52),
        "{measured} {expected}"
    );
}

/// The mean time of a message in microseconds, over sizes and messages.
fn mean_time(measurements: &Measurements) -> f64 {
    let sizes = &measurements.evidence["sizes"];
    let means = sizes["mean_us"].as_str().unwrap().split(' ');
    let means: Vec<f64> = means.map(|one| one.parse().unwrap()).collect();
    means.iter().sum::<f64>() / means.len() as f64
}

#[test]
fn a_message_waits_behind_others_as_it_does_in_theory() {
    // Small messages: 40 sizes, 20 of each, behind packets of 9000 bytes that
    // take half of the link. A message waits on average for half of a packet's
    // 72.3 us [Kleinrock1975]; over 800 messages the mean is accurate to about
    // 2 us.
    let load = "load = \"moderate\"";
    for protocol in ["udp", "tcp"] {
        let keys = |to: u32| {
            format!(
                "protocol = \"{protocol}\"\nmin_size = 1000\nmax_size = {to}\nsize_step = 1\nreference_size = 1000\nsize = \"100kB\"\n"
            )
        };
        let idle = mean_time(&measured(1, 9_000, "", &keys(1_039)));
        let shared = measured(1, 9_000, load, &keys(1_039));
        let waited = mean_time(&shared) - idle;
        let expected = wire(9_000) / 2.0;
        assert!((waited - expected).abs() < 8.0, "{protocol}: {waited}");
        let sizes = &shared.evidence["sizes"];
        let numbers = |key: &str| -> Vec<f64> {
            let words = sizes[key].as_str().unwrap().split(' ');
            words.map(|word| word.parse().unwrap()).collect()
        };
        // The fastest message of each size hardly waited.
        assert!(numbers("deviation_us").iter().all(|&one| one > 10.0));
        assert!(numbers("least_us").iter().all(|&one| one < idle + expected));
        // The result of a size does not depend on the other measured sizes.
        let alone = measured(1, 9_000, load, &keys(1_000));
        assert_eq!(mean_time(&alone), numbers("mean_us")[0]);
    }
}

#[test]
fn a_connection_shares_its_links_too() {
    let sizes = "protocol = \"tcp\"\nmin_size = 20000\nmax_size = 20000\nreference_size = 20000\n";
    let idle = mean_time(&measured(2, 1_500, "", sizes));
    let shared = mean_time(&measured(2, 1_500, "load = \"heavy\"", sizes));
    // Four fifths of the rate are taken: fourteen segments take several times
    // as long.
    assert!(
        shared > 1.5 * idle && shared < 20.0 * idle,
        "{shared} {idle}"
    );
}

#[test]
fn what_is_lost_is_sent_again_and_costs_that_time() {
    let sizes = "protocol = \"udp\"\nmin_size = 1000\nmax_size = 1019\nsize_step = 1\nreference_size = 1000\nsize = \"100kB\"\nretransmit_after = \"10ms\"\n";
    let idle = mean_time(&measured(1, 1_500, "", sizes));
    let lossy = mean_time(&measured(1, 1_500, "loss = \"20%\"", sizes));
    // Message and answer arrive with 0.8^2: 1 / 0.64 - 1 times 10 ms.
    let lost = (lossy - idle) / 1e4;
    assert!((lost - 0.5625).abs() < 0.2, "{lost}");
}

#[test]
fn what_no_transport_and_no_simulator_carries_is_rejected_in_one_line() {
    let rejected = |keys: &str| {
        let text = format!(
            "format = 1\nname = \"one\"\n[aliases]\nmtu = \"network.mtu\"\n[network]\nip = 4\n\
             [traffic]\nkind = \"request-response\"\n{keys}\n[sweep]\nmtu = [1500]\n[compare]\nfactor = \"mtu\"\nbaseline = 1500\n"
        );
        let plan = Experiment::parse(&text, "one")
            .unwrap()
            .plan(Backend::Sim, crate::backend::sim::check);
        format!("{:#}", plan.expect_err("it is rejected"))
    };
    let long = rejected("max_size = 65508");
    assert!(long.ends_with("a message in UDP over IPv4 has 1000 to 65507 bytes: for instance --set traffic.max_size=65507"), "{long}");
    assert!(rejected("size_step = 0").contains("sizes grow by 1 byte or more"));
    assert!(rejected("answer = \"pieces\"").contains("--on netns"));
    assert!(rejected("pause = \"1ms\"").contains("host.receive_per_packet"));
    assert!(rejected("message = 1000").contains("only traffic of kind = \"transfer\""));
    assert!(rejected("size = \"1kB\"").contains("at least one message"));
}
