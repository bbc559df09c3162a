//! Values as the table spells them. Several spellings of one number (`0.1`, `0.10`) are one value to requirements; what is
//! published as it is keeps its own.

use crate::problem::{Problem, Protected};
use crate::table::{Domain, Map, Table};

/// A sensitive or class column with a code for each spelling, where the table spells a value in several ways.
pub(super) fn as_spelt(table: &Table, problem: &Problem, counted: &Protected) -> Option<Protected> {
    let (texts, numbers) = (table.values(counted.column), table.numbers(counted.column));
    let entry = |record: usize| numbers[problem.row(record as u32)] as usize;
    let mut code_of: Vec<Option<u32>> = vec![None; texts.len()];
    counted.codes.iter().enumerate().for_each(|(record, code)| code_of[entry(record)] = Some(*code));
    if all_differ(&code_of, counted.domain.len()) {
        return None;
    }
    // What lies in a tail is told by the tail.
    let spelt = |(text, code): (&&'_ str, &Option<u32>)| match code {
        Some(code) if counted.domain.is_tail(*code) => counted.domain.label(*code).to_owned(),
        _ => (*text).to_owned(),
    };
    let spelt: Vec<String> = texts.iter().zip(&code_of).map(spelt).collect();
    let (mut labels, mut places): (Vec<String>, Map<&str, u32>) = Default::default();
    let mut place_of = Vec::with_capacity(spelt.len());
    for text in &spelt {
        place_of.push(*places.entry(text).or_insert_with(|| {
            labels.push(text.clone());
            labels.len() as u32 - 1
        }));
    }
    let codes = (0..counted.codes.len()).map(|record| place_of[entry(record)]).collect();
    Some(Protected { domain: Domain::flat(labels), codes, people: None, ..counted.clone() })
}

/// Whether no two entries have the same code.
fn all_differ(code_of: &[Option<u32>], codes: usize) -> bool {
    let mut seen = vec![false; codes];
    code_of.iter().flatten().all(|code| !std::mem::replace(&mut seen[*code as usize], true))
}
