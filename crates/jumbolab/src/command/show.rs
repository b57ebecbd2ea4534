//! `jumbolab show`.

use anyhow::Result;
use clap::builder::styling::{AnsiColor, Style};
use experiment::{Experiment, Sets, ShortName};

use crate::args::Show;
use crate::output;

/// Goes before the name of an experiment in a copy of it.
const PREFIX: &str = "my-";

pub(crate) fn run(args: &Show) -> Result<()> {
    let Some(named) = &args.experiment else {
        return output::print(experiment::TEMPLATE);
    };
    let text = experiment::text_of(named)?;
    let experiment = Experiment::load(named)?;
    if args.template {
        return output::print(&copy(&text));
    }
    let mut shown = coloured(&text);
    shown.push_str(&short_names(&experiment.short_names()?, named));
    output::print_coloured(&shown)
}

/// The experiment under a name of its own, so that its results are kept apart.
fn copy(text: &str) -> String {
    let mut is_named = false;
    let lines = text.lines().map(|line| {
        let name = line.strip_prefix("name = \"").filter(|_| !is_named);
        match name {
            Some(name) => {
                is_named = true;
                format!("name = \"{PREFIX}{name}\n")
            }
            None => format!("{line}\n"),
        }
    });
    lines.collect()
}

/// The text with its headings and comments set off.
fn coloured(text: &str) -> String {
    let heading = Style::new().bold();
    let comment = Style::new().dimmed();
    let key = AnsiColor::Cyan.on_default();
    let mut shown = String::new();
    for line in text.lines() {
        let (code, remark) = line.split_at(comment_at(line));
        let code = match code.split_once(" = ") {
            Some((name, value)) if !code.starts_with(char::is_whitespace) => {
                format!("{key}{name}{key:#} = {value}")
            }
            _ if code.starts_with('[') => format!("{heading}{code}{heading:#}"),
            _ => code.to_owned(),
        };
        shown.push_str(&code);
        if !remark.is_empty() {
            shown.push_str(&format!("{comment}{remark}{comment:#}"));
        }
        shown.push('\n');
    }
    shown
}

/// Where the comment of a line begins: at the first `#` outside of quotes.
fn comment_at(line: &str) -> usize {
    let mut quote = None;
    for (at, letter) in line.char_indices() {
        match (quote, letter) {
            (None, '#') => return at,
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            _ => {}
        }
    }
    line.len()
}

/// The names that `--set` takes, as comments below the experiment.
fn short_names(names: &[ShortName], experiment: &str) -> String {
    let comment = Style::new().dimmed();
    let width = names.iter().map(|short| short.name.len()).max();
    let width = width.unwrap_or_default();
    let mut lines = vec![format!(
        "# Short names for `--set` (`jumbolab run {experiment} --set NAME=VALUE`; commas make a sweep):"
    )];
    lines.extend(names.iter().map(|ShortName { name, sets }| {
        let what = match sets {
            Sets::Words(words) => format!("one of {}", words.join(", ")),
            Sets::Key { key, unit: None } => key.clone(),
            Sets::Key {
                key,
                unit: Some(unit),
            } => format!("{key}, a bare number in {unit}"),
        };
        format!("#   {name:width$}  {what}")
    }));
    let lines = lines.iter();
    let lines = lines.map(|line| format!("{comment}{line}{comment:#}\n"));
    format!("\n{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `text` without colours.
    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn colours_change_no_character_of_an_experiment() {
        for shipped in experiment::shipped() {
            let text = experiment::text_of(shipped.name).unwrap();
            assert_eq!(plain(&coloured(&text)), text, "{}", shipped.name);
        }
    }

    #[test]
    fn a_comment_begins_outside_of_quotes() {
        for (line, code) in [
            ("# all", ""),
            ("mtu = 1500 # bytes", "mtu = 1500 "),
            ("text = \"a # b\" # c", "text = \"a # b\" "),
            ("[network]", "[network]"),
        ] {
            assert_eq!(&line[..comment_at(line)], code, "{line}");
        }
    }

    #[test]
    fn what_is_shown_is_the_experiment_itself() {
        for shipped in experiment::shipped() {
            let name = shipped.name;
            let text = experiment::text_of(name).unwrap();
            let names = Experiment::load(name).unwrap().short_names().unwrap();
            let shown = plain(&(coloured(&text) + &short_names(&names, name)));
            let again = Experiment::parse(&shown, name).unwrap();
            let written = Experiment::load(name).unwrap().written();
            assert_eq!(again.written(), written, "{name}");
            for short in names {
                assert!(shown.contains(&format!("\n#   {} ", short.name)), "{name}");
            }
        }
    }

    #[test]
    fn a_copy_differs_in_its_name_only() {
        for shipped in experiment::shipped() {
            let name = shipped.name;
            let text = experiment::text_of(name).unwrap();
            let copied = copy(&text);
            let differ = text.lines().zip(copied.lines()).filter(|(a, b)| a != b);
            let differ: Vec<(&str, &str)> = differ.collect();
            let [(before, after)] = differ.as_slice() else {
                panic!("{name}: {differ:?}");
            };
            assert_eq!(*before, format!("name = \"{name}\""));
            assert_eq!(*after, format!("name = \"my-{name}\""));
            Experiment::parse(&copied, "./my.toml").unwrap();
        }
    }
}
