//! Precision of group-by queries: figures 35 and 36.

use throng::Result;
use throng::evaluate::cube::divergence::of_level;
use throng::report::Unit;
use throng::watch::Unwatched;

use super::direct::rows;
use super::measure::{Data, QUASI};
use super::plot::{Figure, Plots};
use crate::{Setting, say};

/// Name, method, and whether it is permuted.
const RELEASES: [(&str, &str, bool); 6] = [
    ("hilbert", "hilbert", false),
    ("idistance", "idistance", false),
    ("mondrian", "mondrian", false),
    ("anatomy", "anatomy", true),
    ("permuted hilbert", "hilbert", true),
    ("permuted idistance", "idistance", true),
];

/// Figures 35 and 36.
pub fn run(setting: &Setting, plots: &mut Plots) -> Result<()> {
    say("data cubes: figures 35 and 36");
    let letters = [("a", "l"), ("b", "level"), ("c", "quasi-identifiers"), ("d", "records")];
    let figures = |number: usize| -> Vec<Figure> {
        let one = |(letter, across): (&str, &'static str)| {
            Figure::new(&format!("Figure {number} ({letter}): KL divergence"), across, Unit::Count).log()
        };
        letters.into_iter().map(one).collect()
    };
    let (mut generalized, mut permuted) = (figures(35), figures(36));
    let mut at = |figure: usize, place: &str, data: &Data, l: usize, level: usize| -> Result<()> {
        for (name, method, permute) in RELEASES {
            let (problem, found) = data.run(&format!("l = {l}"), &format!("name = \"{method}\""))?;
            let divergence = of_level(&problem, &found.view(&problem, permute), level, &Unwatched)?;
            if !permute || method == "anatomy" {
                generalized[figure].set(place, name, divergence);
            }
            if permute {
                permuted[figure].set(place, name, divergence);
            }
        }
        Ok(())
    };
    let whole = Data::census(setting, &QUASI, None)?;
    for l in [2, 3, 4, 5, 6, 7, 8, 9, 10] {
        at(0, &l.to_string(), &whole, l, 2)?;
    }
    for level in 1..=4 {
        at(1, &level.to_string(), &whole, 4, level)?;
    }
    for d in 2..=QUASI.len() {
        at(2, &d.to_string(), &Data::census(setting, &QUASI[..d], None)?, 4, 2)?;
    }
    for rows in rows(setting) {
        at(3, &rows.to_string(), &Data::census(setting, &QUASI, Some(rows))?, 4, 2)?;
    }
    for (at, over) in ["l", "level", "d", "N"].into_iter().enumerate() {
        let figure = &generalized[at];
        plots.below(
            &format!("Hilbert's cube is nearer than Mondrian's, {over} varied"),
            figure,
            "hilbert",
            "mondrian",
        );
        plots.below(
            &format!("Hilbert's cube is nearer than Anatomy's, {over} varied"),
            figure,
            "hilbert",
            "anatomy",
        );
        plots.below(
            &format!("Anatomy's cube is nearer than Mondrian's, {over} varied"),
            figure,
            "anatomy",
            "mondrian",
        );
        let figure = &permuted[at];
        let text = format!("Permuted Hilbert's cube is nearer than Anatomy's, {over} varied");
        plots.below(&text, figure, "permuted hilbert", "anatomy");
        let text = format!("Permuted iDistance's cube is nearer than Anatomy's, {over} varied");
        plots.below(&text, figure, "permuted idistance", "anatomy");
    }
    plots.show(
        "Group-by queries, generalized",
        "Level 2 where the level is not varied, l = 4 where l is not.",
        generalized,
    );
    plots.show("Group-by queries, permuted", "", permuted);
    Ok(())
}
