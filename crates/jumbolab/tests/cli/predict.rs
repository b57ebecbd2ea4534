//! `jumbolab predict`: what its commands print, what they reject, and the bytes of its
//! stacks against those that the kernel sends.

use std::fs;

use model::Stack;
use serde_json::Value;
use units::Bytes;

use crate::harness::Dir;

/// Sends a message for each line of its input, and prints the frames.
const SENDER: &str = include_str!("overlays.py");

#[test]
fn each_question_has_its_table() {
    let dir = Dir::new();
    for (line, row) in [
        (
            "overhead",
            "tcp+ts [RFC9293 s3.1] [RFC7323 s3.2] 32 1460 3960 8960",
        ),
        ("overhead", "9000 8928 110 98.78 8940"),
        (
            "limit --rate 1gbit",
            "1 Gbit/s 1500 1428 1538 81274 928.5 Mbit/s 92.85 12.30",
        ),
        (
            "limit --mtu 1500",
            "800 Gbit/s 1500 1428 1538 65019506 742.8 Gbit/s 92.85 0.01538",
        ),
        ("--size 5MB", "4000 1273 3928 5140030 41.12 95.4"),
        (
            "arithmetic 2019",
            "2019-rtt-text 51.72 54.31 % slip in print 1 - 6.83 / 14.95, LU-WS",
        ),
    ] {
        let text = dir.run(&format!("predict {line}")).fine().stdout;
        let row: Vec<&str> = row.split(' ').collect();
        let has = |line: &str| line.split_whitespace().collect::<Vec<_>>() == row;
        assert!(text.lines().any(has), "{line}: {text}");
    }
}

/// The printed table alone: fitted at MTU 1500, compared at 4000 and 9000.
#[test]
fn the_study_of_2019_is_predicted_and_windows_is_not_of_the_form() {
    let dir = Dir::new();
    let table = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/tables/praptodiyono2019.csv"
    );
    dir.write("study.csv", &fs::read_to_string(table).unwrap());
    let set = "--rate 1gbit --spread 2% --mtu 4000,9000";
    let lines = dir
        .run(&format!(
            "predict --from study.csv --fit-max-mtu 1500 {set} --json --plot p.svg"
        ))
        .fine()
        .json();
    let of = |pair: &str, kind: &str| -> Vec<Value> {
        let own = lines
            .iter()
            .filter(|line| line["factors"]["scenario"] == pair);
        own.filter(|line| line["kind"] == kind).cloned().collect()
    };
    let packet = of("LU-LU", "fit")[0]["per_packet_s"].as_f64().unwrap();
    assert!((packet - 3.79e-6).abs() < 5e-9, "{packet}");
    for (figure, expected) in of("LU-LU", "prediction").iter().zip([892.4, 949.6]) {
        let value = figure["value"].as_f64().unwrap();
        assert!((value - expected).abs() < 0.05, "{figure}");
        assert_eq!(figure["within"], 1, "{figure}");
    }
    let refuted = |pair: &str| {
        of(pair, "warning")
            .iter()
            .any(|warning| warning["warning"] == "refuted")
    };
    let pairs = ["LU-LU", "LU-WS", "WS-LU", "WS-WS"];
    assert_eq!(pairs.map(refuted), [false, false, false, true]);
    let all = dir
        .run(&format!("predict --from study.csv {set}"))
        .fine()
        .stdout;
    assert!(
        all.contains("scenario WS-WS: throughput: not of the model's form"),
        "{all}"
    );
    assert!(!all.contains("LU-LU: throughput: not of"), "{all}");
    assert!(dir.path().join("p.svg").exists());
}

#[test]
fn the_table_of_the_study_has_the_figures_of_the_experiment() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let table = fs::read_to_string(format!("{root}/docs/tables/praptodiyono2019.csv")).unwrap();
    let experiment = fs::read_to_string(format!("{root}/experiments/os-comparison.toml")).unwrap();
    let rows = table.lines().filter(|line| line.ends_with("5MB"));
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split(',').collect()).collect();
    assert_eq!(rows.len(), 12);
    for row in rows {
        let block = experiment
            .split("[[published]]")
            .skip(1)
            .find(|block| block.contains("\"throughput\"") && block.contains(row[0]));
        let figure = format!("\"{}\" = {}", row[1], row[2]);
        assert!(
            block.is_some_and(|block| block.contains(&figure)),
            "{row:?}"
        );
    }
}

