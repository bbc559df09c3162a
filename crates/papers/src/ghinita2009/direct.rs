//! The direct problem on census data: figures 22 to 27 and 29 to 31.

use throng::Result;
use throng::report::Unit;

use super::measure::{Data, QUASI};
use super::plot::{Figure, Plots};
use crate::{Setting, say};

const FOR_K: [(&str, &str); 8] = [
    ("hilbert", "name = \"hilbert\""),
    ("hilbert-fast", "name = \"hilbert-fast\""),
    ("idistance", "name = \"idistance\""),
    ("idistance-fast", "name = \"idistance-fast\""),
    ("mondrian", "name = \"mondrian\""),
    ("top-down", "name = \"top-down\""),
    (MONDRIAN_BY_TABLE, "name = \"mondrian\"\nties = \"table\""),
    (TOP_DOWN_BY_SEEDS, "name = \"top-down\"\njoin = \"seed\""),
];
/// Mondrian without our rule for equally wide attributes, which the paper does not have.
const MONDRIAN_BY_TABLE: &str = "mondrian, ties as in the table";
/// A record joins the nearer of two seeds: what the papers leave open, in a plain way.
const TOP_DOWN_BY_SEEDS: &str = "top-down by seeds";
const FOR_L: [&str; 3] = ["hilbert", "idistance", "mondrian"];

/// Numbers of rows that stand for the paper's 50,000 to 400,000.
pub fn rows(setting: &Setting) -> Vec<usize> {
    if setting.quick { vec![5_000, 10_000] } else { vec![25_000, 50_000, 100_000, 145_487] }
}

/// Figures 22 to 24: k-anonymity.
pub fn anonymity(setting: &Setting, plots: &mut Plots) -> Result<()> {
    say("k-anonymity: figures 22 to 24");
    let mut gcp = [
        Figure::new("Figure 22 (a): GCP", "k", Unit::Share),
        Figure::new("Figure 23 (a): GCP", "records", Unit::Share),
        Figure::new("Figure 24 (a): GCP", "quasi-identifiers", Unit::Share),
    ];
    let mut time = [
        Figure::new("Figure 22 (b): time", "k", Unit::Seconds),
        Figure::new("Figure 23 (b): time", "records", Unit::Seconds),
        Figure::new("Figure 24 (b): time", "quasi-identifiers", Unit::Seconds),
    ];
    let whole = Data::census(setting, &QUASI, None)?;
    let mut at = |figure: usize, data: &Data, place: &str, k: usize| -> Result<()> {
        for (name, method) in FOR_K {
            let (_, found) = data.run(&format!("k = {k}"), method)?;
            gcp[figure].set(place, name, found.gcp);
            time[figure].set(place, name, found.seconds);
        }
        Ok(())
    };
    for k in [10, 25, 50, 100] {
        at(0, &whole, &k.to_string(), k)?;
    }
    for rows in rows(setting) {
        at(1, &Data::census(setting, &QUASI, Some(rows))?, &rows.to_string(), 50)?;
    }
    for d in 2..=QUASI.len() {
        at(2, &Data::census(setting, &QUASI[..d], None)?, &d.to_string(), 50)?;
    }
    for (figure, over) in gcp.iter().zip(["k", "N", "d"]) {
        for (name, method) in [("Hilbert", "hilbert"), ("iDistance", "idistance")] {
            for (other, worse) in [("Mondrian", "mondrian"), ("TopDown", "top-down")] {
                let text = format!("{name} loses less than {other}, {over} varied");
                plots.below(&text, figure, method, worse);
            }
        }
        let others = [("hilbert-fast", MONDRIAN_BY_TABLE), ("idistance", MONDRIAN_BY_TABLE)];
        for (own, other) in others.into_iter().chain([("hilbert", TOP_DOWN_BY_SEEDS)]) {
            let text = format!("{own} loses less than {other}, {over} varied");
            plots.further_below(&text, figure, own, other);
        }
    }
    plots.below("Hilbert loses less than iDistance", &gcp[0], "hilbert", "idistance");
    plots.below("HilbFast loses less than Mondrian", &gcp[0], "hilbert-fast", "mondrian");
    plots.below("HilbFast loses less than TopDown", &gcp[0], "hilbert-fast", "top-down");
    plots.below("Mondrian is faster than Hilbert", &time[0], "mondrian", "hilbert");
    plots.below("Hilbert is faster than TopDown", &time[0], "hilbert", "top-down");
    let [k, n, d] = gcp;
    let [k_time, n_time, d_time] = time;
    let words = "TopDown is top-down of Xu et al. The papers leave open what a record compares that joins one of two halves. Ours \
                 compares by how much the loss of each would grow, which keeps halves even and loses far less than comparing \
                 boxes alone. The paper does not draw the time of TopDown, which took hours.";
    plots.show("k-anonymity", words, vec![k, k_time, n, n_time, d, d_time]);
    Ok(())
}

