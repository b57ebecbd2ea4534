//! Words in the place of a command that are none: names of other
//! programs' commands, and names of experiments. Words in the place of an option that
//! are none: keys of an experiment, which `--set` takes, and the options of iperf3, which
//! are answered and not taken: sizes count in thousands here, and `-p` and `-P` differ in
//! nothing but their case.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use experiment::Experiment;

use super::Build;

/// A word that is no command, and what to type.
struct WrongWord {
    words: &'static [&'static str],
    /// A sentence that follows "there is no `compare`: ".
    answer: &'static str,
}

const fn wrong(words: &'static [&'static str], answer: &'static str) -> WrongWord {
    WrongWord { words, answer }
}

const WRONG_WORDS: &[WrongWord] = &[
    #[cfg(feature = "gateway")]
    wrong(
        &["aggregate", "tunnel", "aggregation", "bundle"],
        "`jumbolab gateway` aggregates packets into jumbo frames, and `jumbolab run jumbogen-scaling --on sim` simulates it",
    ),
    wrong(
        &["pmtu", "tracepath", "traceroute", "path"],
        "`jumbolab probe HOST` finds the largest packets that a path delivers",
    ),
    wrong(
        &["measure", "test", "bench", "benchmark", "start", "exec"],
        "`jumbolab run os-comparison` runs an experiment, and `jumbolab list` names all",
    ),
    wrong(
        &["overhead", "headers", "mss", "mtu"],
        "`jumbolab predict overhead` prints the bytes of headers",
    ),
    wrong(
        &["model", "limit", "calculate", "compute"],
        "`jumbolab predict limit` prints the most that links can carry",
    ),
    wrong(
        &["optimal", "optimum", "best"],
        "`jumbolab predict optimal` prints the best MTU of a path",
    ),
    wrong(
        &["arithmetic", "sums"],
        "`jumbolab predict arithmetic` computes the sums of the papers again",
    ),
    wrong(
        &["simulate", "sim", "simulation"],
        "`jumbolab run NAME --on sim` simulates an experiment",
    ),
    wrong(
        &["hosts", "remote", "ssh"],
        "`jumbolab run NAME --on hosts --host sender=A --host receiver=B` measures between two machines",
    ),
    wrong(
        &["netns", "kernel", "real"],
        "`jumbolab run NAME --on netns` measures with the kernel of this machine",
    ),
    wrong(
        &["server", "serve", "listen", "receive", "receiver"],
        "`jumbolab recv` receives the traffic of `jumbolab send HOST`",
    ),
    wrong(
        &["client", "sender", "generate", "traffic"],
        "`jumbolab send HOST` sends to `jumbolab recv` on that host",
    ),
    wrong(
        &["iperf", "iperf3", "netperf", "flent", "speed", "throughput"],
        "`jumbolab recv` on one host and `jumbolab send HOST --protocol tcp` on the other measure goodput between them",
    ),
    wrong(
        &["ping", "echo", "rtt", "latency"],
        "`jumbolab send HOST --protocol icmp` sends ICMP echo requests",
    ),
    wrong(
        &[
            "plot", "graph", "chart", "page", "html", "results", "view", "open",
        ],
        "`jumbolab report DIR` prints the results of a run and writes its page with plots",
    ),
    wrong(
        &["compare", "diff", "versus"],
        "`jumbolab report A B` compares two runs",
    ),
    wrong(
        &["csv", "json", "export"],
        "`jumbolab report DIR --csv` and `jumbolab report DIR --json` export results",
    ),
    wrong(
        &["ls", "experiments", "studies", "names"],
        "`jumbolab list` names the shipped experiments",
    ),
    wrong(
        &["cat", "print", "info", "describe", "explain"],
        "`jumbolab show NAME` prints a shipped experiment with its comments",
    ),
    wrong(
        &["new", "init", "create", "template", "copy", "edit"],
        "`jumbolab run --template` prints an experiment to start from, and `jumbolab show NAME --template` a copy of a shipped one",
    ),
    wrong(
        &["plan", "check", "validate", "lint", "dry-run"],
        "`jumbolab run NAME --dry-run` checks an experiment and prints its trials",
    ),
    wrong(
        &["sweep", "set", "vary"],
        "`jumbolab run NAME --set mtu=1500,9000` runs an experiment at several values of a key",
    ),
    wrong(
        &["resume", "continue"],
        "`jumbolab run NAME --resume` continues an interrupted run",
    ),
    wrong(
        &["replay"],
        "`jumbolab run replay --recording FILE` passes recorded frames through another queue",
    ),
    wrong(
        &["link", "netem", "tc", "queue", "shape", "delay"],
        "`jumbolab emulate --between IF1 IF2` emulates a link between two interfaces",
    ),
    wrong(
        &["record", "capture", "tcpdump", "pcap", "trace"],
        "`jumbolab emulate --between IF1 IF2 --record FILE` records the outcome of every frame, and `jumbolab send HOST --packet-log FILE` every message",
    ),
    wrong(
        &["log", "logs", "read"],
        "`jumbolab decode FILE` prints packet logs",
    ),
    wrong(
        &[
            "verify",
            "reproduce",
            "papers",
            "paper",
            "verdicts",
            "findings",
        ],
        "`jumbolab claims` lists the claims of the studied papers with their verdicts",
    ),
    wrong(
        &["search", "explore"],
        "`jumbolab sensitivity NAME` searches the settings that a study does not state",
    ),
    wrong(
        &["setup", "install", "diagnose", "status", "env"],
        "`jumbolab doctor` checks whether this machine is ready",
    ),
    wrong(
        &["usage", "commands"],
        "`jumbolab --help` lists the commands",
    ),
    wrong(&["version"], "`jumbolab --version` prints the version"),
];

