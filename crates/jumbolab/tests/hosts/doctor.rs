//! `jumbolab doctor HOST`: what other machines can do.

use serde_json::Value;

use crate::bed::{Bed, Between};
use crate::mesh::lines;
use crate::schema;

#[test]
fn each_host_says_what_it_can_do_and_one_that_is_away_is_one_line() {
    let bed = Bed::new(Between::Cable);
    let doctor = |words: &[&str]| lines(&mut bed.command(&[&["doctor"], words].concat()));
    let said = doctor(&["--json", "a", "root@10.9.2.2"]);
    let objects: Vec<Value> = said
        .iter()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    assert_eq!(objects.len(), 2, "{said:#?}");
    for (object, host) in objects.iter().zip(["a", "root@10.9.2.2"]) {
        schema::check(object);
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
        finds("mgmt", "carries this ssh connection");
        let wide = &check("meas")["values"];
        assert_eq!(
            (&wide["mtu"], &wide["max_mtu"]),
            (&9000.into(), &65_535.into())
        );
        for name in ["congestion", "synchronisation", "netns"] {
            assert!(check(name)["finding"].is_string(), "{name}");
        }
    }
    let said = doctor(&["gone"]);
    let away: Vec<&String> = said.iter().filter(|line| line.contains("gone")).collect();
    assert_eq!(away.len(), 1, "{said:#?}");
    assert!(away[0].contains("host gone: "), "{away:?}");
    assert_eq!(said.last().unwrap(), "code 2");
}
