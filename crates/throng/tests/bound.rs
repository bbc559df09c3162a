//! The lower bound: never above what is possible, close to it, the same on any number of threads; and its certificate:
//! what is proved can be checked, and what is not is refused. The oracles know tables as texts and try everything.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

mod common;

use std::fmt::Write as _;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use throng::ErrorCode;
use throng::bound::{Certificate, Checked, Effort, Proof, lower_bound};
use throng::watch::{Unwatched, Watch};

/// A record: a number that may be missing, a leaf of a tree that may be missing, a value of a flat category; a sensitive
/// value, whose record it is, and the k that it asks for.
#[derive(Clone, Debug)]
struct Row {
    number: Option<i32>,
    leaf: Option<usize>,
    flat: usize,
    secret: usize,
    person: usize,
    own_k: usize,
}

const LEAVES: [&str; 5] = ["a", "b", "c", "d", "e"];
/// X holds a and b, Y the others, of which Z holds d and e.
const NODES: [&[usize]; 3] = [&[0, 1], &[2, 3, 4], &[3, 4]];

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    K(usize),
    OwnK(usize),
    L(usize, usize),
    People(usize),
    Suppress(usize, usize),
    Named(usize, usize),
}

struct Tiny {
    rows: Vec<Row>,
    /// Weights of the attributes and of the leaves.
    weights: [f64; 3],
    leaf_weights: [f64; 5],
    what: What,
}

fn draw(random: &mut ChaCha8Rng, what: What) -> Tiny {
    let count = random.random_range(7..10);
    let missing = random.random_range(0..3) == 0;
    let mut rows: Vec<Row> = Vec::new();
    for at in 0..count {
        let one = Row {
            number: (!missing || random.random_range(0..4) > 0).then(|| random.random_range(-3..9)),
            leaf: (!missing || random.random_range(0..5) > 0).then(|| random.random_range(0..5)),
            flat: random.random_range(0..3),
            secret: random.random_range(0..4),
            person: random.random_range(0..6),
            own_k: [1, 1, 2, 4][random.random_range(0..4)],
        };
        let again = at > 0 && random.random_range(0..4) == 0;
        rows.push(if again { rows[random.random_range(0..at)].clone() } else { one });
    }
    let weighted = random.random_range(0..2) == 0;
    let weights = if weighted { [2.5, 1.0, 0.3] } else { [1.0; 3] };
    let leaf_weights = if weighted { [3.0, 1.0, 2.5, 1.0, 0.2] } else { [1.0; 5] };
    Tiny { rows, weights, leaf_weights, what }
}

impl Tiny {
    fn csv(&self) -> String {
        let mut text = "n,c,f,s,who,mine\n".to_owned();
        for row in &self.rows {
            let number = row.number.map_or("?".to_owned(), |number| number.to_string());
            let leaf = row.leaf.map_or("?", |leaf| LEAVES[leaf]);
            writeln!(text, "{number},{leaf},f{},s{},p{},{}", row.flat, row.secret, row.person, row.own_k)
                .unwrap();
        }
        text
    }

    fn policy(&self) -> String {
        let privacy = match self.what {
            What::K(k) | What::People(k) => format!("k = {k}"),
            What::OwnK(k) => format!("k = {k}\nk_column = \"mine\""),
            What::L(k, l) => format!("k = {k}\nl = {l}"),
            What::Suppress(k, percent) => format!("k = {k}\nsuppress = 0.{percent}"),
            What::Named(one, other) => format!(
                "[[privacy.quasi_identifiers]]\nattributes = [\"n\"]\nk = {one}\n[[privacy.quasi_identifiers]]\n\
                 attributes = [\"c\", \"f\"]\nk = {other}"
            ),
        };
        let person = if matches!(self.what, What::People(_)) { "person" } else { "identifier" };
        let weights: Vec<String> = self
            .leaf_weights
            .iter()
            .zip(LEAVES)
            .map(|(weight, leaf)| format!("{leaf} = {weight:?}"))
            .collect();
        let mut leaves = String::new();
        if self.leaf_weights != [1.0; 5] {
            leaves = format!("leaf_weights = {{ {} }}\n", weights.join(", "));
        }
        format!(
            "[data]\nmissing = [\"?\"]\n[privacy]\n{privacy}\n[attribute.n]\nrole = \"quasi\"\nkind = \"numeric\"\n\
             weight = {:?}\n[attribute.c]\nrole = \"quasi\"\nweight = {:?}\n{leaves}hierarchy = {{ X = [\"a\", \"b\"], \
             Y = {{ \"only c\" = [\"c\"], Z = [\"d\", \"e\"] }} }}\n[attribute.f]\nrole = \"quasi\"\nkind = \"categorical\"\n\
             weight = {:?}\n[attribute.s]\nrole = \"sensitive\"\n[attribute.who]\nrole = \"{person}\"\n[attribute.mine]\n\
             role = \"identifier\"\n",
            self.weights[0], self.weights[1], self.weights[2]
        )
    }

