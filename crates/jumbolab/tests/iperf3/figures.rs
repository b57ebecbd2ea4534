//! Prints the tables of docs/evidence/iperf3.md.

use serde_json::Value;

use super::{as_client, as_server, sum};

#[test]
#[ignore = "prints tables, for a minute"]
#[expect(clippy::print_stdout, reason = "its purpose")]
fn the_tables_of_both_ends() {
    println!("| iperf3 | sent | received | lost | sent, Mbit/s | received, Mbit/s |");
    println!("|---|---|---|---|---|---|");
    for options in [
        "-t 3",
        "-t 3 -P 4",
        "-t 3 -R",
        "-t 3 -R -P 4",
        "-n 100M -R -P 4",
        "-t 3 --bidir -b 100M",
        "-u -t 3 -b 50M",
        "-u -t 3 -b 20M -P 4",
        "-u -t 3 -b 50M -R",
        "-u -t 3 -b 20M -R -P 4",
        "-u -t 3 -b 20M --bidir",
    ] {
        let words: Vec<&str> = options.split_whitespace().collect();
        let (_, ours) = as_client::test(&words);
        println!("| `-c HOST {options} -J` | {}", row(&ours));
    }
    println!(
        "\n| `send HOST --iperf3` | sent | received | lost | sent, Mbit/s | received, Mbit/s |"
    );
    println!("|---|---|---|---|---|---|");
    for options in [
        "--protocol tcp --duration 3s",
        "--protocol tcp --duration 3s --flows 4",
        "--protocol tcp --duration 3s --reverse",
        "--protocol tcp --duration 3s --reverse --flows 4",
        "--protocol tcp --duration 3s --bidir --payload-rate 100mbit",
        "--duration 3s --payload-rate 50mbit",
        "--duration 3s --payload-rate 20mbit --flows 4",
        "--duration 3s --payload-rate 50mbit --reverse",
        "--duration 3s --payload-rate 20mbit --reverse --flows 4",
        "--duration 3s --payload-rate 20mbit --bidir",
    ] {
        let words: Vec<&str> = options.split_whitespace().collect();
        let (ours, _) = as_server::test(&words);
        println!("| `{options}` | {}", row(&ours));
    }
}

/// The sums of all flows: bytes of TCP, datagrams of UDP.
fn row(flows: &[Value]) -> String {
    let udp = flows[0]["protocol"] == "udp";
    let (sent, received) = match udp {
        true => ("sent", "received"),
        false => ("sent_bytes", "received_bytes"),
    };
    let lost = match udp {
        true => sum(flows, "lost").to_string(),
        false => "-".to_owned(),
    };
    let rate = |key: &str| {
        let rates = flows.iter().map(|flow| flow[key].as_f64().unwrap());
        rates.sum::<f64>() / 1e6
    };
    format!(
        "{} | {} | {lost} | {:.1} | {:.1} |",
        sum(flows, sent),
        sum(flows, received),
        rate("sent_bps"),
        rate("received_bps"),
    )
}
