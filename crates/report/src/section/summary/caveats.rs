//! Caveats that follow from settings: what else than the compared factor changes with it,
//! and hosts that cannot fill their link.

use analysis::Findings;
use analysis::decomposition::slowest;
use plan::{Hosts, Plan, Setting};
use units::{Bytes, Rate, Transport};

use crate::figure;

/// The caveats about the changes of the cells at these positions against their
/// baselines, as the end of a sentence. Of several cells the first one's.
pub(super) fn caveats(found: &Findings<'_>, cells: &[usize]) -> String {
    let caveat = cells.iter().find_map(|&cell| caveat(found, cell));
    caveat.map_or_else(String::new, |caveat| format!(" ({caveat})"))
}

/// The first words of a sentence about the cells at these positions, with the study to
/// which the costs of their hosts are fitted. Of several cells the first one's.
pub(super) fn opening(plan: &Plan, cells: &[usize], words: &str) -> String {
    let study = cells.iter().find_map(|&cell| {
        let setting = plan.cells[cell].setting.as_ref().ok()?;
        setting.host.costs.fitted_to.as_deref()
    });
    let Some(study) = study else {
        return words.to_owned();
    };
    let (backend, rest) = words.split_at(words.find([':', ',']).unwrap_or(words.len()));
    format!("{backend} with hosts as slow as those of [{study}], not yours{rest}")
}

fn caveat(found: &Findings<'_>, position: usize) -> Option<String> {
    let plan = found.plan;
    let setting = plan.cells[position].setting.as_ref().ok()?;
    match plan.backend.profile().hosts {
        Hosts::Kernels => {
            let baseline = found.baselines[position]?;
            grown_write(plan, plan.cells[baseline].setting.as_ref().ok()?, setting)
        }
        Hosts::Simulated => slow_host(setting),
    }
}

/// A stream that is written in larger pieces needs fewer system calls, whatever its
/// packets. A datagram is a packet, and grows with it.
fn grown_write(plan: &Plan, baseline: &Setting, cell: &Setting) -> Option<String> {
    let write = |setting: &Setting| {
        let transfer = setting.traffic.transfer()?;
        (transfer.protocol == Transport::Tcp).then_some(transfer.message)
    };
    let (from, to) = (write(baseline)?, write(cell)?);
    let compares_writes = plan.compare.factor.ends_with("message");
    (from < to && !compares_writes).then(|| {
        format!(
            "the write grew with the {}, from {} to {} bytes",
            super::factor(plan),
            from.get(),
            to.get()
        )
    })
}

/// A simulated host that takes longer for a byte than the slowest link.
fn slow_host(cell: &Setting) -> Option<String> {
    const BITS_AND_PICOSECONDS: u64 = 8 * 1_000_000_000_000;
    let costs = &cell.host.costs;
    let time = costs.send_per_byte.max(costs.receive_per_byte);
    let link = slowest(cell)?.serialise(Bytes::new(1));
    let most = Rate::from_bits_per_second(BITS_AND_PICOSECONDS / time.as_picos().max(1))?;
    (time > link).then(|| {
        format!(
            "the simulated hosts were measured, not the link: at {time} a byte they carry at most {}",
            figure::rate(most)
        )
    })
}

#[cfg(test)]
mod tests {
    use plan::setting::Traffic;
    use plan::synthetic::{facts, study};
    use plan::{Backend, Plan};
    use units::Span;

    use super::*;

    fn caveats_of(plan: &Plan, cells: &[usize]) -> String {
        caveats(&Findings::of(plan, &[], &facts()), cells)
    }

    fn each(plan: &mut Plan, change: impl Fn(&mut Setting)) {
        for cell in &mut plan.cells {
            cell.setting.as_mut().map(&change).unwrap_or_default();
        }
    }

    #[test]
    fn a_write_that_grows_with_the_mtu_is_said() {
        let (mut plan, _) = study();
        let last = plan.cells.iter().rposition(|cell| cell.setting.is_ok());
        let last = last.unwrap();
        assert_eq!(caveats_of(&plan, &[last]), "");
        each(&mut plan, |setting| {
            let mtu = setting.network.links[0].mtu.bytes();
            if let Traffic::Transfer(transfer) = &mut setting.traffic {
                transfer.message = mtu - Bytes::new(72);
            }
        });
        let grown = " (the write grew with the MTU, from 1428 to 8928 bytes)";
        assert_eq!(caveats_of(&plan, &[last]), grown);
        plan.compare.factor = "message".into();
        assert_eq!(caveats_of(&plan, &[last]), "");
    }

    #[test]
    fn the_study_of_fitted_hosts_is_named_in_the_first_words() {
        let (mut plan, _) = study();
        assert_eq!(opening(&plan, &[0], "Simulated:"), "Simulated:");
        each(&mut plan, |setting| {
            setting.host.costs.fitted_to = Some("Egan".to_owned());
        });
        for (words, with) in [
            (
                "Predicted:",
                "Predicted with hosts as slow as those of [Egan], not yours:",
            ),
            (
                "Simulated, in",
                "Simulated with hosts as slow as those of [Egan], not yours, in",
            ),
        ] {
            assert_eq!(opening(&plan, &[0], words), with);
        }
    }

    #[test]
    fn simulated_hosts_that_are_slower_than_their_link_are_named() {
        let (mut plan, _) = study();
        plan.backend = Backend::Sim;
        each(&mut plan, |setting| {
            setting.host.costs.send_per_byte = Span::from_nanos(8);
        });
        assert_eq!(caveats_of(&plan, &[0]), "", "as fast as its link");
        each(&mut plan, |setting| {
            for link in &mut setting.network.links {
                link.rate = Rate::from_bits_per_second(10_000_000_000);
            }
        });
        let said = caveats_of(&plan, &[0]);
        assert!(
            said.contains("at 8ns a byte they carry at most 1 Gbit/s"),
            "{said}"
        );
    }
}
