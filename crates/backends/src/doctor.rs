//! Checks this machine for runs: available backends, missing features with
//! remedies, and the precision of its timing.
//!
//! [`Facts`] are aggregated first; [`judge`] derives checks from them alone. Systems other than
//! Linux have checks of their own, in `elsewhere`.

#[cfg(target_os = "linux")]
pub(crate) mod attempt;
#[cfg(target_os = "linux")]
mod backends;
mod check;
// On Linux the tests alone use it.
#[cfg(any(test, not(target_os = "linux")))]
#[cfg_attr(target_os = "linux", allow(dead_code, unreachable_pub))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod emulated;
#[cfg(target_os = "linux")]
mod facts;
mod interfaces;
#[cfg(target_os = "linux")]
mod kernel;
mod precision;
#[cfg(target_os = "linux")]
mod processors;
#[cfg(target_os = "linux")]
mod timing;

#[cfg(all(test, target_os = "linux"))]
mod tests;

use serde_json::{Value, json};

#[cfg(target_os = "linux")]
pub use attempt::{Ability, Attempt, Encapsulation, Inside, Step, Trial};
pub use check::{Check, Group, Status};
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{Facts, judge};
#[cfg(target_os = "linux")]
pub use facts::{Clock, Facts, Load};

/// Derives all checks from the facts, in the order of the groups.
#[cfg(target_os = "linux")]
pub fn judge(facts: &Facts) -> Vec<Check> {
    let mut checks = backends::judge(facts);
    checks.extend(kernel::judge(facts));
    checks.extend(processors::judge(facts));
    checks.extend(timing::judge(facts));
    checks.extend(emulated::judge(facts));
    checks.extend(interfaces::judge(
        facts.nics.as_deref(),
        facts.management.as_deref(),
    ));
    checks
}

/// All checks of this machine as one JSON object (docs/reference/json.md).
pub fn to_json(facts: &Facts, checks: &[Check]) -> Value {
    let mut json = json!({
        "kind": "doctor",
        "version": env!("CARGO_PKG_VERSION"),
        "kernel": facts.machine.kernel,
        "root": facts.privileged,
        "checks": checks,
    });
    if let Some(remark) = remark() {
        json["remark"] = remark.into();
    }
    json
}

/// A request to send the report of this system; none on Linux, where the program is tested.
pub fn remark() -> Option<String> {
    remark_on(&os::machine::system())
}

/// The remark on a system by its name, as `uname -s` prints it.
fn remark_on(system: &str) -> Option<String> {
    let system = match system {
        "Linux" => return None,
        wine if plan::is_wine(wine) => {
            return Some(
                "This is Wine, not Windows: this report says nothing about Windows.".into(),
            );
        }
        "Windows_NT" => "Windows",
        "Darwin" => "macOS",
        other => other,
    };
    Some(format!(
        "Untested: nobody has reported on {system} yet. Please send the output of `jumbolab doctor --json` to the people from whom you have the program."
    ))
}
