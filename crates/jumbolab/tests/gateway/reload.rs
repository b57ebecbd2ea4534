//! Configurations that are read again while packets cross.

use super::see;

/// The gateways; that of b has the configuration b.toml.
const BEGIN: &str = r#"
peer() { # NUMBER ADDRESS LOCAL PREFIXES
    printf '[peers.p%s]\naddress = "%s"\nlocal = "%s"\nprefixes = [%s]\n' "$@"
}
base() {
    printf '[inside]\ninterfaces = ["in"]\nroutes = "leave"\n'
    peer a 192.0.2.1 ${1:-198.51.100.1} '"10.1.0.0/24"'
}
base >b.toml
begin gb --config b.toml
begin ga --inside-interface in --local 192.0.2.1 --peer 198.51.100.1 --prefix 10.2.0.0/24
"#;

#[test]
fn a_large_configuration_does_not_delay_packets() {
    let seen = see(&format!(
        "{BEGIN}
        python3 - >>b.toml <<'END'
# 700 peers, and 45 networks behind each.
for peer in range(700):
    networks = ((peer * 45 + number) << 8 for number in range(45))
    listed = \", \".join(f'\"20.{{n >> 16}}.{{n >> 8 & 255}}.0/24\"' for n in networks)
    print(f'[peers.n{{peer}}]\\naddress = \"172.16.{{peer >> 8}}.{{peer & 255}}\"')
    print(f'local = \"198.51.100.1\"\\nprefixes = [{{listed}}]')
END
        in_node a ping -c 400 -i 0.01 -w 30 10.2.0.2 >pings &
        pings=$!
        kill -HUP $gb
        until_said gb '\"reloaded\"'
        wait $pings
        tail -2 pings
        end ga gb\n"
    ));
    assert!(seen.printed.contains("400 received"), "{}", seen.printed);
    // In turn with the reading, packets would wait until it has ended, about ten seconds
    // where each network is compared with all before it.
    let most = seen.printed.split('/').nth(5).unwrap();
    assert!(most.parse::<f64>().unwrap() < 3_000.0, "{}", seen.printed);
    let prefixes = |line: &&serde_json::Value| line["kind"] == "reloaded";
    let line = seen.logs[1].iter().find(prefixes).unwrap();
    assert_eq!(line["prefixes"], 31_501, "{line}");
    seen.conserved();
}

#[test]
fn a_configuration_that_cannot_be_leaves_the_old_one_in_force() {
    let seen = see(&format!(
        "{BEGIN}
        crosses_after start
        rejected() {{
            local before=$(grep -c not_reloaded gb.log)
            kill -HUP $gb
            for try in $(seq 1000); do
                if [ $(grep -c not_reloaded gb.log) -gt $before ]; then break; fi
                sleep 0.01
            done
            crosses_after \"$1\"
        }}
        # A reader of a pipe would wait for its writer.
        mv b.toml kept; mkfifo b.toml; rejected pipe
        rm b.toml; base 198.51.100.77 >b.toml; rejected 'an address of another host'
        (cat kept; echo '[operation]'; echo 'metrics_listen = \"127.0.0.1:9790\"') >b.toml
        rejected 'other metrics'
        # The options name the log.
        (cat kept; echo '[operation]'; echo 'log = \"other.log\"') >b.toml
        kill -HUP $gb; until_said gb '\"reloaded\"'
        mv kept b.toml
        kill -HUP $gb
        for try in $(seq 1000); do
            if [ $(grep -c '\"reloaded\"' gb.log) -gt 1 ]; then break; fi
            sleep 0.01
        done
        crosses_after end
        # The check is that of a start.
        in_node gb \"$JUMBOLAB\" gateway --config b.toml --check
        set_in gb net.ipv4.conf.in.forwarding=1
        in_node gb \"$JUMBOLAB\" gateway --config b.toml --check 2>rejected && exit 1
        grep 'the kernel forwards from them, too' rejected
        end ga gb\n"
    ));
    assert!(seen.printed.contains("is right"), "{}", seen.printed);
    let rejected = seen.logs[1]
        .iter()
        .filter(|line| line["kind"] == "not_reloaded");
    let words: Vec<&str> = rejected
        .map(|line| line["text"].as_str().unwrap())
        .collect();
    let [pipe, address, metrics] = words[..] else {
        panic!("{words:?}");
    };
    assert!(pipe.contains("not a regular file"), "{pipe}");
    assert!(address.contains("198.51.100.77"), "{address}");
    assert!(metrics.contains("operation.metrics_listen"), "{metrics}");
    assert_eq!(seen.events(1, "reloaded"), 2, "{:?}", seen.logs[1]);
    seen.conserved();
}