/// Options of iperf3's client, and what to write for `send`.
const IPERF3: [(&str, &str); 29] = [
    ("-B", "--source ADDRESS"),
    ("-C", "--congestion cubic"),
    ("-J", "--json"),
    ("-M", "--mss 1428"),
    ("-P", "--flows 4"),
    ("-R", "--reverse"),
    ("-S", "--dscp EF"),
    ("-b", "--payload-rate 10mbit"),
    ("-c", "jumbolab send HOST, without an option"),
    ("-i", "--interval 1s"),
    ("-k", "--packets 1000"),
    ("-l", "--message 1400"),
    ("-n", "--bytes 10MB"),
    ("-p", "--port 7770"),
    ("-t", "--duration 10s"),
    ("-u", "--protocol udp, which is the default"),
    ("-w", "--send-buffer 1MB --receive-buffer 1MB"),
    ("--bandwidth", "--payload-rate 10mbit"),
    ("--bitrate", "--payload-rate 10mbit"),
    ("--blockcount", "--packets 1000"),
    ("--client", "jumbolab send HOST, without an option"),
    ("--length", "--message 1400"),
    (
        "--no-delay",
        "nothing: Nagle's algorithm is off unless --nagle asks for it",
    ),
    ("--parallel", "--flows 4"),
    ("--set-mss", "--mss 1428"),
    ("--time", "--duration 10s"),
    ("--tos", "--dscp EF"),
    ("--udp", "--protocol udp, which is the default"),
    ("--window", "--send-buffer 1MB --receive-buffer 1MB"),
];

/// The line for a usage error about an unknown command, a key of an experiment in the
/// place of an option, or an option of iperf3 behind `send`; nothing for other errors.
/// `typed` is the command line.
pub(super) fn answer(error: &clap::Error, typed: &[String]) -> Option<String> {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            answer_to(context(ContextKind::InvalidSubcommand)?, Build::HERE)
        }
        ErrorKind::UnknownArgument => {
            let (command, option) = (typed.get(1)?, context(ContextKind::InvalidArg)?);
            answer_to_key(command, option, &typed[2..])
                .or_else(|| answer_to_option(command, option))
        }
        _ => None,
    }
}

