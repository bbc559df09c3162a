//! What can be released where records may be left out: against a plain program that tries every set of records.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{Case, can_do, cases, loaded};
use proptest::prelude::*;
use throng::error::Fault;
use throng::method::STANDARD;
use throng::plan::{Choices, Plan, Registry};
use throng::privacy::Part;
use throng::secret::Secret;
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

/// The loss of a case under a requirement by a method, and how many records it leaves out. Everything that users rely on is
/// checked on the way: who is published, who is not, and what the audit says.
fn loss_of(
    case: &Case,
    privacy: &str,
    method: &str,
    more: &str,
) -> Option<(f64, usize, throng::method::Solution)> {
    let text = case.policy(privacy, method).replace("[attribute.id]", &format!("{more}[attribute.id]"));
    let loaded = loaded(case.csv(), &(text + "[report]\nbound = { passes = 1 }\n"));
    // Some methods deal by lot: the same lots, or releases could not be compared.
    let secret = Some(Secret::from_bytes(b"the same in all tests"));
    let choices = Choices { secret, ..Choices::default() };
    let plan = Plan::new(&loaded.policy, &Registry::default(), choices).unwrap();
    let mut problem = plan.problem(&loaded.table).unwrap();
    let solved = plan.solve(&mut problem, &Unwatched).ok()?;
    let written = plan.to_batches(&loaded.table, &problem, &solved, &Unwatched).unwrap();
    let measures = plan.audit(&problem, &solved, &written, &Unwatched).unwrap().measures;
    let solution = solved.solution;
    assert!(solution.suppressed.len() <= problem.suppressible, "{:?}", solution.suppressed);
    assert_eq!(measures.suppressed, solution.suppressed.len() as u64);
    let mut seen = vec![0; problem.len()];
    solution.partition.records().iter().chain(&solution.suppressed).for_each(|at| seen[*at as usize] += 1);
    assert!(seen.iter().all(|times| *times == 1), "{seen:?}");
    let gcp = throng::plan::target::gcp(&problem, &solution);
    assert!((gcp - measures.gcp).abs() < 1e-9, "{gcp} and {}", measures.gcp);
    if let Some(bound) = &measures.lower_bound {
        assert!(bound.gcp <= gcp + 1e-9, "at least {} is lost, they say, and {gcp} is", bound.gcp);
    }
    Some((gcp, solution.suppressed.len(), solution))
}

type Point = (i32, i32);
type Axis = fn(&Point) -> i32;
type Cost<'a> = &'a dyn Fn(&[Point]) -> f64;

/// The least loss of a few points of two numbers, in classes of at least k and with at most so many left out: each point joins
/// a class, opens one, or goes.
fn least(points: &[(i32, i32)], k: usize, may_go: usize) -> f64 {
    fn extent(points: &[(i32, i32)], axis: Axis) -> f64 {
        let numbers = || points.iter().map(axis);
        f64::from(numbers().max().unwrap_or(0) - numbers().min().unwrap_or(0))
    }
    fn search(
        points: &[(i32, i32)],
        k: usize,
        may_go: usize,
        classes: &mut Vec<Vec<Point>>,
        gone: usize,
        next: usize,
        cost: Cost<'_>,
    ) -> f64 {
        if next == points.len() {
            let valid = classes.iter().all(|class| class.len() >= k) && !classes.is_empty();
            let lost: f64 = classes.iter().map(|class| cost(class)).sum();
            return if valid { lost + 2.0 * gone as f64 } else { f64::INFINITY };
        }
        let mut best = f64::INFINITY;
        for at in 0..classes.len() {
            classes[at].push(points[next]);
            best = best.min(search(points, k, may_go, classes, gone, next + 1, cost));
            classes[at].pop();
        }
        classes.push(vec![points[next]]);
        best = best.min(search(points, k, may_go, classes, gone, next + 1, cost));
        classes.pop();
        if gone < may_go {
            best = best.min(search(points, k, may_go, classes, gone + 1, next + 1, cost));
        }
        best
    }
    let axes: [Axis; 2] = [|point| point.0, |point| point.1];
    let cost = |class: &[(i32, i32)]| {
        let shares = axes.map(|axis| {
            let whole = extent(points, axis);
            if whole > 0.0 { extent(class, axis) / whole } else { 0.0 }
        });
        class.len() as f64 * (shares[0] + shares[1])
    };
    search(points, k, may_go, &mut Vec::new(), 0, 0, &cost) / (2.0 * points.len() as f64)
}

fn policy_of_points(points: &[(i32, i32)], k: usize, may_go: usize, method: &str) -> (String, String) {
    let lines: String = points.iter().map(|(x, y)| format!("{x},{y}\n")).collect();
    let share = may_go as f64 / points.len() as f64;
    let policy = format!(
        "[privacy]\nk = {k}\nsuppress = {share}\n[method]\nname = \"{method}\"\nseed = 1\n\
         [attribute.x]\nrole = \"quasi\"\nkind = \"numeric\"\n[attribute.y]\nrole = \"quasi\"\nkind = \"numeric\"\n"
    );
    (format!("x,y\n{lines}"), policy)
}