    fn group(&self, mask: usize) -> Vec<&Row> {
        (0..self.rows.len()).filter(|at| mask >> at & 1 == 1).map(|at| &self.rows[at]).collect()
    }

    /// The penalties of a group, as the documents define them, unweighted.
    fn penalties(&self, mask: usize) -> [f64; 3] {
        let group = self.group(mask);
        [self.of_numbers(&group), self.of_leaves(&group), self.of_flat(&group)]
    }

    fn of_numbers(&self, group: &[&Row]) -> f64 {
        if group.iter().all(|row| row.number == group[0].number) {
            return 0.0;
        }
        if group.iter().any(|row| row.number.is_none()) {
            return 1.0;
        }
        let width =
            |numbers: &[i32]| f64::from(numbers.iter().max().unwrap() - numbers.iter().min().unwrap());
        let own: Vec<i32> = group.iter().filter_map(|row| row.number).collect();
        let all: Vec<i32> = self.rows.iter().filter_map(|row| row.number).collect();
        width(&own) / width(&all)
    }

    fn of_leaves(&self, group: &[&Row]) -> f64 {
        if group.iter().all(|row| row.leaf == group[0].leaf) {
            return 0.0;
        }
        // A missing value is a leaf of its own below the root.
        let weigh = |leaves: &[usize]| leaves.iter().map(|leaf| self.leaf_weights[*leaf]).sum::<f64>();
        let missing = f64::from(u8::from(self.rows.iter().any(|row| row.leaf.is_none())));
        let all = weigh(&[0, 1, 2, 3, 4]) + missing;
        let holds =
            |node: &&[usize]| group.iter().all(|row| row.leaf.is_some_and(|leaf| node.contains(&leaf)));
        let nodes = NODES.iter().copied().filter(|node| holds(node)).map(weigh);
        nodes.min_by(f64::total_cmp).unwrap_or(all) / all
    }

    fn of_flat(&self, group: &[&Row]) -> f64 {
        f64::from(u8::from(group.iter().any(|row| row.flat != group[0].flat)))
    }

    /// What a group costs on some attributes, each of its records.
    fn cost(&self, mask: usize, attributes: &[usize]) -> f64 {
        let penalties = self.penalties(mask);
        attributes.iter().map(|at| self.weights[*at] * penalties[*at]).sum()
    }

    /// Whether a group may be a class, as the documents word it.
    fn allowed(&self, mask: usize, k: usize) -> bool {
        let group = self.group(mask);
        match self.what {
            What::K(_) | What::Suppress(..) | What::Named(..) => group.len() >= k,
            What::OwnK(_) => group.len() >= k && group.iter().all(|row| group.len() >= row.own_k),
            What::L(_, l) => {
                let most = (0..4).map(|value| group.iter().filter(|row| row.secret == value).count()).max();
                group.len() >= k && most.unwrap() * l <= group.len()
            }
            What::People(_) => {
                (0..6).filter(|person| group.iter().any(|row| row.person == *person)).count() >= k
            }
        }
    }

