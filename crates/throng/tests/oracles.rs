//! Fast paths against plain ones, and exact answers on small inputs.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{cases, load};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use throng::curve::{Curve, index_of};
use throng::loss::{Kernel, group_ncp};
use throng::method::ordered::runs;
use throng::problem::Records;
use throng::run::solve;
use throng::table::Scale;
use throng::watch::Unwatched;
use throng::with_matrix;

/// NCP of a group on one attribute as the specification words it, from values and leaves.
fn plain_ncp(problem: &throng::problem::Problem, attribute: usize, group: &[u32]) -> f64 {
    let domain = &problem.attributes[attribute].domain;
    let codes: Vec<u32> =
        group.iter().map(|record| problem.records.code(*record as usize, attribute)).collect();
    if codes.iter().all(|code| *code == codes[0]) {
        return 0.0;
    }
    match domain.scale() {
        Scale::Numeric { values, .. } => {
            if codes.iter().any(|code| Some(*code) == domain.missing()) {
                return 1.0;
            }
            let own: Vec<f64> = codes.iter().map(|code| values[*code as usize]).collect();
            let width = |values: &[f64]| {
                values.iter().copied().fold(f64::MIN, f64::max)
                    - values.iter().copied().fold(f64::MAX, f64::min)
            };
            width(&own) / width(values)
        }
        Scale::Categorical(tree) => {
            // The lowest node that holds all of them, found by looking at every node.
            let holds = |node: &throng::table::NodeId| {
                codes.iter().all(|code| tree.leaves_under(*node).contains(&(*code as usize)))
            };
            let leaves = tree.nodes().filter(holds).map(|node| tree.leaves_under(node).len()).min().unwrap();
            leaves as f64 / tree.leaf_count() as f64
        }
    }
}

/// A table of one number per record.
fn of_numbers(values: &[u8]) -> common::Case {
    common::Case {
        kinds: vec![common::Kind::Intervals],
        weights: vec![1],
        rows: values.iter().map(|value| vec![*value]).collect(),
        sensitive: vec![0; values.len()],
        sensitive_kind: common::SensitiveKind::Flat,
        seed: 0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_kernel_is_the_definition(case in cases(30), picks in prop::collection::vec(any::<prop::sample::Index>(), 1..8)) {
        let loaded = load(&case, "k = 1", "mondrian");
        let problem = &loaded.problem;
        let group: Vec<u32> = picks.iter().map(|pick| pick.index(problem.len()) as u32).collect();
        let plain: f64 = (0..problem.attributes.len())
            .map(|at| problem.attributes[at].weight * plain_ncp(problem, at, &group))
            .sum();
        let kernel = Kernel::new(&problem.attributes);
        prop_assert!((group_ncp(problem, &kernel, &group) - plain).abs() < 1e-9);
    }

    #[test]
    fn the_kernel_is_the_same_in_every_width(case in cases(30)) {
        let loaded = load(&case, "k = 1", "mondrian");
        let kernel = Kernel::new(&loaded.problem.attributes);
        let mut wider = loaded.problem.clone();
        let all: Vec<u32> = (0..wider.len() as u32).collect();
        let narrow = group_ncp(&wider, &kernel, &all);
        prop_assert!(matches!(wider.records, Records::Narrow(_)));
        wider.records = widened::<u32>(&loaded.problem);
        prop_assert_eq!(group_ncp(&wider, &kernel, &all), narrow);
        for entry in throng::method::STANDARD.iter().filter(|entry| common::can_do(entry, &[throng::privacy::Part::K])) {
            let policy = load(&case, "k = 2", entry.name).policy;
            let mut narrow = loaded.problem.clone();
            narrow.requirement = throng::privacy::Requirement::new(&policy.privacy, &narrow.sensitive);
            wider.requirement = narrow.requirement.clone();
            if narrow.len() >= 2 {
                prop_assert_eq!(solve(&narrow, &policy, &Unwatched).map(|solution| solution.partition), solve(&wider, &policy, &Unwatched).map(|solution| solution.partition));
            }
        }
    }

    #[test]
    fn hilbert_on_one_attribute_is_the_best_of_all_cuts(values in prop::collection::vec(0u8..40, 2..14), k in 1usize..5) {
        prop_assume!(values.len() >= k);
        let case = of_numbers(&values);
        for (kind, policy) in [("flat number", "kind = \"numeric\""), ("categories", "kind = \"categorical\"")] {
            let loaded = load_single(&case, k, policy);
            let partition = solve(&loaded.problem, &loaded.policy, &Unwatched).unwrap().partition;
            let kernel = Kernel::new(&loaded.problem.attributes);
            let loss = |group: &[u32]| group.len() as f64 * group_ncp(&loaded.problem, &kernel, group);
            let found: f64 = partition.groups().map(loss).sum();
            let best = best_cut(&loaded.problem, k, &loss);
            prop_assert!((found - best).abs() < 1e-9, "{kind}: {found}, best {best}");
        }
    }

    #[test]
    fn cutting_runs_is_optimal_over_the_order(costs in prop::collection::vec(0u8..50, 300), count in 1usize..24, k in 1usize..5) {
        let cost = |start: usize, end: usize| f64::from(costs[(start * 7 + end * 13) % costs.len()]);
        let sizes = runs::cut(k, &Unwatched, &mut TestCosts { left: count, k, cost: &cost }).unwrap();
        prop_assert_eq!(sizes.iter().sum::<usize>(), count);
        if count >= 2 * k {
            prop_assert!(sizes.iter().all(|size| (k..2 * k).contains(size)));
            let mut end = 0;
            let found: f64 = sizes.iter().map(|size| { end += size; cost(end - size, end) }).sum();
            prop_assert_eq!(found, best_runs(count, k, &cost));
        }
    }

    #[test]
    fn keys_of_batches_are_those_of_single_points(
        codes in prop::collection::vec(any::<u32>(), 20..800),
        attributes in 1usize..20,
        bits in 1u32..21,
    ) {
        // Coordinates of one, two and four bytes; keys of one word and of several.
        let rows: Vec<Vec<u32>> =
            codes.chunks_exact(attributes).map(|row| row.iter().map(|code| code % (1 << bits)).collect()).collect();
        let column = |at: usize| rows.iter().map(|row| row[at]).collect();
        let columns: Vec<Vec<u32>> = (0..attributes).map(column).collect();
        let curve = Curve::new(&vec![1 << bits; attributes]);
        let keys = with_matrix!(&Records::from_columns(&columns, rows.len()), matrix => curve.keys(matrix));
        for (at, row) in rows.iter().enumerate() {
            let expected = index_of(row, bits);
            prop_assert_eq!(keys.key(at), expected.as_slice());
        }
    }
}

#[test]
fn the_order_of_many_keys_is_that_of_a_plain_sort() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    // Keys of 63 bits leave no room for the record beside them; most of the records share a few keys.
    for (attributes, bits, different) in [(7, 9, 300), (7, 9, 90_000), (2, 4, 90_000)] {
        let rows: Vec<Vec<u32>> = (0..different)
            .map(|_| (0..attributes).map(|_| random.random_range(0..1 << bits)).collect())
            .collect();
        let rows: Vec<&Vec<u32>> = (0..90_000).map(|_| &rows[random.random_range(0..different)]).collect();
        let column = |at: usize| rows.iter().map(|row| row[at]).collect();
        let columns: Vec<Vec<u32>> = (0..attributes).map(column).collect();
        let curve = Curve::new(&vec![1 << bits; attributes]);
        let keys = with_matrix!(&Records::from_columns(&columns, rows.len()), matrix => curve.keys(matrix));
        let mut plain: Vec<u32> = (0..rows.len() as u32).collect();
        plain.sort_by_key(|record| keys.key(*record as usize));
        assert!(keys.order() == plain, "{attributes} attributes of {bits} bits");
    }
}

