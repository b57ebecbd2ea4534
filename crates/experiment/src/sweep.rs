//! Factors, their levels, and the resulting cells.

mod cells;

use anyhow::Result;
use keyfile::quantity::on_off;
use keyfile::{
    KeyPath, Node, Origin, Parsed, Table, Value, did_you_mean, fault, one_line, rejection,
};
use meter::departures::is_file;
use plan::metric::{METRICS, Metric};
use plan::{Backend, Compare, Level};

use super::aliases::{Aliases, with_unit};
use super::reader::{Reader, Spanned};
pub(super) use cells::cells;

/// The table of factors and their levels.
pub(super) const ROOT: &str = "sweep";

/// An entry of `[sweep]` before its key is resolved.
pub(super) struct Entry<'a> {
    /// Its path below `[sweep]`.
    pub(super) place: KeyPath,
    /// The alias or dotted key as written.
    pub(super) name: String,
    pub(super) node: &'a Node,
}

/// A swept key.
#[derive(Debug)]
pub(super) struct Factor {
    pub(super) name: String,
    pub(super) path: KeyPath,
    pub(super) levels: Vec<(Level, Node)>,
    /// The place of its levels.
    pub(super) origin: Origin,
}

/// The entries of `[sweep]`, whether written as `mtu`, `"network.mtu"` or
/// `network.mtu`.
pub(super) fn entries(sweep: &Table) -> Vec<Entry<'_>> {
    let mut found = Vec::new();
    walk(sweep, &KeyPath(Vec::new()), &mut found);
    found
}

fn walk<'a>(table: &'a Table, above: &KeyPath, found: &mut Vec<Entry<'a>>) {
    for (key, node) in table.iter() {
        let place = above.then(key);
        match &node.value {
            Value::Table(inner) => walk(inner, &place, found),
            _ => found.push(Entry {
                name: match place.0.as_slice() {
                    [name] => name.clone(),
                    _ => place.to_string(),
                },
                place,
                node,
            }),
        }
    }
}

/// The levels in a node: a list, or a single value.
pub(super) fn levels(node: &Node) -> &[Node] {
    match &node.value {
        Value::List(nodes) => nodes,
        _ => std::slice::from_ref(node),
    }
}

/// The factors of an experiment, in the order of `[sweep]`.
pub(super) fn factors(reader: &mut Reader<'_>, aliases: &Aliases) -> Result<Vec<Factor>> {
    let missing = "[sweep] mtu = [1500, 9000]";
    let Some((sweep, origin)) = reader.table(ROOT)? else {
        return Err(reader.missing(ROOT, missing));
    };
    let mut factors: Vec<Factor> = Vec::new();
    for Entry { place, name, node } in entries(sweep) {
        let place = format!("sweep.{place}");
        let reject = |why: String| rejection(&node.origin, &place, &node.value, why);
        let path = aliases.resolve_factor(&name).map_err(reject)?;
        if factors.iter().any(|factor| factor.path == path) {
            return Err(reject(format!("`{path}` is swept twice")));
        }
        if levels(node).is_empty() {
            return Err(reject(
                "a sweep over nothing; write at least one level".into(),
            ));
        }
        let choice = aliases.choices().at(&path);
        let unit = aliases.unit(&name).map(str::to_owned);
        factors.push(Factor {
            name: match KeyPath::parse(&name) {
                Some(written) if written == path => aliases.factor_name(&name, &path),
                _ => name,
            },
            path,
            levels: levels(node)
                .iter()
                .map(|node| {
                    let level = level(&node.value).map_err(reject)?;
                    if let Some(choice) = choice {
                        choice.word(&node.value).map_err(reject)?;
                    }
                    Ok((level, with_unit(node, unit.as_deref())))
                })
                .collect::<Result<_>>()?,
            origin: levels(node)
                .first()
                .map_or_else(|| node.origin.clone(), |level| level.origin.clone()),
        });
    }
    match factors.is_empty() {
        true => Err(fault(
            origin,
            format!("sweep: a sweep over nothing; write for instance {missing}"),
        )),
        false => Ok(factors),
    }
}

/// A value as a level; `Err` describes valid levels.
pub(super) fn level(value: &Value) -> Result<Level, String> {
    match value {
        Value::Integer(number) => Ok(Level::Integer(*number)),
        Value::Float(number) if number.is_finite() => Ok(Level::Float(*number)),
        Value::Text(text) => Ok(Level::Text(text.clone())),
        Value::Boolean(truth) => Ok(Level::Text(on_off(*truth).into())),
        _ => Err("a level is a number, a word or a quantity".into()),
    }
}