/// Simulated hosts have the costs that are written.
#[test]
fn the_costs_of_simulated_hosts_are_found_again() {
    let dir = Dir::new();
    let set = "--set rate=100gbit --set size=20MB --set on.sim.host.send_per_packet=5us --set on.sim.host.send_per_byte=2ns";
    let run = format!(
        "run os-comparison --on sim --repeat 2 --set scenario=LU-LU --set offloads=off --set traffic.echo=off --set ip=4 --set mtu=576,760,1120,1500,9000 --set message=64kB {set} -o sim"
    );
    dir.run(&run).fine();
    let lines = dir
        .run("predict --from sim --fit-max-mtu 1500 --mtu 9000 --json")
        .fine()
        .json();
    let fit = lines.iter().find(|line| line["kind"] == "fit").unwrap();
    let cost = |name: &str| fit[name].as_f64().unwrap();
    // Costs are of bytes of IP packets: the headers are part of the packet's.
    assert!((cost("per_packet_s") / 5.1e-6 - 1.0).abs() < 0.02, "{fit}");
    assert!((cost("per_byte_s") / 2e-9 - 1.0).abs() < 0.05, "{fit}");
    let figure = lines
        .iter()
        .find(|line| line["kind"] == "prediction")
        .unwrap();
    let measured = figure["measured"][0].as_f64().unwrap();
    let off = figure["value"].as_f64().unwrap() / measured - 1.0;
    assert!(off.abs() < 0.02, "{figure}");
}

#[test]
fn packets_of_segments_at_mtu_1500_predict_larger_mtus() {
    let dir = Dir::new();
    let set =
        "--set size=2MB --set cpu_bytes=2MB --set traffic.warmup=1MB --set trials.retry_limit=none";
    dir.run(&format!(
        "run host-costs --set segments=1,7 --repeat 2 {set} -o r"
    ))
    .ran();
    for trial in dir.trials("r", 12) {
        let mtu = trial["factors"]["mtu"].as_u64().unwrap();
        let evidence = &trial["evidence"];
        assert_eq!(evidence["segment_size"], mtu - 52, "{trial}");
        let segments = trial["factors"]["segments"].as_u64().unwrap();
        let packet = 52 + segments * (mtu - 52);
        assert_eq!(evidence["largest_packet_sent"], packet, "{trial}");
        assert_eq!(evidence["largest_packet_received"], packet, "{trial}");
        let flags = trial["flags"].to_string();
        assert!(!flags.contains("differ"), "{trial}");
    }
    let lines = dir.run("predict --from r --mtu 9000 --json").fine().json();
    let fit = lines.iter().find(|line| line["kind"] == "fit").unwrap();
    assert_eq!(
        (&fit["quantity"], &fit["trials"]),
        (&"throughput".into(), &12.into())
    );
    assert_eq!(fit["segment_bytes"], serde_json::json!([708.0, 10136.0]));
    assert!(fit["lack_of_fit_p"].is_number(), "{fit}");
    let figure = lines
        .iter()
        .find(|line| line["kind"] == "prediction")
        .unwrap();
    assert_eq!(
        (&figure["segment_bytes"], &figure["extrapolated"]),
        (&8948.0.into(), &false.into())
    );
    assert!(fit["per_joined_packet_s"].is_number(), "{fit}");
    dir.run("run host-costs --dry-run --set traffic.protocol=udp")
        .rejected(&[
            "network.mtu_method = \"mss\"",
            "nothing cuts datagrams of 64000 bytes",
        ]);
    for (set, line) in [
        (
            "network.rate=1gbit --set segments=2",
            "host.segments_per_packet = 2: a paced link",
        ),
        (
            "offloads=on --set segments=2",
            "host.segments_per_packet = 2: offloads join segments",
        ),
        ("segments=0", "host.segments_per_packet = 0"),
        ("processor=-1", "host.processor = -1"),
    ] {
        dir.run(&format!("run host-costs --dry-run --set {set}"))
            .rejected(&[line]);
    }
}

#[test]
fn waits_and_bundles_have_their_figures() {
    let dir = Dir::new();
    for (line, row) in [
        // 0.7/0.6 of 12.304 us and of 72.304 us.
        ("wait --load 70% --mtu 1500,9000", "1500 12.30 14.35"),
        ("wait --load 70% --mtu 1500,9000", "9000 72.30 84.35"),
        ("bundle --packets-per-bundle 2", "2 -4 -14"),
        ("bundle --inner-mtu 9000", "9000 1500 6.125 420.5 6.911"),
        (
            "bundle --max-wait 500us --arrivals 2000",
            "2000 500.0 2.000 375.0",
        ),
    ] {
        let text = dir.run(&format!("predict {line}")).fine().stdout;
        let row: Vec<&str> = row.split(' ').collect();
        let has = |line: &str| line.split_whitespace().collect::<Vec<_>>() == row;
        assert!(text.lines().any(has), "{line}: {text}");
    }
    let lines = dir
        .run("predict wait --traffic-mix web --mtu 1500 --json")
        .fine()
        .json();
    assert_eq!((lines.len(), &lines[0]["mix"]), (4, &"web".into()));
}

