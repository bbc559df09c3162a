//! What can be released where records may be left out: against a plain program that tries every set of records.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{can_do, loaded};
use proptest::prelude::*;
use throng::error::Fault;
use throng::method::STANDARD;
use throng::plan::{Choices, Plan, Registry};
use throng::privacy::Part;
use throng::watch::Unwatched;

/// A record: its quasi-identifier, two sensitive values, and the k it asks for.
#[derive(Clone, Copy, Debug)]
struct Row {
    a: u8,
    s: u8,
    t: u8,
    wish: u8,
}

/// What is asked for.
#[derive(Clone, Debug)]
struct Asked {
    k: usize,
    l: f64,
    form: &'static str,
    /// Whether the second sensitive value counts too, and what records ask for.
    both: bool,
    wishes: bool,
}

const C: f64 = 1.5;

impl Asked {
    fn policy(&self, rows: usize, may_go: usize, method: &str) -> String {
        let l = match self.form {
            "recursive" => format!("l = {}\ndiversity = \"recursive\"\nc = {C}\n", self.l),
            "alpha" => {
                let second = if self.both { ", \"t1\"" } else { "" };
                format!("alpha = {}\nalpha_values = [\"s0\"{second}]\n", self.alpha())
            }
            "none" => String::new(),
            form => format!("l = {}\ndiversity = \"{form}\"\n", self.l),
        };
        let (wishes, second) = (
            if self.wishes { "k_column = \"wish\"\n" } else { "" },
            if self.both { "sensitive" } else { "identifier" },
        );
        format!(
            "[privacy]\nk = {}\n{l}{wishes}suppress = {}\n[method]\nname = \"{method}\"\nseed = 1\n[attribute.a]\nrole = \"quasi\"\n\
             [attribute.s]\nrole = \"sensitive\"\n[attribute.t]\nrole = \"{second}\"\n[attribute.wish]\nrole = \"identifier\"\n",
            self.k,
            may_go as f64 / rows as f64
        )
    }

    /// Whether records may be one class, by the definitions.
    fn allows(&self, class: &[Row]) -> bool {
        let wished = !self.wishes || class.iter().all(|row| usize::from(row.wish) <= class.len());
        let diverse = self.diverse(&class.iter().map(|row| row.s).collect::<Vec<_>>(), 0)
            && (!self.both || self.diverse(&class.iter().map(|row| row.t).collect::<Vec<_>>(), 1));
        !class.is_empty() && class.len() >= self.k && wished && diverse
    }

    fn alpha(&self) -> f64 {
        1.0 / self.l
    }

    /// `protected` is the value that alpha is about.
    fn diverse(&self, values: &[u8], protected: u8) -> bool {
        let mut counts: Vec<usize> = (0..=9)
            .map(|value| values.iter().filter(|own| **own == value).count())
            .filter(|count| *count > 0)
            .collect();
        counts.sort_by(|a, b| b.cmp(a));
        let (most, size) = (counts.first().copied().unwrap_or(0) as f64, values.len() as f64);
        match self.form {
            "none" => true,
            "alpha" => {
                let having = values.iter().filter(|own| **own == protected).count() as f64;
                having <= self.alpha() * size + 1e-9
            }
            "frequency" => most * self.l <= size + 1e-9,
            "distinct" => counts.len() as f64 >= self.l,
            "entropy" => {
                let of = |count: &usize| -(*count as f64 / size) * (*count as f64 / size).ln();
                counts.iter().map(of).sum::<f64>() >= self.l.ln() - 1e-9
            }
            _ => most < C * counts.iter().skip(self.l as usize - 1).sum::<usize>() as f64,
        }
    }

    /// Whether the values that are protected by name are there.
    fn is_about(&self, rows: &[Row]) -> bool {
        self.form != "alpha"
            || (rows.iter().any(|row| row.s == 0) && (!self.both || rows.iter().any(|row| row.t == 1)))
    }

    /// Whether some of the records, all but `may_go` of them at least, may be one class.
    fn has_release(&self, rows: &[Row], may_go: usize) -> bool {
        (1u32..1 << rows.len()).any(|set| {
            let kept: Vec<Row> = (0..rows.len()).filter(|at| set >> at & 1 == 1).map(|at| rows[at]).collect();
            kept.len() + may_go >= rows.len() && self.allows(&kept)
        })
    }
}

fn csv(rows: &[Row]) -> String {
    let line = |row: &Row| format!("{},s{},t{},{}\n", row.a, row.s, row.t, row.wish);
    format!("a,s,t,wish\n{}", rows.iter().map(line).collect::<String>())
}

