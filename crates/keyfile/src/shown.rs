//! Text from outside, such as a file's, a journal's or another program's, for a terminal or
//! one line.

use std::borrow::Cow;

/// Whether a terminal would act on `letter` instead of showing it: control
/// characters, line and paragraph separators, and characters that change the
/// direction of text [UAX9 s2].
pub fn acts_on_terminals(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// `text` with the characters on which a terminal acts escaped, except those in
/// `kept`. The escapes, such as `\u001b`, are those of JSON, so that JSON stays
/// the same document.
pub fn escaped<'a>(text: &'a str, kept: &[char]) -> Cow<'a, str> {
    let is_escaped = |letter: char| acts_on_terminals(letter) && !kept.contains(&letter);
    if !text.contains(is_escaped) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match is_escaped(letter) {
            true => shown.push_str(&format!("\\u{:04x}", u32::from(letter))),
            false => shown.push(letter),
        }
    }
    shown.into()
}

/// `text` with at most about `most` characters: of a longer one the beginning
/// and the end.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    let count = text.chars().count();
    if count <= most {
        return text.into();
    }
    let (first, last) = (most - most / 3, most / 3);
    let at = |place: usize| {
        let found = text.char_indices().nth(place);
        found.map_or(text.len(), |(byte, _)| byte)
    };
    format!(
        "{} [{} characters left out] {}",
        &text[..at(first)],
        count - first - last,
        &text[at(count - last)..]
    )
    .into()
}

/// `text` without its middle, if it is longer than its two ends together.
pub(super) fn without_middle(text: &str, [first, last]: [usize; 2]) -> Cow<'_, str> {
    let middle = (text.char_indices().nth(first)).zip(text.char_indices().nth_back(last));
    match middle {
        Some(((from, _), (to, _))) if from < to => {
            format!("{}...{}", &text[..from], &text[to..]).into()
        }
        _ => text.into(),
    }
}

/// `text` with line breaks and other control characters escaped.
pub fn one_line(text: &str) -> String {
    text.chars()
        .flat_map(|letter| {
            let spelled = acts_on_terminals(letter);
            let escaped = spelled.then(|| letter.escape_default());
            let plain = (!spelled).then_some(letter);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect()
}

/// `text` as a TOML string on one line.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            _ if acts_on_terminals(letter) => {
                quoted.push_str(&format!("\\u{:04X}", u32::from(letter)))
            }
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_acts_on_is_shown_and_all_else_stays() {
        let text = "a\u{1b}]0;owned\u{7}\u{9b}\u{7f}\r\u{202e}\u{2066}\u{61c}\u{2028}\u{0}";
        assert_eq!(
            escaped(text, &[]),
            r"a\u001b]0;owned\u0007\u009b\u007f\u000d\u202e\u2066\u061c\u2028\u0000"
        );
        assert_eq!(escaped("a\n\tb\u{1b}", &['\n', '\t']), "a\n\tb\\u001b");
        for plain in ["", "± 5 µs \u{1F980} \"\\", "日本"] {
            assert!(matches!(escaped(plain, &[]), Cow::Borrowed(same) if same == plain));
        }
        let json = serde_json::to_string(text).unwrap();
        let shown = escaped(&json, &[]).into_owned();
        assert!(!shown.contains(acts_on_terminals));
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
    }

    #[test]
    fn long_text_keeps_its_beginning_and_its_end() {
        assert_eq!(shortened("abc", 3), "abc");
        let long = format!("begin{}end", "é".repeat(1_000));
        let short = shortened(&long, 30);
        assert!(short.starts_with("begin") && short.ends_with("end"));
        assert!(short.contains(" [978 characters left out] "), "{short}");
    }
}