/// The answer to an option that is a key of the experiment among `words`.
fn answer_to_key(command: &str, option: &str, words: &[String]) -> Option<String> {
    if !matches!(command, "run" | "sensitivity" | "shell") {
        return None;
    }
    let key = option.strip_prefix("--")?.replace('-', "_");
    let names = words.iter().filter(|word| !word.starts_with('-'));
    let mut experiments = names.filter_map(|name| Experiment::load(name).ok());
    let experiment = experiments.next()?;
    experiment.key_of(&format!("{key}=1")).ok()?;
    let mut rest = words.iter().skip_while(|word| !word.starts_with(option));
    let value = match rest.next()?.split_once('=') {
        Some((_, value)) => Some(value),
        None => rest.next().map(String::as_str),
    };
    let value = value.filter(|value| !value.starts_with('-') && !value.is_empty());
    let value = value.unwrap_or("VALUE");
    Some(format!(
        "`{option}` is a key of the experiment: write --set {key}={value}"
    ))
}

/// The answer to an option behind a command.
fn answer_to_option(command: &str, letter: &str) -> Option<String> {
    match (command, letter) {
        ("send", "-s") => Some("`-s` is iperf3's: write `jumbolab recv`".into()),
        ("recv", "-s") => Some(
            "`-s` is iperf3's: `jumbolab recv` needs no option, and --iperf3 for clients of iperf3"
                .into(),
        ),
        ("send", _) => {
            let (_, option) = IPERF3.iter().find(|(known, _)| *known == letter)?;
            Some(format!("`{letter}` is iperf3's: write {option}"))
        }
        _ => None,
    }
}

/// The commands in the command lines of `text`.
fn commands_in(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.split("`jumbolab ").skip(1);
    lines.filter_map(|line| line.split([' ', '`']).next())
}

