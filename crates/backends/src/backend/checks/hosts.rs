//! Settings that cannot be measured between hosts as they are written.

use experiment::Rejection;
use plan::Setting;
use plan::setting::Traffic;

use super::segment_limit;

/// Rejects what neither a key alone nor the hosts decide.
pub(in crate::backend) fn check(setting: &Setting) -> Result<(), Rejection> {
    let reject = |table: &'static str, key: &str, why: String| {
        Err(Rejection {
            places: vec![(table, Some(key.to_owned())), (table, None)],
            why,
        })
    };
    match &setting.traffic {
        Traffic::Command(command) if command.needs_folder() => {
            return reject(
                "traffic",
                "sender",
                "traffic: {folder} is a folder of this machine, not of a host; add --on netns"
                    .to_owned(),
            );
        }
        Traffic::Flows(flows) if flows.sockets.as_ref().is_some_and(|sockets| sockets.log) => {
            return reject(
                "traffic",
                "log",
                "traffic.log: the log would be on the receiver's host; remove it, or --on netns"
                    .to_owned(),
            );
        }
        _ => {}
    }
    segment_limit::check(setting)
}
