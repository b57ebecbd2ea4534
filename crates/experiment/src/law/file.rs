//! Files of observed gaps or sizes, one per line.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::Result;
use keyfile::one_line;
use meter::departures::Seen;
use plan::{LawFile, Measure};
use units::Span;

use super::quantity;
use crate::values_file::{FILE, leaves_its_folder};

/// The maximum number of values in a file.
const MOST_VALUES: usize = 10_000_000;
/// The maximum size of a file and of a line, in octets.
const LARGEST: u64 = 1 << 30;
const LONGEST_LINE: u64 = 1_000;

/// The files that an experiment names, each read once.
#[derive(Clone, Debug, Default)]
pub(crate) struct LawFiles {
    read: Rc<RefCell<BTreeMap<(PathBuf, Measure), LawFile>>>,
    /// Whether they are those that a run left in its folder.
    is_of_results: bool,
}

impl LawFiles {
    pub(crate) fn new(is_of_results: bool) -> Self {
        Self {
            is_of_results,
            ..Self::default()
        }
    }

    /// The files read so far, each once per set of values.
    pub(crate) fn kept(&self) -> Vec<LawFile> {
        let read = self.read.borrow();
        let named: BTreeMap<&str, &LawFile> = read
            .values()
            .map(|file| (file.name.as_str(), file))
            .collect();
        named.into_values().cloned().collect()
    }

    /// The values in the file at `path`, relative to `folder`.
    pub(super) fn read(
        &self,
        path: &str,
        measure: Measure,
        folder: &Path,
    ) -> Result<LawFile, String> {
        let key = (folder.join(path), measure);
        if let Some(file) = self.read.borrow().get(&key) {
            return Ok(file.clone());
        }
        let file = match self.is_of_results {
            true => of_results(path, measure, folder)?,
            false => {
                stays_in(folder, path, &key.0)?;
                let opened = files::open_regular(&key.0);
                LawFile::new(measure, Seen::from(read(opened, &key.0, measure)?))
            }
        };
        self.read.borrow_mut().insert(key, file.clone());
        Ok(file)
    }
}

/// Refuses a link that leads out of `folder` under a name that does not: the user sees which
/// files outside an experiment reads.
fn stays_in(folder: &Path, path: &str, place: &Path) -> Result<(), String> {
    if Path::new(path).is_absolute() || leaves_its_folder(&format!("{FILE}:{path}")) {
        return Ok(());
    }
    // A file that is not there is refused when it is opened.
    let (Ok(folder), Ok(leads_to)) = (named(folder).canonicalize(), place.canonicalize()) else {
        return Ok(());
    };
    match leads_to.starts_with(&folder) {
        true => Ok(()),
        false => Err(format!(
            "{} is a link to {}, outside of the experiment's folder; name that file",
            one_line(&place.display().to_string()),
            one_line(&leads_to.display().to_string())
        )),
    }
}

/// The file `name` that a run left in `folder`: its values decide its name, and no link leads
/// out of the folder.
fn of_results(name: &str, measure: Measure, folder: &Path) -> Result<LawFile, String> {
    let opened = files::Folder::open(named(folder)).and_then(|folder| folder.open_file(name));
    let place = folder.join(name);
    let file = LawFile::new(measure, Seen::from(read(opened, &place, measure)?));
    match file.name == name {
        true => Ok(file),
        false => Err(format!(
            "{} is not the file {} that the run left in its folder; put that one back",
            one_line(&place.display().to_string()),
            file.name
        )),
    }
}

/// The folder with a name that can be opened: an empty path is the current one.
fn named(folder: &Path) -> &Path {
    match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    }
}

/// The values in a file, one per line; `#` starts a comment.
fn read(opened: io::Result<File>, place: &Path, measure: Measure) -> Result<Vec<f64>, String> {
    let shown = one_line(&place.display().to_string());
    let cannot = |error: std::io::Error| format!("cannot read {shown}: {error}");
    let file = opened.map_err(cannot)?;
    if file.metadata().map_err(cannot)?.len() > LARGEST {
        return Err(format!(
            "{shown} is larger than {LARGEST} octets; take fewer values"
        ));
    }
    let mut file = BufReader::new(file.take(LARGEST));
    let (mut values, mut line) = (Vec::new(), Vec::new());
    for number in 1u64.. {
        line.clear();
        let most = LONGEST_LINE + 1;
        let length = (&mut file)
            .take(most)
            .read_until(b'\n', &mut line)
            .map_err(cannot)?;
        if length == 0 {
            break;
        }
        let refuse = |why: &str| format!("{shown}:{number}: {why}");
        let text = std::str::from_utf8(&line).unwrap_or("\u{fffd}");
        if length as u64 == most || text == "\u{fffd}" {
            return Err(refuse("a file of values has short lines of text"));
        }
        let text = text.split('#').next().unwrap_or_default().trim();
        if text.is_empty() {
            continue;
        }
        if values.len() == MOST_VALUES {
            return Err(refuse("a file has 10000000 values at most; take fewer"));
        }
        values.push(value(text, measure).map_err(|why| refuse(&one_line(&why)))?);
    }
    match values.is_empty() {
        true => Err(format!("{shown} holds no values; write one on each line")),
        false => Ok(values),
    }
}

/// One value; gaps without a unit are in seconds, as captures print them.
fn value(text: &str, measure: Measure) -> Result<f64, String> {
    let bare = text.ends_with(|last: char| last.is_ascii_digit() || last == '.');
    let seconds = match measure == Measure::Gaps && bare {
        true => format!("{text}s").parse::<Span>().ok(),
        false => None,
    };
    match seconds {
        Some(span) => Ok(span.as_picos() as f64),
        None => Ok(quantity(text, measure)?.0),
    }
}