struct TestCosts<'a> {
    left: usize,
    k: usize,
    cost: &'a (dyn Fn(usize, usize) -> f64 + Sync),
}

impl runs::Stream for TestCosts<'_> {
    type Scratch = ();

    fn scratch(&self) {}

    fn advance(&mut self, records: usize) -> throng::Result<usize> {
        // Streams may deliver less than they are asked for.
        let next = records.min(self.left).min(5);
        self.left -= next;
        Ok(next)
    }

    fn fill(&self, end: usize, costs: &mut [f64], (): &mut ()) {
        for (slot, size) in costs.iter_mut().zip(self.k..=end) {
            *slot = (self.cost)(end - size, end);
        }
    }
}

fn widened<C: throng::problem::Code>(problem: &throng::problem::Problem) -> Records
where
    Records: From<throng::problem::Matrix<C>>,
{
    let mut matrix = throng::problem::Matrix::<C>::zeros(problem.len(), problem.attributes.len());
    for record in 0..problem.len() {
        for at in 0..problem.attributes.len() {
            matrix.set(record, at, C::from_index(problem.records.code(record, at) as usize));
        }
    }
    Records::from(matrix)
}

fn load_single(case: &common::Case, k: usize, kind: &str) -> common::Loaded {
    let text = format!(
        "[privacy]\nk = {k}\n[method]\nname = \"hilbert\"\n[attribute.q0]\nrole = \"quasi\"\n{kind}\n"
    );
    common::loaded(case.csv(), &text)
}

