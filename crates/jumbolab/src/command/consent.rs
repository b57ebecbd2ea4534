//! What an experiment does outside of its results folder and of networks that the run
//! builds: the user sees it before the start, and must consent to it in a file of somebody
//! else.

#[cfg(target_os = "linux")]
mod ask;

use std::collections::BTreeSet;

use plan::{NamedHosts, Plan, SideEffect};

#[cfg(target_os = "linux")]
pub(super) use ask::{ask, is_own};

/// The list as text of several lines; empty if there is nothing to list.
pub(super) fn listed(plan: &Plan, named: Option<&NamedHosts>) -> String {
    let all = side_effects(plan, named);
    let lines = all.iter().map(|effect| format!("  {effect}\n"));
    match all.is_empty() {
        true => String::new(),
        false => format!("\nIt will:\n{}", lines.collect::<String>()),
    }
}

/// What `plan` does outside when it runs between the hosts `named`.
pub(super) fn side_effects(plan: &Plan, named: Option<&NamedHosts>) -> BTreeSet<SideEffect> {
    let of_hosts = named.into_iter().flat_map(|named| &named.side_effects);
    plan.side_effects.iter().chain(of_hosts).cloned().collect()
}
