//! Top-down refinement against the golden vectors and against a plain implementation that looks at the whole table for
//! every candidate.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use serde_json::Value;
use throng::format::CSV;
use throng::method::Fact;
use throng::method::Method;
use throng::method::refine::{
    Anonymity, Children, End, First, Goal, Limits, Outcome, Qid, Refine, Shape, Step, Why, entropy,
    information_gain, quasi_identifiers,
};
use throng::policy::Policy;
use throng::privacy::Tally;
use throng::problem::Problem;
use throng::run;
use throng::table::{NodeId, Scale, Table};
use throng::watch::{Unwatched, Watch};

fn problem(csv: &str, policy: &str) -> (Table, Policy, Problem) {
    let policy = Policy::parse(policy, None).unwrap();
    let table = {
        let plan = throng::bind::plan(&policy);
        Table::read_from(&CSV, csv.as_bytes(), &policy.reading(&plan, &Unwatched)).unwrap()
    };
    let problem = Problem::new(&table, &policy).unwrap();
    (table, policy, problem)
}

/// The paper's search: each quasi-identifier by itself, anonymity in records, values into all their children.
fn literal(goal: Goal) -> Refine {
    let (first, anonymity) = (Some(First::Each), Some(Anonymity::Records));
    Refine { goal: Some(goal), first, anonymity, children: Children::All, ..Refine::default() }
}

fn search(problem: &Problem, goal: Goal) -> Outcome {
    literal(goal).search(problem, &Unwatched).unwrap()
}

/// The golden vectors.
mod golden {
    use super::*;

    const TAXONOMIES: &str = "[attribute.education]\nrole = \"quasi\"\nhierarchy = { Secondary = { \"Junior Sec.\" = \
        [\"9th\", \"10th\"], \"Senior Sec.\" = [\"11th\", \"12th\"] }, University = { Bachelors = [\"Bachelors\"], \
        \"Grad School\" = [\"Masters\", \"Doctorate\"] } }\n[attribute.sex]\nrole = \"quasi\"\n\
        hierarchy = { ANY_Sex = [\"M\", \"F\"] }\n[attribute.class]\nrole = \"class\"\n";

    fn vectors() -> Value {
        serde_json::from_str(include_str!("vectors/tdr.json")).unwrap()
    }

    /// One record per unit of a class count.
    fn csv(example: &Value) -> String {
        let mut text = "education,sex,work_hrs,class\n".to_owned();
        for row in example["rows"].as_array().unwrap() {
            let cells = [&row[0], &row[1], &row[2]].map(|cell| cell.to_string().replace('"', ""));
            for (class, column) in [("Y", 3), ("N", 4)] {
                for _ in 0..row[column].as_u64().unwrap() {
                    writeln!(text, "{},{class}", cells.join(",")).unwrap();
                }
            }
        }
        text
    }

    fn near(found: f64, expected: &Value) {
        let expected = expected.as_f64().unwrap();
        assert!((found - expected).abs() < 5e-5 + 1e-9, "{found} instead of {expected}");
    }

