//! Reports to test with.

use indexmap::IndexMap;

use super::{Comparison, ComparisonRun, LeftOut, Provenance, Report};
use crate::audit::{
    Bin, Distribution, ExampleClass, LowerBound, Measures, QuasiIdentifierMeasure, SensitiveMeasure,
};
use crate::privacy::{About, Achieved, Figure};
use crate::release::RowOrder;

const LOSSES: [(&str, f64); 8] = [
    ("age", 0.0934),
    ("workclass", 0.1021),
    ("education", 0.2117),
    ("marital-status", 0.1184),
    ("occupation", 0.4012),
    ("race", 0.0551),
    ("sex", 0.0612),
    ("native-country", 0.0473),
];

/// A report like that of a run over the Adult table with k = 10.
pub(crate) fn adult() -> Report {
    let names: Vec<String> = LOSSES.iter().map(|(name, _)| (*name).to_owned()).collect();
    Report {
        measures: measures(),
        method: "hilbert".into(),
        seed: 7,
        order: RowOrder::Random,
        seconds: stages(&[
            ("read", 0.061),
            ("encode", 0.024),
            ("anonymize", 0.912),
            ("write", 0.283),
            ("total", 1.28),
        ]),
        distributions: vec![
            distribution(
                "age",
                (0..37).map(|at| (format!("{}–{}", 17 + 2 * at, 18 + 2 * at), 37.0 - f64::from(at))),
            ),
            distribution(
                "education",
                ["Bachelors", "HS-grad", "Some-college"].map(|value| (value.into(), 10.0)),
            ),
            distribution("sex", [("Male".into(), 20_380.0), ("Female".into(), 9_782.0)]),
        ],
        quasi: names,
        sensitive_attributes: vec!["salary-class".into()],
        examples: vec![example(10, "[24-26]"), example(154, "[17-90]")],
        provenance: provenance(),
        notes: vec!["The lower bound was estimated from a sample.".into()],
        left_out_options: Vec::new(),
        facts: Vec::new(),
        parts: None,
        sections: Vec::new(),
        series: None,
    }
}

fn measures() -> Measures {
    Measures {
        rows_in: 30_162,
        rows_dropped: 2_399,
        rows_published: 30_162,
        k: 10,
        k_required: Some(10),
        quasi_identifiers: vec![QuasiIdentifierMeasure {
            attributes: vec!["education".into(), "sex".into()],
            k_required: 4,
            k: 22,
        }],
        l: Some(1.11),
        diversity: Some("frequency".into()),
        t: Some(0.4731),
        sensitive: vec![SensitiveMeasure {
            attribute: "salary-class".into(),
            l_frequency: 1.11,
            l_distinct: 2,
            l_entropy: 1.38,
            t: 0.4731,
            told_share: 0.12,
        }],
        classes: 2_213,
        gcp: 0.1363,
        ncp: 32_888.6,
        discernibility: 512_306.0,
        c_avg: 1.3629,
        gcp_per_attribute: stages(&LOSSES),
        average_ncp: 1.0882,
        weighted_maximum_ncp: 88.12,
        weighted_average_volume: 0.0004,
        classification_metric: Some(0.1812),
        lower_bound: Some(LowerBound {
            gcp: 0.0892,
            records: 1_000,
            interval: Some((0.0861, 0.0923)),
            ..LowerBound::default()
        }),
        gap: Some(0.3456),
        requirements: requirements(),
        class_sizes: (10..20).map(|size| (size, 260 - size * 10)).chain([(43, 3), (154, 1)]).collect(),
        ..Measures::default()
    }
}

fn requirements() -> Vec<Achieved> {
    let meaning = "the fewest records that share all published quasi-identifiers";
    let named =
        Achieved::at_least("quasi_identifiers", "k", "the fewest records that share these attributes");
    vec![
        Achieved::at_least("k", "k-anonymity", meaning)
            .reached(Figure::Count(10))
            .asked(Figure::Count(10), Vec::new()),
        named
            .of(&["education".to_owned(), "sex".to_owned()])
            .reached(Figure::Count(22))
            .asked(Figure::Count(4), Vec::new()),
        Achieved::at_least("l", "l-diversity (frequency)", "in no class is a sensitive value more frequent")
            .about(About::Values)
            .reached(Figure::Number(1.11)),
        Achieved::at_most("t", "t-closeness", "how far a class is from the table")
            .about(About::Shares)
            .reached(Figure::Number(0.4731)),
    ]
}

