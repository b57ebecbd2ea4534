//! `jumbolab probe --mesh`: what it finds, and what becomes of hosts that cannot be reached
//! or drop out.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::bed::{Bed, Between, signal, until};
use crate::schema;

/// Four machines, and the file with them.
fn four() -> Bed {
    let bed = Bed::new(Between::Switches);
    let lines = ["a", "b", "c", "d"].iter().zip(1..);
    let lines = lines.map(|(name, number)| format!("{name} ssh={name} address=10.8.0.{number}\n"));
    fs::write(bed.path("hosts"), lines.collect::<String>()).unwrap();
    bed
}

fn mesh(bed: &Bed, options: &[&str]) -> Command {
    let words = [&["probe", "--mesh", "hosts"], options].concat();
    bed.command(&words)
}

/// The lines of a mesh, and last its code.
fn said(bed: &Bed, options: &[&str]) -> Vec<String> {
    lines(&mut mesh(bed, options))
}

/// The lines of a command, and last its code.
pub(crate) fn lines(command: &mut Command) -> Vec<String> {
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    let lines = text.lines().map(str::to_owned);
    let code = format!("code {}", output.status.code().unwrap());
    lines.chain([code]).collect()
}

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
    let of_kind: Vec<Value> = of_kind.collect();
    of_kind.iter().for_each(schema::check);
    of_kind
}

const UDP_ICMP: [&str; 2] = ["--protocol", "udp,icmp"];

#[test]
fn a_clean_mesh_is_clean_and_a_small_port_is_named() {
    let bed = four();
    let clean = said(&bed, &UDP_ICMP);
    says(
        &clean,
        "All 12 paths between 4 hosts deliver packets of 9000 bytes.",
    );
    says(&clean, "code 0");
    bed.network("link set port-b mtu 1500");
    let small = said(&bed, &[&UDP_ICMP[..], &["--page", "page.html"]].concat());
    let page = fs::read_to_string(bed.path("page.html")).unwrap();
    assert!(page.contains("every path"));
    says(
        &small,
        "6 of 12 paths between 4 hosts deliver packets of 9000 bytes.",
    );
    says(
        &small,
        "b: its interface or its port of the switch; every path from and to b",
    );
    says(&small, "1500*");
    says(&small, "code 1");
}

#[test]
fn a_small_link_between_switches_is_named() {
    let bed = four();
    for host in ["c", "d"] {
        bed.network(&format!("link set port-{host} master two"));
    }
    bed.network("link set up-one mtu 1500");
    let said = said(&bed, &[&UDP_ICMP[..], &["--json"]].concat());
    let faults = objects(&said, "mesh_problem");
    assert_eq!(faults.len(), 1, "{said:#?}");
    let groups = serde_json::json!([["a", "b"], ["c", "d"]]);
    assert_eq!(
        (&faults[0]["place"], &faults[0]["groups"]),
        (&"groups".into(), &groups)
    );
    assert_eq!(objects(&said, "mesh_entry").len(), 12);
    let clean = objects(&said, "mesh_path");
    let clean = clean
        .iter()
        .filter(|path| path["verdict"] == "clean")
        .count();
    assert_eq!(clean, 4, "{said:#?}");
    says(&said, "code 1");
}

#[test]
fn a_host_that_cannot_be_used_costs_its_paths_and_the_remedy_is_named() {
    let bed = Bed::new(Between::Switches);
    bed.spoil_destinations();
    let hosts = "\
a           ssh=a address=10.8.0.1  # these two work
b           ssh=b address=10.8.0.2
wrong-key   ssh=wrong-key address=10.8.0.11
unknown-key ssh=unknown-key address=10.8.0.12
no-key      ssh=no-key address=10.8.0.13
rejecting    ssh=rejecting address=10.8.0.14
away        ssh=gone address=10.8.0.15
routeless   ssh=routeless address=10.8.0.16
nameless    ssh=name.invalid address=10.8.0.17
elsewhere   ssh=root@10.9.2.2 address=10.8.0.99
kind        ssh=c address=10.8.0.3
sudo        ssh=d address=10.8.0.4 become=sudo
doas        ssh=root@10.9.4.2 address=10.8.0.18 become=no-such-program
";
    fs::write(bed.path("hosts"), hosts).unwrap();
    let said = said(&bed, &["--protocol", "udp", "--json"]);
    let hosts = objects(&said, "mesh_host");
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
            "rejecting",
            ["it rejects the connection", "systemctl start ssh"],
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
        let lost = found.and_then(|one| one["error"].as_str());
        let lost = lost.unwrap_or_else(|| panic!("{host}: {said:#?}"));
        assert!(
            words.iter().all(|words| lost.contains(words)),
            "{host}: {lost}"
        );
        assert!(!lost.contains('\n'), "{lost}");
    }
    let paths = objects(&said, "mesh_path");
    let verdicts: Vec<&Value> = paths.iter().map(|path| &path["verdict"]).collect();
    assert_eq!(verdicts, ["clean", "clean"], "{said:#?}");
    assert_eq!(said.last().unwrap(), "code 3");
    let said = lines(mesh(&bed, &[]).env("JUMBOLAB_SSH", "no-such-ssh"));
    says(&said, "there is no program `no-such-ssh` here; install it");
    assert_eq!(said.last().unwrap(), "code 2");
}

