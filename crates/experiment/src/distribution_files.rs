//! Files of observed gaps or sizes, one per line.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use keyfile::one_line;
use meter::departures::{FILE, Measure, Seen, WrittenDistribution};
use plan::DistributionFile;

use super::values_file::leaves_its_folder;

/// The files that an experiment names, each read once.
#[derive(Clone, Debug, Default)]
pub(crate) struct DistributionFiles {
    read: Rc<RefCell<BTreeMap<(PathBuf, Measure), DistributionFile>>>,
    /// Whether they are those that a run left in its folder.
    is_of_results: bool,
}

impl DistributionFiles {
    pub(crate) fn new(is_of_results: bool) -> Self {
        Self {
            is_of_results,
            ..Self::default()
        }
    }

    /// The files read so far, each once per set of values.
    pub(crate) fn kept(&self) -> Vec<DistributionFile> {
        let read = self.read.borrow();
        let named: BTreeMap<&str, &DistributionFile> = read
            .values()
            .map(|file| (file.name.as_str(), file))
            .collect();
        named.into_values().cloned().collect()
    }

    /// The distribution in `text`. Paths of files begin in `folder`.
    pub(crate) fn distribution(
        &self,
        text: &str,
        measure: Measure,
        folder: &Path,
    ) -> Result<WrittenDistribution, String> {
        WrittenDistribution::parse(text, measure, |path| {
            let DistributionFile { name, seen, .. } = self.read(path, measure, folder)?;
            Ok((name, seen))
        })
    }

    /// The values in the file at `path`, relative to `folder`.
    fn read(
        &self,
        path: &str,
        measure: Measure,
        folder: &Path,
    ) -> Result<DistributionFile, String> {
        let key = (folder.join(path), measure);
        if let Some(file) = self.read.borrow().get(&key) {
            return Ok(file.clone());
        }
        let file = match self.is_of_results {
            true => of_results(path, measure, folder)?,
            false => {
                stays_in(folder, path, &key.0)?;
                let opened = files::open_regular(&key.0);
                DistributionFile::new(measure, read(opened, &key.0, measure)?)
            }
        };
        self.read.borrow_mut().insert(key, file.clone());
        Ok(file)
    }
}

/// Rejects a link that leads out of `folder` under a name that does not: the user sees which
/// files outside an experiment reads.
fn stays_in(folder: &Path, path: &str, place: &Path) -> Result<(), String> {
    if Path::new(path).is_absolute() || leaves_its_folder(&format!("{FILE}:{path}")) {
        return Ok(());
    }
    // A file that is not there is rejected when it is opened.
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
fn of_results(name: &str, measure: Measure, folder: &Path) -> Result<DistributionFile, String> {
    let opened = files::Folder::open(named(folder)).and_then(|folder| folder.open_file(name));
    let place = folder.join(name);
    let file = DistributionFile::new(measure, read(opened, &place, measure)?);
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

/// The values in a file.
fn read(opened: io::Result<File>, place: &Path, measure: Measure) -> Result<Seen, String> {
    let shown = one_line(&place.display().to_string());
    let file = opened.map_err(|error| format!("cannot read {shown}: {error}"))?;
    Seen::read(file, &shown, measure).map_err(|why| one_line(&why))
}

#[cfg(test)]
mod tests;
