//! Partial results merge: any cut and any order give what the whole gives, exactly.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::collections::BTreeMap;

use common::{Case, Loaded, cases, load, rows_of_text};
use proptest::prelude::*;
use throng::audit::{Cells, Keep, LossSums, Received};
use throng::loss::{ExactSum, Extent};
use throng::privacy::Tally;
use throng::release::{Order, Publish};
use throng::run::solve;
use throng::table::Sketch;
use throng::watch::Unwatched;
use throng::with_matrix;

/// Deals items to parts and says in which order the parts are merged.
#[derive(Clone, Debug)]
struct Deal {
    part_of: Vec<u8>,
    order: Vec<usize>,
}

const PARTS: usize = 5;

fn deals() -> impl Strategy<Value = Deal> {
    let order = Just((0..PARTS).collect::<Vec<usize>>()).prop_shuffle();
    (prop::collection::vec(0..PARTS as u8, 64), order).prop_map(|(part_of, order)| Deal { part_of, order })
}

impl Deal {
    fn part(&self, item: usize) -> usize {
        usize::from(self.part_of[item % self.part_of.len()])
    }

    /// Merges the parts in the order of the deal.
    fn merged<T: Clone>(&self, parts: &[T], merge: impl Fn(&mut T, &T)) -> T {
        let mut whole = parts[self.order[0]].clone();
        self.order[1..].iter().for_each(|part| merge(&mut whole, &parts[*part]));
        whole
    }
}

/// Doubles of all sizes, with whole numbers among them.
fn doubles() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("finite", |number| number.is_finite()),
        (-1e3..1e3f64),
        (-50i32..50).prop_map(f64::from),
        Just(f64::MIN_POSITIVE / 8.0),
        Just(f64::MAX),
        Just(-f64::MAX),
    ]
}