#[test]
fn the_program_is_copied_once_and_anew_if_another_one_is_there() {
    let bed = Bed::new(Between::Cable);
    let hosts = "a ssh=a address=10.8.0.1\nb address=10.8.0.2\n";
    fs::write(bed.path("hosts"), hosts).unwrap();
    // A folder for cached files that other tests do not share.
    let cache = bed.host_folder("a").join("home/.cache");
    fs::remove_file(&cache).unwrap();
    let probe = || said(&bed, &["--protocol", "icmp"]);
    let folder = || {
        let all = fs::read_dir(cache.join("jumbolab")).unwrap();
        all.map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    let copy = || folder().pop().unwrap().join("jumbolab");
    let ours = || fs::read(env!("CARGO_BIN_EXE_jumbolab")).unwrap();
    probe();
    assert!(ours() == fs::read(copy()).unwrap(), "the first copy");
    let first = fs::metadata(copy()).unwrap().ino();
    probe();
    assert_eq!(
        fs::metadata(copy()).unwrap().ino(),
        first,
        "not copied again"
    );
    fs::write(copy(), "#!/bin/sh\necho jumbolab 0.0.1\n").unwrap();
    probe();
    assert!(ours() == fs::read(copy()).unwrap(), "copied anew");
    let mode = fs::metadata(copy()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "private");
    assert_eq!(folder().len(), 1);
    assert_eq!(fs::read_dir(&folder()[0]).unwrap().count(), 1);
}

#[test]
fn a_host_that_drops_out_costs_its_paths_and_a_stopped_mesh_keeps_what_it_found() {
    let bed = four();
    let prober = |host: &str| bed.workers(host, &["--worker", "prober"]);
    let begin = |options: &[&str], host: &str| {
        let mut command = mesh(&bed, options);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        until(|| !prober(host).is_empty());
        child
    };
    let child = begin(&["--json"], "c");
    signal("-9", &prober("c"));
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let said: Vec<String> = text.lines().map(str::to_owned).collect();
    let lost = objects(&said, "mesh_host");
    let lost: Vec<&Value> = lost
        .iter()
        .filter(|host| !host["error"].is_null())
        .collect();
    assert_eq!(lost.len(), 1, "{said:#?}");
    assert_eq!(lost[0]["host"], "c");
    let clean = objects(&said, "mesh_path");
    let others = clean
        .iter()
        .filter(|path| path["from"] != "c" && path["to"] != "c");
    let verdicts: Vec<&Value> = others.map(|path| &path["verdict"]).collect();
    assert_eq!(verdicts, ["clean"; 6], "{said:#?}");
    assert_eq!(output.status.code(), Some(3));

    let child = begin(&[], "d");
    signal("-INT", &[child.id()]);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(
        text.contains("It was stopped before all paths were seen."),
        "{text}"
    );

    let mut child = begin(&[], "d");
    child.kill().unwrap();
    child.wait().unwrap();
    let is_ours = |(_, words): &(u32, Vec<String>)| {
        let mut names = words.iter().take(1).map(|word| word.rsplit('/').next());
        names.any(|name| matches!(name, Some("jumbolab" | "ssh")))
    };
    for place in [None, Some("a"), Some("b"), Some("c"), Some("d")] {
        until(|| !bed.processes(place).iter().any(is_ours));
    }
}
