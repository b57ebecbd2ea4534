//! Reads experiments; docs/reference/experiments.md describes the format.
//!
//! An [`Experiment`] is a tree of keys whose values know their place in the
//! file. `--set` overwrites values. [`Experiment::plan`] reads the tree once
//! for each combination of swept levels. It rejects everything that this build
//! does not support, with file, line, key and value.

mod aliases;
mod auto_rate;
mod backend_overrides;
mod canonical;
mod cell;
mod check;
mod choices;
mod claims;
mod distribution_files;
mod keys;
mod listed;
mod named_hosts;
mod published;
mod reader;
mod report;
mod resolved;
mod shipped;
mod short_names;
mod slow_link;
mod steps;
mod sweep;
#[cfg(test)]
mod tests;
mod unstated;
mod values_file;

use std::fs::Metadata;
use std::iter;

use anyhow::Result;
use keyfile::quantity::{self, number};
use keyfile::{KeyPath, Node, Origin, Parsed, Table, Value, fault, rejection};
use plan::{Backend, NamedHosts, Plan, RetryLimit, Until};

use aliases::Aliases;
pub use auto_rate::AUTO_RATES;
pub use cell::{LARGEST_BUFFER, LARGEST_SOCKET_BUFFER, LEAST_MESSAGE, MESSAGE_HEADER, auto_burst};
pub use check::{Check, Rejection};
use distribution_files::DistributionFiles;
pub use keys::{PAGES, schema};
use reader::{Reader, Spanned};
pub use shipped::{Shipped, TEMPLATE, shipped, text_of};
pub use short_names::{Sets, ShortName};
use sweep::entries;
use units::Rate;

/// The version of the experiment format.
pub const FORMAT: i64 = 1;

/// The maximum number of repeats of a cell.
const MOST_REPEATS: u32 = 100_000;

/// The maximum number of trials of a run. Their results are read as a whole.
const MOST_TRIALS: u64 = 1_000_000;

/// An experiment as written, with the changes by `--set`.
#[derive(Clone, Debug)]
pub struct Experiment {
    tree: Table,
    /// The start of the file.
    place: Origin,
    /// The file that it was loaded from.
    file: Option<Metadata>,
    /// Whether it is in a results folder, which may come from somebody else.
    is_of_results: bool,
}

/// Checks a name that becomes part of the name of a file.
///
/// # Errors
/// The rule of such names.
pub fn check_name(text: &str) -> Result<(), String> {
    quantity::name(64)(&Value::from(text)).map(drop)
}

/// The maximum size of an experiment file: 1 MiB.
pub const LARGEST_FILE: u64 = 1 << 20;

impl Experiment {
    /// Parses the experiment in `text`; error messages use `name` for its file.
    ///
    /// # Errors
    /// One line of text with `name` and the line number if it is not valid TOML
    /// or not an experiment of this format version.
    pub fn parse(text: &str, name: &str) -> Result<Self> {
        let mut tree = keyfile::parse(text, name)?;
        let place = Origin::start_of(name);
        read_format(&mut Reader::new(&tree, "", place.clone()))?;
        let aliases = Aliases::read(&tree, &place)?;
        published::remember_comparison(&mut tree);
        unstated::write_first(&mut tree, &aliases, &place)?;
        Ok(Self {
            tree,
            place,
            file: None,
            is_of_results: false,
        })
    }

    /// Parses the experiment of a results folder, as [`Experiment::parse`]. It can name the
    /// files of values that the run left there, and no others.
    ///
    /// # Errors
    /// As [`Experiment::parse`].
    pub fn parse_results(text: &str, name: &str) -> Result<Self> {
        let mut experiment = Self::parse(text, name)?;
        experiment.is_of_results = true;
        Ok(experiment)
    }

    /// Loads the shipped experiment of this name, or the file at this path.
    /// Names that end in `.toml` or contain `/` are paths.
    ///
    /// # Errors
    /// One line of text if the experiment does not exist, or as
    /// [`Experiment::parse`].
    pub fn load(name_or_path: &str) -> Result<Self> {
        let found = shipped::found(name_or_path)?;
        let mut experiment = Self::parse(&found.text, &found.place)?;
        experiment.file = found.file;
        Ok(experiment)
    }

    /// The owner and the permissions of the file that it was loaded from, as they were when
    /// it was open. `None` of a shipped experiment.
    pub const fn file(&self) -> Option<&Metadata> {
        self.file.as_ref()
    }

