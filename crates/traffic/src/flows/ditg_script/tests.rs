//! Lines as ITGSend takes them, and what they mean.

use super::super::preset::Preset;
use super::*;

fn read(text: &str) -> Result<Vec<(String, Section)>> {
    parse(text, "script", &Section::default())
}

/// The keys of a line that are asked for, in words.
fn keys(line: &str, keys: &[&str]) -> String {
    let flows = read(line).unwrap_or_else(|error| panic!("{line}: {error:#}"));
    let [(_, section)] = &flows[..] else {
        panic!("{line}: {} flows", flows.len());
    };
    let shown = keys.iter().map(|key| {
        let value = section.text(key).unwrap().unwrap_or("-");
        format!("{key} {value}")
    });
    shown.collect::<Vec<_>>().join(", ")
}

#[test]
fn a_flow_has_the_defaults_of_d_itg() {
    assert_eq!(
        keys(
            "-a 192.0.2.7",
            &["host", "message", "gap", "protocol", "nagle"]
        ),
        "host 192.0.2.7, message 512, gap 1ms, protocol -, nagle -"
    );
}

#[test]
fn options_of_a_flow_are_its_keys() {
    assert_eq!(
        keys(
            "-a h -Sda h2 -rp 10001 -sp 10002 -T TCP -m rttm -t 2500 -d 100 -z 7 -b 186 -f 9",
            &[
                "control",
                "destination_port",
                "source_port",
                "protocol",
                "nagle",
                "meter",
                "duration",
                "start",
                "packets",
                "dscp",
                "ecn",
                "ttl"
            ]
        ),
        "control h2, destination_port 10001, source_port 10002, protocol tcp, nagle on, meter round-trip, \
         duration 2500000000ns, start 100000000ns, packets 7, dscp 46, ecn ect0, ttl 9"
    );
    assert_eq!(keys("-T TCP -D", &["nagle"]), "nagle -");
}

#[test]
fn rates_are_gaps_and_milliseconds_are_times() {
    for (line, gap) in [
        ("-C 400", "2500000ns"),
        ("-U 100 200", "uniform:5000000ns,10000000ns"),
        ("-E 50", "exponential:20000000ns"),
        ("-N 10 2", "normal:10000000ns,2000000ns"),
        ("-V 3 10", "pareto:3,10000000ns"),
        ("-Y 10 1", "cauchy:10000000ns,1000000ns"),
        ("-G 2 5", "gamma:2,5000000ns"),
        // Scale before shape: 2 ms and 10 give times around 1.9 ms.
        ("-W 2 10", "weibull:10,2000000ns"),
    ] {
        assert_eq!(keys(line, &["gap"]), format!("gap {gap}"));
    }
    assert_eq!(
        keys("-B E 100 U 100 300", &["on_time", "off_time"]),
        "on_time exponential:100000000ns, off_time uniform:100000000ns,300000000ns"
    );
}

#[test]
fn sizes_have_the_distributions_of_gaps() {
    for (line, message) in [
        ("-c 300", "constant:300"),
        ("-u 100 500", "uniform:100,500"),
        ("-o 300", "poisson:300"),
        ("-v 3 200", "pareto:3,200"),
        ("-w 300 4", "weibull:4,300"),
        ("-Fs sizes.txt", "series:sizes.txt"),
    ] {
        assert_eq!(keys(line, &["message"]), format!("message {message}"));
    }
}

#[test]
fn an_association_of_sctp_has_its_streams_and_nagle_as_tcp() {
    let words = ["protocol", "sctp_streams", "nagle"];
    for (line, expected) in [
        (
            "-a h -T SCTP 7 4 -D",
            "protocol sctp, sctp_streams 4, nagle -",
        ),
        (
            "-a h -T sctp 0 1",
            "protocol sctp, sctp_streams 1, nagle on",
        ),
    ] {
        assert_eq!(keys(line, &words), expected, "{line}");
    }
}

#[test]
fn applications_are_presets() {
    for (line, preset) in [
        ("-T TCP Telnet", "telnet"),
        ("CSi -t 100", "counter-strike-idle"),
        ("VoIP", "voip-g711-1"),
        ("VoIP -x G.729.3 -h CRTP", "voip-g729-3-crtp"),
    ] {
        let expected = format!("preset {preset}, message -, gap -");
        assert_eq!(keys(line, &["preset", "message", "gap"]), expected);
        assert!(Preset::parse(preset).is_ok(), "{preset}");
    }
}

#[test]
fn what_is_not_supported_is_rejected_by_line_and_option() {
    for (line, words) in [
        ("-a h -s 0.5", "-s: the random numbers"),
        ("-a h -O 10", "-O: D-ITG waits"),
        ("-a h -T QUIC", "-T: write UDP, TCP, SCTP or ICMP"),
        ("-a h -T DCCP", "-T: Linux removed DCCP in version 6.16"),
        ("-a h -T SCTP", "-T: its value is missing"),
        ("-a h -T SCTP 1 -t 100", "-T: write a number"),
        ("-a h -T SCTP 1 0", "-T: write a number above 0"),
        ("-a h -Ssa 192.0.2.9", "-Ssa: the control"),
        ("VoIP -x MP3", "-x: write one of G.711.1"),
        ("-a h -x r.log", "-x: leave it out"),
        ("VoIP -VAD", "-VAD: D-ITG's packets"),
        ("-a h -C", "-C: its value is missing"),
        ("-a h -C 0", "-C: write a number above 0"),
        ("-a h -C nan", "-C: write a number"),
        ("-a h # 2", "#: no such option"),
        ("-a h -j 0", "-j: departures keep"),
        ("-a h -B Q 1 C 2", "-B: write one of"),
    ] {
        let text = format!("-a h\n\n{line}\n");
        let error = format!("{:#}", read(&text).err().unwrap());
        assert!(error.starts_with("script:3: "), "{error}");
        assert!(error.contains(words), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
    assert!(read("\n \n").is_err());
}

proptest::proptest! {
    #[test]
    fn no_script_makes_the_reader_panic(text in "([-a-zA-Z0-9. ]{0,12}[ \n]){0,8}") {
        let _ = read(&text);
    }

    #[test]
    fn no_numbers_make_the_reader_panic(option in "-[A-Za-z]{1,2}", numbers in proptest::collection::vec(proptest::num::f64::ANY, 0..4)) {
        let numbers: Vec<_> = numbers.iter().map(ToString::to_string).collect();
        let _ = read(&format!("{option} {}", numbers.join(" ")));
    }
}
