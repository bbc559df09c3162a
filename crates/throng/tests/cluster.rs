//! The steps of a cluster without one: rows are cut into any batches on any number of machines, blocks and states come in any order,
//! states merge in any grouping, and the release and its figures are those of one machine.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt32Array};
use arrow_schema::SchemaRef;
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use proptest::prelude::*;
use throng::policy::Policy;
use throng::run::cluster::{
    Adjusted, Asked, AuditDealer, Block, Dealer, Driver, Kind, Onward, Sketcher, Steps, merge,
};
use throng::run::{Anonymize, Memory};
use throng::watch::Unwatched;
use throng::{ErrorCode, Report, Result, Secret};

const NAMES: [&str; 5] = ["age", "city", "job", "illness", "note"];
const POLICY: &str = "[privacy]\nk = 5\n[method]\nname = \"mondrian\"\nseed = 7\n[attribute.age]\nrole = \"quasi\"\n[attribute.city]\nrole = \"quasi\"\n\
    [attribute.job]\nrole = \"quasi\"\n[attribute.illness]\nrole = \"sensitive\"\n[attribute.note]\nrole = \"other\"\n";
const SECRET: &[u8] = b"a secret that the test knows";

type Row = [String; 5];

/// Numbers drawn by a simple rule.
struct Draw(u64);

impl Draw {
    fn new(seed: u64) -> Self {
        Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % most
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

fn rows(count: usize, seed: u64) -> Vec<Row> {
    let mut draw = Draw::new(seed);
    (0..count)
        .map(|_| {
            let age = 18 + draw.below(60);
            [
                age.to_string(),
                format!("city{}", draw.below(9)),
                format!("job{}", draw.below(14)),
                format!("ill{}", draw.below(6)),
                format!("n{}", draw.below(40)),
            ]
        })
        .collect()
}

fn batch(rows: &[Row]) -> RecordBatch {
    let column =
        |at: usize| Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row[at]))) as ArrayRef;
    RecordBatch::try_from_iter(NAMES.iter().enumerate().map(|(at, name)| (*name, column(at)))).unwrap()
}

fn schema() -> SchemaRef {
    batch(&[]).schema()
}

fn driver(policy: &str, parts: usize) -> Result<Driver> {
    Driver::new(Asked {
        policy: Policy::parse(policy, None)?,
        adjusted: Adjusted::default(),
        secret: Some(Secret::from_bytes(SECRET)),
        schema: schema(),
        memory: 256 << 20,
        parts: Some(parts),
        overrides: Vec::new(),
    })
}

/// Machines that do their work in any order.
struct Machines {
    draw: Draw,
    /// The rows of each, in batches.
    rows: Vec<Vec<RecordBatch>>,
}

impl Machines {
    fn new(rows: &[Row], count: usize, seed: u64) -> Self {
        let mut draw = Draw::new(seed);
        let mut own = rows.to_vec();
        draw.shuffle(&mut own);
        let mut of_machines = vec![Vec::new(); count];
        let mut rest = &own[..];
        while !rest.is_empty() {
            let (some, others) = rest.split_at((1 + draw.below(200)).min(rest.len()));
            of_machines[draw.below(count)].push(batch(some));
            rest = others;
        }
        Machines { draw, rows: of_machines }
    }

    /// Merges some states, in any grouping, until at most two are left.
    fn merged(&mut self, kind: Kind, mut states: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        self.draw.shuffle(&mut states);
        while states.len() > 2 {
            let some: Vec<Vec<u8>> = states.split_off(states.len() - 2 - self.draw.below(states.len() - 2));
            states.insert(0, merge(kind, &some).unwrap());
        }
        states
    }

    /// The blocks of each part, in any order.
    fn by_part(&mut self, blocks: Vec<Block>, group_of: impl Fn(u32) -> u32) -> BTreeMap<u32, Vec<Vec<u8>>> {
        let mut parts: BTreeMap<u32, Vec<Vec<u8>>> = BTreeMap::new();
        blocks.into_iter().for_each(|(part, block)| parts.entry(group_of(part)).or_default().push(block));
        parts.values_mut().for_each(|blocks| self.draw.shuffle(blocks));
        parts
    }

