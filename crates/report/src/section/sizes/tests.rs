use backends::backend::sim::Simulator;
use experiment::Experiment;
use plan::{Backend, evidence};
use units::Seed;

use super::*;

/// A run over simulated links of 1 Gbit/s, with each trial listed twice.
fn run(text: &str) -> (Plan, Vec<Trial>) {
    let plan = Experiment::parse(text, "sizes").unwrap();
    let plan = plan
        .plan(Backend::Sim, |_| Ok(()))
        .unwrap_or_else(|error| panic!("{error:#}"));
    let mut trials = Vec::new();
    for cell in &plan.cells {
        let setting = cell.setting.as_ref().unwrap();
        let simulator = Simulator::ready(std::iter::once(setting), 1).unwrap();
        let (measured, _) = simulator.run(setting, Seed::new(1)).unwrap();
        for repeat in 1..=2 {
            let mut trial = plan::synthetic::trial(cell.factors.clone(), repeat, &[]);
            trial.metrics = measured.metrics.clone().into_iter().collect();
            trial.evidence = measured.evidence.clone().into();
            trials.push(trial);
        }
    }
    (plan, trials)
}

fn report(plan: &Plan, trials: &[Trial]) -> Vec<String> {
    lines(&Findings::of(plan, trials, &plan::synthetic::facts()))
}

const TEXT: &str = r#"
format = 1
name = "sizes"
[aliases]
mtu = "network.mtu"
[network]
shape = "pair"
link = "emulated"
rate = "1gbit"
buffer = "1MB"
ip = 4
[traffic]
kind = "request-response"
protocol = "udp"
min_size = 5100
max_size = 22300
size_step = 100
reference_size = 11000
[sweep]
mtu = [1500, 9000]
[compare]
factor = "mtu"
baseline = 1500
[[jump]]
text = "a step up at 9000 bytes"
source = "[Egan s5.1.1]"
cells = { mtu = 9000 }
at = 8972
within = 100
is = "up"
[[jump]]
text = "none at 18000"
source = "[Egan s5.1.1]"
cells = { mtu = 9000 }
at = 17948
within = 100
is = "none"
[[jump]]
text = "none at 13000"
source = "[Egan s5.1.1]"
cells = { mtu = 9000 }
at = 13000
within = 100
is = "none"
"#;

#[test]
fn every_frame_more_makes_a_step_in_the_simulated_curve_and_nothing_else_does() {
    let (plan, trials) = run(TEXT);
    let text = report(&plan, &trials).join("\n");
    // 66 bytes of headers and framing more at 1 Gbit/s: 0.46 us, a little
    // more where the last fragment is padded.
    assert!(
        text.contains("mtu=9000: 173 sizes of 5100 to 22300 B"),
        "{text}"
    );
    assert!(
        text.contains("at 9000 B") && text.contains("at 18000 B"),
        "{text}"
    );
    assert!(
        text.contains("1, 3, 5... full frames (8972 + 8976 k bytes), 1 places"),
        "{text}"
    );
    assert!(text.contains("a step up at 9000 bytes [Egan s5.1.1]\n  mtu=9000: between 8900 and 9000 bytes it changes by +0."), "{text}");
    let none = "none at 13000 [Egan s5.1.1]\n  mtu=9000: there is no step; one of 0.";
    let at = text.find(none).unwrap_or_else(|| panic!("{text}"));
    let line = text[at..].lines().nth(1).unwrap();
    assert!(
        line.ends_with("us would have been detected: reproduced"),
        "{line}"
    );
    assert!(
        text.contains(
            "none at 18000 [Egan s5.1.1]\n  mtu=9000: between 17900 and 18000 bytes it changes by +0."
        ),
        "{text}"
    );
    // One serialisation: large frames save headers and nothing else.
    assert!(
        text.contains("mtu=9000: over mtu 1500: at 11000 B 0.9699"),
        "{text}"
    );
    let facts = plan::synthetic::facts();
    for line in crate::json_lines(&Findings::of(&plan, &trials, &facts)) {
        serde_json::from_str::<serde_json::Value>(&line).unwrap();
    }
}

#[test]
fn sizes_too_far_apart_say_what_to_write() {
    let (plan, trials) = run(&TEXT.replace("step = 100", "step = 500"));
    let text = report(&plan, &trials).join("\n");
    assert!(text.contains("write a smaller traffic.size_step"), "{text}");
    assert!(
        text.contains("would have been detected: reproduced"),
        "{text}"
    );
}

#[test]
fn what_scatter_hides_is_inconclusive() {
    let (plan, mut trials) = run(TEXT);
    // Up to 40 us of noise at every size, which hide a step of half a us.
    for (number, trial) in (1..).zip(&mut trials) {
        let mut sizes = trial.evidence.get(evidence::SIZES).unwrap();
        for of in [&mut sizes.mean_us, &mut sizes.least_us] {
            *of = shaken(of, number);
        }
        trial.evidence.insert(evidence::SIZES, sizes);
    }
    let text = report(&plan, &trials).join("\n");
    for line in text
        .lines()
        .filter(|line| line.contains("would have been detected"))
    {
        assert!(line.ends_with("inconclusive"), "{line}");
    }
    assert!(
        text.contains("would have been detected: inconclusive"),
        "{text}"
    );
}

/// The same numbers with noise of up to 80.
fn shaken(text: &str, trial: u32) -> String {
    let numbers = text.split(' ').zip(1_u32..);
    let shaken = numbers.map(|(number, place)| {
        let more = (place * place * 7919 + trial * 104_729) % 80;
        (number.parse::<f64>().unwrap() + f64::from(more)).to_string()
    });
    shaken.collect::<Vec<_>>().join(" ")
}
