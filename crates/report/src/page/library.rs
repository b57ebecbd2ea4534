//! The plotting library that is embedded in the page.

use std::sync::LazyLock;

use plotly::Plot;

use super::packed::packed;

/// Plotly's script, packed once for all pages of a process.
pub(super) fn script() -> &'static str {
    static SCRIPT: LazyLock<String> = LazyLock::new(|| packed(&source()));
    &SCRIPT
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_is_plotly_whole_and_nothing_else() {
        let script = source();
        let head = &script[..200];
        assert!(head.contains("plotly.js v"), "{head}");
        assert!(script.len() > 3_000_000, "{} octets", script.len());
        assert!(script.contains("newPlot"));
        for foreign in ["mjx-container", "mjx-assistive", "<script", "</script"] {
            assert!(!script.contains(foreign), "{foreign}");
        }
        let parentheses = script
            .trim_end()
            .trim_end_matches(';')
            .ends_with([')', '}']);
        assert!(parentheses, "the end is missing");
    }

    #[test]
    fn the_packed_script_leaves_room_for_plots_below_three_megabytes() {
        assert!(script().len() < 2_000_000, "{} octets", script().len());
    }
}
