//! Tables of documents that the code prints.

const BEGIN: &str = "<!-- printed: ";
const END: &str = "<!-- end -->\n";

/// Replaces the text between the line `<!-- printed: NAME -->` and the next
/// line `<!-- end -->` of `page` with `table`. A page without these lines stays
/// as it is.
pub fn printed(page: &str, name: &str, table: &str) -> String {
    let begin = format!("{BEGIN}{name} -->\n");
    let parts = page
        .split_once(&begin)
        .and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    match parts {
        Some((before, after)) => format!("{before}{begin}{table}{END}{after}"),
        None => page.to_owned(),
    }
}
