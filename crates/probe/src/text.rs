//! Results for readers and for programs: documents, sentences and lines of JSON.

mod local;
mod mesh;
mod path;

pub use local::{local_json, of_local};
pub use mesh::{mesh_json, of_mesh};
pub use path::{Probed, of_path, path_change_json, path_change_sentence, path_json, path_sentence};

/// The text with a capital letter first.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}
