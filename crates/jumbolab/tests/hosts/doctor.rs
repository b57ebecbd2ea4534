//! `jumbolab doctor --host`: what other machines can do.

use serde_json::Value;

use crate::bed::see;

#[test]
fn each_host_says_what_it_can_do_and_one_that_is_away_is_one_line() {
    let said = see(r#"
host a 1; host b 2
alias_of away "HostName 10.9.0.77"
doctor() { code=0; "$JUMBOLAB" doctor "$@" || code=$?; echo "code $code"; }
doctor --json --host a --host root@10.9.0.2
doctor --host away
"#);
    let objects: Vec<Value> = said
        .iter()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    assert_eq!(objects.len(), 2, "{said:#?}");
    for (object, host) in objects.iter().zip(["a", "root@10.9.0.2"]) {
        assert_eq!(
            (&object["host"], &object["root"]),
            (&host.into(), &true.into())
        );
        let check = |name: &str| {
            let checks = object["checks"].as_array().unwrap().iter();
            let found = checks.clone().find(|check| check["name"] == name);
            found.unwrap_or_else(|| panic!("no {name}: {object:#}"))
        };
        let finds = |name: &str, words: &str| {
            let finding = check(name)["finding"].as_str().unwrap();
            assert!(finding.contains(words), "{name}: {finding}");
        };
        finds("program", "/jumbolab");
        finds("privilege", "root: MTU and offloads can be changed");
        finds("eth0", "carries this ssh connection");
        let wide = &check("eth1")["figures"];
        assert_eq!(
            (&wide["mtu"], &wide["largest_mtu"]),
            (&9000.into(), &65_535.into())
        );
        for name in ["congestion", "synchronisation", "netns"] {
            assert!(check(name)["finding"].is_string(), "{name}");
        }
    }
    let away: Vec<&String> = said.iter().filter(|line| line.contains("away")).collect();
    assert_eq!(away.len(), 1, "{said:#?}");
    assert!(away[0].contains("host away: "), "{away:?}");
    assert_eq!(said.last().unwrap(), "code 2");
}
