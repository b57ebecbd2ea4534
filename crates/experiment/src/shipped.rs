//! The experiments that are part of the program.

use std::borrow::Cow;
use std::fs::Metadata;
use std::path::Path;

use anyhow::{Context, Result, bail};
use keyfile::{Value, near, one_line};

use super::{Experiment, LARGEST_FILE};

/// A commented experiment to start from.
pub const TEMPLATE: &str = include_str!("../../../experiments/template.toml");

/// Names and texts, in the order of `jumbolab list`: that of the file `experiments/order`.
const SHIPPED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

/// A shipped experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// The name for `run`.
    pub name: &'static str,
    /// The question, in one line.
    pub title: String,
}

/// All shipped experiments.
pub fn shipped() -> impl Iterator<Item = Shipped> {
    SHIPPED.iter().map(|&(name, text)| {
        let experiment = Experiment::parse(text, name).ok();
        let title = experiment.and_then(|experiment| {
            let title = &experiment.tree.get("title")?.value;
            match title {
                Value::Text(title) => Some(title.clone()),
                _ => None,
            }
        });
        Shipped {
            name,
            title: title.unwrap_or_default(),
        }
    })
}

/// Whether the text is the name of a shipped experiment rather than the path of
/// a file, which ends in `.toml` or contains `/`.
fn is_shipped(name_or_path: &str) -> bool {
    !name_or_path.ends_with(".toml") && !name_or_path.contains('/')
}

/// The text of the shipped experiment of this name, or of the file at this path,
/// with its comments.
///
/// # Errors
/// One line of text if it does not exist or cannot be read.
pub fn text_of(name_or_path: &str) -> Result<Cow<'static, str>> {
    Ok(found(name_or_path)?.text)
}

/// An experiment before it is parsed.
pub(super) struct Found {
    /// The path of its file, for messages.
    pub(super) place: String,
    pub(super) text: Cow<'static, str>,
    pub(super) file: Option<Metadata>,
}

/// Finds the shipped experiment of this name, or reads the file at this path.
pub(super) fn found(name_or_path: &str) -> Result<Found> {
    if !is_shipped(name_or_path) {
        let (text, file) = files::read_text_of(Path::new(name_or_path), LARGEST_FILE)
            .with_context(|| format!("cannot read {}", one_line(name_or_path)))?;
        return Ok(Found {
            place: name_or_path.to_owned(),
            text: text.into(),
            file: Some(file),
        });
    }
    if let Some((name, text)) = text(name_or_path) {
        return Ok(Found {
            place: format!("experiments/{name}.toml"),
            text: text.into(),
            file: None,
        });
    }
    let hint = match near(name_or_path, SHIPPED.iter().map(|(name, _)| *name)).as_slice() {
        [] => String::new(),
        names => format!("; did you mean {}?", names.join(" or ")),
    };
    bail!(
        "no shipped experiment is called `{}`{hint}; `jumbolab list` names all, and a file is given by its path, as ./my.toml",
        one_line(name_or_path)
    )
}

/// The shipped experiment of this name.
pub(super) fn text(name: &str) -> Option<(&'static str, &'static str)> {
    SHIPPED.iter().find(|(other, _)| *other == name).copied()
}

impl Shipped {
    /// The entry as one JSON object.
    pub fn to_json(&self) -> String {
        serde_json::json!({ "kind": "experiment", "name": self.name, "title": self.title })
            .to_string()
    }
}