    /// Applies an argument `key=value` of `--set`. The key is an alias or a
    /// dotted key, and commas separate levels. A swept key gets new levels; a
    /// list makes a key swept.
    ///
    /// # Errors
    /// One line of text if the key does not exist or does not accept a list.
    pub fn set(&mut self, argument: &str) -> Result<()> {
        let origin = Origin::option("set", argument);
        let Some((key, text)) = argument.split_once('=') else {
            return Err(fault(
                &origin,
                "write key=value, for instance mtu=1500,9000",
            ));
        };
        let key = key.trim();
        let aliases = Aliases::read(&self.tree, &self.place)?;
        let path = aliases.resolve(key).map_err(|why| fault(&origin, why))?;
        let unit = aliases.unit(key);
        self.state(&aliases, &path)?;
        self.forget_fit(iter::once(&path));
        if is_cost(&path)
            && let Some(node) = self.tree.get_mut(backend_overrides::ROOT)
        {
            // It is a cost of all hosts, those of words for a backend among them.
            forget_fits(&mut node.value);
        }
        let (values, listed) = match keyfile::values(text, &origin).as_slice() {
            [
                Node {
                    value: Value::List(nodes),
                    ..
                },
            ] => (nodes.clone(), true),
            values => (values.to_vec(), values.len() != 1),
        };
        let list = Node {
            value: Value::List(values.clone()),
            origin: origin.clone(),
        };
        let (place, node) = match (self.swept_at(&aliases, &path), values.as_slice()) {
            (Some(place), _) => (place, list),
            (None, [value]) if !listed => match aliases.choices().at(&path) {
                None => (path, aliases::with_unit(value, unit)),
                // Its parameters follow from the cell.
                Some(choice) if choice.discipline(&value.value).is_some() => {
                    let name = aliases.factor_name(key, &path);
                    (KeyPath(vec!["sweep".into(), name]), list)
                }
                Some(choice) => {
                    let word = choice.word(&value.value);
                    let word = word.map_err(|why| rejection(&origin, key, &value.value, why))?;
                    self.forget_fit(word.keys.iter().map(|(path, _)| path));
                    for (path, node) in &word.keys {
                        let node = Node {
                            value: node.value.clone(),
                            origin: origin.clone(),
                        };
                        self.put(path, node)?;
                    }
                    return Ok(());
                }
            },
            (None, _) if path.root() == "sweep" => (path, list),
            (None, _) => {
                let path = aliases
                    .resolve_factor(key)
                    .map_err(|why| rejection(&origin, &path.to_string(), &list.value, why))?;
                let name = aliases.factor_name(key, &path);
                (KeyPath(vec!["sweep".into(), name]), list)
            }
        };
        self.put(&place, node)
    }

    /// Whether a link has `rate = "auto"`, in whatever backend.
    pub fn has_auto_rate(&self) -> bool {
        auto_rate::is_in(&self.tree)
    }

    /// The same experiment, whose links with `rate = "auto"` have this rate.
    #[must_use]
    pub fn with_auto_rate(mut self, rate: Rate) -> Self {
        auto_rate::apply(&mut self.tree, rate);
        self
    }

    /// The dotted key of an argument of `--set`.
    ///
    /// # Errors
    /// As [`Experiment::set`].
    pub fn key_of(&self, argument: &str) -> Result<String> {
        let origin = Origin::option("set", argument);
        let key = argument.split('=').next().unwrap_or_default();
        let aliases = Aliases::read(&self.tree, &self.place)?;
        let path = aliases.resolve(key.trim());
        Ok(path.map_err(|why| fault(&origin, why))?.to_string())
    }

    /// The backend that the experiment selects, if any.
    ///
    /// # Errors
    /// One line of text if the backend does not exist.
    pub fn backend(&self) -> Result<Option<Backend>> {
        let mut reader = Reader::new(&self.tree, "", self.place.clone());
        let backend = reader.optional("backend", named_backend)?;
        Ok(backend.map(|found| found.value))
    }

    /// The machines of `[hosts]`, with those of `arguments`, which are written as
    /// for `--host`.
    ///
    /// # Errors
    /// One line of text with the place and what to write: a machine is missing
    /// or named twice, or a value is none.
    pub fn named_hosts(&self, arguments: &[String]) -> Result<NamedHosts> {
        named_hosts::read(&self.tree, arguments)
    }