    fn first<'a>(steps: &'a [Step], attribute: &str) -> &'a Step {
        steps.iter().find(|step| step.attribute == attribute).expect("a candidate")
    }

    fn start(problem: &Problem) -> Outcome {
        let limits = Limits { iterations: 0, ..Limits::default() };
        Refine { limits, ..literal(Goal::Score) }.search(problem, &Unwatched).unwrap()
    }

    #[test]
    fn the_running_example_has_its_entropies_gains_and_losses() {
        let example = &vectors()["running_example"];
        let policy = format!("[privacy]\nk = 4\n{TAXONOMIES}");
        let (.., problem) = problem(&csv(example), &policy);
        assert_eq!(problem.len() as u64, example["records"].as_u64().unwrap());
        near(entropy(&[21, 13]), &example["entropy"]["ANY_Edu"]);
        near(entropy(&[5, 11]), &example["entropy"]["Secondary"]);
        near(entropy(&[16, 2]), &example["entropy"]["University"]);
        let parts: [&[u64]; 2] = [&[5, 11], &[16, 2]];
        near(information_gain(&[21, 13], parts.into_iter()), &example["info_gain_ANY_Edu"]);
        let open = start(&problem).open;
        let education = first(&open, "education");
        assert_eq!(education.into, ["Secondary", "University"]);
        near(education.gain, &example["info_gain_ANY_Edu"]);
        near(education.loss, &example["anony_loss_ANY_Edu_in_qid1"]);
        near(education.score, &example["score_ANY_Edu"]);
    }

    #[test]
    fn one_quasi_identifier_is_refined_to_the_lowest_cut() {
        let example = &vectors()["running_example"];
        let policy = format!("[privacy]\nk = 4\n{TAXONOMIES}");
        let (.., problem) = problem(&csv(example), &policy);
        // What violates the requirement unmasked is what the example lists.
        let mut counts: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for record in 0..problem.len() {
            *counts.entry((problem.records.code(record, 0), problem.records.code(record, 1))).or_default() +=
                1;
        }
        let rare: BTreeSet<String> = counts
            .iter()
            .filter(|(_, count)| **count < 4)
            .map(|((education, sex), _)| {
                let label = |at: usize, code: u32| problem.attributes[at].domain.label(code).to_owned();
                format!("[\"{}\",\"{}\"]", label(0, *education), label(1, *sex))
            })
            .collect();
        let listed = example["single_qid"]["violated_by"].as_array().unwrap();
        assert_eq!(rare, listed.iter().map(Value::to_string).collect());
        let outcome = search(&problem, Goal::Score);
        assert_eq!(outcome.end, End::Finished);
        assert!(*outcome.trace.last().unwrap().anonymity.first().unwrap() >= 4);
    }

    #[test]
    fn two_quasi_identifiers_are_kept_safe_each_by_itself() {
        let example = &vectors()["running_example"];
        let policy = format!(
            "[[privacy.quasi_identifiers]]\nattributes = [\"education\", \"sex\"]\nk = 4\n\
             [[privacy.quasi_identifiers]]\nattributes = [\"sex\", \"work_hrs\"]\nk = 11\n{TAXONOMIES}\
             [attribute.work_hrs]\nrole = \"quasi\"\n"
        );
        let (_, policy, problem) = problem(&csv(example), &policy);
        let expected = example["two_qids"].as_array().unwrap();
        let (qids, follow) = quasi_identifiers(&problem);
        assert!(follow.is_empty());
        for (qid, expected) in qids.iter().zip(expected) {
            assert_eq!(u64::from(qid.k), expected["k"].as_u64().unwrap());
            assert_eq!(serde_json::json!(qid.names(&problem)), expected["attributes"]);
        }
        let open = start(&problem).open;
        let hours = first(&open, "work_hrs");
        let split = example["best_split_of_full_interval_at"].as_u64().unwrap();
        assert_eq!(hours.into, [format!("[30-{split})"), format!("[{split}-44]")]);
        let after = &example["after_split_37"];
        assert_eq!(serde_json::json!(hours.anonymity), serde_json::json!([after["A_QID1"], after["A_QID2"]]));
        let outcome = search(&problem, Goal::Score);
        // Both refinements of the example are made, in whatever order the scores ask for, and their anonymity is that of
        // the example.
        let then = &example["then_ANY_Edu"];
        let steps: Vec<&Step> = outcome.trace.iter().take(2).collect();
        assert_eq!(steps.iter().map(|step| step.attribute.as_str()).collect::<BTreeSet<_>>().len(), 2);
        assert_eq!(
            serde_json::json!(steps[1].anonymity),
            serde_json::json!([then["A_QID1"], then["A_QID2"]]),
            "{:#?}",
            outcome.trace
        );
        let solution = Refine::default().solve(&problem, &Unwatched).unwrap();
        let Fact::Refinement(facts) = &solution.facts[0] else { panic!("{:?}", solution.facts) };
        assert!(facts.follow.is_empty() && facts.end == End::Finished);
        drop(policy);
    }

    #[test]
    fn score_and_information_gain_choose_as_in_example_5() {
        let example = &vectors()["score_versus_info_gain"];
        let policy = "[privacy]\nk = 4\n[attribute.education]\nrole = \"quasi\"\nhierarchy = { ANY_Edu = [\"8th\", \
            \"9th\", \"10th\"] }\n[attribute.sex]\nrole = \"quasi\"\nhierarchy = { ANY_Sex = [\"M\", \"F\"] }\n\
            [attribute.work_hrs]\nrole = \"quasi\"\n[attribute.class]\nrole = \"class\"\n";
        let (.., problem) = problem(&csv(example), policy);
        let open = start(&problem).open;
        let named = [("education", "ANY_Edu"), ("sex", "ANY_Sex"), ("work_hrs", "[1-99) split at 40")];
        for (attribute, name) in named {
            let (step, expected) = (first(&open, attribute), &example["candidates"][name]);
            near(step.gain, &expected["info_gain"]);
            near(step.loss, &expected["anony_loss"]);
            near(step.score, &expected["score"]);
        }
        let by_gain = search(&problem, Goal::Gain);
        assert_eq!(by_gain.trace.len(), 1);
        assert_eq!(by_gain.trace[0].attribute, "education");
        assert_eq!(
            u64::from(by_gain.trace[0].anonymity[0]),
            example["by_info_gain"]["A_QID"].as_u64().unwrap()
        );
        let by_score = search(&problem, Goal::Score);
        let order: Vec<&str> = by_score.trace.iter().map(|step| step.attribute.as_str()).collect();
        assert_eq!(order, ["sex", "work_hrs"]);
        assert_eq!(by_score.trace[1].into, ["30", "40"]);
        let expected = &example["by_score"];
        assert_eq!(u64::from(by_score.trace[0].anonymity[0]), expected["A_QID"].as_u64().unwrap());
        assert_eq!(u64::from(by_score.trace[1].anonymity[0]), expected["final_A_QID"].as_u64().unwrap());
        assert_eq!(by_score.masks[0].published(), [(0, 2)], "education stays masked");
    }
}

/// A plain implementation: every question is answered by looking at all records.
mod plain {
    use super::*;

    /// What an attribute's codes are masked to.
    #[derive(Clone, Debug, PartialEq)]
    pub enum Mask {
        Cut(Vec<NodeId>),
        Hidden(BTreeSet<u32>),
        Intervals(Vec<(u32, u32)>),
    }

    pub type State = Vec<Mask>;

    /// A way to refine.
    pub struct Way {
        low: u32,
        /// The codes masked alike.
        whole: BTreeSet<u32>,
        /// The sets they would fall into.
        parts: Vec<BTreeSet<u32>>,
        /// The mask that does it.
        after: Mask,
        /// The codes of the cell that tells the second part, where it is wider than the part.
        rest: Option<BTreeSet<u32>>,
        /// Whether it is only for when the one before, of all children, is not valid.
        otherwise: bool,
    }

    fn way(low: u32, whole: BTreeSet<u32>, parts: Vec<BTreeSet<u32>>, after: Mask) -> Way {
        Way { low, whole, parts, after, rest: None, otherwise: false }
    }

    /// One possible refinement.
    #[derive(Debug)]
    pub struct Refinement {
        pub attribute: usize,
        pub low: u32,
        /// The sets that the codes fall into.
        pub parts: Vec<BTreeSet<u32>>,
        /// The codes of the cell that tells the second part, where it is wider than the part.
        pub rest: Option<BTreeSet<u32>>,
        pub after: Mask,
        pub gain: f64,
        pub loss: f64,
        /// Anonymity lost as a share of what there is, with one record more.
        pub share: f64,
        pub anonymity: Vec<u32>,
        /// Whether what is published changes.
        pub seen: bool,
    }