    /// A whole run. `lose` may take blocks away on their way to a part.
    fn run(&mut self, driver: &mut Driver, lose: &dyn Fn(&mut Vec<Block>)) -> Result<Ran> {
        let steps = |driver: &Driver| Ok::<_, throng::Error>(Arc::new(Steps::decode(&driver.shared()?)?));
        let own = steps(driver)?;
        let mut states = Vec::new();
        for rows in &self.rows {
            let mut sketcher = Sketcher::new(own.clone());
            rows.iter().try_for_each(|batch| sketcher.add(vec![batch.clone()], &Unwatched))?;
            states.push(sketcher.finish()?);
        }
        let cuts = driver.sketched(&self.merged(Kind::Sketch, states))?;
        let own = steps(driver)?;
        let (mut blocks, mut states) = (Vec::new(), Vec::new());
        for rows in &self.rows {
            let mut dealer = Dealer::new(own.clone(), &cuts)?;
            for some in rows.chunks(3) {
                blocks.extend(dealer.deal(some.to_vec(), &Unwatched)?);
            }
            states.push(dealer.finish()?);
        }
        let (mut released, mut rounds) = (Vec::new(), 0);
        let own = loop {
            let round = driver.dealt(&self.merged(Kind::Dealt, states))?;
            let own = steps(driver)?;
            let order = round.encode()?;
            lose(&mut blocks);
            let (mut solved, mut solved_states) = (Vec::new(), Vec::new());
            for (part, blocks) in self.by_part(blocks, |part| round.group_of_part[part as usize] as u32) {
                let (made, state) = own.solve(&order, part, &blocks, &Unwatched)?;
                solved.extend(made);
                solved_states.push(state);
            }
            self.draw.shuffle(&mut solved);
            rounds += 1;
            let next = driver.solved(&self.merged(Kind::Solved, solved_states))?;
            released.extend(own.publish(&next.limit, &solved, "lot")?);
            let Some(cuts) = next.cuts else { break own };
            (blocks, states) = (Vec::new(), Vec::new());
            for some in solved.chunks(5) {
                let mut onward = Onward::new(own.clone(), &next.limit, &cuts)?;
                blocks.extend(onward.deal(some)?);
                states.push(onward.finish()?);
            }
        };
        let report = self.audit(driver, &own, &released)?;
        Ok(Ran { rows: in_order(&released), report, rounds })
    }

    fn audit(&mut self, driver: &mut Driver, steps: &Arc<Steps>, released: &[RecordBatch]) -> Result<Report> {
        let parts = driver.audit_parts();
        let whole = concat_batches(&released[0].schema(), released).unwrap();
        let lots = whole.column(whole.num_columns() - 1).as_primitive::<Int64Type>().values();
        let mut order: Vec<u32> = (0..lots.len() as u32).collect();
        order.sort_by_key(|row| lots[*row as usize]);
        let columns: Vec<usize> = (0..whole.num_columns() - 1).collect();
        let whole = take_record_batch(&whole.project(&columns).unwrap(), &UInt32Array::from(order)).unwrap();
        let (mut blocks, mut states) = (Vec::new(), Vec::new());
        for (piece, first) in (0..whole.num_rows()).step_by(400).enumerate() {
            let rows = whole.slice(first, 400.min(whole.num_rows() - first));
            let mut dealer = AuditDealer::new(steps.clone(), parts, piece as u64);
            for half in [
                rows.slice(0, rows.num_rows() / 2),
                rows.slice(rows.num_rows() / 2, rows.num_rows().div_ceil(2)),
            ] {
                blocks.extend(dealer.deal(vec![half], &Unwatched)?);
            }
            states.push(dealer.finish()?);
        }
        let rows = driver.released(&self.merged(Kind::Released, states))?;
        let by_part = self.by_part(blocks, |part| part);
        let findings = by_part.values().map(|blocks| steps.audit(blocks, rows, &Unwatched));
        driver.audited(&findings.collect::<Result<Vec<_>>>()?)
    }
}

