//! The words of a column's name, however it is spelt: `marital-status`, `maritalStatus`, `Marital Status 2`, with
//! accents, without them or with `ae` for `ä`, and compounds such as `Krankenversicherungsnummer` taken apart.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::lexicon::{Says, WORDS};

/// A word of a name: what it says, and how it is spelt.
#[derive(Clone, Debug)]
pub(super) struct Word {
    pub text: String,
    /// Nothing for a word that is not known.
    pub says: Vec<Says>,
    /// Whether it is known in the singular only.
    pub plural: bool,
}

impl Word {
    fn known(text: &str) -> Option<Self> {
        let says = known(text)?.clone();
        Some(Word { text: text.to_owned(), says, plural: !KNOWN.contains_key(text) })
    }

    fn unknown(text: &str) -> Self {
        Word { text: text.to_owned(), says: Vec::new(), plural: false }
    }
}

/// Words by their spellings. Derived from constants alone.
static KNOWN: LazyLock<HashMap<String, Vec<Says>>> = LazyLock::new(|| {
    let mut known: HashMap<String, Vec<Says>> = HashMap::new();
    for (says, list) in WORDS {
        for word in list.split_whitespace() {
            for spelling in [fold(word, false), fold(word, true)] {
                let all = known.entry(spelling).or_default();
                if !all.contains(says) {
                    all.push(*says);
                }
            }
        }
    }
    known
});

/// Shorter words are found inside others too often by chance.
const SHORTEST_PART: usize = 3;
/// A known end of an unknown word counts from this length on.
const SHORTEST_END: usize = 6;
/// These do so although they are shorter.
const KNOWN_ENDS: [&str; 5] = ["name", "naam", "mail", "datum", "adres"];
/// Names longer than this are not taken apart.
const LONGEST: usize = 64;
/// Letters that join the parts of a compound, and small words between joined words.
const JOINTS: [&str; 20] = [
    "s", "n", "en", "es", "er", "e", "i", "of", "de", "del", "di", "da", "du", "d", "des", "der", "la", "le",
    "van", "el",
];
/// Short words that stand at the end of compounds.
const SHORT_ENDS: [&str; 3] = ["id", "nr", "no"];

/// What a name says word by word.
pub(super) fn words(name: &str) -> Vec<Word> {
    let tokens = tokens(name);
    let mut words = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        // `e_mail`, `post code` and `social-security` are one word each.
        let joined = |count: usize| {
            let text = tokens.get(at..at + count)?.concat();
            Some((count, Word { says: KNOWN.get(&text)?.clone(), plural: false, text }))
        };
        match [3, 2].into_iter().find_map(joined) {
            Some((count, word)) => {
                words.push(word);
                at += count;
            }
            None => {
                words.extend(parts(&tokens[at]));
                at += 1;
            }
        }
    }
    words
}

fn known(word: &str) -> Option<&'static Vec<Says>> {
    KNOWN.get(word).or_else(|| {
        let singular = ["s", "en", "n", "es"].iter().filter_map(|end| word.strip_suffix(end));
        let mut stems = singular.filter(|stem| stem.len() > SHORTEST_PART);
        stems.find_map(|stem| KNOWN.get(stem)).or_else(|| italian(word))
    })
}

/// The singular of an Italian plural: `malattie`, `farmaci`, `pazienti`.
fn italian(word: &str) -> Option<&'static Vec<Says>> {
    let ends: &[(&str, &[&str])] = &[("i", &["o", "e", "a"]), ("e", &["a"])];
    ends.iter().find_map(|(plural, singular)| {
        let stem = word.strip_suffix(plural).filter(|stem| stem.len() > 2 * SHORTEST_PART - 2)?;
        singular.iter().find_map(|end| KNOWN.get(&format!("{stem}{end}")))
    })
}

/// A word whole, or the parts of a compound.
fn parts(token: &str) -> Vec<Word> {
    if let Some(word) = Word::known(token) {
        return vec![word];
    }
    let unknown = || vec![Word::unknown(token)];
    if !token.is_ascii() || token.len() > LONGEST || token.len() < 2 * SHORTEST_PART - 1 {
        return unknown();
    }
    compound(token).or_else(|| ends(token)).unwrap_or_else(unknown)
}