    pub struct Plain<'a> {
        pub problem: &'a Problem,
        pub goal: Goal,
        pub qids: Vec<Qid>,
        pub anonymity: Anonymity,
        pub children: Children,
    }

    /// Whether a node is another or below it.
    fn is_below(tree: &throng::table::Taxonomy, node: NodeId, other: NodeId) -> bool {
        std::iter::successors(Some(node), |node| tree.parent(*node)).any(|own| own == other)
    }

    impl Plain<'_> {
        pub fn start(&self) -> State {
            (0..self.problem.attributes.len())
                .map(|at| {
                    let last = self.problem.attributes[at].domain.len() as u32 - 1;
                    match Shape::of(&self.problem.attributes[at]) {
                        Shape::Taxonomy => Mask::Cut(vec![NodeId(0)]),
                        Shape::Suppression => Mask::Hidden((0..=last).collect()),
                        Shape::Intervals => Mask::Intervals(vec![(0, last)]),
                    }
                })
                .collect()
        }

        fn tree(&self, attribute: usize) -> &throng::table::Taxonomy {
            match self.problem.attributes[attribute].domain.scale() {
                Scale::Categorical(tree) => tree,
                Scale::Numeric { .. } => unreachable!("only categories have trees"),
            }
        }

        /// Equal for codes that are masked alike.
        fn masked(&self, attribute: usize, mask: &Mask, code: u32) -> u32 {
            match mask {
                Mask::Cut(nodes) => {
                    let holds =
                        |node: &&NodeId| self.tree(attribute).leaves_under(**node).contains(&(code as usize));
                    // Of nodes within one another the narrowest; of the others only one holds a code.
                    let width = |node: &&NodeId| self.tree(attribute).leaves_under(**node).len();
                    nodes.iter().filter(holds).rev().min_by_key(width).unwrap().0
                }
                Mask::Hidden(hidden) if hidden.contains(&code) => u32::MAX,
                Mask::Hidden(_) => code,
                Mask::Intervals(all) => {
                    all.iter().find(|(low, high)| (*low..=*high).contains(&code)).unwrap().0
                }
            }
        }

        fn code(&self, record: usize, attribute: usize) -> u32 {
            self.problem.records.code(record, attribute)
        }

        /// The records with equal masked values on some attributes.
        pub fn classes(&self, state: &State, attributes: &[usize]) -> Vec<Vec<u32>> {
            let mut classes: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
            for record in 0..self.problem.len() {
                let key = attributes
                    .iter()
                    .map(|at| self.masked(*at, &state[*at], self.code(record, *at)))
                    .collect();
                classes.entry(key).or_default().push(record as u32);
            }
            classes.into_values().collect()
        }

        fn anonymity(&self, state: &State) -> Vec<u32> {
            let least =
                |qid: &Qid| self.classes(state, &qid.attributes).iter().map(Vec::len).min().unwrap() as u32;
            self.qids.iter().map(least).collect()
        }

        pub fn valid(&self, state: &State) -> bool {
            let safe = self.anonymity(state).iter().zip(&self.qids).all(|(found, qid)| *found >= qid.k);
            let all: Vec<usize> = (0..self.problem.attributes.len()).collect();
            safe && self.classes(state, &all).iter().all(|class| {
                let mut tally = Tally::for_problem(self.problem);
                class.iter().for_each(|record| tally.add_record(&self.problem.sensitive, *record));
                self.problem.requirement.holds_beyond_size(&tally)
            })
        }

        /// Class counts of the records with some codes.
        fn counts(&self, attribute: usize, codes: &BTreeSet<u32>) -> BTreeMap<u32, u64> {
            let mut counts = BTreeMap::new();
            for record in
                (0..self.problem.len()).filter(|record| codes.contains(&self.code(*record, attribute)))
            {
                let class = match self.goal {
                    Goal::Loss => 0,
                    _ => self.problem.labels[0].codes[record],
                };
                *counts.entry(class).or_default() += 1;
            }
            counts
        }

        /// `rest` are the codes of the cell that tells the second part, where it is wider than the part.
        fn gain(
            &self,
            attribute: usize,
            whole: &BTreeSet<u32>,
            parts: &[BTreeSet<u32>],
            rest: Option<&BTreeSet<u32>>,
        ) -> f64 {
            let impurity = |codes: &BTreeSet<u32>| {
                let counts = self.counts(attribute, codes);
                let all: u64 = counts.values().sum();
                let share = |count: &u64| *count as f64 / all as f64;
                (all as f64, counts.values().map(|count| -share(count) * share(count).log2()).sum::<f64>())
            };
            if self.goal != Goal::Loss {
                let (all, before) = impurity(whole);
                let after: f64 = parts.iter().map(impurity).map(|(own, bits)| own / all * bits).sum();
                return if before - after < 1e-12 { 0.0 } else { before - after };
            }
            let kernel = throng::loss::Kernel::new(&self.problem.attributes);
            let loss = |codes: &BTreeSet<u32>, cell: &BTreeSet<u32>| {
                let records: u64 = self.counts(attribute, codes).values().sum();
                let (low, high) = (*cell.first().unwrap_or(&0) as usize, *cell.last().unwrap_or(&0) as usize);
                records as f64 * kernel.penalty(attribute, low, high)
            };
            let cell = |at: usize| rest.filter(|_| at == 1).unwrap_or(&parts[at]);
            let after: f64 = parts.iter().enumerate().map(|(at, part)| loss(part, cell(at))).sum();
            loss(whole, rest.unwrap_or(whole)) - after
        }

        fn occurs(&self, attribute: usize, codes: &BTreeSet<u32>) -> bool {
            (0..self.problem.len()).any(|record| codes.contains(&self.code(record, attribute)))
        }

        /// All refinements of an attribute, valid or not.
        fn refinements(&self, attribute: usize, mask: &Mask) -> Vec<Way> {
            let range = |low: u32, high: u32| (low..=high).collect::<BTreeSet<u32>>();
            match mask {
                Mask::Cut(nodes) => {
                    let tree = self.tree(attribute);
                    let under = |node: NodeId| {
                        tree.leaves_under(node).map(|leaf| leaf as u32).collect::<BTreeSet<u32>>()
                    };
                    let children_of =
                        |node: NodeId| tree.nodes().filter(move |child| tree.parent(*child) == Some(node));
                    let mut ways = Vec::new();
                    for node in nodes {
                        // Nodes in the cut below it are told by themselves.
                        let children: Vec<NodeId> = children_of(*node)
                            .filter(|child| !nodes.iter().any(|own| is_below(tree, *own, *child)))
                            .collect();
                        let occur: Vec<NodeId> = children
                            .iter()
                            .copied()
                            .filter(|child| self.occurs(attribute, &under(*child)))
                            .collect();
                        if occur.is_empty() {
                            continue;
                        }
                        let told = nodes.iter().filter(|own| *own != node && is_below(tree, **own, *node));
                        let told: BTreeSet<u32> = told.flat_map(|own| under(*own)).collect();
                        let whole: BTreeSet<u32> = under(*node).difference(&told).copied().collect();
                        let others = || nodes.iter().copied().filter(|own| own != node);
                        let parts = occur.iter().map(|child| under(*child)).collect();
                        let low = *under(*node).first().unwrap();
                        let after = Mask::Cut(others().chain(children).collect());
                        ways.push(way(low, whole.clone(), parts, after));
                        for child in occur.iter().filter(|_| self.children == Children::Some) {
                            let own = under(*child);
                            let rest = whole.difference(&own).copied().collect();
                            let after = Mask::Cut(nodes.iter().copied().chain([*child]).collect());
                            ways.push(Way {
                                rest: Some(under(*node)),
                                otherwise: true,
                                ..way(*own.first().unwrap(), whole.clone(), vec![own, rest], after)
                            });
                        }
                    }
                    ways
                }
                Mask::Hidden(hidden) => {
                    let disclose = |code: &u32| {
                        let own = BTreeSet::from([*code]);
                        let rest: BTreeSet<u32> = hidden.difference(&own).copied().collect();
                        let parts = vec![own, rest.clone()];
                        let last = self.problem.attributes[attribute].domain.len() as u32 - 1;
                        Way {
                            rest: Some(range(0, last)),
                            ..way(*code, hidden.clone(), parts, Mask::Hidden(rest))
                        }
                    };
                    let there = |code: &&u32| self.occurs(attribute, &BTreeSet::from([**code]));
                    hidden.iter().filter(there).map(disclose).collect()
                }
                Mask::Intervals(all) => {
                    let missing = self.problem.attributes[attribute].domain.missing();
                    let split = |&(low, high): &(u32, u32)| {
                        let part = |at: u32| vec![range(low, at - 1), range(at, high)];
                        let both = |at: &u32| part(*at).iter().all(|codes| self.occurs(attribute, codes));
                        let own = |code: &u32| self.occurs(attribute, &BTreeSet::from([*code]));
                        let mut points: Vec<u32> = (low + 1..=high).filter(both).filter(own).collect();
                        if missing == Some(high) && low < high {
                            points.retain(|at| *at == high);
                        }
                        let gains: Vec<f64> = points
                            .iter()
                            .map(|at| self.gain(attribute, &range(low, high), &part(*at), None))
                            .collect();
                        let most = gains.iter().copied().reduce(f64::max)?;
                        let best =
                            gains.iter().position(|gain| *gain >= most - 1e-12 * most.abs().max(1.0))?;
                        let mut after: Vec<(u32, u32)> =
                            all.iter().copied().filter(|own| own.0 != low).collect();
                        after.extend([(low, points[best] - 1), (points[best], high)]);
                        Some(way(low, range(low, high), part(points[best]), Mask::Intervals(after)))
                    };
                    all.iter().filter_map(split).collect()
                }
            }
        }

        /// The refinements that are valid and beneficial.
        pub fn candidates(&self, state: &State) -> Vec<Refinement> {
            let before = self.anonymity(state);
            let mut found = Vec::new();
            for (attribute, mask) in state.iter().enumerate() {
                let mut valid_as_a_whole = false;
                for Way { low, whole, parts, after, rest, otherwise } in self.refinements(attribute, mask) {
                    let beneficial = self.goal == Goal::Loss || self.counts(attribute, &whole).len() > 1;
                    let mut next = state.clone();
                    next[attribute] = after.clone();
                    let valid = self.valid(&next);
                    if !otherwise {
                        valid_as_a_whole = valid;
                    }
                    if !beneficial || !valid || (otherwise && valid_as_a_whole) {
                        continue;
                    }
                    let anonymity = self.anonymity(&next);
                    let own: Vec<usize> = (0..self.qids.len())
                        .filter(|at| self.qids[*at].attributes.contains(&attribute))
                        .collect();
                    let lost: u32 = own.iter().map(|at| before[*at] - anonymity[*at]).sum();
                    let loss = f64::from(lost) / own.len() as f64;
                    let share = own
                        .iter()
                        .map(|at| f64::from(before[*at] - anonymity[*at] + 1) / f64::from(before[*at]))
                        .sum::<f64>()
                        / own.len() as f64;
                    let gain = self.gain(attribute, &whole, &parts, rest.as_ref());
                    let seen = parts.len() != 1 || parts[0] != whole;
                    found.push(Refinement {
                        attribute,
                        low,
                        parts,
                        rest,
                        after,
                        gain,
                        loss,
                        share,
                        anonymity,
                        seen,
                    });
                }
            }
            found
        }

        pub fn run(&self) -> (Vec<Refinement>, State) {
            self.run_from(self.start())
        }

        pub fn run_from(&self, mut state: State) -> (Vec<Refinement>, State) {
            let mut trace = Vec::new();
            loop {
                let candidates = self.candidates(&state);
                let rank = |own: &Refinement| match self.goal {
                    Goal::Gain => own.gain,
                    _ if self.anonymity == Anonymity::Share => own.gain / own.share,
                    _ => own.gain / (own.loss + 1.0),
                };
                let Some(most) = candidates.iter().map(rank).reduce(f64::max) else { return (trace, state) };
                let close = |own: &Refinement| rank(own) >= most - 1e-10 * most.abs();
                let order = |own: &Refinement| (self.problem.attributes[own.attribute].place, own.low);
                let best = candidates.into_iter().filter(close).min_by_key(order).unwrap();
                state[best.attribute] = best.after.clone();
                trace.extend(best.seen.then_some(best));
            }
        }
    }
}

