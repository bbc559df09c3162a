//! Words for people: cells as far as a message may show them, names that were probably meant, lists of names.

/// A cell as far as a message may show it.
pub(crate) fn shorten(text: &str) -> String {
    if text.chars().count() <= 40 {
        return text.escape_debug().to_string();
    }
    let start: String = text.chars().take(40).collect();
    format!("{}…", start.escape_debug())
}

/// The candidate closest to what was written, if it is close enough to be what was meant.
pub fn did_you_mean<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| {
            (strsim::damerau_levenshtein(&written.to_lowercase(), &candidate.to_lowercase()), candidate)
        })
        .filter(|(distance, candidate)| *distance <= 1 + candidate.chars().count().min(12) / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `"a", "b" or "c"`.
pub(crate) fn alternatives(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// A hint that starts with the name that was probably meant.
pub(crate) fn suggest(written: &str, names: &[&str], otherwise: &str) -> String {
    match did_you_mean(written, names.iter().copied()) {
        Some(name) => format!("did you mean \"{name}\"? {otherwise}").trim_end().to_owned(),
        None => otherwise.to_owned(),
    }
}
