//! `jumbolab man`: manual pages, and the pages docs/reference/commands.md and options.md.

mod markdown;
mod options;
mod page;

use std::io::Write as _;

use anyhow::{Context, Result, anyhow};
use files::Folder;
use page::page;

use crate::args::{self, Man};
use crate::output;

pub(crate) fn run(args: &Man) -> Result<()> {
    let mut program = args::command();
    program.build();
    if args.markdown {
        return output::print(&markdown::of(&program));
    }
    if args.options {
        return output::print(&options::of(&program));
    }
    let Some(path) = &args.dir else {
        let command = match &args.command {
            None => &program,
            Some(wanted) => {
                let mut all = shown(&program);
                all.find(|command| name(command) == wanted).ok_or_else(|| {
                    let names: Vec<_> = shown(&program).map(name).collect();
                    anyhow!(
                        "unknown command `{wanted}`; write one of {}",
                        names.join(", ")
                    )
                })?
            }
        };
        return output::print(&page(command)?);
    };
    let folder = Folder::create(path).with_context(|| format!("--dir {}", path.display()))?;
    for command in shown(&program).chain([&program]) {
        let page = page(command)?;
        let file = format!("{}.1", command.get_display_name().unwrap_or("jumbolab"));
        folder.replace(&file, |file| Ok(file.write_all(page.as_bytes())?))?;
    }
    Ok(())
}

/// The commands that the help lists, and those below them.
fn shown(program: &clap::Command) -> impl Iterator<Item = &clap::Command> {
    let commands = program.get_subcommands();
    let commands = commands.filter(|command| !command.is_hide_set());
    commands.flat_map(|command| std::iter::once(command).chain(command.get_subcommands()))
}

/// The name of a page without that of the program: `predict-limit`.
fn name(command: &clap::Command) -> &str {
    let name = command.get_display_name().unwrap_or_default();
    name.strip_prefix("jumbolab-").unwrap_or(name)
}

/// The words that are typed behind `jumbolab`, as `predict limit`.
fn path(command: &clap::Command) -> &str {
    let typed = command.get_bin_name().unwrap_or_default();
    typed.strip_prefix("jumbolab ").unwrap_or(typed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../../docs/reference/commands.md");
    const OPTIONS: &str = include_str!("../../../../docs/reference/options.md");

    #[test]
    fn docs_commands_is_the_help() {
        let mut program = args::command();
        program.build();
        assert!(
            markdown::of(&program) == PAGE,
            "docs/reference/commands.md differs from the help; print it anew: cargo run -p jumbolab -- man --markdown > docs/reference/commands.md"
        );
    }

    #[test]
    fn docs_options_has_every_option() {
        let mut program = args::command();
        program.build();
        assert!(
            options::of(&program) == OPTIONS,
            "docs/reference/options.md differs from the help; print it anew: cargo run -p jumbolab -- man --options > docs/reference/options.md"
        );
    }

    #[test]
    fn every_page_has_its_options_and_examples() {
        let mut program = args::command();
        program.build();
        for command in shown(&program) {
            let page = page(command).unwrap();
            for section in ["NAME", "SYNOPSIS", "OPTIONS", "EXIT STATUS", "EXAMPLES"] {
                let heading = format!("\n.SH {section}\n");
                assert!(page.contains(&heading), "{section}: {page}");
            }
        }
        assert!(page(&program).unwrap().contains("jumbolab\\-emulate(1)"));
        let names: Vec<&str> = shown(&program).map(name).collect();
        assert!(names.contains(&"predict-limit"), "{names:?}");
    }
}