/// A random small table.
#[derive(Clone, Debug)]
struct Small {
    kinds: Vec<u8>,
    rows: Vec<Vec<u8>>,
    classes: Vec<u8>,
    qids: Vec<(u8, usize)>,
    k: Option<usize>,
    beyond: &'static str,
    goal: Goal,
    reversed: bool,
}

const BEYOND: &[&str] = &[
    "",
    "",
    "",
    "l = 2\n",
    "l = 1.5\ndiversity = \"entropy\"\n",
    "t = 0.4\n",
    "l = 2\ndiversity = \"recursive\"\nc = 2.0\n",
];

fn smalls(rows: usize) -> impl Strategy<Value = Small> {
    (1usize..5, 1..rows + 1).prop_flat_map(|(width, rows)| {
        (
            prop::collection::vec(0u8..6, width),
            prop::collection::vec(prop::collection::vec(0u8..30, width + 1), rows),
            prop::collection::vec(0u8..12, rows),
            prop::collection::vec((1u8..16, 1usize..5), 0..4),
            prop::option::of(1usize..6),
            prop::sample::select(BEYOND),
            prop::sample::select(vec![Goal::Score, Goal::Gain, Goal::Loss]),
            any::<bool>(),
        )
            .prop_map(|(kinds, rows, classes, qids, k, beyond, goal, reversed)| Small {
                kinds,
                rows,
                classes,
                qids,
                k,
                beyond,
                goal,
                reversed,
            })
    })
}

