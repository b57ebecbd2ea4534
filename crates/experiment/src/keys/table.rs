//! The sections of the table of keys, in the order of docs/reference/keys.md.

use super::{
    Section, analyses, domain, faults, flows, general, host, links, named_hosts, network,
    on_kernels, queue, report, study, tcp, traffic,
};

/// The tables of a cell: their keys can be swept, differ between backends, and be
/// set by a choice.
pub(super) fn of_cell() -> [&'static [Section]; 10] {
    [
        network::SECTIONS,
        links::SECTIONS,
        faults::SECTIONS,
        &queue::SECTIONS,
        domain::SECTIONS,
        host::SECTIONS,
        tcp::SECTIONS,
        traffic::SECTIONS,
        on_kernels::SECTIONS,
        flows::SECTIONS,
    ]
}

/// The sections that a run has once: the head of the file, and comparisons.
pub(super) const RUN: &[&[Section]] = &[
    general::SECTIONS,
    named_hosts::SECTIONS,
    study::SECTIONS,
    analyses::SECTIONS,
    report::SECTIONS,
];

/// All sections, in the order of the page.
pub(super) fn sections() -> impl Iterator<Item = &'static Section> {
    let (head, rest) = RUN.split_at(1);
    let all = head.iter().copied().chain(of_cell());
    all.chain(rest.iter().copied()).flatten()
}
