//! The commands that README.md, docs/index.md and the guides tell users to type.

use std::fs;
use std::path::{Path, PathBuf};

use experiment::Experiment;

use super::run::plans;
use crate::args::{Args, Command, OnLinux, example};

/// A document with commands.
struct Document {
    path: PathBuf,
    text: String,
}

fn documents() -> Vec<Document> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = vec![root.join("README.md"), root.join("docs/index.md")];
    for folder in ["docs/start", "docs/guides"] {
        let pages = fs::read_dir(root.join(folder)).unwrap();
        let pages = pages.map(|entry| entry.unwrap().path());
        paths.extend(pages.filter(|path| path.extension().is_some_and(|end| end == "md")));
    }
    let read = |path: PathBuf| Document {
        text: fs::read_to_string(&path).unwrap(),
        path,
    };
    paths.into_iter().map(read).collect()
}

impl Document {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// The command lines: those of indented blocks, with the lines that continue them and
    /// without a remark behind three spaces, and those in backquotes.
    fn commands(&self) -> Vec<String> {
        let text = self.text.replace("\\\n        ", "");
        let block = |line: &str| {
            let line = line.strip_prefix("    ")?.trim_start();
            let line = line.strip_prefix("$ ").unwrap_or(line);
            let built = line.strip_prefix("cargo run --release --locked -- ");
            let line = built.map_or_else(|| line.to_owned(), |rest| format!("jumbolab {rest}"));
            let line = line.split("   ").next().unwrap_or_default().to_owned();
            line.starts_with("jumbolab ").then_some(line)
        };
        let blocks = text.lines().filter_map(block);
        let prose = text.lines().filter(|line| !line.starts_with("    "));
        let prose = prose.collect::<Vec<_>>().join(" ");
        let inline = prose.split('`').skip(1).step_by(2);
        // A command's name alone is no line to type.
        let inline =
            inline.filter(|text| text.starts_with("jumbolab ") && text.split(' ').count() > 2);
        let all = blocks.chain(inline.map(str::to_owned));
        all.filter(|line| !line.ends_with("--help") && !line.starts_with("error: "))
            .collect()
    }

    /// The experiment that it writes, after each of its parts.
    fn experiments(&self) -> Vec<String> {
        let mut whole = String::new();
        let blocks = self.text.split("```toml\n").skip(1);
        let blocks = blocks.map(|rest| rest.split("```").next().unwrap_or_default());
        let add = |block: &str| {
            whole.push_str(block);
            whole.clone()
        };
        blocks.map(add).collect()
    }
}

fn parsed(line: &str) -> Args {
    let line: &'static str = line.to_owned().leak();
    example("", line).parse()
}

#[test]
fn each_command_parses_and_names_what_exists() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("my.toml");
    let mut planned = 0;
    for document in documents() {
        let whole = document.experiments().pop();
        fs::write(&own, whole.unwrap_or_default()).unwrap();
        for line in document.commands() {
            let place = format!("{}: {line}", document.name());
            match parsed(&line).command {
                Command::Run(mut args) => {
                    let named = args.experiment.clone().unwrap_or_default();
                    if named == "my.toml" {
                        args.experiment = Some(own.display().to_string());
                    }
                    // A run that only the reader has.
                    let placeholder =
                        named == "NAME" || named.starts_with("results/") || line.contains("=fit:");
                    if !args.template
                        && args.recording.is_none()
                        && !placeholder
                        && named != "replay"
                    {
                        plans(&args).unwrap_or_else(|error| panic!("{place}: {error:#}"));
                        planned += 1;
                    }
                }
                Command::Show(args) => {
                    let named = args.experiment.filter(|name| name != "NAME");
                    assert!(
                        named.is_none_or(|name| Experiment::load(&name).is_ok()),
                        "{place}"
                    );
                }
                Command::Sensitivity(args) => {
                    let loaded = Experiment::load(&args.experiment);
                    assert!(loaded.unwrap().written().contains("unstated"), "{place}");
                }
                Command::OnLinux(OnLinux::Shell(args)) => {
                    Experiment::load(&args.experiment).unwrap();
                }
                _ => {}
            }
        }
    }
    assert!(planned >= 20, "{planned} runs");
}

#[test]
fn experiments_in_tutorials_have_plans() {
    let mut planned = 0;
    for document in documents() {
        for text in document.experiments() {
            let experiment = Experiment::parse(&text, "my.toml").unwrap();
            let backend = experiment.backend().unwrap().unwrap_or_default();
            backends::backend::plan(experiment, backend).unwrap();
            planned += 1;
        }
    }
    assert!(planned >= 2);
}
