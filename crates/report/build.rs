//! Packs Plotly's script, once for all pages.

#[path = "src/page/packed.rs"]
mod packed;

use std::path::Path;
use std::{env, fs, io};

use plotly::Plot;

fn main() -> io::Result<()> {
    for source in ["build.rs", "src/page/packed.rs"] {
        println!("cargo::rerun-if-changed={source}");
    }
    let output = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(
        Path::new(&output).join("plotly.txt"),
        packed::packed(&source()),
    )
}

/// Plotly's script. The crate delivers it together with MathJax, two megabytes
/// that a page without formulas does not need; each is an element of its own,
/// Plotly first.
fn source() -> String {
    const END: &str = "</script>";
    let mut sources = Plot::offline_js_sources();
    let begin = sources.find('>').map_or(0, |end| end + 1);
    let end = sources.find(END).unwrap_or(sources.len());
    sources.truncate(end);
    sources.drain(..begin);
    sources
}