/// Loss and proved lower bound.
fn found_and_proved(points: &[(i32, i32)], k: usize, may_go: usize, method: &str) -> (f64, f64) {
    let (csv, policy) = policy_of_points(points, k, may_go, method);
    let loaded = loaded(csv, &policy);
    let plan = Plan::new(&loaded.policy, &Registry::default(), Choices::default()).unwrap();
    let mut problem = plan.problem(&loaded.table).unwrap();
    let solved = plan.solve(&mut problem, &Unwatched).unwrap();
    let written = plan.to_batches(&loaded.table, &problem, &solved, &Unwatched).unwrap();
    let measures = plan.audit(&problem, &solved, &written, &Unwatched).unwrap().measures;
    (measures.gcp, measures.lower_bound.map_or(0.0, |bound| bound.gcp))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Whoever may leave records out loses no more than who may not.
    #[test]
    fn an_allowance_never_costs(case in cases(70), share in 0.02f64..0.3) {
        let requirements =
            ["k = 2", "k = 5", "k = 3\nl = 2", "k = 2\nt = 0.5", "k = 3\nl = 2\ndiversity = \"entropy\""];
        for privacy in requirements {
            for (method, more) in [("peel", ""), ("auto", ""), ("mondrian", "improve = true\n")] {
                let all = loss_of(&case, privacy, method, more);
                let some = loss_of(&case, &format!("{privacy}\nsuppress = {share}"), method, more);
                if let Some((before, ..)) = all {
                    let (after, left_out, _) = some.expect("what can be done with all records can be done");
                    prop_assert!(after <= before + 1e-9, "{method}: {before} with all, {after} without {left_out}");
                }
            }
        }
    }

    /// On a tiny table `auto` finds the best of all ways to group and to leave out, and the bound is not above it.
    #[test]
    fn nothing_loses_less_than_auto_on_a_tiny_table_with_an_allowance(
        points in prop::collection::vec((0i32..30, 0i32..30), 3..8), k in 2usize..4, may_go in 0usize..4
    ) {
        let may_go = may_go.min(points.len() - 1);
        prop_assume!(points.len() >= k);
        let least = least(&points, k, may_go);
        let (found, bound) = found_and_proved(&points, k, may_go, "auto");
        prop_assert!((found - least).abs() < 1e-9, "{found} and {least}");
        prop_assert!(bound <= least + 1e-9, "{bound} is above {least}");
        let (peeled, bound) = found_and_proved(&points, k, may_go, "peel");
        prop_assert!(peeled >= least - 1e-9 && bound <= least + 1e-9, "{peeled}, {bound} and {least}");
    }
}

/// One far record makes those near it pay: without it they need not. It is left out, and nobody else.
#[test]
fn an_outlier_is_left_out_where_that_saves_more_than_it_costs() {
    for method in ["peel", "auto", "mondrian\"\nimprove = true\n#\""] {
        // Groups of exactly k, so that whoever goes leaves too few behind.
        let mut points: Vec<(i32, i32)> = (0..59).map(|at| (at % 6, at / 6 % 10)).collect();
        points.push((1000, 1000));
        let (kept, _) = found_and_proved(&points, 5, 0, method);
        let (without, bound) = found_and_proved(&points, 5, 1, method);
        assert!(without < kept - 0.02, "{method}: {kept} and {without}");
        assert!(bound <= without, "{method}: {bound} and {without}");
        let (csv, policy) = policy_of_points(&points, 5, 1, method);
        let loaded = loaded(csv, &policy);
        let plan = Plan::new(&loaded.policy, &Registry::default(), Choices::default()).unwrap();
        let solution = plan.solve(&mut plan.problem(&loaded.table).unwrap(), &Unwatched).unwrap().solution;
        assert_eq!(solution.suppressed, [59], "{method}");
    }
}

/// People go whole, and only where that saves.
#[test]
fn people_are_left_out_whole() {
    let mut text = "who,x,y\n".to_owned();
    for at in 0..120 {
        let (x, y) = if at / 2 == 7 { (900, 900) } else { (at / 2 % 8, at / 16) };
        text += &format!("p{},{x},{y}\n", at / 2);
    }
    for method in ["peel", "auto"] {
        let policy = format!(
            "[privacy]\nk = 3\nsuppress = 0.05\n[method]\nname = \"{method}\"\nseed = 1\n[attribute.who]\nrole = \"person\"\n\
             [attribute.x]\nrole = \"quasi\"\nkind = \"numeric\"\n[attribute.y]\nrole = \"quasi\"\nkind = \"numeric\"\n"
        );
        let gcp = |policy: &str| {
            let loaded = loaded(text.clone(), policy);
            let plan = Plan::new(&loaded.policy, &Registry::default(), Choices::default()).unwrap();
            let mut problem = plan.problem(&loaded.table).unwrap();
            let solved = plan.solve(&mut problem, &Unwatched).unwrap();
            let written = plan.to_batches(&loaded.table, &problem, &solved, &Unwatched).unwrap();
            let measures = plan.audit(&problem, &solved, &written, &Unwatched).unwrap().measures;
            assert!(measures.violations.is_empty(), "{:?}", measures.violations);
            let mut gone: Vec<u32> = solved.solution.suppressed.iter().map(|record| record / 2).collect();
            assert_eq!(gone.len() % 2, 0);
            gone.dedup();
            assert_eq!(2 * gone.len(), solved.solution.suppressed.len(), "{method}");
            measures.gcp
        };
        let (some, all) = (gcp(&policy), gcp(&policy.replace("suppress = 0.05\n", "")));
        assert!(some <= all, "{method}: {all} and {some}");
    }
}