impl Small {
    fn csv(&self) -> String {
        let names: Vec<String> = (0..self.kinds.len()).map(|at| format!("q{at}")).collect();
        let mut text = format!("{},class,secret\n", names.join(","));
        for (codes, class) in self.rows.iter().zip(&self.classes) {
            let cells: Vec<String> =
                self.kinds.iter().zip(codes).map(|(kind, code)| cell(*kind, *code)).collect();
            // The class follows the first attribute now and then, so that there is something to gain.
            let class = if *class < 6 { codes[0] / 10 } else { class % 3 };
            writeln!(text, "{},c{class},s{}", cells.join(","), codes[self.kinds.len()] % 4).unwrap();
        }
        text
    }

    fn policy(&self) -> String {
        let mut text = format!("[data]\nmissing = [\"?\"]\n[privacy]\n{}", self.beyond);
        if let Some(k) = self.k {
            writeln!(text, "k = {k}").unwrap();
        }
        let mut any = self.k.is_some() || !self.beyond.is_empty();
        for (mask, k) in &self.qids {
            let names: Vec<String> = (0..self.kinds.len())
                .filter(|at| mask >> at & 1 == 1)
                .map(|at| format!("\"q{at}\""))
                .collect();
            if !names.is_empty() {
                any = true;
                write!(text, "[[privacy.quasi_identifiers]]\nattributes = [{}]\nk = {k}\n", names.join(", "))
                    .unwrap();
            }
        }
        if !any {
            text.push_str("k = 2\n");
        }
        text.push_str("[attribute.class]\nrole = \"class\"\n[attribute.secret]\nrole = \"sensitive\"\n");
        let mut attributes: Vec<(usize, &u8)> = self.kinds.iter().enumerate().collect();
        if self.reversed {
            attributes.reverse();
        }
        for (at, kind) in attributes {
            write!(text, "[attribute.q{at}]\nrole = \"quasi\"\nweight = {}\n", at + 1).unwrap();
            text.push_str(match kind {
                0 => "hierarchy = { A = { AA = [\"t0\", \"t1\"], AB = [\"t2\"] }, B = [\"t3\", \"t4\", \"t5\", \"t6\", \"t9\"] }\n",
                1 => "hierarchy = { Any = [\"u0\", \"u1\", \"u2\"] }\n",
                2 => "kind = \"categorical\"\n",
                _ => "kind = \"numeric\"\n",
            });
        }
        text
    }
}

fn cell(kind: u8, code: u8) -> String {
    match kind {
        0 => format!("t{}", code % 7),
        1 => format!("u{}", code % 3),
        2 => format!("v{}", code % 6),
        3 if code.is_multiple_of(7) => "?".to_owned(),
        3 | 4 => (i32::from(code % 9) - 3).to_string(),
        _ => format!("{}.5", code / 3),
    }
}

/// A step in the words of the plain implementation.
fn told(problem: &Problem, step: &plain::Refinement) -> Told {
    let bits = |value: f64| (value * 1e9).round() as u64;
    let attribute = &problem.attributes[step.attribute];
    let cell = |(at, codes): (usize, &BTreeSet<u32>)| {
        let cell = step.rest.as_ref().filter(|_| at == 1).unwrap_or(codes);
        attribute.domain.half_open_cell(*cell.first().unwrap(), *cell.last().unwrap())
    };
    let into = step.parts.iter().enumerate().map(cell).collect();
    (attribute.name.clone(), into, vec![bits(step.gain), bits(step.loss)], step.anonymity.clone())
}

/// The state that masks describe.
fn state_of(outcome: &Outcome, problem: &Problem) -> plain::State {
    outcome
        .masks
        .iter()
        .enumerate()
        .map(|(at, masks)| {
            let published = masks.published();
            let last = problem.attributes[at].domain.len() as u32 - 1;
            match (masks.shape, problem.attributes[at].domain.scale()) {
                (Shape::Suppression, _) => {
                    let shown: BTreeSet<u32> = published.iter().map(|(low, _)| *low).collect();
                    plain::Mask::Hidden((0..=last).filter(|code| !shown.contains(code)).collect())
                }
                (Shape::Taxonomy, Scale::Categorical(tree)) => plain::Mask::Cut(
                    published
                        .iter()
                        .map(|(low, high)| {
                            // Of nodes with the same leaves, the lowest: whatever can be refined below it matters.
                            tree.nodes()
                                .rfind(|node| tree.leaves_under(*node) == (*low as usize..*high as usize + 1))
                                .unwrap()
                        })
                        .collect(),
                ),
                _ => plain::Mask::Intervals(published),
            }
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2500, ..ProptestConfig::default() })]

    #[test]
    fn the_trace_is_that_of_the_plain_implementation(small in smalls(28)) {
        compare_with_plain(&small)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn the_trace_of_larger_tables_is_that_of_the_plain_implementation(small in smalls(300)) {
        compare_with_plain(&small)?;
    }
}