    /// Resolves the experiment for `backend`: all cells, all values, all
    /// defaults, and the keys of `[on]` for this backend. A resolved plan is
    /// valid.
    ///
    /// # Errors
    /// One line of text with place, key, value and the expected form for the
    /// first problem, including settings that the backend's `check` rejects.
    pub fn plan(mut self, backend: Backend, check: Check) -> Result<Plan> {
        auto_rate::resolve(&mut self.tree, backend);
        let of_cells = |key: &str| keys::cell_roots().contains(&key);
        // A run writes `[run]` into its plan.toml.
        let tree = backend_overrides::applied(&self.tree, backend)?;
        if let Some((path, node)) = keys::unknown(&tree) {
            return Err(reader::unknown(&path, node));
        }
        backend_overrides::reject_unknown(&self.tree, backend)?;
        let head = tree.only(|key| !of_cells(key) && key != "run");
        let mut body = tree.only(of_cells);
        let aliases = Aliases::read(&tree, &self.place)?;

        let mut reader = Reader::new(&head, "", self.place.clone()).in_backend(backend);
        read_format(&mut reader)?;
        let name = reader.required("name", "name = \"my-experiment\"", quantity::name(64))?;
        let title = reader.optional("title", quantity::line)?;
        let source = reader.optional("source", quantity::line)?;
        reader.optional("backend", named_backend)?;
        let repeat = reader.read("trials.repeat", number(1, MOST_REPEATS.into()))?;
        let until = reader.optional("trials.until", |value| match value {
            Value::Text(text) => Ok((text.parse::<Until>()?, value.clone())),
            _ => Err("write until = \"ci <= 2%\"".into()),
        })?;
        let retry_limit = reader.optional("trials.retry_limit", |value| match value {
            Value::Text(text) => {
                let retry_limit: RetryLimit = text.parse()?;
                Ok((retry_limit, Value::Text(retry_limit.to_string())))
            }
            _ => Err("write retry_limit = \"50%, 10min\" or \"none\"".into()),
        })?;
        let seed = reader.read("trials.seed", number(0, i64::MAX))?;
        reader.read("trials.order", |value| match value {
            Value::Text(text) if text == "random" => Ok(((), value.clone())),
            _ => Err("write \"random\"; no other order is honest".into()),
        })?;
        let factors = sweep::factors(&mut reader, &aliases)?;
        let compare = sweep::compare(&mut reader, &factors, &aliases)?;
        let leading = sweep::leading(&mut reader)?;
        let paired = sweep::paired(&mut reader, backend)?;
        let rows = published::rows(&mut reader, &factors, &aliases, &compare)?;
        let claims = claims::claims(&mut reader, &factors, &aliases)?;
        let steps = steps::steps(&mut reader, &factors, &aliases)?;
        let entries = unstated::entries(&mut reader, &aliases)?;
        listed::read(&mut reader)?;
        let report = report::report(&mut reader, &factors, &aliases, &compare)?;
        reader.table("aliases")?;
        reader.table(named_hosts::ROOT)?;
        reader.table(choices::ROOT)?;

        let files = DistributionFiles::new(self.is_of_results);
        let resolve = |body: &Table| {
            sweep::cells(
                body,
                &self.place,
                &factors,
                &aliases,
                backend,
                check,
                &files,
            )
        };
        let (mut cells, mut sample, mut varying) = resolve(&body)?;
        let mut has_row = rows.iter();
        let mut scopes = vec![backend_overrides::Scope::Backend(backend)];
        if has_row.any(|row| row.has_settings_of(&sample.keys, &factors, &aliases))
            && let Some(published) = backend_overrides::published(&self.tree, &body)?
        {
            (cells, sample, varying) = resolve(&published)?;
            body = published;
            scopes.push(backend_overrides::Scope::Published);
        }
        let unstated = unstated::described(&entries, &factors, (&self.tree, &aliases, &scopes))?;
        reject_many_trials(cells.len(), &repeat)?;
        let head = reader.finish()?;
        aliases.check(&sample.asked)?;
        backend_overrides::reject_swept(&self.tree, &factors)?;

        let resolved = resolved::Resolved {
            backend,
            head: &head.resolved,
            cell: &sample.keys,
            body: &body,
            varying: &varying,
            aliases: &aliases,
            factors: &factors,
            compare: &compare,
            leading: &leading,
            paired: &paired,
            rows: &rows,
            claims: &claims,
            steps: &steps,
            unstated: &unstated,
            report: &report,
        };
        let text = resolved.write();
        let hash = canonical::hash(&text, backend)?;
        Ok(Plan {
            name: name.value,
            title: title.map(|found| found.value).unwrap_or_default(),
            source: source.map(|found| found.value),
            backend,
            cells,
            repeat: match backend.profile().predicts {
                true => 1,
                false => u32::try_from(repeat.value).unwrap_or(MOST_REPEATS),
            },
            until: until.map(|found| found.value),
            retry_limit: retry_limit.map_or_else(RetryLimit::default, |found| found.value),
            seed: units::Seed::new(seed.value.unsigned_abs()),
            published: rows
                .iter()
                .filter(|row| row.has_settings_of(&sample.keys, &factors, &aliases))
                .filter_map(|row| row.against(&compare))
                .collect(),
            claims,
            steps,
            unstated,
            report,
            compare,
            leading,
            paired,
            text,
            hash,
            files: files.kept(),
            side_effects: sample.side_effects,
        })
    }

