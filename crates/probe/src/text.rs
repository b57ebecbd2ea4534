//! Results for readers and for programs: documents, sentences and lines of JSON.

mod local;
mod mesh;
mod path;
mod sentence;

pub use local::{local_json, of_local};
pub use mesh::{
    mesh_change_lines, mesh_comparison_json, mesh_json, of_mesh, of_mesh_comparison, read_mesh,
};
pub use path::{
    Probed, of_path, on_linux_alone, path_change_json, path_change_sentence, path_json,
    path_sentence,
};