fn provenance() -> Provenance {
    Provenance {
        version: "0.1.0".into(),
        data: "adult.csv".into(),
        data_hash: "4c1f0e".into(),
        release: "release.csv".into(),
        release_hash: "9ab3d2".into(),
        policy: "[privacy]\nk = 5\n\n[method]\nname = \"hilbert\"\n".into(),
        overrides: vec!["--k 10".into()],
        command: ["anonymize", "adult.csv", "--policy", "adult.toml", "-o", "release.csv", "--k", "10"]
            .map(str::to_owned)
            .to_vec(),
    }
}

fn stages(pairs: &[(&str, f64)]) -> IndexMap<String, f64> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
}

fn distribution(attribute: &str, bins: impl IntoIterator<Item = (String, f64)>) -> Distribution {
    let bin = |(label, before): (String, f64)| Bin { label, before, after: before * 0.9 + 3.0 };
    Distribution { attribute: attribute.into(), bins: bins.into_iter().map(bin).collect() }
}

fn example(size: u64, age: &str) -> ExampleClass {
    let cells = [age, "Private", "HS-grad", "Married", "*", "White", "Male", "United-States"];
    ExampleClass {
        size,
        cells: cells.map(str::to_owned).to_vec(),
        sensitive: vec![vec![("<=50K".into(), size - 1), (">50K".into(), 1)]],
    }
}

/// A report in which every figure is missing, zero or not a number.
pub(crate) fn degenerate() -> Vec<Report> {
    let empty = || Report {
        measures: Measures::default(),
        method: String::new(),
        seed: 0,
        order: RowOrder::Kept,
        seconds: IndexMap::new(),
        distributions: Vec::new(),
        quasi: Vec::new(),
        sensitive_attributes: Vec::new(),
        examples: Vec::new(),
        provenance: Provenance::default(),
        notes: Vec::new(),
        left_out_options: Vec::new(),
        facts: Vec::new(),
        parts: None,
        sections: Vec::new(),
        series: None,
    };
    let mut one_class = empty();
    one_class.measures = Measures {
        rows_in: 1,
        rows_published: 1,
        classes: 1,
        k: 1,
        class_sizes: vec![(1, 1)],
        ..Measures::default()
    };
    let mut lossless = adult();
    lossless.measures.gcp = 0.0;
    lossless.measures.gcp_per_attribute.values_mut().for_each(|loss| *loss = 0.0);
    lossless.distributions.push(distribution("empty", []));
    lossless.distributions.push(Distribution {
        attribute: "nothing".into(),
        bins: vec![Bin { label: String::new(), before: 0.0, after: 0.0 }],
    });
    vec![empty(), one_class, lossless, not_a_number()]
}

fn not_a_number() -> Report {
    let mut report = adult();
    let measures = &mut report.measures;
    measures.gcp_per_attribute.values_mut().for_each(|loss| *loss = f64::NAN);
    for figure in [
        &mut measures.gcp,
        &mut measures.ncp,
        &mut measures.discernibility,
        &mut measures.c_avg,
        &mut measures.average_ncp,
        &mut measures.weighted_maximum_ncp,
        &mut measures.weighted_average_volume,
    ] {
        *figure = f64::NAN;
    }
    for figure in
        [&mut measures.l, &mut measures.t, &mut measures.gap, &mut measures.il1, &mut measures.il_infinity]
    {
        *figure = Some(f64::INFINITY);
    }
    for one in &mut measures.requirements[2..] {
        one.reached = Some(Figure::Number(f64::INFINITY));
    }
    measures.lower_bound = Some(LowerBound {
        gcp: f64::NAN,
        records: 0,
        interval: Some((f64::NAN, f64::NAN)),
        ..LowerBound::default()
    });
    measures.sensitive[0].l_entropy = f64::NAN;
    report.seconds.values_mut().for_each(|time| *time = f64::NAN);
    for bin in &mut report.distributions[0].bins {
        bin.before = f64::NAN;
        bin.after = f64::INFINITY;
    }
    report
}

/// What must never reach a page as it is.
pub(crate) const HOSTILE: &str = "<script>alert(1)</script>\"&'";

