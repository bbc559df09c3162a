//! Every way of deciding against what the models say from counts.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use proptest::prelude::*;

use super::{FEW, Frequency, Judge};
use crate::policy::Diversity;
use crate::privacy::{Closeness, KAnonymity, LDiversity, Model, OwnAnonymity, Requirement, Tally};
use crate::problem::Protected;
use crate::table::domain::{Encoding, encode_numeric};

/// Records with two sensitive attributes, the k that each asks for itself, and a requirement on them.
#[derive(Debug)]
struct Case {
    sensitive: Vec<Protected>,
    demands: Arc<[u32]>,
    requirement: Requirement,
}

const RECORDS: usize = 40;

/// What a requirement may ask; the attribute is left open.
#[derive(Clone, Copy, Debug)]
enum Asked {
    Size(usize),
    Own,
    Diverse(f64, Diversity),
    Close(f64),
}

/// Values of l: whole, with one digit, and the quotients of small counts written with ten digits, which fall a little
/// short of the quotient or a little beyond it.
fn diversities() -> impl Strategy<Value = f64> {
    let written = |(size, count): (u32, u32)| -> f64 {
        format!("{:.10}", f64::from(size) / f64::from(count)).parse().unwrap()
    };
    prop_oneof![
        (1u32..6).prop_map(f64::from),
        (10u32..40).prop_map(|tenths| f64::from(tenths) / 10.0),
        (1u32..30, 1u32..12).prop_filter("at least 1", |(size, count)| size >= count).prop_map(written),
        (1u32..30, 1u32..12)
            .prop_filter("at least 1", |(size, count)| size >= count)
            .prop_map(|(size, count)| f64::from(size) / f64::from(count)),
    ]
}

fn asked() -> impl Strategy<Value = Asked> {
    let form = prop_oneof![
        3 => Just(Diversity::Frequency),
        1 => Just(Diversity::Distinct),
        1 => Just(Diversity::Entropy),
        1 => (1u32..30).prop_map(|tenths| Diversity::Recursive { c: f64::from(tenths) / 10.0 }),
    ];
    prop_oneof![
        3 => (1usize..8).prop_map(Asked::Size),
        2 => Just(Asked::Own),
        4 => (diversities(), form).prop_map(|(l, form)| Asked::Diverse(l, form)),
        1 => (0u32..10).prop_map(|tenths| Asked::Close(f64::from(tenths) / 10.0)),
    ]
}

/// Policies write a whole l for forms that count values.
fn form_takes(form: Diversity, l: f64) -> f64 {
    match form {
        Diversity::Frequency | Diversity::Entropy => l,
        Diversity::Distinct | Diversity::Recursive { .. } => l.ceil(),
    }
}

fn column(values: &[u16]) -> Protected {
    let texts: Vec<String> = values.iter().map(u16::to_string).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let Encoding { domain, codes } = encode_numeric(&texts, &vec![false; texts.len()]).unwrap();
    Protected {
        name: "secret".to_owned(),
        column: 0,
        domain,
        has_hierarchy: false,
        codes,
        people: None,
        whole: None,
    }
}

/// Few values in the first attribute, more in the second.
fn cases() -> impl Strategy<Value = Case> {
    let values = |most: u16| prop::collection::vec(0..most, RECORDS);
    let asked = prop::collection::vec((asked(), 0usize..2), 0..4);
    let demands = prop::collection::vec(1u32..9, RECORDS);
    (values(4), values(12), demands, asked).prop_map(|(first, second, demands, asked)| {
        let sensitive = vec![column(&first), column(&second)];
        let model = |(asked, attribute): (Asked, usize)| -> Box<dyn Model> {
            match asked {
                Asked::Size(k) => Box::new(KAnonymity { k }),
                Asked::Own => Box::new(OwnAnonymity { least: *demands.iter().min().unwrap() as usize }),
                Asked::Diverse(l, form) => Box::new(LDiversity { l: form_takes(form, l), form, attribute }),
                Asked::Close(t) => Box::new(Closeness::new(t, attribute, &sensitive[attribute])),
            }
        };
        let requirement = Requirement::from_models(asked.into_iter().map(model).collect());
        Case { demands: demands.into(), sensitive, requirement }
    })
}

/// Some records of a table, without repetition.
fn sets() -> impl Strategy<Value = Vec<u32>> {
    let all: Vec<u32> = (0..RECORDS as u32).collect();
    prop::sample::subsequence(all, 1..=16)
}

