//! The character set of the console.

/// Whether the console of this process takes UTF-8; `None` if it has none.
#[cfg(windows)]
pub fn is_utf8() -> Option<bool> {
    /// The number of UTF-8 among the character sets of Windows [WinCodePages].
    const UTF8: u32 = 65_001;
    match crate::elsewhere::sys::windows::console_output_code_page() {
        0 => None,
        page => Some(page == UTF8),
    }
}

/// Whether the console of this process takes UTF-8; `None` if it has none.
#[cfg(unix)]
pub fn is_utf8() -> Option<bool> {
    use std::io::IsTerminal as _;

    let is_there = std::io::stdout().is_terminal();
    is_there.then(|| names_utf8(|name| std::env::var(name).ok()))
}

/// Whether the variables of a locale name UTF-8: the first one that is set counts [POSIX s8.2].
#[cfg(unix)]
fn names_utf8(variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(variable);
    let locale = set.into_iter().find(|locale| !locale.is_empty());
    let name = locale.unwrap_or_default().to_ascii_lowercase();
    name.contains("utf-8") || name.contains("utf8")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_names_the_character_set() {
        let named = |set: &[(&str, &str)]| {
            names_utf8(|name| {
                let mut set = set.iter();
                let found = set.find(|(other, _)| *other == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        assert!(named(&[("LANG", "de_DE.UTF-8")]));
        assert!(named(&[
            ("LC_ALL", ""),
            ("LC_CTYPE", "C.utf8"),
            ("LANG", "C")
        ]));
        assert!(!named(&[("LC_ALL", "C"), ("LANG", "en_US.UTF-8")]));
        assert!(!named(&[]));
    }
}
