//! The dual problem: figures 32 to 34. As in the paper, fewer than seven quasi-identifiers are taken in several ways and
//! the mean is told.

use throng::Result;
use throng::method::accuracy::Goal;
use throng::report::{Claim, Unit, Verdict};

use super::direct::rows;
use super::measure::{Data, QUASI};
use super::plot::{Figure, Plots};
use crate::{Setting, say};

const METHODS: [(&str, &str); 4] = [
    ("AC", "name = \"accuracy\""),
    ("AC, one walk", "name = \"accuracy\"\ntries = \"one\""),
    ("IPCSD-1D", "name = \"accuracy-search\""),
    ("IPCSD-Mondrian", "name = \"accuracy-search\"\nover = \"mondrian\""),
];
/// Mondrian as it is without our rule for equally wide attributes, which the paper does not have.
const PLAIN_MONDRIAN: &str = "name = \"accuracy-search\"\nover = \"mondrian\"\nties = \"table\"";
/// The best of all cuts of the curve, which is known for k only.
const BEST_CUT: &str = "name = \"exact\"";
const TENTHS: [u32; 5] = [2, 3, 4, 5, 6];

/// A limit, within which every record for itself is an answer too: with k = 1 that is not refused.
fn within(limit: f64) -> String {
    format!("k = 1\nmax_loss = {limit}")
}

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
                let (problem, found) = data.run(&within(limit), method)?;
                reached += found.diversity(&problem) / sets.len() as f64;
                seconds += found.seconds / sets.len() as f64;
            }
            privacy[figure].set(place, name, reached);
            time[figure].set(place, name, seconds);
        }
        Ok(())
    };
    let three = projections(setting, 3, None)?;
    for tenths in TENTHS {
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
            let text = format!("One walk of AC is faster than {search}, {over} varied");
            plots.further_below(&text, &time[at], "AC, one walk", search);
        }
    }
    let rises = privacy[0].of("AC");
    let well = rises.windows(2).filter(|pair| pair[0] <= pair[1] + 1e-9).count();
    plots.claim(
        "AC does not lose privacy as E grows",
        Verdict::of(well, rises.len().saturating_sub(1)),
        format!("{rises:.4?}"),
    );
    let both = privacy.into_iter().zip(time).flat_map(|(privacy, time)| [privacy, time]).collect();
    let words = "d and N are varied with E = 0.4, E and N with d = 3. AC makes several walks, along several orders and within \
                 tighter limits; \"one walk\" is the paper's, with all sensitive values looked at.";
    plots.show("The dual problem", words, both);
    setting_by_setting(&three, plots)
}

/// Where AC is less private than Mondrian, and whether that is for AC, for the order it walks along, or for our Mondrian.
fn setting_by_setting(three: &[Data], plots: &mut Plots) -> Result<()> {
    let mut of_k = Figure::new("The same with k in place of l", "E", Unit::Count).log();
    let mut of_l = Figure::new("The same with l", "E", Unit::Count);
    let (mut settings, mut k_below, mut cut_below, mut l_below, mut l_below_plain) = (0, 0, 0, 0, 0);
    let (mut before, mut rises) = (vec![0.0f64; three.len()], 0);
    for tenths in TENTHS {
        let limit = f64::from(tenths) / 10.0;
        for (data, before) in three.iter().zip(&mut before) {
            let reached = |goal: Goal, method: &str| -> Result<f64> {
                let option = if goal == Goal::Size { "k" } else { "l" };
                let method = format!("{method}\nmaximise = \"{option}\"");
                let (problem, found) = data.run(&within(limit), &method)?;
                Ok(goal.of_partition(&problem, &found.partition))
            };
            let (ac, mondrian) = (METHODS[0].1, METHODS[3].1);
            // IPCSD-1D cannot do better than the best cut, and takes long where k is large.
            let [k_ac, k_cut, k_mondrian] =
                [ac, BEST_CUT, mondrian].map(|method| reached(Goal::Size, method));
            let (k_ac, k_cut, k_mondrian) = (k_ac?, k_cut?, k_mondrian?);
            let place = limit.to_string();
            let share = 1.0 / three.len() as f64;
            of_k.add(&place, "AC", share * k_ac);
            of_k.add(&place, "best cut of the curve", share * k_cut);
            of_k.add(&place, "IPCSD-Mondrian", share * k_mondrian);
            let diversity = Goal::Diversity(0);
            let l_ac = reached(diversity, ac)?;
            let (l_mondrian, l_plain) = (reached(diversity, mondrian)?, reached(diversity, PLAIN_MONDRIAN)?);
            of_l.add(&place, "AC", share * l_ac);
            of_l.add(&place, "IPCSD-Mondrian", share * l_mondrian);
            of_l.add(&place, "IPCSD-Mondrian, ties as in the table", share * l_plain);
            settings += 1;
            rises += usize::from(l_ac >= *before - 1e-9);
            *before = l_ac;
            k_below += usize::from(k_ac < k_mondrian);
            cut_below += usize::from(k_ac < k_mondrian && k_cut < k_mondrian);
            l_below += usize::from(l_ac < l_mondrian - 1e-9);
            l_below_plain += usize::from(l_ac < l_plain - 1e-9);
        }
    }
    for (below, ties) in [(l_below, "ours"), (l_below_plain, "as they come in the table")] {
        let well = settings - below;
        plots.further.push(Claim {
            text: format!(
                "AC is at least as private as IPCSD over Mondrian in nine of ten settings, ties {ties}"
            ),
            verdict: if 10 * well >= 9 * settings { Verdict::Held } else { Verdict::Failed },
            evidence: format!(
                "in {well} of {settings} settings of three quasi-identifiers and E = 0.2 … 0.6"
            ),
        });
    }
    plots.further.push(Claim {
        text: "AC never loses privacy as E grows, whatever the quasi-identifiers".to_owned(),
        verdict: Verdict::of(rises, settings),
        evidence: format!("in {rises} of {settings} settings it is at least what it was with the E before"),
    });
    let order = match k_below {
        0 => "",
        _ if 2 * cut_below >= k_below => {
            " So mostly it is the order that falls short: where the curve jumps, a run of few records already exceeds E, \
             while Mondrian cuts by attributes."
        }
        _ => " So the order alone does not explain it.",
    };
    let words = format!(
        "AC was checked for a mistake of ours. A single walk does what its description says: a plain version that looks at every \
         record for every move finds the same groups on random tables, and on small tables it never exceeds the exact answer. With l, \
         AC was less private than IPCSD with our Mondrian in {l_below} of {settings} settings (E and three quasi-identifiers). Our \
         Mondrian chooses among equally wide attributes by a rule that the paper's may not have; with ties as they come in \
         the table it was so in {l_below_plain}. With k in place of l, where the best of all \
         cuts of the curve is known for tables of this size, AC was below in {k_below}, and in {cut_below} of these even the best \
         cut of that curve was. AC may exceed the best cut, because the records it exchanges leave \
         the order.{order}"
    );
    plots.show("The dual problem: AC beside Mondrian, setting by setting", &words, vec![of_k, of_l]);
    Ok(())
}

/// The table with neighbouring quasi-identifiers, one projection per place they can begin at.
fn projections(setting: &Setting, d: usize, rows: Option<usize>) -> Result<Vec<Data>> {
    let starts = if d == QUASI.len() { 1 } else { QUASI.len() };
    let projection =
        |start: usize| -> Vec<&str> { (0..d).map(|at| QUASI[(start + at) % QUASI.len()]).collect() };
    (0..starts).map(|start| Data::census(setting, &projection(start), rows)).collect()
}