fn loaded(case: &Case) -> Loaded {
    load(case, "k = 2", "mondrian")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn exact_sums_depend_on_neither_order_nor_cut(numbers in prop::collection::vec(doubles(), 0..64), deal in deals()) {
        let mut whole = ExactSum::default();
        numbers.iter().for_each(|number| whole.add(*number));
        let mut parts = vec![ExactSum::default(); PARTS];
        for (at, number) in numbers.iter().enumerate().rev() {
            parts[deal.part(at)].add(*number);
        }
        let merged = deal.merged(&parts, ExactSum::merge);
        prop_assert_eq!(&merged, &whole);
        prop_assert_eq!(merged.value().to_bits(), whole.value().to_bits());
        // What is added can be taken away again.
        numbers.iter().for_each(|number| whole.add(-number));
        prop_assert_eq!(whole.value(), 0.0);
    }

    /// Multiples of a power of two that fit 128 bits are summed in whole numbers.
    #[test]
    fn exact_sums_are_rounded_once(numbers in prop::collection::vec((any::<i64>(), 0u32..50), 1..40), power in -1000i32..800) {
        let (mut sum, mut plain) = (ExactSum::default(), 0i128);
        for (mantissa, shift) in numbers {
            // 53 bits, which a double holds.
            let whole = i128::from(mantissa >> 11) << shift;
            sum.add(whole as f64 * 2f64.powi(power));
            plain += whole;
        }
        prop_assert_eq!(sum.value(), plain as f64 * 2f64.powi(power));
    }

    #[test]
    fn sketches_of_parts_are_the_sketch_of_the_table(case in cases(60), deal in deals()) {
        let loaded = loaded(&case);
        let rows = rows_of_text(loaded.csv.as_bytes());
        for (column, name) in loaded.table.names().iter().enumerate().filter(|(_, name)| name.starts_with('q')) {
            let mut parts = vec![Sketch::default(); PARTS];
            for (at, row) in rows[1..].iter().enumerate() {
                parts[deal.part(at)].add(&row[column], 1);
            }
            let merged = deal.merged(&parts, Sketch::merge);
            prop_assert_eq!(&merged, &loaded.table.sketch(column));
            prop_assert_eq!(merged.rows() as usize, loaded.table.len());
            let attribute = loaded.problem.attributes.iter().find(|attribute| attribute.name == *name).unwrap();
            let own = merged.encode(&loaded.policy.missing, loaded.policy.attributes.get(name)).unwrap().domain;
            prop_assert_eq!(own.len(), attribute.domain.len());
            for code in 0..own.len() as u32 {
                prop_assert_eq!(own.label(code), attribute.domain.label(code));
            }
        }
    }

    #[test]
    fn boxes_and_tallies_of_parts_are_those_of_the_table(case in cases(60), deal in deals()) {
        let problem = loaded(&case).problem;
        let members = |part: usize| -> Vec<u32> {
            (0..problem.len() as u32).filter(|record| deal.part(*record as usize) == part).collect()
        };
        let all: Vec<u32> = (0..problem.len() as u32).collect();
        let tally = |records: &[u32]| {
            let mut tally = Tally::for_problem(&problem);
            records.iter().for_each(|record| tally.add_record(&problem.sensitive, *record));
            tally
        };
        let parts: Vec<Tally> = (0..PARTS).map(|part| tally(&members(part))).collect();
        let (merged, whole) = (deal.merged(&parts, Tally::merge), tally(&all));
        prop_assert_eq!(merged.size(), whole.size());
        for value in 0..problem.sensitive[0].domain.len() as u32 {
            prop_assert_eq!(merged.histogram(0).count(value), whole.histogram(0).count(value));
        }
        with_matrix!(&problem.records, matrix => {
            let filled: Vec<usize> =
                deal.order.iter().copied().filter(|part| !members(*part).is_empty()).collect();
            let mut merged = Extent::around(matrix, &members(filled[0]));
            filled[1..].iter().for_each(|part| merged.merge(&Extent::around(matrix, &members(*part))));
            prop_assert_eq!(merged, Extent::around(matrix, &all));
        });
    }

    #[test]
    fn the_loss_of_parts_is_the_loss_of_the_release(case in cases(60), deal in deals()) {
        let loaded = loaded(&case);
        prop_assume!(loaded.problem.len() >= 2);
        let problem = &loaded.problem;
        let solution = solve(problem, &loaded.policy, &Unwatched).unwrap();
        let file = loaded.publish(&solution, Publish::Cells, Order::Keep);
        let read = Received::read_back(&file, None, problem, &loaded.policy, Keep::Audited, &Unwatched).unwrap();
        let cells = Cells::read(problem, &loaded.policy, &read.table).unwrap();
        let width = problem.attributes.len();
        let mut classes: BTreeMap<Vec<String>, Vec<usize>> = BTreeMap::new();
        for (row, record) in rows_of_text(&file.bytes).into_iter().skip(1).enumerate() {
            classes.entry(record[..width].to_vec()).or_default().push(row);
        }
        let mut parts = vec![LossSums::new(width); PARTS];
        for (at, rows) in classes.values().enumerate() {
            let own = (0..width).map(|attribute| cells.cell(attribute, rows[0]));
            parts[deal.part(at)].add(problem, rows.len() as u64, own);
        }
        let loss = deal.merged(&parts, LossSums::merge).finish(problem, 0);
        let measures = loaded.measures(&file);
        prop_assert_eq!(loss.ncp.to_bits(), measures.ncp.to_bits());
        prop_assert_eq!(loss.gcp.to_bits(), measures.gcp.to_bits());
        prop_assert_eq!(loss.gcp_of_attributes, measures.gcp_per_attribute.values().copied().collect::<Vec<_>>());
        prop_assert_eq!(loss.maximum_ncp.to_bits(), measures.maximum_ncp.to_bits());
        prop_assert_eq!(loss.average_ncp.to_bits(), measures.average_ncp.to_bits());
        prop_assert_eq!(loss.weighted_maximum_ncp.to_bits(), measures.weighted_maximum_ncp.to_bits());
        prop_assert_eq!(loss.weighted_average_volume.to_bits(), measures.weighted_average_volume.to_bits());
        prop_assert_eq!(loss.discernibility.to_bits(), measures.discernibility.to_bits());
        prop_assert_eq!(loss.ranges.unzip(), (measures.il1, measures.il_infinity));
    }
}
