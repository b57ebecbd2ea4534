//! `jumbolab list`.

use anyhow::Result;

use crate::args::List;
use crate::output;

pub(crate) fn run(args: &List) -> Result<()> {
    let shipped: Vec<_> = experiment::shipped().collect();
    let widest = shipped
        .iter()
        .map(|experiment| experiment.name.len())
        .max()
        .unwrap_or(0);
    for experiment in shipped {
        output::print(&if args.json {
            format!("{}\n", experiment.to_json())
        } else {
            format!("{:widest$}  {}\n", experiment.name, experiment.title)
        })?;
    }
    Ok(())
}
