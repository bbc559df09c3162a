//! A run or an audit in at most 80 columns of plain text.

use super::as_is;
use super::figures::class_words;
use super::number::{count, figure, percent, seconds, share};
use super::people;
use super::summary::{
    Requirement, bound_words, formula_words, headline, midpoint_words, order_words, outlier_words,
    requirements, truth_words, verdict_heading,
};
use super::text::{pad_left, pad_right, shorten_name, width, wrap};
use super::{Report, diversity, methods};
use crate::audit::{Findings, Measures};

/// The widest line.
pub(super) const COLUMNS: usize = 80;

/// The report in plain text.
pub fn terminal(report: &Report) -> String {
    let mut lines = Vec::new();
    if let Some(series) = &report.series {
        lines.push(series.heading());
        lines.extend(wrap(&series.headline(), COLUMNS));
        lines.push(String::new());
        lines.extend(field("People", &series.people_words()));
        lines.extend(field("Loss", &series.loss_words()));
        lines.push(String::new());
    }
    match &report.series {
        Some(series) if series.newcomers == 0 => {}
        Some(series) if series.release > 1 => {
            lines.push("Newcomers".to_owned());
            lines.extend(measured(&report.measures));
        }
        _ => lines.extend(measured(&report.measures)),
    }
    lines.push(String::new());
    lines.extend(field("Method", &format!("{}, seed {}", report.method, report.seed)));
    lines.extend(report.facts.iter().flat_map(methods::fields).flat_map(|(name, words)| field(name, &words)));
    lines.extend(field("Order", order_words(report.order)));
    let stage = |(stage, time): (&String, &f64)| format!("{stage} {}", seconds(*time)).replace(' ', "\u{a0}");
    let stages: Vec<String> = report.seconds.iter().map(stage).collect();
    if !stages.is_empty() {
        lines.extend(field("Time", &stages.join(", ")));
    }
    for note in &report.notes {
        lines.extend(field("Note", note));
    }
    finished(&lines)
}

/// What an audit found in plain text.
pub fn audit_terminal(findings: &Findings) -> String {
    let mut lines = measured(&findings.measures);
    if !findings.notes.is_empty() {
        lines.push(String::new());
    }
    for note in &findings.notes {
        lines.extend(field("Note", note));
    }
    finished(&lines)
}

/// The figures of an audit in plain text.
pub fn measures_terminal(measures: &Measures) -> String {
    finished(&measured(measures))
}

fn measured(measures: &Measures) -> Vec<String> {
    let mut lines = vec![verdict_heading(measures)];
    lines.extend(wrap(&headline(measures), COLUMNS));
    for violation in &measures.violations {
        lines.extend(hanging("  ✗ ", violation));
    }
    lines.push(String::new());
    lines.extend(requirement_table(&requirements(measures)));
    lines.push(String::new());
    lines.extend(field("Rows", &row_words(measures)));
    lines.extend(measures.people.iter().flat_map(|people| field("People", &people::words(people))));
    lines.extend(field("Classes", &format!("{}; {}", count(measures.classes), class_words(measures))));
    if let Some(words) = diversity::margin_words(measures) {
        lines.extend(field("l", &words));
    }
    lines.extend(field("Loss", &loss_words(measures)));
    lines.extend(measures.midpoints.iter().flat_map(|own| field("Numbers", &midpoint_words(own))));
    if let Some(truth) = &measures.truth {
        lines.extend(field("Truth", &truth_words(truth, measures.rows_published)));
    }
    let exact = measures.exact_cells.is_some();
    lines.extend(
        measures.outliers.iter().flat_map(|outlier| field("Outlier", &outlier_words(outlier, exact))),
    );
    lines.extend(measures.formulas.iter().flat_map(|found| field("Formulas", &formula_words(found))));
    lines.extend(field("Cost", &cost_words(measures)));
    lines.extend(loss_table(measures));
    lines.extend(as_is::lines(&measures.published_as_is));
    lines
}