/// The groups that a method publishes and how many records it leaves out, or what it says.
fn solved(
    rows: &[Row],
    asked: &Asked,
    may_go: usize,
    method: &str,
) -> Result<(Vec<Vec<Row>>, usize), throng::Error> {
    let loaded = loaded(csv(rows), &asked.policy(rows.len(), may_go, method));
    let plan = Plan::new(&loaded.policy, &Registry::default(), Choices::default())?;
    let mut problem = plan.problem(&loaded.table)?;
    let solved = plan.solve(&mut problem, &Unwatched)?;
    // As users get it: a release that breaks its policy would be an error here.
    let written = plan.to_batches(&loaded.table, &problem, &solved, &Unwatched)?;
    plan.audit(&problem, &solved, &written, &Unwatched)?;
    let groups = solved.solution.partition.groups();
    let groups = groups.map(|group| group.iter().map(|record| rows[*record as usize]).collect()).collect();
    Ok((groups, solved.solution.suppressed.len()))
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (0u8..4, 0u8..4, 0u8..3, 1u8..7).prop_map(|(a, s, t, wish)| Row {
        a,
        s: s.saturating_sub(1),
        t,
        wish,
    });
    prop::collection::vec(row, 2..8)
}

fn asked() -> impl Strategy<Value = Asked> {
    let form = prop::sample::select(vec!["none", "frequency", "distinct", "entropy", "recursive", "alpha"]);
    (1usize..4, 2u8..9, form, any::<bool>(), any::<bool>()).prop_map(|(k, l, form, both, wishes)| {
        let whole = matches!(form, "distinct" | "recursive");
        Asked { k, l: if whole { f64::from(l / 2) } else { f64::from(l) / 2.0 }, form, both, wishes }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// With one sensitive attribute, everything that has a release gets one by every method, and nothing else does.
    #[test]
    fn every_method_leaves_out_what_must_go(rows in rows(), asked in asked(), may_go in 0usize..4) {
        let asked = Asked { both: false, ..asked };
        let may_go = may_go.min(rows.len() - 1);
        let possible = asked.has_release(&rows, may_go);
        let mut parts = vec![Part::K];
        prop_assume!(asked.is_about(&rows));
        match asked.form {
            "none" => {}
            "alpha" => parts.push(Part::T),
            _ => parts.push(Part::L),
        }
        parts.extend(asked.wishes.then_some(Part::OwnK));
        // Sets that entropy and recursive diversity choose need not be those that suit single wishes.
        let exact = !asked.wishes || !matches!(asked.form, "entropy" | "recursive" | "distinct");
        for entry in STANDARD.iter().filter(|entry| can_do(entry, &parts)) {
            match solved(&rows, &asked, may_go, entry.name) {
                Ok((groups, left_out)) => {
                    prop_assert!(possible && left_out <= may_go, "{}", entry.name);
                    prop_assert!(groups.iter().all(|group| asked.allows(group)), "{}: {groups:?}", entry.name);
                }
                Err(error) => {
                    prop_assert_eq!(error.fault(), Fault::Requirement, "{}: {}", entry.name, error);
                    let too_many = entry.name == "exact" && error.message().contains("too many");
                    prop_assert!(!possible || !exact || too_many, "{}: {error}", entry.name);
                }
            }
        }
    }

    /// With two sensitive attributes we may miss a release, but never say that there is none where there is one.
    #[test]
    fn what_is_said_to_be_impossible_is(rows in rows(), asked in asked(), may_go in 0usize..4) {
        let asked = Asked { both: true, ..asked };
        prop_assume!(asked.is_about(&rows));
        let may_go = may_go.min(rows.len() - 1);
        match solved(&rows, &asked, may_go, "mondrian") {
            Ok((groups, left_out)) => {
                prop_assert!(left_out <= may_go && groups.iter().all(|group| asked.allows(group)), "{groups:?}");
            }
            Err(error) if error.message().contains("there may be one") => {}
            Err(error) => prop_assert!(!asked.has_release(&rows, may_go), "{error}"),
        }
    }

    /// The largest l that an error names is the largest, where records may be left out too.
    #[test]
    fn the_largest_l_counts_what_may_be_left_out(rows in rows(), may_go in 0usize..4, at in 0usize..3) {
        let form = ["frequency", "distinct", "entropy"][at];
        let may_go = may_go.min(rows.len() - 1);
        let asked = |l: f64| Asked { k: 1, l, form, both: false, wishes: false };
        let Err(error) = solved(&rows, &asked(9.0), may_go, "mondrian") else { panic!("nine values of three") };
        let hint = error.hint().unwrap();
        let largest: f64 = hint.rsplit(' ').next().unwrap().parse().unwrap();
        let step = if form == "distinct" { 1.0 } else { 0.001 };
        prop_assert!(asked(largest).has_release(&rows, may_go), "{hint}");
        prop_assert!(!asked(largest + step).has_release(&rows, may_go), "{hint}");
    }
}
