//! Figure 9: CRX and German. Both are small, so errors depend on the split: they are told with their spread.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;
use throng::Result;
use throng::policy::Policy;
use throng::report::{Block, Chart, Claim, Section, Series, Unit, Verdict};

use super::percent;
use super::policies::{classify, concatenate, error};
use crate::{Setting, say};

struct Credit {
    name: &'static str,
    file: &'static str,
    class: &'static str,
    records: usize,
    train: usize,
    /// The paper's ranking, where its names are known.
    top: Option<[&'static str; 9]>,
    ks: &'static [usize],
    /// The paper's claim: AE − BE below 4 points up to this k.
    upto: usize,
    paper: (f64, f64),
}

const CREDITS: [Credit; 2] = [
    Credit {
        name: "CRX",
        file: "crx.complete.csv.zst",
        class: "class",
        records: 653,
        train: 465,
        top: Some(["A9", "A11", "A10", "A8", "A15", "A7", "A14", "A6", "A5"]),
        ks: &[20, 50, 100, 200, 300, 400, 500, 600],
        upto: 300,
        paper: (0.154, 0.42),
    },
    Credit {
        name: "German",
        file: "german.csv.zst",
        class: "credit-class",
        records: 1000,
        train: 666,
        top: None,
        ks: &[20, 50, 100, 200, 300, 500, 700, 1000],
        upto: 100,
        paper: (0.288, 0.36),
    },
];

/// One section per data set.
pub fn sections(setting: &Setting, folder: &Path) -> Result<Vec<Section>> {
    CREDITS.iter().map(|credit| section(setting, credit, folder)).collect()
}

fn policy(credit: &Credit, top: &[String], k: usize, seed: usize, baseline: bool) -> Result<Policy> {
    let share = 1.0 - credit.train as f64 / credit.records as f64;
    let mut text = format!(
        "[privacy]\nk = {k}\n[method]\nname = \"refine\"\nseed = {seed}\n[evaluate.classify]\ntest_share = {share}\n\
         baseline = {baseline}\n[attribute.{}]\nrole = \"class\"\nkind = \"categorical\"\n",
        credit.class
    );
    for name in top {
        let _ = write!(text, "[attribute.\"{name}\"]\nrole = \"quasi\"\n");
        // Numbers written with leading zeros are numbers all the same.
        if ["A11", "A14"].contains(&name.as_str()) {
            text.push_str("kind = \"numeric\"\n");
        }
    }
    Policy::parse(&text, None)
}

fn spread(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (values.len() as f64 - 1.0).max(1.0)).sqrt())
}

fn section(setting: &Setting, credit: &Credit, folder: &Path) -> Result<Section> {
    let table = folder.join(format!("{}.csv", credit.name));
    concatenate(&[setting.file(credit.file)?], &table, usize::MAX)?;
    let seeds = if setting.quick { 3 } else { 20 };
    let top: Vec<String> = match credit.top {
        Some(top) => top.map(str::to_owned).to_vec(),
        None => ranked(credit, &table)?,
    };
    let (mut base, mut upper) = (Vec::new(), Vec::new());
    let mut errors: Vec<Vec<Vec<f64>>> = vec![vec![Vec::new(); credit.ks.len()]; 3];
    let mut off: Vec<Vec<f64>> = vec![Vec::new(); credit.ks.len()];
    for (at, &k) in credit.ks.iter().enumerate() {
        say(&format!("{}, k = {k}", credit.name));
        for seed in 0..seeds {
            for (line, length) in [5, 7, 9].into_iter().enumerate() {
                let baseline = line == 1 && at == 0;
                let figures = classify(&table, policy(credit, &top[..length], k, seed, baseline)?)?;
                let own = error(&figures, "tree", "anonymity")?;
                if baseline {
                    base.push(error(&figures, "tree", "baseline")?);
                    upper.push(error(&figures, "tree", "upper")?);
                }
                if line == 1 {
                    off[at].push(own - base[seed]);
                }
                errors[line][at].push(own);
            }
        }
    }
    Ok(told(credit, &top, seeds, &spread(&base), &spread(&upper), &errors, &off))
}

/// The ranking by our own tree, on the table as it came.
fn ranked(credit: &Credit, table: &Path) -> Result<Vec<String>> {
    let first = if credit.name == "German" { "duration-months".to_owned() } else { "A8".to_owned() };
    let figures = classify(table, policy(credit, &[first], 2, 0, true)?)?;
    let names = figures["ranking"].as_array().cloned().unwrap_or_default();
    Ok(names.iter().filter_map(Value::as_str).take(9).map(str::to_owned).collect())
}