pub(super) fn finished(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn requirement_table(requirements: &[Requirement]) -> Vec<String> {
    let row = |one: &Requirement| {
        let asked = one.asked.clone().unwrap_or_else(|| super::number::NONE.to_owned());
        [one.name.clone(), asked, one.achieved.clone(), one.verdict.mark().to_owned()]
    };
    let heading = ["Requirement", "asked", "achieved", ""].map(str::to_owned);
    let rows: Vec<[String; 4]> = std::iter::once(heading).chain(requirements.iter().map(row)).collect();
    let rows: Vec<Vec<String>> = rows.into_iter().map(Vec::from).collect();
    table(&rows, &[Side::Left, Side::Right, Side::Right, Side::Left])
}

fn row_words(measures: &Measures) -> String {
    let mut parts = vec![
        format!("{} in", count(measures.rows_in)),
        format!("{} published", count(measures.rows_published)),
        format!("{} suppressed", count(measures.suppressed)),
    ];
    if measures.rows_dropped > 0 {
        parts.push(format!("{} dropped as incomplete", count(measures.rows_dropped)));
    }
    parts.join(", ")
}

fn loss_words(measures: &Measures) -> String {
    let most = if measures.loss_is_bound() { "at most " } else { "" };
    let mut words = format!("{most}{} (GCP {})", percent(measures.gcp), share(measures.gcp));
    if let Some(bound) = &measures.lower_bound {
        words += &format!("; {}", bound_words(bound, measures));
    }
    words
}

fn cost_words(measures: &Measures) -> String {
    let mut words =
        format!("discernibility {}, C_AVG {}", figure(measures.discernibility), figure(measures.c_avg));
    if let Some(value) = measures.research_value {
        words += &format!(", research value {value:.3} (more is better)");
    }
    words
}

const BAR: usize = 30;

fn loss_table(measures: &Measures) -> Vec<String> {
    if measures.gcp_per_attribute.is_empty() {
        return Vec::new();
    }
    let greatest = measures.gcp_per_attribute.values().copied().fold(0.0, f64::max);
    let row = |(name, loss): (&String, &f64)| vec![name.clone(), percent(*loss), bar(*loss, greatest)];
    let rows: Vec<Vec<String>> = measures.gcp_per_attribute.iter().map(row).collect();
    let heading = vec![String::new(), "Loss per attribute".to_owned()];
    let lines = table(&rows, &[Side::Left, Side::Right, Side::Left]);
    heading.into_iter().chain(lines).collect()
}

/// A bar in eighths of a character, as long as its share of the greatest value.
pub(super) fn bar(value: f64, greatest: f64) -> String {
    let eighths = (value / greatest * (BAR * 8) as f64).round();
    if !eighths.is_finite() || eighths <= 0.0 {
        return String::new();
    }
    let eighths = (eighths as usize).min(BAR * 8);
    let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    "█".repeat(eighths / 8) + rest
}

/// On which side a column's texts meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// Rows with aligned columns, two blanks apart. The first column is cut when the whole would be too wide.
pub(super) fn table(rows: &[Vec<String>], sides: &[Side]) -> Vec<String> {
    let widest = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell)).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..sides.len()).map(widest).collect();
    let others: usize = widths.iter().skip(1).map(|width| width + 2).sum();
    if let Some(first) = widths.first_mut() {
        *first = (*first).min(COLUMNS.saturating_sub(others + 2));
    }
    let cell = |((cell, width), side): ((&String, &usize), &Side)| {
        let cell = shorten_name(cell, *width);
        if *side == Side::Left { pad_right(&cell, *width) } else { pad_left(&cell, *width) }
    };
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = row.iter().zip(&widths).zip(sides).map(cell).collect();
        format!("  {}", cells.join("  ")).trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// A name and what is told about it, continued below itself.
pub(super) fn field(name: &str, words: &str) -> Vec<String> {
    hanging(&pad_right(name, 9), words)
}

pub(super) fn hanging(first: &str, words: &str) -> Vec<String> {
    let indent = width(first);
    let lead = |at: usize| if at == 0 { first.to_owned() } else { " ".repeat(indent) };
    wrap(words, COLUMNS - indent).iter().enumerate().map(|(at, line)| lead(at) + line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn an_audit_tells_neither_method_nor_time() {
        let report = samples::adult();
        let (run, audit) = (terminal(&report), measures_terminal(&report.measures));
        assert!(run.starts_with(&audit));
        assert!(run.contains("Method   hilbert, seed 7") && !audit.contains("hilbert"));
        assert!(run.contains("total 1.28 s") && !audit.contains("total"));
    }

    #[test]
    fn columns_are_aligned() {
        let rows = [vec!["a".to_owned(), "1".to_owned()], vec!["long".to_owned(), "1,000".to_owned()]];
        assert_eq!(table(&rows, &[Side::Left, Side::Right]), ["  a         1", "  long  1,000"]);
    }

    #[test]
    fn bars_grow_with_their_values() {
        assert_eq!(bar(1.0, 1.0), "█".repeat(BAR));
        assert_eq!(bar(0.5, 1.0), "█".repeat(BAR / 2));
        assert_eq!(bar(1.0, (BAR * 8) as f64), "▏");
        assert_eq!(bar(0.0, 0.0), "");
        assert_eq!(bar(f64::NAN, 1.0), "");
    }

    #[test]
    fn asked_stands_beside_achieved() {
        let text = measures_terminal(&samples::adult().measures);
        let line = text.lines().find(|line| line.contains("k-anonymity")).unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words, ["k-anonymity", "≥", "10", "10", "✓", "met"]);
    }
}
