//! Words for people: cells as far as a message may show them, texts that cannot steer what shows them, names that were
//! probably meant, lists of names.

use std::borrow::Cow;

/// Whether a character steers what shows it: a control character, or one that turns the direction of what follows. Ends
/// of lines and tabs do not.
pub fn steers(c: char) -> bool {
    let turns =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || matches!(c, '\u{2028}' | '\u{2029}') || (c.is_control() && c != '\n' && c != '\t')
}

/// A text, of several lines perhaps, that cannot steer a terminal or a page: what would is shown as `�`.
pub fn harmless(text: &str) -> Cow<'_, str> {
    match text.contains(steers) {
        true => text.replace(steers, "\u{fffd}").into(),
        false => text.into(),
    }
}

/// JSON that says the same and cannot steer a terminal.
pub fn harmless_json(json: &str) -> Cow<'_, str> {
    if !json.contains(steers) {
        return json.into();
    }
    let escaped = |c: char| if steers(c) { format!("\\u{:04x}", c as u32) } else { c.to_string() };
    json.chars().map(escaped).collect::<String>().into()
}

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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const HIDDEN: &str = "a\u{202e}gpj.exe\u{1b}[2J\u{2066}\u{7f}\u{9b}31m\u{200f}\u{61c}\u{2028}\r";

    #[test]
    fn what_steers_is_shown_as_what_it_is_not() {
        assert_eq!(
            harmless(HIDDEN),
            "a\u{fffd}gpj.exe\u{fffd}[2J\u{fffd}\u{fffd}\u{fffd}31m\u{fffd}\u{fffd}\u{fffd}\u{fffd}"
        );
        let plain = "two lines\n\tشكر, 東京, naïve, 👩‍⚕️";
        assert_eq!(harmless(plain), plain);
    }

    #[test]
    fn json_says_the_same_without_what_steers() {
        let json = serde_json::to_string(&[HIDDEN]).unwrap();
        let shown = harmless_json(&json);
        assert!(!shown.contains(steers));
        assert_eq!(serde_json::from_str::<Vec<String>>(&shown).unwrap(), [HIDDEN]);
    }
}
