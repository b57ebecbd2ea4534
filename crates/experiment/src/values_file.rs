//! The spelling of a file of values.

use std::path::{Component, Path};

use meter::departures::is_file;

/// Whether `text` names a file of values that is outside of the folder in which paths
/// begin.
pub(crate) fn leaves_its_folder(text: &str) -> bool {
    let is_outside = |path: &str| {
        let mut parts = Path::new(path.trim()).components();
        parts.any(|part| !matches!(part, Component::Normal(_) | Component::CurDir))
    };
    let file = text.split_once(':').filter(|_| is_file(text));
    file.is_some_and(|(_, path)| is_outside(path))
}