    /// The least loss of all partitions into classes on some attributes, of all records; none if there is none.
    fn best(&self, attributes: &[usize], k: usize, suppressible: usize) -> Option<f64> {
        let all = (1usize << self.rows.len()) - 1;
        let weight: f64 = self.weights.iter().sum();
        let cost: Vec<f64> = (0..=all)
            .map(|mask| {
                let size = mask.count_ones() as f64;
                if mask > 0 && self.allowed(mask, k) {
                    size * self.cost(mask, attributes)
                } else {
                    f64::INFINITY
                }
            })
            .collect();
        let mut best = vec![vec![f64::INFINITY; all + 1]; suppressible + 1];
        (0..=suppressible).for_each(|left| best[left][0] = 0.0);
        for mask in 1..=all {
            let first = 1 << mask.trailing_zeros();
            for left in 0..=suppressible {
                let mut least = if left > 0 { weight + best[left - 1][mask ^ first] } else { f64::INFINITY };
                let others = mask ^ first;
                let mut some = others;
                loop {
                    let class = some | first;
                    least = least.min(cost[class] + best[left][mask ^ class]);
                    if some == 0 {
                        break;
                    }
                    some = (some - 1) & others;
                }
                best[left][mask] = least;
            }
        }
        let least = best[suppressible][all];
        least.is_finite().then(|| least / weight / self.rows.len() as f64)
    }

    /// The least loss of any release.
    fn optimum(&self) -> Option<f64> {
        match self.what {
            What::K(k) | What::OwnK(k) | What::L(k, _) | What::People(k) => self.best(&[0, 1, 2], k, 0),
            What::Suppress(k, percent) => self.best(&[0, 1, 2], k, self.rows.len() * percent / 100),
            What::Named(one, other) => Some(self.best(&[0], one, 0)? + self.best(&[1, 2], other, 0)?),
        }
    }

    fn proof(&self, effort: Effort) -> (common::Loaded, Option<Proof>) {
        let loaded = common::loaded(self.csv(), &self.policy());
        let proof = lower_bound(&loaded.problem, effort, &Unwatched).unwrap();
        (loaded, proof)
    }
}

const WHATS: [What; 12] = [
    What::K(2),
    What::K(3),
    What::K(4),
    What::OwnK(1),
    What::OwnK(2),
    What::L(2, 2),
    What::L(3, 2),
    What::L(2, 3),
    What::People(2),
    What::People(3),
    What::Suppress(3, 25),
    What::Named(4, 2),
];

#[test]
fn the_bound_is_never_above_the_best_release_and_near_it() {
    let mut random = ChaCha8Rng::seed_from_u64(16);
    let mut told = String::new();
    for what in WHATS {
        let (mut sum, mut count) = (0.0, 0);
        for _ in 0..60 {
            let tiny = draw(&mut random, what);
            let Some(best) = tiny.optimum().filter(|_| count < 20) else { continue };
            let (loaded, proof) = tiny.proof(Effort::Passes(12));
            let proof = proof.unwrap();
            assert!(
                proof.bound.proved && proof.bound.gcp <= best + 1e-12,
                "{what:?}: {} > {best}\n{}",
                proof.bound.gcp,
                tiny.csv()
            );
            let certificate = proof.certificate.unwrap();
            let checked = certificate.check(&loaded.problem, &Unwatched).unwrap();
            assert_eq!(checked, Checked::Proved(proof.bound.gcp), "{what:?}\n{}", tiny.csv());
            if best > 0.0 {
                sum += proof.bound.gcp / best;
                count += 1;
            }
        }
        let mean = sum / f64::from(count);
        writeln!(told, "{what:?}: {:.1} % of the best on average, {count} tables", 100.0 * mean).unwrap();
        // Where people have several records each, or records ask for a k of their own, the bound is weaker.
        let least = match what {
            What::K(_) | What::Suppress(..) | What::Named(..) => 0.75,
            What::OwnK(_) | What::L(..) => 0.6,
            What::People(_) => 0.4,
        };
        assert!(count >= 5 && mean > least, "{told}");
    }
    eprintln!("{told}");
}

#[test]
fn the_usual_effort_and_a_single_pass_prove_as_much_as_they_say() {
    let mut random = ChaCha8Rng::seed_from_u64(17);
    for what in WHATS {
        for effort in [Effort::Usual, Effort::Passes(1), Effort::Seconds(0.01)] {
            let tiny = draw(&mut random, what);
            let Some(best) = tiny.optimum() else { continue };
            let (loaded, proof) = tiny.proof(effort);
            let proof = proof.unwrap();
            assert!(proof.bound.gcp <= best + 1e-12, "{what:?} {effort:?}");
            let checked = proof.certificate.unwrap().check(&loaded.problem, &Unwatched).unwrap();
            assert_eq!(checked, Checked::Proved(proof.bound.gcp));
        }
    }
}

