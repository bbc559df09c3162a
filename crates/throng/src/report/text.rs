//! Text from tables and policies, made safe to show: escaped, without control characters, cut to a width.

use crate::words::steers;

/// Escapes text for HTML and SVG, in element content and in quoted attributes.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in clean(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// A word as a shell reads it, file names with blanks and quotes in them too.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./,:=+@%".contains(c);
    match !word.is_empty() && !word.starts_with(['=', '%']) && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// A blank at which no line is broken.
pub(super) const UNBROKEN: char = '\u{a0}';

/// One line of text that cannot steer a terminal: control and direction-changing characters become `�`,
/// white space becomes a blank.
pub(super) fn clean(text: &str) -> String {
    let shown = |c: char| match c {
        UNBROKEN => c,
        c if c.is_whitespace() => ' ',
        c if steers(c) => '\u{fffd}',
        c => c,
    };
    text.chars().map(shown).collect()
}

/// How many terminal columns a text takes, on the safe side.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

fn columns(c: char) -> usize {
    match c {
        '\u{0300}'..='\u{036f}' | '\u{200b}'..='\u{200d}' | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' => 2,
        '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ffe6}' => 2,
        '\u{1f000}'..='\u{1faff}' | '\u{20000}'..='\u{3ffff}' => 2,
        _ => 1,
    }
}

/// Cleans a text and cuts it to at most `most` columns, the last one being `…` if anything was cut.
pub(super) fn shorten(text: &str, most: usize) -> String {
    let text = clean(text);
    if width(&text) <= most {
        return text;
    }
    let mut left = most.saturating_sub(1);
    let fits = |c: &char| match left.checked_sub(columns(*c)) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    let mut cut: String = text.chars().take_while(fits).collect();
    if most > 0 {
        cut.push('…');
    }
    cut
}

/// Cleans a name and cuts its middle out to fit `most` columns: names often differ only at their ends.
pub(super) fn shorten_name(name: &str, most: usize) -> String {
    let name = clean(name);
    if width(&name) <= most || most < 8 {
        return shorten(&name, most);
    }
    let end = most / 3;
    let mut left = end;
    let fits = |(_, c): &(usize, char)| {
        let taken = columns(*c);
        let fits = taken <= left;
        left = left.saturating_sub(taken);
        fits
    };
    let tail = name.char_indices().rev().take_while(fits).last().map_or(name.len(), |(at, _)| at);
    shorten(&name, most - end) + &name[tail..]
}

/// Fills up with blanks on the right.
pub(super) fn pad_right(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Fills up with blanks on the left.
pub(super) fn pad_left(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Breaks a sentence into lines of at most `most` columns, but not before a percent sign; longer words are cut.
pub(super) fn wrap(text: &str, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let text = clean(text).replace(" %", "\u{a0}%");
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let word = shorten(word, most);
        let line = lines.len() - 1;
        if lines[line].is_empty() {
            lines[line] = word;
        } else if width(&lines[line]) + 1 + width(&word) <= most {
            lines[line] += " ";
            lines[line] += &word;
        } else {
            lines.push(word);
        }
    }
    lines.into_iter().map(|line| line.replace(UNBROKEN, " ")).collect()
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn listing(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn markup_is_escaped() {
        assert_eq!(escape("<b a=\"1\" c='2'>&"), "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;");
    }

    #[test]
    fn a_terminal_cannot_be_steered() {
        assert_eq!(clean("a\u{1b}[31mb\n\u{202e}c\0"), "a\u{fffd}[31mb \u{fffd}c\u{fffd}");
    }

    #[test]
    fn long_text_is_cut_with_an_ellipsis() {
        assert_eq!(shorten("native-country", 14), "native-country");
        assert_eq!(shorten("native-country", 8), "native-…");
        assert_eq!(shorten("日本語テキスト", 6), "日本…");
        assert_eq!(shorten("abc", 0), "");
    }

    #[test]
    fn names_keep_their_ends() {
        assert_eq!(shorten_name("attribute_with_a_long_name_17", 18), "attribute_w…ame_17");
        assert_eq!(shorten_name("short", 18), "short");
        assert_eq!(shorten_name("attribute", 4), "att…");
    }

    #[test]
    fn words_are_kept_together_where_they_fit() {
        assert_eq!(wrap("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrap("", 7), [""]);
        assert_eq!(wrap("keeps 86 % of", 8), ["keeps", "86 % of"]);
    }

    proptest! {
        #[test]
        fn nothing_exceeds_its_width(text in "\\PC{0,60}", most in 1usize..30) {
            prop_assert!(width(&shorten(&text, most)) <= most);
            prop_assert!(width(&shorten_name(&text, most)) <= most);
            for line in wrap(&text, most) {
                prop_assert!(width(&line) <= most, "{line:?}");
            }
        }

        #[test]
        fn escaped_text_holds_no_markup(text in any::<String>()) {
            let escaped = escape(&text);
            prop_assert!(!escaped.contains(['<', '>', '"', '\'']));
        }
    }
}