type Told = (String, Vec<String>, Vec<u64>, Vec<u32>);

/// A step of the search as [`told`] tells those of the plain implementation.
fn told_here(step: &Step) -> Told {
    let bits = |value: f64| (value * 1e9).round() as u64;
    let measured = vec![bits(step.gain), bits(step.loss)];
    (step.attribute.clone(), step.into.clone(), measured, step.anonymity.clone())
}

fn compare_with_plain(small: &Small) -> Result<(), TestCaseError> {
    let ways = [
        (Anonymity::Records, Children::All),
        (Anonymity::Share, Children::All),
        (Anonymity::Records, Children::Some),
    ];
    for (anonymity, children) in ways {
        let (_, _, problem) = problem(&small.csv(), &small.policy());
        let (qids, _) = quasi_identifiers(&problem);
        let plain = plain::Plain { problem: &problem, goal: small.goal, qids, anonymity, children };
        if !plain.valid(&plain.start()) {
            prop_assert!(problem.requirement.check_feasible(&problem).is_err());
            return Ok(());
        }
        let outcome = Refine { anonymity: Some(anonymity), children, ..literal(small.goal) };
        let outcome = outcome.search(&problem, &Unwatched).unwrap();
        let (trace, state) = plain.run();
        let own: Vec<_> = outcome.trace.iter().map(told_here).collect();
        let expected: Vec<_> = trace.iter().map(|step| told(&problem, step)).collect();
        prop_assert_eq!(own, expected);
        // The groups are the classes of the final state.
        let mut groups: Vec<Vec<u32>> = outcome
            .partition
            .groups()
            .map(|group| {
                let mut group = group.to_vec();
                group.sort_unstable();
                group
            })
            .collect();
        groups.sort();
        let all: Vec<usize> = (0..problem.attributes.len()).collect();
        let mut classes = plain.classes(&state, &all);
        classes.sort();
        prop_assert_eq!(groups, classes);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn nothing_valid_and_beneficial_is_left(small in smalls(150)) {
        let (_, _, problem) = problem(&small.csv(), &small.policy());
        let (qids, _) = quasi_identifiers(&problem);
        let plain = plain::Plain { problem: &problem, goal: small.goal, qids, anonymity: Anonymity::Records, children: Children::All };
        if !plain.valid(&plain.start()) {
            return Ok(());
        }
        let outcome = search(&problem, small.goal);
        let state = state_of(&outcome, &problem);
        prop_assert!(plain.valid(&state));
        prop_assert!(outcome.open.is_empty());
        let left = plain.candidates(&state);
        prop_assert!(left.is_empty(), "{left:?}");
    }

    #[test]
    fn begun_with_the_union_a_search_does_its_steps_and_goes_on_where_it_ends(small in smalls(100)) {
        let (_, _, problem) = problem(&small.csv(), &small.policy());
        let (qids, _) = quasi_identifiers(&problem);
        if qids.len() < 2 || problem.requirement.check_feasible(&problem).is_err() {
            return Ok(());
        }
        let all: Vec<usize> = (0..problem.attributes.len()).collect();
        let union = Qid { attributes: all, k: qids.iter().map(|qid| qid.k).max().unwrap() };
        let (led, state) = plain::Plain { problem: &problem, goal: small.goal, qids: vec![union], anonymity: Anonymity::Records, children: Children::All }.run();
        let each = plain::Plain { problem: &problem, goal: small.goal, qids, anonymity: Anonymity::Records, children: Children::All };
        prop_assert!(each.valid(&state), "what is safe for the union is safe for each");
        let (further, end) = each.run_from(state);
        let outcome = Refine { first: Some(First::Union), ..literal(small.goal) };
        let outcome = outcome.search(&problem, &Unwatched).unwrap();
        // Of the steps of the union, the anonymity of each quasi-identifier is told, not that of the union.
        let told_led = |step: &Step| {
            let (attribute, into, measured, _) = told_here(step);
            (attribute, into, measured)
        };
        let expected = led.iter().map(|step| told(&problem, step)).map(|(one, two, three, _)| (one, two, three));
        prop_assert!(outcome.trace.iter().map(told_led).take(led.len()).eq(expected));
        let rest: Vec<Told> = outcome.trace[led.len()..].iter().map(told_here).collect();
        prop_assert_eq!(rest, further.iter().map(|step| told(&problem, step)).collect::<Vec<_>>());
        prop_assert_eq!(outcome.end, End::Finished);
        prop_assert!(each.valid(&state_of(&outcome, &problem)) && outcome.open.is_empty());
        let mut groups: Vec<Vec<u32>> = outcome.partition.groups().map(<[u32]>::to_vec).collect();
        groups.iter_mut().for_each(|group| group.sort_unstable());
        groups.sort();
        let all: Vec<usize> = (0..problem.attributes.len()).collect();
        let mut classes = each.classes(&end, &all);
        classes.sort();
        prop_assert_eq!(groups, classes);
    }

    #[test]
    fn a_search_that_is_stopped_has_done_the_first_steps(small in smalls(60), after in 0usize..6) {
        let (_, _, problem) = problem(&small.csv(), &small.policy());
        if problem.requirement.check_feasible(&problem).is_err() {
            return Ok(());
        }
        let whole = search(&problem, small.goal);
        let limits = Limits { iterations: after as u64, ..Limits::default() };
        let limited = Refine { limits, ..literal(small.goal) };
        let limited = limited.search(&problem, &Unwatched).unwrap();
        let stopped = literal(small.goal)
            .search(&problem, &Impatient { left: AtomicUsize::new(after) })
            .unwrap();
        let expected = &whole.trace[..after.min(whole.trace.len())];
        prop_assert_eq!(&limited.trace[..], expected);
        prop_assert_eq!(&stopped.trace[..], expected);
        if after < whole.trace.len() {
            prop_assert_eq!(limited.end, End::Iterations);
            prop_assert_eq!(stopped.end, End::Stopped);
        }
        let (qids, _) = quasi_identifiers(&problem);
        let plain = plain::Plain { problem: &problem, goal: small.goal, qids, anonymity: Anonymity::Records, children: Children::All };
        prop_assert!(plain.valid(&state_of(&stopped, &problem)));
    }
}

/// Has enough after so many steps.
struct Impatient {
    left: AtomicUsize,
}

impl Watch for Impatient {
    fn take_stop(&self) -> bool {
        self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_err()
    }
}

/// A table in which nearly all records are equal, so that rows stand for many records each.
#[test]
fn many_equal_records_are_searched_as_few_rows() {
    let mut csv = "q0,q1,class\n".to_owned();
    for record in 0..3000 {
        writeln!(csv, "{},{},c{}", record % 7, record % 5, usize::from(record % 7 > 3)).unwrap();
    }
    let policy = "[privacy]\nk = 40\n[attribute.q0]\nrole = \"quasi\"\n[attribute.q1]\nrole = \"quasi\"\n\
        kind = \"categorical\"\n[attribute.class]\nrole = \"class\"\n";
    let (.., problem) = problem(&csv, policy);
    let (qids, _) = quasi_identifiers(&problem);
    let plain = plain::Plain {
        problem: &problem,
        goal: Goal::Score,
        qids,
        anonymity: Anonymity::Records,
        children: Children::All,
    };
    let outcome = search(&problem, Goal::Score);
    let (trace, _) = plain.run();
    assert_eq!(outcome.trace.len(), trace.len());
    for (own, expected) in outcome.trace.iter().zip(&trace) {
        assert_eq!(own.anonymity, expected.anonymity);
    }
    let mut records = outcome.partition.records().to_vec();
    records.sort_unstable();
    assert!(records.into_iter().eq(0..3000));
}

/// More combinations of values outside of any one quasi-identifier than 32 bits can number.
#[test]
fn classes_of_many_attributes_with_many_values_are_told_apart() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let rows: Vec<Vec<usize>> = (0..450)
        .map(|record: usize| {
            let moved = usize::from(record >= 300);
            let value = |at: usize| (record * (2 * at + 1) + moved * usize::from(at.is_multiple_of(5))) % 150;
            (0..names.len()).map(value).collect()
        })
        .collect();
    let mut csv = format!("{}\n", names.join(","));
    let mut expected: BTreeMap<&[usize], Vec<u32>> = BTreeMap::new();
    for (record, row) in (0..).zip(&rows) {
        writeln!(csv, "{}", row.iter().map(usize::to_string).collect::<Vec<_>>().join(",")).unwrap();
        expected.entry(row).or_default().push(record);
    }
    let qids: Vec<String> =
        names.iter().map(|name| format!("{{ attributes = [\"{name}\"], k = 1 }}")).collect();
    let mut policy = format!("[privacy]\nquasi_identifiers = [{}]\n", qids.join(", "));
    names.iter().for_each(|name| write!(policy, "[attribute.{name}]\nrole = \"quasi\"\n").unwrap());
    let (.., problem) = problem(&csv, &policy);
    let outcome = search(&problem, Goal::Loss);
    let mut groups: Vec<Vec<u32>> = outcome.partition.groups().map(<[u32]>::to_vec).collect();
    groups.iter_mut().for_each(|group| group.sort_unstable());
    for (at, group) in groups.iter().enumerate() {
        for (attribute, ends) in outcome.boxes.ends.iter().enumerate() {
            let code = problem.records.code(group[0] as usize, attribute);
            assert_eq!(ends[at], (code, code), "everything is disclosed where k is 1");
        }
    }
    groups.sort();
    let mut expected: Vec<Vec<u32>> = expected.into_values().collect();
    expected.sort();
    assert!(expected.len() > 150, "some records differ in few attributes");
    assert_eq!(groups, expected);
}

