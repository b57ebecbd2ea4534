//! The plotting library that is embedded in the page.

use plotly::Plot;

/// Plotly's script as content for a `script` element. The crate delivers it
/// together with MathJax, two megabytes that a page without formulas does not
/// need; each is an element of its own, Plotly first.
pub(super) fn script() -> String {
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
        let script = script();
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
}
