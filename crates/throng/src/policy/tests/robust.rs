use proptest::prelude::*;

use super::{EXAMPLE, with_attribute_lines};
use crate::policy::Policy;

/// Pieces that matter to the reader, so that random text gets past the syntax now and then.
const PIECES: &[&str] = &[
    "[privacy]",
    "[data]",
    "[method]",
    "[attribute.a]",
    "[[privacy.quasi_identifiers]]",
    "\n",
    " ",
    "=",
    ".",
    ",",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "k",
    "l",
    "role",
    "hierarchy",
    "rules",
    "cut",
    "apart",
    "intervals",
    "prefix",
    "\"quasi\"",
    "1",
    "-1",
    "0.5",
    "nan",
    "99999999999999999999",
    "true",
    "2024-01-01",
    "é",
    "\u{feff}",
    "\r\n",
    "#",
];

/// Whatever it says, its place must lie in the text.
fn parse_and_check(text: &str) {
    if let Err(error) = Policy::parse(text, None) {
        assert!(!error.message().is_empty());
        if let Some(excerpt) = error.excerpt() {
            assert!(text.get(excerpt.span.clone()).is_some(), "{error}");
        }
    }
}

fn mutated(cuts: &[(usize, usize, usize)]) -> String {
    // A file that is not there would hide all that is checked after it.
    let whole = EXAMPLE.replace("\"hierarchies/workclass.csv\"", "{ prefix = [2, 1] }");
    let mut letters: Vec<char> = whole.chars().collect();
    for (at, remove, piece) in cuts {
        let at = at % (letters.len() + 1);
        let end = (at + remove).min(letters.len());
        let piece = if *piece < PIECES.len() { PIECES[*piece] } else { "" };
        letters.splice(at..end, piece.chars());
    }
    letters.into_iter().collect()
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in any::<String>()) {
        parse_and_check(&text);
    }

    #[test]
    fn text_of_toml_pieces_never_panics(pieces in prop::collection::vec(0..PIECES.len(), 0..40)) {
        parse_and_check(&pieces.iter().map(|piece| PIECES[*piece]).collect::<String>());
    }

    #[test]
    fn a_mutated_policy_never_panics(
        cuts in prop::collection::vec((0_usize..2000, 0_usize..12, 0..2 * PIECES.len()), 1..6)
    ) {
        parse_and_check(&mutated(&cuts));
    }
}

#[test]
fn deep_nesting_is_an_error_and_not_a_crash() {
    parse_and_check(&format!("a = {}", "[".repeat(100_000)));
    parse_and_check(&format!("a = {}", "{a=".repeat(100_000)));
    parse_and_check(&format!("{} = 1", vec!["a"; 100_000].join(".")));
    parse_and_check(&format!(
        "[attribute.{}]\nb = [\"x\"]",
        ["a.hierarchy", &vec!["x"; 76].join(".")].join(".")
    ));
    let dotted = vec!["x"; 70].join(".");
    let nested = format!("{}1{}", format!("{{{dotted}=").repeat(70), "}".repeat(70));
    parse_and_check(&with_attribute_lines(&format!("hierarchy = {nested}")));
}
