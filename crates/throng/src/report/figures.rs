//! The figures of a release, each with its name and what it means in plain words.

use super::number::{at_least, at_most, count, figure, percent, share};
use super::people;
use super::summary::{bound_words, mean_class_size, midpoint_words};
use crate::audit::{LowerBound, Measures, SensitiveMeasure};

/// One figure as it is told.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    /// Its name.
    pub(super) name: &'static str,
    /// Its value, ready to read.
    pub(super) value: String,
    /// What it means.
    pub(super) meaning: String,
}

fn told(name: &'static str, value: String, meaning: impl Into<String>) -> Figure {
    Figure { name, value, meaning: meaning.into() }
}

/// The figures that every reader needs.
pub(super) fn key_figures(measures: &Measures) -> Vec<Figure> {
    let mut figures = row_figures(measures);
    figures
        .extend(measures.people.as_ref().map(|own| told("People", count(own.people_in), people::words(own))));
    figures.push(told("Classes", count(measures.classes), class_words(measures)));
    figures.push(told(
        "Loss (GCP)",
        format!("{}{}", if measures.loss_is_bound() { "at most " } else { "" }, percent(measures.gcp)),
        format!("global certainty penalty {}: 0 keeps all detail, 1 keeps none", share(measures.gcp)),
    ));
    figures.extend(
        measures.midpoints.as_ref().map(|own| told("Numbers", own.columns.join(", "), midpoint_words(own))),
    );
    figures.extend(measures.lower_bound.as_ref().map(|bound| bound_figure(bound, measures)));
    figures.push(told(
        "Discernibility",
        figure(measures.discernibility),
        "sum of squared class sizes; lower tells records better apart",
    ));
    figures.push(told("C_AVG", figure(measures.c_avg), "average class size over k; 1 is the least possible"));
    figures
}

fn row_figures(measures: &Measures) -> Vec<Figure> {
    let part = |rows: u64| match measures.rows_in {
        0 => String::new(),
        all => format!("{} of the rows in", percent(rows as f64 / all as f64)),
    };
    let mut figures = vec![
        told("Rows in", count(measures.rows_in), "records that take part"),
        told("Rows published", count(measures.rows_published), part(measures.rows_published)),
        told("Rows suppressed", count(measures.suppressed), "left out to protect the rest"),
    ];
    if measures.rows_dropped > 0 {
        let meaning = "incomplete, left out before anything else as the policy asks";
        figures.push(told("Rows dropped", count(measures.rows_dropped), meaning));
    }
    figures
}

/// Mean, smallest and largest class.
pub(super) fn class_words(measures: &Measures) -> String {
    let Some(mean) = mean_class_size(measures) else {
        return "groups of records that read the same".to_owned();
    };
    let sizes = || measures.class_sizes.iter().map(|(size, _)| *size);
    match (sizes().min(), sizes().max()) {
        (Some(least), Some(most)) if least < most => {
            format!("{} records on average, from {} to {}", figure(mean), count(least), count(most))
        }
        _ => format!("{} records on average", figure(mean)),
    }
}

fn bound_figure(bound: &LowerBound, measures: &Measures) -> Figure {
    let meaning = format!("GCP {}: {}", share(bound.gcp), bound_words(bound, measures));
    told("Least possible loss", percent(bound.gcp), meaning)
}

/// The figures for those who compare releases or papers; only those that apply.
pub(super) fn further_figures(measures: &Measures) -> Vec<Figure> {
    let always = [
        told("NCP", figure(measures.ncp), "penalty summed over records, weighted per attribute"),
        told("Average NCP", figure(measures.average_ncp), "mean penalty over classes"),
        told(
            "Weighted maximum NCP",
            figure(measures.weighted_maximum_ncp),
            "greatest size × penalty of a class",
        ),
        told(
            "Weighted average volume",
            figure(measures.weighted_average_volume),
            "mean over records of the share of all value combinations that their class covers",
        ),
    ];
    let some = |value: Option<f64>, name, meaning| value.map(|value| told(name, figure(value), meaning));
    let classification = "share of records whose class label is not the majority of their class";
    let sometimes = [
        measures.gap.map(|gap| told("Gap", percent(gap), "share of the loss above its lower bound")),
        some(
            measures.research_value,
            "Research value",
            "detail and rules that are left, weighted; more is better",
        ),
        some(measures.il1, "IL1", "mean extent over classes"),
        some(measures.il_infinity, "IL∞", "greatest extent over classes"),
        some(measures.classification_metric, "Classification metric", classification),
    ];
    always.into_iter().chain(sometimes.into_iter().flatten()).collect()
}

/// The diversity of one sensitive attribute, ready to read.
pub(super) fn sensitive_figures(measure: &SensitiveMeasure) -> [String; 4] {
    [
        at_least(measure.l_frequency),
        count(measure.l_distinct),
        at_least(measure.l_entropy),
        at_most(measure.t),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    fn names(figures: &[Figure]) -> Vec<&'static str> {
        figures.iter().map(|figure| figure.name).collect()
    }

    #[test]
    fn figures_that_do_not_apply_are_left_out() {
        let full = samples::adult().measures;
        assert!(names(&key_figures(&full)).contains(&"Least possible loss"));
        assert!(names(&key_figures(&full)).contains(&"Rows dropped"));
        let bare = Measures::default();
        assert!(!names(&key_figures(&bare)).contains(&"Least possible loss"));
        assert!(!names(&key_figures(&bare)).contains(&"Rows dropped"));
        assert!(!names(&further_figures(&bare)).contains(&"IL1"));
    }

    #[test]
    fn a_proved_bound_says_what_cannot_be_and_an_estimate_that_it_is_one() {
        let proved = LowerBound { gcp: 0.0892, records: 30_162, proved: true, ..LowerBound::default() };
        let measures = Measures { gcp: 0.1, gap: Some(0.108), ..Measures::default() };
        let figure = bound_figure(&proved, &measures);
        assert_eq!(figure.value, "8.9 %");
        assert_eq!(
            figure.meaning,
            "GCP 0.0892: no release under this policy can lose less than 8.9 %; this one loses 10.0 %: \
             within 10.8 %, the share of it that could be saved at most"
        );
        let interval = Some((0.0861, 0.0923));
        let estimate = LowerBound { proved: false, records: 500, interval, ..proved.clone() };
        assert_eq!(
            bound_figure(&estimate, &measures).meaning,
            "GCP 0.0892: as estimated from 500 records, no release under this policy can lose less than about 8.9 % \
             (95 % interval 8.6 % to 9.2 %); this one loses 10.0 %: within about 10.8 %, the share of it that could be \
             saved at most"
        );
        let found = LowerBound { found_k: Some(203), ..proved.clone() };
        let told = bound_figure(&found, &measures).meaning;
        assert!(
            told.contains("no release under this policy with k = 203 can lose less than 8.9 %"),
            "{told}"
        );
        let weaker = LowerBound { leaves_out: vec!["t".to_owned()], ..proved };
        assert!(bound_figure(&weaker, &measures).meaning.ends_with(
            "; what the policy asks for beside the sizes of classes (t) may make the least possible loss larger"
        ));
    }
}