    /// The experiment as TOML, `--set` applied and nothing else written out. A plan's
    /// text has defaults that follow from other keys; this leaves them free to follow
    /// when an unstated setting changes.
    pub fn written(&self) -> String {
        let mut tree = self.tree.clone();
        report::keep_only_swept(&mut tree);
        let lines = tree.iter().map(|(key, node)| {
            let key = KeyPath(vec![key.to_owned()]);
            format!("{key} = {}\n", node.value)
        });
        lines.collect()
    }

    fn put(&mut self, place: &KeyPath, node: Node) -> Result<()> {
        let origin = node.origin.clone();
        let put = self.tree.put(&place.0, node);
        put.map_err(|key| {
            fault(
                &origin,
                format!("{place}: `{key}` is no table; write the keys of a table below one"),
            )
        })
    }

    /// Costs of hosts that an argument sets are not those of a study.
    fn forget_fit<'a>(&mut self, mut paths: impl Iterator<Item = &'a KeyPath>) {
        if paths.any(is_cost) {
            self.tree.remove(&["host", "fitted_to"]);
            let scopes: Vec<String> = Backend::ALL.iter().map(Backend::to_string).collect();
            for scope in &scopes {
                self.tree
                    .remove(&[backend_overrides::ROOT, scope, "host", "fitted_to"]);
            }
        }
    }

    /// The position of the levels of `path`, if it is swept.
    fn swept_at(&self, aliases: &Aliases, path: &KeyPath) -> Option<KeyPath> {
        let entry = entries(self.tree.table("sweep")?)
            .into_iter()
            .find(|entry| aliases.resolve_factor(&entry.name).as_ref() == Ok(path))?;
        let keys = [vec!["sweep".to_owned()], entry.place.0].concat();
        Some(KeyPath(keys))
    }
}

/// Whether `path` is a cost of hosts, of whatever backend or word.
fn is_cost(path: &KeyPath) -> bool {
    matches!(path.0.as_slice(), [.., table, key] if table == "host" && key.contains("_per_"))
}

/// Takes away, in all tables of `value`, to which study costs are fitted.
fn forget_fits(value: &mut Value) {
    if let Value::Table(table) = value {
        table.remove(&["host", "fitted_to"]);
        table.remove(&["host.fitted_to"]);
        let inner = table.iter_mut();
        inner.for_each(|(_, node)| forget_fits(&mut node.value));
    }
}

/// Rejects a run of more than [`MOST_TRIALS`].
fn reject_many_trials(cells: usize, repeat: &Spanned<i64>) -> Result<()> {
    let cells = cells as u64;
    let trials = cells.saturating_mul(repeat.value.unsigned_abs());
    if trials <= MOST_TRIALS {
        return Ok(());
    }
    let most = MOST_TRIALS / cells;
    Err(repeat.reject(format!(
        "{cells} cells have {trials} trials, more than {MOST_TRIALS}; write at most {most}, or list fewer levels"
    )))
}

fn named_backend(value: &Value) -> Parsed<Backend> {
    let Value::Text(name) = value else {
        return Err("write the name of a backend, for instance \"sim\"".into());
    };
    let backend: Backend = name.parse().map_err(|error| format!("{error}"))?;
    Ok((backend, backend.to_string().as_str().into()))
}

fn read_format(reader: &mut Reader<'_>) -> Result<()> {
    reader.required(
        "format",
        &format!("format = {FORMAT}"),
        |value| match value {
            Value::Integer(FORMAT) => Ok(((), value.clone())),
            _ => Err(format!("this build reads format = {FORMAT}; write it")),
        },
    )?;
    Ok(())
}
