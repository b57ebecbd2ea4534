//! Differences between connections of simulated hosts and those of kernels.

use analysis::across_backends::{AcrossBackends, BACKEND};
use plan::setting::{Sends, Traffic};
use plan::{Cell, Setting};
use tcp::{Profile, Settings};

/// Segments of a kernel's first window unless it is set [RFC6928 s2].
const KERNELS_FIRST_WINDOW: u32 = 10;

/// A sentence if flows are connections of simulated hosts in one run and of kernels in
/// another one, and differ: what losses are worth depends on it.
pub(super) fn differences(all: &AcrossBackends) -> Option<String> {
    let settings = |cell: &Cell| Some((cell.factors.level(BACKEND)?.to_string(), sent(cell)?));
    let ends: Vec<(String, Ends)> = all.plan.cells.iter().filter_map(settings).collect();
    let simulated = { ends.iter() }.find_map(|(run, ends)| match ends {
        Ends::Simulated(settings) => Some((run, settings)),
        Ends::OfKernels(_) => None,
    });
    let (of_sim, settings) = simulated?;
    let (of_kernels, window) = { ends.iter() }.find_map(|(run, ends)| match ends {
        Ends::Simulated(_) => None,
        Ends::OfKernels(window) => Some((run, *window)),
    })?;
    let agent = match settings.profile {
        Profile::Ns2 => "an agent of ns-2",
        Profile::Standard => match settings.lasting_reports {
            // Linux's alone survive a timeout.
            true => return None,
            false => "TCP of the standards",
        },
    };
    let first = match settings.initial_window {
        many if many == window => String::new(),
        many => format!(" and a first window of {many} in place of {window} segments"),
    };
    Some(format!(
        "TCP differs: {of_sim} has {agent}{first}, {of_kernels} the kernel's own. --set tcp.agent=linux simulates that."
    ))
}

/// Whose connections the flows of a cell are.
enum Ends {
    Simulated(Settings),
    /// With the segments of the first window.
    OfKernels(u32),
}

fn sent(cell: &Cell) -> Option<Ends> {
    let Ok(Setting {
        traffic: Traffic::Flows(flows),
        host,
        ..
    }) = &cell.setting
    else {
        return None;
    };
    flows.flows.iter().find_map(|flow| match &flow.sends {
        Sends::Bytes { settings, .. } => Some(Ends::Simulated(settings.clone())),
        Sends::Messages { .. } => {
            let window = host.tcp.initial_window;
            Some(Ends::OfKernels(window.unwrap_or(KERNELS_FIRST_WINDOW)))
        }
        Sends::Datagrams { .. } => None,
    })
}