/// A table of some size with numbers, a tree and a flat category.
fn larger(rows: usize, what: What) -> Tiny {
    let mut random = ChaCha8Rng::seed_from_u64(18);
    let mut tiny = draw(&mut random, what);
    let row = |random: &mut ChaCha8Rng, at: usize| Row {
        number: (!at.is_multiple_of(11)).then(|| random.random_range(0..400)),
        leaf: Some(random.random_range(0..5)),
        flat: random.random_range(0..3),
        secret: random.random_range(0..4),
        person: at / 2,
        own_k: [1, 1, 2, 7][random.random_range(0..4)],
    };
    tiny.rows = (0..rows).map(|at| row(&mut random, at)).collect();
    tiny
}

/// A limit on the seconds is kept where a table is large, unless somebody wants a proof.
#[test]
fn seconds_that_do_not_last_for_a_proof_give_an_estimate() {
    let (loaded, estimate) = larger(200_001, What::K(4)).proof(Effort::Seconds(0.2));
    let estimate = estimate.unwrap();
    assert!(!estimate.bound.proved && estimate.certificate.is_none() && estimate.bound.interval.is_some());
    for effort in [Effort::Seconds(60.0), Effort::SecondsForProof(0.2)] {
        let proof = on_threads(2, || lower_bound(&loaded.problem, effort, &Stopped)).unwrap().unwrap();
        assert!(proof.bound.proved && proof.certificate.is_some(), "{effort:?}");
    }
}

/// Asks for an end as soon as there is something to keep.
struct Stopped;

impl Watch for Stopped {
    fn take_stop(&self) -> bool {
        true
    }
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

#[test]
fn the_same_prices_on_any_number_of_threads() {
    for what in [What::K(4), What::L(3, 3), What::OwnK(3), What::People(3)] {
        let tiny = larger(400, what);
        let text = |effort: Effort| tiny.proof(effort).1.unwrap().certificate.unwrap().to_json().unwrap();
        for effort in [Effort::Usual, Effort::Passes(3)] {
            let one = on_threads(1, || text(effort));
            assert!(
                one == on_threads(2, || text(effort)) && one == on_threads(5, || text(effort)),
                "{what:?} {effort:?}"
            );
        }
    }
}

/// Whichever way prices are found, over all boxes or around each record, they are a proof that can be checked.
#[test]
fn bounds_of_larger_classes_hold_with_any_number_of_numbers() {
    for k in [4, 25, 90] {
        let tiny = larger(260, What::K(k));
        let one = tiny.policy();
        let none = one.replace(
            "[attribute.n]\nrole = \"quasi\"\nkind = \"numeric\"",
            "[attribute.n]\nrole = \"quasi\"\nkind = \"categorical\"",
        );
        let two = one.replace(
            "[attribute.mine]\nrole = \"identifier\"",
            "[attribute.mine]\nrole = \"quasi\"\nkind = \"numeric\"",
        );
        assert!(none != one && two != one);
        for policy in [&none, &one, &two] {
            let loaded = common::loaded(tiny.csv(), policy);
            for passes in [1, 5] {
                let proof =
                    lower_bound(&loaded.problem, Effort::Passes(passes), &Unwatched).unwrap().unwrap();
                let checked = proof.certificate.unwrap().check(&loaded.problem, &Unwatched).unwrap();
                assert_eq!(checked, Checked::Proved(proof.bound.gcp), "k = {k}, {passes} passes\n{policy}");
            }
        }
    }
}

#[test]
fn more_passes_never_prove_less() {
    let tiny = larger(300, What::K(5));
    let gcp = |passes: u32| tiny.proof(Effort::Passes(passes)).1.unwrap().bound.gcp;
    let bounds = [1, 2, 4, 8].map(gcp);
    assert!(bounds.is_sorted(), "{bounds:?}");
    assert!(bounds[3] > bounds[0]);
}

/// The seal of a certificate as docs/bound.md defines it.
fn sealed(certificate: &Value) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(certificate["fingerprint"].as_str().unwrap().as_bytes());
    for part in certificate["parts"].as_array().unwrap() {
        for name in part["attributes"].as_array().unwrap() {
            hasher.update(&(name.as_str().unwrap().len() as u64).to_le_bytes());
            hasher.update(name.as_str().unwrap().as_bytes());
        }
        hasher.update(&(part["size"].as_u64().unwrap() as u32).to_le_bytes());
        let prices = part["prices"].as_array().unwrap();
        hasher.update(&(prices.len() as u64).to_le_bytes());
        for price in prices {
            hasher.update(&price.as_i64().unwrap().to_le_bytes());
        }
    }
    hasher.finalize().to_hex().to_string()
}

