//! Whether the style sheet can be read: the contrast of its colours, as WCAG 2.2 computes it, in light and in dark.

use super::template::STYLE;

/// What text needs (WCAG 1.4.3), and what bars, lines and marks need (1.4.11).
const TEXT: f64 = 4.5;
const PICTURE: f64 = 3.0;

/// Colours of texts, with the grounds that they stand on.
const TEXTS: [(&str, &[&str]); 5] = [
    ("ink", &["paper", "card", "wash", "good-wash", "bad-wash", "plain-wash"]),
    ("soft", &["paper", "card", "wash", "good-wash", "bad-wash", "plain-wash"]),
    ("good", &["card", "good-wash"]),
    ("bad", &["paper", "card", "bad-wash"]),
    ("s0", &["card"]),
];

/// The values of the variables between a mark of the style sheet and the brace that ends them.
fn variables(from: &str) -> Vec<(&'static str, &'static str)> {
    let start = STYLE.find(from).expect("the style sheet has this part") + from.len();
    let block = STYLE[start..].split('}').next().unwrap_or_default();
    let pairs = block.split(';').filter_map(|line| line.trim().strip_prefix("--")?.split_once(": #"));
    pairs.collect()
}

/// Of a scheme: what dark does not say is as in light.
fn colour(dark: bool, name: &str) -> &'static str {
    let light = variables(":root {");
    let dark = if dark { variables("dark) {\n  :root {") } else { Vec::new() };
    let own = dark.iter().chain(&light).find(|(own, _)| *own == name);
    own.unwrap_or_else(|| panic!("there is no colour {name}")).1
}

/// The share of light that a colour gives back.
fn luminance(hex: &str) -> f64 {
    let channel = |at: usize| {
        let value =
            f64::from(u8::from_str_radix(&hex[at..at + 2], 16).expect("a colour of six digits")) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(0) + 0.7152 * channel(2) + 0.0722 * channel(4)
}

fn contrast(one: &str, other: &str) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

fn check(dark: bool, name: &str, ground: &str, least: f64) {
    let reached = contrast(colour(dark, name), colour(dark, ground));
    assert!(reached >= least, "{name} on {ground} (dark: {dark}): {reached:.2} is less than {least}");
}

#[test]
fn black_on_white_has_the_greatest_contrast() {
    assert_eq!(contrast("000000", "ffffff"), 21.0);
    assert_eq!(contrast("777777", "777777"), 1.0);
}

#[test]
fn texts_can_be_read_on_their_grounds() {
    for dark in [false, true] {
        for (name, grounds) in TEXTS {
            grounds.iter().for_each(|ground| check(dark, name, ground, TEXT));
        }
    }
}

#[test]
fn bars_and_lines_stand_out_from_their_ground() {
    for dark in [false, true] {
        (0..super::svg::COLOURS).for_each(|series| check(dark, &format!("s{series}"), "card", PICTURE));
    }
}

/// A text in a colour that is not looked at here would be looked at by nobody.
#[test]
fn no_other_colour_is_used_for_text() {
    for part in STYLE.split("color: var(--").skip(1) {
        let name = part.split(')').next().unwrap_or_default();
        let before = &STYLE[..STYLE.len() - part.len() - "color: var(--".len()];
        let known = TEXTS.iter().any(|(own, _)| *own == name) || before.ends_with("border-left-");
        assert!(known, "{name} is used for text");
    }
}
