//! Output for other programs: messages as objects, the plan as an object, and
//! parts of a run that are put together again.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{Dir, Outcome};
use crate::schema;

const STUDY: &str = "run mtu-and-queues --on sim --set traffic.duration=100ms --repeat 3";

/// Runs the binary for a program that reads its messages.
fn told(dir: &Dir, line: &str) -> (Outcome, Vec<Value>) {
    let mut command = dir.command();
    command.env("JUMBOLAB_MESSAGES", "json");
    let output = command.args(line.split_whitespace()).output().unwrap();
    let outcome = Outcome::of(output);
    let objects = outcome.stderr.lines();
    let objects = objects.map(|line| serde_json::from_str(line).expect(line));
    let objects: Vec<Value> = objects.collect();
    objects.iter().for_each(schema::check);
    (outcome, objects)
}

#[test]
fn progress_begins_with_nothing_and_ends_with_everything() {
    let dir = Dir::new();
    let (outcome, objects) = told(&dir, &format!("{STUDY} -o r"));
    outcome.fine();
    let is_progress = |object: &&Value| object["kind"] == "progress";
    let progress: Vec<&Value> = objects.iter().filter(is_progress).collect();
    let said = |done: usize| json!({"kind": "progress", "done": done, "total": 4 * 3});
    assert_eq!(*progress[0], said(0));
    assert_eq!(*progress[progress.len() - 1], said(12));
    assert_eq!(objects[0], json!({"kind": "folder", "folder": "r"}));
    assert_eq!(objects.len(), progress.len() + 1, "{objects:?}");
}

#[test]
fn an_error_names_its_parts() {
    let dir = Dir::new();
    let template = dir.run("run --template").fine().stdout;
    dir.write(
        "my.toml",
        &template.replace("\n[network]\n", "\n[network]\nmtuu = 1500\n"),
    );
    let (outcome, objects) = told(&dir, "run my.toml");
    assert_eq!(outcome.code, Some(2));
    let error = objects.last().unwrap();
    assert_eq!(error["kind"], "error");
    assert_eq!(objects.len(), 1, "{objects:?}");
    assert_eq!(error["file"], "my.toml");
    assert_eq!(error["key"], "network.mtuu");
    assert_eq!(error["value"], "1500");
    assert_eq!(error["argument"], Value::Null);
    let line = usize::try_from(error["line"].as_u64().unwrap()).unwrap();
    let text = fs::read_to_string(dir.path().join("my.toml")).unwrap();
    assert_eq!(text.lines().nth(line - 1), Some("mtuu = 1500"));
    let plain = dir.run("run my.toml").stderr;
    assert_eq!(
        plain,
        format!("error: {}\n", error["message"].as_str().unwrap())
    );

    let (_, objects) = told(&dir, "run os-comparison --set mtu=0");
    let error = &objects[0];
    assert_eq!(
        [
            &error["argument"],
            &error["key"],
            &error["value"],
            &error["file"]
        ],
        [
            &json!("--set mtu=0"),
            &json!("network.mtu"),
            &json!("0"),
            &Value::Null
        ]
    );
    let (_, objects) = told(&dir, "run nosuch");
    assert!(objects[0]["message"].as_str().unwrap().contains("nosuch"));
    let (outcome, objects) = told(&dir, "run os-comparison --no-such-option");
    assert_eq!(outcome.code, Some(2));
    assert!(
        objects[0]["message"]
            .as_str()
            .unwrap()
            .contains("--no-such-option")
    );
}

#[test]
fn the_object_of_a_dry_run_is_that_of_the_run() {
    let dir = Dir::new();
    let planned = dir.run(&format!("{STUDY} --dry-run --json")).fine().json();
    assert!(dir.entries().is_empty(), "nothing is written");
    dir.run(&format!("{STUDY} -o r")).fine();
    let plan = fs::read_to_string(dir.path().join("r/plan.toml")).unwrap();
    for key in ["hash", "version", "binary", "backend"] {
        let line = format!("{key} = {}", planned[0][key]);
        assert!(
            plan.lines().any(|other| other == line),
            "{line} is not in {plan}"
        );
    }
    assert_eq!(planned[0]["trials"], 12);
    dir.trials("r", 12);
}

#[test]
fn ranges_put_behind_each_other_are_the_journal_of_the_whole_run() {
    let dir = Dir::new();
    dir.run(&format!("{STUDY} -o whole")).fine();
    let mut journal = String::new();
    for range in ["1", "2-7", "8-12"] {
        dir.run(&format!("{STUDY} -o part-{range} --shard {range}/12"))
            .fine();
        let name = format!("part-{range}/trials.{range}of12.jsonl");
        journal += &fs::read_to_string(dir.path().join(name)).unwrap();
        let plan = |folder: &str| fs::read(dir.path().join(folder).join("plan.toml")).unwrap();
        assert!(plan("whole") == plan(&format!("part-{range}")));
    }
    assert!(journal == fs::read_to_string(dir.path().join("whole/trials.jsonl")).unwrap());
    // So a folder with the plan and these lines is the run.
    fs::create_dir(dir.path().join("merged")).unwrap();
    fs::copy(
        dir.path().join("whole/plan.toml"),
        dir.path().join("merged/plan.toml"),
    )
    .unwrap();
    dir.write("merged/trials.jsonl", &journal);
    dir.run("report merged").fine();
    let table = |folder: &str| fs::read(dir.path().join(folder).join("trials.parquet")).unwrap();
    assert!(table("merged") == table("whole"));
}
