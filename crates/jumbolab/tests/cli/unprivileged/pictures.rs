//! Pictures of a terminal with a command and its output, as SVG.

use std::fmt::Write as _;

/// The size of the letters, and the place of one in a line, in pixels. The fonts of
/// [`STYLE`] are not wider.
const LETTER: (f64, f64) = (13.0, 7.85);

/// The height of a line, the space around the text, and the height of the window's title.
const LINE: usize = 18;
const MARGIN: usize = 16;
const BAR: usize = 28;

/// Colours follow the reader's choice between light and dark.
const STYLE: &str = "\
text { font: 13px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #1f2328; white-space: pre }
.window { fill: #ffffff; stroke: #d0d7de }
.bar { fill: #eaeef2 }
.button { fill: #afb8c1 }
.typed { font-weight: bold }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.window { fill: #0d1117; stroke: #30363d }
.bar { fill: #21262d }
.button { fill: #484f58 }
}";

/// A window with a command and the lines that it prints.
pub(super) fn terminal(title: &str, command: &str, lines: &[String]) -> String {
    let typed = format!("$ jumbolab {command}");
    let lengths = lines.iter().map(|line| line.chars().count());
    let longest = lengths.chain([typed.chars().count()]).max().unwrap_or(0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a width of some hundred pixels"
    )]
    let width = (longest as f64 * LETTER.1).ceil() as usize + 2 * MARGIN;
    let height = BAR + 2 * MARGIN + (lines.len() + 1) * LINE;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"title\">\n\
         <title id=\"title\">{}</title>\n<style>\n{STYLE}\n</style>\n\
         <rect class=\"window\" x=\".5\" y=\".5\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n\
         <path class=\"bar\" d=\"M1 {BAR}V8.5a7.5 7.5 0 0 1 7.5-7.5H{}a7.5 7.5 0 0 1 7.5 7.5V{BAR}z\"/>\n",
        escaped(title),
        width - 1,
        height - 1,
        width as f64 - 8.5,
    );
    for place in [18, 36, 54] {
        let _ = writeln!(
            svg,
            "<circle class=\"button\" cx=\"{place}\" cy=\"{}\" r=\"5\"/>",
            BAR / 2
        );
    }
    let mut write = |number: usize, class: &str, line: &str| {
        let y = BAR + MARGIN + LINE * number + 13;
        let _ = writeln!(
            svg,
            "<text x=\"{MARGIN}\" y=\"{y}\"{class}>{}</text>",
            escaped(line)
        );
    };
    write(0, " class=\"typed\"", &typed);
    for (number, line) in lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !line.is_empty())
    {
        write(number + 1, "", line);
    }
    svg + "</svg>\n"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[test]
fn a_picture_has_the_text_and_room_for_it() {
    let lines = ["a <b> & c".to_owned(), String::new(), "d".repeat(100)];
    let svg = terminal("Two & more", "run x", &lines);
    assert!(
        svg.contains("<title id=\"title\">Two &amp; more</title>"),
        "{svg}"
    );
    assert!(svg.contains(">$ jumbolab run x</text>"), "{svg}");
    assert!(svg.contains(">a &lt;b&gt; &amp; c</text>"), "{svg}");
    assert!(svg.contains("width=\"817\" height=\"132\""), "{svg}");
    assert_eq!(svg.matches("<text ").count(), 3, "{svg}");
}