#[test]
fn a_file_counts_by_its_size_and_its_drawing_is_written() {
    let dir = Dir::new();
    dir.write("photo.png", &"x".repeat(14_280));
    let outcome = dir.run("predict --file photo.png --mtu 1500 --plot p.svg --json");
    let line: Value = serde_json::from_str(&outcome.fine().stdout).unwrap();
    assert_eq!(
        (&line["size_bytes"], &line["frames"]),
        (&14_280.into(), &10.into()),
        "{line}"
    );
    let picture = fs::read_to_string(dir.path().join("p.svg")).unwrap();
    assert!(picture.contains("<svg ") && picture.ends_with("</svg>\n"));
}

#[test]
fn what_cannot_be_predicted_is_rejected_in_one_line() {
    let dir = Dir::new();
    dir.write("photo.png", "x");
    dir.write("one.csv", "mtu,throughput\n1500,900\n");
    dir.write("same.csv", "mtu,throughput\n1500,900\n1500,901\n1500,899\n");
    dir.write(
        "bound.csv",
        "segment_size,size,mtu,throughput\n500,500000,1500,300\n1000,1000000,1500,500\n2000,2000000,9000,800\n4000,4000000,9000,850\n",
    );
    dir.write("wrong.csv", "mtu,throughput\n1500,900\n1500,fast\n");
    dir.write("bare.csv", "mtu\n1500\n");
    dir.write(
        "five.csv",
        "mtu,throughput\n1300,700\n1400,740\n1500,780\n1300,702\n1500,783\n",
    );
    for (line, words) in [
        ("", "predict: write overhead, limit"),
        (
            "--from results",
            "--from results: this is neither a results folder",
        ),
        ("--from t.csv --size 5MB", "cannot be used with"),
        ("--fit-max-mtu 1500", "--from"),
        ("--from no.csv", "cannot read no.csv: no such file"),
        ("--from one.csv", "too few trials: 1 of them"),
        ("--from same.csv", "all trials have segments of 1428 bytes"),
        ("--from bound.csv", "sizes and segments change together"),
        (
            "--from wrong.csv",
            "wrong.csv:3: throughput: `fast` is no figure",
        ),
        ("--from bare.csv", "bare.csv:1: has no column throughput"),
        ("--from five.csv --mtu 60", "--mtu 60: this leaves no room"),
        (
            "--from five.csv --mtu 70000",
            "--mtu 70000: write bytes of a packet",
        ),
        (
            "--from five.csv --spread 2",
            "--spread 2: write the standard deviation",
        ),
        ("--from five.csv --trials 0", "--trials"),
        ("--from five.csv --validate .", "cannot read"),
        (
            "wait --load 100%",
            "--load 100%: write a share of the link below 100 %",
        ),
        ("wait --load 0.5", "--load 0.5: write a share"),
        ("wait --mtu 60", "--mtu 60: the headers of"),
        ("wait --traffic-mix tv", "--traffic-mix tv: is neither web"),
        (
            "wait --headers eth,tcp",
            "--headers eth,tcp: tcp does not follow eth",
        ),
        ("bundle --packets-per-bundle 0", "--packets-per-bundle"),
        ("bundle --max-wait 5m", "--max-wait 5m: 5m may be minutes"),
        ("bundle --max-wait 1ms --arrivals -1", "unexpected argument"),
        (
            "bundle --max-wait 1ms --arrivals x",
            "--arrivals x: write packets per second",
        ),
        ("--file nothing.png", "--file nothing.png: no such file"),
        ("--file .", "--file .: this is no regular file"),
        ("--size 5M", "--size 5M: 5M may count in thousands"),
        ("--size 5MB --rate 1", "--rate 1: 1 has no unit"),
        (
            "--file photo.png --plot p.png",
            "--plot p.png: is drawn as SVG",
        ),
        (
            "overhead --headers eth,tcp",
            "--headers eth,tcp: tcp does not follow eth",
        ),
        (
            "overhead --headers eth,ipv4,tcp+sack=9",
            "the number is from 1 to 4",
        ),
        (
            "overhead --mtu 1279",
            "--mtu 1279: leaves an MTU of 1279 to ipv6",
        ),
        (
            "overhead --mtu 70 --headers eth,ipv4,tcp+options=40+ts",
            "`tcp+options=40+ts`: 52 bytes",
        ),
        ("overhead --mtu 65536", "--mtu 65536: no length field"),
        ("overhead --mtu -1", "unexpected argument"),
        ("limit --rate 0bit", "--rate 0bit: a rate of zero"),
        (
            "optimal --loss 0.1",
            "--loss 0.1: write a share of frames in per cent",
        ),
        ("optimal --loss 100%", "nothing arrives if every frame"),
        (
            "optimal --bit-error-rate 2",
            "--bit-error-rate 2: write a probability",
        ),
        ("optimal --rtt 0s", "--rtt: a round trip takes some time"),
        (
            "optimal --traffic-mix tv",
            "--traffic-mix tv: is neither web, nfs nor voip, and as a file",
        ),
        (
            "optimal --mtu 1000",
            "--mtu 1000: leaves an MTU of 1000 to ipv6",
        ),
        (
            "optimal --max-mtu 70000",
            "--max-mtu 70000: no length field of eth,ipv6,tcp+ts counts so many bytes; write at most 65535, or jumbograms: --headers eth,ipv6+jumbo,tcp+ts",
        ),
        ("arithmetic 2018", "there is no paper 2018; write mred-ddf"),
    ] {
        let outcome = dir.run(&format!("predict {line}"));
        assert_eq!(outcome.code, Some(2), "{line}: {}", outcome.stdout);
        assert!(outcome.stderr.contains(words), "{line}: {}", outcome.stderr);
        // The parser of options prints its usage below the first line.
        if !outcome.stderr.contains("--help") {
            assert_eq!(
                outcome.stderr.lines().count(),
                1,
                "{line}: {}",
                outcome.stderr
            );
        }
    }
    assert!(!dir.path().join("p.png").exists());
}