fn answer_to(word: &str, build: Build) -> Option<String> {
    let lower = word.to_lowercase();
    let wrong = WRONG_WORDS
        .iter()
        .find(|wrong| wrong.words.contains(&lower.as_str()));
    if let Some(WrongWord { answer, .. }) = wrong {
        let absent = commands_in(answer).find_map(|name| build.absence_of(name));
        let absent = absent.map_or_else(String::new, |why| format!("; {why}"));
        return Some(format!("there is no `{lower}`: {answer}{absent}"));
    }
    if let Some(why) = build.absence_of(&lower) {
        return Some(why);
    }
    let mut names = experiment::shipped().map(|shipped| shipped.name);
    let is_file = word.ends_with(".toml") && !word.contains(keyfile::acts_on_terminals);
    (is_file || names.any(|name| name == word))
        .then(|| format!("`{word}` is an experiment: `jumbolab run {word}` runs it"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The command lines in backquotes.
    fn quoted(text: &str) -> impl Iterator<Item = &str> {
        let inner = text.split('`').skip(1).step_by(2);
        inner.filter(|quoted| quoted.starts_with("jumbolab "))
    }

    #[test]
    fn each_answer_is_a_command_that_parses() {
        for WrongWord { words, answer, .. } in WRONG_WORDS {
            let lines: Vec<&str> = quoted(answer).collect();
            assert!(!lines.is_empty(), "{words:?}");
            for line in lines {
                let parsed = super::super::command().try_get_matches_from(line.split(' '));
                let shown = ["--help", "--version"]
                    .iter()
                    .any(|flag| line.ends_with(flag));
                assert_eq!(parsed.is_ok(), !shown, "{line}");
            }
        }
    }

    #[test]
    fn no_wrong_word_is_a_command_or_has_two_answers() {
        let commands = super::super::command();
        let mut seen = BTreeSet::new();
        for word in WRONG_WORDS.iter().flat_map(|wrong| wrong.words) {
            assert!(commands.find_subcommand(word).is_none(), "{word}");
            assert!(seen.insert(word), "{word}");
        }
    }

    #[test]
    fn another_system_says_what_an_answer_needs_and_what_it_lacks() {
        let build = Build {
            system: "windows",
            has_gateway: true,
        };
        let lacks = "there is no `gateway`; it needs Linux, and this program is for windows";
        assert_eq!(answer_to("gateway", build).unwrap(), lacks);
        #[cfg(feature = "gateway")]
        {
            let tunnel = answer_to("tunnel", build).unwrap();
            assert!(
                tunnel.starts_with("there is no `tunnel`: `jumbolab gateway` aggregates"),
                "{tunnel}"
            );
            assert!(tunnel.ends_with(lacks), "{tunnel}");
        }
        let compare = answer_to("compare", build).unwrap();
        assert!(!compare.contains("Linux"), "{compare}");
    }

    #[test]
    fn other_words_are_left_to_the_parser() {
        let error = |word: &str| {
            let parsed = super::super::command().try_get_matches_from(["jumbolab", word]);
            parsed.unwrap_err()
        };
        assert_eq!(
            answer(&error("compare"), &[]).unwrap(),
            "there is no `compare`: `jumbolab report A B` compares two runs"
        );
        assert_eq!(
            answer(&error("stall"), &[]).unwrap(),
            "`stall` is an experiment: `jumbolab run stall` runs it"
        );
        assert_eq!(answer(&error("reprot"), &[]), None);
        assert_eq!(answer(&error("--nonsense"), &[]), None);
    }

    #[test]
    fn a_key_in_the_place_of_an_option_is_answered_with_set() {
        for (line, answer) in [
            (
                "run os-comparison --mtu 9000",
                "`--mtu` is a key of the experiment: write --set mtu=9000",
            ),
            (
                "shell os-comparison sender --mtu=9000",
                "`--mtu` is a key of the experiment: write --set mtu=9000",
            ),
            (
                "run --rate 1gbit os-comparison",
                "`--rate` is a key of the experiment: write --set rate=1gbit",
            ),
            (
                "sensitivity aqm-congestion --network.delay --json",
                "`--network.delay` is a key of the experiment: write --set network.delay=VALUE",
            ),
        ] {
            let typed: Vec<String> = format!("jumbolab {line}")
                .split(' ')
                .map(str::to_owned)
                .collect();
            let error = super::super::command().try_get_matches_from(&typed);
            assert_eq!(
                super::answer(&error.unwrap_err(), &typed).as_deref(),
                Some(answer),
                "{line}"
            );
        }
        let typed = ["jumbolab", "run", "os-comparison", "--nonsense"].map(str::to_owned);
        let error = super::super::command().try_get_matches_from(&typed);
        assert_eq!(super::answer(&error.unwrap_err(), &typed), None);
    }

    #[test]
    fn options_of_iperf3_are_answered_with_options_that_there_are() {
        let command = super::super::command();
        let send = command.find_subcommand("send").unwrap();
        let longs: Vec<&str> = send
            .get_arguments()
            .filter_map(|arg| arg.get_long())
            .collect();
        for (letter, answer) in IPERF3 {
            let options = answer
                .split([' ', ','])
                .filter_map(|word| word.strip_prefix("--"));
            for option in options {
                assert!(longs.contains(&option), "{letter}: {answer}");
            }
            let typed = ["jumbolab", "send", "::1", letter].map(str::to_owned);
            let error = super::super::command().try_get_matches_from(&typed);
            let answered = super::answer(&error.unwrap_err(), &typed);
            assert_eq!(
                answered,
                Some(format!("`{letter}` is iperf3's: write {answer}"))
            );
        }
        let typed = ["jumbolab", "run", "stall", "-t"].map(str::to_owned);
        let error = super::super::command().try_get_matches_from(&typed);
        assert_eq!(super::answer(&error.unwrap_err(), &typed), None);
    }
}