#[test]
fn a_quasi_identifier_that_follows_from_another_is_left_out_with_a_note() {
    let policy = "[privacy]\nquasi_identifiers = [{ attributes = [\"a\"], k = 2 }, { attributes = [\"a\", \"b\"], k = 2 }, \
        { attributes = [\"b\"], k = 3 }]\n[attribute.a]\nrole = \"quasi\"\n[attribute.b]\nrole = \"quasi\"\n";
    let (.., problem) = problem("a,b\n1,1\n1,1\n1,1\n", policy);
    let (qids, follow) = quasi_identifiers(&problem);
    assert_eq!(qids.len(), 2);
    let [(one, other)] = &follow[..] else { panic!("{follow:?}") };
    assert!(one.contains("(a) with k = 2") && other.contains("(a, b)"), "{one} {other}");
}

#[test]
fn a_goal_that_needs_a_class_says_so() {
    let policy =
        "[privacy]\nk = 2\n[method]\nname = \"refine\"\ngoal = \"gain\"\n[attribute.a]\nrole = \"quasi\"\n";
    let (_, policy, problem) = problem("a\n1\n1\n", policy);
    let error = run::solve(&problem, &policy, &Unwatched).unwrap_err();
    assert!(error.hint().unwrap().contains("role = \"class\""), "{error}");
}

/// What a search publishes, without what it says of others.
fn published(outcome: &Outcome) -> (&throng::method::Partition, &Vec<Step>) {
    (&outcome.partition, &outcome.trace)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn without_a_word_on_it_the_way_with_the_least_error_is_taken(small in smalls(120)) {
        let (_, _, problem) = problem(&small.csv(), &small.policy());
        if problem.requirement.check_feasible(&problem).is_err() {
            return Ok(());
        }
        let chosen = Refine { goal: Some(small.goal), ..Refine::default() }.search(&problem, &Unwatched).unwrap();
        let (qids, _) = quasi_identifiers(&problem);
        let open = qids.len() > 1 && small.goal == Goal::Score;
        prop_assert_eq!(chosen.tried.len(), if open { 3 } else { 0 });
        let least = chosen.tried.iter().map(|(_, error)| *error).fold(f64::INFINITY, f64::min);
        prop_assert!(chosen.tried.first().is_none_or(|(_, error)| *error == least));
        let way = chosen.tried.first().map(|(way, _)| *way);
        let again = Refine {
            first: Some(way.map_or(First::Each, |way| way.first)),
            anonymity: Some(way.map_or(Anonymity::Records, |way| way.anonymity)),
            children: Children::default(),
            ..literal(small.goal)
        };
        let again = again.search(&problem, &Unwatched).unwrap();
        prop_assert_eq!(published(&chosen), published(&again));
    }

    #[test]
    fn attributes_that_stay_masked_say_why(small in smalls(120)) {
        let (_, _, problem) = problem(&small.csv(), &small.policy());
        if problem.requirement.check_feasible(&problem).is_err() {
            return Ok(());
        }
        let outcome = search(&problem, small.goal);
        for (at, masks) in outcome.masks.iter().enumerate() {
            let masked = !masks.values[0].refined && problem.attributes[at].domain.len() > 1;
            let why = outcome.stayed.iter().find(|(own, _)| *own == at).map(|(_, why)| *why);
            prop_assert_eq!(masked, why.is_some());
            match why {
                Some(Why::TooFew { quasi_identifier, records }) => {
                    prop_assert!(records < outcome.qids[quasi_identifier].k);
                    prop_assert!(outcome.qids[quasi_identifier].contains(at));
                }
                Some(Why::Ended) => prop_assert!(false, "the search went on to its end"),
                _ => {}
            }
        }
    }
}