/// VXLAN, segment routing, extension headers, and options of IPv4 and TCP. This
/// kernel has no other tunnel; the tests of `model` compare those with the sizes that
/// their standards state.
#[test]
fn the_kernel_sends_as_many_bytes_as_the_stack_says() {
    let dir = Dir::new();
    dir.write("overlays.py", SENDER);
    // Neighbours are static and addresses are not generated, so that no other frame is
    // sent.
    let script = "
        sysctl -qw net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.default.addr_gen_mode=1 \
            net.ipv6.conf.all.seg6_enabled=1
        far=02:00:00:00:00:02
        ip link add d0 type veth peer name d1 address $far
        for end in d0 d1; do ip link set $end up; done
        ip addr add 192.0.2.1/24 dev d0
        ip addr add fd00::1/64 dev d0 nodad
        ip neigh add 192.0.2.2 lladdr $far dev d0
        ip neigh add fd00::2 lladdr $far dev d0
        ip link add v4 type vxlan id 4 dev d0 local 192.0.2.1 remote 192.0.2.2 dstport 4789
        ip link add v6 type vxlan id 6 dev d0 local fd00::1 remote fd00::2 dstport 4789
        for number in 4 6; do
            ip link set v$number up
            ip addr add 198.51.$number.1/24 dev v$number
            ip addr add fd0$number::1/64 dev v$number nodad
            ip neigh add 198.51.$number.2 lladdr $far dev v$number
            ip neigh add fd0$number::2 lladdr $far dev v$number
        done
        ip -6 route add fd09::/64 encap seg6 mode encap segs fd00::2 dev d0
        python3 overlays.py
    ";
    let outcome = dir.in_namespaces(script).fine();
    let mut lines = outcome.stdout.lines();
    for outer in ["ipv4", "ipv6"] {
        let stack: Stack = format!("eth,{outer},udp,vxlan,eth").parse().unwrap();
        let left = stack.largest(Bytes::new(1500)).unwrap().payload;
        assert_eq!(
            lines.next(),
            Some(left.get().to_string().as_str()),
            "{outer}"
        );
    }
    let mut stacks = 0;
    for line in lines {
        let [words, payload, frame] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let stack: Stack = words.parse().unwrap();
        let payload = Bytes::new(payload.parse().unwrap());
        let sizes = stack.with_payload(payload, Bytes::new(1500)).unwrap();
        // A capture is without padding and check sequence.
        let captured = sizes.packet + Bytes::new(14);
        assert_eq!(captured.get().to_string(), frame, "{line}");
        stacks += 1;
    }
    assert_eq!(stacks, 13, "{}", outcome.stdout);
}
