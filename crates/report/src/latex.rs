//! Text for LaTeX.

/// `text` with the characters that LaTeX would interpret escaped.
pub(crate) fn escaped(text: &str) -> String {
    text.chars().map(character).collect()
}

fn character(character: char) -> String {
    match character {
        '&' | '%' | '$' | '#' | '_' | '{' | '}' => format!("\\{character}"),
        '\\' => "\\textbackslash{}".into(),
        '~' => "\\textasciitilde{}".into(),
        '^' => "\\textasciicircum{}".into(),
        '<' => "$<$".into(),
        '>' => "$>$".into(),
        '±' => "$\\pm$".into(),
        '×' => "$\\times$".into(),
        'µ' => "$\\mu$".into(),
        '†' => "$\\dagger$".into(),
        other => other.to_string(),
    }
}
