use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;

use plan::synthetic::{cell, factors, facts, plan, trial};

use super::*;

/// A plan of two cells with two repeats each.
fn four() -> Plan {
    plan(
        vec![cell(factors(1500)), cell(factors(9000))],
        2,
        Vec::new(),
    )
}

fn run(folder: &mut Folder, count: usize) {
    let all = [(1500, 1), (9000, 1), (9000, 2), (1500, 2)];
    for (mtu, repeat) in all.into_iter().take(count) {
        let trial = trial(factors(mtu), repeat, &[("throughput", 900.0)]);
        folder.append(trial).unwrap();
    }
}

/// Whether all trials of the plan are present. Early ends of a run are decided
/// outside of the folder.
fn all(plan: &Plan, trials: &[Trial]) -> bool {
    plan.finished_trials(trials) == plan.expected_trials()
}

fn open_for(
    base: &Path,
    explicit: Option<&Path>,
    plan: &Plan,
    facts: &RunFacts,
    resume: Resume,
    shard: Option<Shard>,
) -> Result<Folder> {
    Folder::open(&Opening {
        base,
        explicit,
        plan,
        facts,
        resume,
        shard,
        complete: all,
    })
}

fn open(base: &Path, resume: bool) -> Result<Folder> {
    let resume = if resume { Resume::Same } else { Resume::No };
    open_for(base, None, &four(), &facts(), resume, None)
}

fn rejection(opened: Result<Folder>) -> String {
    let error = format!("{:#}", opened.unwrap_err());
    assert!(!error.contains('\n'), "{error}");
    error
}

