//! `jumbolab probe --mesh` between machines with a real sshd: what it finds, and what
//! becomes of hosts that cannot be reached or drop out.

mod bed;
mod doctor;

use serde_json::Value;

use bed::see;

/// Four machines, and the file with them.
const FOUR: &str = "
host a 1; host b 2; host c 3; host d 4
for number in 1 2 3 4; do
    name=$(printf %s abcd | cut -c $number)
    echo \"$name ssh=$name address=10.8.0.$number\"
done >hosts
mesh() { code=0; \"$JUMBOLAB\" probe --mesh hosts --protocol udp,icmp \"$@\" || code=$?; echo \"code $code\"; }
";

fn is_said(said: &[String], words: &str) -> bool {
    said.iter().any(|line| line.contains(words))
}

#[track_caller]
fn says(said: &[String], words: &str) {
    assert!(is_said(said, words), "{words}: {said:#?}");
}

/// The objects of a kind.
fn objects(said: &[String], kind: &str) -> Vec<Value> {
    let objects = said
        .iter()
        .filter_map(|line| serde_json::from_str(line).ok());
    let of_kind = objects.filter(|object: &Value| object["kind"] == kind);
    of_kind.collect()
}

#[test]
fn a_clean_mesh_is_clean_and_a_small_port_is_named() {
    let said = see(&format!(
        "{FOUR}mesh; port b 1500; mesh --page page.html; grep -c 'every path' page.html"
    ));
    says(
        &said,
        "All 12 paths between 4 hosts carry packets of 9000 octets.",
    );
    says(&said, "code 0");
    says(
        &said,
        "6 of 12 paths between 4 hosts carry packets of 9000 octets.",
    );
    says(
        &said,
        "b: its interface or its port of the switch; every path from and to b",
    );
    says(&said, "1500*");
    says(&said, "code 1");
}

#[test]
fn a_small_link_between_switches_is_named() {
    let said = see(&format!(
        "{FOUR}behind c two; behind d two; ip link set uplink-one mtu 1500; mesh --json"
    ));
    let faults = objects(&said, "mesh-fault");
    assert_eq!(faults.len(), 1, "{said:#?}");
    let groups = serde_json::json!([["a", "b"], ["c", "d"]]);
    assert_eq!(
        (&faults[0]["place"], &faults[0]["groups"]),
        (&"groups".into(), &groups)
    );
    assert_eq!(objects(&said, "mesh-entry").len(), 12);
    let clean = objects(&said, "mesh-path");
    let clean = clean
        .iter()
        .filter(|path| path["verdict"] == "clean")
        .count();
    assert_eq!(clean, 4, "{said:#?}");
    says(&said, "code 1");
}

#[test]
fn a_host_that_cannot_be_used_costs_its_paths_and_the_remedy_is_named() {
    let said = see(r#"
host a 1; host b 2; host c 3; host d 4
echo "10.9.0.1 $(cat key.pub)" >wrong-keys
alias_of wrong-key "HostName 10.9.0.1" "UserKnownHostsFile $place/wrong-keys"
alias_of unknown-key "HostName 10.9.0.1" "UserKnownHostsFile $place/none"
alias_of no-key "HostName 10.9.0.1" "PubkeyAuthentication no"
alias_of refusing "HostName 10.9.0.1" "Port 23"
alias_of away "HostName 10.9.0.77"
alias_of routeless "HostName 10.77.0.1"
program c uname <<'END'
#!/bin/sh
case $1 in -m) echo riscv64;; *) echo Linux;; esac
END
program d sudo <<'END'
#!/bin/sh
echo "sudo: a password is required" >&2
exit 1
END
cat >hosts <<'END'
a           ssh=a address=10.8.0.1  # these two work
b           ssh=b address=10.8.0.2
wrong-key   ssh=wrong-key address=10.8.0.11
unknown-key ssh=unknown-key address=10.8.0.12
no-key      ssh=no-key address=10.8.0.13
refusing    ssh=refusing address=10.8.0.14
away        ssh=away address=10.8.0.15
routeless   ssh=routeless address=10.8.0.16
nameless    ssh=name.invalid address=10.8.0.17
elsewhere   ssh=root@10.9.0.2 address=10.8.0.99
kind        ssh=c address=10.8.0.3
sudo        ssh=d address=10.8.0.4 become=sudo
doas        ssh=root@10.9.0.4 address=10.8.0.18 become=no-such-program
END
code=0
"$JUMBOLAB" probe --mesh hosts --protocol udp --json || code=$?
echo "code $code"
code=0
JUMBOLAB_SSH=no-such-ssh "$JUMBOLAB" probe --mesh hosts || code=$?
echo "code $code"
"#);
    let hosts = objects(&said, "mesh-host");
    for (host, words) in [
        (
            "wrong-key",
            ["its host key is not the known one", "ssh-keygen -R"],
        ),
        (
            "unknown-key",
            ["its host key is unknown", "compare the key"],
        ),
        ("no-key", ["it accepts no key of yours", "ssh-copy-id"]),
        (
            "refusing",
            ["it refuses the connection", "systemctl start ssh"],
        ),
        ("away", ["it cannot be reached", "ping"]),
        ("routeless", ["it cannot be reached", "ping"]),
        (
            "elsewhere",
            ["it does not have the address 10.8.0.99", "write address="],
        ),
        ("nameless", ["its name is not known", "~/.ssh/config"]),
        (
            "kind",
            [
                "it runs Linux riscv64, and this program is for",
                "install jumbolab",
            ],
        ),
        ("sudo", ["`sudo` wants a password there", "NOPASSWD"]),
        (
            "doas",
            [
                "there is no program `no-such-program` there",
                "leave `become` out",
            ],
        ),
    ] {
        let found = hosts.iter().find(|one| one["host"] == host);
        let lost = found.and_then(|one| one["lost"].as_str());
        let lost = lost.unwrap_or_else(|| panic!("{host}: {said:#?}"));
        assert!(
            words.iter().all(|words| lost.contains(words)),
            "{host}: {lost}"
        );
        assert!(!lost.contains('\n'), "{lost}");
    }
    let paths = objects(&said, "mesh-path");
    let verdicts: Vec<&Value> = paths.iter().map(|path| &path["verdict"]).collect();
    assert_eq!(verdicts, ["clean", "clean"], "{said:#?}");
    let codes: Vec<&String> = said
        .iter()
        .filter(|line| line.starts_with("code "))
        .collect();
    assert_eq!(codes, ["code 2", "code 2"]);
    says(&said, "there is no program `no-such-ssh` here; install it");
}

