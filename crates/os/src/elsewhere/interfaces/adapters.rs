//! The offloads that are configured for the network adapters of Windows.

use windows_registry::{Key, LOCAL_MACHINE};

/// The settings of network adapters, a key for each of them [WinNetworkClass].
const ADAPTERS: &str =
    r"SYSTEM\CurrentControlSet\Control\Class\{4d36e972-e325-11ce-bfc1-08002be10318}";

/// The keyword of the identity of an adapter.
const IDENTITY: &str = "NetCfgInstanceId";

/// The offloads by which an adapter takes or returns more than its MTU at once: 1 is on
/// [NdisKeywords]. A star is in front of each.
const OFFLOADS: [&str; 7] = [
    "LsoV1IPv4",
    "LsoV2IPv4",
    "LsoV2IPv6",
    "UsoIPv4",
    "UsoIPv6",
    "RscIPv4",
    "RscIPv6",
];

/// The offloads of the adapter with this identity (`{...}`) that are on. Adapters without
/// settings, such as that of loopback, have none.
pub(super) fn offloads(identity: &str) -> Vec<String> {
    let adapters = LOCAL_MACHINE.open(ADAPTERS);
    adapters.map_or_else(|_| Vec::new(), |adapters| configured(&adapters, identity))
}

fn configured(adapters: &Key, identity: &str) -> Vec<String> {
    let keys = adapters.keys().into_iter().flatten();
    let mut keys = keys.filter_map(|key| adapters.open(key).ok());
    let adapter = keys.find(|key| {
        let own = key.get_string(IDENTITY);
        own.is_ok_and(|own| own.eq_ignore_ascii_case(identity))
    });
    let is_on = |adapter: &Key, keyword: &str| {
        let set = adapter.get_string(format!("*{keyword}"));
        // Without a setting the driver takes its default, which its installation states.
        let default = || {
            let parameters = adapter.open(format!(r"Ndi\params\*{keyword}"));
            parameters.and_then(|parameters| parameters.get_string("default"))
        };
        set.or_else(|_| default()).is_ok_and(|value| value == "1")
    };
    let on = adapter.into_iter().flat_map(|adapter| {
        let on = OFFLOADS.into_iter();
        on.filter(move |keyword| is_on(&adapter, keyword))
    });
    on.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use windows_registry::CURRENT_USER;

    use super::*;

    #[test]
    fn settings_of_the_adapter_count_and_defaults_where_it_has_none() {
        let path = format!(r"Software\jumbolab-test-{}", std::process::id());
        let adapters = CURRENT_USER.create(&path).unwrap();
        for (name, identity) in [("0000", "{AB-1}"), ("0003", "{AB-2}")] {
            let adapter = adapters.create(name).unwrap();
            adapter.set_string(IDENTITY, identity).unwrap();
            adapter.set_string("*LsoV2IPv4", "1").unwrap();
            let default = adapter.create(r"Ndi\params\*RscIPv4").unwrap();
            default.set_string("default", "1").unwrap();
        }
        assert_eq!(configured(&adapters, "{ab-1}"), ["LsoV2IPv4", "RscIPv4"]);
        let changed = CURRENT_USER.create(format!(r"{path}\0003")).unwrap();
        changed.set_string("*LsoV2IPv4", "0").unwrap();
        changed.set_string("*RscIPv6", "1").unwrap();
        assert_eq!(configured(&adapters, "{AB-2}"), ["RscIPv4", "RscIPv6"]);
        assert!(configured(&adapters, "{AB-3}").is_empty());
        CURRENT_USER.remove_tree(&path).unwrap();
    }
}