impl Factor {
    /// Rejects files of values as levels: a plan renames a file after its
    /// values, but levels keep the written name.
    fn holds_no_file(&self) -> Result<()> {
        let path = self.path.to_string();
        let nodes = self.levels.iter().map(|(_, node)| node);
        for Node { value, origin } in nodes {
            if matches!(value, Value::Text(text) if path.starts_with("flows.") && is_file(text)) {
                let why = "a file cannot be swept; make a run of each and compare them: jumbolab report A B";
                return Err(rejection(origin, &path, value, why));
            }
        }
        Ok(())
    }

    /// The level written as `text`, swept or not.
    pub(super) fn level_called(&self, text: &str) -> Level {
        let swept = self.levels.iter().map(|(level, _)| level);
        swept
            .into_iter()
            .find(|level| level.to_string() == text)
            .cloned()
            .or_else(|| text.parse().ok().map(Level::Integer))
            .or_else(|| {
                let number: f64 = text.parse().ok()?;
                number.is_finite().then_some(Level::Float(number))
            })
            .unwrap_or_else(|| Level::Text(text.into()))
    }

    /// Whether `--set` wrote its levels.
    pub(super) fn is_set(&self) -> bool {
        self.origin.is_option("set")
    }
}

/// The comparison: by default the first factor against its first level. A
/// baseline in the file does not apply if `--set` changes the levels or the
/// factor; the first level is the baseline then, too.
pub(super) fn compare(
    reader: &mut Reader<'_>,
    factors: &[Factor],
    aliases: &Aliases,
) -> Result<Compare> {
    let chosen = reader.optional("compare.factor", factor_name)?;
    let baseline = reader.optional("compare.baseline", |value| {
        Ok((level(value)?, value.clone()))
    })?;
    let factor = match &chosen {
        None => factors.first(),
        Some(name) => {
            let path = aliases.resolve_factor(&name.value).ok();
            factors
                .iter()
                .find(|factor| Some(&factor.path) == path.as_ref())
        }
    };
    let Some((factor, (first, _))) =
        factor.and_then(|factor| Some((factor, factor.levels.first()?)))
    else {
        let names: Vec<_> = factors.iter().map(|factor| factor.name.as_str()).collect();
        let why = format!("compare a factor of [sweep]: {}", names.join(", "));
        return Err(chosen.map_or_else(
            || reader.missing("compare.factor", "factor = \"mtu\""),
            |name| name.reject(why),
        ));
    };
    let overruled =
        factor.is_set() || (chosen.as_ref()).is_some_and(|chosen| chosen.origin.is_option("set"));
    let baseline = match baseline {
        None => first.clone(),
        Some(found) => {
            let wanted = found.value.to_string();
            let mut levels = factor.levels.iter().map(|(level, _)| level);
            match levels.find(|level| level.to_string() == wanted) {
                Some(level) => level.clone(),
                None if overruled && matches!(found.origin, Origin::File { .. }) => first.clone(),
                None => {
                    let levels: Vec<_> = factor
                        .levels
                        .iter()
                        .map(|(level, _)| level.to_string())
                        .collect();
                    return Err(found.reject(format!(
                        "write a level of {}: {}",
                        factor.name,
                        levels.join(", ")
                    )));
                }
            }
        }
    };
    Ok(Compare {
        factor: factor.name.clone(),
        baseline,
    })
}

/// The metrics with tables and plots of their own, in the order of the file.
pub(super) fn leading(reader: &mut Reader<'_>) -> Result<Vec<String>> {
    Ok(metrics(reader, "compare.metrics")?.map_or_else(Vec::new, |names| names.value))
}

/// The metrics with paired differences; none in a backend without equal random seeds.
pub(super) fn paired(reader: &mut Reader<'_>, backend: Backend) -> Result<Vec<String>> {
    let names =
        metrics(reader, "compare.paired")?.filter(|_| !backend.profile().depends_on_machine);
    Ok(names.map_or_else(Vec::new, |names| names.value))
}

/// The names of metrics at `path`, each of them known.
pub(super) fn metrics(reader: &mut Reader<'_>, path: &str) -> Result<Option<Spanned<Vec<String>>>> {
    let Some(names) = reader.words(path)? else {
        return Ok(None);
    };
    if let Some(name) = (names.value.iter()).find(|name| Metric::named(name).is_none()) {
        let hint = did_you_mean(name, METRICS.iter().map(|metric| metric.name));
        let name = one_line(name);
        return Err(names.reject(format!(
            "unknown metric {name}{hint}; docs/reference/metrics.md lists them"
        )));
    }
    Ok(Some(names))
}

/// A factor's name as text.
pub(super) fn factor_name(value: &Value) -> Parsed<String> {
    match value {
        Value::Text(text) => Ok((text.clone(), value.clone())),
        _ => Err("write the name of a factor, for instance \"mtu\"".into()),
    }
}
