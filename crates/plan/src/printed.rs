//! Tables of documents that are printed from the code.

const BEGIN: &str = "<!-- printed: ";
const END: &str = "<!-- end -->\n";

/// `page` with `table` between the line `<!-- printed: NAME -->` and the next
/// line `<!-- end -->`; as it is where there are none.
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