/// Whether no group of a tiny table that may be a class is paid more than it costs, all of them tried.
fn holds_by_trying(tiny: &Tiny, k: usize, prices: &[i64]) -> bool {
    let one = f64::from(1u32 << 30) / tiny.weights.iter().sum::<f64>();
    (1usize..1 << tiny.rows.len()).filter(|mask| tiny.allowed(*mask, k)).all(|mask| {
        let paid: i64 = (0..prices.len()).filter(|at| mask >> at & 1 == 1).map(|at| prices[at]).sum();
        paid as f64 <= f64::from(mask.count_ones()) * tiny.cost(mask, &[0, 1, 2]) * one + 1e-3
    })
}

#[test]
fn a_certificate_with_a_raised_price_is_refused_however_well_it_is_sealed() {
    let mut random = ChaCha8Rng::seed_from_u64(19);
    let (mut refused, mut all) = (0, 0);
    for what in [What::K(3), What::L(3, 3), What::OwnK(2), What::K(2)] {
        let tiny = draw(&mut random, what);
        let (loaded, proof) = tiny.proof(Effort::Passes(6));
        let text = proof.unwrap().certificate.unwrap().to_json().unwrap();
        let own: Value = serde_json::from_str(&text).unwrap();
        for at in 0..tiny.rows.len() {
            for more in [1, 1 << 20, 1 << 28] {
                let mut changed = own.clone();
                let price = changed["parts"][0]["prices"][at].as_i64().unwrap() + more;
                changed["parts"][0]["prices"][at] = price.into();
                // As it stands it is a damaged file.
                let error = Certificate::parse(&changed.to_string()).unwrap_err();
                assert_eq!(error.code(), ErrorCode::BadCertificate);
                // Sealed anew it is checked, and only what is true all the same passes.
                changed["seal"] = sealed(&changed).into();
                let forged = Certificate::parse(&changed.to_string()).unwrap();
                let checked = forged.check(&loaded.problem, &Unwatched).unwrap();
                let prices: Vec<i64> = changed["parts"][0]["prices"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|price| price.as_i64().unwrap())
                    .collect();
                let (What::K(k) | What::L(k, _) | What::OwnK(k)) = what else { unreachable!() };
                let true_all_the_same = holds_by_trying(&tiny, k, &prices);
                assert!(
                    true_all_the_same || checked == Checked::NotAProof,
                    "{what:?} record {at}\n{}",
                    tiny.csv()
                );
                refused += usize::from(checked == Checked::NotAProof);
                all += 1;
            }
        }
    }
    eprintln!("{refused} of {all} raised prices refused");
    assert!(2 * refused > all, "only {refused} of {all} raised prices are refused");
}

#[test]
fn a_certificate_is_for_one_table_and_one_policy() {
    let tiny = larger(60, What::K(4));
    let (_, proof) = tiny.proof(Effort::Usual);
    let certificate = proof.unwrap().certificate.unwrap();
    assert_eq!(Certificate::parse(&certificate.to_json().unwrap()).unwrap(), certificate);
    let refused = |tiny: &Tiny| {
        let loaded = common::loaded(tiny.csv(), &tiny.policy());
        let error = certificate.check(&loaded.problem, &Unwatched).unwrap_err();
        assert_eq!(error.code(), ErrorCode::NotThisCertificate);
    };
    let mut other = larger(60, What::K(4));
    other.rows[7].number = Some(3);
    refused(&other);
    refused(&larger(60, What::K(5)));
    refused(&larger(60, What::L(4, 2)));
    refused(&larger(60, What::Suppress(4, 10)));
    refused(&larger(59, What::K(4)));
    let mut heavier = larger(60, What::K(4));
    heavier.weights[1] += 0.5;
    refused(&heavier);
}