#[test]
fn the_program_is_copied_once_and_anew_if_another_one_is_there() {
    let said = see(r#"
host a 1; host b 2
printf 'a ssh=a address=10.8.0.1\nb address=10.8.0.2\n' >hosts
mesh() { "$JUMBOLAB" probe --mesh hosts --protocol icmp || true; }
copy() { echo "$place"/a/home/.cache/jumbolab/*/jumbolab; }
mesh >/dev/null
cmp "$JUMBOLAB" "$(copy)" && echo first copy
before=$(stat -c %i "$(copy)")
mesh >/dev/null
[ "$before" = "$(stat -c %i "$(copy)")" ] && echo not copied again
printf '#!/bin/sh\necho jumbolab 0.0.1\n' >"$(copy)"
mesh >/dev/null
cmp "$JUMBOLAB" "$(copy)" && echo copied anew
[ "$(stat -c %a "$(copy)")" = 700 ] && echo private
ls "$(dirname "$(copy)")" | wc -l
"#);
    for words in ["first copy", "not copied again", "copied anew", "private"] {
        says(&said, words);
    }
    assert_eq!(said.last().map(String::as_str), Some("1"));
}

#[test]
fn a_host_that_drops_out_costs_its_paths_and_a_stopped_mesh_keeps_what_it_found() {
    let said = see(&format!(
        r#"{FOUR}
worker() {{ pgrep -f "^$place/$1/home/.*--worker prober"; }}
kill_worker() {{ kill -9 $(worker "$1"); }}
mesh --json >lost & run=$!
eventually kill_worker c
wait $run
cat lost
"$JUMBOLAB" probe --mesh hosts >stopped 2>&1 & run=$!
eventually worker d
kill -INT $run
code=0; wait $run || code=$?
echo "stopped with code $code"; cat stopped
"$JUMBOLAB" probe --mesh hosts >killed 2>&1 & run=$!
eventually worker d
kill -9 $run
none() {{ ! pgrep -x jumbolab && ! pgrep -x ssh; }}
eventually none
echo nothing is left
"#
    ));
    let lost = objects(&said, "mesh-host");
    let lost: Vec<&Value> = lost.iter().filter(|host| !host["lost"].is_null()).collect();
    assert_eq!(lost.len(), 1, "{said:#?}");
    assert_eq!(lost[0]["host"], "c");
    let clean = objects(&said, "mesh-path");
    let others = clean
        .iter()
        .filter(|path| path["from"] != "c" && path["to"] != "c");
    let verdicts: Vec<&Value> = others.map(|path| &path["verdict"]).collect();
    assert_eq!(verdicts, ["clean"; 6], "{said:#?}");
    says(&said, "code 2");
    says(&said, "stopped with code 130");
    says(&said, "It was stopped before all paths were seen.");
    says(&said, "nothing is left");
}
