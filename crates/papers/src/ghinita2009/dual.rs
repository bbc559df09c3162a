//! The dual problem: figures 32 to 34. As in the paper, fewer than seven quasi-identifiers are taken in several ways and
//! the mean is told.

use throng::Result;
use throng::report::Unit;

use super::direct::rows;
use super::measure::{Data, QUASI};
use super::plot::{Figure, Plots};
use crate::{Setting, say};

const METHODS: [(&str, &str); 3] = [
    ("AC", "name = \"accuracy\""),
    ("IPCSD-1D", "name = \"accuracy-search\""),
    ("IPCSD-Mondrian", "name = \"accuracy-search\"\nover = \"mondrian\""),
];

/// Figures 32 to 34.
pub fn run(setting: &Setting, plots: &mut Plots) -> Result<()> {
    say("the dual problem: figures 32 to 34");
    let axes = ["E", "quasi-identifiers", "records"];
    let figures = |letter: char, what: &str, unit: Unit| -> Vec<Figure> {
        let one = |(number, across): (usize, &'static str)| {
            Figure::new(&format!("Figure {number} ({letter}): {what}"), across, unit)
        };
        (32..).zip(axes).map(one).collect()
    };
    let mut privacy = figures('a', "privacy reached", Unit::Count);
    let mut time = figures('b', "time", Unit::Seconds);
    let mut at = |figure: usize, place: &str, sets: &[Data], limit: f64| -> Result<()> {
        for (name, method) in METHODS {
            let (mut reached, mut seconds) = (0.0, 0.0);
            for data in sets {
                let (problem, found) = data.run(&format!("max_loss = {limit}"), method)?;
                reached += found.diversity(&problem) / sets.len() as f64;
                seconds += found.seconds / sets.len() as f64;
            }
            privacy[figure].set(place, name, reached);
            time[figure].set(place, name, seconds);
        }
        Ok(())
    };
    let three = projections(setting, 3, None)?;
    for tenths in [2, 3, 4, 5, 6] {
        let limit = f64::from(tenths) / 10.0;
        at(0, &limit.to_string(), &three, limit)?;
    }
    for d in 2..=QUASI.len() {
        at(1, &d.to_string(), &projections(setting, d, None)?, 0.4)?;
    }
    for rows in rows(setting) {
        at(2, &rows.to_string(), &projections(setting, 3, Some(rows))?, 0.4)?;
    }
    for (at, over) in ["E", "d", "N"].into_iter().enumerate() {
        for search in ["IPCSD-1D", "IPCSD-Mondrian"] {
            plots.at_most(
                &format!("AC is at least as private as {search}, {over} varied"),
                &privacy[at],
                search,
                "AC",
            );
            plots.below(&format!("AC is faster than {search}, {over} varied"), &time[at], "AC", search);
        }
    }
    let both = privacy.into_iter().zip(time).flat_map(|(privacy, time)| [privacy, time]).collect();
    plots.show("The dual problem", "d and N are varied with E = 0.4, E and N with d = 3.", both);
    Ok(())
}

/// The table with neighbouring quasi-identifiers, one projection per place they can begin at.
fn projections(setting: &Setting, d: usize, rows: Option<usize>) -> Result<Vec<Data>> {
    let starts = if d == QUASI.len() { 1 } else { QUASI.len() };
    let projection =
        |start: usize| -> Vec<&str> { (0..d).map(|at| QUASI[(start + at) % QUASI.len()]).collect() };
    (0..starts).map(|start| Data::census(setting, &projection(start), rows)).collect()
}