impl Case {
    fn judge(&self) -> Judge<'_> {
        Judge::of(&self.requirement, &self.sensitive, Some(&self.demands))
    }

    fn tally(&self, records: &[u32]) -> Tally {
        let mut tally = Tally::for_counted(&self.sensitive, Some(&self.demands), None);
        records.iter().for_each(|record| tally.add_record(&self.sensitive, *record));
        tally
    }

    /// The plain answer. No records are no class.
    fn holds(&self, records: &[u32]) -> bool {
        !records.is_empty() && self.requirement.holds(&self.tally(records))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_way_of_deciding_answers_as_the_models_do(case in cases(), one in sets(), other in sets()) {
        let judge = case.judge();
        let holds = case.holds(&one);
        prop_assert_eq!(judge.holds(one.iter().copied()), holds);
        let mut room = judge.tally();
        prop_assert_eq!(judge.holds_in(&mut room, other.iter().copied()), case.holds(&other));
        prop_assert_eq!(judge.holds_in(&mut room, one.iter().copied()), holds, "room was used before");
        let rest: Vec<u32> = other.into_iter().filter(|record| !one.contains(record)).collect();
        let both = [one.as_slice(), &rest].concat();
        prop_assert_eq!(judge.holds_merged(one.iter().copied(), rest.iter().copied()), case.holds(&both));
        let divided = both.iter().map(|record| (*record, one.contains(record)));
        prop_assert_eq!(judge.holds_divided([one.len(), rest.len()], divided), [holds, case.holds(&rest)]);
    }

    #[test]
    fn a_class_with_or_without_a_record_is_judged_as_a_whole(case in cases(), set in sets(), pick in 0..RECORDS) {
        if !case.holds(&set) {
            return Ok(());
        }
        let (judge, record) = (case.judge(), pick as u32);
        let with = [set.as_slice(), &[record]].concat();
        if !set.contains(&record) {
            prop_assert_eq!(judge.holds_with(&set, record), case.holds(&with));
        }
        for record in &set {
            let rest: Vec<u32> = set.iter().copied().filter(|one| one != record).collect();
            prop_assert_eq!(judge.holds_without(&set, *record), case.holds(&rest));
        }
    }

    #[test]
    fn running_counts_answer_as_the_models_do(case in cases(), set in sets(), gone in 0usize..16) {
        let judge = case.judge();
        let mut tally = judge.tally();
        set.iter().for_each(|record| judge.add(&mut tally, *record));
        prop_assert_eq!(judge.allows(&tally), case.holds(&set));
        let (gone, rest) = set.split_at(gone.min(set.len()));
        // What a record asked for is remembered when it goes, which errs on the safe side.
        let expected = case.holds(rest) && {
            let mut plain = case.tally(&set);
            gone.iter().for_each(|record| plain.remove_record(&case.sensitive, *record));
            case.requirement.holds(&plain)
        };
        prop_assert_eq!(judge.allows_without(&tally, gone), expected);
        gone.iter().for_each(|record| judge.remove(&mut tally, *record));
        prop_assert_eq!(judge.allows(&tally), expected);
    }

    #[test]
    fn no_class_is_smaller_than_the_smallest(case in cases(), set in sets()) {
        let judge = case.judge();
        prop_assert!(!case.holds(&set) || set.len() >= judge.smallest());
        prop_assert!(!judge.count_decides() || case.holds(&set) == (set.len() >= judge.smallest()));
    }

    #[test]
    fn limits_on_frequency_are_the_ends_of_what_is_allowed(l in diversities(), number in 0usize..400) {
        let frequency = Frequency::new(0, l);
        let most = (0..=number).rev().find(|count| frequency.allows(*count, number)).unwrap();
        prop_assert_eq!(frequency.most_of_value(number), most);
        let smallest = (0..).find(|size| frequency.allows(number, *size)).unwrap();
        prop_assert_eq!(frequency.smallest_with(number), smallest);
    }
}

/// Which way is taken must not depend on how many values there are.
#[test]
fn many_values_are_judged_as_few_are() {
    let of_values = |values: u16| column(&(0..2 * values).map(|at| at % values).collect::<Vec<u16>>());
    let requirement = Requirement::from_models(vec![Box::new(LDiversity {
        l: 2.0,
        form: Diversity::Frequency,
        attribute: 0,
    })]);
    for values in [FEW as u16 - 1, FEW as u16, FEW as u16 + 1, 2 * FEW as u16] {
        let sensitive = [of_values(values)];
        let judge = Judge::of(&requirement, &sensitive, None);
        assert!(judge.frequency().is_some());
        let last = u32::from(values) - 1;
        assert!(judge.holds([last, 0].into_iter()));
        assert!(!judge.holds([last, last + u32::from(values)].into_iter()), "one value twice in two records");
        assert!(judge.holds([last, last + u32::from(values), 0, 1].into_iter()));
    }
}

/// Ten digits of 5/3, rounded up: more than three in five allow.
#[test]
fn rounding_is_no_margin() {
    let written = Frequency::new(0, 1.666_666_666_7);
    assert!(!written.allows(3, 5));
    assert_eq!((written.most_of_value(5), written.smallest_with(3)), (2, 6));
    let exact = Frequency::new(0, 5.0 / 3.0);
    assert!(exact.allows(3, 5) && exact.allows(3_000_000, 5_000_000));
    let tenths = Frequency::new(0, 1.1);
    assert!(tenths.allows(10, 11) && tenths.allows(40, 44), "1.1 is not a float");
}