/// What the paper says of CRX alone, by the errors of Top7 and how far they are above BE for small k.
fn of_crx(credit: &Credit, errors: &[Vec<f64>], tested: &[f64]) -> [Claim; 2] {
    let least = tested.iter().copied().fold(f64::INFINITY, f64::min);
    let (before, after) = (spread(&errors[tested.len() - 1]).0, spread(&errors[tested.len()]).0);
    let verdict = |held: bool| if held { Verdict::Held } else { Verdict::Failed };
    [
        Claim {
            text: "AE is below BE for some k".to_owned(),
            verdict: verdict(least < 0.0),
            evidence: format!(
                "AE − BE is {:+.2} points at the lowest, by the mean over splits",
                least * 100.0
            ),
        },
        Claim {
            text: format!("AE rises drastically beyond k = {}, as there are 653 records", credit.upto),
            verdict: verdict(after - before > 0.1),
            evidence: format!(
                "{} for k = {}, {} for k = {}",
                percent(before),
                credit.upto,
                percent(after),
                credit.ks[tested.len()]
            ),
        },
    ]
}

fn told(
    credit: &Credit,
    top: &[String],
    seeds: usize,
    base: &(f64, f64),
    upper: &(f64, f64),
    errors: &[Vec<Vec<f64>>],
    off: &[Vec<f64>],
) -> Section {
    let line = |(errors, name): (&Vec<Vec<f64>>, &str)| Series {
        name: format!("AE {name}"),
        values: errors.iter().map(|own| Some(spread(own).0)).collect(),
    };
    let mut series: Vec<Series> = errors.iter().zip(["Top5", "Top7", "Top9"]).map(line).collect();
    let flat =
        |name: &str, value: f64| Series { name: name.to_owned(), values: vec![Some(value); credit.ks.len()] };
    series.extend([flat("BE", base.0), flat("UE Top7", upper.0)]);
    let rows = credit
        .ks
        .iter()
        .zip(off)
        .zip(&errors[1])
        .map(|((k, off), own)| {
            let (mean, deviation) = spread(off);
            vec![
                k.to_string(),
                percent(spread(own).0),
                format!("{:.2}", mean * 100.0),
                format!("{:.2}", deviation * 100.0),
            ]
        })
        .collect();
    let tested: Vec<f64> =
        credit.ks.iter().zip(off).filter(|(k, _)| **k <= credit.upto).map(|(_, off)| spread(off).0).collect();
    let well = tested.iter().filter(|off| **off < 0.04).count();
    let lowest = credit.ks.iter().zip(&errors[1]).filter(|(k, _)| **k <= credit.upto);
    let most = lowest.map(|(_, own)| spread(own).0).fold(0.0, f64::max);
    let near = |found: &(f64, f64), paper: f64| {
        let room = (2.0 * found.1).max(0.03);
        if (found.0 - paper).abs() <= room { Verdict::Held } else { Verdict::Failed }
    };
    let shown = |(mean, deviation): &(f64, f64)| format!("{} ± {:.2}", percent(*mean), deviation * 100.0);
    let whose = match credit.top {
        Some(_) => "the paper's ranking",
        None => "our own ranking, because the paper's names of attributes are not known",
    };
    let mut claims = vec![
        Claim {
            text: format!("BE is {}", percent(credit.paper.0)),
            verdict: near(base, credit.paper.0),
            evidence: shown(base),
        },
        Claim {
            text: format!("UE is {}", percent(credit.paper.1)),
            verdict: near(upper, credit.paper.1),
            evidence: shown(upper),
        },
        Claim {
            text: format!("Top7: AE − BE is less than 4 points for k = 20 … {}", credit.upto),
            verdict: Verdict::of(well, tested.len()),
            evidence: format!("in {well} of {} k, by the mean over splits", tested.len()),
        },
        Claim {
            text: "AE is below UE".to_owned(),
            verdict: if most < upper.0 { Verdict::Held } else { Verdict::Failed },
            evidence: format!("AE at most {}, UE {}", percent(most), percent(upper.0)),
        },
    ];
    if credit.name == "CRX" {
        claims.extend(of_crx(credit, &errors[1], &tested));
    }
    let head = ["k", "AE Top7", "AE − BE in points", "deviation over splits"].map(str::to_owned).to_vec();
    Section {
        heading: format!("Figure 9: {}", credit.name),
        blocks: vec![
            Block::Words(format!(
                "Mean over {seeds} random splits into {} and {} records. Top9 by {whose}: {}.",
                credit.train,
                credit.records - credit.train,
                top.join(", ")
            )),
            Block::Lines(Chart {
                title: format!("{}: C4.5", credit.name),
                words: "Numbers are discretized, categories suppressed.".to_owned(),
                across: "k".to_owned(),
                places: credit.ks.iter().map(usize::to_string).collect(),
                series,
                unit: Unit::Share,
                log: false,
            }),
            Block::Table { head, rows },
            Block::Claims(claims),
        ],
    }
}
