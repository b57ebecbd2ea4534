//! The plotting library that is embedded in the page.

/// Plotly's script, packed by the build script.
pub(super) const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/plotly.txt"));

#[cfg(test)]
mod tests {
    use super::super::packed::unpacked;
    use super::*;

    #[test]
    fn the_script_is_plotly_whole_and_nothing_else() {
        let script = unpacked(SCRIPT);
        let head = &script[..200];
        assert!(head.contains("plotly.js v"), "{head}");
        assert!(script.len() > 3_000_000, "{} bytes", script.len());
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
        let length = SCRIPT.len();
        assert!(length < 2_000_000, "{length} bytes");
    }
}