struct Ran {
    rows: Vec<String>,
    report: Report,
    rounds: usize,
}

/// The rows as lines, in the order of their lots.
fn in_order(released: &[RecordBatch]) -> Vec<String> {
    let mut lines = Vec::new();
    for batch in released {
        let lots = batch.column(batch.num_columns() - 1).as_primitive::<Int64Type>();
        for row in 0..batch.num_rows() {
            let cell = |at: usize| batch.column(at).as_string::<i32>().value(row).to_owned();
            let cells: Vec<String> = (0..batch.num_columns() - 1).map(cell).collect();
            lines.push((lots.value(row), cells.join(",")));
        }
    }
    lines.sort();
    lines.into_iter().map(|(_, line)| line).collect()
}

/// What one machine makes of the same rows.
fn on_one_machine(rows: &[Row], policy: &str, parts: usize) -> (Vec<String>, Report) {
    let folder = tempfile::tempdir().unwrap();
    let (data, release) = (folder.path().join("table.csv"), folder.path().join("release.csv"));
    let lines: Vec<String> = rows.iter().map(|row| row.join(",")).collect();
    std::fs::write(&data, format!("{}\n{}\n", NAMES.join(","), lines.join("\n"))).unwrap();
    let mut run = Anonymize::new(&data, &release, Policy::parse(policy, None).unwrap());
    run.secret = Some(Secret::from_bytes(SECRET));
    run.memory = Some(Memory { parts: Some(parts), ..Memory::of(256 << 20) });
    let report = run.run(&Unwatched).unwrap();
    let text = std::fs::read_to_string(release).unwrap();
    (text.lines().skip(1).map(str::to_owned).collect(), report)
}

/// Everything that a report says of a release, but for when and where it was made. Bars of charts are sums of shares, whose last
/// digits depend on the order of classes.
fn figures(report: &Report) -> String {
    let mut all = serde_json::to_value(report).unwrap();
    let all = all.as_object_mut().unwrap();
    for own in ["seconds", "provenance", "notes", "parts", "distributions"] {
        all.remove(own);
    }
    serde_json::to_string_pretty(all).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    /// Whatever machines, batches, orders and groupings: rows, their order, rounds and all figures are those of one machine.
    #[test]
    fn any_cluster_makes_the_release_of_one_machine(
        seed in 0u64..1000, machines in 1usize..6, parts in 1usize..9, diverse in any::<bool>(),
    ) {
        let policy = if diverse { POLICY.replace("k = 5", "k = 4\nl = 2\nt = 0.6") } else { POLICY.to_owned() };
        let rows = rows(1500, seed);
        let (expected, report) = on_one_machine(&rows, &policy, parts);
        let mut cluster = Machines::new(&rows, machines, seed + 1);
        let ran = cluster.run(&mut driver(&policy, parts).unwrap(), &|_| ()).unwrap();
        let parts = report.parts.as_ref().unwrap();
        prop_assert_eq!(&ran.report.parts.as_ref().unwrap().parts, &parts.parts);
        prop_assert_eq!(ran.rounds, parts.parts.len());
        prop_assert_eq!(ran.rows, expected);
        prop_assert_eq!(figures(&ran.report), figures(&report));
        for (own, one) in ran.report.distributions.iter().zip(&report.distributions) {
            prop_assert_eq!(own.bins.len(), one.bins.len());
            prop_assert!(own.bins.iter().zip(&one.bins).all(|(own, one)| (own.after - one.after).abs() < 1e-6));
        }
    }
}

#[test]
fn a_part_that_lost_rows_or_has_them_twice_is_not_solved() {
    let rows = rows(800, 5);
    for lose in [&(|blocks: &mut Vec<Block>| drop(blocks.pop())) as &dyn Fn(&mut Vec<Block>), &|blocks| {
        blocks.push(blocks[0].clone());
    }] {
        let mut cluster = Machines::new(&rows, 3, 2);
        let error = cluster.run(&mut driver(POLICY, 4).unwrap(), lose).err().unwrap();
        assert_eq!(error.code(), ErrorCode::TableChanged, "{error}");
    }
}

