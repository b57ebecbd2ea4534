//! Known names that resemble an unknown one.

/// The number of slips (letters that are missing, wrong or exchanged) in which `word` differs
/// from `name`, if they are few for its length.
pub fn slips(word: &str, name: &str) -> Option<usize> {
    let slips = strsim::damerau_levenshtein(word, name);
    (slips <= 1.max(word.chars().count() / 3)).then_some(slips)
}

/// `; did you mean ..?` for the candidate most similar to `word`, or an empty
/// text.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
    let key = last(word);
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let whole = strsim::damerau_levenshtein(word, candidate);
            Some((slips(&key, &last(candidate))?, whole, candidate))
        })
        .min()
        .map_or_else(String::new, |(.., candidate)| {
            format!("; did you mean `{candidate}`?")
        })
}

/// `; did you mean ..?` as [`did_you_mean`], or all that could be meant.
pub fn meant<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match did_you_mean(word, known.iter().copied()) {
        hint if hint.is_empty() => format!("; write one of {}", known.join(", ")),
        hint => hint,
    }
}

/// Up to three names like `word`, each in backquotes, the most similar first:
/// those with few slips, and those that share a part between hyphens with it.
pub fn near<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    const MOST: usize = 3;
    let shares = |name: &str| {
        let mut parts = word.split('-').filter(|part| part.len() > 2);
        parts.any(|part| name.split('-').any(|other| other.starts_with(part)))
    };
    let mut found: Vec<(bool, usize, &str)> = names
        .into_iter()
        .filter(|name| slips(word, name).is_some() || shares(name))
        .map(|name| {
            let is_other = slips(word, name).is_none();
            (is_other, strsim::damerau_levenshtein(word, name), name)
        })
        .collect();
    found.sort_unstable();
    let best = found.iter().any(|(is_other, ..)| !is_other);
    let found = found.iter().filter(|(is_other, ..)| !(best && *is_other));
    found
        .take(MOST)
        .map(|(.., name)| format!("`{name}`"))
        .collect()
}