/// Figures 25 to 27 and 29 to 31: l-diversity.
pub fn diversity(setting: &Setting, plots: &mut Plots) -> Result<()> {
    say("l-diversity: figures 25 to 27 and 29 to 31");
    let axes = ["l", "records", "quasi-identifiers"];
    let figures = |number: [&str; 3], what: &str, unit: Unit| -> Vec<Figure> {
        let one = |(number, across): (&str, &'static str)| {
            Figure::new(&format!("Figure {number}: {what}"), across, unit)
        };
        number.into_iter().zip(axes).map(one).collect()
    };
    let mut gcp = figures(["25 (a)", "26 (a)", "27 (a)"], "GCP", Unit::Share);
    let mut time = figures(["25 (b)", "26 (b)", "27 (b)"], "time", Unit::Seconds);
    let logs = |figures: Vec<Figure>| figures.into_iter().map(Figure::log).collect::<Vec<_>>();
    let mut widest = logs(figures(["29 (a)", "29 (b)", "29"], "weighted maximum NCP", Unit::Count));
    let mut average = figures(["30 (a)", "30 (b)", "30"], "average NCP", Unit::Count);
    let mut volume = logs(figures(["31 (a)", "31 (b)", "31"], "weighted average volume", Unit::Share));
    let whole = Data::census(setting, &QUASI, None)?;
    let mut met = (0, 0);
    let mut at = |figure: usize, data: &Data, place: &str, l: usize| -> Result<()> {
        for method in FOR_L {
            let (problem, found) = data.run(&format!("l = {l}"), &format!("name = \"{method}\""))?;
            met = (met.0 + usize::from(found.diversity(&problem) >= l as f64), met.1 + 1);
            gcp[figure].set(place, method, found.gcp);
            time[figure].set(place, method, found.seconds);
            widest[figure].set(place, method, found.weighted_maximum);
            average[figure].set(place, method, found.average);
            volume[figure].set(place, method, found.volume);
        }
        Ok(())
    };
    for l in 2..=10 {
        at(0, &whole, &l.to_string(), l)?;
    }
    for rows in rows(setting) {
        at(1, &Data::census(setting, &QUASI, Some(rows))?, &rows.to_string(), 6)?;
    }
    for d in 2..=QUASI.len() {
        at(2, &Data::census(setting, &QUASI[..d], None)?, &d.to_string(), 6)?;
    }
    plots.claim(
        "Every run reaches the l that was asked for",
        throng::report::Verdict::of(met.0, met.1),
        format!("{} of {} runs", met.0, met.1),
    );
    for (at, over) in ["l", "N", "d"].into_iter().enumerate() {
        for method in ["hilbert", "idistance"] {
            plots.below(
                &format!("{method} loses less than Mondrian, {over} varied"),
                &gcp[at],
                method,
                "mondrian",
            );
        }
        if at < 2 {
            for (figure, what) in [
                (&widest, "weighted maximum NCP"),
                (&average, "average NCP"),
                (&volume, "weighted average volume"),
            ] {
                let text = format!("Hilbert has a lower {what} than Mondrian, {over} varied");
                plots.below(&text, &figure[at], "hilbert", "mondrian");
            }
        }
    }
    plots.below("Hilbert loses less than iDistance", &gcp[0], "hilbert", "idistance");
    let take = |mut figures: Vec<Figure>, count: usize| figures.drain(..count).collect::<Vec<_>>();
    let pairs = gcp.into_iter().zip(time).flat_map(|(gcp, time)| [gcp, time]).collect();
    plots.show("l-diversity", "N and d are varied with l = 6.", pairs);
    let further = [take(widest, 2), take(average, 2), take(volume, 2)].into_iter().flatten().collect();
    plots.show("l-diversity, other metrics", "", further);
    Ok(())
}