fn names(base: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(base)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_new_folder_holds_plan_and_journal_and_reads_back() {
    let base = tempfile::tempdir().unwrap();
    let mut folder = open(base.path(), false).unwrap();
    assert_eq!(folder.path(), base.path().join("synthetic-0123abcd"));
    assert_eq!(names(folder.path()), ["plan.toml", "trials.jsonl"]);
    run(&mut folder, 3);
    assert!(folder.holds(&factors(9000), 2) && !folder.holds(&factors(1500), 2));
    let (text, read_facts, trials) = Folder::read(folder.path()).unwrap();
    assert_eq!(text, four().text);
    assert_eq!(read_facts, facts());
    assert_eq!(trials, folder.trials());
}

#[test]
fn a_complete_folder_is_never_written_to_again() {
    let base = tempfile::tempdir().unwrap();
    for expected in ["", "-2", "-3"] {
        let mut folder = open(base.path(), false).unwrap();
        let name = format!("synthetic-0123abcd{expected}");
        assert_eq!(folder.path(), base.path().join(name));
        run(&mut folder, 4);
    }
    let explicit = base.path().join("synthetic-0123abcd");
    let again = open_for(
        base.path(),
        Some(&explicit),
        &four(),
        &facts(),
        Resume::No,
        None,
    );
    assert!(rejection(again).contains("is complete and is never overwritten"));
    let resumed = open(base.path(), true).unwrap();
    assert!(resumed.path().ends_with("synthetic-0123abcd-3"));
    assert_eq!(resumed.trials().len(), 4, "nothing is left to run");
}

#[test]
fn an_incomplete_folder_asks_for_resume_and_goes_on_with_it() {
    let base = tempfile::tempdir().unwrap();
    let nothing = rejection(open(base.path(), true));
    assert!(nothing.contains("nothing to resume"), "{nothing}");
    assert!(names(base.path()).is_empty());

    run(&mut open(base.path(), false).unwrap(), 3);
    let rejected = rejection(open(base.path(), false));
    assert!(
        rejected.contains("holds 3 of 4 trials; add --resume to go on, or -o DIR to begin anew"),
        "{rejected}"
    );
    // An incomplete line does not count; its trial runs again.
    let journal = base.path().join("synthetic-0123abcd/trials.jsonl");
    let text = fs::read(&journal).unwrap();
    fs::write(&journal, &text[..text.len() - 5]).unwrap();
    assert!(rejection(open(base.path(), false)).contains("holds 2 of 4"));
    let folder = open(base.path(), true).unwrap();
    assert_eq!(folder.trials().len(), 2);
    assert!(!folder.holds(&factors(9000), 2));
}

#[test]
fn a_crash_before_the_plan_was_written_is_no_obstacle() {
    let base = tempfile::tempdir().unwrap();
    let path = base.path().join("synthetic-0123abcd");
    fs::create_dir(&path).unwrap();
    fs::write(path.join(".plan.toml.1.tmp"), "name = ").unwrap();
    open(base.path(), true).unwrap();
    fs::remove_file(path.join(PLAN)).unwrap();
    open(base.path(), false).unwrap();
}

#[test]
fn another_kernel_or_program_goes_on_by_force_only_and_leaves_a_trace() {
    let base = tempfile::tempdir().unwrap();
    run(&mut open(base.path(), false).unwrap(), 1);
    let mut other = facts();
    other.host.as_mut().unwrap().kernel = "Linux 7.0.0".into();
    other.binary = "b2".into();
    let attempt = |resume| open_for(base.path(), None, &four(), &other, resume, None);
    let rejected = rejection(attempt(Resume::Same));
    for part in [
        "kernel Linux 6.18.0, now Linux 7.0.0",
        "program b1, now b2",
        "--resume=force",
    ] {
        assert!(rejected.contains(part), "{rejected}");
    }
    let path = attempt(Resume::Force).unwrap().path().to_owned();
    let (text, mixed, trials) = Folder::read(&path).unwrap();
    assert_eq!(text, four().text);
    assert_eq!(mixed.kernel().as_deref(), Some("Linux 6.18.0"));
    assert_eq!(mixed.resumed.len(), 1);
    assert_eq!(mixed.resumed[0].kernel.as_deref(), Some("Linux 7.0.0"));
    assert_eq!(trials.len(), 1);
    attempt(Resume::Same).expect("what went on last may go on again");
}

#[test]
fn two_runs_never_share_a_folder() {
    let base = tempfile::tempdir().unwrap();
    let first = open(base.path(), false).unwrap();
    assert!(rejection(open(base.path(), true)).contains("another run is writing"));
    assert!(Folder::read(first.path()).is_ok(), "reading is allowed");
    drop(first);
    open(base.path(), true).unwrap();
}

#[test]
fn folders_of_others_are_left_alone() {
    let base = tempfile::tempdir().unwrap();
    let explicit = |path: &Path, plan: &Plan| {
        open_for(base.path(), Some(path), plan, &facts(), Resume::No, None)
    };
    let foreign = base.path().join("photos");
    fs::create_dir(&foreign).unwrap();
    explicit(&foreign, &four()).expect("an empty folder will do");
    let full = base.path().join("letters");
    fs::create_dir(&full).unwrap();
    fs::write(full.join("to-mother.txt"), "Dear").unwrap();
    assert!(rejection(explicit(&full, &four())).contains("holds to-mother.txt"));
    assert_eq!(names(&full), ["to-mother.txt"]);
    let other = Plan {
        hash: "ffffffff".into(),
        ..four()
    };
    assert!(rejection(explicit(&foreign, &other)).contains("another experiment"));
}

#[test]
fn a_place_that_cannot_be_written_is_one_line_with_a_remedy() {
    let base = tempfile::tempdir().unwrap();
    let file = base.path().join("results");
    fs::write(&file, "").unwrap();
    let rejected = rejection(open(&file, false));
    assert!(
        rejected.contains("results/synthetic-0123abcd") && rejected.contains("-o DIR"),
        "{rejected}"
    );
}

#[test]
fn a_folder_that_is_none_or_damaged_says_so() {
    let base = tempfile::tempdir().unwrap();
    let missing = format!("{:#}", Folder::read(base.path()).unwrap_err());
    assert!(missing.contains("give the folder of a run"), "{missing}");
    fs::write(base.path().join(PLAN), "name = \n").unwrap();
    let damaged = format!("{:#}", Folder::read(base.path()).unwrap_err());
    assert!(damaged.contains("is damaged"), "{damaged}");
    assert!(!damaged.contains('\n'));
}

#[cfg(unix)]
#[test]
fn a_journal_that_is_a_link_is_rejected_and_its_target_stays() {
    let base = tempfile::tempdir().unwrap();
    let victim = base.path().join("victim");
    fs::write(&victim, "precious\n").unwrap();
    let path = open(base.path(), false).unwrap().path().to_owned();
    let journal = path.join(JOURNAL);
    fs::remove_file(&journal).unwrap();
    symlink("../victim", &journal).unwrap();
    for rejected in [
        rejection(open(base.path(), true)),
        format!("{:#}", Folder::read(&path).unwrap_err()),
    ] {
        assert!(
            rejected.contains("trials.jsonl is a symbolic link"),
            "{rejected}"
        );
    }
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious\n");
}

#[cfg(unix)]
#[test]
fn a_pipe_among_the_journals_is_rejected_at_once() {
    let base = tempfile::tempdir().unwrap();
    let path = open(base.path(), false).unwrap().path().to_owned();
    let pipe = path.join("trials.1of2.jsonl");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let rejected = format!("{:#}", Folder::read(&path).unwrap_err());
    assert!(
        rejected.contains("trials.1of2.jsonl is not an ordinary file"),
        "{rejected}"
    );
}

/// What a running program may find, and the damage.
#[cfg(unix)]
type Harm = (&'static str, fn(&Path));

#[cfg(unix)]
fn harms() -> [Harm; 6] {
    [
        ("it was removed, renamed or replaced", |path| {
            fs::remove_file(path.join(JOURNAL)).unwrap();
        }),
        ("it was removed, renamed or replaced", |path| {
            fs::copy(path.join(JOURNAL), path.join("copy")).unwrap();
            fs::rename(path.join("copy"), path.join(JOURNAL)).unwrap();
        }),
        ("it was cut to 10 of ", |path| {
            let journal = File::options().write(true).open(path.join(JOURNAL));
            journal.unwrap().set_len(10).unwrap();
        }),
        ("another program wrote to it", |path| {
            let text = fs::read(path.join(JOURNAL)).unwrap();
            fs::write(path.join(JOURNAL), [text, b"{".to_vec()].concat()).unwrap();
        }),
        ("its folder was removed, renamed or replaced", |path| {
            fs::remove_dir_all(path).unwrap();
        }),
        ("its folder was removed, renamed or replaced", |path| {
            let moved = path.with_file_name("moved");
            fs::rename(path, &moved).unwrap();
            symlink(moved.parent().unwrap(), path).unwrap();
        }),
    ]
}

#[cfg(unix)]
#[test]
fn a_journal_that_is_lost_during_a_run_is_noticed_and_its_trials_are_saved_elsewhere() {
    for (what, harm) in harms() {
        let base = tempfile::tempdir().unwrap();
        let mut folder = open(base.path(), false).unwrap();
        run(&mut folder, 2);
        folder.check().unwrap();
        harm(folder.path());
        // At the end, and at the next trial.
        let noticed = folder.sync().unwrap_err().to_string();
        assert!(noticed.contains(what), "{noticed}");
        let again = trial(factors(9000), 2, &[("throughput", 900.0)]);
        let error = folder.append(again).unwrap_err();
        let error = folder.rescued(&four(), error).to_string();
        assert!(!error.contains('\n'), "{error}");
        assert!(
            error.contains(what) && error.contains("the 3 trials"),
            "{error}"
        );
        let elsewhere = base.path().join("synthetic-0123abcd-rescued");
        assert!(error.contains(elsewhere.to_str().unwrap()), "{error}");
        let (text, read_facts, trials) = Folder::read(&elsewhere).unwrap();
        assert_eq!((text, read_facts), (four().text, facts()));
        let repeats = trials.iter().map(|trial| trial.repeat);
        assert_eq!(repeats.collect::<Vec<_>>(), [1, 1, 2]);
        // The run goes on there.
        drop(folder);
        open_for(
            base.path(),
            Some(&elsewhere),
            &four(),
            &facts(),
            Resume::Same,
            None,
        )
        .unwrap();
    }
}

#[test]
fn what_cannot_be_saved_is_said_to_be_lost_and_other_errors_stay_as_they_are() {
    let base = tempfile::tempdir().unwrap();
    let mut folder = open(base.path(), false).unwrap();
    run(&mut folder, 1);
    let other = folder.rescued(&four(), anyhow!("the disk is full"));
    assert_eq!(other.to_string(), "the disk is full");
    assert_eq!(names(base.path()), ["synthetic-0123abcd"]);
    // Attempts at one trial are all saved.
    let mut disturbed = trial(factors(9000), 1, &[("throughput", 500.0)]);
    disturbed
        .disturbed
        .push(plan::DisturbedPass::of_trial("steal 20 %"));
    folder.append(disturbed.clone()).unwrap();
    let better = Trial {
        attempt: 2,
        ..trial(factors(9000), 1, &[("throughput", 900.0)])
    };
    folder.append(better).unwrap();
    fs::remove_file(folder.path().join(JOURNAL)).unwrap();
    let error = folder
        .rescued(&four(), folder.check().unwrap_err())
        .to_string();
    assert!(error.contains("the 2 trials"), "{error}");
    let journal = base.path().join("synthetic-0123abcd-rescued").join(JOURNAL);
    assert_eq!(fs::read_to_string(journal).unwrap().lines().count(), 3);
}

#[test]
fn a_value_of_another_type_in_the_plan_is_named_with_line_and_key() {
    let base = tempfile::tempdir().unwrap();
    let path = open(base.path(), false).unwrap().path().join(PLAN);
    let plan = fs::read_to_string(&path).unwrap();
    let line = |text: &str| {
        plan.lines()
            .position(|line| line.starts_with(text))
            .unwrap()
            + 1
    };
    let end = plan.lines().count();
    let long = "9".repeat(1_000);
    for (from, to, why) in [
        (
            "cpus = ",
            "cpus = \"two\" #",
            format!(":{}: run.cpus = \"two\": must be an integer", line("cpus")),
        ),
        (
            "version = ",
            "version = 1.5 #",
            format!(":{}: run.version = 1.5: must be a string", line("version")),
        ),
        (
            "hash = ",
            "hash = [\n1]\n#",
            format!(":{}: run.hash = [: must be a string", line("hash")),
        ),
        (
            "root = ",
            &format!("root = \"{long}\" #"),
            format!(":{}: run.root = \"999", line("root")),
        ),
        (
            "",
            "[[run.left_out]]\nwhy = \"x\"\ncell = { mtu = 1500 }\n",
            format!(
                ":{}: run.left_out.cell = {{ mtu = 1500 }}: must be a string",
                end + 3
            ),
        ),
        (
            "",
            "[run.resumed]\nversion = 1\n",
            format!(
                ":{}: run.resumed = [run.resumed]: must be an array of tables",
                end + 1
            ),
        ),
        (
            "[run]",
            "[run]\nresumed = [{ version = \"1\", binary = 2 }]",
            format!(
                ":{}: run.resumed.binary = 2: must be a string",
                line("[run]") + 1
            ),
        ),
    ] {
        let changed = match from {
            "" => format!("{plan}{to}"),
            from => plan.replacen(from, to, 1),
        };
        assert_ne!(changed, plan);
        fs::write(&path, changed).unwrap();
        let rejected = format!("{:#}", Folder::read(path.parent().unwrap()).unwrap_err());
        assert!(rejected.contains(&format!("{PLAN}{why}")), "{rejected}");
        assert!(
            !rejected.contains('\n') && rejected.len() < 400,
            "{rejected}"
        );
    }
    // Keys of later versions.
    fs::write(&path, format!("{plan}[run.later]\ncell = 1\n")).unwrap();
    Folder::read(path.parent().unwrap()).unwrap();
}

#[test]
fn the_run_that_would_go_on_is_the_last_of_its_plan_or_the_one_in_a_folder() {
    let base = tempfile::tempdir().unwrap();
    let begun = |explicit: Option<&Path>| Folder::begun(base.path(), explicit, &four(), all);
    assert!(begun(None).unwrap().is_none());
    let chosen = plan::AutoRate {
        rate: "500mbit".into(),
        sustained: Some(true),
        tried: "1gbit: no".into(),
    };
    let with_rate = RunFacts {
        auto_rate: Some(chosen.clone()),
        ..facts()
    };
    let opened =
        |facts: &RunFacts| open_for(base.path(), None, &four(), facts, Resume::No, None).unwrap();
    let mut first = opened(&facts());
    run(&mut first, 4);
    let mut second = opened(&with_rate);
    run(&mut second, 1);
    let last = begun(None).unwrap().unwrap();
    assert_eq!(last.path, second.path());
    assert_eq!(last.facts.auto_rate, Some(chosen));
    assert!(!last.is_complete);
    let named = begun(Some(first.path())).unwrap().unwrap();
    assert!(named.is_complete && named.facts.auto_rate.is_none());
}