/// A report in which every text is hostile.
pub(crate) fn hostile() -> Report {
    let bad = || HOSTILE.to_owned();
    let mut report = adult();
    report.method = bad();
    report.seconds = stages(&[(HOSTILE, 1.0), ("total", 1.0)]);
    report.quasi = vec![bad(); 8];
    report.sensitive_attributes = vec![bad()];
    report.notes = vec![bad()];
    report.provenance = Provenance {
        version: bad(),
        data: bad(),
        data_hash: bad(),
        release: bad(),
        release_hash: bad(),
        policy: bad(),
        overrides: vec![bad()],
        command: vec![bad()],
    };
    for one in &mut report.distributions {
        one.attribute = bad();
        one.bins.iter_mut().for_each(|bin| bin.label = bad());
    }
    for class in &mut report.examples {
        class.cells.iter_mut().for_each(|cell| *cell = bad());
        class.sensitive = vec![vec![(bad(), 3)]];
    }
    let measures = &mut report.measures;
    measures.gcp_per_attribute = stages(&[(HOSTILE, 0.5)]);
    measures.violations = vec![bad()];
    measures.sensitive[0].attribute = bad();
    measures.quasi_identifiers[0].attributes = vec![bad(), bad()];
    measures.requirements[1].attributes = vec![bad(), bad()];
    report
}

/// A report with names that are too long for anything.
pub(crate) fn long_names() -> Report {
    let long = |at: usize| format!("an attribute with a name that goes on and on_{}_{at}", "x".repeat(120));
    let mut report = hostile();
    let names: Vec<String> = (0..20).map(long).collect();
    report.measures.gcp_per_attribute = names.iter().map(|name| (name.clone(), 0.25)).collect();
    report.measures.quasi_identifiers[0].attributes = names.clone();
    report.measures.requirements[1].attributes = names.clone();
    report.measures.violations = vec![names.join(", ")];
    report.seconds = names.iter().map(|name| (name.clone(), 12_345.0)).collect();
    report.method = names[0].clone();
    report.notes = names.clone();
    report.quasi = names;
    report.measures.rows_in = u64::MAX;
    report.measures.discernibility = 1e300;
    report
}

/// Two methods with three k, and one that refuses.
pub(crate) fn comparison() -> Comparison {
    let run = |method: &str, k: u64, worse: f64| {
        let mut report = adult();
        report.measures.k_required = Some(k);
        report.measures.k = k;
        let (asked, reached) = (Some(Figure::Count(k)), Some(Figure::Count(k)));
        (report.measures.requirements[0].asked, report.measures.requirements[0].reached) = (asked, reached);
        report.measures.gcp = 0.02 * worse * (k as f64).sqrt();
        report.measures.classes = (20_000.0 / worse / k as f64) as u64;
        report.measures.discernibility = 45_000.0 * worse * k as f64;
        report.measures.lower_bound = Some(LowerBound {
            gcp: 0.015 * (k as f64).sqrt(),
            records: 1_000,
            proved: true,
            ..LowerBound::default()
        });
        ComparisonRun {
            method: method.into(),
            k: Some(k),
            report: Some(report),
            query_error: None,
            refused: None,
            code: None,
        }
    };
    let refused = ComparisonRun {
        method: "exact".into(),
        k: Some(5),
        report: None,
        query_error: None,
        refused: Some("too many records for an exact solution".into()),
        code: Some(crate::error::ErrorCode::TableTooLarge),
    };
    let both = [("mondrian", 1.4), ("hilbert", 1.1)];
    let runs = both.iter().flat_map(|(method, worse)| [5, 10, 25].map(|k| run(method, k, *worse)));
    Comparison {
        data: "adult.csv".into(),
        rows: 30_162,
        quasi: LOSSES.iter().map(|(name, _)| (*name).to_owned()).collect(),
        runs: runs.chain([refused]).collect(),
        left_out: vec![LeftOut { method: "anatomy".into(), reason: "it publishes no cells".into() }],
        policy: "[privacy]\nk = 5\n".into(),
        version: "0.1.0".into(),
    }
}

/// The comparison of a report with itself at two k, with one run refused.
pub(crate) fn comparison_of(report: &Report) -> Comparison {
    let run = |k, refused: Option<String>| ComparisonRun {
        method: report.method.clone(),
        k,
        report: refused.is_none().then(|| report.clone()),
        query_error: None,
        code: refused.is_some().then_some(crate::error::ErrorCode::KExceedsTable),
        refused,
    };
    Comparison {
        data: report.provenance.data.clone(),
        rows: report.measures.rows_in,
        quasi: report.quasi.clone(),
        runs: vec![run(None, None), run(Some(5), None), run(Some(7), Some(report.notes.join(" ")))],
        left_out: Vec::new(),
        policy: report.provenance.policy.clone(),
        version: report.provenance.version.clone(),
    }
}
