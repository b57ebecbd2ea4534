use super::*;
use crate::experiment::Experiment;
use crate::plan::World;

/// The time of a message of `size` octets at `mtu` over so many links at
/// 1 Gbit/s with switches between them, in microseconds.
fn time(protocol: &str, answer: &str, links: u32, mtu: u32, size: u32) -> f64 {
    let shape = match links {
        1 => "shape = \"pair\"".to_owned(),
        links => format!("shape = \"switched\"\nstages = {}", links - 1),
    };
    let text = format!(
        "format = 1\nname = \"one\"\n[aliases]\nmtu = \"network.mtu\"\n\
         [sweep]\nmtu = [{mtu}]\n[compare]\nfactor = \"mtu\"\nbaseline = {mtu}\n[network]\n{shape}\nlink = \"emulated\"\nrate = \"1gbit\"\n\
         buffer = \"1MB\"\nip = 4\n[tcp]\ninitial_window = 64\n[traffic]\nkind = \"exchange\"\n\
         protocol = \"{protocol}\"\nanswer = \"{answer}\"\nfrom = {size}\nto = {size}\nat = {size}\n"
    );
    let plan = Experiment::parse(&text, "one").unwrap();
    let plan = plan
        .plan(World::Sim)
        .unwrap_or_else(|error| panic!("{error:#}"));
    let setting = plan.cells[0].setting.as_ref().unwrap();
    let simulator = Simulator::ready(std::iter::once(setting), 1).unwrap();
    let (figures, _) = simulator.run(setting, Seed::new(1)).unwrap();
    figures.metrics["message_time"] * 1e3
}

/// What `octets` of IP take of Ethernet, in microseconds at 1 Gbit/s: 38
/// octets of framing, at least 84 [IEEE802.3 s3.2.7].
fn wire(octets: u32) -> f64 {
    f64::from((octets + 38).max(84)) * 8e-3
}

#[test]
fn a_datagram_takes_what_its_fragments_take_one_behind_the_other() {
    // 11 000 octets and 8 of UDP: seven fragments of 1480 octets and one of
    // 648; one of 8976 and one of 2032 at MTU 9000 [RFC791 s3.2].
    let small = 7.0 * wire(1_500) + wire(668);
    let large = wire(8_996) + wire(2_052);
    let answer = |links: f64| links * wire(28 + 28);
    for (links, extra) in [(1, 0.0), (2, 1.0), (3, 2.0)] {
        let back = answer(f64::from(links));
        let told = time("udp", "ack", links, 1_500, 11_000);
        // Only the shorter last fragment has caught up with nothing: what
        // the later links add is one full frame each.
        let expected = small + extra * wire(1_500) + back;
        assert!((told - expected).abs() < 2e-3, "{links}: {told} {expected}");
        let told = time("udp", "ack", links, 9_000, 11_000);
        let expected = large + extra * wire(8_996) + back;
        assert!((told - expected).abs() < 2e-3, "{links}: {told} {expected}");
    }
}

#[test]
fn the_answer_with_data_takes_as_long_as_the_message() {
    let forth = 7.0 * wire(1_500) + wire(668);
    let told = time("udp", "data+ack", 1, 1_500, 11_000);
    assert!((told - 2.0 * forth).abs() < 2e-3, "{told}");
}

#[test]
fn a_connection_sends_a_message_in_full_segments() {
    // 11 000 octets in segments of 1448: seven full ones and one of 864, each
    // behind 52 octets of headers.
    let forth = 7.0 * wire(1_500) + wire(864 + 52);
    let told = time("tcp", "ack", 1, 1_500, 11_000);
    let back = wire(28 + 52);
    // Acknowledgements of the data may be in front of the answer.
    let expected = forth + back;
    assert!(
        told >= expected - 2e-3 && told < expected + 3.0 * wire(52),
        "{told} {expected}"
    );
}

#[test]
fn what_no_transport_and_no_simulator_carries_is_refused_in_one_line() {
    let refused = |keys: &str| {
        let text = format!(
            "format = 1\nname = \"one\"\n[aliases]\nmtu = \"network.mtu\"\n[network]\nip = 4\n\
             [traffic]\nkind = \"exchange\"\n{keys}\n[sweep]\nmtu = [1500]\n[compare]\nfactor = \"mtu\"\nbaseline = 1500\n"
        );
        let plan = Experiment::parse(&text, "one").unwrap().plan(World::Sim);
        format!("{:#}", plan.expect_err("it is refused"))
    };
    let long = refused("to = 65508");
    assert!(long.ends_with("a message in UDP over IPv4 has 1000 to 65507 octets: for instance --set traffic.to=65507"), "{long}");
    assert!(refused("step = 0").contains("sizes grow by 1 octet or more"));
    assert!(refused("answer = \"pieces\"").contains("--on netns"));
    assert!(refused("pause = \"1ms\"").contains("host.receive_per_packet"));
    assert!(refused("message = 1000").contains("only traffic of kind = \"transfer\""));
    assert!(refused("size = \"1kB\"").contains("at least one message"));
}
