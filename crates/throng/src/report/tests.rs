//! What every form of a report promises.
#![allow(clippy::unwrap_used)]

use super::samples::{HOSTILE, adult, comparison_of, degenerate, hostile, long_names};
use super::text::width;
use super::{Report, compare_html, compare_terminal, html, measures_terminal, terminal};

/// Every page and text that this module can make of a report.
fn pages(report: &Report) -> Vec<String> {
    vec![html(report).unwrap(), compare_html(&comparison_of(report)).unwrap()]
}

fn texts(report: &Report) -> Vec<String> {
    vec![terminal(report), measures_terminal(&report.measures), compare_terminal(&comparison_of(report))]
}

#[test]
fn pages_refer_to_nothing_outside_themselves() {
    for page in pages(&adult()) {
        let page = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        for reference in ["http://", "https://", "src=", "<script", "<link", "href=", "url(", "@import"] {
            assert!(!page.contains(reference), "the page holds {reference}");
        }
    }
}

#[test]
fn hostile_text_is_escaped_everywhere() {
    for page in pages(&hostile()) {
        assert!(!page.contains("<script"));
        assert!(!page.contains(HOSTILE));
        assert!(page.contains("&lt;script&gt;"), "the text itself is still told");
        // Quotes are markup of the page itself, so look for those that follow hostile text.
        assert!(!page.contains("script&gt;\"") && !page.contains("&gt;&quot;&'"));
        assert_eq!(unescaped_ampersands(&page), 0);
    }
}

fn unescaped_ampersands(page: &str) -> usize {
    let entity = |rest: &str| ["amp;", "lt;", "gt;", "quot;", "#"].iter().any(|name| rest.starts_with(name));
    page.split('&').skip(1).filter(|rest| !entity(rest)).count()
}

/// Screen readers tell which cells a heading belongs to only where it says so.
#[test]
fn every_heading_of_a_table_says_what_it_heads() {
    for page in pages(&adult()) {
        let headings: Vec<&str> = page.split("<th").skip(1).filter(|rest| !rest.starts_with("ead")).collect();
        assert!(headings.len() > 4);
        for heading in headings {
            assert!(heading.starts_with(" scope=\""), "{}", &heading[..heading.len().min(80)]);
        }
    }
}

#[test]
fn a_page_starts_by_saying_that_it_is_not_to_be_published() {
    for page in pages(&adult()) {
        let body = page.split("<header>").nth(1).unwrap().trim_start();
        assert!(body.starts_with("<p class=\"private\">For you, not to be published: "), "{}", &body[..80]);
    }
}

/// Text that turns the direction of what follows it, or steers a terminal.
const STEERING: &str = "a\u{202e}b\u{2066}c\u{1b}[2Jd\u{200f}";

#[test]
fn nothing_steers_a_page_or_a_terminal() {
    let told = serde_json::to_string(&hostile()).unwrap();
    let steering = serde_json::to_string(STEERING).unwrap();
    let bad = serde_json::to_string(HOSTILE).unwrap();
    let report: Report = serde_json::from_str(&told.replace(&bad, &steering)).unwrap();
    assert_eq!(report.method, STEERING);
    for text in pages(&report).into_iter().chain(texts(&report)) {
        assert!(!text.contains(crate::words::steers), "{text}");
        assert!(text.contains("a\u{fffd}b\u{fffd}c\u{fffd}[2Jd\u{fffd}"), "{text}");
    }
}

#[test]
fn degenerate_reports_can_be_told() {
    for report in degenerate() {
        for text in pages(&report).into_iter().chain(texts(&report)) {
            for bad in ["NaN", "inf ", "inf<", ">inf", "-0 %"] {
                assert!(!text.contains(bad), "{bad} in {text}");
            }
        }
    }
}

#[test]
fn marks_stay_inside_their_pictures() {
    for report in degenerate().into_iter().chain([adult(), long_names()]) {
        for picture in pages(&report).iter().flat_map(|page| page.split("<svg").skip(1)) {
            let size = attribute(picture, "viewBox").strip_prefix("0 0 ").unwrap();
            let (width, height) = size.split_once(' ').unwrap();
            let (width, height): (f64, f64) = (width.parse().unwrap(), height.parse().unwrap());
            for rect in picture.split("<rect").skip(1) {
                let [x, y, w, h] =
                    ["x", "y", "width", "height"].map(|name| attribute(rect, name).parse::<f64>().unwrap());
                assert!(x >= 0.0 && y >= 0.0 && w >= 0.0 && h >= 0.0, "{rect}");
                assert!(x + w <= width && y + h <= height, "{rect} in {width} × {height}");
            }
            for text in picture.split("<text").skip(1) {
                let [x, y] = ["x", "y"].map(|name| attribute(text, name).parse::<f64>().unwrap());
                assert!((0.0..=width).contains(&x) && (0.0..=height).contains(&y), "{text}");
            }
        }
    }
}

fn attribute<'a>(element: &'a str, name: &str) -> &'a str {
    let rest = element.split(&format!(" {name}=\"")).nth(1).unwrap();
    rest.split('"').next().unwrap()
}

#[test]
fn terminal_lines_are_at_most_eighty_columns_wide() {
    for report in degenerate().into_iter().chain([adult(), hostile(), long_names()]) {
        for text in texts(&report) {
            for line in text.lines() {
                assert!(width(line) <= 80, "{} columns: {line}", width(line));
            }
        }
    }
}

#[test]
fn what_does_not_apply_is_hidden() {
    let mut report = adult();
    let full = html(&report).unwrap();
    for shown in [
        "Before and after",
        "Classes as published",
        "(sensitive)",
        "Every form of diversity",
        "Least possible loss",
        "Notes",
    ] {
        assert!(full.contains(shown), "{shown}");
    }
    report.distributions.clear();
    report.notes.clear();
    report.sensitive_attributes.clear();
    report.examples.iter_mut().for_each(|class| class.sensitive.clear());
    report.measures.sensitive.clear();
    report.measures.lower_bound = None;
    let plain = html(&report).unwrap();
    assert!(plain.contains("Classes as published"));
    for hidden in
        ["Before and after", "(sensitive)", "Every form of diversity", "Least possible loss", "<h2>Notes"]
    {
        assert!(!plain.contains(hidden), "{hidden}");
    }
}

#[test]
fn a_page_tells_verdict_figures_policy_and_command() {
    let report = adult();
    let page = html(&report).unwrap();
    for told in [
        "The requirement is met",
        "indistinguishable from at least 9 others",
        "keeps 86 % of the detail",
        "30,162",
        "2,213",
        "0.1363",
        "k on education and sex",
        "name = &quot;hilbert&quot;",
        "throng anonymize adult.csv",
    ] {
        assert!(page.contains(told), "{told} is missing");
    }
    let mut failed = report;
    failed.measures.requirements[0].holds = Some(false);
    let page = html(&failed).unwrap();
    assert!(page.contains("The requirement is not met") && page.contains("✗ not met"));
}
