//! docs/evidence/validation.md is the output of its generator, and every answer is within its
//! tolerance.

// The reader of ns-2 traces is shared with `queue`, whose tests use this name.
extern crate queue as jumbolab_queue;

#[path = "../examples/validation/chance.rs"]
mod chance;
#[path = "../examples/validation/disciplines.rs"]
mod disciplines;
#[path = "../examples/validation/document.rs"]
mod document;
#[path = "../examples/validation/links.rs"]
mod links;
#[path = "../examples/validation/ns2.rs"]
mod ns2;
#[path = "../examples/validation/queueing.rs"]
mod queueing;
#[path = "../examples/validation/row.rs"]
mod row;

#[test]
fn the_page_is_what_is_computed_and_every_answer_holds() {
    let computed = document::document();
    let missed: Vec<&str> = computed
        .lines()
        .filter(|line| line.ends_with("| NO |"))
        .collect();
    assert!(missed.is_empty(), "{missed:#?}");
    let page = include_str!("../../../docs/evidence/validation.md");
    for (number, (kept, line)) in page.lines().zip(computed.lines()).enumerate() {
        assert_eq!(
            kept,
            line,
            "line {}; print the page anew as its first lines say",
            number + 1
        );
    }
    assert_eq!(page, computed);
}