#[test]
fn a_table_that_is_another_one_the_second_time_is_refused() {
    let (first, second) = (rows(800, 5), rows(800, 6));
    let mut driver = driver(POLICY, 2).unwrap();
    let own = Arc::new(Steps::decode(&driver.shared().unwrap()).unwrap());
    let mut sketcher = Sketcher::new(own);
    sketcher.add(vec![batch(&first)], &Unwatched).unwrap();
    let cuts = driver.sketched(&[sketcher.finish().unwrap()]).unwrap();
    let own = Arc::new(Steps::decode(&driver.shared().unwrap()).unwrap());
    let mut dealer = Dealer::new(own, &cuts).unwrap();
    dealer.deal(vec![batch(&second)], &Unwatched).unwrap();
    let error = driver.dealt(&[dealer.finish().unwrap()]).err().unwrap();
    assert_eq!(error.code(), ErrorCode::TableChanged);
}

#[test]
fn mistakes_are_told_before_any_row_is_looked_at() {
    let refused = |policy: &str, code: ErrorCode, words: &str| {
        let error = driver(policy, 2).err().expect(words);
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    };
    refused(&POLICY.replace("attribute.age", "attribute.agee"), ErrorCode::UnknownColumn, "agee");
    refused(&POLICY.replace("mondrian", "refine"), ErrorCode::BadUsage, "on a cluster: the method refine");
    refused(&POLICY.replace("k = 5", "k = 5\nsuppress = 0.1"), ErrorCode::BadUsage, "suppress");
    refused(&POLICY.replace("seed = 7", "seed = 7\nsecnds = 3"), ErrorCode::UnknownOption, "secnds");
}

#[test]
fn what_is_asked_for_and_cannot_be_is_told_by_the_driver() {
    let rows = rows(300, 9);
    let ran = |policy: &str| {
        let mut driver = driver(policy, 2)?;
        Machines::new(&rows, 2, 1).run(&mut driver, &|_| ()).map(|_| ())
    };
    assert_eq!(ran(&POLICY.replace("k = 5", "k = 301")).unwrap_err().code(), ErrorCode::KExceedsTable);
    let unlisted = POLICY.replace("[attribute.note]\nrole = \"other\"\n", "");
    assert_eq!(ran(&unlisted).unwrap_err().code(), ErrorCode::UnlistedColumn);
    let empty = Machines::new(&[], 2, 1).run(&mut driver(POLICY, 2).unwrap(), &|_| ()).err().unwrap();
    assert_eq!(empty.code(), ErrorCode::EmptyTable);
}

/// Machines have none of the driver's files: a policy brings along those that it names.
#[test]
fn hierarchies_travel_with_the_policy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("policy.toml");
    let cities: String =
        (0..9).map(|city| format!("city{city};{};*\n", if city < 4 { "north" } else { "south" })).collect();
    std::fs::write(folder.path().join("city.csv"), cities).unwrap();
    let text = POLICY.replace("[attribute.city]\n", "[attribute.city]\nhierarchy = \"city.csv\"\n");
    std::fs::write(&path, &text).unwrap();
    let driver = Driver::new(Asked {
        policy: Policy::load(&path).unwrap(),
        adjusted: Adjusted::default(),
        secret: None,
        schema: schema(),
        memory: 256 << 20,
        parts: Some(2),
        overrides: Vec::new(),
    });
    let mut driver = driver.unwrap();
    drop(folder);
    let rows = rows(500, 4);
    let ran = Machines::new(&rows, 2, 8).run(&mut driver, &|_| ()).unwrap();
    assert!(ran.rows.iter().any(|row| row.contains("north") || row.contains("*")), "{:?}", ran.rows.first());
    assert!(Steps::decode(b"nothing of ours").is_err());
}