#[test]
fn of_several_quasi_identifiers_the_report_says_which_way_was_taken() {
    let mut csv = "a,b,c,class\n".to_owned();
    for at in 0..240u32 {
        let (a, b, c) = (at % 7, at / 7 % 5, at / 3 % 11);
        writeln!(csv, "{a},{b},{c},{}", if (a * 3 + b + c) % 4 < 2 { "yes" } else { "no" }).unwrap();
    }
    let quasi =
        |names: &str, k: u32| format!("[[privacy.quasi_identifiers]]\nattributes = [{names}]\nk = {k}\n");
    let mut text = quasi("\"a\", \"b\"", 12) + &quasi("\"b\", \"c\"", 9) + "[method]\nname = \"refine\"\n";
    for name in ["a", "b", "c"] {
        write!(text, "[attribute.{name}]\nrole = \"quasi\"\nkind = \"numeric\"\n").unwrap();
    }
    text += "[attribute.class]\nrole = \"class\"\n";
    let (_, policy, problem) = problem(&csv, &text);
    let solution = run::solve(&problem, &policy, &Unwatched).unwrap();
    let Some(Fact::Refinement(found)) = solution.facts.first() else { panic!("{:?}", solution.facts) };
    assert_eq!(found.tried.len(), 3);
    assert!(found.tried.iter().all(|(_, error)| (0.0..=1.0).contains(error)), "{:?}", found.tried);
}

/// Countries with so many people each, of two classes.
fn countries(counts: &[(&str, usize)]) -> String {
    let mut csv = "country,class\n".to_owned();
    for (country, count) in counts {
        for at in 0..*count {
            // The first half of the countries is mostly of one class.
            let yes = country.as_bytes()[0] < b'M';
            writeln!(csv, "{country},{}", if yes != (at % 5 == 0) { "yes" } else { "no" }).unwrap();
        }
    }
    csv
}

const COUNTRIES: &str = "[attribute.country]\nrole = \"quasi\"\nhierarchy = { Europe = [\"Germany\", \"Italy\", \
    \"Portugal\", \"Spain\", \"Wales\"], America = [\"Chile\", \"Peru\"] }\n[attribute.class]\nrole = \"class\"\n";

#[test]
fn a_group_is_told_in_part_where_some_of_its_children_are_too_few() {
    let csv = countries(&[
        ("Germany", 30),
        ("Italy", 25),
        ("Portugal", 3),
        ("Spain", 4),
        ("Wales", 2),
        ("Chile", 12),
        ("Peru", 5),
    ]);
    let (_, _, problem) = problem(&csv, &format!("[privacy]\nk = 8\n{COUNTRIES}"));
    let shown = |children: Children| {
        let outcome = Refine { children, ..Refine::default() }.search(&problem, &Unwatched).unwrap();
        let cell = |at: usize| {
            let (low, high) = outcome.boxes.ends[0][at];
            problem.attributes[0].domain.half_open_cell(low, high)
        };
        let sizes = outcome.partition.groups().map(<[u32]>::len).enumerate();
        let mut shown: Vec<(String, usize)> = sizes.map(|(at, size)| (cell(at), size)).collect();
        shown.sort();
        (shown, outcome)
    };
    let told = |all: &[(&str, usize)]| {
        all.iter().map(|(cell, size)| ((*cell).to_owned(), *size)).collect::<Vec<_>>()
    };
    assert_eq!(shown(Children::All).0, told(&[("America", 17), ("Europe", 64)]));
    // Chile alone would leave five people of Peru.
    let (found, outcome) = shown(Children::Some);
    assert_eq!(found, told(&[("America", 17), ("Europe", 9), ("Germany", 30), ("Italy", 25)]));
    let domain = &problem.attributes[0].domain;
    let (published, of_code) = outcome.masks[0].told(domain.len());
    for code in 0..domain.len() as u32 {
        let (low, high) = published[of_code[code as usize]];
        let expected = match domain.label(code) {
            own @ ("Germany" | "Italy") => own,
            "Chile" | "Peru" => "America",
            _ => "Europe",
        };
        assert_eq!(domain.half_open_cell(low, high), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// What is told in part is safe by the plain definition, and goes further than what the paper's form can still do.
    #[test]
    fn groups_told_in_part_are_safe_and_nothing_is_left_to_tell(small in smalls(150)) {
        let (_, _, problem) = problem(&small.csv(), &small.policy());
        let (qids, _) = quasi_identifiers(&problem);
        let children = Children::Some;
        let plain = plain::Plain { problem: &problem, goal: small.goal, qids, anonymity: Anonymity::Records, children };
        if !plain.valid(&plain.start()) {
            return Ok(());
        }
        let outcome = Refine { children, ..literal(small.goal) }.search(&problem, &Unwatched).unwrap();
        let state = state_of(&outcome, &problem);
        prop_assert!(plain.valid(&state));
        let left = plain.candidates(&state);
        prop_assert!(left.is_empty() && outcome.open.is_empty(), "{left:?}");
    }
}
