//! Properties that every backend has.

use experiment::Experiment;
use plan::Backend;

use super::{absent, require, runs};

/// Fewer levels of factors, where a plan has thousands of cells.
const FEWER: [(&str, &[&str]); 2] = [
    (
        "aqm-interpretations",
        &[
            "packets=3000B",
            "curve=text,wide",
            "long=open",
            "count=frames",
        ],
    ),
    (
        "jumbogen-scaling",
        &["traffic=flood2k", "aggregation=off,busy"],
    ),
];

/// A shipped experiment, with fewer cells where it has thousands.
pub(super) fn shrunk(name: &str) -> Experiment {
    let mut experiment = Experiment::load(name).unwrap();
    let fewer = FEWER.iter().find(|(other, _)| *other == name);
    for set in fewer.map_or(&[][..], |(_, sets)| sets) {
        experiment.set(set).unwrap();
    }
    experiment
}

#[test]
fn the_plan_of_a_run_plans_the_same_cells_in_the_same_backend_again() {
    let planned = |backend: Backend| {
        experiment::shipped()
            .filter(|one| plans_again(one.name, backend))
            .count()
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "a test panics where it has no thread"
    )]
    let planned: Vec<usize> = std::thread::scope(|scope| {
        let backends: Vec<_> = Backend::ALL
            .iter()
            .map(|&backend| scope.spawn(move || planned(backend)))
            .collect();
        backends
            .into_iter()
            .map(|one| one.join().unwrap())
            .collect()
    });
    assert!(planned.iter().all(|planned| *planned > 3), "{planned:?}");
}

/// Whether `backend` has the experiment, of which it then plans the same twice.
fn plans_again(name: &str, backend: Backend) -> bool {
    let Ok(plan) = super::plan(shrunk(name), backend) else {
        return false;
    };
    let again = Experiment::parse(&plan.text, "plan.toml").unwrap();
    // As `run` does without --on.
    let its_own = again.backend().unwrap().unwrap_or_default();
    assert_eq!(its_own, backend, "{name}");
    let again = super::plan(again, its_own).unwrap();
    assert_eq!(again.hash, plan.hash, "{name} --on {backend}");
    let settings = |plan: plan::Plan| {
        let cells = plan.cells.into_iter();
        cells
            .map(|cell| (cell.factors, cell.setting))
            .collect::<Vec<_>>()
    };
    assert_eq!(settings(again), settings(plan), "{name} --on {backend}");
    true
}

#[test]
fn a_backend_that_needs_linux_is_rejected_elsewhere_with_those_that_do_not() {
    for backend in Backend::ALL {
        assert!(require(*backend).is_ok());
    }
    assert!(!runs(Backend::Netns, false) && !runs(Backend::Hosts, false));
    assert_eq!(
        absent(Backend::Netns).to_string(),
        "--on netns: this backend needs Linux; choose one of sim, model"
    );
}