#[test]
fn broken_certificates_are_told_as_such() {
    let text = larger(20, What::K(4)).proof(Effort::Usual).1.unwrap().certificate.unwrap().to_json().unwrap();
    let code = |text: &str| Certificate::parse(text).unwrap_err().code();
    for broken in [
        "",
        "{}",
        "[1, 2]",
        "not JSON",
        &text[..text.len() / 2],
        &text.replace("\"unit\":1073741824", "\"unit\":7"),
    ] {
        assert_eq!(code(broken), ErrorCode::BadCertificate, "{broken}");
    }
    let seal = text.find("\"seal\":\"").unwrap() + 8;
    let changed = if &text[seal..=seal] == "0" { "1" } else { "0" };
    let mut other = text.clone();
    other.replace_range(seal..=seal, changed);
    assert_eq!(code(&other), ErrorCode::BadCertificate);
}

#[test]
fn what_asks_nothing_of_sizes_has_no_bound_and_other_models_are_left_aside() {
    let tiny = larger(40, What::K(4));
    let policy = tiny.policy().replace("k = 4", "k = 4\nt = 0.4");
    let loaded = common::loaded(tiny.csv(), &policy);
    let with_t = lower_bound(&loaded.problem, Effort::Usual, &Unwatched).unwrap().unwrap().bound;
    assert_eq!(with_t.leaves_out, ["t"]);
    let plain = tiny.proof(Effort::Usual).1.unwrap().bound;
    assert!(plain.leaves_out.is_empty() && plain.gcp == with_t.gcp);
    let loaded = common::loaded(tiny.csv(), &tiny.policy().replace("k = 4", "max_loss = 0.5"));
    assert!(lower_bound(&loaded.problem, Effort::Usual, &Unwatched).unwrap().is_none());
}

/// Keeps what is shown beside stages.
#[derive(Default)]
struct Reader(std::sync::Mutex<Vec<String>>);

impl Watch for Reader {
    fn note(&self, words: &str) {
        self.0.lock().unwrap().push(words.to_owned());
    }
}

#[test]
fn whoever_watches_sees_loss_bound_and_gap_and_the_gap_only_falls() {
    let mut table = "age,city\n".to_owned();
    for row in 0..600u32 {
        let drawn = row.wrapping_mul(2_654_435_761) >> 8;
        writeln!(table, "{},c{}", drawn % 60, drawn / 60 % 12).unwrap();
    }
    let policy = throng::Policy::builder().k(5).quasi("age").quasi("city").build().unwrap();
    let reader = Reader::default();
    let done =
        throng::Anonymize::new(&policy).read(throng::Data::csv(table)).watch(&reader).to_csv().unwrap();
    let measures = &done.report.measures;
    let notes = reader.0.into_inner().unwrap();
    assert!(notes.iter().any(|words| words.starts_with("loss ")), "{notes:?}");
    let figures: Vec<(f64, f64)> = notes
        .iter()
        .filter_map(|words| words.strip_prefix("bound ")?.strip_suffix(" %")?.split_once(" %, gap "))
        .map(|(bound, gap)| (bound.parse().unwrap(), gap.parse().unwrap()))
        .collect();
    assert!(figures.len() > 1, "{notes:?}");
    assert!(figures.is_sorted_by(|one, next| one.0 <= next.0 && one.1 >= next.1), "{figures:?}");
    let proved = 100.0 * measures.lower_bound.as_ref().unwrap().gcp;
    let (bound, gap) = figures[figures.len() - 1];
    assert!(bound <= proved + 0.01, "{bound} {proved}");
    assert!((gap - 100.0 * (1.0 - bound / 100.0 / measures.gcp)).abs() < 0.2, "{gap}");
}
