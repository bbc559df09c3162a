//! Figure 11: time over the number of records.

use std::path::Path;
use std::time::Instant;

use throng::policy::Policy;
use throng::problem::Problem;
use throng::report::{Block, Chart, Claim, Section, Series, Unit, Verdict};
use throng::watch::Unwatched;
use throng::{Error, ErrorCode, Result};
use throng_bench::vary;

use super::adult::{requirements, several_text, union};
use super::policies::{ADULT, Adult, Masking};
use crate::{Setting, say};

/// Time of the search on larger and larger tables.
pub fn section(setting: &Setting, adult: &Adult<'_>, folder: &Path) -> Result<Section> {
    let sizes: &[usize] =
        if setting.quick { &[20_000, 40_000] } else { &[200_000, 400_000, 600_000, 800_000, 1_000_000] };
    let names: Vec<&str> = ADULT.iter().map(|(name, _)| *name).collect();
    let requirements = requirements(if setting.quick { 2 } else { 30 });
    let number = requirements.iter().map(Vec::len).sum::<usize>() as f64 / requirements.len() as f64;
    let (mut one, mut several) = (Vec::new(), Vec::new());
    for &rows in sizes {
        say(&format!("{rows} records"));
        let table = folder.join("large.csv");
        vary(&adult.table, rows, &table, ADULT.len(), 7).map_err(|cause| {
            Error::new(ErrorCode::CannotWrite, format!("cannot make a larger table: {cause}"))
        })?;
        let whole = adult.policy("k = 50", "", &names, Masking::Taxonomies)?;
        one.push(seconds(&table, &whole, 2)?);
        let mut sum = 0.0;
        for qids in &requirements {
            let mut policy = adult.policy(&several_text(qids, 50), "", &union(qids), Masking::Taxonomies)?;
            // The paper's search; the default makes several.
            policy.method.options.insert("first".to_owned(), "each".into());
            sum += seconds(&table, &policy, 2)?;
        }
        several.push(sum / requirements.len() as f64);
    }
    let more = several.iter().sum::<f64>() / one.iter().sum::<f64>();
    let growth = |times: &[f64]| times[times.len() - 1] / times[0];
    let grown = sizes[sizes.len() - 1] as f64 / sizes[0] as f64;
    let series = |name: &str, times: &[f64]| Series {
        name: name.to_owned(),
        values: times.iter().map(|time| Some(*time)).collect(),
    };
    Ok(Section {
        heading: "Figure 11: time over the number of records".to_owned(),
        blocks: vec![
            Block::Lines(Chart {
                title: "Seconds of the search, k = 50".to_owned(),
                words: "Reading and writing left out. Larger tables are made as in the paper: variations of records with \
                        some values redrawn from their domains. The several quasi-identifiers are those of figure 8, as in \
                        the paper, searched once as there (our default searches three times). Each time is that of the faster of two runs; other work on the same machine may show."
                    .to_owned(),
                across: "records".to_owned(),
                places: sizes.iter().map(usize::to_string).collect(),
                series: vec![series("all 14 attributes", &one), series("several, average of the requirements", &several)],
                unit: Unit::Seconds,
                log: false,
            }),
            Block::Claims(vec![
                Claim {
                    text: "Time is linear in the number of records".to_owned(),
                    verdict: if growth(&one) < 1.3 * grown { Verdict::Held } else { Verdict::Failed },
                    evidence: format!("{:.1} times the time for {grown} times the records", growth(&one)),
                },
                Claim {
                    text: "Several quasi-identifiers cost more than one, by a factor roughly proportional to their number"
                        .to_owned(),
                    verdict: if more <= number { Verdict::Held } else { Verdict::Failed },
                    evidence: format!(
                        "{more:.1} times the time of all 14 attributes as one, over all sizes, for {number:.1} quasi-identifiers \
                         on average"
                    ),
                },
                Claim {
                    text: "1,000,000 records take 80 seconds (on a Pentium 4)".to_owned(),
                    verdict: if one[one.len() - 1] < 80.0 { Verdict::Held } else { Verdict::Failed },
                    evidence: format!("{:.2} s for {} records", one[one.len() - 1], sizes[sizes.len() - 1]),
                },
            ]),
        ],
    })
}

/// The best of some runs.
fn seconds(table: &Path, policy: &Policy, runs: usize) -> Result<f64> {
    let problem = Problem::new(&throng::run::read(table, policy, &Unwatched)?, policy)?;
    let mut best = f64::INFINITY;
    for _ in 0..runs {
        let start = Instant::now();
        throng::run::solve(&problem, policy, &Unwatched)?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}