/// The least loss over all ways to cut records, ordered by value, into runs of at least k, by trying all of them.
fn best_cut(problem: &throng::problem::Problem, k: usize, loss: &dyn Fn(&[u32]) -> f64) -> f64 {
    let mut order: Vec<u32> = (0..problem.len() as u32).collect();
    order.sort_by_key(|record| problem.records.code(*record as usize, 0));
    let count = order.len();
    (0..1u32 << (count - 1))
        .filter_map(|cuts| {
            let mut groups = vec![vec![order[0]]];
            for at in 1..count {
                if cuts >> (at - 1) & 1 == 1 {
                    groups.push(Vec::new());
                }
                groups.last_mut().unwrap().push(order[at]);
            }
            groups.iter().all(|group| group.len() >= k).then(|| groups.iter().map(|group| loss(group)).sum())
        })
        .min_by(f64::total_cmp)
        .unwrap()
}

fn best_runs(count: usize, k: usize, cost: &dyn Fn(usize, usize) -> f64) -> f64 {
    let mut best = vec![f64::INFINITY; count + 1];
    best[0] = 0.0;
    for end in 1..=count {
        for start in (0..end).filter(|start| (k..2 * k).contains(&(end - start))) {
            best[end] = best[end].min(best[start] + cost(start, end));
        }
    }
    best[count]
}

/// Other implementations may take the axes in another order, but in one order for all points.
#[test]
fn the_curve_agrees_with_other_implementations() {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 24
    };
    let points: Vec<[u32; 4]> = (0..3000).map(|_| [next(), next(), next(), next()]).collect();
    let agree = |dimensions: usize, other: &dyn Fn(&[u32; 4]) -> u64| {
        permutations(&(0..dimensions as u32).collect::<Vec<_>>()).into_iter().any(|order| {
            points.iter().all(|point| {
                let axes: Vec<u32> = order.iter().map(|axis| point[*axis as usize]).collect();
                index_of(&axes, 8)[0] == other(point)
            })
        })
    };
    assert!(agree(2, &|point| fast_hilbert::xy2h(point[0], point[1], 8)), "fast_hilbert");
    let byte = |point: &[u32; 4], axis: usize| point[axis] as u8;
    assert!(
        agree(2, &|point| lindel::hilbert_encode([byte(point, 0), byte(point, 1)]).into()),
        "lindel in 2-D"
    );
    assert!(
        agree(3, &|p| lindel::hilbert_encode([byte(p, 0), byte(p, 1), byte(p, 2)]).into()),
        "lindel in 3-D"
    );
    assert!(
        agree(4, &|p| lindel::hilbert_encode([0, 1, 2, 3].map(|axis| byte(p, axis))).into()),
        "lindel in 4-D"
    );
}

fn permutations(axes: &[u32]) -> Vec<Vec<u32>> {
    if axes.len() <= 1 {
        return vec![axes.to_vec()];
    }
    let rest =
        |at: usize| axes.iter().enumerate().filter(move |(other, _)| *other != at).map(|(_, axis)| *axis);
    (0..axes.len())
        .flat_map(|at| {
            permutations(&rest(at).collect::<Vec<_>>()).into_iter().map(move |mut tail| {
                tail.insert(0, axes[at]);
                tail
            })
        })
        .collect()
}

#[test]
fn neighbours_on_the_curve_are_one_step_apart() {
    for (dimensions, bits) in [(1, 6), (2, 5), (3, 4), (4, 3), (5, 2), (7, 2), (11, 1)] {
        let side = 1u32 << bits;
        let count = (side as usize).pow(dimensions);
        let mut points = vec![Vec::new(); count];
        for point in 0..count {
            let coordinates: Vec<u32> =
                (0..dimensions).map(|axis| (point >> (axis * bits)) as u32 & (side - 1)).collect();
            let index = index_of(&coordinates, bits)[0] as usize;
            assert!(points[index].is_empty(), "two points with index {index}");
            points[index] = coordinates;
        }
        for pair in points.windows(2) {
            let steps: u32 = pair[0].iter().zip(&pair[1]).map(|(a, b)| a.abs_diff(*b)).sum();
            assert_eq!(steps, 1, "{pair:?} in {dimensions} dimensions of {bits} bits");
        }
    }
}

/// The papers say that for one attribute the best cut of the order is the best partition of all. With a loss of size
/// times width it is not: an outlier may do better in the other outliers' group, around a group that it encloses.
#[test]
fn a_group_around_another_can_beat_every_cut_of_the_order() {
    let values = [0u8, 0, 7, 9, 9, 9, 9, 18];
    let case = of_numbers(&values);
    let loaded = load_single(&case, 3, "kind = \"numeric\"");
    let kernel = Kernel::new(&loaded.problem.attributes);
    let loss = |group: &[u32]| group.len() as f64 * group_ncp(&loaded.problem, &kernel, group);
    let enclosing = loss(&[0, 1, 7]) + loss(&[2, 3, 4, 5, 6]);
    assert!((enclosing - 64.0 / 18.0).abs() < 1e-12);
    assert!((best_cut(&loaded.problem, 3, &loss) - 66.0 / 18.0).abs() < 1e-12);
}