/// The fewest known words that make up a token, with joints between them.
fn compound(token: &str) -> Option<Vec<Word>> {
    // For each place the fewest words up to it, and where the last of them starts and ends.
    let mut best: Vec<Option<(usize, usize, usize)>> = vec![None; token.len() + 1];
    best[0] = Some((0, 0, 0));
    for start in 0..token.len() {
        let Some((count, ..)) = best[start] else { continue };
        for end in start + 2..=token.len() {
            let part = &token[start..end];
            let long = part.len() >= SHORTEST_PART || (end == token.len() && SHORT_ENDS.contains(&part));
            if !long || !KNOWN.contains_key(part) {
                continue;
            }
            let joints =
                JOINTS.iter().filter(|joint| token[end..].starts_with(**joint)).map(|joint| joint.len());
            for next in std::iter::once(0).chain(joints).map(|joint| end + joint) {
                if best[next].is_none_or(|(other, ..)| count + 1 < other) {
                    best[next] = Some((count + 1, start, end));
                }
            }
        }
    }
    let mut words = Vec::new();
    let mut at = token.len();
    while at > 0 {
        let (_, start, end) = best[at]?;
        words.push(Word::known(&token[start..end])?);
        at = start;
    }
    words.reverse();
    Some(words)
}

/// The longest known word at the end of a token and the longest before it at the start; the rest is not known.
fn ends(token: &str) -> Option<Vec<Word>> {
    let enough = |text: &str| text.len() >= SHORTEST_END || KNOWN_ENDS.contains(&text);
    let word = |text: &str| enough(text).then(|| Word::known(text)).flatten();
    let last = (1..token.len() - 1).find_map(|from| word(&token[from..]));
    let rest = last.as_ref().map_or(token, |last| &token[..token.len() - last.text.len()]);
    let first = (2..rest.len()).rev().find_map(|to| word(&rest[..to]));
    if first.is_none() && last.is_none() {
        return None;
    }
    Some(first.into_iter().chain([Word::unknown("")]).chain(last).collect())
}

/// The runs of letters of a name, in lower case and without accents. Numbers are left out.
fn tokens(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().filter(|c| !is_mark(*c)).collect();
    let mut tokens: Vec<String> = vec![String::new()];
    for (at, c) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| letters[at]);
        let after = letters.get(at + 1);
        // `patientID` and `IBANNumber`.
        let hump = c.is_uppercase()
            && (before.is_some_and(char::is_lowercase)
                || before.is_some_and(char::is_uppercase) && after.is_some_and(|c| c.is_lowercase()));
        if (hump || !c.is_alphabetic()) && tokens.last().is_some_and(|token| !token.is_empty()) {
            tokens.push(String::new());
        }
        if c.is_alphabetic()
            && let Some(token) = tokens.last_mut()
        {
            c.to_lowercase().for_each(|c| plain(c, token, false));
        }
    }
    tokens.retain(|token| !token.is_empty());
    tokens
}

/// A word without accents; `umlauts` says whether `ä` becomes `ae`.
fn fold(word: &str, umlauts: bool) -> String {
    let mut folded = String::new();
    word.chars().for_each(|c| plain(c, &mut folded, umlauts));
    folded
}

/// Accents may come as characters of their own.
fn is_mark(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

fn plain(c: char, word: &mut String, umlauts: bool) {
    match c {
        'ä' if umlauts => word.push_str("ae"),
        'ö' if umlauts => word.push_str("oe"),
        'ü' if umlauts => word.push_str("ue"),
        'ß' => word.push_str("ss"),
        'œ' => word.push_str("oe"),
        'æ' => word.push_str("ae"),
        'á' | 'à' | 'â' | 'ã' | 'ä' | 'å' => word.push('a'),
        'é' | 'è' | 'ê' | 'ë' => word.push('e'),
        'í' | 'ì' | 'î' | 'ï' => word.push('i'),
        'ó' | 'ò' | 'ô' | 'õ' | 'ö' | 'ø' => word.push('o'),
        'ú' | 'ù' | 'û' | 'ü' => word.push('u'),
        'ç' => word.push('c'),
        'ñ' => word.push('n'),
        'º' | 'ª' => {}
        other => word.push(other),
    }
}
