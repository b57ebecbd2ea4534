//! The use of a gateway's processor: priority, and looking without sleeping.

use super::see;

/// Gateways whose configurations have `OPERATION`.
const GATEWAYS: &str = r#"
configure() { # NODE LOCAL PEER PREFIX
    cat >"$1.toml" <<END
[inside]
interfaces = ["in"]
[operation]
$OPERATION
[aggregation]
trigger = "busy"
[peers.far]
address = "$3"
local = "$2"
prefixes = ["$4"]
END
    begin $1 --config "$1.toml"
}
both() {
    configure ga 192.0.2.1 198.51.100.1 10.2.0.0/24
    configure gb 198.51.100.1 192.0.2.1 10.1.0.0/24
}
"#;

#[test]
fn a_gateway_that_spins_does_not_sleep_between_packets() {
    let sleeps = |operation: &str| {
        let seen = see(&format!(
            "{GATEWAYS}
            OPERATION='{operation}'
            both
            slept() {{ awk '/^voluntary/ {{ print $2 }}' /proc/$ga/status; }}
            in_node a ping -q -c 3 -i 0.05 -w 5 10.2.0.2 >/dev/null
            before=$(slept)
            in_node a ping -q -c 40 -i 0.005 -w 20 10.2.0.2 | grep received
            echo \"{{\\\"slept\\\": $(($(slept) - before))}}\"
            end ga gb\n"
        ));
        seen.conserved();
        let objects = seen.objects();
        objects.first().and_then(|one| one["slept"].as_u64())
    };
    let (asleep, spinning) = (sleeps(""), sleeps("spin = \"1s\""));
    // Each ping wakes a gateway that sleeps, and its answer does.
    assert!(asleep > Some(40), "{asleep:?}");
    assert!(spinning < Some(20), "{spinning:?}");
}

#[test]
fn where_the_kernel_rejects_real_time_priority_a_gateway_says_so_and_forwards() {
    // Root of a user namespace has no CAP_SYS_NICE that counts.
    let seen = see(&format!(
        "{GATEWAYS}
        OPERATION='priority = \"real-time\"'
        both
        crosses_after start
        until_said ga '\"problem\"'
        end ga gb\n"
    ));
    let problem = seen.logs[0].iter().find(|line| line["kind"] == "problem");
    let text = problem.expect("until_said")["text"].as_str();
    let said = "the kernel allows no real-time priority (CAP_SYS_NICE)";
    assert_eq!(text, Some(said));
    seen.conserved();
}
